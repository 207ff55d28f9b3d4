//! Against theory: Cramér–Rao bounds, and what only certain methods can separate.

use crate::published;
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, StandardNormal};
use strt_classic::{Baseline, Efica, FastIca, Method, Sobi, Wasobi};
use strt_signal::Recording;

/// What is drawn for a source.
#[derive(Clone, Copy)]
enum Drawn {
    /// Gaussian AR(1) with this pole.
    Autoregressive(f64),
    /// Gaussian AR(2) with a pair of poles at this frequency, in cycles a sample.
    Resonance { frequency: f64, modulus: f64 },
    /// White noise with the density ∝ exp(−c·|s|^α).
    Generalised(f64),
}

/// Sources, brought to variance 1, in as many channels: (observations, mixing).
fn drawn(kinds: &[Drawn], n_samples: usize, seed: u64) -> (Mat<f64>, Mat<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let k = kinds.len();
    let mut sources = Mat::<f64>::zeros(n_samples, k);
    for (j, &kind) in kinds.iter().enumerate() {
        let mut last: f64 = StandardNormal.sample(&mut rng);
        let mut before = 0.0;
        for value in sources.col_as_slice_mut(j) {
            *value = match kind {
                Drawn::Autoregressive(rho) => {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    last = rho * last + (1.0 - rho * rho).sqrt() * noise;
                    last
                }
                Drawn::Resonance { frequency, modulus } => {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    let first = 2.0 * modulus * (std::f64::consts::TAU * frequency).cos();
                    let next = first * last - modulus * modulus * before + noise;
                    (before, last) = (last, next);
                    next
                }
                Drawn::Generalised(alpha) => {
                    // |s|^α is Gamma(1/α).
                    let gamma = Gamma::new(1.0 / alpha, 1.0).unwrap();
                    let sign = if rng.random() { 1.0 } else { -1.0 };
                    sign * gamma.sample(&mut rng).powf(1.0 / alpha)
                }
            };
        }
    }
    for j in 0..k {
        let column = sources.col_as_slice_mut(j);
        let power = column.iter().map(|v| v * v).sum::<f64>() / n_samples as f64;
        column.iter_mut().for_each(|v| *v /= power.sqrt());
    }
    let mixing = Mat::from_fn(k, k, |_, _| StandardNormal.sample(&mut rng));
    (&sources * mixing.transpose(), mixing)
}

/// For every true source the power of all others in its estimate, as a share of its own, on average
/// over trials.
fn mean_interference(method: &impl Method, kinds: &[Drawn], n_samples: usize) -> Vec<f64> {
    let (k, trials) = (kinds.len(), 60);
    let mut sums = vec![0.0; k];
    for trial in 0..trials {
        let (y, mixing) = drawn(kinds, n_samples, 100 + trial);
        let found = method
            .separate(&Recording::from_mat(y).unwrap(), k)
            .unwrap();
        // What of every true source (column) is in every estimate (row).
        let gain = found.channel_unmixing().transpose() * &mixing;
        let share = |row: usize, source: usize| {
            let all: f64 = (0..k).map(|l| gain[(row, l)].powi(2)).sum();
            all / gain[(row, source)].powi(2) - 1.0
        };
        for (source, sum) in sums.iter_mut().enumerate() {
            *sum += (0..k)
                .map(|row| share(row, source))
                .fold(f64::INFINITY, f64::min);
        }
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum / trials as f64).collect();
    println!("{}: {means:.5?}", method.name());
    means
}

/// Σ_l κ_lk/(κ_kl·κ_lk − 1)/T, the Cramér–Rao bound of every source's interference.
fn bound(kappa: impl Fn(usize, usize) -> f64, k: usize, n_samples: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| kappa(j, i) / (kappa(i, j) * kappa(j, i) - 1.0);
    (0..k)
        .map(|i| {
            let others = (0..k).filter(|&j| j != i);
            others.map(|j| entry(i, j)).sum::<f64>() / n_samples as f64
        })
        .collect()
}

