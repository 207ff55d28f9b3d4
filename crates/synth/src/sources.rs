//! Source generators: Gaussian processes, sines, AR(1) and non-smooth waves.
//!
//! In: a specification and one random stream per source. Out: raw sources, T × K, which the caller
//! standardises. With K = 3 the parameters are exactly those of the suites; for other K they are
//! spread over the same range. Elementary functions come from `libm`, so that the same seed gives
//! the same bits on every machine.

use std::f64::consts::TAU;

use faer::Mat;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::dynamics::{self, normal_scores};
use super::segments;
use super::{ProblemSpec, Purpose, SourceKind};

/// The kernel of a Gaussian process is cut at this many length-scales, where it has fallen to
/// exp(−25) ≈ 1e-11.
const KERNEL_REACH: f64 = 5.0;
/// An AR process forgets its start for so long that its memory of it is below this.
const FORGOTTEN: f64 = 1e-12;
/// Cycles per recording of the fastest and slowest `sines` source.
const SINE_CYCLES: (f64, f64) = (31.0, 3.0);
/// Within `nonsmooth`, repetitions of the three waves are sped up by at most this factor.
const SPEED_RANGE: f64 = 3.0;

/// The pole of all sources of `laplacear`.
const LAPLACE_POLE: f64 = 0.9;
/// Length-scales of the sources of `gp` and of `gpclose`.
const GP: [f64; 3] = [6.0, 20.0, 70.0];
const GP_CLOSE: [f64; 3] = [10.0, 16.0, 26.0];

/// Raw sources, T × K.
pub(super) fn generate(spec: &ProblemSpec) -> Mat<f64> {
    let mut sources = Mat::zeros(spec.n_samples, spec.n_sources);
    for source in 0..spec.n_sources {
        let values = generate_one(spec, source, &mut spec.stream(Purpose::Source(source)));
        sources.col_as_slice_mut(source).copy_from_slice(&values);
    }
    sources
}

fn generate_one(spec: &ProblemSpec, source: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let (n_samples, n_sources) = (spec.n_samples, spec.n_sources);
    match spec.kind {
        SourceKind::Gp => gaussian_process(n_samples, spread(GP, source, n_sources), rng),
        SourceKind::GpClose => {
            gaussian_process(n_samples, spread(GP_CLOSE, source, n_sources), rng)
        }
        SourceKind::Sines => sines(n_samples, source, n_sources, rng),
        SourceKind::Ar => {
            let pole = ar_pole(source, n_sources);
            autoregressive(n_samples, pole, || StandardNormal.sample(rng))
        }
        SourceKind::NonSmooth => non_smooth(n_samples, source, n_sources, rng),
        SourceKind::SwitchingAr => {
            segments::switching_autoregressive(n_samples, source, n_sources, rng)
        }
        SourceKind::SegmentLaplace => segments::modulated_laplace(n_samples, rng),
        SourceKind::SegmentGaussian => segments::modulated_gaussian(n_samples, rng),
        SourceKind::Nonstationary => segments::enveloped_gaussian(n_samples, rng),
        SourceKind::Varied => segments::varied(n_samples, source, n_sources, rng),
        SourceKind::Independent => (0..n_samples).map(|_| independent(source, rng)).collect(),
        SourceKind::LaplaceAr => autoregressive(n_samples, LAPLACE_POLE, || laplace(rng)),
        SourceKind::Lorenz => normal_scores(&dynamics::lorenz(n_samples, dynamics::X, rng)),
        SourceKind::LorenzZ => normal_scores(&dynamics::lorenz(n_samples, dynamics::Z, rng)),
        SourceKind::Rossler => normal_scores(&dynamics::rossler(n_samples, rng)),
        SourceKind::MackeyGlass => normal_scores(&dynamics::mackey_glass(n_samples, rng)),
        SourceKind::Henon => normal_scores(&dynamics::henon(n_samples, rng)),
        SourceKind::Logistic => normal_scores(&dynamics::logistic(n_samples, rng)),
        SourceKind::VanDerPol => normal_scores(&dynamics::van_der_pol(n_samples, rng)),
        SourceKind::Tar => normal_scores(&dynamics::threshold_autoregressive(n_samples, rng)),
        SourceKind::Garch => normal_scores(&dynamics::garch(n_samples, rng)),
        SourceKind::Coupled => normal_scores(&dynamics::coupled(n_samples, rng)),
        SourceKind::LorenzBackwards => dynamics::backwards(n_samples, source, rng),
        SourceKind::LorenzSurrogates => {
            let mut first = spec.stream(Purpose::Source(0));
            dynamics::surrogates(n_samples, source, &mut first, rng)
        }
    }
}

