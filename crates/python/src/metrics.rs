//! Scores of a separation, against true sources or blind.

use crate::arrays::{Matrix, Vector, to_array, to_vector};
use crate::errors::of_core;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use strt_score::{Matching, Reference, ResidualDependence};

/// Which estimated source belongs to which true one.
#[pyclass(frozen, name = "Matching", module = "strtransformer._core")]
pub struct PyMatching {
    inner: Matching,
}

#[pymethods]
impl PyMatching {
    /// |ρ| of every estimate (rows) with every true source (columns).
    #[getter]
    fn correlations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.correlations())
    }

    /// For every estimate its true source, or None.
    #[getter]
    fn matched(&self) -> Vec<Option<usize>> {
        self.inner.matched().to_vec()
    }

    /// 1 or −1 for every estimate.
    #[getter]
    fn sign<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.inner.sign())
    }

    /// |ρ| of every estimate with its true source.
    #[getter]
    fn per_source<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        to_vector(py, self.inner.per_source())
    }

    #[getter]
    fn mac(&self) -> f64 {
        self.inner.mac()
    }

    #[getter]
    fn worst(&self) -> f64 {
        self.inner.worst()
    }

    fn __repr__(&self) -> String {
        format!(
            "Matching(mac={}, worst={})",
            self.inner.mac(),
            self.inner.worst()
        )
    }
}

fn reference(sources: Matrix) -> PyResult<Reference> {
    Reference::new(sources.0).map_err(of_core)
}

/// Best matching by |correlation|, of the values or of their ranks.
#[pyfunction]
pub fn match_sources(
    py: Python<'_>,
    estimated: Matrix,
    truth: Matrix,
    ranks: bool,
) -> PyResult<PyMatching> {
    let truth = reference(truth)?;
    py.detach(|| {
        if ranks {
            strt_score::match_ranks(estimated.0.as_ref(), &truth)
        } else {
            strt_score::match_sources(estimated.0.as_ref(), &truth)
        }
    })
    .map(|inner| PyMatching { inner })
    .map_err(of_core)
}

/// SI-SDR of every estimate against the true source it is matched with, in dB; None where there is
/// none.
#[pyfunction]
pub fn si_sdr(estimated: Matrix, truth: Matrix) -> PyResult<Vec<Option<f64>>> {
    let truth = reference(truth)?;
    let estimated = estimated.0.as_ref();
    let matching = strt_score::match_sources(estimated, &truth).map_err(of_core)?;
    strt_score::si_sdr(estimated, &truth, &matching).map_err(of_core)
}

/// The estimates z-scored, with the sign and in the order of the true sources.
#[pyfunction]
pub fn align<'py>(
    py: Python<'py>,
    estimated: Matrix,
    truth: Matrix,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let truth = reference(truth)?;
    let estimated = estimated.0.as_ref();
    let matching = strt_score::match_sources(estimated, &truth).map_err(of_core)?;
    let aligned = strt_score::align(estimated, &truth, &matching).map_err(of_core)?;
    Ok(to_array(py, aligned.as_ref()))
}

/// Amari distance of two mixing matrices (m, K).
#[pyfunction]
pub fn amari_from_mixing(estimated: Matrix, truth: Matrix) -> PyResult<f64> {
    strt_score::amari_from_mixing(estimated.0.as_ref(), truth.0.as_ref()).map_err(of_core)
}

/// Amari distance of a product unmixing·mixing (K, K).
#[pyfunction]
pub fn amari_distance(product: Matrix) -> PyResult<f64> {
    strt_score::amari_distance(product.0.as_ref()).map_err(of_core)
}

/// R² of the best linear prediction of a source (T,) from its own past.
#[pyfunction]
pub fn temporal_predictability(source: Vector, order: usize) -> PyResult<f64> {
    strt_score::temporal_predictability(&source.0, order).map_err(of_core)
}

/// Pairwise residual dependence (K, K) of sources (T, K).
#[pyfunction]
pub fn residual_dependence<'py>(
    py: Python<'py>,
    sources: Matrix,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let dependence = py
        .detach(|| ResidualDependence::of(sources.0.as_ref()))
        .map_err(of_core)?;
    Ok(to_array(py, dependence.pairs.as_ref()))
}

/// Share of the variance of observed channels (T, m) that reconstructed ones explain.
#[pyfunction]
pub fn explained_variance(observed: Matrix, reconstructed: Matrix) -> PyResult<f64> {
    strt_score::explained_variance(observed.0.as_ref(), reconstructed.0.as_ref()).map_err(of_core)
}
