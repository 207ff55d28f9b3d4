//! Autoregressive models of sources, and what follows from their spectra: the best weights of
//! lagged covariances and the accuracy that can be reached.
//!
//! In: autocovariances r_k(0), …, r_k(L) of every source. Out: for every pair the inverse
//! covariance of what is estimated from them, and the Cramér–Rao bound.
//!
//! The model of a source is AR(L), by the equations of Yule and Walker. Only its power spectrum
//! S_k(ω) is used, scaled to mean 1 (variance 1) on a grid of frequencies so fine that means over
//! it are integrals: a pole of modulus ρ leaves an error of ρ^2n with n frequencies from 0 to π.
//!
//! * The estimated cross-covariances of two independent Gaussian sources, symmetrised, at lags l
//!   and m have covariances in proportion to
//!   φ(l − m) + φ(l + m), where φ(τ) = mean_ω S_i·S_j·cos τω.
//! * The interference of source l in the estimate of source k cannot be below
//!   ISR_kl = κ_lk / (κ_kl·κ_lk − 1) / T, with κ_kl = mean_ω S_l / S_k.
//!
//! P. Tichavský, E. Doron, A. Yeredor and J. Nielsen, *A computationally affordable implementation
//! of an asymptotically optimal BSS algorithm for AR sources*, EUSIPCO 2006; E. Doron, A. Yeredor
//! and P. Tichavský, *Cramér–Rao-induced bound for blind separation of stationary parametric
//! Gaussian sources*, IEEE Signal Processing Letters 14(6), 2007.

use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, Side, c64};

use crate::components::products;

/// Added to r(0), as a share of it: white noise far below any recording's, which makes the
/// equations of a perfectly predictable source solvable.
const WHITE_NOISE: f64 = 1e-9;
/// κ_kl·κ_lk − 1 is at least this: it vanishes when two spectra are equal.
const LEAST_DIFFERENCE: f64 = 1e-9;
/// What a pole may leave of itself at the end of the grid is e to the power of minus this.
const GRID: f64 = 20.0;

/// Power spectra of sources at n frequencies ω = π·(j + ½)/n.
pub(super) struct Spectra {
    /// n×K, the mean of every column 1.
    power: Mat<f64>,
    /// cos τω, n×(2L + 1).
    cosines: Mat<f64>,
}

impl Spectra {
    /// Of sources with these autocovariances, one list of L + 1 values a source, where no pole is
    /// above `largest_pole`.
    pub(super) fn of(autocovariances: &[Vec<f64>], largest_pole: f64) -> Spectra {
        let order = autocovariances[0].len() - 1;
        let n = (GRID / (1.0 - largest_pole) / 2.0).ceil() as usize;
        let angle =
            |j: usize, lag: usize| lag as f64 * (j as f64 + 0.5) * std::f64::consts::PI / n as f64;
        let cosines = Mat::from_fn(n, 2 * order + 1, |j, lag| libm::cos(angle(j, lag)));
        let sines = Mat::from_fn(n, order + 1, |j, lag| libm::sin(angle(j, lag)));
        let models: Vec<Vec<f64>> = autocovariances
            .iter()
            .map(|r| coefficients(r, largest_pole))
            .collect();
        let models = Mat::from_fn(order + 1, models.len(), |lag, k| models[k][lag]);
        let (real, imaginary) = (
            cosines.as_ref().subcols(0, order + 1) * &models,
            &sines * &models,
        );
        let mut power = Mat::from_fn(n, models.ncols(), |j, k| {
            let (re, im) = (real[(j, k)], imaginary[(j, k)]);
            1.0 / (re * re + im * im)
        });
        for k in 0..power.ncols() {
            let column = power.col_as_slice_mut(k);
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|value| *value /= mean);
        }
        Spectra { power, cosines }
    }

    /// One (L + 1)×(L + 1) matrix a pair, in the order of
    /// [`pair_index`](crate::diagonalize::pair_index).
    /// `ridge` is added to the diagonal of a covariance, as a share of φ(0), before it is inverted.
    pub(super) fn weights(&self, ridge: f64) -> Vec<Mat<f64>> {
        let (n, k) = self.power.shape();
        let mut weights = Vec::with_capacity(k * (k - 1) / 2);
        for j in 1..k {
            let pairs = Mat::from_fn(n, j, |t, i| self.power[(t, i)] * self.power[(t, j)]);
            let phi = products(self.cosines.as_ref(), pairs.as_ref(), n);
            weights.extend((0..j).map(|i| weight(phi.col_as_slice(i), ridge)));
        }
        weights
    }

    /// ISR_kl (K×K, 0 on the diagonal) of T samples.
    pub(super) fn interference(&self, n_samples: usize) -> Mat<f64> {
        let (n, k) = self.power.shape();
        let inverse = Mat::from_fn(n, k, |t, k| 1.0 / self.power[(t, k)]);
        // Entry (k, l) is κ_kl.
        let kappa = products(inverse.as_ref(), self.power.as_ref(), n);
        Mat::from_fn(k, k, |i, j| {
            if i == j {
                return 0.0;
            }
            let difference = kappa[(i, j)] * kappa[(j, i)] - 1.0;
            kappa[(j, i)] / difference.max(LEAST_DIFFERENCE) / n_samples as f64
        })
    }
}

