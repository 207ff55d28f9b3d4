//! An unfinished run on disk, so that it can be resumed: after Ctrl-C, or after a crash from the
//! last autosave.
//!
//! | file | what it holds |
//! |---|---|
//! | `run.json` | what was asked for: [`Request`] |
//! | `checkpoint.safetensors` | the restarts in progress, and how the others ended |
//! | `best.safetensors` | the best of those that have ended |
//! | `history.csv`, `scores.csv` | what was recorded so far |
//!
//! Each file is replaced whole. The checkpoint is written last: whatever a crash leaves, the other
//! files are at most ahead of it, and what is ahead is dropped when the run is resumed (of steps
//! and seconds, which only tell how long it took, it is kept). Of a recording or a reference that
//! was held in memory only that is kept: whoever resumes the run gives it again.

use crate::data::{Data, absolute};
use crate::error::{Error, InPlaceOfARun, Result};
use crate::folder::{CHECKPOINT, SUMMARY};
use crate::format::Format;
use crate::numbers_csv::TO_RESUME;
use crate::order::{Order, ResumeOptions, Source, Truth};
use crate::results::count::CountSummary;
use crate::results::{HISTORY, SCORES, history, scores, write_json};
use crate::training::Log;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use strt_io::{
    ReadOptions, SavedRestarts, load_model, load_restarts, save_model, save_restarts, write_text,
};
use strtransformer::train::{Checkpoint, History, SessionState};
use strtransformer::verdict::VerdictOptions;

const RUN: &str = "run.json";
const BEST: &str = "best.safetensors";

/// Where the data of a run are, as it is kept with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In a file; the path is one from anywhere.
    File(PathBuf),
    /// In the memory of whoever made the run.
    Memory,
}

impl Origin {
    fn file(path: &Path) -> Result<Origin> {
        let path = absolute(path);
        if path.to_str().is_none() {
            return Err(Error::NotUtf8 { path });
        }
        Ok(Origin::File(path))
    }

    fn of_source(source: Source<'_>) -> Result<Origin> {
        match source {
            Source::File(path) => Origin::file(path),
            Source::Memory { .. } => Ok(Origin::Memory),
        }
    }

    fn of_truth(truth: Truth<'_>) -> Result<Origin> {
        match truth {
            Truth::File(path) => Origin::file(path),
            Truth::Memory { .. } => Ok(Origin::Memory),
        }
    }
}

/// `run.json`: what was asked for, and how far it has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The command line, word by word; a single word is a text to be taken as it stands.
    pub command: Vec<String>,
    pub input: Origin,
    pub reading: ReadOptions,
    pub reference: Option<Origin>,
    /// Whether another result may be replaced.
    pub overwrite: bool,
    pub formats: Vec<Format>,
    pub log_every: usize,
    /// How the sources are judged in the end. A run of before there were verdicts has them too.
    #[serde(default = "judged")]
    pub verdicts: Option<VerdictOptions>,
    /// How the number of sources was found, when it was not given.
    pub source_count: Option<CountSummary>,
    /// Time and steps of the training so far, all restarts together.
    pub seconds: f64,
    pub steps: usize,
}

fn judged() -> Option<VerdictOptions> {
    Some(VerdictOptions::default())
}

impl Request {
    /// Of a run that has not begun.
    pub fn new(
        order: &Order<'_>,
        data: &Data<'_>,
        source_count: Option<CountSummary>,
    ) -> Result<Request> {
        Ok(Request {
            command: order.command.clone(),
            input: Origin::of_source(order.source)?,
            reading: data.input.options.clone(),
            reference: order.reference.map(Origin::of_truth).transpose()?,
            overwrite: order.overwrite,
            formats: order.formats.clone(),
            log_every: order.log_every.max(1),
            verdicts: order.verdicts,
            source_count,
            seconds: 0.0,
            steps: 0,
        })
    }

    /// Writes it; to be done before the first step.
    pub fn save(&self, folder: &Path) -> Result {
        write_json(&folder.join(RUN), self)
    }

    /// Notes where the data are now.
    pub fn relocate(&mut self, options: &ResumeOptions<'_>) -> Result {
        if let Some(source) = options.source {
            self.input = Origin::of_source(source)?;
        }
        if let Some(truth) = options.reference {
            self.reference = Some(Origin::of_truth(truth)?);
        }
        Ok(())
    }

    /// Where the data are; `given` is the folder as the person named it.
    pub fn data<'a>(
        &'a self,
        options: &ResumeOptions<'a>,
        given: &Path,
    ) -> Result<(Source<'a>, Option<Truth<'a>>)> {
        let in_memory = |what| Error::InMemory {
            what,
            folder: given.to_owned(),
        };
        let source = match (options.source, &self.input) {
            (Some(source), _) => source,
            (None, Origin::File(path)) if path.exists() => Source::File(path),
            (None, Origin::File(path)) => {
                return Err(Error::RecordingMoved {
                    path: path.clone(),
                    folder: given.to_owned(),
                });
            }
            (None, Origin::Memory) => return Err(in_memory("the recording")),
        };
        let truth = match (options.reference, &self.reference) {
            (Some(truth), _) => Some(truth),
            (None, Some(Origin::File(path))) => Some(Truth::File(path)),
            (None, Some(Origin::Memory)) => return Err(in_memory("the reference")),
            (None, None) => None,
        };
        Ok((source, truth))
    }
}

