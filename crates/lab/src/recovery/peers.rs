//! Other programs on the same problems, in Python processes that stay open: scikit-learn,
//! python-picard and amica-python, and the neural rivals.
//!
//! One request a line, one answer a line, both JSON; the numbers travel as NPY files. The other
//! halves are `benchmarks/peers.py` and `benchmarks/run_rivals.py`.

use faer::MatRef;
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use strt_cli::failure::{Failure, Outcome};
use strt_cli::methods::Found;
use strt_io::{ReadOptions, Signals, read_recording, write_signals};

/// A script of `benchmarks/` that answers requests.
pub struct Script {
    name: &'static str,
    arguments: Vec<String>,
    /// What has to be installed for it.
    requirements: &'static str,
    /// The option without which it is not started.
    option: &'static str,
}

impl Script {
    /// Classical methods of other packages.
    pub fn peers() -> Script {
        Script {
            name: "benchmarks/peers.py",
            arguments: Vec::new(),
            requirements: "benchmarks/requirements-peers.txt",
            option: "--python",
        }
    }

    /// Neural methods, their training steps times `budget`.
    pub fn rivals(budget: f64) -> Script {
        Script {
            name: "benchmarks/run_rivals.py",
            arguments: vec!["serve".into(), "--budget".into(), budget.to_string()],
            requirements: "benchmarks/requirements-rivals.txt",
            option: "--rivals",
        }
    }

    /// In the current folder or where this program was built.
    fn path(&self) -> Outcome<PathBuf> {
        let name = Path::new(self.name);
        let built = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(name);
        [name.to_owned(), built]
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| {
                Failure::Failed(format!(
                    "{}: expected it in the current folder, found nothing; run this in the \
                     repository",
                    self.name
                ))
            })
    }
}

/// A Python process.
pub struct Peers {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
    /// What it can run, as `sklearn-fastica`.
    pub methods: Vec<String>,
    /// Names and versions of its packages.
    pub versions: String,
}

#[derive(Deserialize)]
struct Hello {
    methods: Vec<String>,
    versions: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Found { seconds: f64, converged: bool },
    Failed { error: String },
}

impl Peers {
    /// Starts `python script`.
    pub fn start(python: &Path, script: &Script) -> Outcome<Peers> {
        let path = script.path()?;
        let problem = |what: String| {
            Failure::Failed(format!(
                "{} {}: {what}; install what {} lists, or leave out {}",
                python.display(),
                path.display(),
                script.requirements,
                script.option
            ))
        };
        let mut child = Command::new(python)
            .arg(&path)
            .args(&script.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| problem(error.to_string()))?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(answers)) = (requests, answers) else {
            return Err(problem("its pipes are closed".into()));
        };
        let mut answers = BufReader::new(answers);
        let mut line = String::new();
        answers
            .read_line(&mut line)
            .map_err(|error| problem(error.to_string()))?;
        let hello: Hello = serde_json::from_str(&line)
            .map_err(|_| problem("it ended before it said what it can run".into()))?;
        Ok(Peers {
            child,
            requests,
            answers,
            folder: tempfile::tempdir()?,
            methods: hello.methods,
            versions: hello.versions,
        })
    }

    /// Runs one of its methods.
    pub fn run(
        &mut self,
        method: &str,
        observations: MatRef<'_, f64>,
        n_sources: usize,
        seed: u64,
    ) -> Outcome<Found> {
        let (input, output) = (
            self.folder.path().join("in.npy"),
            self.folder.path().join("out.npy"),
        );
        let names: Vec<String> = (0..observations.ncols()).map(|c| format!("c{c}")).collect();
        write_signals(
            &input,
            &Signals {
                values: observations,
                names: &names,
                rate: None,
            },
        )?;
        let request = json!({
            "method": method, "input": input, "output": output, "k": n_sources, "seed": seed,
        });
        let lost = |error: std::io::Error| {
            Failure::Failed(format!("{method}: the Python process was lost: {error}"))
        };
        writeln!(self.requests, "{request}").map_err(lost)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(lost)?;
        match serde_json::from_str(&line) {
            Ok(Answer::Found { seconds, converged }) => Ok(Found {
                denoised: None,
                sources: read_recording(&output, &ReadOptions::default())?
                    .recording
                    .observations()
                    .to_owned(),
                mixing: None,
                converged,
                seconds,
            }),
            Ok(Answer::Failed { error }) => Err(Failure::Failed(format!("{method}: {error}"))),
            Err(_) => Err(Failure::Failed(format!(
                "{method}: the Python process gave no answer"
            ))),
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
