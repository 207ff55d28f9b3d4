//! How well stationary Gaussian sources can be separated at all: the Cramér–Rao bound.
//!
//! In: the autocovariances that the sources were drawn with, and the noise of each after unmixing.
//! Out: the least interference-to-signal ratio of every pair, and the correlation to be expected.
//!
//! **Without noise.** Sources s_k ~ N(0, C_k), each T samples, are mixed by a square matrix. In the
//! coordinates of the true unmixing an estimate is I + E, and ŝ_k = s_k + Σ_l E_kl·s_l. The
//! log-likelihood of the unmixing I + E,
//!
//! ```text
//! T·ln|det(I + E)| − ½ Σ_k (s_k + Σ_l E_kl s_l)ᵀ C_k⁻¹ (s_k + Σ_l E_kl s_l),
//! ```
//!
//! has at E = 0 the derivatives G_kl = −s_kᵀC_k⁻¹s_l for k ≠ l. E[G_kl²] = tr(C_k⁻¹C_l),
//! E[G_kl·G_lk] = tr(C_k⁻¹C_l·C_l⁻¹C_k) = T, and all other products have mean 0. So with φ_kl =
//! tr(C_k⁻¹C_l)/T the information about (E_kl, E_lk) is T·[φ_kl, 1; 1, φ_lk], and
//!
//! ```text
//! E[E_kl²] ≥ (1/T)·φ_lk/(φ_kl·φ_lk − 1).
//! ```
//!
//! φ_kl·φ_lk ≥ 1, with equality when C_k and C_l are proportional: then nothing is known of E_kl.
//! The parameters of the C_k, on which the diagonal depends, carry no information about the
//! off-diagonal entries and conversely, so the bound holds for blind methods too. D.-T. Pham and
//! P. Garat (1997); A. Yeredor, *Blind separation of Gaussian sources with general covariance
//! structures: bounds and optimal estimation* (2010).
//!
//! **With noise.** z = A⁺y, the channels in the coordinates of the true unmixing, is s + n with
//! white n of covariance R = ν²(AᵀA)⁻¹, which unmixing does not change: z ~ (I − E)C(I − E)ᵀ + R to
//! first order. With Σ_k = C_k + r_k·I, r_k = R_kk, the information is tr(Σ⁻¹∂Σ·Σ⁻¹∂Σ)/2, that is
//! T·[φ_kl, ψ_kl; ψ_kl, φ_lk] with
//!
//! ```text
//! φ_kl = tr(Σ_k⁻¹C_l·Σ_l⁻¹C_l)/T = [tr(Σ_k⁻¹C_l) − r_l·tr Σ_k⁻¹ + r_l²·tr(Σ_k⁻¹Σ_l⁻¹)]/T,
//! ψ_kl = tr(Σ_k⁻¹C_k·Σ_l⁻¹C_l)/T = 1 − [r_k·tr Σ_k⁻¹ + r_l·tr Σ_l⁻¹ − r_k·r_l·tr(Σ_k⁻¹Σ_l⁻¹)]/T,
//! E[E_kl²] ≥ (1/T)·φ_lk/(φ_kl·φ_lk − ψ_kl²),
//! ```
//!
//! and with r = 0 what stands above. Of a smooth process next to nothing is left at the high
//! frequencies of a faster one, so that without noise the faster could be removed from the slower
//! with next to no error; the noise limits this. What a slow process leaves in a faster one is
//! limited without noise too: the faster has power at the low frequencies of the slow.
//!
//! **Standardised sources.** Sources are centred and brought to variance 1 before they are mixed,
//! and of a slow one the mean of the recording is a large part: its samples are P·s/√v with P = I
//! − 11ᵀ/T and v = tr(PCP)/T. So C_k stands for PC_kP/v_k throughout, and inverses are those
//! within the centred series, (PΣP)⁺ = Σ⁻¹ − bbᵀ/β with b = Σ⁻¹1 and β = 1ᵀΣ⁻¹1: the identities
//! above hold for them, with tr P = T − 1 for T in ψ.
//!
//! **Assumed**: the T × T covariances of the generator, exactly, and the expected v; the variance
//! of the noise known; the correlation of the noise between unmixed sources (the off-diagonal part
//! of R, which changes the result by less than a hundredth in the suites) and the error of the
//! signal subspace neglected; errors small. A noise of variance 1e-8 at least is added, so that
//! matrices can be inverted, so where there is none the bound is a little too careful.

use super::toeplitz::ToeplitzInverse;