/// The length-scale of a source of `gp` or `gpclose`.
pub(super) fn length_scale(kind: SourceKind, source: usize, n_sources: usize) -> Option<f64> {
    match kind {
        SourceKind::Gp => Some(spread(GP, source, n_sources)),
        SourceKind::GpClose => Some(spread(GP_CLOSE, source, n_sources)),
        _ => None,
    }
}

/// The given value for K = 3, otherwise the `index`-th of K values in geometric progression between
/// the outer two (their geometric mean when K = 1).
fn spread(for_three: [f64; 3], index: usize, count: usize) -> f64 {
    if count == 3 {
        for_three[index]
    } else {
        geometric(for_three[0], for_three[2], index, count)
    }
}

/// The `index`-th of `count` values in geometric progression from `first` to `last`.
pub(super) fn geometric(first: f64, last: f64, index: usize, count: usize) -> f64 {
    let position = if count > 1 {
        index as f64 / (count - 1) as f64
    } else {
        0.5
    };
    first * libm::pow(last / first, position)
}

/// Poles 0.5, 0.85, 0.98; for other K the time constants −1/ln(pole) are in geometric progression.
pub(super) fn ar_pole(index: usize, count: usize) -> f64 {
    let time_constant = |pole: f64| -1.0 / libm::log(pole);
    match count {
        3 => [0.5, 0.85, 0.98][index],
        _ => libm::exp(-1.0 / geometric(time_constant(0.5), time_constant(0.98), index, count)),
    }
}

/// White Gaussian noise convolved with exp(−t²/ℓ²).
///
/// The convolution of that kernel with itself is proportional to exp(−t²/(2ℓ²)), so this is a
/// stationary Gaussian process with exactly the squared-exponential covariance of length-scale ℓ,
/// in O(T·ℓ) instead of O(T³).
pub(super) fn gaussian_process(
    n_samples: usize,
    length_scale: f64,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let reach = libm::ceil(KERNEL_REACH * length_scale) as usize;
    let kernel: Vec<f64> = (0..=2 * reach)
        .map(|index| {
            let distance = (index as f64 - reach as f64) / length_scale;
            libm::exp(-distance * distance)
        })
        .collect();
    let noise: Vec<f64> = (0..n_samples + 2 * reach)
        .map(|_| StandardNormal.sample(rng))
        .collect();
    noise
        .windows(kernel.len())
        .map(|window| window.iter().zip(&kernel).map(|(w, k)| w * k).sum())
        .collect()
}

/// x_t = pole·x_{t−1} + innovation, after a start that is forgotten.
fn autoregressive(n_samples: usize, pole: f64, mut innovation: impl FnMut() -> f64) -> Vec<f64> {
    let n_forgotten = libm::ceil(libm::log(FORGOTTEN) / libm::log(pole)) as usize;
    let mut value = 0.0;
    let mut step = || {
        value = pole * value + innovation();
        value
    };
    for _ in 0..n_forgotten {
        step();
    }
    (0..n_samples).map(|_| step()).collect()
}

/// One sample of Laplace's density, uniform or exponential, whichever is the turn of the source.
fn independent(source: usize, rng: &mut ChaCha8Rng) -> f64 {
    match source % 3 {
        0 => laplace(rng),
        1 => rng.random_range(-1.0..1.0),
        _ => laplace(rng).abs(),
    }
}

