//! One preset and command: made once without a kill, then killed at a moment, taken up, compared.

use super::program::Program;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_runs::{Place, inspect};

/// What is killed. A sweep is one run after the other, each with `--continue`, as an array of jobs
/// has them.
pub const COMMANDS: [&str; 4] = ["separate", "resume", "clean", "sweep"];
/// And with a Python that has the package: its `sweep`, workers and all.
pub const PYTHON_SWEEP: &str = "Python sweep";

/// A little longer than the command takes, so that some kills come too late.
const BEYOND: f64 = 1.1;
/// What the time of a command is multiplied by when a kill came after its end: on a machine with
/// other work it changes from moment to moment, and moments are to be spread over all of it.
const SOONER: f64 = 0.8;
/// The runs of a sweep.
const SWEEP: [&str; 2] = ["0", "1"];
/// The folder of a run, and the file of a cleaned recording.
const RUN: &str = "run";
const CLEANED: &str = "cleaned.csv";

/// What a kill left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Nothing,
    Begun,
    Checkpoint,
    Model,
    Everything,
}

impl Left {
    pub const ALL: [Left; 5] = [
        Left::Nothing,
        Left::Begun,
        Left::Checkpoint,
        Left::Model,
        Left::Everything,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Left::Nothing => "nothing yet",
            Left::Begun => "begun",
            Left::Checkpoint => "checkpoint",
            Left::Model => "model",
            Left::Everything => "everything",
        }
    }
}

/// What became of one moment.
pub struct Outcome {
    pub left: Left,
    /// What was lost or is not as without the kill.
    pub lost: Option<String>,
}

/// Contents of files by name, less what tells times.
type Contents = BTreeMap<String, Vec<u8>>;

/// A preset and a command, with what it gives when nobody kills it.
pub struct Scenario<'a> {
    program: &'a Program,
    /// What [`PYTHON_SWEEP`] starts.
    sweep: Option<&'a Program>,
    preset: &'static str,
    command: &'static str,
    /// A recording, and a place for each moment.
    place: tempfile::TempDir,
    whole: Contents,
    takes: Duration,
    moments: usize,
}