/// The least noise, in units of a source's variance.
const LEAST_NOISE: f64 = 1e-8;
/// In longer recordings information grows in proportion to T, and is computed for this many
/// samples.
const MOST_SAMPLES: usize = 4_000;

/// Number of samples whose covariances [`interference`] needs for a recording of `n_samples`.
pub fn n_lags(n_samples: usize) -> usize {
    n_samples.min(MOST_SAMPLES)
}

/// The least E[E_kl²]: the power of source l (column) that is left in source k (row), in units of
/// that of k; 0 on the diagonal.
///
/// `covariances` has one row a source, [`n_lags`] long; `noise` the variance r_k of each, in units
/// of that of the standardised source. Infinite where two sources cannot be told apart, `None`
/// when a covariance is not positive definite.
pub fn interference(
    covariances: &[Vec<f64>],
    noise: &[f64],
    n_samples: usize,
) -> Option<Vec<Vec<f64>>> {
    let noise: Vec<f64> = noise.iter().map(|r| r.max(LEAST_NOISE)).collect();
    let standardized: Vec<Vec<f64>> = covariances.iter().map(|row| standardized(row)).collect();
    let traces = Traces::new(&standardized, &noise)?;
    let share = |k: usize, l: usize| {
        if k == l {
            return 0.0;
        }
        let (own, both) = traces.information(&noise, k, l);
        let (other, _) = traces.information(&noise, l, k);
        let determinant = own * other - both * both;
        // What rounding leaves of a determinant that is 0.
        if determinant <= 1e-9 * own * other {
            f64::INFINITY
        } else {
            other / determinant / n_samples as f64
        }
    };
    let all = 0..covariances.len();
    Some(
        all.clone()
            .map(|k| all.clone().map(|l| share(k, l)).collect())
            .collect(),
    )
}

/// The autocovariances over v, the expected variance of the centred samples: c_0 less the variance
/// of their mean, Σ_ij c_|i−j|/n².
fn standardized(row: &[f64]) -> Vec<f64> {
    let n = row.len() as f64;
    let pairs = row.iter().enumerate();
    let of_mean: f64 = pairs
        .map(|(d, c)| twice(d) * (n - d as f64) * c)
        .sum::<f64>()
        / (n * n);
    let variance = row[0] - of_mean;
    row.iter().map(|c| c / variance).collect()
}

/// How often the d-th diagonal of a symmetric matrix is there.
fn twice(d: usize) -> f64 {
    if d == 0 { 1.0 } else { 2.0 }
}

/// The correlation to be expected of a source with an estimate in which the others are left with
/// these powers: the mean of 1/√(c + Σ_l E_kl²) over independent Gaussian E_kl, where c − 1 ≥ 0 is
/// what else is in the estimate.
///
/// 1/√x = (2/√π)·∫₀^∞ exp(−x·u²) du, and E[exp(−u²E²)] = 1/√(1 + 2u²·E[E²]), so the mean is
/// (2/√π)·∫₀^∞ exp(−c·u²)·Π_l 1/√(1 + 2u²·E[E_kl²]) du. The integrand is even, smooth and soon
/// gone: the trapezoidal rule has all digits.
pub fn expected_correlation(powers: &[f64], c: f64) -> f64 {
    const STEP: f64 = 0.05;
    let integrand = |u: f64| {
        let spread: f64 = powers
            .iter()
            .map(|power| 1.0 + 2.0 * u * u * power)
            .product();
        (-c * u * u).exp() / spread.sqrt()
    };
    // exp(−7²) is below rounding.
    let inner: f64 = (1..140).map(|i| integrand(STEP * f64::from(i))).sum();
    std::f64::consts::FRAC_2_SQRT_PI * STEP * (0.5 * integrand(0.0) + inner)
}

/// Traces of products of the covariances C_l and the inverses of Σ_k = C_k + r_k·I, all of them
/// within centred series, over n.
struct Traces {
    /// tr P = n − 1.
    identity: f64,
    /// tr Σ_k⁻¹.
    inverse: Vec<f64>,
    /// tr(Σ_k⁻¹C_l).
    covariance: Vec<Vec<f64>>,
    /// tr(Σ_k⁻¹Σ_l⁻¹).
    product: Vec<Vec<f64>>,
}

