//! Temporal predictability of one source: how much of it its own past explains. No true source is
//! needed.
//!
//! In: one column of samples. Out: R² = 1 − σ²_e/σ², the share of variance that a linear prediction
//! from the last `order` samples explains: 0 for white noise, near 1 for smooth or periodic
//! sources. The prediction error comes from the autocovariances by Levinson's recursion (N.
//! Levinson, 1947; J. Durbin, 1960), so that missing samples are left out pair by pair, as in
//! [`correlation_time`](strt_signal::correlation_time::correlation_time).

use crate::error::{Error, Result};
use strt_signal::moments::Moments;

/// Samples of the past that suit most recordings.
pub const DEFAULT_ORDER: usize = 10;

/// R² of the best linear prediction of every sample from the `order` before it.
///
/// ```
/// use strt_score::{DEFAULT_ORDER, temporal_predictability};
/// let wave: Vec<f64> = (0..1000).map(|t| (t as f64 * 0.1).sin()).collect();
/// assert!(temporal_predictability(&wave, DEFAULT_ORDER)? > 0.99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the source is constant or infinite, the order is 0, or there are no more complete samples
/// than twice the order.
pub fn temporal_predictability(source: &[f64], order: usize) -> Result<f64> {
    let n_complete = source.iter().filter(|value| !value.is_nan()).count();
    let moments = Moments::of(source.iter().copied());
    if order == 0 || n_complete <= order.saturating_mul(2) {
        return Err(Error::PredictionOrder { order, n_complete });
    }
    if moments.constant || !moments.deviation.is_finite() {
        return Err(Error::Unpredictable);
    }
    let standardized: Vec<f64> = source
        .iter()
        .map(|&value| moments.standardize(value))
        .collect();
    let autocorrelation: Vec<f64> = (0..=order)
        .map(|lag| lagged_product(&standardized, lag))
        .collect();
    Ok((1.0 - prediction_error(&autocorrelation)).clamp(0.0, 1.0))
}

/// (T − h)/T · mean over the pairs (t, t + h) of which neither is missing; the factor keeps the
/// sequence positive definite where nothing is missing.
fn lagged_product(values: &[f64], lag: usize) -> f64 {
    let pairs = values
        .iter()
        .zip(&values[lag..])
        .map(|(early, late)| early * late);
    let (sum, count) = pairs
        .filter(|product| !product.is_nan())
        .fold((0.0, 0usize), |(sum, count), product| {
            (sum + product, count + 1)
        });
    let share = (values.len() - lag) as f64 / values.len() as f64;
    share * sum / count.max(1) as f64
}

/// σ²_e of the best prediction, by Levinson's recursion; r(0) = 1.
fn prediction_error(autocorrelation: &[f64]) -> f64 {
    let mut error = autocorrelation[0];
    let mut weights: Vec<f64> = Vec::new();
    for m in 1..autocorrelation.len() {
        let predicted: f64 = weights
            .iter()
            .enumerate()
            .map(|(i, w)| w * autocorrelation[m - 1 - i])
            .sum();
        let reflection = (autocorrelation[m] - predicted) / error;
        // Gaps can make the sequence indefinite; what is predicted completely needs no more past.
        if reflection.abs() >= 1.0 {
            return 0.0;
        }
        let before = weights.clone();
        for (i, weight) in weights.iter_mut().enumerate() {
            *weight -= reflection * before[m - 2 - i];
        }
        weights.push(reflection);
        error *= 1.0 - reflection * reflection;
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_synth::{ProblemSpec, SourceKind};

    #[test]
    fn an_autoregressive_process_is_as_predictable_as_its_pole_says() {
        let sources = ProblemSpec {
            kind: SourceKind::Ar,
            n_samples: 50_000,
            ..ProblemSpec::default()
        }
        .generate()
        .unwrap()
        .sources;
        for (k, pole) in [0.5f64, 0.85, 0.98].into_iter().enumerate() {
            // x_t = pole·x_{t−1} + e explains pole² of the variance.
            let found = temporal_predictability(sources.col_as_slice(k), 5).unwrap();
            assert!((found - pole * pole).abs() < 0.02, "{pole}: {found}");
            let mut gappy = sources.col_as_slice(k).to_vec();
            gappy
                .iter_mut()
                .step_by(7)
                .for_each(|value| *value = f64::NAN);
            let found = temporal_predictability(&gappy, 5).unwrap();
            assert!(
                (found - pole * pole).abs() < 0.03,
                "{pole} with gaps: {found}"
            );
        }
    }

    #[test]
    fn the_recursion_solves_the_normal_equations() {
        // AR(2): r(1) = a/(1 − b), r(2) = a·r(1) + b, and σ²_e/σ² = 1 − a·r(1) − b·r(2).
        let (a, b) = (1.2, -0.7);
        let first = a / (1.0 - b);
        let second = a * first + b;
        let third = a * second + b * first;
        let expected = 1.0 - a * first - b * second;
        assert!((prediction_error(&[1.0, first, second]) - expected).abs() < 1e-14);
        assert!((prediction_error(&[1.0, first, second, third]) - expected).abs() < 1e-14);
        assert_eq!(prediction_error(&[1.0, 0.0, 0.0]), 1.0);
        assert_eq!(prediction_error(&[1.0, 1.0]), 0.0);
    }

    #[test]
    fn noise_is_not_predictable_and_waves_are() {
        let noise = ProblemSpec {
            kind: SourceKind::SegmentLaplace,
            n_samples: 5000,
            ..ProblemSpec::default()
        }
        .generate()
        .unwrap()
        .sources;
        assert!(temporal_predictability(noise.col_as_slice(0), DEFAULT_ORDER).unwrap() < 0.02);
        let wave: Vec<f64> = (0..5000).map(|t| (t as f64 * 0.3).sin()).collect();
        assert!(temporal_predictability(&wave, DEFAULT_ORDER).unwrap() > 0.99);
        for (source, order) in [(&wave[..20], 10), (&wave[..], 0), (&[1.0; 50][..], 2)] {
            assert!(temporal_predictability(source, order).is_err());
        }
    }
}
