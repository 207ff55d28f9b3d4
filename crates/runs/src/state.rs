//! An unfinished run on disk, so that it can be continued: by Ctrl-C, or after a crash from the
//! last autosave.
//!
//! | file | what it holds |
//! |---|---|
//! | `run.json` | what was asked for: input, options, command |
//! | `checkpoint.safetensors` | the restart in progress |
//! | `best.safetensors` | the best of the restarts before it, and how all of them ended |
//! | `history.csv`, `scores.csv` | what was recorded so far |
//!
//! Each file is replaced whole. The checkpoint is written last: whatever a crash leaves, the other
//! files are at most ahead of it, and what is ahead is dropped when the run is resumed. Of a
//! recording or a reference that was held in memory only that is kept: whoever resumes the run
//! gives it again.

use crate::error::{Error, InPlaceOfARun, Result};
use crate::folder::{CHECKPOINT, SUMMARY};
use crate::format::Format;
use crate::numbers_csv::TO_RESUME;
use crate::results::summary::CountSummary;
use crate::results::{HISTORY, SCORES, history, scores};
use crate::run::Log;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use strt_io::{ReadOptions, load_checkpoint, load_model, save_checkpoint, save_model, write_text};
use strtransformer::Separation;
use strtransformer::separation::SeparationParts;
use strtransformer::train::{History, SessionState};

const RUN: &str = "run.json";
const BEST: &str = "best.safetensors";

/// What was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The command line, word by word; a single word is a text to be taken as it stands.
    pub command: Vec<String>,
    /// The recording, as a path from anywhere; null for one that was held in memory.
    pub input: Option<PathBuf>,
    pub reading: ReadOptions,
    pub reference: Option<PathBuf>,
    /// Whether there is a reference that was held in memory.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reference_in_memory: bool,
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

fn is_false(value: &bool) -> bool {
    !value
}

/// An unfinished run, read from its folder.
pub struct Kept {
    pub request: Request,
    pub state: SessionState,
    pub log: Log,
}

/// Writes what was asked for, before the first step.
pub fn save_request(folder: &Path, request: &Request) -> Result {
    let text = serde_json::to_string_pretty(request)?;
    write_text(folder.join(RUN), &format!("{text}\n"))?;
    Ok(())
}

/// Writes an unfinished run.
pub fn save(folder: &Path, request: &Request, state: &SessionState, log: &Log) -> Result {
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

/// Reads an unfinished run.
pub fn load(folder: &Path) -> Result<Kept> {
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
    let path = folder.join(RUN);
    let damaged = |found: String| Error::Damaged {
        path: path.clone(),
        found,
        remedy: "the run cannot be continued without it: start it again",
    };
    let text = fs::read_to_string(&path).map_err(|error| damaged(error.to_string()))?;
    let request: Request =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if !(request.seconds.is_finite() && request.seconds >= 0.0 && request.log_every > 0) {
        return Err(damaged("seconds or log_every is out of range".into()));
    }
    let current = load_checkpoint(folder.join(CHECKPOINT))?;
    let (finished, best) = match current.restart {
        0 => (Vec::new(), None),
        n => {
            let best = load_model(folder.join(BEST))?;
            let Some(finished) = best.restarts().get(..n).map(<[_]>::to_vec) else {
                return Err(Error::Restarts {
                    path: folder.join(BEST),
                    expected: n,
                    found: best.restarts().len(),
                });
            };
            (finished, Some(best))
        }
    };
    let config = &current.config;
    let seen = |restart: usize, step: usize| (restart, step) <= (current.restart, current.step);
    let mut rows = match folder.join(HISTORY) {
        path if path.is_file() => history::read(
            &path,
            config.n_sources,
            &config.branches.patch_sizes,
            TO_RESUME,
        )?,
        _ => Vec::new(),
    };
    rows.retain(|row| seen(row.restart, row.step));
    let mut scores = match folder.join(SCORES) {
        path if path.is_file() => scores::read(&path, config.n_sources, TO_RESUME)?,
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