#[test]
fn wasobi_reaches_the_cramer_rao_bound_of_gaussian_ar_sources() {
    let (rhos, n) = ([0.95, 0.6, 0.2, -0.5], 2000);
    let kinds = rhos.map(Drawn::Autoregressive);
    let kappa = |i: usize, j: usize| {
        let (own, other): (f64, f64) = (rhos[i], rhos[j]);
        (1.0 + own * own - 2.0 * own * other) / (1.0 - own * own)
    };
    let bound = bound(kappa, 4, n);
    println!("bound: {bound:.5?}");
    let (wasobi, sobi) = (
        mean_interference(&published(), &kinds, n),
        mean_interference(&Sobi::default(), &kinds, n),
    );
    for k in 0..4 {
        assert!(wasobi[k] < 1.35 * bound[k], "source {k}");
        assert!(wasobi[k] > 0.65 * bound[k], "source {k}: below the bound");
    }
    let total = |shares: &[f64]| shares.iter().sum::<f64>();
    assert!(total(&sobi) > 1.4 * total(&wasobi) && sobi[0] > 4.0 * wasobi[0]);
}

#[test]
fn tapered_covariances_separate_narrow_band_sources_better() {
    // Poles at 0.95·exp(±0.13i) and so on: covariances at different lags nearly cancel.
    let kinds = [(0.02, 0.95), (0.05, 0.93), (0.11, 0.9), (0.2, 0.8)]
        .map(|(frequency, modulus)| Drawn::Resonance { frequency, modulus });
    let plain = Wasobi {
        taper: 0.0,
        ..published()
    };
    let total = |method: &dyn Fn() -> Vec<f64>| method().iter().sum::<f64>();
    let tapered = mean_interference(&published(), &kinds, 1500);
    let plain = mean_interference(&plain, &kinds, 1500);
    assert!(tapered[0] < 0.8 * plain[0], "{tapered:?} against {plain:?}");
    let sobi = total(&|| mean_interference(&Sobi::default(), &kinds, 1500));
    for method in [published(), Wasobi::default()] {
        let wasobi = total(&|| mean_interference(&method, &kinds, 1500));
        assert!(wasobi < sobi, "{wasobi} against {sobi}");
    }
}

#[test]
fn efica_is_near_the_cramer_rao_bound_of_generalised_gaussian_sources() {
    let (alphas, n) = ([1.0, 1.2, 4.0, 8.0], 2000);
    let kinds = alphas.map(Drawn::Generalised);
    // E[ψ²] of the score ψ of every source.
    let information = |k: usize| {
        let alpha: f64 = alphas[k];
        let gamma = libm::lgamma;
        let logarithm = gamma(2.0 - 1.0 / alpha) + gamma(3.0 / alpha) - 2.0 * gamma(1.0 / alpha);
        alpha * alpha * logarithm.exp()
    };
    let bound = bound(|i, _| information(i), 4, n);
    println!("bound: {bound:.5?}");
    let (efica, fastica) = (
        mean_interference(&Efica::default(), &kinds, n),
        mean_interference(&FastIca::default(), &kinds, n),
    );
    for k in 0..4 {
        assert!(efica[k] < 1.6 * bound[k], "source {k}");
        assert!(efica[k] > 0.65 * bound[k], "source {k}: below the bound");
        assert!(fastica[k] > efica[k], "source {k}");
    }
    assert!(fastica.iter().sum::<f64>() > 1.15 * efica.iter().sum::<f64>());
}

#[test]
fn multicombi_separates_what_needs_both_methods() {
    let kinds = [
        Drawn::Autoregressive(0.9),
        Drawn::Autoregressive(-0.4),
        Drawn::Generalised(1.0),
        Drawn::Generalised(6.0),
        // White and Gaussian: neither method alone sees it, all others make it what is left.
        Drawn::Autoregressive(0.0),
    ];
    let n = 2000;
    let worst = |name: &str| {
        let means = mean_interference(&Baseline::parse(name).unwrap(), &kinds, n);
        means.into_iter().fold(0.0, f64::max)
    };
    let multicombi = worst("multicombi");
    assert!(multicombi < 0.02, "{multicombi}");
    for rival in [worst("efica"), worst("wasobi")] {
        assert!(rival > 5.0 * multicombi, "{rival} against {multicombi}");
    }
}
