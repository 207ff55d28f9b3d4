//! Recurrences: Hénon and logistic map, threshold autoregression, GARCH.
//!
//! In: a number of samples and a random stream. Out: raw samples of one run, every iterate.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::settled;

/// x′ = 1 − 1.4x² + y, y′ = 0.3x; x. M. Hénon, *A two-dimensional mapping with a strange
/// attractor* (1976).
pub(crate) fn henon(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    // Around the origin every point is drawn to the attractor.
    let mut state = [0.0; 2].map(|_| rng.random_range(-0.1..0.1));
    settled(n_samples, rng, |_| {
        let [x, y] = state;
        state = [1.0 - 1.4 * x * x + y, 0.3 * x];
        state[0]
    })
}

/// x′ = 4x(1 − x), whose samples are uncorrelated.
///
/// In rounded numbers a run can fall onto 0, which in exact ones has probability 0; it begins anew
/// then.
pub(crate) fn logistic(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut value = rng.random_range(0.1..0.9);
    settled(n_samples, rng, |rng| {
        value = 4.0 * value * (1.0 - value);
        if !(value > 0.0 && value < 1.0) {
            value = rng.random_range(0.1..0.9);
        }
        value
    })
}

/// x_t = 0.3 + 0.9x_{t−1} + 0.2ε_t where x_{t−1} ≤ 1 and −x_{t−1} + 0.2ε_t above: it climbs slowly
/// and falls at once. H. Tong, *Non-linear time series* (1990).
pub(crate) fn threshold_autoregressive(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut value = 0.0;
    settled(n_samples, rng, |rng| {
        let innovation: f64 = StandardNormal.sample(rng);
        let expected = if value <= 1.0 {
            0.3 + 0.9 * value
        } else {
            -value
        };
        value = expected + 0.2 * innovation;
        value
    })
}

/// x_t = σ_t·ε_t with σ_t² = 0.05 + 0.3x_{t−1}² + 0.65σ_{t−1}²: uncorrelated, loud after loud.
/// T. Bollerslev, *Generalized autoregressive conditional heteroskedasticity* (1986).
pub(crate) fn garch(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    // The stationary variance is 0.05/(1 − 0.3 − 0.65) = 1.
    let (mut value, mut variance) = (0.0, 1.0);
    settled(n_samples, rng, |rng| {
        variance = 0.05 + 0.3 * value * value + 0.65 * variance;
        let innovation: f64 = StandardNormal.sample(rng);
        value = f64::sqrt(variance) * innovation;
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn run(map: fn(usize, &mut ChaCha8Rng) -> Vec<f64>) -> Vec<f64> {
        map(5000, &mut ChaCha8Rng::seed_from_u64(3))
    }

    #[test]
    fn maps_are_reproduced_by_their_series() {
        let series = run(logistic);
        for pair in series.windows(2) {
            assert!((pair[1] - 4.0 * pair[0] * (1.0 - pair[0])).abs() < 1e-12);
        }
        // The invariant density is 1/(π√(x(1−x))): mean ½, variance ⅛.
        let mean = series.iter().sum::<f64>() / 5000.0;
        let variance = series.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 5000.0;
        assert!((mean - 0.5).abs() < 0.02 && (variance - 0.125).abs() < 0.005);
        for triple in run(henon).windows(3) {
            let expected = 1.0 - 1.4 * triple[1] * triple[1] + 0.3 * triple[0];
            assert!((triple[2] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn chaos_parts_neighbours() {
        // ln 2 a step: a difference of 1e-12 has grown to order 1 after forty.
        let (mut a, mut b) = (0.3, 0.3 + 1e-12);
        for _ in 0..60 {
            (a, b) = (4.0 * a * (1.0 - a), 4.0 * b * (1.0 - b));
        }
        assert!(f64::abs(a - b) > 1e-3);
    }

    #[test]
    fn residuals_are_the_innovations() {
        let series = run(threshold_autoregressive);
        let residuals: Vec<f64> = series
            .windows(2)
            .map(|pair| {
                pair[1]
                    - if pair[0] <= 1.0 {
                        0.3 + 0.9 * pair[0]
                    } else {
                        -pair[0]
                    }
            })
            .collect();
        let variance = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
        assert!((variance / 0.04 - 1.0).abs() < 0.08, "{variance}");
        let share_above = series.iter().filter(|&&x| x > 1.0).count() as f64 / 5000.0;
        assert!((0.05..0.5).contains(&share_above), "{share_above}");
        let volatile = run(garch);
        let product = |lag: usize, f: fn(f64) -> f64| {
            volatile
                .iter()
                .zip(&volatile[lag..])
                .map(|(a, b)| f(*a) * f(*b))
                .sum::<f64>()
                / (volatile.len() - lag) as f64
        };
        assert!(product(1, f64::signum).abs() < 0.05);
        assert!(product(1, |x| x.abs().min(3.0)) > 1.1 * product(500, |x| x.abs().min(3.0)));
    }
}
