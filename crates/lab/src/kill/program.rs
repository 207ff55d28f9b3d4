//! The program `strt` in a process of its own that can be killed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The word by which this program becomes that one.
const PROGRAM: &str = "program";

/// Runs it, where the command line asks for it, and gives its exit status.
pub fn run(arguments: &[OsString]) -> Option<u8> {
    let asked = arguments.get(1).is_some_and(|word| word == PROGRAM);
    asked.then(|| strt_cli::main_from(arguments[1..].iter().cloned()))
}

/// How to start it.
pub struct Program(PathBuf);

impl Program {
    pub fn new() -> Result<Program, String> {
        let path = std::env::current_exe()
            .map_err(|error| format!("cannot find this program: {error}"))?;
        Ok(Program(path))
    }

    fn command(&self, folder: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.0);
        command
            .arg(PROGRAM)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Runs it to its end, which must be a good one, and says how long it took.
    pub fn done(&self, folder: &Path, arguments: &[String]) -> Result<Duration, String> {
        let began = Instant::now();
        let output = self
            .command(folder, arguments)
            .output()
            .map_err(|error| format!("cannot start this program: {error}"))?;
        if output.status.success() {
            return Ok(began.elapsed());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        Err(format!("`strt {}` failed: {said}", arguments.join(" ")))
    }

    /// Starts it and kills it after this time, if it has not ended by then.
    pub fn killed(
        &self,
        folder: &Path,
        arguments: &[String],
        after: Duration,
    ) -> Result<(), String> {
        let mut child = self
            .command(folder, arguments)
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start this program: {error}"))?;
        std::thread::sleep(after);
        // One that has ended needs no kill.
        let _ = child.kill();
        let waited = child.wait();
        waited.map_err(|error| format!("cannot wait for this program: {error}"))?;
        Ok(())
    }
}
