//! Which files belong together: header, numbers and markers.
//!
//! In: any of the three. Out: paths of files that are there, and notes where names were guessed.
//! Files are looked for beside the header only, by the names in it, and, since recordings are
//! renamed by people who do not know of those names, by the name of the header itself.

use super::sections::Sections;
use crate::error::{Error, Result};
use crate::read::source::Source;
use crate::read::table::Contents;
use std::path::{Path, PathBuf};

/// Endings of headers, the one of V-Amp recorders last.
const HEADERS: [&str; 2] = ["vhdr", "ahdr"];

/// The header that a file of numbers or of markers belongs to; `None` for files of other formats.
pub(crate) fn header_of(path: &Path, ending: &str) -> Result<Option<PathBuf>> {
    let is_surely_ours = ["eeg", "vmrk", "amrk"].contains(&ending);
    if !(is_surely_ours || ["dat", "seg", "avg"].contains(&ending)) || !path.is_file() {
        return Ok(None);
    }
    let alike: Vec<PathBuf> = HEADERS
        .iter()
        .map(|ending| path.with_extension(ending))
        .filter(|header| header.is_file())
        .collect();
    if let Some(header) = alike.iter().find(|header| names(header, path)) {
        return Ok(Some(header.clone()));
    }
    if let Some(header) = others(path).into_iter().find(|header| names(header, path)) {
        return Ok(Some(header));
    }
    // All three renamed together: the names in the header are of files that are not there.
    let renamed = |header: &&PathBuf| {
        named(header).is_some_and(|files| !files.iter().flatten().any(|file| file.is_file()))
    };
    if let Some(header) = alike.iter().find(renamed) {
        return Ok(Some(header.clone()));
    }
    if !is_surely_ours {
        return Ok(None);
    }
    let expected = path.with_extension(HEADERS[0]);
    let expected = expected
        .file_name()
        .unwrap_or_default()
        .display()
        .to_string();
    Err(Error::kind(
        path,
        format!("a BrainVision header `{expected}`, or one that names this file, beside it"),
        "none",
        "copy it to the same directory, or convert the recording to EDF if it is of another kind",
    ))
}

/// All headers of a directory, in order.
fn others(path: &Path) -> Vec<PathBuf> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let is_header = |path: &PathBuf| {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| HEADERS.contains(&ending.as_str()))
    };
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_header)
        .collect();
    found.sort();
    found
}

/// The files of numbers and of markers that a header names; `None` where it cannot be read.
fn named(header: &Path) -> Option<[Option<PathBuf>; 2]> {
    let sections = Sections::parse(&std::fs::read(header).ok()?);
    let of = |key: &str| {
        let name = &sections.get("Common Infos", key)?.value;
        Some(beside(header, name))
    };
    Some([of("DataFile"), of("MarkerFile")])
}

/// Whether a header names a file.
fn names(header: &Path, path: &Path) -> bool {
    named(header).is_some_and(|files| {
        let own = files.iter().flatten();
        own.into_iter()
            .any(|file| file.file_name() == path.file_name())
    })
}

/// The file that is meant by a name in a header. `$b` is the name of the header without its ending.
fn beside(header: &Path, name: &str) -> PathBuf {
    let stem = header.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.replace("$b", &stem);
    header.with_file_name(name.rsplit(['/', '\\']).next().unwrap_or_default())
}

/// The file of numbers.
pub(super) fn data_file(header: &Path, name: &str, contents: &mut Contents) -> Result<Source> {
    let named = beside(header, name);
    let found = match renamed(header, &named, &["eeg", "dat"]) {
        Found::Named => named,
        Found::Renamed(file) => {
            contents.warn(format!(
                "`{}` is not there: `{}`, which is named as the header, is read",
                last(&named),
                last(&file)
            ));
            file
        }
        Found::None => {
            return Err(Error::content(
                header,
                "[Common Infos] DataFile",
                format!(
                    "a file `{}` beside it, which holds the numbers",
                    last(&named)
                ),
                "no such file",
                "copy it to the same directory, or give it the name of the header",
            ));
        }
    };
    Source::open(&found)
}

/// The file of markers. A recording can do without.
pub(super) fn marker_file(header: &Path, name: &str, contents: &mut Contents) -> Option<PathBuf> {
    let named = beside(header, name);
    match renamed(header, &named, &["vmrk", "amrk"]) {
        Found::Named => Some(named),
        Found::Renamed(file) => {
            contents.warn(format!(
                "`{}` is not there: the markers are read from `{}`",
                last(&named),
                last(&file)
            ));
            Some(file)
        }
        Found::None => {
            contents.warn(format!(
                "`{}` is not there: no events are known",
                last(&named)
            ));
            None
        }
    }
}

enum Found {
    Named,
    Renamed(PathBuf),
    None,
}

fn renamed(header: &Path, named: &Path, endings: &[&str]) -> Found {
    // A name such as `..` is that of a directory.
    if named.is_file() {
        return Found::Named;
    }
    let own = named
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut endings: Vec<&str> = endings.to_vec();
    endings.insert(0, &own);
    let files = endings.iter().map(|ending| header.with_extension(ending));
    match files
        .into_iter()
        .find(|file| file.is_file() && file != header)
    {
        Some(file) => Found::Renamed(file),
        None => Found::None,
    }
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().display().to_string()
}
