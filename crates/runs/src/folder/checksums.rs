//! Checksums of the files of a complete folder: noted in its mark, compared when a file is read.
//!
//! A folder has them from the moment it takes its place; while somebody works in it, its files
//! carry their own (`run.json`, and the tensors of models and checkpoints). A folder whose mark is
//! missing, because it was copied without hidden files, or is of an earlier program, cannot be
//! judged and is taken as it is.

use super::RUN;
use super::mark::{MARK, Mark};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use strt_io::checksum;

/// Checksums by the name of the file; of one in a folder below, `folder/file`.
pub(super) type Checksums = BTreeMap<String, String>;

const REMEDY: &str = "it was damaged or edited: use another copy of it, or make it again";

/// What a look at all files of a folder found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files that are as they were written.
    pub whole: usize,
    /// Those that somebody has removed.
    pub gone: Vec<String>,
}

/// Checksums of everything in a folder but its mark and what is left to be done there, which carry
/// their own.
pub(super) fn of(folder: &Path) -> Result<Checksums> {
    let mut found = Checksums::new();
    collect(folder, "", &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut Checksums) -> Result {
    let entries = fs::read_dir(folder).map_err(Error::file("read", folder))?;
    for entry in entries {
        let path = entry.map_err(Error::file("read", folder))?.path();
        let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else {
            continue;
        };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found)?;
        } else if ![MARK, RUN].contains(&name.as_str()) {
            let sum = checksum::of_file(&path).map_err(Error::file("read", &path))?;
            found.insert(name, sum);
        }
    }
    Ok(())
}

/// Looks whether these files are as they were when the folder was complete. One that is not there
/// is the business of whoever reads it.
///
/// # Errors
/// [`Error::Damaged`] with the file that has changed.
pub fn verify(folder: &Path, names: &[&str]) -> Result {
    let Some(mark) = Mark::sealed(folder)? else {
        return Ok(());
    };
    for &name in names {
        if let Some(noted) = mark.checksums.get(name) {
            compare(folder, name, noted)?;
        }
    }
    Ok(())
}

/// Looks at every file of a folder; `None` where its mark says nothing of them.
///
/// # Errors
/// [`Error::Damaged`] with the first file that has changed.
pub fn verify_all(folder: &Path) -> Result<Option<Verified>> {
    let noted = match Mark::sealed(folder)? {
        Some(mark) if !mark.checksums.is_empty() => mark.checksums,
        _ => return Ok(None),
    };
    let mut verified = Verified::default();
    for (name, noted) in &noted {
        if compare(folder, name, noted)? {
            verified.whole += 1;
        } else {
            verified.gone.push(name.clone());
        }
    }
    Ok(Some(verified))
}

/// Whether the file is there; one that has changed is an error.
fn compare(folder: &Path, name: &str, noted: &str) -> Result<bool> {
    let path = folder.join(name);
    let found = match checksum::of_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read.map_err(Error::file("read", &path))?,
    };
    if found == noted {
        return Ok(true);
    }
    Err(Error::Damaged {
        path,
        found: format!("its checksum is {found}, and was {noted}"),
        remedy: REMEDY,
    })
}
