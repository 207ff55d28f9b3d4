//! `fit`: a recording and a configuration to a [`Model`], watched.

use crate::errors;
use crate::model::Model;
use crate::recording::Recording;
use crate::settings::Config;
use crate::watch::{Look, watched};
use pyo3::prelude::*;
use std::time::Duration;
use strt_runs::training::Training;

/// Every n-th step is kept in the history, as the program does.
const LOG_EVERY: usize = 10;
/// A run in memory has nowhere to keep checkpoints.
const NEVER: Duration = Duration::MAX;

/// Trains. With the model comes what was raised while it trained (Ctrl-C, or by the callback); the
/// model is then that of the run as far as it came.
#[pyfunction]
#[pyo3(signature = (recording, config, callback=None))]
pub fn fit(
    py: Python<'_>,
    recording: &Recording,
    config: &Config,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Model, Option<PyErr>)> {
    let (trained, raised) = watched(py, callback, |gate| {
        let training = Training::new(&recording.inner, None, &config.inner, LOG_EVERY)
            .map_err(strt_runs::Error::Library)?;
        training.run(&mut Look::at(gate), NEVER, |_, _| Ok(()))
    });
    let ended = trained.map_err(errors::of_runs)?;
    let model = Model::new(ended.separation, ended.log, Some(recording.trained()));
    Ok((model, raised))
}
