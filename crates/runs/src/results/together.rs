//! The files of a run that was made of several: which samples are whose.
//!
//! In: files that were read together. Out: a part of `summary.json` and the table `pieces.csv`;
//! and, of two such lists, which file is another. A file is known by the fingerprint of its
//! numbers, so that it may be moved.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use strt_io::{Joined, Piece};

/// Which samples of a run are those of which file.
pub const PIECES: &str = "pieces.csv";

/// Several files that were separated as one recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// Fingerprint of the recording of all, in hexadecimal digits.
    pub fingerprint: String,
    /// The files in order.
    pub files: Vec<FileOfRun>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOfRun {
    /// The file as it was given.
    pub path: String,
    /// Its first sample in the results, counted from 0.
    pub first_sample: usize,
    /// Number of its samples.
    pub samples: usize,
    /// Fingerprint of what was read of it, in hexadecimal digits.
    pub fingerprint: String,
}

impl FileOfRun {
    fn of(piece: &Piece) -> FileOfRun {
        FileOfRun {
            path: piece.path.display().to_string(),
            first_sample: piece.rows.start,
            samples: piece.rows.len(),
            fingerprint: hexadecimal(piece.fingerprint),
        }
    }

    /// Its samples in the results.
    pub fn rows(&self) -> Range<usize> {
        self.first_sample..self.first_sample + self.samples
    }

    /// Its name without its folder.
    pub fn name(&self) -> String {
        let path = Path::new(&self.path);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

impl Together {
    pub(crate) fn of(joined: &Joined) -> Together {
        Together {
            fingerprint: hexadecimal(joined.opened.recording.fingerprint()),
            files: joined.pieces.iter().map(FileOfRun::of).collect(),
        }
    }

    /// What to call all files in a sentence.
    pub fn name(&self) -> String {
        let first = self.files.first().map_or("", |file| &file.path);
        match self.files.len() {
            0 | 1 => first.into(),
            n => format!("{first} and {} more", n - 1),
        }
    }

    /// `pieces.csv`.
    pub(super) fn to_csv(&self) -> String {
        let mut text = String::from("file,first_sample,samples,fingerprint\n");
        for file in &self.files {
            let path = file.path.replace('"', "\"\"");
            text.push_str(&format!(
                "\"{path}\",{},{},{}\n",
                file.first_sample, file.samples, file.fingerprint
            ));
        }
        text
    }
}

/// What differs between the files of a run and those that are asked for.
pub(crate) fn differ(there: Option<&Together>, asked: Option<&Together>) -> Option<String> {
    let files = |together: Option<&Together>| together.map_or(1, |t| t.files.len());
    if files(there) != files(asked) {
        return Some(format!(
            "it was made of {}, {} was asked for",
            counted(files(there)),
            counted(files(asked))
        ));
    }
    let (there, asked) = (there?, asked?);
    let mut both = there.files.iter().zip(&asked.files);
    let (there, asked) = both.find(|(a, b)| a.fingerprint != b.fingerprint)?;
    Some(if there.path == asked.path {
        format!("{} holds other values", asked.path)
    } else {
        format!("{} holds other values than {}", asked.path, there.path)
    })
}

fn counted(files: usize) -> String {
    match files {
        1 => "one file".into(),
        n => format!("{n} files together"),
    }
}

/// A fingerprint as it stands in JSON, where no reader takes it for a number.
pub(crate) fn hexadecimal(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}
