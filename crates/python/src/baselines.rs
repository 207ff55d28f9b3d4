//! The classical methods: options by name in, or a search written in Python; a `Decomposition` with
//! its convergence report out.

use crate::arrays::{Matrix, Vector, to_array, to_vector};
use crate::errors;
use crate::recording::Recording;
use faer::Mat;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use strt_classic::{
    Amuse, Baseline, Components, Convergence, Diagonalizer, Efica, Extraction, FastIca, Jade,
    Method, MultiCombi, Nonlinearity, Nss, Picard, Sobi, StopReason, Unmixing, Wasobi,
};

/// What a method found.
#[pyclass(frozen, module = "strtransformer._core")]
pub struct Decomposition {
    inner: strt_classic::Decomposition,
}

#[pymethods]
impl Decomposition {
    /// (T, K).
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.sources())
    }

    /// (m, K).
    #[getter]
    fn mixing<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.mixing())
    }

    /// (K, m).
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.channel_unmixing().transpose())
    }

    /// (K, m): from channels less their means to whitened components.
    #[getter]
    fn whitening<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.channel_whitening().transpose())
    }

    /// (K, K): from whitened components to sources, one row a source.
    #[getter]
    fn unmixing<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.unmixing().transpose())
    }

    /// (m,).
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.inner.mean())
    }

    #[getter]
    fn converged(&self) -> bool {
        self.inner.convergence().converged
    }

    #[getter]
    fn n_iter(&self) -> usize {
        self.inner.convergence().iterations
    }

    #[getter]
    fn stop_reason(&self) -> &'static str {
        match self.inner.convergence().reason {
            StopReason::Direct => "direct",
            StopReason::Tolerance => "tolerance",
            StopReason::IterationLimit => "iteration_limit",
            StopReason::LineSearch => "line_search",
            _ => "other",
        }
    }

    /// The convergence report in words.
    #[getter]
    fn convergence(&self) -> String {
        self.inner.convergence().to_string()
    }
}

/// Options that may be taken once each; what is left over is refused.
struct Options<'a, 'py> {
    method: &'a str,
    dict: &'a Bound<'py, PyDict>,
    known: Vec<&'static str>,
}

impl<'py> Options<'_, 'py> {
    fn set<T>(&mut self, name: &'static str, slot: &mut T) -> PyResult<()>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        self.known.push(name);
        if let Some(value) = self.dict.get_item(name)?.filter(|value| !value.is_none()) {
            *slot = value.extract().map_err(|_| {
                let kind = std::any::type_name::<T>();
                PyValueError::new_err(format!(
                    "{}: {name} = {value}: expected a value that can be used as {kind}",
                    self.method
                ))
            })?;
        }
        Ok(())
    }

    fn choose<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
        slot: &mut T,
    ) -> PyResult<()> {
        let mut word = String::new();
        self.set(name, &mut word)?;
        if word.is_empty() {
            return Ok(());
        }
        let found = choices.iter().find(|(choice, _)| *choice == word);
        let (_, value) = found.ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            PyValueError::new_err(format!(
                "{}: {name} = '{word}': expected one of {}",
                self.method,
                names.join(", ")
            ))
        })?;
        *slot = *value;
        Ok(())
    }

    /// Options of a method inside this one, a dict of their own.
    fn nested<T>(
        &mut self,
        name: &'static str,
        method: &mut T,
        read: impl FnOnce(&mut Options<'_, 'py>, &mut T) -> PyResult<()>,
    ) -> PyResult<()> {
        self.known.push(name);
        let Some(value) = self.dict.get_item(name)?.filter(|value| !value.is_none()) else {
            return Ok(());
        };
        let dict = value.cast_into::<PyDict>()?;
        let mut options = Options {
            method: name,
            dict: &dict,
            known: Vec::new(),
        };
        read(&mut options, method)?;
        options.none_left()
    }

    fn none_left(&self) -> PyResult<()> {
        for key in self.dict.keys() {
            let key: String = key.extract()?;
            if !self.known.contains(&key.as_str()) {
                return Err(PyValueError::new_err(format!(
                    "{}: no option `{key}`; expected some of {}",
                    self.method,
                    self.known.join(", ")
                )));
            }
        }
        Ok(())
    }
}

