//! Sources of one law: independent runs of one dynamical system, each made Gaussian by ranks.
//!
//! In: a number of samples and the random stream of a source. Out: raw samples of a run, which the
//! caller replaces by their [`normal_scores`]. All sources of a problem have the same spectrum and
//! the same Gaussian marginal, and nothing about them changes in time, so that no statistic of
//! second order, of single samples or of changing variance tells them apart: only the way in which
//! one sample follows from others does.
//!
//! | kind | a sample | file |
//! |---|---|---|
//! | `lorenz`, `lorenzz` | x or z of the Lorenz system, every 0.05 | `flows.rs` |
//! | `rossler` | x of the Rössler system, every 0.3 | `flows.rs` |
//! | `mackeyglass` | x of the Mackey–Glass equation, every 3 | `delay.rs` |
//! | `vanderpol` | x of a van der Pol oscillator driven by noise, every 0.4 | `flows.rs` |
//! | `coupled` | x₁ + x₂ of two coupled van der Pol oscillators, every 0.3 | `flows.rs` |
//! | `henon`, `logistic` | the Hénon and the logistic map, every iterate | `maps.rs` |
//! | `tar`, `garch` | threshold autoregression, changing volatility | `maps.rs` |
//! | `lorenzbackwards` | in turn: z, z of another run backwards, a surrogate of a third | here |
//! | `lorenzsurrogates` | x, then surrogates of it | here |
//!
//! A surrogate (`surrogate.rs`) keeps spectrum and marginal of a run and has random phases. Two
//! surrogates of one law are Gaussian processes of one spectrum, which nothing can tell apart: of
//! `lorenzsurrogates` only the first source can be identified, and of `lorenzbackwards` with more
//! than three sources not those that are surrogates.
//!
//! Every run starts at random and forgets its start. Only sums, products, quotients and functions
//! of `libm` are used, so that the same seed gives the same bits on every machine, which for a
//! chaotic system means the same series.

mod delay;
mod flows;
mod fourier;
mod maps;
mod scores;
mod surrogate;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub(super) use self::delay::mackey_glass;
pub(super) use self::flows::{coupled, lorenz, rossler, van_der_pol};
pub(super) use self::maps::{garch, henon, logistic, threshold_autoregressive};
pub(super) use self::scores::normal_scores;

/// Samples that are thrown away at the start of a run: as many as this and, so that runs of a slow
/// system do not begin alike, up to as many again.
const FORGOTTEN: usize = 1000;
/// A run that becomes a surrogate is this much longer at first, to be cut where its ends meet.
const SPARE: usize = 1000;
/// Variables of the Lorenz system.
pub(super) const X: usize = 0;
pub(super) const Z: usize = 2;

/// A source of `lorenzbackwards`.
pub(super) fn backwards(n_samples: usize, source: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    match source % 3 {
        0 => normal_scores(&lorenz(n_samples, Z, rng)),
        1 => {
            let mut scores = normal_scores(&lorenz(n_samples, Z, rng));
            scores.reverse();
            scores
        }
        _ => {
            let run = lorenz(n_samples + SPARE + 1, Z, rng);
            surrogate::surrogate(&normal_scores(closed(n_samples, &run)), rng)
        }
    }
}

/// A source of `lorenzsurrogates`: the run of the stream `first`, or a surrogate of it.
pub(super) fn surrogates(
    n_samples: usize,
    source: usize,
    first: &mut ChaCha8Rng,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let run = lorenz(n_samples + SPARE + 1, X, first);
    let scores = normal_scores(closed(n_samples, &run));
    if source == 0 {
        scores
    } else {
        surrogate::surrogate(&scores, rng)
    }
}

/// `n_samples` values of `advance`, called once a sample, after a start that is forgotten.
fn settled(
    n_samples: usize,
    rng: &mut ChaCha8Rng,
    mut advance: impl FnMut(&mut ChaCha8Rng) -> f64,
) -> Vec<f64> {
    let n_forgotten = FORGOTTEN + rng.random_range(0..FORGOTTEN);
    for _ in 0..n_forgotten {
        advance(rng);
    }
    (0..n_samples).map(|_| advance(rng)).collect()
}

/// The `n_samples` samples of `run` (`SPARE` + 1 longer) that close to a circle best.
///
/// A Fourier transform sees a jump from the last sample to the first, and a surrogate would spread
/// it over all samples as noise. So the two samples after the last should be like the first two.
fn closed(n_samples: usize, run: &[f64]) -> &[f64] {
    let gap = |start: usize| {
        let difference = |i: usize| run[i + n_samples] - run[i];
        let (first, second) = (difference(start), difference(start + 1));
        first * first + second * second
    };
    let best = (0..SPARE).min_by(|&a, &b| gap(a).total_cmp(&gap(b)));
    let start = best.unwrap_or(0);
    &run[start..start + n_samples]
}

#[cfg(test)]
mod tests;
