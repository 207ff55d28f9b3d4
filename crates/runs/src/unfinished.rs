//! An unfinished run on disk, so that it can be resumed: after Ctrl-C, after a crash from the last
//! autosave, or, before the first one, from its beginning.
//!
//! | file | what it holds |
//! |---|---|
//! | `run.json` | what was asked for: [`Request`] |
//! | `checkpoint.safetensors` | the restarts in progress, and how the others ended |
//! | `best.safetensors` | the best of those that have ended |
//! | `history.csv`, `scores.csv` | what was recorded so far |
//! | `model.safetensors` | where training has ended, its result |
//!
//! Each file is replaced whole. The checkpoint is written last: whatever a crash leaves, the other
//! files are at most ahead of it, and what is ahead is dropped when the run is resumed (of steps
//! and seconds, which only tell how long it took, it is kept). Of a recording or a reference that
//! was held in memory only that is kept: whoever resumes the run gives it again.
//!
//! A changed byte is noticed. `run.json`, models and checkpoints have their own checksum; those of
//! the tables are in `run.json`, which is written before them and therefore allows two: that of the
//! table that is there, and that of the one to come.

use crate::data::{Data, absolute};
use crate::error::{Error, InPlaceOfARun, Result};
use crate::folder::{CHECKPOINT, MODEL, RUN, SUMMARY, has_begun, is_bare, is_busy};
use crate::format::Format;
use crate::numbers_csv::TO_RESUME;
use crate::order::{Order, ResumeOptions, Source, Truth};
use crate::results::count::CountSummary;
use crate::results::together::{Together, hexadecimal};
use crate::results::{HISTORY, SCORES, history, scores};
use crate::training::Log;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use strt_io::checksum::{self, Seal, UNSEALED};
use strt_io::{
    ReadOptions, SavedRestarts, config_from_toml, config_to_toml, load_model, load_restarts,
    save_model, save_restarts, write_bytes, write_text,
};
use strtransformer::train::{History, SessionState};
use strtransformer::verdict::VerdictOptions;
use strtransformer::{Config, Separation};

const BEST: &str = "best.safetensors";

/// Where the data of a run are, as it is kept with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In a file; the path is one from anywhere.
    File(PathBuf),
    /// In several files, which are one recording.
    Together(Vec<PathBuf>),
    /// In the memory of whoever made the run.
    Memory,
}

impl Origin {
    fn file(path: &Path) -> Result<Origin> {
        from_anywhere(path).map(Origin::File)
    }

