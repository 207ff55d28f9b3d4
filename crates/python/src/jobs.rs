//! Runs in folders: what a sweep does with one task. The interpreter is free meanwhile, and Ctrl-C
//! ends a run so that it can be resumed.
//!
//! In: an order in plain values. Out: what was done, as a dict. Everything else, from comparing
//! what is there with what was asked for to the files, is the business of `strt-runs`.

use crate::errors;
use crate::folders::{format, to_json};
use crate::recording::count_method;
use crate::settings::Config;
use crate::watch::{Gate, watched};
use crate::wording::PACKAGE;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;
use strt_io::ReadOptions;
use strt_runs::{Ensured, Error, Event, Order, Place, Source, Truth, Watcher};
use strtransformer::train::StepReport;

create_exception!(
    strtransformer._core,
    FolderBusyError,
    PyOSError,
    "Another process is working in the folder of a run."
);

/// Looks on for Python.
struct Look<'a> {
    gate: &'a Gate,
    stop: bool,
    resumed_from: Option<usize>,
}

impl Watcher for Look<'_> {
    fn step(&mut self, report: &StepReport<'_>) {
        self.stop = self.gate.pass(report) == ControlFlow::Break(());
    }

    fn interrupted(&mut self) -> bool {
        self.stop
    }

    fn event(&mut self, event: Event<'_>) {
        if let Event::Resumed { steps_done } = event {
            self.resumed_from = Some(steps_done);
        }
    }
}

/// Makes sure that a run is in the folder `target`: makes it, resumes it, or finds it finished.
///
/// The dict has `status` (made, resumed, there), `resumed_from` (steps, or None) and `summary` (a
/// JSON text).
#[pyfunction]
#[pyo3(signature = (
    input, target, config, *, estimate_sources=None, reading=None, reference=None,
    formats=Vec::new(), autosave=60.0, overwrite=false, command=String::new(), callback=None
))]
pub fn ensure_run<'py>(
    py: Python<'py>,
    input: PathBuf,
    target: PathBuf,
    config: &Config,
    estimate_sources: Option<String>,
    reading: Option<String>,
    reference: Option<PathBuf>,
    formats: Vec<String>,
    autosave: f64,
    overwrite: bool,
    command: String,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let order = Order {
        reading: reading.map_or(Ok(ReadOptions::default()), |text| reading_from(&text))?,
        reference: reference.as_deref().map(Truth::File),
        estimate_sources: estimate_sources
            .map(|method| count_method(&method))
            .transpose()?,
        overwrite,
        formats: formats
            .iter()
            .map(|name| format(name))
            .collect::<PyResult<_>>()?,
        autosave: Duration::try_from_secs_f64(autosave).map_err(|_| {
            PyValueError::new_err(format!("autosave: expected seconds from 0, got {autosave}"))
        })?,
        command: vec![command],
        caller: &PACKAGE,
        ..Order::new(Source::File(&input), config.inner.clone())
    };
    let ((ensured, resumed_from), raised) = watched(py, callback, |gate| {
        let mut look = Look {
            gate,
            stop: false,
            resumed_from: None,
        };
        (
            strt_runs::ensure(&order, &target, &mut look),
            look.resumed_from,
        )
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    let (status, summary) = match ensured.map_err(to_python)? {
        Ensured::There(run) => ("there", run.summary),
        Ensured::Made(run) => (resumed_from.map_or("made", |_| "resumed"), run.summary),
    };
    let told = PyDict::new(py);
    told.set_item("status", status)?;
    told.set_item("resumed_from", resumed_from)?;
    told.set_item("summary", to_json(&summary)?)?;
    Ok(told)
}

/// What is in the place of a run: `absent`, `unfinished` or `finished`.
#[pyfunction]
pub fn inspect_run(py: Python<'_>, target: PathBuf) -> PyResult<&'static str> {
    let place = py
        .detach(|| strt_runs::inspect(&target))
        .map_err(to_python)?;
    Ok(match place {
        Place::Absent => "absent",
        Place::Unfinished(_) => "unfinished",
        Place::Finished(_) => "finished",
    })
}

/// How a file is read, as JSON.
fn reading_from(text: &str) -> PyResult<ReadOptions> {
    let options: ReadOptions = serde_json::from_str(text).map_err(|error| {
        PyValueError::new_err(format!(
            "reading: expected rate, channels, start, stop, variable, transpose, delimiter, \
             header, time_column, bids or prepare: {error}"
        ))
    })?;
    let prepare = options.prepare.clone().with_files_read();
    Ok(ReadOptions {
        prepare: prepare.map_err(errors::of_io)?,
        ..options
    })
}

fn to_python(error: Error) -> PyErr {
    match error {
        Error::Busy { .. } => FolderBusyError::new_err(error.message(&PACKAGE.wording)),
        error => errors::of_runs(error),
    }
}