/// Laplace with scale 1: a random sign times an exponential.
pub(super) fn laplace(rng: &mut ChaCha8Rng) -> f64 {
    // 1 − u lies in (0, 1], where the logarithm is finite.
    let size = -libm::log(1.0 - rng.random::<f64>());
    if rng.random_bool(0.5) { size } else { -size }
}

/// Three shapes in turn: a pair of sines, a modulated sine, a sine with a slower one.
///
/// With K = 3 they are sin(31)+½sin(43), sin(11)(1+½sin(2)) and sin(3)+0.4 sin(1.3), in cycles per
/// recording with random phases; for other K the main frequencies are geometric from 31 to 3 and
/// the rest keep their ratios.
fn sines(n_samples: usize, source: usize, n_sources: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let main = match n_sources {
        3 => [SINE_CYCLES.0, 11.0, SINE_CYCLES.1][source],
        _ => geometric(SINE_CYCLES.0, SINE_CYCLES.1, source, n_sources),
    };
    let other = main * [43.0 / 31.0, 2.0 / 11.0, 1.3 / 3.0][source % 3];
    let (main_phase, other_phase) = (rng.random_range(0.0..TAU), rng.random_range(0.0..TAU));
    (0..n_samples)
        .map(|t| {
            let time = t as f64 / n_samples as f64;
            let first = libm::sin(TAU * main * time + main_phase);
            let second = libm::sin(TAU * other * time + other_phase);
            match source % 3 {
                0 => first + 0.5 * second,
                1 => first * (1.0 + 0.5 * second),
                _ => first + 0.4 * second,
            }
        })
        .collect()
}

/// Sawtooth (23 cycles), square wave (7 cycles) and Laplace AR(1) (pole 0.97) in turn.
///
/// Each further round of the three is faster, geometrically up to a factor below [`SPEED_RANGE`].
fn non_smooth(n_samples: usize, source: usize, n_sources: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let (round, n_rounds) = (source / 3, n_sources.div_ceil(3));
    let speed = libm::pow(SPEED_RANGE, round as f64 / n_rounds as f64);
    let cycle_position = |cycles: f64, phase: f64, t: usize| {
        let position = cycles * t as f64 / n_samples as f64 + phase;
        position - position.floor()
    };
    match source % 3 {
        0 => {
            let phase = rng.random::<f64>();
            (0..n_samples)
                .map(|t| 2.0 * cycle_position(23.0 * speed, phase, t) - 1.0)
                .collect()
        }
        1 => {
            let phase = rng.random::<f64>();
            let level = |position: f64| if position < 0.5 { 1.0 } else { -1.0 };
            (0..n_samples)
                .map(|t| level(cycle_position(7.0 * speed, phase, t)))
                .collect()
        }
        _ => autoregressive(n_samples, libm::pow(0.97, speed), || laplace(rng)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_sources_have_the_parameters_of_the_suites() {
        assert_eq!(
            [0, 1, 2].map(|index| spread([6.0, 20.0, 70.0], index, 3)),
            [6.0, 20.0, 70.0]
        );
        assert_eq!([0, 1, 2].map(|index| ar_pole(index, 3)), [0.5, 0.85, 0.98]);
    }

    #[test]
    fn other_numbers_span_the_same_range_geometrically() {
        let scales: Vec<f64> = (0..5)
            .map(|index| spread([6.0, 20.0, 70.0], index, 5))
            .collect();
        assert!((scales[0] - 6.0).abs() < 1e-12 && (scales[4] - 70.0).abs() < 1e-9);
        assert!((scales[1] / scales[0] - scales[4] / scales[3]).abs() < 1e-9);
        assert!((spread([4.0, 1.0, 9.0], 0, 1) - 6.0).abs() < 1e-12);
        assert!((ar_pole(0, 4) - 0.5).abs() < 1e-12 && (ar_pole(3, 4) - 0.98).abs() < 1e-12);
        assert!(ar_pole(1, 4) < ar_pole(2, 4));
    }
}
