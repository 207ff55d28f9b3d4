//! Scale-invariant signal-to-distortion ratio of matched sources, in decibels.
//!
//! In: estimated sources, a [`Reference`] and their [`Matching`]. Out: one figure per estimated
//! source,
//!
//! ```text
//! SI-SDR = 10·log₁₀( ‖α·s‖² / ‖α·s − ŝ‖² )      α = ŝᵀs / sᵀs
//! ```
//!
//! after both have lost their mean: J. Le Roux, S. Wisdom, H. Erdogan and J. R. Hershey, *SDR:
//! half-baked or well done?*, ICASSP 2019. With ρ the correlation it is 10·log₁₀(ρ²/(1 − ρ²)), but
//! computed from the residual, which keeps its digits where ρ is near 1.

use faer::MatRef;

use super::matching::standardized_rows;
use super::{Matching, Reference};
use crate::error::{Error, Result};
use strt_signal::recording::missing_samples;

/// SI-SDR of every estimated source against the reference it is matched with, in dB; `None` where
/// it is unmatched.
///
/// Infinite when the estimate is exact, −∞ when it is uncorrelated with its reference or constant.
/// Rows in which an estimate is NaN are left out, as in [`match_sources`](super::match_sources).
///
/// ```
/// use strt_score::{match_sources, si_sdr, Reference};
/// # use faer::Mat;
/// # let truth = Mat::from_fn(200, 2, |t, k| (t as f64 * [0.3, 0.07][k]).sin());
/// # let estimated = Mat::from_fn(200, 2, |t, k| truth[(t, 1 - k)] + 0.01 * truth[(t, k)]);
/// let reference = Reference::new(truth)?;
/// let matching = match_sources(estimated.as_ref(), &reference)?;
/// let decibels = si_sdr(estimated.as_ref(), &reference, &matching)?;
/// assert!(decibels.iter().all(|figure| figure.is_some_and(|figure| figure > 30.0)));
/// # Ok::<(), strt_score::Error>(())
/// ```
///
/// # Errors
/// When the shapes of the estimate, the reference and the matching do not belong together.
pub fn si_sdr(
    estimated: MatRef<'_, f64>,
    reference: &Reference,
    matching: &Matching,
) -> Result<Vec<Option<f64>>> {
    let expected = (reference.n_samples(), matching.matched().len());
    if estimated.shape() != expected || matching.correlations().ncols() != reference.n_sources() {
        return Err(Error::SiSdrShape {
            expected,
            found: estimated.shape(),
        });
    }
    let missing = missing_samples(estimated);
    let kept: Vec<usize> = (0..estimated.nrows()).filter(|&t| !missing[t]).collect();
    let scored = standardized_rows(estimated, &kept);
    let truth = standardized_rows(reference.sources(), &kept);
    let pairs = matching.matched().iter().enumerate();
    Ok(pairs
        .map(|(k, matched)| {
            matched.map(|j| decibels(scored.col_as_slice(k), truth.col_as_slice(j)))
        })
        .collect())
}

/// Of columns with mean 0.
fn decibels(estimated: &[f64], truth: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let power = dot(truth, truth);
    if power == 0.0 {
        return f64::NEG_INFINITY;
    }
    let factor = dot(estimated, truth) / power;
    let residual: f64 = estimated
        .iter()
        .zip(truth)
        .map(|(estimate, truth)| (factor * truth - estimate).powi(2))
        .sum();
    let signal = factor * factor * power;
    if signal == 0.0 {
        return f64::NEG_INFINITY;
    }
    10.0 * libm::log10(signal / residual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_sources;
    use faer::Mat;

    #[test]
    fn known_distortions_have_their_decibels() {
        // Sine and cosine over whole periods are orthogonal; a tenth of the other is −20 dB.
        let wave = |t: usize, k: usize| {
            let angle = t as f64 * std::f64::consts::TAU / 50.0;
            if k == 0 { angle.sin() } else { angle.cos() }
        };
        let reference = Reference::new(Mat::from_fn(500, 2, wave)).unwrap();
        let mut estimated = Mat::from_fn(500, 2, |t, k| {
            -7.0 * (wave(t, 1 - k) + [0.1, 0.01][k] * wave(t, k)) + 3.0
        });
        let figures = |estimated: &Mat<f64>| {
            let matching = match_sources(estimated.as_ref(), &reference).unwrap();
            si_sdr(estimated.as_ref(), &reference, &matching).unwrap()
        };
        let found = figures(&estimated);
        assert!((found[0].unwrap() - 20.0).abs() < 1e-9 && (found[1].unwrap() - 40.0).abs() < 1e-9);
        // The definition by the correlation.
        let matching = match_sources(estimated.as_ref(), &reference).unwrap();
        let rho = matching.per_source()[0];
        assert!((found[0].unwrap() - 10.0 * (rho * rho / (1.0 - rho * rho)).log10()).abs() < 1e-6);
        // Missing rows do not count.
        estimated[(3, 0)] = f64::NAN;
        estimated[(3, 1)] = 1e9;
        assert!((figures(&estimated)[1].unwrap() - 40.0).abs() < 0.1);
    }

    #[test]
    fn extremes_and_unmatched_sources() {
        let truth = Mat::from_fn(8, 1, |t, _| t as f64);
        let reference = Reference::new(truth.clone()).unwrap();
        let estimated = Mat::from_fn(8, 2, |t, k| if k == 0 { 1.0 } else { t as f64 });
        let matching = match_sources(estimated.as_ref(), &reference).unwrap();
        let found = si_sdr(estimated.as_ref(), &reference, &matching).unwrap();
        assert!(found[0].is_none() && found[1].unwrap() > 250.0);
        let constant = Mat::full(8, 1, 2.0);
        let matching = match_sources(constant.as_ref(), &reference).unwrap();
        let found = si_sdr(constant.as_ref(), &reference, &matching).unwrap();
        assert_eq!(found, [Some(f64::NEG_INFINITY)]);
        assert!(si_sdr(truth.as_ref().subrows(0, 4), &reference, &matching).is_err());
    }
}