/// The inverse of φ(l − m) + φ(l + m), scaled to φ(0) = 1; I where there is none.
fn weight(phi: &[f64], ridge: f64) -> Mat<f64> {
    let size = phi.len().div_ceil(2);
    let covariance = Mat::from_fn(size, size, |l, m| {
        let ridge = if l == m { ridge } else { 0.0 };
        (phi[l.abs_diff(m)] + phi[l + m]) / phi[0] + ridge
    });
    match covariance.llt(Side::Lower) {
        Ok(factor) => factor.inverse(),
        Err(_) => Mat::identity(size, size),
    }
}

/// 1, a_1, …, a_L of Σ_j a_j·s_{t−j} = e_t, white e. Poles outside the unit circle, which
/// autocovariances of a finite recording may give, are reflected into it, which leaves the shape
/// of the spectrum; then all are shrunk together until none is above `largest_pole`. A source
/// without a model counts as white.
fn coefficients(autocovariance: &[f64], largest_pole: f64) -> Vec<f64> {
    let order = autocovariance.len() - 1;
    let toeplitz = Mat::from_fn(order, order, |i, j| {
        let noise = if i == j { WHITE_NOISE } else { 0.0 };
        autocovariance[i.abs_diff(j)] + noise * autocovariance[0]
    });
    let right = Mat::from_fn(order, 1, |i, _| -autocovariance[i + 1]);
    let solved = toeplitz.partial_piv_lu().solve(&right);
    let mut model: Vec<f64> = std::iter::once(1.0)
        .chain(solved.col_as_slice(0).iter().copied())
        .collect();
    let white = || std::iter::once(1.0).chain(vec![0.0; order]).collect();
    if model.iter().any(|value| !value.is_finite()) {
        return white();
    }
    let companion = Mat::from_fn(order, order, |i, j| match i {
        0 => -model[j + 1],
        _ => f64::from(u8::from(i == j + 1)),
    });
    let Ok(mut poles) = companion.eigenvalues() else {
        return white();
    };
    let outside = |pole: &c64| pole.norm_sqr() > 1.0;
    if poles.iter().any(outside) {
        for pole in poles.iter_mut().filter(|pole| outside(pole)) {
            *pole /= pole.norm_sqr();
        }
        model = polynomial(&poles);
    }
    let most = poles
        .iter()
        .map(|pole| pole.norm_sqr())
        .fold(0.0, f64::max)
        .sqrt();
    if most > largest_pole {
        let mut factor = 1.0;
        for value in &mut model {
            *value *= factor;
            factor *= largest_pole / most;
        }
    }
    model
}