/// An unfinished run, read from its folder.
pub struct Unfinished {
    pub request: Request,
    pub state: SessionState,
    pub log: Log,
}

impl Unfinished {
    /// Reads it.
    pub fn load(folder: &Path) -> Result<Unfinished> {
        if !folder.join(CHECKPOINT).is_file() {
            return Err(Error::NotUnfinished {
                folder: folder.to_owned(),
                found: match (folder.is_dir(), folder.join(SUMMARY).is_file()) {
                    (true, true) => InPlaceOfARun::Finished,
                    (true, false) => InPlaceOfARun::Folder,
                    (false, _) => InPlaceOfARun::Nothing,
                },
            });
        }
        let request = load_request(&folder.join(RUN))?;
        let state = load_state(folder)?;
        let log = load_log(folder, &request, &state)?;
        Ok(Unfinished {
            request,
            state,
            log,
        })
    }

    /// One of the restarts in progress: they share configuration and recording.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.state.running[0]
    }

    /// Sets another number of threads, which never changes a result.
    pub fn set_threads(&mut self, threads: usize) {
        for checkpoint in &mut self.state.running {
            checkpoint.config.threads = threads;
        }
    }
}

/// Writes an unfinished run.
pub fn save(folder: &Path, request: &Request, state: &SessionState, log: &Log) -> Result {
    let Some(config) = state.config() else {
        return Ok(()); // all restarts have ended: the results are written next
    };
    let request = Request {
        seconds: log.seconds,
        steps: log.steps,
        ..request.clone()
    };
    request.save(folder)?;
    write_text(
        folder.join(HISTORY),
        &history::to_csv(log.rows(), config.n_sources, &config.branches.patch_sizes),
    )?;
    if !log.scores.is_empty() {
        write_text(
            folder.join(SCORES),
            &scores::to_csv(&log.scores, config.n_sources),
        )?;
    }
    save_state(folder, state)
}

/// Removes the files of [`save`] that a finished run does not need.
pub fn remove(folder: &Path) -> Result {
    for name in [CHECKPOINT, BEST, RUN] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::file("remove", &path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn save_state(folder: &Path, state: &SessionState) -> Result {
    if let Some(best) = &state.best {
        save_model(best, folder.join(BEST))?;
    }
    save_restarts(&state.running, &state.finished, folder.join(CHECKPOINT))?;
    Ok(())
}

fn load_state(folder: &Path) -> Result<SessionState> {
    let SavedRestarts { running, finished } = load_restarts(folder.join(CHECKPOINT))?;
    // A best result may be ahead of the restarts, by a crash between the two files. It is then that
    // of a restart that is still to end, and that will end with it again.
    let best = if finished.is_empty() {
        None
    } else {
        Some(load_model(folder.join(BEST))?)
    };
    Ok(SessionState {
        running,
        finished,
        best,
    })
}

fn load_request(path: &Path) -> Result<Request> {
    let damaged = |found: String| Error::Damaged {
        path: path.to_owned(),
        found,
        remedy: "the run cannot be resumed without it: start it again",
    };
    let text = fs::read_to_string(path).map_err(|error| damaged(error.to_string()))?;
    let request: Request =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if !(request.seconds.is_finite() && request.seconds >= 0.0 && request.log_every > 0) {
        return Err(damaged("seconds or log_every is out of range".into()));
    }
    Ok(request)
}

/// What was recorded up to the checkpoint.
fn load_log(folder: &Path, request: &Request, state: &SessionState) -> Result<Log> {
    let config = &state.running[0].config;
    let (n_sources, patch_sizes) = (config.n_sources, &config.branches.patch_sizes);
    let seen = |restart: usize, step: usize| {
        let mut running = state.running.iter();
        match running.find(|checkpoint| checkpoint.restart == restart) {
            Some(checkpoint) => step <= checkpoint.step,
            None => state.finished.iter().any(|ended| ended.restart == restart),
        }
    };
    let mut rows = match folder.join(HISTORY) {
        path if path.is_file() => history::read(&path, n_sources, patch_sizes, TO_RESUME)?,
        _ => Vec::new(),
    };
    rows.retain(|row| seen(row.restart, row.step));
    let mut scores = match folder.join(SCORES) {
        path if path.is_file() => scores::read(&path, n_sources, TO_RESUME)?,
        _ => Vec::new(),
    };
    scores.retain(|row| seen(row.restart, row.step));
    Ok(Log {
        history: History::continuing(request.log_every, rows),
        scores,
        steps: request.steps,
        seconds: request.seconds,
    })
}
