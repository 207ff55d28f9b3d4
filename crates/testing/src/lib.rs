//! Tests that cannot run where they are say so, and are counted.
//!
//! A test that misses something calls [`skip`] and returns. The test harness counts it as passed,
//! so the skip is also written to the list that the variable [`LIST`] names: one line per test,
//! `what is missing<tab>which test`. `cargo xtask test` gives that variable to everything that it
//! starts and ends with a summary of the list; `cargo xtask ci` fails when something is missing
//! that it can provide. The tests of the Python package write the same lines
//! (`python/tests/conftest.py`).

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// The environment variable that names the file to which skipped tests are appended.
pub const LIST: &str = "STRT_SKIPPED";

/// What a test may miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Chromium.
    Browser,
    /// Recordings that are not part of the project, in `shared/data` beside it.
    Recordings,
    /// A user who may not read every file, as root may.
    Permissions,
    /// A small file system that a test may mount for itself.
    SmallDisk,
}

impl Missing {
    /// As it stands in the list.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Browser => "a browser",
            Missing::Recordings => "recordings",
            Missing::Permissions => "a user other than root",
            Missing::SmallDisk => "a small disk to mount",
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Says that the calling test is skipped; the test must then return.
///
/// # Panics
/// When the list cannot be written: a skip that nobody counts is what this is here to prevent.
#[track_caller]
pub fn skip(missing: Missing) {
    let place = std::panic::Location::caller();
    // The harness names a test's thread after it.
    let thread = std::thread::current();
    let test = format!("{} ({})", thread.name().unwrap_or("?"), place.file());
    eprintln!("SKIPPED {test}: {missing} is missing");
    if let Some(list) = std::env::var_os(LIST) {
        append(Path::new(&list), missing.name(), &test)
            .unwrap_or_else(|error| panic!("{LIST}: cannot write: {error}"));
    }
}

/// Adds a line to a list.
pub fn append(list: &Path, missing: &str, test: &str) -> io::Result<()> {
    // One write, because tests run side by side.
    let line = format!("{missing}\t{test}\n");
    let mut list = OpenOptions::new().create(true).append(true).open(list)?;
    list.write_all(line.as_bytes())
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// What was missing.
    pub missing: String,
    /// Which test.
    pub test: String,
}

/// Reads a list; one that does not exist is empty.
pub fn read(list: &Path) -> io::Result<Vec<Skipped>> {
    let text = match fs::read_to_string(list) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        outcome => outcome?,
    };
    let line = |line: &str| {
        let (missing, test) = line.split_once('\t').unwrap_or((line, "?"));
        Skipped {
            missing: missing.into(),
            test: test.into(),
        }
    };
    Ok(text.lines().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let list = std::env::temp_dir().join(format!("strt-skipped-{}", std::process::id()));
        assert_eq!(read(&list).expect("a list"), []);
        append(&list, "a browser", "page (report.rs)").expect("a line");
        append(&list, "recordings", "eeg").expect("a line");
        let found = read(&list).expect("a list");
        fs::remove_file(&list).expect("to clean up");
        let of = |missing: &str, test: &str| Skipped {
            missing: missing.into(),
            test: test.into(),
        };
        let expected = [of("a browser", "page (report.rs)"), of("recordings", "eeg")];
        assert_eq!(found, expected);
    }
}