/// The coefficients of Π (1 − p·z) for poles that come in conjugate pairs.
fn polynomial(poles: &[c64]) -> Vec<f64> {
    let mut product = vec![c64::new(1.0, 0.0)];
    for pole in poles {
        product.push(c64::new(0.0, 0.0));
        for j in (1..product.len()).rev() {
            let before = product[j - 1];
            product[j] -= pole * before;
        }
    }
    product.iter().map(|value| value.re).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Autocovariances of s_t = ρ·s_{t−1} + e_t of variance 1.
    fn first_order(rho: f64, order: usize) -> Vec<f64> {
        (0..=order).map(|lag| rho.powi(lag as i32)).collect()
    }

    #[test]
    fn models_are_those_of_yule_and_walker_inside_the_unit_circle() {
        let close = |found: &[f64], expected: &[f64]| {
            let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-6;
            assert!(
                found.len() == expected.len() && !found.iter().zip(expected).any(far),
                "{found:?} against {expected:?}"
            );
        };
        close(&coefficients(&first_order(0.7, 2), 0.99), &[1.0, -0.7, 0.0]);
        // A pole above the largest is shrunk onto it.
        close(&coefficients(&first_order(0.9, 1), 0.6), &[1.0, -0.6]);
        // r(1) > r(0) belongs to no process: the pole 1.25 becomes 0.8.
        close(&coefficients(&[1.0, 1.25], 0.99), &[1.0, -0.8]);
        close(&coefficients(&[0.0, 0.0, 0.0], 0.99), &[1.0, 0.0, 0.0]);
        let poles = [c64::new(0.3, 0.4), c64::new(0.3, -0.4), c64::new(0.5, 0.0)];
        close(&polynomial(&poles), &[1.0, -1.1, 0.55, -0.125]);
    }

    #[test]
    fn weights_are_inverse_covariances_of_first_order_processes() {
        // φ of two AR(1) processes is known: S_i·S_j is the spectrum of an AR(2).
        let (a, b) = (0.6, -0.3);
        let spectra = Spectra::of(&[first_order(a, 1), first_order(b, 1)], 0.99);
        // r_i * r_j, the convolution of the two autocovariances.
        let phi = |lag: i32| -> f64 {
            (-200i32..=200)
                .map(|u: i32| a.powi(u.abs()) * b.powi((lag - u).abs()))
                .sum()
        };
        let covariance = Mat::from_fn(2, 2, |l, m| {
            let ridge = if l == m { 1e-5 } else { 0.0 };
            (phi(l as i32 - m as i32) + phi((l + m) as i32)) / phi(0) + ridge
        });
        let product = &spectra.weights(1e-5)[0] * covariance;
        assert!((product - Mat::<f64>::identity(2, 2)).norm_max() < 1e-6);
    }

    #[test]
    fn the_bound_is_that_of_first_order_processes() {
        let (a, b, n) = (0.8, 0.1, 1000);
        let bound = Spectra::of(&[first_order(a, 1), first_order(b, 1)], 0.99).interference(n);
        // The whitening filter of one process on the other, over its own innovations.
        let kappa =
            |own: f64, other: f64| (1.0 + own * own - 2.0 * own * other) / (1.0 - own * own);
        let difference = kappa(a, b) * kappa(b, a) - 1.0;
        for ((i, j), expected) in [((0, 1), kappa(b, a)), ((1, 0), kappa(a, b))] {
            let expected = expected / difference / n as f64;
            assert!((bound[(i, j)] / expected - 1.0).abs() < 1e-6, "{bound:?}");
        }
        let equal = Spectra::of(&[first_order(a, 1), first_order(a, 1)], 0.99).interference(n);
        assert!(equal[(0, 1)] > 1e3 && equal[(0, 1)].is_finite() && equal[(0, 0)] == 0.0);
    }
}
