//! Mixings: from K standardised sources to m channels.
//!
//! In: sources (T × K) and a [`MixingKind`]. Out: channels before standardisation and, for a linear
//! mixing, its matrix. Sums are plain loops, in one order on every machine. Noise and units are the
//! caller's.

use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::conditioned::conditioned;
use super::{MixingKind, ProblemSpec, Purpose};
use crate::error::{Error, Result};

/// Up to this many sources the condition of a mixing matrix is below [`CONDITION_BOUND`] …
const BOUNDED_SOURCES: usize = 4;
/// … as the suites require; …
const CONDITION_BOUND: f64 = 6.0;
/// … beyond, below this multiple of K, since the condition of a Gaussian matrix grows with its
/// size: a square one is accepted about every fifth time at 2·K, and practically never at 6.
const CONDITION_PER_SOURCE: f64 = 2.0;
/// Draws before giving up; chance alone does not need this many.
const MOST_DRAWS: usize = 10_000;

/// What a mixing makes of the sources.
pub(super) struct Mixed {
    /// T × m, not yet standardised.
    pub channels: Mat<f64>,
    /// m × K, for linear mixings.
    pub matrix: Option<Mat<f64>>,
}

/// Mixes `sources` (T × K) as `spec` says.
pub(super) fn mix(spec: &ProblemSpec, sources: &Mat<f64>) -> Result<Mixed> {
    let mut rng = spec.stream(Purpose::Mixing);
    match spec.mixing {
        MixingKind::Linear => layered(spec, sources, 1, |z| z, &mut rng),
        MixingKind::Conditioned { condition } => {
            let matrix = conditioned(spec.n_channels, spec.n_sources, condition as f64, &mut rng);
            Ok(Mixed {
                channels: multiply(sources, &matrix),
                matrix: Some(matrix),
            })
        }
        MixingKind::Pnl => post_nonlinear(spec, sources, |z| libm::tanh(z) + 0.3 * z, &mut rng),
        MixingKind::Asinh => post_nonlinear(spec, sources, |z| libm::asinh(2.0 * z), &mut rng),
        MixingKind::Mlp2 => layered(spec, sources, 2, |z| leaky(z, 0.4), &mut rng),
        MixingKind::Mlp3 => layered(spec, sources, 3, |z| libm::tanh(z) + 0.2 * z, &mut rng),
        MixingKind::LeakyMlp { layers } => {
            layered(spec, sources, layers, |z| leaky(z, 0.2), &mut rng)
        }
        MixingKind::TanhMlp { layers } => {
            layered(spec, sources, layers, |z| libm::tanh(z) + 0.1 * z, &mut rng)
        }
    }
}

/// A linear mixture, and the nonlinearity of every channel.
fn post_nonlinear(
    spec: &ProblemSpec,
    sources: &Mat<f64>,
    nonlinearity: impl Fn(f64) -> f64,
    rng: &mut ChaCha8Rng,
) -> Result<Mixed> {
    let mut mixed = layered(spec, sources, 1, |z| z, rng)?;
    activate(&mut mixed.channels, nonlinearity);
    Ok(Mixed {
        matrix: None,
        ..mixed
    })
}

/// `n_layers` − 1 times a K × K matrix and the nonlinearity, then an m × K matrix.
fn layered(
    spec: &ProblemSpec,
    sources: &Mat<f64>,
    n_layers: usize,
    nonlinearity: impl Fn(f64) -> f64,
    rng: &mut ChaCha8Rng,
) -> Result<Mixed> {
    let mut hidden = sources.clone();
    for _ in 1..n_layers {
        let matrix = normalized_rows(well_conditioned(spec.n_sources, spec.n_sources, rng)?);
        hidden = multiply(&hidden, &matrix);
        activate(&mut hidden, &nonlinearity);
    }
    let matrix = normalized_rows(well_conditioned(spec.n_channels, spec.n_sources, rng)?);
    let channels = multiply(&hidden, &matrix);
    Ok(Mixed {
        channels,
        matrix: (n_layers == 1).then_some(matrix),
    })
}

fn leaky(z: f64, slope: f64) -> f64 {
    if z > 0.0 { z } else { slope * z }
}

fn activate(values: &mut Mat<f64>, nonlinearity: impl Fn(f64) -> f64) {
    for column in 0..values.ncols() {
        for value in values.col_as_slice_mut(column) {
            *value = nonlinearity(*value);
        }
    }
}

/// inputs·matrixᵀ, T × m.
fn multiply(inputs: &Mat<f64>, matrix: &Mat<f64>) -> Mat<f64> {
    let mut outputs = Mat::zeros(inputs.nrows(), matrix.nrows());
    for channel in 0..matrix.nrows() {
        let output = outputs.col_as_slice_mut(channel);
        for source in 0..matrix.ncols() {
            let weight = matrix[(channel, source)];
            for (sum, input) in output.iter_mut().zip(inputs.col_as_slice(source)) {
                *sum += weight * input;
            }
        }
    }
    outputs
}

/// The largest condition number (2-norm) of a matrix for K sources, before its rows are normalised.
pub(super) fn condition_bound(n_sources: usize) -> f64 {
    if n_sources <= BOUNDED_SOURCES {
        CONDITION_BOUND
    } else {
        CONDITION_PER_SOURCE * n_sources as f64
    }
}

/// A Gaussian matrix, drawn until its condition is below [`condition_bound`].
pub(super) fn well_conditioned(
    n_rows: usize,
    n_columns: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Mat<f64>> {
    let bound = condition_bound(n_columns);
    for _ in 0..MOST_DRAWS {
        let matrix = Mat::from_fn(n_rows, n_columns, |_, _| StandardNormal.sample(rng));
        if condition(matrix.as_ref()).is_some_and(|condition| condition < bound) {
            return Ok(matrix);
        }
    }
    Err(Error::NoMixing {
        n_channels: n_rows,
        n_sources: n_columns,
        bound,
        n_draws: MOST_DRAWS,
    })
}

/// Largest over smallest singular value; `None` when they cannot be computed.
pub(super) fn condition(matrix: MatRef<'_, f64>) -> Option<f64> {
    // Descending.
    let singular_values = matrix.singular_values().ok()?;
    Some(singular_values.first()? / singular_values.last()?)
}

/// Rows of norm 1: every channel hears the sources equally loudly in total.
fn normalized_rows(matrix: Mat<f64>) -> Mat<f64> {
    let norm: Vec<f64> = (0..matrix.nrows())
        .map(|row| {
            (0..matrix.ncols())
                .map(|column| matrix[(row, column)] * matrix[(row, column)])
                .sum::<f64>()
                .sqrt()
        })
        .collect();
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        matrix[(row, column)] / norm[row]
    })
}
