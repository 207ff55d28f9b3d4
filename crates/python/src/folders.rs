//! Models as files: the folder of a run, as the program writes and reads it, and the page of a run.

use crate::arrays::Matrix;
use crate::errors;
use crate::model::{Model, Trained};
use crate::recording::Recording;
use crate::wording::PACKAGE;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use strt_io::{load_model, write_text};
use strt_report::Report;
use strt_runs::results::Results;
use strt_runs::results::summary::Summary;
use strt_runs::training::Log;
use strt_runs::{Error, Format};
use strt_score::Reference;

/// Writes the folder of a run. `recording` is what the model was trained on, needed where it does
/// not know any more.
#[pyfunction]
#[pyo3(signature = (
    model, path, *, recording=None, reference=None, overwrite=false, formats=Vec::new(),
    figures=false, command=String::new()
))]
pub fn save(
    py: Python<'_>,
    model: &Model,
    path: PathBuf,
    recording: Option<&Recording>,
    reference: Option<Matrix>,
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
    let reference = truth(reference)?;
    let results = Results {
        formats: &formats,
        figures,
        ..model.results(&trained, reference.as_ref(), command)
    };
    py.detach(|| strt_runs::save(&path, overwrite, &results))
        .map(drop)
        .map_err(errors::of_runs)
}

/// The page of a run.
#[pyfunction]
#[pyo3(signature = (model, *, recording=None, reference=None, command=String::new()))]
pub fn report(
    py: Python<'_>,
    model: &Model,
    recording: Option<&Recording>,
    reference: Option<Matrix>,
    command: String,
) -> PyResult<String> {
    let trained = model.trained_on(recording)?;
    let reference = truth(reference)?;
    let results = model.results(&trained, reference.as_ref(), command);
    py.detach(|| {
        let findings = results.findings()?;
        let page = Report::new(&results, &findings).to_html();
        page.map_err(|error| Error::Page(error.into()))
    })
    .map_err(errors::of_runs)
}

/// True sources, as they are given.
fn truth(given: Option<Matrix>) -> PyResult<Option<Reference>> {
    let reference = given.map(|sources| Reference::new(sources.0));
    reference.transpose().map_err(errors::of_core)
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
                "expected the recording that the model was trained on, which is not kept in files \
                 and pickles; give it: X=…",
            )
        })?;
        let (t, m) = (
            self.separation.sources().nrows(),
            self.separation.mixer().n_channels(),
        );
        let recording = &trained.recording;
        let found = (recording.n_samples(), recording.n_channels());
        if found != (t, m) {
            return Err(PyValueError::new_err(format!(
                "X: expected the recording that the model was trained on, {t} samples × {m} \
                 channels, found {} × {}",
                found.0, found.1
            )));
        }
        Ok(trained)
    }

    fn results<'a>(
        &'a self,
        trained: &'a Trained,
        reference: Option<&'a Reference>,
        command: String,
    ) -> Results<'a> {
        Results {
            command,
            reference: reference.map(|reference| ("reference".into(), reference)),
            caller: &PACKAGE,
            ..Results::new(
                &trained.recording,
                &self.separation,
                &self.log,
                trained.input.clone(),
            )
        }
    }
}

/// The format of this name.
pub fn format(name: &str) -> PyResult<Format> {
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
            Error::NotARun { .. } if !path.exists() => errors::of_system(
                std::io::ErrorKind::NotFound,
                error.message(&PACKAGE.wording),
            ),
            _ => errors::of_runs(error),
        })?;
    let model = Model::new(loaded.separation, loaded.log, None);
    Ok((model, Some(to_json(&loaded.summary)?)))
}

/// A summary as JSON.
pub fn to_json(summary: &Summary) -> PyResult<String> {
    serde_json::to_string(summary).map_err(|error| errors::of_runs(error.into()))
}

/// Writes a text to a file, whole or not at all.
#[pyfunction]
pub fn write(path: PathBuf, text: &str) -> PyResult<()> {
    write_text(path, text).map_err(errors::of_io)
}
