//! `Recording`: what is separated, from an array or from a file. Immutable; the numbers are held
//! once, by the library.

use crate::arrays::{Matrix, Trials, to_array};
use crate::errors;
use crate::model::Trained;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use std::path::PathBuf;
use strt_io::{Prepare, ReadOptions, disturbances, read_recording};
use strt_runs::results::count::{ComponentSummary, CountSummary, ShareSummary};
use strt_runs::results::summary::Input;
use strtransformer::preprocess::{ChannelScalingOptions, CountMethod, SourceCount};

/// Samples of several channels, in one piece or in several.
#[pyclass(frozen, module = "strtransformer._core")]
pub struct Recording {
    pub inner: strtransformer::Recording,
    /// Where it came from.
    pub input: Input,
}

impl Recording {
    /// One that did not come from a file.
    pub fn plain(inner: strtransformer::Recording) -> Recording {
        let input = Input::in_memory("X", &inner);
        Recording { inner, input }
    }

    /// What a model remembers of it.
    pub fn trained(&self) -> Trained {
        Trained {
            recording: self.inner.clone(),
            input: self.input.clone(),
        }
    }
}

#[pymethods]
impl Recording {
    #[new]
    #[pyo3(signature = (data, channel_names=None, sampling_rate=None, pieces=None))]
    fn new(
        data: Matrix,
        channel_names: Option<Vec<String>>,
        sampling_rate: Option<f64>,
        pieces: Option<Vec<usize>>,
    ) -> PyResult<Self> {
        let mut inner = strtransformer::Recording::from_mat(data.0).map_err(errors::of_core)?;
        if let Some(names) = channel_names {
            inner = inner.with_channel_names(names).map_err(errors::of_core)?;
        }
        if let Some(rate) = sampling_rate {
            inner = inner.with_sampling_rate(rate).map_err(errors::of_core)?;
        }
        if let Some(lengths) = pieces {
            inner = inner.with_pieces(&lengths).map_err(errors::of_core)?;
        }
        Ok(Recording::plain(inner))
    }

    /// Trials (n_trials, n_channels, n_samples), as MNE's Epochs have them, as pieces of one
    /// recording with n_trials · n_samples rows: nothing that reads several samples together reads
    /// across the end of a trial. `split` cuts what has these rows into trials again.
    #[staticmethod]
    #[pyo3(signature = (trials, channel_names=None, sampling_rate=None))]
    fn from_trials(
        trials: Trials,
        channel_names: Option<Vec<String>>,
        sampling_rate: Option<f64>,
    ) -> PyResult<Self> {
        let Trials { rows, lengths } = trials;
        Recording::new(Matrix(rows), channel_names, sampling_rate, Some(lengths))
    }

    /// Samples of every piece; one number where nothing else was said.
    #[getter]
    fn pieces(&self) -> Vec<usize> {
        self.inner.pieces().lengths().collect()
    }

    #[getter]
    fn n_pieces(&self) -> usize {
        self.inner.pieces().count()
    }

