//! Non-stationary sources of the nonlinear ICA literature: switching regimes and modulated
//! segments.
//!
//! In: one random stream per source. Out: raw sources of T samples, which the caller standardises.
//! Segments have the same boundaries in all sources, as the papers assume; each source has its own
//! modulation. Smooth modulation, as the classical methods for nonstationary sources assume, is
//! here too.
//!
//! * Hälvä et al., *Disentangling identifiable features from noisy data with structured nonlinear
//!   ICA* (2021): SNICA.
//! * Hyvärinen and Morioka, *Unsupervised feature extraction by time-contrastive learning* (2016):
//!   TCL.
//! * Khemakhem et al., *Variational autoencoders and nonlinear ICA* (2020): iVAE.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::sources::{gaussian_process, geometric, laplace};

/// Probability that a regime lasts for one more sample (SNICA).
const STAY: f64 = 0.99;
/// Modulus of the poles of each regime: a sharp and a blunt resonance.
const POLE_MODULUS: [f64; 2] = [0.97, 0.9];
/// Resonances of the fastest and slowest source in their first regime, in cycles per sample.
const RESONANCE: (f64, f64) = (0.15, 0.01);
/// The second regime resonates at this multiple of the first one's frequency.
const REGIME_RATIO: f64 = 1.8;
/// Samples before the recording starts, by when 0.97^n has vanished.
const N_FORGOTTEN: usize = 1000;
/// Samples per segment. The papers use segments of hundreds of samples in recordings of 10⁵; this
/// suits 10³.
const SEGMENT_LENGTH: usize = 50;
/// Scales of modulated Laplace sources are uniform in this range (bounded away from silence).
const LAPLACE_SCALE: (f64, f64) = (0.1, 1.0);
/// Variances of modulated Gaussian sources are uniform in this range (iVAE).
const GAUSSIAN_VARIANCE: (f64, f64) = (0.5, 3.0);

/// Length-scale in samples of the envelope of `nonstationary` sources …
const ENVELOPE_SCALE: f64 = 50.0;
/// … and the standard deviation of its logarithm.
const ENVELOPE_DEPTH: f64 = 0.7;

/// AR(2) with poles r·exp(±iω) that change with a two-state Markov chain:
/// x_t = 2r·cos(ω)·x_{t−1} − r²·x_{t−2} + √(1 − r²)·ε_t.
pub(super) fn switching_autoregressive(
    n_samples: usize,
    source: usize,
    n_sources: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let frequency = geometric(RESONANCE.0, RESONANCE.1, source, n_sources);
    let regime_of = |index: usize| {
        let modulus = POLE_MODULUS[index];
        let angle = TAU * frequency * if index == 0 { 1.0 } else { REGIME_RATIO };
        (
            2.0 * modulus * libm::cos(angle),
            -modulus * modulus,
            (1.0 - modulus * modulus).sqrt(),
        )
    };
    let regimes = [regime_of(0), regime_of(1)];
    let mut state = usize::from(rng.random_bool(0.5));
    let (mut last, mut before) = (0.0, 0.0);
    let mut step = || {
        if !rng.random_bool(STAY) {
            state = 1 - state;
        }
        let (first, second, size) = regimes[state];
        let innovation: f64 = StandardNormal.sample(rng);
        (last, before) = (first * last + second * before + size * innovation, last);
        last
    };
    for _ in 0..N_FORGOTTEN {
        step();
    }
    (0..n_samples).map(|_| step()).collect()
}

/// Laplace noise with one scale per segment (TCL).
pub(super) fn modulated_laplace(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    modulated(
        n_samples,
        rng,
        |rng| rng.random_range(LAPLACE_SCALE.0..LAPLACE_SCALE.1),
        laplace,
    )
}

/// Gaussian noise with one variance per segment (iVAE).
pub(super) fn modulated_gaussian(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let scale = |rng: &mut ChaCha8Rng| {
        rng.random_range(GAUSSIAN_VARIANCE.0..GAUSSIAN_VARIANCE.1)
            .sqrt()
    };
    modulated(n_samples, rng, scale, |rng| StandardNormal.sample(rng))
}

/// exp(g_t)·ε_t with g a Gaussian process and ε white Gaussian noise.
pub(super) fn enveloped_gaussian(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut values = envelope(n_samples, rng);
    for value in &mut values {
        let noise: f64 = StandardNormal.sample(rng);
        *value *= noise;
    }
    values
}

/// exp(g_t) with g a Gaussian process.
fn envelope(n_samples: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut values = gaussian_process(n_samples, ENVELOPE_SCALE, rng);
    // The kernel exp(−t²/ℓ²) has the sum of squares ℓ·√(π/2).
    let deviation = (ENVELOPE_SCALE * std::f64::consts::FRAC_PI_2.sqrt()).sqrt();
    for value in &mut values {
        *value = libm::exp(ENVELOPE_DEPTH * *value / deviation);
    }
    values
}

/// In turn: an AR(2) resonance, enveloped white noise, an enveloped resonance.
pub(super) fn varied(
    n_samples: usize,
    source: usize,
    n_sources: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    if source % 3 == 1 {
        return enveloped_gaussian(n_samples, rng);
    }
    let angle = TAU * geometric(RESONANCE.0, RESONANCE.1, source, n_sources);
    let modulus = POLE_MODULUS[1];
    let (first, second) = (2.0 * modulus * libm::cos(angle), -modulus * modulus);
    let (mut last, mut before) = (0.0, 0.0);
    let mut step = |_| {
        let innovation: f64 = StandardNormal.sample(rng);
        (last, before) = (first * last + second * before + innovation, last);
        last
    };
    (0..N_FORGOTTEN).for_each(|t| {
        step(t);
    });
    let mut values: Vec<f64> = (0..n_samples).map(step).collect();
    if source % 3 == 2 {
        let envelope = envelope(n_samples, rng);
        for (value, strength) in values.iter_mut().zip(envelope) {
            *value *= strength;
        }
    }
    values
}

fn modulated(
    n_samples: usize,
    rng: &mut ChaCha8Rng,
    draw_scale: impl Fn(&mut ChaCha8Rng) -> f64,
    draw_value: impl Fn(&mut ChaCha8Rng) -> f64,
) -> Vec<f64> {
    let mut scale = 0.0;
    (0..n_samples)
        .map(|t| {
            if t % SEGMENT_LENGTH == 0 {
                scale = draw_scale(rng);
            }
            scale * draw_value(rng)
        })
        .collect()
}
