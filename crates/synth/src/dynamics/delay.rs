//! The Mackey–Glass equation, a differential equation with a delay.
//!
//! In: a number of samples and a random stream. Out: raw samples of one run. M. C. Mackey and L.
//! Glass, *Oscillation and chaos in physiological control systems* (1977):
//! ẋ = 0.2·x(t − 30)/(1 + x(t − 30)¹⁰) − 0.1·x, sampled every 3.
//!
//! Of the two usual delays this is the one with strong chaos. With 17, runs nearly keep their
//! phases: two of 2000 samples have correlations of up to ±0.6 without a common cause, and sources
//! that correlate so much are another question.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::settled;

const STEP: f64 = 0.1;
/// 30 time units of delay, in steps.
const DELAY: usize = 300;
/// 3 time units, in steps.
const STEPS_PER_SAMPLE: usize = 30;

/// One run.
pub(crate) fn mackey_glass(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut equation = MackeyGlass::new(rng.random_range(0.5..1.3));
    settled(n_samples, rng, |_| {
        for _ in 0..STEPS_PER_SAMPLE {
            equation.step();
        }
        equation.value
    })
}

/// The state: the present value, and values with slopes at the last [`DELAY`] steps.
struct MackeyGlass {
    value: f64,
    /// Ring buffer; `oldest` is at t − 30.
    past: [(f64, f64); DELAY],
    oldest: usize,
}

impl MackeyGlass {
    /// At rest at `value` until now.
    fn new(value: f64) -> Self {
        Self {
            value,
            past: [(value, 0.0); DELAY],
            oldest: 0,
        }
    }

    /// A Runge–Kutta step of fourth order. It needs the delayed value at both ends of the step and
    /// in its middle, where it is interpolated by a cubic through values and slopes (Hermite).
    fn step(&mut self) {
        let next = (self.oldest + 1) % DELAY;
        let ((begin, slope_begin), (end, slope_end)) = (self.past[self.oldest], self.past[next]);
        let middle = 0.5 * (begin + end) + STEP / 8.0 * (slope_begin - slope_end);
        let x = self.value;
        let k1 = slope(x, begin);
        let k2 = slope(x + 0.5 * STEP * k1, middle);
        let k3 = slope(x + 0.5 * STEP * k2, middle);
        let k4 = slope(x + STEP * k3, end);
        self.past[self.oldest] = (x, k1);
        self.oldest = next;
        self.value = x + STEP / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    }
}

fn slope(x: f64, delayed: f64) -> f64 {
    let square = delayed * delayed;
    let fourth = square * square;
    let tenth = fourth * fourth * square;
    0.2 * delayed / (1.0 + tenth) - 0.1 * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_is_seventeen_and_the_first_interval_is_exact() {
        // While the delayed value is constant the equation is linear: x → c + (x₀ − c)·exp(−t/10).
        let start = 0.8;
        let mut equation = MackeyGlass::new(start);
        let rest = slope(0.0, start) / 0.1;
        for step in 1..=2 * DELAY {
            equation.step();
            let time = step as f64 * STEP;
            let expected = rest + (start - rest) * libm::exp(-time / 10.0);
            let error = (equation.value - expected).abs();
            // At the end of the interval the slope of the past has its first jump.
            if step < DELAY {
                assert!(error < 1e-9, "t = {time}: {error}");
            }
            if step == 2 * DELAY {
                assert!(
                    error > 0.05,
                    "what was {time} ago has had no effect: {error}"
                );
            }
        }
    }
}