    /// What has a row a sample, such as sources, cut into pieces: a list with the rows of each.
    fn split<'py>(&self, rows: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (expected, found) = (self.inner.n_samples(), rows.len()?);
        if found != expected {
            return Err(PyValueError::new_err(format!(
                "rows: expected {expected}, one a sample of the recording, got {found}"
            )));
        }
        let part = |piece: std::ops::Range<usize>| {
            let slice = PySlice::new(rows.py(), piece.start as isize, piece.end as isize, 1);
            rows.get_item(slice)
        };
        self.inner.pieces().ranges().map(part).collect()
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.observations())
    }

    #[getter]
    fn channel_names(&self) -> Vec<String> {
        self.inner.channel_names().to_vec()
    }

    #[getter]
    fn sampling_rate(&self) -> Option<f64> {
        self.inner.sampling_rate()
    }

    /// The physical unit of every channel, where the file names one.
    #[getter]
    fn units(&self) -> Vec<Option<String>> {
        self.input.units.clone()
    }

    /// Everything that was detected in the file.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.input.notes.clone()
    }

    /// How it was prepared, as JSON; None where it was not.
    #[getter]
    fn preparation(&self) -> PyResult<Option<String>> {
        let prepare = &self.input.options.prepare;
        let text = (!prepare.is_nothing()).then(|| serde_json::to_string(prepare));
        text.transpose().map_err(errors::of_core)
    }

    /// What was done to prepare it, one piece of a sentence each.
    #[getter]
    fn prepared(&self) -> Vec<String> {
        self.input.prepared.clone()
    }

    /// Prepared in this way, which is JSON; as it is where it was prepared so.
    fn prepared_by(&self, py: Python<'_>, prepare: &str) -> PyResult<Recording> {
        let prepare = prepare_from(prepare)?;
        let there = &self.input.options.prepare;
        if prepare == *there {
            return Ok(Recording {
                inner: self.inner.clone(),
                input: self.input.clone(),
            });
        }
        if !there.is_nothing() {
            return Err(PyValueError::new_err(format!(
                "X: expected a recording that was not prepared, or in the same way, found one that \
                 was prepared otherwise ({}); read it without these options",
                self.input.prepared.join(", ")
            )));
        }
        let done = py
            .detach(|| prepare.apply("X", &self.inner))
            .map_err(errors::of_io)?;
        let names = self.inner.channel_names().iter().zip(&self.input.units);
        let left = done.recording.channel_names();
        let units = names.filter(|(name, _)| left.contains(name));
        let units = units.map(|(_, unit)| unit.clone()).collect();
        let mut input = Input {
            path: self.input.path.clone(),
            format: self.input.format.clone(),
            options: ReadOptions {
                prepare,
                ..self.input.options.clone()
            },
            units,
            notes: self.input.notes.clone(),
            ..Input::in_memory("X", &done.recording)
        };
        if !done.steps.is_empty() {
            let text = format!("prepared: {}", done.steps.join(", "));
            input.notes.push(text);
        }
        input.prepared = done.steps;
        Ok(Recording {
            inner: done.recording,
            input,
        })
    }

    /// What it may need to be prepared for: slow drift, line noise; a sentence each.
    fn disturbances(&self, py: Python<'_>) -> Vec<String> {
        let found = py.detach(|| disturbances(&self.inner));
        found.into_iter().map(|note| note.text).collect()
    }

    /// The format of the file; `memory` for an array.
    #[getter]
    fn format(&self) -> String {
        self.input.format.clone()
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.inner.n_samples()
    }

    #[getter]
    fn n_channels(&self) -> usize {
        self.inner.n_channels()
    }

    #[getter]
    fn n_missing(&self) -> usize {
        self.inner.n_missing()
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.n_samples(), self.inner.n_channels())
    }

    /// The numbers as an array, names, rate, and what is known of the file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let input = (
            this.units(),
            this.notes(),
            this.format(),
            this.input.path.clone(),
        );
        let arguments = (
            this.data(py),
            this.channel_names(),
            this.sampling_rate(),
            input,
            this.preparation()?
                .map(|prepare| (prepare, this.prepared())),
            this.pieces(),
        );
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, arguments.into_pyobject(py)?.into_any()))
    }

    #[staticmethod]
    #[pyo3(signature = (data, channel_names, sampling_rate, input, prepared=None, pieces=None))]
    fn _restore(
        data: Matrix,
        channel_names: Vec<String>,
        sampling_rate: Option<f64>,
        input: (Vec<Option<String>>, Vec<String>, String, String),
        prepared: Option<(String, Vec<String>)>,
        pieces: Option<Vec<usize>>,
    ) -> PyResult<Recording> {
        let mut recording = Recording::new(data, Some(channel_names), sampling_rate, pieces)?;
        let (units, notes, format, path) = input;
        recording.input = Input {
            units,
            notes,
            format,
            path,
            ..recording.input
        };
        if let Some((prepare, steps)) = prepared {
            recording.input.options.prepare = prepare_from(&prepare)?;
            recording.input.prepared = steps;
        }
        Ok(recording)
    }

    fn __len__(&self) -> usize {
        self.inner.n_samples()
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "expected copy=None or copy=True, found copy=False: the numbers of a recording are \
                 always copied",
            ));
        }
        let array = self.data(py).into_any();
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    fn __repr__(&self) -> String {
        let rate = match self.inner.sampling_rate() {
            Some(rate) => format!("{rate} Hz"),
            None => "rate unknown".into(),
        };
        let missing = match self.inner.n_missing() {
            0 => String::new(),
            n => format!(", {n} samples with missing values"),
        };
        let pieces = match self.n_pieces() {
            1 => String::new(),
            n => format!(", {n} pieces"),
        };
        let (t, m) = self.shape();
        format!("Recording({t} samples × {m} channels, {rate}{pieces}{missing})")
    }

    /// How many sources there are: by structure in time that noise has not (method "auto"), or by
    /// the eigenvalues of the channels ("mdl"), scaled as training would scale them.
    ///
    /// A dict with n_sources, method and reasoning (words), shares (how often which number was
    /// found in resampled recordings), components (what tells each from noise), eigenvalues and
    /// by_eigenvalues (the number that they suggest alone).
    #[pyo3(signature = (method="auto", *, center=true, scale=true))]
    fn count_sources<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        center: bool,
        scale: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let method = count_method(method)?;
        let options = ChannelScalingOptions { center, scale };
        let count = py
            .detach(|| SourceCount::estimate(&self.inner, options, method))
            .map_err(errors::of_core)?;
        counted(py, &CountSummary::from(&count))
    }
}

