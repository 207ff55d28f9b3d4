//! Stationary sources under white noise, on a circle of n samples.
//!
//! In: covariances of the sources and the K×K covariance N of the noise in them. Out: [`Circle`],
//! which applies (P(f) + N)⁻¹ and P(f)(P(f) + N)⁻¹ to K columns, frequency by frequency. On a
//! circle these are the exact inverse covariance of noisy sources and their exact Wiener filter;
//! the circle is made larger than what lies on it, so that its ends do not see each other.

use super::spectrum::Covariances;
use crate::linalg::cholesky::{factor_in_place, solve_in_place};
use faer::{Mat, MatRef};
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// Least power of a source, as a share of its variance: a spectrum that is estimated as 0 is not
/// known to be.
const LEAST_POWER: f64 = 1e-9;
/// Noise in every source beyond that of the channels, as a share of its variance. It bounds the
/// condition of what is solved for; recordings without noise have it alone.
pub(super) const LEAST_NOISE: f64 = 1e-8;

/// The model on n samples.
pub(super) struct Circle {
    n: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    backward: Arc<dyn ComplexToReal<f64>>,
    /// P_k(f), source by source.
    power: Vec<Vec<f64>>,
    /// (P(f) + N)⁻¹, K×K row-major, frequency by frequency.
    precision: Vec<f64>,
    /// Diagonal of N.
    noise: Vec<f64>,
}

/// Buffers of one user of a circle.
pub(super) struct Work {
    spectra: Vec<Vec<Complex<f64>>>,
    scratch: Vec<Complex<f64>>,
    row: Vec<Complex<f64>>,
}

/// A length from `n` on whose transform is fast: a power of two times one of a few odd numbers.
pub(super) fn fast_length(n: usize) -> usize {
    let n = n.max(16);
    let odd = [1, 3, 5, 7, 9, 11, 13, 15];
    let lengths = odd.map(|odd: usize| odd * n.div_ceil(odd).next_power_of_two().max(2));
    lengths.into_iter().min().unwrap_or(n)
}

impl Circle {
    /// The model of sources with these covariances and noise on n samples, n even.
    pub fn new(n: usize, covariances: &Covariances, noise: MatRef<'_, f64>) -> Circle {
        let mut planner = RealFftPlanner::new();
        let (forward, backward) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        let k = covariances.lags.len();
        let power: Vec<Vec<f64>> = (0..k)
            .map(|k| power(&*forward, &covariances.lags[k], covariances.variance[k]))
            .collect();
        let noise = Mat::from_fn(k, k, |i, j| {
            let least = LEAST_NOISE * covariances.variance[i].max(f64::MIN_POSITIVE);
            noise[(i, j)] + if i == j { least } else { 0.0 }
        });
        let n_frequencies = n / 2 + 1;
        let mut precision = Vec::with_capacity(n_frequencies * k * k);
        let mut total = Mat::zeros(k, k);
        let mut inverse = Mat::zeros(k, k);
        for f in 0..n_frequencies {
            total.copy_from(&noise);
            (0..k).for_each(|k| total[(k, k)] += power[k][f]);
            factor_in_place(&mut total);
            inverse.fill(0.0);
            (0..k).for_each(|k| inverse[(k, k)] = 1.0);
            solve_in_place(&total, &mut inverse);
            precision.extend((0..k * k).map(|entry| inverse[(entry / k, entry % k)]));
        }
        Circle {
            n,
            forward,
            backward,
            power,
            precision,
            noise: (0..k).map(|k| noise[(k, k)]).collect(),
        }
    }

    /// n.
    pub fn len(&self) -> usize {
        self.n
    }

    /// K.
    pub fn n_sources(&self) -> usize {
        self.power.len()
    }

    /// Buffers for [`Circle::whiten`] and [`Circle::smooth`].
    pub fn work(&self) -> Work {
        let zero = Complex::new(0.0, 0.0);
        let scratch = self
            .forward
            .get_scratch_len()
            .max(self.backward.get_scratch_len());
        Work {
            spectra: vec![vec![zero; self.n / 2 + 1]; self.n_sources()],
            scratch: vec![zero; scratch],
            row: vec![zero; self.n_sources()],
        }
    }

    /// K columns of n samples ← (C + N)⁻¹ of them: the inverse covariance of noisy sources.
    pub fn whiten(&self, columns: &mut [Vec<f64>], work: &mut Work) {
        self.filter(columns, work, |_, _| 1.0);
    }

    /// K columns of n samples ← C(C + N)⁻¹ of them: the posterior mean of the sources given all
    /// noisy ones.
    pub fn smooth(&self, columns: &mut [Vec<f64>], work: &mut Work) {
        self.filter(columns, work, |k, f| self.power[k][f]);
    }

