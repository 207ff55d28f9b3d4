//! Recordings from files and signals into files: what other programs wrote, what is refused and
//! how, real recordings. Without the feature `formats` only what needs none of them.
#![cfg_attr(not(feature = "formats"), allow(dead_code))]

#[cfg(feature = "formats")]
mod events;
#[cfg(feature = "formats")]
mod fixtures;
#[cfg(feature = "formats")]
mod laboratory;
#[cfg(feature = "formats")]
mod layout;
#[cfg(feature = "formats")]
mod options;
#[cfg(feature = "formats")]
mod real;
#[cfg(feature = "formats")]
mod refusals;
#[cfg(feature = "formats")]
mod rewriting;
#[cfg(feature = "formats")]
mod sound;
mod tables;
mod text;
#[cfg(feature = "formats")]
mod trials;
#[cfg(feature = "formats")]
mod writing;

use std::path::{Path, PathBuf};
use strt_io::{Opened, ReadOptions, read_recording};

/// A file that another program wrote.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// Files that a test makes.
struct Made(tempfile::TempDir);

impl Made {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, contents).unwrap();
        path
    }
}

fn open(path: impl AsRef<Path>) -> Opened {
    read_recording(path, &ReadOptions::default()).unwrap()
}

/// The error, with the directory of the file taken out of it.
fn refusal(path: &Path, options: &ReadOptions) -> String {
    let error = match read_recording(path, options) {
        Err(error) => error.to_string(),
        Ok(opened) => panic!("{} was read: {:?}", path.display(), opened.notes),
    };
    let directory = format!("{}/", path.parent().unwrap().display());
    error.replace(&directory, "")
}

fn notes(opened: &Opened) -> Vec<String> {
    opened.notes.iter().map(|note| note.to_string()).collect()
}
