//! How many sources a recording seems to have, from the eigenvalues of its channel covariance.
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

use super::observations::Observations;
use super::{ChannelScaling, ChannelScalingOptions, DEFAULT_RANK_TOLERANCE, Whitening};
use crate::{Recording, Result};

/// Lags over which autocorrelations are summed at most, and samples from which they are estimated.
const MAX_LAG: usize = 1000;
const JUDGED: usize = 1 << 16;
/// The sum ends where the mean squared autocorrelation falls below this.
const NEGLIGIBLE: f64 = 0.01;

/// An estimated number of sources with what it was based on.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceCount {
    /// The estimate, at least 1.
    pub n_sources: usize,
    /// Eigenvalues of the covariance of the scaled channels, descending (m).
    pub eigenvalues: Vec<f64>,
    /// MDL(k) for k = 0 … m − 1, smallest at the estimate.
    pub description_length: Vec<f64>,
    /// N, the effective number of samples.
    pub effective_samples: f64,
    /// Number of complete samples.
    pub n_complete: usize,
    /// Share of the variance that the estimated number of components carries.
    pub explained: f64,
}

impl SourceCount {
    /// Estimates the number of sources of a recording whose channels are centred and scaled as
    /// `options` says.
    ///
    /// # Errors
    /// When the channels cannot be scaled or have no covariance.
    pub fn estimate(recording: &Recording, options: ChannelScalingOptions) -> Result<SourceCount> {
        let scaling = ChannelScaling::fit(recording.observations(), options)?;
        let observations = Observations::new(recording, &scaling);
        let complete = vec![false; recording.n_samples()];
        let missing = recording.missing().unwrap_or(&complete);
        let whitening = Whitening::fit_values(
            &observations,
            missing,
            1,
            recording.channel_names(),
            DEFAULT_RANK_TOLERANCE,
        )?;
        let n_complete = missing.iter().filter(|&&gone| !gone).count();
        let effective_samples = n_complete as f64 / dependence(&observations);
        Ok(SourceCount::from_eigenvalues(
            whitening.eigenvalues().to_vec(),
            effective_samples.max(2.0),
            n_complete,
        ))
    }

    fn from_eigenvalues(
        eigenvalues: Vec<f64>,
        effective_samples: f64,
        n_complete: usize,
    ) -> SourceCount {
        let m = eigenvalues.len();
        // Directions without any variance are copies or constants, not a noise floor of 0.
        let rank = eigenvalues
            .iter()
            .filter(|&&value| value > DEFAULT_RANK_TOLERANCE * eigenvalues[0])
            .count();
        let description_length: Vec<f64> = (0..rank)
            .map(|k| {
                let tail = &eigenvalues[k..rank];
                let n = tail.len() as f64;
                let geometric = tail.iter().map(|value| value.ln()).sum::<f64>() / n;
                let arithmetic = (tail.iter().sum::<f64>() / n).ln();
                let parameters = 0.5 * (k * (2 * rank - k)) as f64;
                effective_samples * n * (arithmetic - geometric)
                    + parameters * effective_samples.ln()
            })
            .collect();
        let least =
            (0..rank).min_by(|&a, &b| description_length[a].total_cmp(&description_length[b]));
        // Eigenvalues that drop to nothing leave no noise: then every direction that is there is a
        // source.
        let n_sources = if rank < m {
            rank
        } else {
            least.unwrap_or(1).max(1)
        };
        let explained =
            eigenvalues[..n_sources].iter().sum::<f64>() / eigenvalues.iter().sum::<f64>();
        SourceCount {
            n_sources,
            eigenvalues,
            description_length,
            effective_samples,
            n_complete,
            explained,
        }
    }
}

/// 1 + 2 Σ_h r̄(h)²: how many samples are worth one independent one.
fn dependence(observations: &Observations) -> f64 {
    let (n, m) = (observations.rows().n_samples(), observations.n_channels());
    let len = JUDGED.min(n);
    let first = (n - len) / 2;
    let mut channel = vec![0.0; len];
    let mut weights = vec![0.0; m];
    let mut squares = vec![0.0; MAX_LAG.min(len / 4)];
    for c in 0..m {
        weights.fill(0.0);
        weights[c] = 1.0;
        observations.combine(first, &weights, 0.0, &mut channel);
        let power: f64 = channel.iter().map(|y| y * y).sum();
        if power == 0.0 {
            continue;
        }
        for (i, square) in squares.iter_mut().enumerate() {
            let product: f64 = channel
                .iter()
                .zip(&channel[i + 1..])
                .map(|(a, b)| a * b)
                .sum();
            *square += (product / power).powi(2) / m as f64;
        }
    }
    let sum: f64 = squares
        .iter()
        .take_while(|&&square| square > NEGLIGIBLE)
        .sum();
    1.0 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_synth::{MixingKind, ProblemSpec, SourceKind};

    #[test]
    fn a_flat_tail_after_three_is_three_sources() {
        let count =
            SourceCount::from_eigenvalues(vec![3.0, 1.5, 0.9, 0.011, 0.010, 0.0095], 500.0, 500);
        assert_eq!(count.n_sources, 3);
        assert_eq!(count.description_length.len(), 6);
        assert!(count.explained > 0.99);
    }

    #[test]
    fn copies_of_channels_are_no_noise_floor() {
        let count = SourceCount::from_eigenvalues(vec![2.0, 1.0, 0.5, 1e-14, 0.0], 500.0, 500);
        assert_eq!(count.n_sources, 3);
    }

    #[test]
    fn one_channel_has_one_source() {
        assert_eq!(
            SourceCount::from_eigenvalues(vec![1.0], 100.0, 100).n_sources,
            1
        );
    }

    #[test]
    fn known_numbers_of_sources_are_found() {
        let kinds = [
            SourceKind::Gp,
            SourceKind::Sines,
            SourceKind::Ar,
            SourceKind::NonSmooth,
        ];
        let mut wrong = Vec::new();
        for kind in kinds {
            for (n_sources, n_channels) in [(2, 5), (3, 6), (3, 12)] {
                for noise in [0.02, 0.1] {
                    for seed in 0..5 {
                        let spec = ProblemSpec {
                            kind,
                            mixing: MixingKind::Linear,
                            n_samples: 1000,
                            n_sources,
                            n_channels,
                            noise,
                            seed,
                        };
                        let problem = spec.generate().unwrap();
                        let recording = Recording::from_mat(problem.observations).unwrap();
                        let found =
                            SourceCount::estimate(&recording, ChannelScalingOptions::default())
                                .unwrap();
                        if found.n_sources != n_sources {
                            wrong.push((kind, n_sources, n_channels, noise, seed, found.n_sources));
                        }
                    }
                }
            }
        }
        assert!(wrong.len() <= 6, "{} of 120 wrong: {wrong:?}", wrong.len());
    }
}