    /// Columns ← gain(f)·(P(f) + N)⁻¹·columns.
    fn filter(
        &self,
        columns: &mut [Vec<f64>],
        work: &mut Work,
        gain: impl Fn(usize, usize) -> f64,
    ) {
        let k = self.n_sources();
        for (column, spectrum) in columns.iter_mut().zip(&mut work.spectra) {
            forward(&*self.forward, column, spectrum, &mut work.scratch);
        }
        let precisions = self.precision.chunks_exact((k * k).max(1));
        for (f, precision) in precisions.enumerate() {
            for (value, spectrum) in work.row.iter_mut().zip(&work.spectra) {
                *value = spectrum[f];
            }
            for (i, weights) in precision.chunks_exact(k).enumerate() {
                let sum: Complex<f64> = weights.iter().zip(&work.row).map(|(w, x)| x * w).sum();
                work.spectra[i][f] = sum * (gain(i, f) / self.n as f64);
            }
        }
        for (column, spectrum) in columns.iter_mut().zip(&mut work.spectra) {
            backward(&*self.backward, spectrum, column, &mut work.scratch);
        }
    }

    /// Variance of source k: c_k(0).
    pub fn variance(&self, k: usize) -> f64 {
        self.mean_over_frequencies(|f| self.power[k][f])
    }

    /// Posterior variance of source k given all noisy ones: the mean over f of [P −
    /// P(P + N)⁻¹P]_kk.
    pub fn posterior_variance(&self, k: usize) -> f64 {
        let n_sources = self.n_sources();
        let variance = self.mean_over_frequencies(|f| {
            let precision = self.precision[(f * n_sources + k) * n_sources + k];
            self.power[k][f] * (1.0 - self.power[k][f] * precision)
        });
        variance.max(0.0)
    }

    /// By lag on the circle, for source k alone: the inverse covariance of the noisy source,
    /// 1/(P + N), and its Wiener filter, P/(P + N).
    pub fn kernels(&self, k: usize) -> (Vec<f64>, Vec<f64>) {
        let by_lag = |response: &dyn Fn(f64) -> f64| {
            let mut spectrum: Vec<Complex<f64>> = self.power[k]
                .iter()
                .map(|&power| Complex::new(response(power) / self.n as f64, 0.0))
                .collect();
            let mut kernel = vec![0.0; self.n];
            let mut scratch = self.backward.make_scratch_vec();
            backward(&*self.backward, &mut spectrum, &mut kernel, &mut scratch);
            kernel
        };
        let noise = self.noise[k];
        (
            by_lag(&|power| 1.0 / (power + noise)),
            by_lag(&|power| power / (power + noise)),
        )
    }

    /// Mean over all n frequencies of what is the same at f and −f.
    fn mean_over_frequencies(&self, value: impl Fn(usize) -> f64) -> f64 {
        let half = self.n / 2;
        let between: f64 = (1..half).map(&value).sum();
        (value(0) + 2.0 * between + value(half)) / self.n as f64
    }
}

/// P(f) of c(0), …, c(M), no less than a trace of the variance.
fn power(plan: &dyn RealToComplex<f64>, lags: &[f64], variance: f64) -> Vec<f64> {
    let n = plan.len();
    let mut column = vec![0.0; n];
    for (h, &c) in lags.iter().enumerate() {
        column[h] = c;
        column[(n - h) % n] = c;
    }
    let mut spectrum = plan.make_output_vec();
    forward(
        plan,
        &mut column,
        &mut spectrum,
        &mut plan.make_scratch_vec(),
    );
    let least = LEAST_POWER * variance.max(f64::MIN_POSITIVE);
    spectrum.iter().map(|value| value.re.max(least)).collect()
}

fn forward(
    plan: &dyn RealToComplex<f64>,
    column: &mut [f64],
    spectrum: &mut [Complex<f64>],
    scratch: &mut [Complex<f64>],
) {
    plan.process_with_scratch(column, spectrum, scratch)
        .expect("buffers have the lengths of the plan");
}

fn backward(
    plan: &dyn ComplexToReal<f64>,
    spectrum: &mut [Complex<f64>],
    column: &mut [f64],
    scratch: &mut [Complex<f64>],
) {
    // At 0 and at half the rate the spectrum of real numbers is real. Where numbers have
    // overflowed it is not a number, which is what comes out.
    if plan
        .process_with_scratch(spectrum, column, scratch)
        .is_err()
    {
        column.fill(f64::NAN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_lengths_are_even_and_long_enough() {
        for n in 1..5000 {
            let fast = fast_length(n);
            assert!(
                fast >= n && fast.is_multiple_of(2) && fast <= 2 * n.max(16),
                "{n}: {fast}"
            );
        }
        assert_eq!(
            (fast_length(1000), fast_length(1025), fast_length(1200)),
            (1024, 1152, 1280)
        );
    }
}
