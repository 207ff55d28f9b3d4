//! Problems with known answers.

use crate::arrays::{Matrix, to_array};
use crate::errors;
use numpy::PyArray2;
use pyo3::prelude::*;
use strt_synth::{MixingKind, ProblemSpec, SourceKind};

/// Observations (T, m), sources (T, K) and, for a linear mixing, its matrix (m, K).
type Generated<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<Bound<'py, PyArray2<f64>>>,
);

/// Generates a problem, or mixes given sources (T, K).
#[pyfunction]
#[pyo3(signature = (kind, mixing, n_samples, n_sources, n_channels, noise, seed, sources=None))]
pub fn generate<'py>(
    py: Python<'py>,
    kind: &str,
    mixing: &str,
    n_samples: usize,
    n_sources: usize,
    n_channels: usize,
    noise: f64,
    seed: u64,
    sources: Option<Matrix>,
) -> PyResult<Generated<'py>> {
    let spec = ProblemSpec {
        kind: kind.parse::<SourceKind>().map_err(errors::of_core)?,
        mixing: mixing.parse::<MixingKind>().map_err(errors::of_core)?,
        n_samples,
        n_sources,
        n_channels,
        noise,
        seed,
    };
    let problem = py
        .detach(|| match &sources {
            Some(sources) => spec.generate_from(&sources.0),
            None => spec.generate(),
        })
        .map_err(errors::of_core)?;
    Ok((
        to_array(py, problem.observations.as_ref()),
        to_array(py, problem.sources.as_ref()),
        problem.mixing.map(|matrix| to_array(py, matrix.as_ref())),
    ))
}

/// Names of the kinds of sources.
#[pyfunction]
pub fn source_kinds() -> Vec<&'static str> {
    SourceKind::ALL.map(SourceKind::name).to_vec()
}
