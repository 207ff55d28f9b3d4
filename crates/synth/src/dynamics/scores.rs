//! Normal scores: values replaced by the quantiles of the normal distribution that their ranks
//! have.
//!
//! In: T values. Out: Φ⁻¹((r_t + ½)/T) with r_t from 0 the rank of value t; of equal values the
//! earlier has the lower rank. The result is Gaussian as exactly as T numbers can be.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// A step of Newton's method this small is the last.
const SETTLED: f64 = 1e-15;
/// Steps until then; about six are needed.
const MOST_STEPS: usize = 50;

/// `values` with the marginal distribution of a Gaussian.
pub(crate) fn normal_scores(values: &[f64]) -> Vec<f64> {
    remapped(values, &quantiles(values.len()))
}

/// Φ⁻¹((r + ½)/n) for r = 0 … n−1, in ascending order.
pub(super) fn quantiles(n: usize) -> Vec<f64> {
    let mut quantiles = vec![0.0; n];
    for rank in 0..n / 2 {
        let quantile = normal_quantile((rank as f64 + 0.5) / n as f64);
        // The distribution is symmetric; the middle one of an odd number is 0.
        (quantiles[rank], quantiles[n - 1 - rank]) = (quantile, -quantile);
    }
    quantiles
}

/// The values of `ascending` in the order of `values`: the lowest where that has its lowest.
pub(super) fn remapped(values: &[f64], ascending: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut remapped = vec![0.0; values.len()];
    for (rank, t) in order.into_iter().enumerate() {
        remapped[t] = ascending[rank];
    }
    remapped
}

/// The x with Φ(x) = p, for 0 < p ≤ ½.
///
/// Newton's method for ln Φ(x) = ln p. ln Φ is concave and rises, so after one step x is below the
/// solution, and from there on rises towards it.
fn normal_quantile(p: f64) -> f64 {
    let mut x = 0.0;
    for _ in 0..MOST_STEPS {
        let below = 0.5 * libm::erfc(-x * FRAC_1_SQRT_2);
        let density = libm::exp(-0.5 * x * x) / TAU.sqrt();
        let step = (libm::log(p) - libm::log(below)) * below / density;
        x += step;
        if step.abs() < SETTLED {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables_and_invert_the_distribution() {
        for (p, expected) in [
            (0.025, -1.959_963_984_540_054),
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-9, -5.997_807_015_007_687),
        ] {
            assert!((normal_quantile(p) - expected).abs() < 1e-12, "{p}");
        }
        for p in [0.5, 0.499_999, 0.1, 1e-3, 1e-6, 1e-10] {
            let found = 0.5 * libm::erfc(-normal_quantile(p) * FRAC_1_SQRT_2);
            assert!((found / p - 1.0).abs() < 1e-12, "{p}: {found}");
        }
    }

    #[test]
    fn scores_keep_the_order_and_have_the_moments_of_a_gaussian() {
        let values: Vec<f64> = (0..5001_u64).map(|t| (t * 2741 % 5001) as f64).collect();
        let scores = normal_scores(&values);
        for t in 1..scores.len() {
            assert_eq!(scores[t] > scores[t - 1], values[t] > values[t - 1]);
        }
        let moment = |power: i32| {
            scores.iter().map(|score| score.powi(power)).sum::<f64>() / scores.len() as f64
        };
        assert!(moment(1).abs() < 1e-12 && moment(3).abs() < 1e-12);
        assert!((moment(2) - 1.0).abs() < 2e-3 && (moment(4) - 3.0).abs() < 2e-2);
        assert_eq!(normal_scores(&[3.0]), [0.0]);
        assert!(normal_scores(&[2.0, 2.0])[0] < 0.0);
    }
}
