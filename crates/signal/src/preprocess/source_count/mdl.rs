//! The number of sources from the eigenvalues of the channel covariance.
//!
//! The minimum description length of Wax and Kailath (1985): with k sources the m − k smallest
//! eigenvalues are those of white noise and should be equal. Over k = 0 … m − 1, the estimate
//! minimises
//!
//! ```text
//! MDL(k) = −N·(m − k)·ln(geometric/arithmetic mean of λ_{k+1} … λ_m) + ½·k·(2m − k)·ln N
//! ```
//!
//! The formula wants N independent samples; successive ones are not. N is therefore the effective
//! number, T/(1 + 2 Σ_h r̄(h)²) with r̄² the mean squared autocorrelation of the channels, which is
//! what determines the variance of a covariance. It assumes noise of equal variance in all scaled
//! channels; where that is wrong it counts too many.

use crate::preprocess::observations::Observations;
use crate::preprocess::{DEFAULT_RANK_TOLERANCE, Whitening};
use crate::{Recording, Result};
use faer::Mat;

/// Lags over which autocorrelations are summed at most, and samples from which they are estimated.
const MAX_LAG: usize = 1000;
const JUDGED: usize = 1 << 15;
/// The sum ends where the mean squared autocorrelation falls below this.
const NEGLIGIBLE: f64 = 0.01;

/// What the eigenvalues say of the number of sources.
#[derive(Clone, Debug, PartialEq)]
pub struct DescriptionLength {
    /// The number, at least 1.
    pub n_sources: usize,
    /// MDL(k) for k = 0 … m − 1, smallest at the estimate.
    pub lengths: Vec<f64>,
    /// N, the effective number of samples.
    pub effective_samples: f64,
}

/// The eigenvalues of the channels, descending, and what they say.
pub(super) fn describe(
    observations: &Observations,
    recording: &Recording,
) -> Result<(Vec<f64>, DescriptionLength)> {
    let complete = vec![false; recording.n_samples()];
    let missing = recording.missing().unwrap_or(&complete);
    let whitening = Whitening::fit_values(
        observations,
        missing,
        1,
        recording.channel_names(),
        DEFAULT_RANK_TOLERANCE,
    )?;
    let effective_samples = observations.rows().n_valid() as f64 / dependence(observations);
    let eigenvalues = whitening.eigenvalues().to_vec();
    let description = of_eigenvalues(&eigenvalues, effective_samples.max(2.0));
    Ok((eigenvalues, description))
}

/// How many eigenvalues, in descending order, are above what rounding leaves: directions without
/// any variance are copies or constants.
pub(super) fn rank(eigenvalues: &[f64]) -> usize {
    let least = DEFAULT_RANK_TOLERANCE * eigenvalues[0];
    eigenvalues.iter().filter(|&&value| value > least).count()
}

fn of_eigenvalues(eigenvalues: &[f64], effective_samples: f64) -> DescriptionLength {
    let rank = rank(eigenvalues);
    let lengths: Vec<f64> = (0..rank)
        .map(|k| {
            let tail = &eigenvalues[k..rank];
            let n = tail.len() as f64;
            let geometric = tail.iter().map(|value| value.ln()).sum::<f64>() / n;
            let arithmetic = (tail.iter().sum::<f64>() / n).ln();
            let parameters = 0.5 * (k * (2 * rank - k)) as f64;
            effective_samples * n * (arithmetic - geometric) + parameters * effective_samples.ln()
        })
        .collect();
    let least = (0..rank).min_by(|&a, &b| lengths[a].total_cmp(&lengths[b]));
    // Eigenvalues that drop to nothing leave no noise: then every direction that is there is a
    // source.
    let n_sources = if rank < eigenvalues.len() {
        rank
    } else {
        least.unwrap_or(1).max(1)
    };
    DescriptionLength {
        n_sources,
        lengths,
        effective_samples,
    }
}

/// 1 + 2 Σ_h r̄(h)²: how many samples are worth one independent one.
fn dependence(observations: &Observations) -> f64 {
    let (n, m) = (observations.rows().n_samples(), observations.n_channels());
    let len = JUDGED.min(n);
    let mut channels = Mat::zeros(len, m);
    observations.read((n - len) / 2, channels.as_mut());
    let product = |c: usize, lag: usize| -> f64 {
        let channel = channels.col_as_slice(c);
        channel
            .iter()
            .zip(&channel[lag..])
            .map(|(a, b)| a * b)
            .sum()
    };
    let powers: Vec<f64> = (0..m).map(|c| product(c, 0)).collect();
    let mean_square = |lag: usize| {
        let squares = (0..m)
            .filter(|&c| powers[c] > 0.0)
            .map(|c| (product(c, lag) / powers[c]).powi(2));
        squares.sum::<f64>() / m as f64
    };
    let sum: f64 = (1..=MAX_LAG.min(len / 4))
        .map(mean_square)
        .take_while(|&square| square > NEGLIGIBLE)
        .sum();
    1.0 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_tail_after_three_is_three_sources() {
        let count = of_eigenvalues(&[3.0, 1.5, 0.9, 0.011, 0.010, 0.0095], 500.0);
        assert_eq!(count.n_sources, 3);
        assert_eq!(count.lengths.len(), 6);
    }

    #[test]
    fn copies_of_channels_are_no_noise_floor() {
        let count = of_eigenvalues(&[2.0, 1.0, 0.5, 1e-14, 0.0], 500.0);
        assert_eq!(count.n_sources, 3);
    }

    #[test]
    fn one_channel_has_one_source() {
        assert_eq!(of_eigenvalues(&[1.0], 100.0).n_sources, 1);
    }
}