fn build(name: &str, dict: &Bound<'_, PyDict>) -> PyResult<Baseline> {
    let mut options = Options {
        method: name,
        dict,
        known: Vec::new(),
    };
    let mut start: Option<Matrix> = None;
    let mut baseline = Baseline::parse(name).map_err(errors::of_core)?;
    match &mut baseline {
        Baseline::FastIca(FastIca {
            extraction,
            nonlinearity,
            tolerance,
            max_iterations,
            seed,
            start: first,
        }) => {
            let ways = [
                ("parallel", Extraction::Parallel),
                ("deflation", Extraction::Deflation),
            ];
            options.choose("algorithm", &ways, extraction)?;
            let contrasts = [
                ("logcosh", Nonlinearity::LogCosh),
                ("exp", Nonlinearity::Exp),
                ("cube", Nonlinearity::Cube),
            ];
            options.choose("fun", &contrasts, nonlinearity)?;
            options.set("tol", tolerance)?;
            options.set("max_iter", max_iterations)?;
            options.set("seed", seed)?;
            options.set("w_init", &mut start)?;
            *first = start.map(|matrix| matrix.0);
        }
        Baseline::Picard(Picard {
            orthogonal,
            extended,
            tolerance,
            max_iterations,
            memory,
            least_curvature,
            seed,
            start: first,
        }) => {
            options.set("ortho", orthogonal)?;
            options.set("extended", extended)?;
            options.set("tol", tolerance)?;
            options.set("max_iter", max_iterations)?;
            options.set("m", memory)?;
            options.set("lambda_min", least_curvature)?;
            options.set("seed", seed)?;
            options.set("w_init", &mut start)?;
            *first = start.map(|matrix| matrix.0);
        }
        Baseline::Jade(Jade {
            tolerance,
            max_sweeps,
        }) => {
            options.set("tol", tolerance)?;
            options.set("max_iter", max_sweeps)?;
        }
        Baseline::Amuse(Amuse { lag }) => options.set("lag", lag)?,
        Baseline::Sobi(Sobi {
            lags,
            tolerance,
            max_sweeps,
        }) => {
            options.set("lags", lags)?;
            options.set("tol", tolerance)?;
            options.set("max_iter", max_sweeps)?;
        }
        Baseline::Nss(Nss {
            blocks,
            diagonalizer,
            tolerance,
            max_sweeps,
        }) => {
            let mut number = blocks.unwrap_or(0);
            options.set("n_blocks", &mut number)?;
            *blocks = (number > 0).then_some(number);
            let ways = [
                ("pham", Diagonalizer::Pham),
                ("orthogonal", Diagonalizer::Orthogonal),
            ];
            options.choose("diagonalizer", &ways, diagonalizer)?;
            options.set("tol", tolerance)?;
            options.set("max_iter", max_sweeps)?;
        }
        Baseline::Wasobi(method) => wasobi(&mut options, method)?,
        Baseline::Efica(method) => efica(&mut options, method)?,
        Baseline::MultiCombi(MultiCombi {
            efica: by_distributions,
            wasobi: by_spectra,
            threshold,
        }) => {
            options.set("threshold", threshold)?;
            options.nested("efica", by_distributions, efica)?;
            options.nested("wasobi", by_spectra, wasobi)?;
        }
        _ => {}
    }
    options.none_left()?;
    Ok(baseline)
}

fn wasobi(options: &mut Options<'_, '_>, method: &mut Wasobi) -> PyResult<()> {
    let Wasobi {
        order,
        largest_pole,
        taper,
        ridge,
        rounds,
        tolerance,
        max_iterations,
    } = method;
    options.set("order", order)?;
    options.set("largest_pole", largest_pole)?;
    options.set("taper", taper)?;
    options.set("ridge", ridge)?;
    options.set("rounds", rounds)?;
    options.set("tol", tolerance)?;
    options.set("max_iter", max_iterations)
}

