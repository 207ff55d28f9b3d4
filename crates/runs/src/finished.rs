//! Finished runs: found, loaded, and saved from memory.
//!
//! In: a folder, or a result that is held in memory. Out: what the folder holds, or a folder with
//! the files that a run of the program leaves. Making a run is the business of [`crate::job`].

use crate::error::{Error, Result};
use crate::folder::{CHECKPOINT, Folder, Kind, Replace, SUMMARY};
use crate::numbers_csv::TO_LOAD;
use crate::results::scores::{self, ScoreRow};
use crate::results::summary::Summary;
use crate::results::{HISTORY, MODEL, Results, SCORES, history};
use serde_json::Value;
use std::path::{Path, PathBuf};
use strt_io::load_model;
use strtransformer::Separation;
use strtransformer::train::HistoryRow;

/// What is where a run would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Absent,
    /// A run that can be resumed, in this folder: the one that was named, or `DIR.partial`.
    Unfinished(PathBuf),
    /// A finished run.
    Finished(PathBuf),
}

/// What is in the place of a run. An unfinished one counts before a finished one that it was to
/// replace.
///
/// # Errors
/// When there is something else, which no run may replace unasked.
pub fn inspect(target: &Path) -> Result<Place> {
    let unfinished = Folder::unfinished(target);
    if unfinished.join(CHECKPOINT).is_file() {
        return Ok(Place::Unfinished(unfinished));
    }
    if target.join(SUMMARY).is_file() && target.join(MODEL).is_file() {
        return Ok(Place::Finished(target.to_owned()));
    }
    Folder::plan(target, Kind::Run, Replace::Nothing)?;
    Ok(Place::Absent)
}

/// The contents of a run's folder.
pub struct Loaded {
    /// The folder.
    pub place: PathBuf,
    /// The result.
    pub separation: Separation,
    /// What the logged steps reported.
    pub history: Vec<HistoryRow>,
    /// How well their sources matched the reference; empty without one.
    pub scores: Vec<ScoreRow>,
    /// `summary.json`; its fields are those of [`Summary`].
    pub summary: Value,
    /// Whether it was interrupted and can be resumed.
    pub unfinished: bool,
}

/// Reads the folder of a run, `DIR`.
///
/// # Errors
/// When it is not the folder of a run, or a file in it is missing, damaged or of another run; the
/// message names the file.
pub fn load(folder: &Path) -> Result<Loaded> {
    let summary = summary(folder)?;
    let separation = load_model(folder.join(MODEL))?;
    check_one_run(folder, &summary, &separation)?;
    let n_sources = separation.config().n_sources;
    let patch_sizes = &separation.config().branches.patch_sizes;
    let history = history::read(&folder.join(HISTORY), n_sources, patch_sizes, TO_LOAD)?;
    let scores = match folder.join(SCORES) {
        path if path.is_file() => scores::read(&path, n_sources, TO_LOAD)?,
        _ => Vec::new(),
    };
    Ok(Loaded {
        place: folder.to_owned(),
        separation,
        history,
        scores,
        summary,
        unfinished: folder.join(CHECKPOINT).is_file(),
    })
}

fn summary(folder: &Path) -> Result<Value> {
    let path = folder.join(SUMMARY);
    if !path.is_file() {
        let unfinished = Folder::unfinished(folder);
        let found = match folder.is_dir() {
            _ if unfinished.join(CHECKPOINT).is_file() => {
                format!("an unfinished run in {}", unfinished.display())
            }
            true => "no such file in it".into(),
            false => "no such folder".into(),
        };
        return Err(Error::NotARun {
            folder: folder.to_owned(),
            file: SUMMARY,
            found,
        });
    }
    let text = std::fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    serde_json::from_str(&text).map_err(|error| damaged(&path, error.to_string()))
}

fn damaged(path: &Path, found: String) -> Error {
    Error::Damaged {
        path: path.to_owned(),
        found,
        remedy: TO_LOAD,
    }
}

/// Whether summary and model tell of one run.
fn check_one_run(folder: &Path, summary: &Value, separation: &Separation) -> Result {
    let (samples, sources) = separation.sources().shape();
    let facts = [
        ("samples", samples as u64),
        ("sources", sources as u64),
        ("steps", separation.steps() as u64),
        ("kept_seed", separation.seed()),
    ];
    for (name, of_model) in facts {
        let found = &summary[name];
        if found.as_u64() != Some(of_model) {
            let found = format!("{name} is {found}, but {of_model} in {MODEL}");
            return Err(damaged(&folder.join(SUMMARY), found));
        }
    }
    Ok(())
}

/// Writes a result that is held in memory as the folder of a run, with the files that the program
/// would leave.
///
/// # Errors
/// When the folder may not be written or replaced, or the pieces do not belong together. Nothing is
/// then left behind.
pub fn save(target: &Path, overwrite: bool, results: &Results<'_>) -> Result<Summary> {
    let mut folder = Folder::plan(target, Kind::Run, overwrite.into())?;
    folder.begin()?;
    match results.write(folder.working()) {
        Ok(summary) => folder.publish().map(|()| summary),
        Err(error) => {
            folder.discard();
            Err(error)
        }
    }
}
