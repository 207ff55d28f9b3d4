//! The contents of a run's folder: handed out when the run was made, loaded later, and written from
//! a result that is held in memory. Making a run is the business of [`crate::lifecycle`].

use crate::error::{Error, Result};
use crate::folder::{self, Kind, MODEL, Planned, SUMMARY, can_be_resumed, has_begun, verify};
use crate::numbers_csv::TO_LOAD;
use crate::results::summary::Summary;
use crate::results::{EVENTS, HISTORY, Results, SCORES, events, history, scores};
use crate::training::Log;
use std::path::{Path, PathBuf};
use strt_io::load_model;
use strtransformer::Separation;

/// A run and its folder, finished or interrupted.
pub struct Contents {
    /// The folder; that of an interrupted run is `DIR.partial` where `DIR` holds a finished result.
    pub place: PathBuf,
    /// `summary.json`.
    pub summary: Summary,
    /// The result, of an interrupted run as it stands.
    pub separation: Separation,
    /// History and scores.
    pub log: Log,
    /// Whether it was interrupted and can be resumed.
    pub unfinished: bool,
}

/// Reads the folder of a run, `DIR`.
///
/// # Errors
/// When it is not the folder of a run, or a file in it is missing, damaged or of another run; the
/// message names the file.
pub fn load(folder: &Path) -> Result<Contents> {
    let mut summary = read_summary(folder)?;
    summary.input.events = events::read(&folder.join(EVENTS), TO_LOAD)?;
    let separation = load_model(folder.join(MODEL))?;
    check_one_run(folder, &summary, &separation)?;
    let n_sources = separation.config().n_sources;
    let patch_sizes = &separation.config().branches.patch_sizes;
    let rows = history::read(&folder.join(HISTORY), n_sources, patch_sizes, TO_LOAD)?;
    let scores = match folder.join(SCORES) {
        path if path.is_file() => scores::read(&path, n_sources, TO_LOAD)?,
        _ => Vec::new(),
    };
    // Last: what is wrong with a file is said better by who reads it. A model has its own.
    verify(folder, &[SUMMARY, EVENTS, HISTORY, SCORES])?;
    let log = Log {
        scores,
        steps: (summary.steps_per_second * summary.wall_seconds).round() as usize,
        seconds: summary.wall_seconds,
        ..Log::of_rows(rows)
    };
    Ok(Contents {
        place: folder.to_owned(),
        summary,
        separation,
        log,
        unfinished: can_be_resumed(folder),
    })
}

/// Reads `summary.json` of the folder of a run.
///
/// # Errors
/// When it is not the folder of a run, or the file is not as it was written.
pub fn load_summary(folder: &Path) -> Result<Summary> {
    let summary = read_summary(folder)?;
    verify(folder, &[SUMMARY])?;
    Ok(summary)
}

fn read_summary(folder: &Path) -> Result<Summary> {
    let path = folder.join(SUMMARY);
    if !path.is_file() {
        let unfinished = folder::unfinished(folder);
        let found = if has_begun(&unfinished) {
            format!("an unfinished run in {}", unfinished.display())
        } else if folder.is_dir() {
            "no such file in it".into()
        } else {
            "no such folder".into()
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
fn check_one_run(folder: &Path, summary: &Summary, separation: &Separation) -> Result {
    let (samples, sources) = separation.sources().shape();
    let facts = [
        ("samples", summary.samples as u64, samples as u64),
        ("sources", summary.sources as u64, sources as u64),
        ("steps", summary.steps as u64, separation.steps() as u64),
        ("kept_seed", summary.kept_seed, separation.seed()),
    ];
    for (name, found, of_model) in facts {
        if found != of_model {
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
    Planned::new(target, Kind::Run, overwrite.into())?.fill(|folder| {
        results.write(folder).map_err(|error| match error {
            // What was written goes with the folder: the result is still in memory.
            Error::Incomplete { source, .. } => *source,
            error => error,
        })
    })
}
