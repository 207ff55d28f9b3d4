//! Correlation time of one source: the time scale by which branches are ordered.
//!
//! In: one column of samples, and its pieces. Out: a lag in samples. It fits no model and knows
//! nothing of branches; training and evaluation both call it, so that both mean the same by "fast"
//! and "slow".

use crate::moments::Moments;
use crate::pieces::Pieces;

/// The autocorrelation below which a source counts as having forgotten its past.
const THRESHOLD: f64 = 0.5;

/// First lag h ≥ 1 at which the autocorrelation of `source` is below ½, or its length T when there
/// is none.
///
/// The autocorrelation is the usual estimate with mean μ and variance σ² over the whole record,
///
/// ```text
/// r(h) = (T − h)/T · mean over pairs of (s_t − μ)(s_{t+h} − μ) / σ²
/// ```
///
/// where the mean runs over the pairs (t, t + h) of which neither sample is missing (NaN), so that
/// gaps do not lower r. A constant or empty source never decorrelates: the answer is T. The work is
/// O(T·h): the search stops at the first such lag.
pub fn correlation_time(source: &[f64]) -> usize {
    correlation_time_in(source, &Pieces::whole(source.len()))
}

/// [`correlation_time`] of a source in pieces: pairs are taken within each. Where the
/// autocorrelation is above ½ at every lag that the pieces have, the answer is T.
///
/// # Panics
/// When the pieces are those of another number of samples.
pub fn correlation_time_in(source: &[f64], pieces: &Pieces) -> usize {
    let n_samples = source.len();
    assert_eq!(pieces.n_samples(), n_samples, "pieces of another source");
    let moments = Moments::of(source.iter().copied());
    if moments.constant {
        return n_samples;
    }
    let standardized: Vec<f64> = source
        .iter()
        .map(|&value| moments.standardize(value))
        .collect();
    let complete = !standardized.iter().any(|value| value.is_nan());
    for lag in 1..pieces.longest() {
        let (mut sum, mut n_pairs) = (0.0, 0);
        for piece in pieces.ranges().filter(|piece| piece.len() > lag) {
            let samples = &standardized[piece];
            let products = samples
                .iter()
                .zip(&samples[lag..])
                .map(|(s, late)| s * late);
            if complete {
                sum += products.sum::<f64>();
                n_pairs += samples.len() - lag;
            } else {
                let there = products.filter(|product| !product.is_nan());
                let add = |(sum, count), product: f64| (sum + product, count + 1);
                (sum, n_pairs) = there.fold((sum, n_pairs), add);
            }
        }
        // A lag without pairs says nothing.
        if n_pairs == 0 {
            continue;
        }
        let share = (n_samples - lag) as f64 / n_samples as f64;
        if share * sum / (n_pairs as f64) < THRESHOLD {
            return lag;
        }
    }
    n_samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_crosses_one_half_after_a_sixth_of_its_period() {
        // cos(2πh/62) is ½ at h = 62/6 = 10.33, so 11 is the first whole lag below it.
        let source: Vec<f64> = (0..6200)
            .map(|t| (t as f64 * std::f64::consts::TAU / 62.0).sin())
            .collect();
        assert_eq!(correlation_time(&source), 11);
    }

    #[test]
    fn alternation_and_constants_are_the_extremes() {
        let alternating: Vec<f64> = (0..50)
            .map(|t| if t % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        assert_eq!(correlation_time(&alternating), 1);
        assert_eq!(correlation_time(&[3.0; 17]), 17);
        assert_eq!(correlation_time(&[]), 0);
        assert_eq!(correlation_time(&[f64::NAN; 4]), 4);
    }

    #[test]
    fn missing_samples_are_left_out_pair_by_pair() {
        let full: Vec<f64> = (0..6000)
            .map(|t| (t as f64 * std::f64::consts::TAU / 64.0).sin())
            .collect();
        let mut gappy = full.clone();
        for t in (0..6000).filter(|t| t % 7 == 3 || (1000..1500).contains(t)) {
            gappy[t] = f64::NAN;
        }
        assert_eq!(correlation_time(&gappy), correlation_time(&full));
    }

    #[test]
    fn pairs_of_two_pieces_are_left_out() {
        // Every piece is a stretch of a slow wave; where the next begins, the wave is turned over.
        let sign = |t: usize| {
            if (t / 40).is_multiple_of(2) {
                1.0
            } else {
                -1.0
            }
        };
        let source: Vec<f64> = (0..4000)
            .map(|t| sign(t) * (1.0 + (t % 40) as f64 / 40.0))
            .collect();
        let pieces = Pieces::new(&[40; 100], 4000).unwrap();
        assert!(correlation_time(&source) < 20);
        assert_eq!(correlation_time_in(&source, &pieces), 4000);
    }

    #[test]
    fn shift_and_scale_do_not_matter() {
        let source: Vec<f64> = (0..500)
            .map(|t| (t as f64 * 0.05).sin() + (t as f64 * 0.011).cos())
            .collect();
        let moved: Vec<f64> = source.iter().map(|value| 1e3 - 1e-3 * value).collect();
        assert_eq!(correlation_time(&moved), correlation_time(&source));
        assert!(correlation_time(&source) > 5);
    }
}
