//! `.strt`: the hidden file that says what made a folder, what it wrote there and with which
//! checksums, and the lock on it that keeps two programs from working in one folder.

use super::Kind;
use super::checksums::Checksums;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use strt_io::checksum::{self, Seal, UNSEALED};

pub(super) const MARK: &str = ".strt";

/// The contents of the file.
#[derive(Serialize, Deserialize)]
pub(super) struct Mark {
    made_by: String,
    kind: Kind,
    files: Vec<String>,
    /// Of the files of a complete folder; empty while somebody works there.
    #[serde(default)]
    pub checksums: Checksums,
    /// Of the mark itself; the last entry. Empty in one of an earlier program.
    #[serde(default)]
    checksum: String,
}

impl Mark {
    /// The mark of a folder, where it has one that can be read.
    pub fn read(folder: &Path) -> Option<Mark> {
        let text = fs::read_to_string(folder.join(MARK)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The mark of a folder, if it has one, which must be as it was written.
    pub fn sealed(folder: &Path) -> Result<Option<Mark>> {
        let path = folder.join(MARK);
        let damaged = |found: String| Error::Damaged {
            path: path.clone(),
            found,
            remedy: "it says how the other files were: compare them with another copy of the \
                     folder, or remove it to use them unchecked",
        };
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::file("read", &path))?,
        };
        let text = bytes.trim_ascii_end();
        let mark: Mark =
            serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        // An earlier program noted no checksums.
        let is_sealed = !(mark.checksum.is_empty() && mark.checksums.is_empty());
        if is_sealed && checksum::check(text, 0..text.len()) != Seal::Whole {
            return Err(damaged("its own checksum does not hold".into()));
        }
        Ok(Some(mark))
    }

    /// What the folder is for.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

/// The kind of a folder of this program that holds nothing else, or why it is not one.
pub(super) fn owned(folder: &Path) -> Result<Kind, String> {
    let mark = Mark::read(folder).ok_or_else(|| "was not written by strt".to_string())?;
    let foreign = names(folder)
        .into_iter()
        .find(|name| name != MARK && !mark.files.contains(name));
    match foreign {
        Some(name) => Err(format!("holds `{name}`, which strt did not write")),
        None => Ok(mark.kind),
    }
}

/// Names of everything in a folder, sorted; none where it cannot be read.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// `.strt` of a folder, locked until this is dropped. The lock moves with the folder.
pub(super) struct Lock(File);

impl Lock {
    /// Locks a folder, which is created first if `create`.
    pub fn take(folder: &Path, create: bool) -> Result<Lock> {
        let busy = || Error::Busy {
            partial: folder.to_owned(),
        };
        let path = folder.join(MARK);
        if create && let Err(error) = fs::create_dir_all(folder) {
            // Of a folder that is just being moved away the system says that it exists.
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => busy(),
                _ => Error::system("create the folder", folder)(error),
            });
        }
        let open = || {
            let mut options = OpenOptions::new();
            options
                .create(create)
                .read(true)
                .write(true)
                .truncate(false);
            options.open(&path)
        };
        let file = match open() {
            // The folder is just being moved.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(busy()),
            opened => opened.map_err(Error::system("write", &path))?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(busy()),
            // A file system without locks: two runs at once are then not kept apart.
            Err(fs::TryLockError::Error(_)) => {}
        }
        if is_at(&file, &path) {
            Ok(Lock(file))
        } else {
            // Whoever held the lock has moved the folder in the meantime.
            Err(busy())
        }
    }

    /// Writes the mark through the file that is locked: a new file would not be. `folder` is where
    /// it is now.
    pub fn write(
        &mut self,
        folder: &Path,
        kind: Kind,
        files: Vec<String>,
        checksums: Checksums,
    ) -> Result {
        let mark = Mark {
            made_by: format!("strt {}", env!("CARGO_PKG_VERSION")),
            kind,
            files,
            checksums,
            checksum: UNSEALED.into(),
        };
        let mut text = serde_json::to_vec(&mark)?;
        let json = 0..text.len();
        checksum::seal(&mut text, json);
        let file = &mut self.0;
        let mut write = || {
            // In one piece and never shorter, so that it can be read at any time: others look at it
            // without the lock.
            let before = file.metadata()?.len() as usize;
            text.resize(text.len().max(before.saturating_sub(1)), b' ');
            text.push(b'\n');
            io::Seek::rewind(file)?;
            file.write_all(&text)?;
            file.sync_all()
        };
        write().map_err(Error::system("write", &folder.join(MARK)))
    }
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(here), Ok(there)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (here.dev(), here.ino()) == (there.dev(), there.ino())
}

/// Whether there is a file of that name: folders with open files in them cannot be moved here.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_file()
}
