//! An unfinished run on disk, so that it can be continued: by Ctrl-C, or after a crash from the last autosave.
//!
//! | file | what it holds |
//! |---|---|
//! | `run.json` | what was asked for: input, options, command |
//! | `checkpoint.safetensors` | the restart in progress |
//! | `best.safetensors` | the best of the restarts before it, and how all of them ended |
//! | `history.csv`, `scores.csv` | what was recorded so far |
//!
//! Each file is replaced whole. The checkpoint is written last: whatever a crash leaves, the other files are at most ahead
//! of it, and what is ahead is dropped when the run is resumed.

use super::Log;
use crate::failure::{Failure, Outcome};
use crate::folder::{CHECKPOINT, SUMMARY};
use crate::input::InputOptions;
use crate::results::summary::CountSummary;
use crate::results::{HISTORY, SCORES, history, scores};
use crate::separate::Format;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use strt_io::{load_checkpoint, load_model, save_checkpoint, save_model, write_text};
use strtransformer::Separation;
use strtransformer::separation::SeparationParts;
use strtransformer::train::{History, SessionState};

const RUN: &str = "run.json";
const BEST: &str = "best.safetensors";

/// What was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The command line, word by word.
    pub command: Vec<String>,
    /// The recording, as a path from anywhere.
    pub input: PathBuf,
    pub reading: InputOptions,
    pub reference: Option<PathBuf>,
    /// Whether another result may be replaced.
    pub overwrite: bool,
    pub formats: Vec<Format>,
    pub log_every: usize,
    /// How the number of sources was found, when it was not given.
    pub source_count: Option<CountSummary>,
    /// Time and steps of the training so far, all restarts together.
    pub seconds: f64,
    pub steps: usize,
}

/// An unfinished run, read from its folder.
pub struct Kept {
    pub request: Request,
    pub state: SessionState,
    pub log: Log,
}

/// Writes what was asked for, before the first step.
pub fn save_request(folder: &Path, request: &Request) -> Outcome {
    let text = serde_json::to_string_pretty(request)?;
    write_text(folder.join(RUN), &format!("{text}\n"))?;
    Ok(())
}

/// Writes an unfinished run.
pub fn save(folder: &Path, request: &Request, state: &SessionState, log: &Log) -> Outcome {
    let config = &state.current.config;
    let request = Request {
        seconds: log.seconds,
        steps: log.steps,
        ..request.clone()
    };
    save_request(folder, &request)?;
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
    if let Some(best) = &state.best {
        let with_all = Separation::from_parts(SeparationParts {
            restarts: state.finished.clone(),
            ..best.parts().clone()
        })?;
        save_model(&with_all, folder.join(BEST))?;
    }
    save_checkpoint(&state.current, folder.join(CHECKPOINT))?;
    Ok(())
}

/// Removes the files of [`save`] that a finished run does not need.
pub fn remove(folder: &Path) -> Outcome {
    for name in [CHECKPOINT, BEST, RUN] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::Failed(format!(
                    "{}: cannot remove: {error}",
                    path.display()
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads an unfinished run.
pub fn load(folder: &Path) -> Outcome<Kept> {
    if !folder.join(CHECKPOINT).is_file() {
        let why = match (folder.is_dir(), folder.join(SUMMARY).is_file()) {
            (true, true) => {
                "this run has ended: there is nothing to continue. Start another with more --steps"
            }
            (true, false) => "give the folder that the run was writing, DIR or DIR.partial",
            (false, _) => "there is no such folder",
        };
        return Err(Failure::Failed(format!(
            "{}: expected the folder of an unfinished run, with {CHECKPOINT}; {why}",
            folder.display()
        )));
    }
    let path = folder.join(RUN);
    let damaged = |why: String| {
        Failure::Failed(format!(
            "{}: expected what strt wrote: {why}; the run cannot be continued without it: start it again",
            path.display()
        ))
    };
    let text = fs::read_to_string(&path).map_err(|error| damaged(error.to_string()))?;
    let request: Request = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if !(request.seconds.is_finite() && request.seconds >= 0.0 && request.log_every > 0) {
        return Err(damaged("seconds or log_every is out of range".into()));
    }
    let current = load_checkpoint(folder.join(CHECKPOINT))?;
    let (finished, best) = match current.restart {
        0 => (Vec::new(), None),
        n => {
            let best = load_model(folder.join(BEST))?;
            let Some(finished) = best.restarts().get(..n).map(<[_]>::to_vec) else {
                return Err(Failure::Failed(format!(
                    "{}: expected how {n} restarts ended, found {}; it belongs to another run: start this one again",
                    folder.join(BEST).display(),
                    best.restarts().len()
                )));
            };
            (finished, Some(best))
        }
    };
    let config = &current.config;
    let seen = |restart: usize, step: usize| (restart, step) <= (current.restart, current.step);
    let mut rows = match folder.join(HISTORY) {
        path if path.is_file() => history::read(&path, config.n_sources, &config.branches.patch_sizes)?,
        _ => Vec::new(),
    };
    rows.retain(|row| seen(row.restart, row.step));
    let mut scores = match folder.join(SCORES) {
        path if path.is_file() => scores::read(&path, config.n_sources)?,
        _ => Vec::new(),
    };
    scores.retain(|row| seen(row.restart, row.score.step));
    let log = Log {
        history: History::continuing(request.log_every, rows),
        scores,
        steps: request.steps,
        seconds: request.seconds,
    };
    Ok(Kept {
        request,
        state: SessionState {
            current,
            finished,
            best,
        },
        log,
    })
}
