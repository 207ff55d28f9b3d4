//! The best linear unmixing, with the true sources in hand.
//!
//! In: a problem. Out: for every source the largest correlation that a linear function of the
//! channels has with it: the multiple correlation of least squares, √(cᵀG⁻¹c/Σs²) with G = YᵀY and
//! c = Yᵀs for centred channels Y and source s.

use faer::{Mat, Side};
use strt_signal::moments::standardize_columns;
use strt_synth::Problem;

/// Directions of the channels with less than this share of the power of the strongest are rounding:
/// without noise there are as many as there are channels beyond the sources.
const ROUNDING: f64 = 1e-13;

/// Correlation of every source with its best linear function of the channels.
pub fn best_correlations(problem: &Problem) -> Vec<f64> {
    let channels = standardize_columns(problem.observations.as_ref());
    let (sources, n) = (&problem.sources, problem.sources.nrows() as f64);
    let gram = channels.transpose() * &channels;
    let shared: Mat<f64> = channels.transpose() * sources;
    let n_sources = sources.ncols();
    // Eigenvalues of a symmetric matrix of finite numbers are always found.
    let Ok(eigen) = gram.self_adjoint_eigen(Side::Lower) else {
        return vec![f64::NAN; n_sources];
    };
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let turned = vectors.transpose() * &shared;
    let strongest = values.iter().copied().fold(0.0, f64::max);
    let explained = |k: usize| -> f64 {
        let kept = (0..values.nrows()).filter(|&j| values[j] > ROUNDING * strongest);
        kept.map(|j| turned[(j, k)] * turned[(j, k)] / values[j])
            .sum()
    };
    // Sources have variance 1.
    (0..n_sources)
        .map(|k| (explained(k) / n).clamp(0.0, 1.0).sqrt())
        .collect()
}
