//! `Model`: a finished separation and its history, immutable. Every number comes from the library.
//! Files and pickles of it are the business of [`crate::folders`].

use crate::arrays::{Matrix, to_array, to_vector};
use crate::recording::{Recording, prepare_from};
use crate::watch::watched;
use crate::wording::PACKAGE;
use crate::{errors, history, settings};
use faer::Mat;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::Path;
use std::sync::Arc;
use strt_io::{Prepare, model_from_bytes, model_to_bytes};
use strt_label::Label;
use strt_runs::results::labels;
use strt_runs::results::summary::{Input, source_names};
use strt_runs::results::verdicts::VerdictSummary;
use strt_runs::results::warnings;
use strt_runs::training::Log;
use strt_score::explained_variance;
use strtransformer::Separation;
use strtransformer::train::{StepReport, StopReason, Terms};
use strtransformer::verdict::{Verdict, VerdictOptions};

/// A trained model.
#[pyclass(frozen, module = "strtransformer._core")]
pub struct Model {
    pub separation: Arc<Separation>,
    pub log: Arc<Log>,
    /// What it was trained on, as long as the model stays in the process that trained it.
    pub trained: Option<Trained>,
}

/// A recording and where it came from. The numbers are shared, not copied.
#[derive(Clone)]
pub struct Trained {
    pub recording: strtransformer::Recording,
    pub input: Input,
}

impl Model {
    /// A model and, where it is known, what it was trained on.
    pub fn new(separation: Separation, log: Log, trained: Option<Trained>) -> Model {
        Model {
            separation: Arc::new(separation),
            log: Arc::new(log),
            trained,
        }
    }

    /// The recording that is given, or else the one that the model was trained on.
    fn given_or_trained<'a>(
        &'a self,
        given: Option<&'a Recording>,
    ) -> PyResult<&'a strtransformer::Recording> {
        match (given, &self.trained) {
            (Some(given), _) => Ok(&given.inner),
            (None, Some(trained)) => Ok(&trained.recording),
            (None, None) => Err(PyValueError::new_err(
                "expected a recording, found none: a model that was loaded or pickled does not \
                 hold what it was trained on; give it as `X`",
            )),
        }
    }
}

/// Sources of other data, why their optimisation ended, whether they had stopped improving, and
/// what was raised meanwhile.
type Transformed<'py> = (
    Bound<'py, PyArray2<f64>>,
    Option<&'static str>,
    bool,
    Option<PyErr>,
);

/// Denoised sources, their standard deviations and the share of noise, where it can be measured.
type Denoised<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<f64>,
);

/// H, its margin, and the errors of all scales.
type Energies<'py> = (
    Bound<'py, PyArray2<f64>>,
    Option<f64>,
    Bound<'py, PyArray2<f64>>,
);

/// The name of a stop reason.
pub fn name(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Settled => "settled",
        StopReason::StepLimit => "step_limit",
        StopReason::Interrupted => "interrupted",
        StopReason::Diverged => "diverged",
    }
}

fn terms<'py>(py: Python<'py>, terms: &Terms) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("total", terms.total)?;
    dict.set_item("reconstruction", terms.reconstruction)?;
    dict.set_item("structure", terms.structure)?;
    dict.set_item("separation", terms.separation)?;
    dict.set_item("smoothness", terms.smoothness)?;
    dict.set_item("entropy", terms.entropy)?;
    dict.set_item("gap", terms.gap)?;
    Ok(dict)
}

