//! The program `strt`, or a sweep of the Python package, in processes of their own that can be
//! killed.

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
pub struct Program {
    path: PathBuf,
    /// What comes before its own arguments.
    first: Vec<String>,
}

/// Two recordings × two seeds, shared out over two processes.
const SWEEP: &str = r#"
import sys
import numpy as np
from strtransformer import sweep

preset, autosave = sys.argv[1:]
settings = {"n_components": 3, "preset": preset, "config": {"branches.patch_sizes": [4, 8]}}
if preset != "fast":
    settings |= {"max_iter": 60, "n_restarts": 2}
X = np.load("../data/observations.npy")
recordings = {"a": X, "b": X[:, ::-1]}
sweep(recordings, ".", settings=settings, seeds=range(2), autosave=float(autosave), n_jobs=2)
"#;

impl Program {
    /// `strt`: this program under another word, so that nothing else has to be installed.
    pub fn strt() -> Result<Program, String> {
        let path = std::env::current_exe()
            .map_err(|error| format!("cannot find this program: {error}"))?;
        Ok(Program {
            path,
            first: vec![PROGRAM.into()],
        })
    }

    /// A sweep under a Python that has the package; its arguments are preset and seconds between
    /// checkpoints.
    pub fn python_sweep(python: PathBuf) -> Program {
        Program {
            path: python,
            first: vec!["-W".into(), "ignore".into(), "-c".into(), SWEEP.into()],
        }
    }

    fn command(&self, folder: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new(&self.path);
        // A group of its own: workers of a sweep are to be killed with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .args(&self.first)
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
            .map_err(|error| self.unstarted(&error))?;
        if output.status.success() {
            return Ok(began.elapsed());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        let words = arguments.join(" ");
        Err(match self.first[0].as_str() {
            PROGRAM => format!("`strt {words}` failed: {said}"),
            _ => format!("a sweep ({words}) failed: {said}"),
        })
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
            .map_err(|error| self.unstarted(&error))?;
        std::thread::sleep(after);
        // What has ended needs no kill.
        #[cfg(unix)]
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", child.id())])
            .stderr(Stdio::null())
            .status();
        let _ = child.kill();
        let waited = child.wait();
        waited.map_err(|error| format!("cannot wait for this program: {error}"))?;
        Ok(())
    }

    fn unstarted(&self, error: &std::io::Error) -> String {
        format!("{}: cannot start: {error}", self.path.display())
    }
}
