//! What is not Gaussian in the values of a source whose variance changes, once that is divided out.
//!
//! ```text
//! x_t = s_t/σ_b   (σ_b the deviation of the block b of t)        J = ½ ln 2πe − mean −ln p(x_t)
//! ```
//!
//! p is a [`Density`]. The energy of the variances is the likelihood of samples that are Gaussian
//! within a block; less J it is that of samples of this density, so that the map of a bent source
//! is not chosen to make it Gaussian there when it is not. It is the counterpart of
//! [`super::Innovations`] for sources that variances tell apart and not spectra.
//!
//! In: samples of a source. Out: J, and its gradient in them.

use super::density::{Density, GAUSSIAN};
use super::form::BLOCK;
use std::ops::Range;

/// Of a block so many samples must be there: the deviation of fewer says nothing.
const LEAST: usize = 12;
/// What values may be distributed like. Tails lighter than those of a Gaussian are not asked: they
/// are what a sensor that saturates makes of a Gaussian source.
const HEAVY: [Density; 2] = [Density::Peaked, Density::Heavy];

/// The values of one source, with the memory that they need.
#[derive(Clone, Debug, Default)]
pub struct Values {
    at: Vec<u32>,       // which samples are judged
    x: Vec<f64>,        // those, of mean square 1 in every block
    blocks: Vec<Block>, // those that are judged
}

#[derive(Clone, Debug)]
struct Block {
    own: Range<usize>, // of `at` and `x`
    deviation: f64,
}

impl Values {
    /// For stretches of at most `n_samples`.
    pub fn new(n_samples: usize) -> Values {
        Values {
            at: Vec::with_capacity(n_samples),
            x: Vec::with_capacity(n_samples),
            blocks: Vec::with_capacity(n_samples / BLOCK + 1),
        }
    }

    /// Takes consecutive samples; `is_there` says of each whether it is.
    pub fn read(&mut self, samples: &[f64], is_there: impl Fn(usize) -> bool) {
        self.at.clear();
        self.x.clear();
        self.blocks.clear();
        for first in (0..samples.len()).step_by(BLOCK) {
            let before = self.x.len();
            for t in first..samples.len().min(first + BLOCK) {
                if is_there(t) {
                    self.at.push(t as u32);
                    self.x.push(samples[t]);
                }
            }
            let own = before..self.x.len();
            let square: f64 = self.x[own.clone()].iter().map(|x| x * x).sum();
            let deviation = (square / own.len() as f64).sqrt();
            if own.len() >= LEAST && deviation > 0.0 {
                let scale = 1.0 / deviation;
                self.x[own.clone()].iter_mut().for_each(|x| *x *= scale);
                self.blocks.push(Block { own, deviation });
            } else {
                self.at.truncate(before);
                self.x.truncate(before);
            }
        }
    }

    /// J of a density.
    fn negentropy(&self, density: Density) -> f64 {
        let sum: f64 = self.x.iter().map(|&x| density.at(x).nats).sum();
        GAUSSIAN - sum / self.x.len() as f64
    }

    /// The density with heavy tails that describes the values best, and its J; `None` where there
    /// are none.
    pub fn best(&self) -> Option<(Density, f64)> {
        let found = HEAVY.into_iter().filter(|_| !self.x.is_empty());
        found
            .map(|density| (density, self.negentropy(density)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// J of a density, and its gradient in the samples that were read, times `factor`, added to
    /// `d_samples`. The deviation of a block follows its samples: their scale has no effect.
    pub fn evaluate(&self, density: Density, factor: f64, d_samples: &mut [f64]) -> f64 {
        let n = self.x.len() as f64;
        let mut nats = 0.0;
        for Block { own, deviation } in &self.blocks {
            let x = &self.x[own.clone()];
            let mut along = 0.0;
            for &x in x {
                let at = density.at(x);
                nats += at.nats;
                along += at.score * x;
            }
            let along = along / own.len() as f64;
            let scale = -factor / (n * deviation);
            for (&t, &x) in self.at[own.clone()].iter().zip(x) {
                d_samples[t as usize] += scale * (density.at(x).score - along * x);
            }
        }
        GAUSSIAN - nats / n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Laplace's density, uniform values or nearly Gaussian ones, of a scale that changes.
    fn samples(n: usize, kind: &str) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut uniform = move || rng.random_range(-1.0..1.0);
        let value = |t: usize| {
            let scale = 1.0 + 0.9 * (t as f64 / 90.0).sin();
            let u: f64 = uniform();
            scale
                * match kind {
                    "laplace" => -(1.0 - u.abs()).ln() * u.signum(),
                    "uniform" => u,
                    _ => u + (1..12).map(|_| uniform()).sum::<f64>(),
                }
        };
        (0..n).map(value).collect()
    }

    fn read(samples: &[f64]) -> Values {
        let mut values = Values::new(samples.len());
        values.read(samples, |_| true);
        values
    }

    #[test]
    fn heavy_tails_are_found_under_a_scale_that_changes() {
        let (density, nats) = read(&samples(4000, "laplace")).best().unwrap();
        assert_eq!(density, Density::Heavy);
        assert!(nats > 0.05 && nats < 0.1, "{nats}");
        // The sum of twelve is as good as Gaussian, though all of them together have heavy tails.
        for kind in ["uniform", "sums"] {
            let (_, nats) = read(&samples(4000, kind)).best().unwrap();
            assert!(nats < 0.0, "{kind}: {nats}");
        }
    }

    #[test]
    fn gradient_is_that_of_finite_differences() {
        let n = 2 * BLOCK + 5; // the last block has too few samples
        let is_there = |t: usize| t != 7 && !(60..70).contains(&t);
        let s = samples(n, "laplace");
        let mut values = Values::new(n);
        values.read(&s, is_there);
        assert_eq!(values.x.len(), 2 * BLOCK - 11);
        for density in Density::ALL {
            values.read(&s, is_there);
            let mut d = vec![0.0; n];
            let value = values.evaluate(density, 3.0, &mut d);
            assert!((value - values.negentropy(density)).abs() < 1e-12);
            for t in 0..n {
                let mut at = |step: f64| {
                    let mut s = s.clone();
                    s[t] += step;
                    values.read(&s, is_there);
                    3.0 * values.negentropy(density)
                };
                let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
                let off = (numeric - d[t]).abs();
                assert!(off < 1e-7 * (1.0 + d[t].abs()), "{density:?} at {t}: {off}");
            }
        }
    }

    #[test]
    fn nothing_is_said_of_samples_that_are_not_there() {
        let mut values = Values::new(100);
        values.read(&[1.0; 100], |_| false);
        assert_eq!(values.best(), None);
        values.read(&[0.0; 100], |_| true);
        assert_eq!(values.best(), None);
    }
}