impl<'a> Scenario<'a> {
    pub fn new(
        program: &'a Program,
        sweep: Option<&'a Program>,
        preset: &'static str,
        command: &'static str,
    ) -> Result<Scenario<'a>, String> {
        let place = tempfile::tempdir().map_err(|error| format!("no place to work: {error}"))?;
        let words = ["generate", "gp", "--samples", "300", "--out", "data", "-q"];
        program.done(place.path(), &words.map(String::from))?;
        let mut scenario = Scenario {
            program,
            sweep: sweep.filter(|_| command == PYTHON_SWEEP),
            preset,
            command,
            place,
            whole: Contents::new(),
            takes: Duration::ZERO,
            moments: 0,
        };
        let folder = scenario.folder("whole")?;
        let mut takes = Duration::ZERO;
        for arguments in scenario.steps() {
            takes += scenario.starts().done(&folder, &arguments)?;
        }
        scenario.takes = takes;
        if command == "clean" {
            // The run is there before, and is not killed.
            scenario.takes = program.done(&folder, &scenario.clean())?;
        }
        scenario.whole = scenario.contents(&folder)?;
        Ok(scenario)
    }

    /// Kills the command at a moment, takes up what it left, and compares. A moment is a share of
    /// the time that the command takes; one that consists of two takes two.
    pub fn kill(&mut self, shares: [f64; 2]) -> Result<Outcome, String> {
        self.moments += 1;
        let folder = self.folder(&self.moments.to_string())?;
        let [first, second] = shares.map(|share| self.takes.mul_f64(BEYOND * share));
        let left = match self.command {
            "clean" => {
                self.program.done(&folder, &self.separate("0"))?;
                self.program.killed(&folder, &self.clean(), first)?;
                if folder.join(CLEANED).is_file() {
                    Left::Everything
                } else {
                    Left::Nothing
                }
            }
            "resume" => {
                self.program.killed(&folder, &self.separate("0"), first)?;
                if left_in(&folder) != Left::Nothing {
                    // Fails where the run is finished already, which is as good.
                    self.program.killed(&folder, &resume(), second)?;
                }
                left_in(&folder)
            }
            "sweep" => {
                // Shared out over the runs of the sweep; the last one is killed.
                let mut rest = first;
                for arguments in self.steps() {
                    let one = self.takes / SWEEP.len() as u32;
                    if rest > one {
                        self.program.done(&folder, &arguments)?;
                        rest -= one;
                    } else {
                        self.program.killed(&folder, &arguments, rest)?;
                        break;
                    }
                }
                left_in(&folder)
            }
            _ => {
                let [arguments] = &self.steps()[..] else {
                    unreachable!("only sweeps have several")
                };
                self.starts().killed(&folder, arguments, first)?;
                left_in(&folder)
            }
        };
        let taken_up = self.take_up(&folder, left);
        match &taken_up {
            Ok(Some(takes)) => self.takes = *takes,
            Ok(None) if left == Left::Everything => self.takes = self.takes.mul_f64(SOONER),
            _ => {}
        }
        let lost = taken_up.err();
        let lost =
            lost.map(|why| format!("{} {}: {}: {why}", self.preset, self.command, left.name()));
        // What went wrong is kept out of the way of the next moment, but not on disk.
        let _ = fs::remove_dir_all(&folder);
        Ok(Outcome { left, lost })
    }

    /// Takes up what a kill left, as a person would; what differs is an error. Says how long the
    /// command took, where all of it had to be done.
    fn take_up(&self, folder: &Path, left: Left) -> Result<Option<Duration>, String> {
        let nothing_there = runs(folder).is_empty();
        let took = match (self.command, left) {
            ("clean", _) => {
                // A file that is there is whole.
                if left == Left::Everything {
                    self.compare(folder)?;
                }
                let again = [self.clean(), vec!["--overwrite".into()]].concat();
                Some(self.program.done(folder, &again)?)
            }
            ("sweep" | PYTHON_SWEEP, _) => {
                let mut took = Duration::ZERO;
                for arguments in self.steps() {
                    took += self.starts().done(folder, &arguments)?;
                }
                nothing_there.then_some(took)
            }
            (_, Left::Nothing) => Some(self.program.done(folder, &self.separate("0"))?),
            (_, Left::Everything) => None,
            _ => {
                self.program.done(folder, &resume())?;
                None
            }
        };
        for run in runs(folder) {
            let name = run.file_name().unwrap_or_default().to_string_lossy();
            self.program
                .done(folder, &["info".into(), name.into_owned()])?;
        }
        self.compare(folder)?;
        Ok(took)
    }

    /// Whether a folder holds what it holds without a kill.
    fn compare(&self, folder: &Path) -> Result<(), String> {
        let found = self.contents(folder)?;
        for (name, bytes) in &self.whole {
            match found.get(name) {
                None => return Err(format!("{name} is missing")),
                Some(found) if found != bytes => return Err(format!("{name} has other bits")),
                Some(_) => {}
            }
        }
        match found.keys().find(|name| !self.whole.contains_key(*name)) {
            Some(name) => Err(format!("{name} was left over")),
            None => Ok(()),
        }
    }

    /// A new folder.
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.place.path().join(name);
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// What is started.
    fn starts(&self) -> &Program {
        self.sweep.unwrap_or(self.program)
    }

    /// What the command consists of when nobody kills it.
    fn steps(&self) -> Vec<Vec<String>> {
        match self.command {
            PYTHON_SWEEP => vec![vec![self.preset.into(), self.autosave().into()]],
            "sweep" => SWEEP
                .iter()
                .map(|seed| {
                    let out = format!("{RUN}{seed}");
                    let mut words = self.separate_to(seed, &out);
                    words.push("--continue".into());
                    words
                })
                .collect(),
            _ => vec![self.separate("0")],
        }
    }

    /// Seconds between checkpoints: every other moment has one after each step, the others none.
    fn autosave(&self) -> &'static str {
        ["60", "0"][self.moments % 2]
    }

    fn separate(&self, seed: &str) -> Vec<String> {
        self.separate_to(seed, RUN)
    }

    fn separate_to(&self, seed: &str, out: &str) -> Vec<String> {
        let words = [
            "separate",
            "../data/observations.csv",
            "--sources=3",
            "--preset",
            self.preset,
            "--seed",
            seed,
            "--autosave",
            self.autosave(),
            "--set",
            "branches.patch_sizes=[4, 8]",
            "--quiet",
            "--out",
            out,
        ];
        let trained = ["--steps", "60", "--restarts", "2"];
        let trained = if self.preset == "fast" {
            &[][..]
        } else {
            &trained
        };
        words
            .iter()
            .chain(trained)
            .map(ToString::to_string)
            .collect()
    }

    fn clean(&self) -> Vec<String> {
        let words = ["clean", RUN, "--remove", "s1", "--out", CLEANED, "--quiet"];
        words.map(String::from).into()
    }

    /// Every file below a folder, less what a kill may leave of a file that was being written
    /// outside of the folder of a run.
    fn contents(&self, folder: &Path) -> Result<Contents, String> {
        let mut contents = Contents::new();
        collect(folder, "", &mut contents)
            .map_err(|error| format!("{}: cannot read: {error}", folder.display()))?;
        let begun = [".strt-", "inputs/"];
        contents.retain(|name, _| {
            !(name.ends_with(".partial") && begun.iter().any(|first| name.starts_with(first)))
        });
        Ok(contents)
    }
}