#[pymethods]
impl Model {
    /// Pickled are model and history, not what it was trained on.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let arguments = (
            this.to_bytes(py)?,
            this.history(py)?,
            this.log.steps,
            this.log.seconds,
        );
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, arguments.into_pyobject(py)?.into_any()))
    }

    #[staticmethod]
    fn _restore(
        bytes: &[u8],
        rows: &Bound<'_, PyDict>,
        steps: usize,
        seconds: f64,
    ) -> PyResult<Model> {
        let separation = model_from_bytes("pickled model", bytes).map_err(errors::of_io)?;
        let mut log = Log::of_rows(history::from_dict(rows)?);
        (log.steps, log.seconds) = (steps, seconds);
        Ok(Model::new(separation, log, None))
    }

    /// The bytes of `model.safetensors`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py
            .detach(|| model_to_bytes(&self.separation))
            .map_err(errors::of_io)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from such bytes, without a history.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Model> {
        let separation = model_from_bytes("model", bytes).map_err(errors::of_io)?;
        Ok(Model::new(separation, Log::default(), None))
    }

    #[getter]
    fn n_sources(&self) -> usize {
        self.separation.config().n_sources
    }

    #[getter]
    fn n_channels(&self) -> usize {
        self.separation.mixer().n_channels()
    }

    #[getter]
    fn is_affine(&self) -> bool {
        self.separation.unmixing().is_some()
    }

    /// What tells the recording of the training from others, in 16 hexadecimal digits; `None` where
    /// the model does not hold it.
    #[getter]
    fn fingerprint(&self) -> Option<String> {
        let trained = self.trained.as_ref()?;
        Some(format!("{:016x}", trained.recording.fingerprint()))
    }

    #[getter]
    fn is_a_map(&self) -> bool {
        self.separation.is_a_map()
    }

    /// (T, K).
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.separation.sources())
    }

    /// Samples of every piece of the recording.
    #[getter]
    fn pieces(&self) -> Vec<usize> {
        self.separation.pieces().lengths().collect()
    }

    /// (m, K), affine mixers only.
    #[getter]
    fn mixing<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        let (matrix, _) = self.separation.mixing()?;
        Some(to_array(py, matrix.as_ref()))
    }

    /// (K, m), affine mixers only.
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        let (matrix, _) = self.separation.unmixing()?;
        Some(to_array(py, matrix.as_ref()))
    }

    /// (m,): what an affine mixer makes of sources of 0; otherwise the means of the channels.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        match self.separation.mixing() {
            Some((_, offset)) => to_vector(py, &offset),
            None => to_vector(py, &self.separation.channel_whitening().1),
        }
    }

    /// (K, m).
    #[getter]
    fn whitening<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.separation.channel_whitening().0.as_ref())
    }

    /// (m,): means of the channels over the complete samples, about which they are whitened.
    #[getter]
    fn channel_mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, &self.separation.channel_whitening().1)
    }

    /// (m,): by what the channels are divided before they are whitened.
    #[getter]
    fn channel_scale<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.separation.scaling().scale())
    }

    /// (m,): variances of the principal components of the scaled channels, largest first.
    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.separation.record().whitening.eigenvalues())
    }

    #[getter]
    fn n_iter(&self) -> usize {
        self.separation.steps()
    }

    #[getter]
    fn converged(&self) -> bool {
        self.separation.converged()
    }

    #[getter]
    fn stop_reason(&self) -> &'static str {
        name(self.separation.stop_reason())
    }

    /// What to know about how the run ended, and what to do about it.
    #[getter]
    fn warning(&self) -> Option<String> {
        warnings::ending(&self.separation, &PACKAGE.wording)
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.separation.seed()
    }

    #[getter]
    fn restart(&self) -> usize {
        self.separation.restart()
    }

    /// One dict a restart.
    #[getter]
    fn restarts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let restarts = self.separation.restarts().iter().map(|restart| {
            let dict = PyDict::new(py);
            dict.set_item("restart", restart.restart)?;
            dict.set_item("seed", restart.seed)?;
            dict.set_item("objective", restart.objective)?;
            dict.set_item("stop_reason", name(restart.stop))?;
            dict.set_item("converged", restart.converged)?;
            dict.set_item("novel", restart.novel)?;
            dict.set_item("agreement", restart.agreement)?;
            dict.set_item("agreement_by_source", &restart.agreement_by_source)?;
            Ok(dict)
        });
        restarts.collect()
    }

    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let n_scales = self.separation.config().branches.patch_sizes.len();
        history::to_dict(py, self.log.rows(), self.n_sources(), n_scales)
    }

    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        terms(py, &self.separation.terms())
    }

    #[getter]
    fn objective(&self) -> f64 {
        self.separation.smoothed_objective()
    }

    #[getter]
    fn scale_centers<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, &self.separation.controller().centers)
    }

    #[getter]
    fn expected_patch_size<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, &self.separation.controller().expected_patch)
    }

    #[getter]
    fn locality_slope<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, &self.separation.controller().slopes)
    }

    #[getter]
    fn assignment_margin(&self) -> f64 {
        self.separation.assignment_margin()
    }

    #[getter]
    fn channel_names(&self) -> Vec<String> {
        self.separation.channel_names().to_vec()
    }

    #[getter]
    fn sampling_rate(&self) -> Option<f64> {
        self.separation.sampling_rate()
    }

    /// Every value of the configuration, automatic ones filled in.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        settings::to_dict(py, self.separation.config())
    }

    /// Sources (T, K) of rows of the same channels, where they are a map of the channels.
    fn unmix<'py>(&self, py: Python<'py>, data: Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let sources = py.detach(|| self.separation.unmix(data.0.as_ref()));
        let sources = sources.ok_or_else(|| {
            PyRuntimeError::new_err(
                "the sources of this model are no map of the channels: they are optimised by \
                 `transform`",
            )
        })?;
        Ok(to_array(py, sources.map_err(errors::of_core)?.as_ref()))
    }

    /// Sources of a recording: unmixed where they are a map of the channels, else optimised with
    /// everything else frozen. With them: why the optimisation ended (or None), whether they had
    /// stopped improving, and what was raised meanwhile.
    #[pyo3(signature = (recording, steps, callback=None))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        recording: &Recording,
        steps: usize,
        callback: Option<Py<PyAny>>,
    ) -> PyResult<Transformed<'py>> {
        let (transformed, raised) = watched(py, callback, |gate| {
            self.separation
                .transform(&recording.inner, steps, &mut |report: &StepReport<'_>| {
                    gate.pass(report)
                })
        });
        let transformed = transformed.map_err(errors::of_core)?;
        let sources = to_array(py, transformed.sources.as_ref());
        Ok((
            sources,
            transformed.stop.map(name),
            transformed.converged,
            raised,
        ))
    }

    /// Posterior mean and standard deviation (T, K) of the sources of a recording (or of what the
    /// model was trained on), and the share of the channels' variance that is taken for noise.
    #[pyo3(signature = (recording=None))]
    fn denoise<'py>(
        &self,
        py: Python<'py>,
        recording: Option<&Recording>,
    ) -> PyResult<Denoised<'py>> {
        let recording = self.given_or_trained(recording)?;
        let denoised = py
            .detach(|| self.separation.denoise(recording))
            .map_err(errors::of_core)?;
        Ok((
            to_array(py, denoised.sources()),
            to_array(py, denoised.deviation()),
            denoised.noise().share,
        ))
    }

    /// The channels (T, m) of a recording (or of what the model was trained on) without the
    /// sources `removed` of its `sources` (T, K); missing values filled where `fill` says so.
    #[pyo3(signature = (sources, removed, recording=None, fill=false))]
    fn clean<'py>(
        &self,
        py: Python<'py>,
        sources: Matrix,
        removed: Vec<usize>,
        recording: Option<&Recording>,
        fill: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let recording = self.given_or_trained(recording)?;
        let (separation, sources) = (&self.separation, sources.0);
        let cleaned = py.detach(|| {
            if fill {
                separation.clean_filled(recording, sources.as_ref(), &removed)
            } else {
                separation.clean(recording, sources.as_ref(), &removed)
            }
        });
        Ok(to_array(py, cleaned.map_err(errors::of_core)?.as_ref()))
    }

    /// All channels (T, n) of a recording that was not prepared, without the sources `removed`;
    /// `prepare`, as JSON, is what the model was trained on. Affine mixers only.
    fn clean_unprepared<'py>(
        &self,
        py: Python<'py>,
        recording: &Recording,
        prepare: &str,
        removed: Vec<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let prepare = prepare_from(prepare)?;
        let exclude = Prepare {
            exclude: prepare.exclude.clone(),
            ..Prepare::default()
        };
        let all = &recording.inner;
        let left = exclude.apply("X", all).map_err(errors::of_io)?.recording;
        let order: Vec<usize> = (0..self.n_channels()).collect();
        let cleaned = py
            .detach(|| {
                let name = (Path::new("X"), &order[..]);
                strt_runs::clean_unprepared(&self.separation, &left, &prepare, name, &removed)
            })
            .map_err(errors::of_runs)?;
        let mut values = all.observations().to_owned();
        for (channel, name) in all.channel_names().iter().enumerate() {
            if let Some(place) = left.channel_names().iter().position(|other| other == name) {
                values.col_mut(channel).copy_from(cleaned.col(place));
            }
        }
        Ok(to_array(py, values.as_ref()))
    }

    /// Which sources of what the model was trained on to trust: a dict each.
    #[pyo3(signature = (recording=None, *, replicates=20, reruns=0))]
    fn verdicts<'py>(
        &self,
        py: Python<'py>,
        recording: Option<&Recording>,
        replicates: usize,
        reruns: usize,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let recording = self.given_or_trained(recording)?;
        let verdicts = py
            .detach(|| {
                let options = VerdictOptions { replicates, reruns };
                self.separation.verdicts(recording, options)
            })
            .map_err(errors::of_core)?;
        let summaries = VerdictSummary::all(&verdicts);
        let dict = |(verdict, summary): (&Verdict, VerdictSummary)| {
            let dict = PyDict::new(py);
            dict.set_item("source", summary.source)?;
            dict.set_item("finding", summary.finding)?;
            dict.set_item("mixed_with", &verdict.mixed_with)?;
            dict.set_item("interference", summary.interference)?;
            dict.set_item("replication", summary.replication)?;
            dict.set_item("found_again", summary.found_again)?;
            let restarts = summary.restarts.map(|r| (r.found, r.compared));
            dict.set_item("restarts", restarts)?;
            dict.set_item("reruns", summary.reruns)?;
            dict.set_item("evidence", summary.evidence)?;
            dict.set_item("beyond_twins", summary.beyond_twins)?;
            dict.set_item("structure", summary.structure)?;
            dict.set_item("words", summary.words)?;
            Ok(dict)
        };
        verdicts.iter().zip(summaries).map(dict).collect()
    }

    /// What the sources of what the model was trained on look like: a dict each.
    #[pyo3(signature = (recording=None))]
    fn labels<'py>(
        &self,
        py: Python<'py>,
        recording: Option<&Recording>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let positions = match (recording, &self.trained) {
            (Some(given), _) => &given.input.positions[..],
            (None, Some(trained)) => &trained.input.positions[..],
            (None, None) => &[],
        };
        let recording = self.given_or_trained(recording)?;
        let separation = &self.separation;
        let found = py
            .detach(|| labels::of_run(recording, separation, positions))
            .map_err(errors::of_runs)?;
        let dict = |(label, source): (Option<Label>, String)| {
            let dict = PyDict::new(py);
            dict.set_item("source", source)?;
            dict.set_item("label", label.as_ref().map(|label| label.name()))?;
            dict.set_item("kind", label.as_ref().map(|label| label.kind.name()))?;
            dict.set_item("confidence", label.as_ref().map(|label| label.confidence))?;
            dict.set_item(
                "frequency",
                label.as_ref().and_then(|label| label.frequency),
            )?;
            dict.set_item("reason", label.map(|label| label.reason))?;
            Ok(dict)
        };
        let names = source_names(found.len());
        found.into_iter().zip(names).map(dict).collect()
    }

    /// The energy of trajectories (T, J), or of the sources of the run, under every branch: H
    /// (K, J), its margin, and the errors of all scales (K, J, R) in one row each.
    #[pyo3(signature = (trajectories=None, *, draws))]
    fn energy<'py>(
        &self,
        py: Python<'py>,
        trajectories: Option<Matrix>,
        draws: usize,
    ) -> PyResult<Energies<'py>> {
        let energy = py
            .detach(|| match &trajectories {
                Some(given) => self.separation.trajectory_energy(given.0.as_ref(), draws),
                None => self.separation.source_energy(draws),
            })
            .map_err(errors::of_core)?;
        let cost = energy.cost();
        let n_scales = self.separation.config().branches.patch_sizes.len();
        let (k, j) = cost.shape();
        let errors = Mat::from_fn(k * j, n_scales, |row, r| energy.error(row / j, row % j, r));
        let errors = to_array(py, errors.as_ref());
        Ok((to_array(py, cost.as_ref()), energy.margin(), errors))
    }

    /// The channels (T, m) that sources (T, K) give.
    fn mix<'py>(&self, py: Python<'py>, sources: Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mixed = py
            .detach(|| self.separation.mix(sources.0.as_ref()))
            .map_err(errors::of_core)?;
        Ok(to_array(py, mixed.as_ref()))
    }

    /// Share of the variance of the channels (T, m) that sources (T, K) explain.
    fn explained_variance(&self, py: Python<'_>, data: Matrix, sources: Matrix) -> PyResult<f64> {
        py.detach(|| {
            let reconstructed = self
                .separation
                .mix(sources.0.as_ref())
                .map_err(errors::of_core)?;
            explained_variance(data.0.as_ref(), reconstructed.as_ref()).map_err(errors::of_core)
        })
    }
}
