//! A small problem, watchers, and folders to look into.
#![allow(dead_code)] // every test file uses its own part

use std::path::{Path, PathBuf};
use strt_runs::results::summary::Input;
use strt_runs::{Caller, Event, Order, Source, Watcher, Wording};
use strt_synth::ProblemSpec;
use strtransformer::train::StepReport;
use strtransformer::{Config, Recording};

/// Samples × channels with a rate.
pub fn recording(seed: u64) -> Recording {
    let spec = ProblemSpec {
        n_samples: 200,
        seed,
        ..ProblemSpec::default()
    };
    spec.generate()
        .unwrap()
        .recording()
        .unwrap()
        .with_sampling_rate(100.0)
        .unwrap()
}

/// A quick run of two restarts.
pub fn config() -> Config {
    let mut config = Config::new(3);
    config.optimizer.steps = Some(12);
    config.branches.patch_sizes = vec![4, 8];
    config.restarts = Some(2);
    config.threads = 1;
    config
}

/// Somebody whose page is one line.
pub static CALLER: Caller = Caller {
    wording: Wording::LIBRARY,
    pages: |_, findings| {
        let text = format!("{} sources\n", findings.summary.sources);
        Ok(vec![("page.txt".into(), text.into_bytes())])
    },
};

/// A recording in memory with what a run says of it.
pub struct Data {
    pub recording: Recording,
    pub input: Input,
}

impl Data {
    pub fn new(seed: u64) -> Data {
        let recording = recording(seed);
        Data {
            input: Input::in_memory("array", &recording),
            recording,
        }
    }

    pub fn source(&self) -> Source<'_> {
        Source::Memory {
            recording: &self.recording,
            input: &self.input,
        }
    }

    pub fn order(&self) -> Order<'_> {
        Order {
            log_every: 5,
            command: vec!["fit(x, n_sources=3)".into()],
            caller: &CALLER,
            ..Order::new(self.source(), config())
        }
    }
}

/// A folder of its own.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        let path = self.path(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// Names in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    /// Whether two folders have the same files, and the same bytes in all that do not tell times,
    /// commands or inputs.
    pub fn assert_alike(&self, a: &str, b: &str) {
        assert_eq!(self.names(a), self.names(b));
        for name in self.names(a) {
            if ["summary.json", ".strt"].contains(&name.as_str()) {
                continue;
            }
            let (in_a, in_b) = (
                self.read(&format!("{a}/{name}")),
                self.read(&format!("{b}/{name}")),
            );
            assert!(in_a == in_b, "{name} differs in {a} and {b}");
        }
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Asks for the end after so many steps, and remembers what it was told.
#[derive(Default)]
pub struct Stopper {
    pub after: Option<usize>,
    pub steps: usize,
    pub events: Vec<String>,
}

impl Stopper {
    pub fn after(steps: usize) -> Stopper {
        Stopper {
            after: Some(steps),
            ..Stopper::default()
        }
    }
}

impl Watcher for Stopper {
    fn step(&mut self, _: &StepReport<'_>) {
        self.steps += 1;
    }

    /// True once only: that must be enough.
    fn interrupted(&mut self) -> bool {
        let now = self.after == Some(self.steps);
        if now {
            self.after = None;
        }
        now
    }

    fn event(&mut self, event: Event<'_>) {
        let text = format!("{event:?}");
        let name = text.split([' ', '(']).next().unwrap_or_default();
        self.events.push(name.to_string());
    }
}

/// The message of a refusal, which must contain these words.
pub fn refused<T>(result: strt_runs::Result<T>, words: &[&str]) -> strt_runs::Error {
    let Err(error) = result else {
        panic!("expected a refusal with {words:?}");
    };
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    error
}
