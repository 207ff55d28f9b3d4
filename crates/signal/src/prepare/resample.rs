//! Another sampling rate: sinc interpolation by a Kaiser window.
//!
//! In: samples at one rate. Out: samples at another, from the same first instant on and of the same
//! duration, the ratio of the rates being a fraction L/M. Each new sample is a weighted sum of the
//! old ones around its instant, with weights that are symmetric about it: nothing is delayed. The
//! weights are one low-pass filter for whichever rate is lower. It passes frequencies up to 0.9
//! of half that rate, and by its window (80 dB; J. F. Kaiser, 1974) keeps what is above half of it
//! out; in between, the gain falls. The weights of every new sample add up to 1.

use super::stretches::{extended, stretches};
use crate::error::{Error, Result};
use crate::pieces::Pieces;
use faer::{Mat, MatRef};
use std::f64::consts::PI;

/// How much of half the lower rate passes.
const PASS: f64 = 0.9;
/// β of the Kaiser window for 80 dB: 0.1102·(80 − 8.7).
const BETA: f64 = 7.857;
/// (80 − 7.95)/(2.285·2π): half the taps of the window for 80 dB, times the transition as a share
/// of half the sampling rate.
const HALF_TAPS: f64 = 5.018;
/// Numbers in the table of weights; more would be a ratio that nobody means.
const MOST_WEIGHTS: usize = 1 << 24;
/// Largest L and M.
const MOST: u64 = 100_000;

/// Refuses a rate that cannot be come to.
///
/// # Errors
/// [`Error::Preparation`].
pub fn check(from: f64, to: f64) -> Result<()> {
    fraction(from, to).map(drop)
}

/// Every column at another rate; samples with a missing value stay missing, and stretches between
/// them that are shorter than half the filter (51 samples of the lower rate) become so.
///
/// # Errors
/// [`Error::Preparation`] when the rates are no rates or their ratio is no fraction of whole
/// numbers up to 100,000.
pub fn resample(values: MatRef<'_, f64>, from: f64, to: f64) -> Result<Mat<f64>> {
    let missing = crate::recording::missing_samples(values);
    let pieces = Pieces::whole(values.nrows());
    Ok(Resampler::new(from, to)?.apply(values, &missing, &pieces))
}

/// L and M of `to`/`from` = L/M in lowest terms, by continued fractions.
fn fraction(from: f64, to: f64) -> Result<(u64, u64)> {
    let refused = |expected: &str, remedy: &str| {
        let found = to.to_string();
        Err(Error::preparation("resample", expected, found, remedy))
    };
    if !(to.is_finite() && to > 0.0) {
        return refused(
            "a finite number of samples per second above 0",
            "correct it",
        );
    }
    let ratio = to / from;
    let (mut before, mut now) = ((1u64, 0u64), (ratio.floor().min(1e9) as u64, 1u64));
    let mut rest = ratio;
    loop {
        if now.0.max(now.1) > MOST {
            break;
        }
        // A recording of 10⁷ samples is then off by a hundredth of a sample at its end.
        if now.0 > 0 && (now.0 as f64 / now.1 as f64 / ratio - 1.0).abs() < 1e-9 {
            return Ok(now);
        }
        rest = (rest - rest.floor()).recip();
        if !(rest.is_finite() && rest < 1e9) {
            break;
        }
        let digit = rest.floor() as u64;
        (before, now) = (now, (digit * now.0 + before.0, digit * now.1 + before.1));
    }
    refused(
        &format!("a rate that is {from} Hz times a fraction of whole numbers up to {MOST}"),
        "choose a rounder one",
    )
}

/// I₀ by its power series, whose terms are all above 0.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..200 {
        term *= (x / (2.0 * f64::from(n))).powi(2);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// The weights of one ratio.
pub(super) struct Resampler {
    up: u64,
    down: u64,
    /// Old samples on either side of a new one.
    reach: usize,
    /// `up` × 2·reach: for every place of a new sample between two old ones, the weights of the old
    /// ones from `reach` − 1 before it to `reach` after it.
    weights: Vec<f64>,
}

impl Resampler {
    pub fn new(from: f64, to: f64) -> Result<Resampler> {
        let (up, down) = fraction(from, to)?;
        let lower = (up as f64 / down as f64).min(1.0);
        let reach = (HALF_TAPS / ((1.0 - PASS) * lower)).ceil();
        if reach * 2.0 * up as f64 > MOST_WEIGHTS as f64 {
            return Err(Error::preparation(
                "resample",
                format!("a rate that has a simpler ratio to {from} Hz than {up}/{down}"),
                to.to_string(),
                "choose a rounder one",
            ));
        }
        let cutoff = 0.5 * lower * (1.0 + PASS) / 2.0;
        let weight = |t: f64| {
            let inside = 1.0 - (t / reach).powi(2);
            if inside <= 0.0 {
                return 0.0;
            }
            let ideal = if t == 0.0 {
                2.0 * cutoff
            } else {
                (2.0 * PI * cutoff * t).sin() / (PI * t)
            };
            ideal * bessel(BETA * inside.sqrt())
        };
        let reach = reach as usize;
        let mut weights = Vec::with_capacity(2 * reach * up as usize);
        for phase in 0..up {
            let place = phase as f64 / up as f64;
            let first = weights.len();
            weights.extend((0..2 * reach).map(|i| weight(i as f64 - (reach as f64 - 1.0) - place)));
            let sum: f64 = weights[first..].iter().sum();
            weights[first..]
                .iter_mut()
                .for_each(|weight| *weight /= sum);
        }
        Ok(Resampler {
            up,
            down,
            reach,
            weights,
        })
    }

    /// Old samples that are needed on either side of a new one.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// The first new sample that is not before old sample `t`.
    fn from(&self, t: usize) -> usize {
        (t as u64 * self.up).div_ceil(self.down) as usize
    }

    /// Where pieces are among the new samples. One without any is gone.
    pub fn pieces(&self, old: &Pieces) -> Result<Pieces> {
        let new = old
            .ranges()
            .map(|piece| self.from(piece.end) - self.from(piece.start));
        let lengths: Vec<usize> = new.filter(|length| *length > 0).collect();
        Pieces::new(&lengths, self.from(old.n_samples()))
    }

    pub fn apply(&self, values: MatRef<'_, f64>, missing: &[bool], pieces: &Pieces) -> Mat<f64> {
        let mut resampled =
            Mat::from_fn(self.from(values.nrows()), values.ncols(), |_, _| f64::NAN);
        let (mut stretch, mut around) = (Vec::new(), Vec::new());
        for channel in 0..values.ncols() {
            let (old, new) = (values.col(channel), resampled.col_as_slice_mut(channel));
            for rows in stretches(missing, pieces).filter(|rows| rows.len() > self.reach) {
                stretch.clear();
                stretch.extend(rows.clone().map(|t| old[t]));
                extended(&stretch, self.reach, &mut around);
                for k in self.from(rows.start)..self.from(rows.end) {
                    let place = k as u64 * self.down;
                    let (t, phase) = ((place / self.up) as usize, (place % self.up) as usize);
                    let weights = &self.weights[2 * self.reach * phase..][..2 * self.reach];
                    // Sample t of the recording is at t − start + reach.
                    new[k] = dot(weights, &around[t - rows.start + 1..][..2 * self.reach]);
                }
            }
        }
        resampled
    }
}

/// Sum of products, in four sums that processors can form side by side, always the same four.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_chunks, b_chunks) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_chunks
        .remainder()
        .iter()
        .zip(b_chunks.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}