impl Traces {
    fn new(covariances: &[Vec<f64>], noise: &[f64]) -> Option<Self> {
        let n_sources = covariances.len();
        let n = covariances.first().map_or(0, Vec::len);
        let inverses = covariances
            .iter()
            .zip(noise)
            .map(|(covariance, r)| {
                let mut row = covariance.clone();
                row[0] += r;
                ToeplitzInverse::new(&row)
            })
            .collect::<Option<Vec<_>>>()?;
        let sums: Vec<Vec<f64>> = inverses
            .iter()
            .map(|inverse| row_sums(inverse, n))
            .collect();
        let totals: Vec<f64> = sums.iter().map(|b| b.iter().sum()).collect();
        let square = || vec![vec![0.0; n_sources]; n_sources];
        let mut traces = Self {
            identity: (n as f64 - 1.0) / n as f64,
            inverse: vec![0.0; n_sources],
            covariance: square(),
            product: square(),
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut halves = square();
        let mut diagonals = vec![Vec::with_capacity(n); n_sources];
        let mut outer = vec![0.0; n];
        for d in 0..n {
            for (inverse, diagonal) in inverses.iter().zip(&mut diagonals) {
                inverse.diagonal(d, diagonal);
            }
            let weight = twice(d) / n as f64;
            for k in 0..n_sources {
                // The d-th diagonal of b·bᵀ/β, which centring takes away from the inverse.
                outer.truncate(n - d);
                let pairs = sums[k].iter().zip(&sums[k][d..]);
                for (entry, (early, late)) in outer.iter_mut().zip(pairs) {
                    *entry = early * late / totals[k];
                }
                let removed: f64 = outer.iter().sum();
                let trace = weight * (diagonals[k].iter().sum::<f64>() - removed);
                if d == 0 {
                    traces.inverse[k] = trace;
                }
                for l in 0..n_sources {
                    traces.covariance[k][l] += trace * covariances[l][d];
                    // Half of tr(B_kB_l), less b_kᵀB_lb_k/β_k.
                    let both = 0.5 * dot(&diagonals[k], &diagonals[l]);
                    halves[k][l] += weight * (both - dot(&outer, &diagonals[l]));
                }
            }
        }
        // With B − bbᵀ/β for B, tr(B_kB_l) is
        // tr(B_kB_l) − b_kᵀB_lb_k/β_k − b_lᵀB_kb_l/β_l + (b_kᵀb_l)²/(β_kβ_l).
        for k in 0..n_sources {
            for l in 0..n_sources {
                let shared = dot(&sums[k], &sums[l]);
                let last = shared * shared / (totals[k] * totals[l]) / n as f64;
                traces.product[k][l] = halves[k][l] + halves[l][k] + last;
            }
        }
        Some(traces)
    }

    /// φ_kl and ψ_kl.
    fn information(&self, noise: &[f64], k: usize, l: usize) -> (f64, f64) {
        let (r_k, r_l, product) = (noise[k], noise[l], self.product[k][l]);
        let own = self.covariance[k][l] - r_l * self.inverse[k] + r_l * r_l * product;
        let both =
            self.identity - r_k * self.inverse[k] - r_l * self.inverse[l] + r_k * r_l * product;
        (own, both)
    }
}

/// Σ_j (R⁻¹)_ij for every i.
fn row_sums(inverse: &ToeplitzInverse, n: usize) -> Vec<f64> {
    let (mut sums, mut diagonal) = (vec![0.0; n], Vec::with_capacity(n));
    for d in 0..n {
        inverse.diagonal(d, &mut diagonal);
        for (i, entry) in diagonal.iter().enumerate() {
            sums[i] += entry;
            if d > 0 {
                sums[i + d] += entry;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ar(pole: f64, n: usize) -> Vec<f64> {
        (0..n).map(|lag| pole.powi(lag as i32)).collect()
    }

    fn smooth(scale: f64, n: usize) -> Vec<f64> {
        (0..n)
            .map(|lag| (-0.5 * (lag as f64 / scale).powi(2)).exp())
            .collect()
    }

    #[test]
    fn long_autoregressive_sources_have_the_closed_form() {
        // With spectra (1 − a²)/|1 − a·exp(−iω)|², φ_ab = (1 + a² − 2ab)/(1 − a²).
        let (a, b, n) = (0.5, 0.85, 3000);
        let ratio = |a: f64, b: f64| (1.0 + a * a - 2.0 * a * b) / (1.0 - a * a);
        let (phi, other) = (ratio(a, b), ratio(b, a));
        let expected = [other, phi].map(|x| x / (phi * other - 1.0) / n as f64);
        let found = interference(&[ar(a, n), ar(b, n)], &[0.0, 0.0], n).unwrap();
        for (found, expected) in [found[0][1], found[1][0]].iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{found} against {expected}"
            );
        }
    }

    #[test]
    fn information_is_that_of_dense_matrices() {
        // tr(Σ_k⁻¹C_l·Σ_l⁻¹C_l) and tr(Σ_k⁻¹C_k·Σ_l⁻¹C_l) of centred matrices by plain products.
        use faer::Mat;
        use faer::linalg::solvers::Solve;
        let (n, noise) = (40, [0.05, 0.2]);
        let rows = [smooth(3.0, n), ar(0.8, n)];
        let identity = Mat::<f64>::identity(n, n);
        let ones = Mat::from_fn(n, n, |_, _| 1.0 / n as f64);
        let centring = &identity - &ones;
        let centred =
            |row: &Vec<f64>| &centring * Mat::from_fn(n, n, |i, j| row[i.abs_diff(j)]) * &centring;
        // Σ_k⁻¹·C_l: 11ᵀ/n makes Σ_k regular and meets nothing of C_l.
        let whitened = |k: usize, l: usize| {
            let noisy = centred(&rows[k]) + faer::Scale(noise[k]) * &centring + &ones;
            noisy.partial_piv_lu().solve(centred(&rows[l]))
        };
        let trace = |m: Mat<f64>| (0..n).map(|i| m[(i, i)]).sum::<f64>() / n as f64;
        let traces = Traces::new(&rows, &noise).unwrap();
        for (k, l) in [(0, 1), (1, 0)] {
            let (own, both) = traces.information(&noise, k, l);
            assert!((own - trace(whitened(k, l) * whitened(l, l))).abs() < 1e-9);
            assert!((both - trace(whitened(k, k) * whitened(l, l))).abs() < 1e-9);
        }
        let variance = trace(centred(&standardized(&rows[1])));
        assert!((variance - 1.0).abs() < 1e-12, "{variance}");
    }

    #[test]
    fn what_is_alike_cannot_be_separated_and_more_samples_or_less_noise_help() {
        let same = interference(&[ar(0.7, 200), ar(0.7, 200)], &[0.0; 2], 200).unwrap();
        assert!(
            same[0][1].is_infinite() && same[1][0].is_infinite(),
            "{same:?}"
        );
        let total = |first: f64, second: f64, n: usize, noise: f64| {
            let rows = [smooth(first, n), smooth(second, n)];
            interference(&rows, &[noise; 2], n)
                .unwrap()
                .concat()
                .iter()
                .sum::<f64>()
        };
        let base = total(10.0, 16.0, 400, 1e-3);
        assert!(base > 1.7 * total(10.0, 16.0, 800, 1e-3), "more samples");
        assert!(base > total(10.0, 16.0, 400, 1e-5), "less noise");
        assert!(base < total(10.0, 16.0, 400, 1e-1), "more noise");
        assert!(base < total(10.0, 12.0, 400, 1e-3), "closer scales");
        assert!(total(10.0, 10.0, 400, 1e-3).is_infinite());
    }

    #[test]
    fn expected_correlations_are_those_of_small_and_of_drawn_errors() {
        assert!((expected_correlation(&[0.0, 0.0], 1.0) - 1.0).abs() < 1e-12);
        assert!((expected_correlation(&[0.0], 4.0) - 0.5).abs() < 1e-12);
        let small = expected_correlation(&[1e-4, 3e-4], 1.0);
        assert!((small - (1.0 - 2e-4)).abs() < 1e-6, "{small}");
        // ∫ 1/√(1 + 0.3x²) over the normal density, by a fine sum.
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let points = (-8000..=8000).map(|i| f64::from(i) * 1e-3);
        let sum: f64 = points
            .map(|x| 1e-3 * density(x) / (1.0 + 0.3 * x * x).sqrt())
            .sum();
        let found = expected_correlation(&[0.3], 1.0);
        assert!((found - sum).abs() < 1e-9, "{found} against {sum}");
    }

    #[test]
    fn beyond_the_longest_matrix_information_grows_with_the_samples() {
        let rows = |n: usize| [ar(0.5, n_lags(n)), ar(0.9, n_lags(n))];
        let at = |n: usize| interference(&rows(n), &[0.01; 2], n).unwrap()[0][1] * n as f64;
        assert!((at(4_000) / at(40_000) - 1.0).abs() < 1e-9);
        assert!((at(1_000) / at(4_000) - 1.0).abs() < 0.01);
    }
}
