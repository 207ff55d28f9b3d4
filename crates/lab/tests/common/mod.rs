//! Runs the built program in fresh folders, as a person would.

#![allow(dead_code)] // each test file uses a part

use std::path::PathBuf;
use std::process::{Command, Stdio};

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

    pub fn text(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn lab(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_strt-lab"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            // Help is as wide as the terminal; without one it must not depend on where the tests
            // run.
            .env("COLUMNS", "100")
            .output()
            .expect("the program starts");
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a command that must end well.
    pub fn done(&self, arguments: &[&str]) -> Ran {
        let ran = self.lab(arguments);
        assert_eq!(
            ran.status, 0,
            "{arguments:?}\n{}\n{}",
            ran.stdout, ran.stderr
        );
        ran
    }
}