fn resume() -> Vec<String> {
    ["resume", RUN, "--autosave", "0", "--quiet"]
        .map(String::from)
        .into()
}

/// Folders of runs in a folder.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    // A sweep keeps its arrays beside them.
    let is_run = |path: &PathBuf| path.is_dir() && !path.ends_with("inputs");
    folders.filter(is_run).collect()
}

/// The least that any run in a folder left.
fn left_in(folder: &Path) -> Left {
    let of = |run: &PathBuf| {
        let has = |name: &str| run.join(name).is_file();
        let is_partial = run.extension().is_some_and(|ending| ending == "partial");
        let target = if is_partial {
            run.with_extension("")
        } else {
            run.clone()
        };
        match inspect(&target) {
            Ok(Place::Finished(_)) => Left::Everything,
            _ if has("model.safetensors") && has("summary.json") => Left::Model,
            _ if has("checkpoint.safetensors") => Left::Checkpoint,
            _ if has("model.safetensors") => Left::Model,
            _ if has("run.json") => Left::Begun,
            _ => Left::Nothing,
        }
    };
    let found = runs(folder)
        .iter()
        .map(of)
        .min_by_key(|left| *left as usize);
    found.unwrap_or(Left::Nothing)
}

fn collect(folder: &Path, prefix: &str, contents: &mut Contents) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), contents)?;
        } else if let Some(bytes) = timeless(&name, fs::read(&path)?) {
            contents.insert(format!("{prefix}{name}"), bytes);
        }
    }
    Ok(())
}

/// The contents of a file without times, commands and the path of the recording, which differ: a
/// resumed run knows its recording by its whole path. Of the page and the mark, which are full of
/// them, only that they are there.
fn timeless(name: &str, bytes: Vec<u8>) -> Option<Vec<u8>> {
    match name {
        "report.html" | ".strt" => Some(Vec::new()),
        "summary.json" => {
            let mut summary: Value = serde_json::from_slice(&bytes).ok()?;
            let entries = summary.as_object_mut()?;
            for entry in ["wall_seconds", "steps_per_second", "command"] {
                entries.remove(entry);
            }
            entries.get_mut("input")?.as_object_mut()?.remove("path");
            serde_json::to_vec(&summary).ok()
        }
        _ => Some(bytes),
    }
}
