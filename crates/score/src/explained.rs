//! How much of a recording a reconstruction explains.
//!
//! In: observed and reconstructed channels. Out: one share, every channel counting alike. It does
//! not know where the reconstruction came from.

use faer::MatRef;

use crate::error::{Error, Result};
use strt_signal::moments::Moments;

/// Share of the variance of the channels (T×m) that `reconstructed` explains:
///
/// ```text
/// 1 − mean over channels of  Σ_t (y − ŷ)² / Σ_t (y − ȳ)²
/// ```
///
/// At most 1, and below 0 where the channel means would do better. Rows in which either has a NaN
/// are left out, constant channels do not count.
///
/// ```
/// use strt_score::explained_variance;
/// # use faer::Mat;
/// let observed = Mat::from_fn(100, 2, |t, c| (t as f64 * [0.3, 0.07][c]).sin());
/// assert_eq!(explained_variance(observed.as_ref(), observed.as_ref())?, 1.0);
/// # Ok::<(), strt_score::Error>(())
/// ```
///
/// # Errors
/// When the shapes differ, no row is complete or all channels are constant.
pub fn explained_variance(
    observed: MatRef<'_, f64>,
    reconstructed: MatRef<'_, f64>,
) -> Result<f64> {
    if observed.shape() != reconstructed.shape() {
        return Err(Error::Reconstruction {
            expected: observed.shape(),
            found: reconstructed.shape(),
        });
    }
    let (t, m) = observed.shape();
    let complete: Vec<usize> = (0..t)
        .filter(|&t| (0..m).all(|c| !observed[(t, c)].is_nan() && !reconstructed[(t, c)].is_nan()))
        .collect();
    let share = |c: usize| {
        let moments = Moments::of(complete.iter().map(|&t| observed[(t, c)]));
        let residual: f64 = complete
            .iter()
            .map(|&t| (observed[(t, c)] - reconstructed[(t, c)]).powi(2))
            .sum();
        residual_share(residual, &moments, complete.len())
    };
    explained_share((0..m).map(share)).ok_or(Error::NothingToExplain {
        n_complete: complete.len(),
        n_channels: m,
    })
}

/// Σ_t (y − ŷ)² / Σ_t (y − ȳ)² of one channel from its first sum, its moments and the number of
/// samples in both; `None` when the channel is constant.
pub fn residual_share(residual: f64, observed: &Moments, n_samples: usize) -> Option<f64> {
    let variation = observed.deviation * observed.deviation * n_samples as f64;
    (!observed.constant).then(|| residual / variation)
}

/// Share of variance explained, from the [`residual_share`] of every channel; `None` when all
/// channels are constant.
pub fn explained_share(residual_shares: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let varying: Vec<f64> = residual_shares.flatten().collect();
    (!varying.is_empty()).then(|| 1.0 - varying.iter().sum::<f64>() / varying.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn channels_count_alike_and_gaps_do_not() {
        let mut observed = Mat::from_fn(200, 3, |t, c| match c {
            2 => 5.0,
            _ => [1.0, 1000.0][c] * (t as f64 * [0.3, 0.07][c]).sin(),
        });
        // One channel exact, one at its mean: half explained; the constant one does not count.
        let mean = observed.col(1).iter().sum::<f64>() / 200.0;
        let mut reconstructed = observed.clone();
        reconstructed.col_mut(1).fill(mean);
        let found = explained_variance(observed.as_ref(), reconstructed.as_ref()).unwrap();
        assert!((found - 0.5).abs() < 1e-12, "{found}");
        (observed[(7, 0)], reconstructed[(9, 0)]) = (f64::NAN, f64::NAN);
        let found = explained_variance(observed.as_ref(), observed.as_ref()).unwrap();
        assert_eq!(found, 1.0);
        assert!(explained_variance(observed.as_ref(), reconstructed.as_ref()).unwrap() < 0.6);
    }

    #[test]
    fn what_cannot_be_judged_is_refused() {
        let (one, two) = (Mat::zeros(5, 1), Mat::zeros(5, 2));
        assert!(explained_variance(one.as_ref(), two.as_ref()).is_err());
        assert!(explained_variance(one.as_ref(), one.as_ref()).is_err());
        let gone = Mat::full(5, 1, f64::NAN);
        assert!(explained_variance(gone.as_ref(), one.as_ref()).is_err());
    }
}
