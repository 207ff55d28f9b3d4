//! Models as files: the folder of a run, as the program writes and reads it, and the page of a run.

use crate::errors;
use crate::model::{Model, Trained};
use crate::recording::Recording;
use crate::words::WORDS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use strt_io::{load_model, write_text};
use strt_runs::results::Results;
use strt_runs::run::Log;
use strt_runs::{Error, Format};

/// Writes the folder of a run. `recording` is what the model was trained on, needed where it does
/// not know any more.
#[pyfunction]
#[pyo3(signature = (model, path, *, recording=None, overwrite=false, formats=Vec::new(), figures=false,
                    command=String::new()))]
pub fn save(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    recording: Option<&Recording>,
    overwrite: bool,
    formats: Vec<String>,
    figures: bool,
    command: String,
) -> PyResult<()> {
    let formats = formats
        .iter()
        .map(|name| format(name))
        .collect::<PyResult<Vec<_>>>()?;
    let trained = model.trained_on(recording)?;
    let results = Results {
        formats: &formats,
        figures,
        ..model.results(&trained, command)
    };
    py.detach(|| strt_runs::save(&path, overwrite, &results))
        .map(drop)
        .map_err(errors::of_runs)
}

/// The page of a run.
#[pyfunction]
#[pyo3(signature = (model, *, recording=None, command=String::new()))]
pub fn report(
    py: Python<'_>,
    model: &Model,
    recording: Option<&Recording>,
    command: String,
) -> PyResult<String> {
    let trained = model.trained_on(recording)?;
    let results = model.results(&trained, command);
    py.detach(|| results.to_html()).map_err(errors::of_runs)
}

impl Model {
    /// What the model was trained on: what is given, or what it remembers.
    fn trained_on(&self, given: Option<&Recording>) -> PyResult<Trained> {
        let trained = match given {
            Some(recording) => Some(recording.trained()),
            None => self.trained.clone(),
        };
        let trained = trained.ok_or_else(|| {
            PyValueError::new_err(
                "expected the recording that the model was trained on, which is not kept in files and pickles; give it: X=…",
            )
        })?;
        let parts = self.separation.parts();
        let (expected, found) = (
            (parts.sources.nrows(), parts.channel_names.len()),
            (
                trained.recording.n_samples(),
                trained.recording.n_channels(),
            ),
        );
        match expected == found {
            true => Ok(trained),
            false => Err(PyValueError::new_err(format!(
                "X: expected the recording that the model was trained on, {} samples × {} channels, found {} × {}",
                expected.0, expected.1, found.0, found.1
            ))),
        }
    }

    fn results<'a>(&'a self, trained: &'a Trained, command: String) -> Results<'a> {
        Results {
            command,
            words: &WORDS,
            ..Results::new(
                &trained.recording,
                &self.separation,
                &self.log,
                trained.input.clone(),
            )
        }
    }
}

fn format(name: &str) -> PyResult<Format> {
    Format::named(name).ok_or_else(|| {
        let names = Format::ALL.map(Format::ending).join(", ");
        PyValueError::new_err(format!("formats: expected some of {names}, found '{name}'"))
    })
}

/// Loads the folder of a run, or a `model.safetensors` alone: the model, and `summary.json` as text
/// (or None).
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<(Model, Option<String>)> {
    if path.is_file() {
        let separation = py.detach(|| load_model(&path)).map_err(errors::of_io)?;
        return Ok((Model::new(separation, Log::default(), None), None));
    }
    let loaded = py
        .detach(|| strt_runs::load(&path))
        .map_err(|error| match error {
            Error::NotARun { .. } if !path.exists() => {
                errors::of_system(std::io::ErrorKind::NotFound, error.message(&WORDS))
            }
            _ => errors::of_runs(error),
        })?;
    let mut log = Log::of_rows(loaded.history);
    log.scores = loaded.scores;
    log.seconds = loaded.summary["wall_seconds"].as_f64().unwrap_or(0.0);
    log.steps =
        (loaded.summary["steps_per_second"].as_f64().unwrap_or(0.0) * log.seconds).round() as usize;
    let model = Model::new(loaded.separation, log, None);
    Ok((model, Some(loaded.summary.to_string())))
}

/// Writes a text to a file, whole or not at all.
#[pyfunction]
pub fn write(path: PathBuf, text: &str) -> PyResult<()> {
    write_text(path, text).map_err(errors::of_io)
}
