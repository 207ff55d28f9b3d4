//! Names of cleaned recordings, and what the ending of a name stands for.

use crate::derivatives;
use std::path::{Path, PathBuf};

/// `recording.edf` → `recording_clean.edf`, `recording.csv.gz` → `recording_clean.csv.gz`; of a
/// BIDS dataset `sub-01_eeg.edf` → `sub-01_desc-strt_eeg.edf`.
pub fn default_name(input: &Path, bids: bool) -> PathBuf {
    if let Some(name) = derivatives::cleaned_name(input).filter(|_| bids) {
        return name.into();
    }
    let plain = unpacked(input);
    let stem = plain.file_stem().unwrap_or(plain.as_os_str());
    let mut name = stem.to_os_string();
    name.push("_clean");
    for path in [Some(plain.as_path()), (plain != input).then_some(input)] {
        if let Some(ending) = path.and_then(Path::extension) {
            name.push(".");
            name.push(ending);
        }
    }
    name.into()
}

/// The ending that stands for the form of a file. The three files of BrainVision go together.
pub fn form(path: &Path) -> String {
    match ending(path).as_str() {
        "vmrk" | "eeg" => "vhdr".to_string(),
        other => other.to_string(),
    }
}

/// The ending of a name, that of a packed file aside.
pub fn ending(path: &Path) -> String {
    unpacked(path)
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// The name that a file has when it is unpacked.
fn unpacked(path: &Path) -> PathBuf {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("gz" | "zst") => path.with_extension(""),
        _ => path.to_owned(),
    }
}