    fn of_source(source: Source<'_>) -> Result<Origin> {
        match source {
            Source::File(path) => Origin::file(path),
            Source::Together(paths) => {
                let paths = paths.iter().map(|path| from_anywhere(path));
                paths.collect::<Result<_>>().map(Origin::Together)
            }
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

/// A path that can be kept in JSON and holds in any folder.
fn from_anywhere(path: &Path) -> Result<PathBuf> {
    let path = absolute(path);
    if path.to_str().is_none() {
        return Err(Error::NotUtf8 { path });
    }
    Ok(path)
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
    #[serde(default)]
    pub figures: bool,
    pub log_every: usize,
    /// How the sources are judged in the end. A run of before there were verdicts has them too.
    #[serde(default = "judged")]
    pub verdicts: Option<VerdictOptions>,
    /// How the number of sources was found, when it was not given.
    pub source_count: Option<CountSummary>,
    /// Time and steps of the training so far, all restarts together.
    pub seconds: f64,
    pub steps: usize,
    /// The configuration that was asked for, as TOML, and the fingerprint of the recording in
    /// hexadecimal digits: what a run without a checkpoint is begun with again.
    #[serde(default)]
    pub config: Option<String>,
    #[serde(default)]
    pub fingerprint: Option<String>,
    /// The files, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Whether a model in the folder is that of the end.
    #[serde(default)]
    trained: bool,
    /// Checksums that a table may have; the last one is that of the newest.
    #[serde(default)]
    tables: BTreeMap<String, Vec<String>>,
    /// Of the file itself; the last entry.
    #[serde(default)]
    checksum: String,
}

fn judged() -> Option<VerdictOptions> {
    Some(VerdictOptions::default())
}

impl Request {
    /// Of a run that has not begun.
    pub fn new(
        order: &Order<'_>,
        data: &Data<'_>,
        config: &Config,
        source_count: Option<CountSummary>,
    ) -> Result<Request> {
        Ok(Request {
            command: order.command.clone(),
            input: Origin::of_source(order.source)?,
            reading: data.input.options.clone(),
            reference: order.reference.map(Origin::of_truth).transpose()?,
            overwrite: order.overwrite,
            formats: order.formats.clone(),
            figures: order.figures,
            log_every: order.log_every.max(1),
            verdicts: order.verdicts,
            source_count,
            seconds: 0.0,
            steps: 0,
            config: Some(config_to_toml(config)),
            fingerprint: Some(hexadecimal(data.recording.fingerprint())),
            together: data.input.together.clone(),
            trained: false,
            tables: BTreeMap::new(),
            checksum: String::new(),
        })
    }

    /// Writes it; to be done before the first step.
    pub fn save(&self, folder: &Path) -> Result {
        let unsealed = Request {
            checksum: UNSEALED.into(),
            ..self.clone()
        };
        let mut text = serde_json::to_vec_pretty(&unsealed)?;
        text.push(b'\n');
        let json = 0..text.len();
        checksum::seal(&mut text, json);
        write_bytes(folder.join(RUN), &text)?;
        Ok(())
    }

    /// Refuses a table that is neither the one before the last nor the last that was recorded.
    fn check_table(&self, path: &Path, name: &str) -> Result {
        let Some(allowed) = self.tables.get(name) else {
            return Ok(()); // of an earlier program
        };
        let found = checksum::of_file(path).map_err(Error::file("read", path))?;
        if allowed.contains(&found) {
            return Ok(());
        }
        Err(Error::Damaged {
            path: path.to_owned(),
            found: format!("its checksum is {found}, and was {}", allowed.join(" or ")),
            remedy: TO_RESUME,
        })
    }

    /// Whether everything that was recorded is in its table.
    fn is_recorded(&self, folder: &Path) -> bool {
        let mut tables = self.tables.iter();
        let newest = |(name, sums): (&String, &Vec<String>)| {
            checksum::of_file(&folder.join(name)).ok().as_ref() == sums.last()
        };
        !self.tables.is_empty() && tables.all(newest)
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
        let moved = |path: &Path| Error::RecordingMoved {
            path: path.to_owned(),
            folder: given.to_owned(),
        };
        let source = match (options.source, &self.input) {
            (Some(source), _) => source,
            (None, Origin::File(path)) if path.exists() => Source::File(path),
            (None, Origin::File(path)) => return Err(moved(path)),
            (None, Origin::Together(paths)) => match paths.iter().find(|path| !path.exists()) {
                None => Source::Together(paths),
                Some(path) => return Err(moved(path)),
            },
            (None, Origin::Memory) => return Err(in_memory("the recording")),
        };
        let truth = match (options.reference, &self.reference) {
            (Some(truth), _) => Some(truth),
            (None, Some(Origin::File(path))) => Some(Truth::File(path)),
            (None, Some(Origin::Together(_) | Origin::Memory)) => {
                return Err(in_memory("the reference"));
            }
            (None, None) => None,
        };
        Ok((source, truth))
    }
}

/// How far an unfinished run has come.
pub enum Progress {
    /// It was killed before its first checkpoint; with this configuration it begins again.
    Begun(Box<Config>),
    /// It is between two steps.
    Running(Box<SessionState>),
    /// It was trained to the end, and some of its results are missing.
    Trained(Box<Separation>),
}

/// An unfinished run, read from its folder.
pub struct Unfinished {
    pub request: Request,
    pub progress: Progress,
    pub log: Log,
}

impl Unfinished {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Busy`] where somebody works in the folder and its files do not fit together.
    pub fn load(folder: &Path) -> Result<Unfinished> {
        Unfinished::read(folder).map_err(|error| {
            if is_busy(folder) {
                Error::Busy {
                    partial: folder.to_owned(),
                }
            } else {
                error
            }
        })
    }

    fn read(folder: &Path) -> Result<Unfinished> {
        if !has_begun(folder) {
            return Err(Error::NotUnfinished {
                folder: folder.to_owned(),
                found: match (folder.is_dir(), folder.join(SUMMARY).is_file()) {
                    (true, true) => InPlaceOfARun::Finished,
                    _ if is_bare(folder) => InPlaceOfARun::Bare,
                    (true, false) => InPlaceOfARun::Folder,
                    (false, _) => InPlaceOfARun::Nothing,
                },
            });
        }
        let request = load_request(&folder.join(RUN))?;
        let progress = load_progress(folder, &request)?;
        let log = load_log(folder, &request, &progress)?;
        Ok(Unfinished {
            request,
            progress,
            log,
        })
    }

    /// Sets another number of threads, which never changes a result.
    pub fn set_threads(&mut self, threads: usize) {
        match &mut self.progress {
            Progress::Begun(config) => config.threads = threads,
            Progress::Running(state) => {
                for checkpoint in &mut state.running {
                    checkpoint.config.threads = threads;
                }
            }
            Progress::Trained(_) => {}
        }
    }
}

/// Writes an unfinished run.
pub fn save(folder: &Path, request: &Request, state: &SessionState, log: &Log) -> Result {
    let Some(config) = state.config() else {
        return Ok(()); // all restarts have ended: the results are written next
    };
    record(folder, request, log, config)?;
    save_state(folder, state)
}

/// Writes what a run has recorded that was trained to the end: from when its model is there, only
/// results are missing. One that an interruption has left goes, since it is not that of the end.
pub fn record_end(folder: &Path, request: &Request, log: &Log, config: &Config) -> Result {
    remove(folder, MODEL)?;
    let request = Request {
        trained: true,
        ..request.clone()
    };
    record(folder, &request, log, config)
}

/// Writes what an unfinished run has recorded, and what it needs besides its state.
fn record(folder: &Path, request: &Request, log: &Log, config: &Config) -> Result {
    let (n_sources, patch_sizes) = (config.n_sources, &config.branches.patch_sizes);
    let history = history::to_csv(log.rows(), n_sources, patch_sizes);
    let mut tables = vec![(HISTORY, history)];
    if request.reference.is_some() {
        tables.push((SCORES, scores::to_csv(&log.scores, n_sources)));
    }
    // A crash may come before the tables are replaced, or after.
    let allowed = tables.iter().map(|(name, text)| {
        let before = checksum::of_file(&folder.join(name)).ok();
        let sums = before
            .into_iter()
            .chain([checksum::of_bytes(text.as_bytes())]);
        (name.to_string(), sums.collect())
    });
    let request = Request {
        seconds: log.seconds,
        steps: log.steps,
        tables: allowed.collect(),
        ..request.clone()
    };
    request.save(folder)?;
    for (name, text) in &tables {
        write_text(folder.join(name), text)?;
    }
    Ok(())
}

/// Removes the state of a run that was trained to the end. What was asked for stays until the
/// folder is in its place: until then the run is not finished.
pub fn remove_state(folder: &Path) -> Result {
    remove(folder, CHECKPOINT)?;
    remove(folder, BEST)
}

fn remove(folder: &Path, name: &str) -> Result {
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::file("remove", &path)(error))
        }
        _ => Ok(()),
    }
}

fn save_state(folder: &Path, state: &SessionState) -> Result {
    if let Some(best) = &state.best {
        save_model(best, folder.join(BEST))?;
    }
    save_restarts(&state.running, &state.finished, folder.join(CHECKPOINT))?;
    Ok(())
}

fn load_progress(folder: &Path, request: &Request) -> Result<Progress> {
    let model = folder.join(MODEL);
    if request.trained && model.is_file() && request.is_recorded(folder) {
        return Ok(Progress::Trained(Box::new(load_model(model)?)));
    }
    if folder.join(CHECKPOINT).is_file() {
        return Ok(Progress::Running(Box::new(load_state(folder)?)));
    }
    let path = folder.join(RUN);
    let text = request.config.as_ref().ok_or_else(|| Error::Damaged {
        path: path.clone(),
        found: "there is neither a checkpoint nor a configuration".into(),
        remedy: "the run cannot be resumed: start it again",
    })?;
    let config = config_from_toml(&path, text)?;
    Ok(Progress::Begun(Box::new(config)))
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
    let text = fs::read(path).map_err(|error| damaged(error.to_string()))?;
    let request: Request =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if !request.checksum.is_empty() && checksum::check(&text, 0..text.len()) != Seal::Whole {
        return Err(damaged("its checksum does not hold".into()));
    }
    if !(request.seconds.is_finite() && request.seconds >= 0.0 && request.log_every > 0) {
        return Err(damaged("seconds or log_every is out of range".into()));
    }
    Ok(request)
}

/// What was recorded up to the checkpoint.
fn load_log(folder: &Path, request: &Request, progress: &Progress) -> Result<Log> {
    let config = match progress {
        Progress::Begun(_) => return Ok(Log::every(request.log_every)),
        Progress::Running(state) => &state.running[0].config,
        Progress::Trained(separation) => separation.config(),
    };
    let (n_sources, patch_sizes) = (config.n_sources, &config.branches.patch_sizes);
    let seen = |restart: usize, step: usize| {
        let Progress::Running(state) = progress else {
            return true;
        };
        let mut running = state.running.iter();
        match running.find(|checkpoint| checkpoint.restart == restart) {
            Some(checkpoint) => step <= checkpoint.step,
            None => state.finished.iter().any(|ended| ended.restart == restart),
        }
    };
    let table = |name: &str| -> Result<Option<PathBuf>> {
        let path = folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        request.check_table(&path, name)?;
        Ok(Some(path))
    };
    let mut rows = match table(HISTORY)? {
        Some(path) => history::read(&path, n_sources, patch_sizes, TO_RESUME)?,
        None => Vec::new(),
    };
    rows.retain(|row| seen(row.restart, row.step));
    let mut scores = match table(SCORES)? {
        Some(path) => scores::read(&path, n_sources, TO_RESUME)?,
        None => Vec::new(),
    };
    scores.retain(|row| seen(row.restart, row.step));
    Ok(Log {
        history: History::continuing(request.log_every, rows),
        scores,
        steps: request.steps,
        seconds: request.seconds,
    })
}