/// The method of this name.
pub fn count_method(name: &str) -> PyResult<CountMethod> {
    CountMethod::parse(name).ok_or_else(|| {
        PyValueError::new_err(format!("method: expected 'auto' or 'mdl', got {name:?}"))
    })
}

fn counted<'py>(py: Python<'py>, count: &CountSummary) -> PyResult<Bound<'py, PyDict>> {
    let share = |share: &ShareSummary| {
        let dict = PyDict::new(py);
        dict.set_item("n_sources", share.n_sources)?;
        dict.set_item("share", share.share)?;
        Ok(dict)
    };
    let component = |component: &ComponentSummary| {
        let dict = PyDict::new(py);
        dict.set_item("witness", &component.witness)?;
        dict.set_item("strength", component.strength)?;
        dict.set_item("limit", component.limit)?;
        dict.set_item("kept", component.kept)?;
        dict.set_item("replicated", component.replicated)?;
        Ok(dict)
    };
    let shares: PyResult<Vec<Bound<'py, PyDict>>> = count.shares.iter().map(share).collect();
    let components: PyResult<Vec<Bound<'py, PyDict>>> =
        count.components.iter().map(component).collect();
    let dict = PyDict::new(py);
    dict.set_item("n_sources", count.n_sources)?;
    dict.set_item("method", &count.method)?;
    dict.set_item("reasoning", &count.reasoning)?;
    dict.set_item("shares", shares?)?;
    dict.set_item("components", components?)?;
    dict.set_item("eigenvalues", &count.eigenvalues)?;
    dict.set_item("by_eigenvalues", count.by_eigenvalues)?;
    Ok(dict)
}

/// Reads a recording from a file; the format is found by its contents.
#[pyfunction]
#[pyo3(signature = (
    path, *, channels=None, start=None, stop=None, rate=None, variable=None, transpose=None,
    delimiter=None, header=None, time_column=None, prepare=None
))]
pub fn read(
    py: Python<'_>,
    path: PathBuf,
    channels: Option<String>,
    start: Option<f64>,
    stop: Option<f64>,
    rate: Option<f64>,
    variable: Option<String>,
    transpose: Option<bool>,
    delimiter: Option<char>,
    header: Option<bool>,
    time_column: Option<String>,
    prepare: Option<String>,
) -> PyResult<Recording> {
    let prepare = prepare.map_or(Ok(Prepare::default()), |text| prepare_from(&text))?;
    let options = ReadOptions {
        rate,
        channels: channels.map(Into::into),
        start,
        stop,
        variable,
        transpose,
        delimiter,
        header,
        time_column: time_column.map(Into::into),
        prepare,
        ..ReadOptions::default()
    };
    let opened = py
        .detach(|| read_recording(&path, &options))
        .map_err(errors::of_io)?;
    Ok(Recording {
        input: Input::of_file(&path, &options, &opened),
        inner: opened.recording,
    })
}

/// How a recording is prepared, from JSON, with files read.
pub fn prepare_from(text: &str) -> PyResult<Prepare> {
    let prepare: Prepare = serde_json::from_str(text).map_err(|error| {
        PyValueError::new_err(format!(
            "prepare: expected exclude, bad_segments, detrend, notch, band, resample or \
             rereference: {error}"
        ))
    })?;
    prepare.with_files_read().map_err(errors::of_io)
}
