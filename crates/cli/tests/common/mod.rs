//! Runs the built program in fresh folders, as a person would.

#![allow(dead_code)] // each test file uses a part

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Small networks and few steps: what the tests look at does not depend on them.
pub const SMALL: [&str; 4] = ["--steps", "4", "--set", "branches.patch_sizes=[4, 8]"];

/// A fresh folder to work in.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a command printed and how it ended.
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Place {
        Place {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Place {
        std::fs::write(self.path(name), bytes).expect("a file can be written");
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).expect("JSON")
    }

    /// Names of everything in a folder below this one, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The program with this folder as the current one.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strt"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            // Help is as wide as the terminal; without one it must not depend on where the tests
            // run.
            .env("COLUMNS", "100");
        command
    }

    pub fn strt(&self, arguments: &[&str]) -> Ran {
        Ran::new(
            self.command(arguments)
                .output()
                .expect("the program starts"),
        )
    }

    /// Runs a command that must end well.
    pub fn done(&self, arguments: &[&str]) -> Ran {
        let ran = self.strt(arguments);
        assert_eq!(
            ran.status, 0,
            "{arguments:?}\n{}\n{}",
            ran.stdout, ran.stderr
        );
        ran
    }

    /// A recording of three sources in six channels, in `data`.
    pub fn problem(&self, samples: &str) -> &Place {
        self.done(&[
            "generate",
            "gp",
            "--samples",
            samples,
            "--out",
            "data",
            "--quiet",
        ]);
        self
    }
}

impl Ran {
    pub fn new(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// `strt separate` on the recording of [`Place::problem`], small and short.
pub fn separate(more: &[&str]) -> Vec<String> {
    let fixed = ["separate", "data/observations.csv", "--sources", "3"];
    let words = fixed.iter().chain(&SMALL).chain(more);
    words.map(|word| word.to_string()).collect()
}

/// Runs it to its end.
pub fn run(place: &Place, more: &[&str]) -> Ran {
    let arguments = separate(more);
    place.done(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Three sources in a moment.
pub const FAST: [&str; 5] = ["-k", "3", "--preset", "fast", "-q"];

/// A place with a recording and a run on it, `observations.strt`.
pub fn separated() -> Place {
    let place = Place::new();
    place.problem("300");
    place.done(&[&["separate", "data/observations.csv"][..], &FAST].concat());
    place
}

/// A command that must be refused with this status and message, and leave nothing.
pub fn refused(place: &Place, arguments: &[&str], status: i32, expected: &str) {
    let before = place.names("");
    let ran = place.strt(arguments);
    assert_eq!(ran.status, status, "{arguments:?}: {}", ran.stderr);
    assert!(
        ran.stderr.contains(expected),
        "{arguments:?}: {}",
        ran.stderr
    );
    assert_eq!(place.names(""), before, "{arguments:?}");
}

/// A file that another program wrote, of the fixtures of `strt-io`.
pub fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../io/tests/fixtures");
    folder.join(name).display().to_string()
}

/// Compares a text with the one that was committed; `STRT_UPDATE=1` writes it anew, for reading
/// before it is committed.
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if std::env::var_os("STRT_UPDATE").is_some() {
        std::fs::write(&path, text).expect("the snapshot can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{} differs; if that is right, run with STRT_UPDATE=1\n--- kept\n{kept}\n--- now\n{text}",
        path.display()
    );
}
