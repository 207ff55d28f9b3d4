//! Differential equations: Lorenz, Rössler, van der Pol and a pair of coupled oscillators.
//!
//! In: a number of samples and a random stream. Out: raw samples of one run. Deterministic parts
//! are integrated by the classical Runge–Kutta method of fourth order, ten steps a sample; where an
//! oscillator is driven by white noise, its speed gets σ·√h·ε after every step h (Lie splitting).

use std::f64::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::settled;

/// Steps of integration a sample.
const STEPS: usize = 10;

/// ẋ = 10(y − x), ẏ = x(28 − z) − y, ż = xy − (8/3)z, sampled every 0.05; variable 0 is x, 2 is z.
/// E. N. Lorenz, *Deterministic nonperiodic flow* (1963).
pub(crate) fn lorenz(n_samples: usize, variable: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let slope = |[x, y, z]: [f64; 3]| [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z];
    let mut state = [0.0; 3].map(|_| rng.random_range(-10.0..10.0));
    // Above the plane z = 0, where the attractor is.
    state[2] += 25.0;
    settled(n_samples, rng, |_| {
        for _ in 0..STEPS {
            state = runge_kutta(state, 0.05 / STEPS as f64, slope);
        }
        state[variable]
    })
}

/// ẋ = −y − z, ẏ = x + 0.3y, ż = 0.2 + z(x − 5.7), sampled every 0.3; x.
/// O. E. Rössler, *An equation for continuous chaos* (1976), there with 0.2y.
///
/// With 0.2 every run circles the origin at the same pace for ever: two runs are as correlated as
/// two sines of one frequency (±0.8 over 2000 samples), and so they are not independent sources to
/// anybody who sees a recording of finite length. With 0.3 the attractor is a funnel, and phases
/// diffuse.
pub(crate) fn rossler(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let slope = |[x, y, z]: [f64; 3]| [-y - z, x + 0.3 * y, 0.2 + z * (x - 5.7)];
    let (angle, radius) = (rng.random_range(0.0..TAU), rng.random_range(2.0..6.0));
    let mut state = [radius * libm::cos(angle), radius * libm::sin(angle), 0.0];
    settled(n_samples, rng, |_| {
        for _ in 0..STEPS {
            state = runge_kutta(state, 0.3 / STEPS as f64, slope);
        }
        state[0]
    })
}

/// ẍ = 2(1 − x²)ẋ − x + ξ with white noise ξ of intensity 1, sampled every 0.4; x.
///
/// Without noise every run would be the same periodic function of time.
pub(crate) fn van_der_pol(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    const STEP: f64 = 0.4 / STEPS as f64;
    let slope = |[x, v]: [f64; 2]| [v, 2.0 * (1.0 - x * x) * v - x];
    let mut state = [0.0; 2].map(|_| rng.random_range(-2.0..2.0));
    settled(n_samples, rng, |rng| {
        for _ in 0..STEPS {
            state = runge_kutta(state, STEP, slope);
            let noise: f64 = StandardNormal.sample(rng);
            state[1] += STEP.sqrt() * noise;
        }
        state[0]
    })
}

/// ẍ₁ = (1 − x₁²)ẋ₁ − x₁ + ½(x₂ − x₁) + 0.7ξ₁ and ẍ₂ = (1 − x₂²)ẋ₂ − 5x₂ + ½(x₁ − x₂) + 0.7ξ₂, with
/// white noises ξ of intensity 1, sampled every 0.3; x₁ + x₂.
pub(crate) fn coupled(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    const STEP: f64 = 0.3 / STEPS as f64;
    let slope = |[x1, v1, x2, v2]: [f64; 4]| {
        let pull = 0.5 * (x2 - x1);
        [
            v1,
            (1.0 - x1 * x1) * v1 - x1 + pull,
            v2,
            (1.0 - x2 * x2) * v2 - 5.0 * x2 - pull,
        ]
    };
    let mut state = [0.0; 4].map(|_| rng.random_range(-2.0..2.0));
    settled(n_samples, rng, |rng| {
        for _ in 0..STEPS {
            state = runge_kutta(state, STEP, slope);
            for speed in [1, 3] {
                let noise: f64 = StandardNormal.sample(rng);
                state[speed] += 0.7 * STEP.sqrt() * noise;
            }
        }
        state[0] + state[2]
    })
}

/// One step of the classical Runge–Kutta method for dy/dt = slope(y).
pub(super) fn runge_kutta<const N: usize>(
    y: [f64; N],
    step: f64,
    slope: impl Fn([f64; N]) -> [f64; N],
) -> [f64; N] {
    let moved = |k: [f64; N], share: f64| std::array::from_fn(|i| y[i] + share * step * k[i]);
    let k1 = slope(y);
    let k2 = slope(moved(k1, 0.5));
    let k3 = slope(moved(k2, 0.5));
    let k4 = slope(moved(k3, 1.0));
    std::array::from_fn(|i| y[i] + step / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_of_fourth_order() {
        // ẍ = −x has the solution cos t; a tenth of the step has a ten-thousandth of the error.
        let error = |n_steps: usize| {
            let step = 1.0 / n_steps as f64;
            let slope = |[x, v]: [f64; 2]| [v, -x];
            let end = (0..n_steps).fold([1.0, 0.0], |y, _| runge_kutta(y, step, slope));
            (end[0] - libm::cos(1.0)).abs()
        };
        let ratio = error(4) / error(40);
        assert!((8e3..1.25e4).contains(&ratio), "{ratio}");
    }
}