fn efica(options: &mut Options<'_, '_>, method: &mut Efica) -> PyResult<()> {
    let Efica {
        saddle_test,
        tolerance,
        max_iterations,
        seed,
        start: first,
    } = method;
    let mut start: Option<Matrix> = None;
    options.set("saddle_test", saddle_test)?;
    options.set("tol", tolerance)?;
    options.set("max_iter", max_iterations)?;
    options.set("seed", seed)?;
    options.set("w_init", &mut start)?;
    *first = start.map(|matrix| matrix.0);
    Ok(())
}

/// Separates a recording by a classical method.
#[pyfunction]
pub fn decompose(
    py: Python<'_>,
    method: &str,
    recording: &Recording,
    n_components: usize,
    options: &Bound<'_, PyDict>,
) -> PyResult<Decomposition> {
    let baseline = build(method, options)?;
    py.detach(|| baseline.separate(&recording.inner, n_components))
        .map(|inner| Decomposition { inner })
        .map_err(errors::of_core)
}

/// Separates a recording by a search of the caller's own: `search` is given the complete whitened
/// samples (n, K) and returns the unmixing (K, K), one row a source, its iterations, its criterion
/// at the end, the tolerance of that, and why it ended.
#[pyfunction]
pub fn decompose_by(
    search: &Bound<'_, PyAny>,
    name: &str,
    recording: &Recording,
    n_components: usize,
) -> PyResult<Decomposition> {
    let method = Brought {
        name: Baseline::parse(name).map_err(errors::of_core)?.name(),
        search,
        raised: RefCell::new(None),
    };
    let found = method.separate(&recording.inner, n_components);
    if let Some(raised) = method.raised.take() {
        return Err(raised);
    }
    found
        .map(|inner| Decomposition { inner })
        .map_err(errors::of_core)
}

/// A method whose search is a function of Python. What that raises is kept, since the library's
/// errors have no place for it.
struct Brought<'a, 'py> {
    name: &'static str,
    search: &'a Bound<'py, PyAny>,
    raised: RefCell<Option<PyErr>>,
}

impl Method for Brought<'_, '_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        n_sources + 1
    }

    fn unmix(&self, components: &Components<'_>) -> strt_classic::Result<Unmixing> {
        self.call(components).map_err(|raised| {
            self.raised.replace(Some(raised));
            strt_classic::Error::Diverged {
                source_index: 0,
                norm: f64::NAN,
            }
        })
    }
}

impl Brought<'_, '_> {
    fn call(&self, components: &Components<'_>) -> PyResult<Unmixing> {
        let z = components.whitened();
        let kept: Vec<usize> = (0..components.n_samples())
            .filter(|&t| !components.is_missing(t))
            .collect();
        let complete = Mat::from_fn(kept.len(), z.ncols(), |t, k| z[(kept[t], k)]);
        let rows = to_array(self.search.py(), complete.as_ref());
        let (unmixing, iterations, value, tolerance, reason): (Matrix, usize, f64, f64, String) =
            self.search.call1((rows,))?.extract()?;
        let reason = match reason.as_str() {
            "tolerance" => StopReason::Tolerance,
            "line_search" => StopReason::LineSearch,
            _ => StopReason::IterationLimit,
        };
        Ok(Unmixing {
            matrix: unmixing.0.transpose().to_owned(),
            convergence: Convergence {
                iterations,
                converged: reason == StopReason::Tolerance,
                value,
                tolerance,
                reason,
            },
        })
    }
}

/// Sources (T, K) of rows of channels, by the mean (m,) and components (K, m) of a method.
#[pyfunction]
pub fn unmix_rows<'py>(
    py: Python<'py>,
    data: Matrix,
    mean: Vector,
    components: Matrix,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let found =
        py.detach(|| strt_classic::unmix_rows(data.0.as_ref(), &mean.0, components.0.transpose()));
    Ok(to_array(py, found.map_err(errors::of_core)?.as_ref()))
}

/// Channels (T, m) of sources (T, K), by the mixing (m, K) and mean (m,) of a method.
#[pyfunction]
pub fn mix_rows<'py>(
    py: Python<'py>,
    sources: Matrix,
    mixing: Matrix,
    mean: Vector,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let found =
        py.detach(|| strt_classic::mix_rows(sources.0.as_ref(), mixing.0.as_ref(), &mean.0));
    Ok(to_array(py, found.map_err(errors::of_core)?.as_ref()))
}
