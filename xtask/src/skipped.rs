//! Which tests were skipped: the summary at the end, and which of them CI must have run.

use crate::steps::target;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use strt_testing::{Missing, Skipped};

/// What CI cannot provide. Everything else it installs, so that a test that misses it fails CI.
const EXCUSED: [(&str, &str); 5] = [
    ("a user other than root", "containers run as root"),
    ("a small disk to mount", "containers may forbid it"),
    (
        "the Python package ray",
        "it is large, and late for new versions of Python",
    ),
    ("SIGINT for one process", "Windows has none"),
    (
        "SCIPY_ARRAY_API is not set",
        "scikit-learn's check of arrays that are not NumPy's, which are not taken",
    ),
];

/// Where recordings are that are not part of the project.
const RECORDINGS: &str = "../shared/data";

/// The file to which skipped tests are appended; an absolute path, since tests start elsewhere.
pub fn list() -> PathBuf {
    let list = target().join("skipped-tests.txt");
    std::path::absolute(&list).unwrap_or(list)
}

/// Empties the list.
pub fn forget() -> Result<(), String> {
    let list = list();
    if list.exists() {
        fs::remove_file(&list)
            .map_err(|error| format!("{}: cannot remove: {error}", list.display()))?;
    }
    Ok(())
}

/// The list as it is now.
pub fn read() -> Result<Vec<Skipped>, String> {
    let list = list();
    strt_testing::read(&list).map_err(|error| format!("{}: cannot read: {error}", list.display()))
}

/// Counts a test as skipped.
pub fn add(missing: &str, test: &str) -> Result<(), String> {
    let list = list();
    strt_testing::append(&list, missing, test)
        .map_err(|error| format!("{}: cannot write: {error}", list.display()))
}

/// `skipped: 3 (recordings: 2, a browser: 1)`.
pub fn summary(skipped: &[Skipped]) -> String {
    let mut counts = BTreeMap::new();
    for test in skipped {
        *counts.entry(test.missing.as_str()).or_insert(0) += 1;
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(missing, count)| format!("{missing}: {count}"))
        .collect();
    if counts.is_empty() {
        "skipped: 0".into()
    } else {
        format!("skipped: {} ({})", skipped.len(), counts.join(", "))
    }
}

/// An error that names the tests that CI should have run.
pub fn refuse(skipped: &[Skipped]) -> Result<(), String> {
    let recordings = Path::new(RECORDINGS).is_dir();
    let tests: Vec<String> = skipped
        .iter()
        .filter(|test| must_run(&test.missing, recordings))
        .map(|test| format!("\n  {}: expected {}", test.test, test.missing))
        .collect();
    if tests.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "tests were skipped that CI can run:{}",
            tests.concat()
        ))
    }
}

fn must_run(missing: &str, recordings: bool) -> bool {
    if missing == Missing::Recordings.name() {
        recordings
    } else {
        EXCUSED.iter().all(|&(excused, _)| missing != excused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(missing: &str) -> Skipped {
        Skipped {
            missing: missing.into(),
            test: "a_test".into(),
        }
    }

    #[test]
    fn the_summary_counts_by_reason() {
        assert_eq!(summary(&[]), "skipped: 0");
        let tests = ["recordings", "a browser", "recordings"].map(skipped);
        assert_eq!(summary(&tests), "skipped: 3 (a browser: 1, recordings: 2)");
    }

    #[test]
    fn only_what_cannot_be_provided_is_excused() {
        for missing in [Missing::Permissions, Missing::SmallDisk] {
            assert!(!must_run(missing.name(), true), "{missing}");
        }
        assert!(must_run(Missing::Browser.name(), false));
        assert!(must_run("the Python package pandas", false));
        assert!(must_run(Missing::Recordings.name(), true));
        assert!(!must_run(Missing::Recordings.name(), false));
        let error = refuse(&[skipped("a browser")]).unwrap_err();
        assert!(error.contains("a_test: expected a browser"), "{error}");
        assert_eq!(refuse(&[skipped("a small disk to mount")]), Ok(()));
    }
}
