//! The PyTorch process: started once, asked by JSON lines, ended when dropped.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SCRIPT: &str = "benchmarks/pytorch_step.py";

const INSTALL: &str = "python3 -m venv benchmarks/.venv && \
                       benchmarks/.venv/bin/pip install -r benchmarks/requirements.txt";

/// A running `benchmarks/pytorch_step.py`.
pub struct Worker {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Versions of Python and its libraries.
    pub versions: Value,
}

impl Worker {
    /// Starts the worker. The error says what to do about it.
    pub fn start(python: Option<&Path>) -> Result<Worker, String> {
        let script = find(SCRIPT).ok_or_else(|| {
            format!("{SCRIPT} was not found; run this in the source tree of the program")
        })?;
        let python = match python {
            Some(given) => given.to_path_buf(),
            None => find("benchmarks/.venv/bin/python").unwrap_or_else(|| "python3".into()),
        };
        let advice = |what: String| {
            format!(
                "{} cannot run the comparison ({what}). To install what it needs, in the source \
                 tree: {INSTALL}; or name a Python that has it with --python",
                python.display()
            )
        };
        let mut child = Command::new(&python)
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| advice(error.to_string()))?;
        let (requests, answers) = match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(answers)) => (requests, BufReader::new(answers)),
            _ => return Err(advice("no pipes".into())),
        };
        let mut worker = Worker {
            child,
            requests,
            answers,
            versions: Value::Null,
        };
        worker.versions = worker.ask(&json!({ "command": "versions" })).map_err(|_| {
            advice("torch or numpy is missing, or Python is older than 3.10".into())
        })?;
        Ok(worker)
    }

    /// One request and its answer.
    pub fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let lost = |error: std::io::Error| format!("the PyTorch process ended ({error})");
        writeln!(self.requests, "{request}").map_err(lost)?;
        let mut line = String::new();
        if self.answers.read_line(&mut line).map_err(lost)? == 0 {
            return Err("the PyTorch process ended without an answer".into());
        }
        let answer: Value = serde_json::from_str(&line)
            .map_err(|error| format!("{error} in its answer {line:?}"))?;
        match answer.get("error") {
            Some(error) => Err(format!(
                "PyTorch: {}",
                error.as_str().unwrap_or("unknown error")
            )),
            None => Ok(answer),
        }
    }

    /// Seconds of each step of one form.
    pub fn time(
        &mut self,
        form: &str,
        threads: usize,
        steps: usize,
    ) -> Result<(Vec<f64>, String), String> {
        let request =
            json!({ "command": "time", "form": form, "threads": threads, "steps": steps });
        let answer = self.ask(&request)?;
        let attention = answer["attention"].as_str().unwrap_or("?").to_string();
        Ok((seconds(&answer), attention))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has nothing to save; whether it is still there does not matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The field `seconds` of an answer.
pub fn seconds(answer: &Value) -> Vec<f64> {
    let list = answer["seconds"].as_array();
    list.map(|l| l.iter().filter_map(Value::as_f64).collect())
        .unwrap_or_default()
}

/// A file of the source tree: looked for above the working directory, then above the program
/// itself.
fn find(path: &str) -> Option<PathBuf> {
    let places = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    places
        .iter()
        .flatten()
        .flat_map(|place| place.ancestors())
        .map(|folder| folder.join(path))
        .find(|file| file.exists())
}
