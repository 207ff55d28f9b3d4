//! Denoised sources: their posterior mean given the mixing, the noise of the channels and the
//! spectrum of every source, and how uncertain it is.
//!
//! In: a [`Separation`] whose sources are an affine map of the channels, and a recording. Out:
//! [`Denoised`]: T×K sources, with missing samples filled, and their standard deviations.
//!
//! ```text
//! y_t = M·s_t + n_t         n white in time, of variance σ² in every scaled channel
//! x_t = U·y_t = s_t + U·n_t                  unmixed: noise of covariance N = σ²·U·Uᵀ
//! ŝ(f) = P(f)·(P(f) + N)⁻¹·x(f)              P diagonal: the spectra of independent sources
//! ```
//!
//! σ² is the mean variance of the principal components that the whitening has discarded: what K
//! sources leave over. Where nothing is left over (as many channels as sources) noise cannot be
//! told from sources, and none is assumed: complete samples stay as they are. The spectra are those
//! of the sources of the training less the noise in them (`spectrum.rs`); everything belongs to the
//! model, and a new recording gives only x. Gaps are filled by the conditional mean of x
//! (`gaps.rs`), which the filter then takes as observed (`circle.rs`). Each piece of a recording is
//! denoised by itself: it knows nothing of what came before and after it.
//!
//! Deliberately absent: noise that differs between channels or has a colour, spectra that change
//! with time, nonlinear mixing (noise behind a bend is neither Gaussian nor the same everywhere),
//! and sources that are free in every sample (they are no map of the channels).

mod circle;
mod gaps;
mod spectrum;
mod spread;

use crate::config::Coordinates;
use crate::separation::{Separation, Unmixing};
use crate::train::thread_pool;
use crate::{Error, Recording, Result};
use circle::{Circle, fast_length};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use spectrum::Covariances;
use std::collections::HashMap;
use strt_signal::pieces::Pieces;
use strt_signal::preprocess::DEFAULT_RANK_TOLERANCE;
use strt_signal::rows::Rows;

/// Numbers that the inverses of all frequencies may take: 2²⁴/2 of them, 64 MB.
const MOST_NUMBERS: usize = 1 << 24;
/// Samples of the longest and the shortest circle that a long recording is cut into.
const CIRCLES: (usize, usize) = (16_384, 2048);

/// How often spectra are estimated anew from sources whose gaps were filled by them.
const REFINEMENTS: usize = 3;

/// The posterior of the sources under the noise of the channels.
#[derive(Clone, Debug)]
pub struct Denoised {
    sources: Mat<f64>,
    deviation: Mat<f64>,
    noise: ChannelNoise,
}

impl Denoised {
    /// Posterior mean of the sources (T×K), in the order and scale of [`Separation::sources`].
    /// Missing samples are filled.
    pub fn sources(&self) -> MatRef<'_, f64> {
        self.sources.as_ref()
    }

    /// Posterior standard deviation of every sample (T×K).
    pub fn deviation(&self) -> MatRef<'_, f64> {
        self.deviation.as_ref()
    }

    /// The noise that was assumed.
    pub fn noise(&self) -> &ChannelNoise {
        &self.noise
    }
}

/// The noise of the channels, as the discarded principal components show it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelNoise {
    /// Share of the variance of the scaled channels that is noise; `None` where the sources leave
    /// nothing over to measure it by, and no noise is assumed.
    pub share: Option<f64>,
    /// Share of the variance of each unmixed source that is noise.
    pub of_sources: Vec<f64>,
}

impl Separation {
    /// Posterior mean and standard deviation of the sources of `recording`, which must have the
    /// channels of the training data in the same order. Missing samples are filled: the mean in a
    /// long gap returns to that of the source, and the deviation grows to the source's own.
    ///
    /// # Errors
    /// When the model is not affine or its sources are free in every sample, when the run has
    /// diverged, or when the channels are others than those of the training.
    pub fn denoise(&self, recording: &Recording) -> Result<Denoised> {
        self.check_channels(recording)?;
        let pool = thread_pool(self.record.config.threads)?;
        pool.install(|| NoiseModel::of(self)?.denoise(self, recording))
    }
}

/// Of what a mean is taken.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// The sources.
    Sources,
    /// The unmixed sources with their noise: what is there stays as it is.
    Filled,
}

/// What a separation says about noise and sources.
struct NoiseModel {
    /// N, in the units of S̃ (K×K).
    noise: Mat<f64>,
    covariances: Covariances,
    of_channels: ChannelNoise,
}

impl NoiseModel {
    fn of(separation: &Separation) -> Result<NoiseModel> {
        let record = &separation.record;
        let config = &record.config;
        let coordinates = config.sources.coordinates.unwrap_or(Coordinates::Fiber);
        let Unmixing::Affine(map) = &record.unmixing else {
            return Err(Error::DenoiseBent {
                mixer: config.mixer.kind,
                coordinates,
            });
        };
        let unlocked = config.sources.unlock.is_some_and(|unlock| unlock < 1.0);
        let given = config.sources.init == Some(crate::config::Init::Given);
        if coordinates == Coordinates::Direct
            || coordinates == Coordinates::Fiber && (unlocked || given)
        {
            return Err(Error::DenoiseFree { coordinates });
        }
        let sources = record.sources.as_ref();
        let finite = |value: &f64| value.is_finite();
        let complete = (0..sources.nrows()).filter(|&t| !sources[(t, 0)].is_nan());
        if record.n_complete() == 0
            || !map.col_iter().all(|column| column.iter().all(finite))
            || !complete
                .into_iter()
                .all(|t| sources.row(t).iter().all(finite))
        {
            return Err(Error::DenoiseDiverged);
        }

        let (k, m) = (config.n_sources, record.scaling.n_channels());
        let eigenvalues = record.whitening.eigenvalues();
        let variance = left_over(eigenvalues, k);
        let unmixing = Mat::from_fn(k, m, |k, c| map[(c, k)] / separation.decoder_gauge(k).1);
        let noise = &unmixing * unmixing.transpose() * faer::Scale(variance.unwrap_or(0.0));
        let in_sources: Vec<f64> = (0..k).map(|k| noise[(k, k)]).collect();
        let most_lags = circle_length(k) / 8;
        let covariances = Covariances::of(sources, &record.pieces, &in_sources, most_lags);
        let total: f64 = eigenvalues.iter().sum();
        let varying = eigenvalues
            .iter()
            .filter(|&&eigenvalue| eigenvalue > DEFAULT_RANK_TOLERANCE * eigenvalues[0])
            .count();
        let share = |k: usize| in_sources[k] / covariances.variance[k];
        let of_channels = ChannelNoise {
            share: variance.map(|variance| variance * varying as f64 / total),
            of_sources: (0..k).map(|k| share(k).min(1.0)).collect(),
        };
        let model = NoiseModel {
            noise,
            covariances,
            of_channels,
        };
        model.refined(sources, &record.pieces, &in_sources)
    }

    /// The model with spectra of the sources of the training without their gaps. Products of pairs
    /// in gappy sources have spectra with errors of about 1 % of the strongest frequency at all
    /// others, which is more than the noise; those of filled sources have not.
    fn refined(
        mut self,
        sources: MatRef<'_, f64>,
        pieces: &Pieces,
        in_sources: &[f64],
    ) -> Result<NoiseModel> {
        let (t, most_lags) = (sources.nrows(), self.covariances.n_lags());
        if !(0..t).any(|t| sources[(t, 0)].is_nan()) {
            return Ok(self);
        }
        for _ in 0..REFINEMENTS {
            let stretch =
                |begin: usize, end: usize| Ok(sources.subrows(begin, end - begin).to_owned());
            let filled = self.by_piece(&self.circles(pieces), pieces, stretch, Wanted::Filled)?;
            self.covariances
                .take_filled(filled.as_ref(), pieces, in_sources, most_lags);
        }
        Ok(self)
    }

    fn denoise(&self, separation: &Separation, recording: &Recording) -> Result<Denoised> {
        let (t, k) = (recording.n_samples(), self.noise.nrows());
        let noise = self.of_channels.clone();
        let quiet = noise.share.unwrap_or(0.0) == 0.0;
        if quiet && recording.missing().is_none() {
            return Ok(Denoised {
                sources: unmixed(separation, recording.observations())?,
                deviation: Mat::zeros(t, k),
                noise,
            });
        }
        let circles = self.circles(recording.pieces());
        let observed = |begin: usize, end: usize| {
            unmixed(
                separation,
                recording.observations().subrows(begin, end - begin),
            )
        };
        let pieces = recording.pieces();
        let sources = self.by_piece(&circles, pieces, observed, Wanted::Sources)?;
        let mut deviation = Mat::zeros(t, k);
        for piece in pieces.ranges() {
            let rows = match recording.missing() {
                Some(missing) => Rows::new(&missing[piece.clone()]),
                None => Rows::all(piece.len()),
            };
            let own = spread::deviation(&circles[&self.circle_len(piece.len())], &rows);
            let mut slot = deviation.as_mut().subrows_mut(piece.start, piece.len());
            slot.copy_from(&own);
        }
        Ok(Denoised {
            sources,
            deviation,
            noise,
        })
    }

    /// The length of the circle for T samples: their own where they fit, else one for blocks of
    /// them. Beyond its lags a source is forgotten: a circle that is longer by them has no seam.
    fn circle_len(&self, t: usize) -> usize {
        fast_length(t + self.covariances.n_lags()).min(circle_length(self.noise.nrows()))
    }

    /// The circles for all pieces, by their lengths.
    fn circles(&self, pieces: &Pieces) -> HashMap<usize, Circle> {
        let mut circles = HashMap::new();
        for len in pieces.lengths().map(|piece| self.circle_len(piece)) {
            let new = || Circle::new(len, &self.covariances, self.noise.as_ref());
            circles.entry(len).or_insert_with(new);
        }
        circles
    }

    /// What is wanted of unmixed sources (T×K), of which `x` gives stretches, piece by piece.
    fn by_piece(
        &self,
        circles: &HashMap<usize, Circle>,
        pieces: &Pieces,
        x: impl Fn(usize, usize) -> Result<Mat<f64>> + Sync,
        wanted: Wanted,
    ) -> Result<Mat<f64>> {
        let mut values = Mat::zeros(pieces.n_samples(), self.noise.nrows());
        for piece in pieces.ranges() {
            let of_piece = |begin: usize, end: usize| x(piece.start + begin, piece.start + end);
            let circle = &circles[&self.circle_len(piece.len())];
            let own = self.in_blocks(circle, piece.len(), of_piece, wanted)?;
            let mut slot = values.as_mut().subrows_mut(piece.start, piece.len());
            slot.copy_from(&own);
        }
        Ok(values)
    }

    /// What is wanted of T contiguous unmixed sources (T×K), of which `x` gives stretches. A long
    /// piece is cut into blocks, each seen with what lies around it.
    fn in_blocks(
        &self,
        circle: &Circle,
        t: usize,
        x: impl Fn(usize, usize) -> Result<Mat<f64>> + Sync,
        wanted: Wanted,
    ) -> Result<Mat<f64>> {
        let (n, n_lags, n_sources) = (circle.len(), self.covariances.n_lags(), self.noise.nrows());
        let kernels: Vec<Vec<f64>> = (0..n_sources).map(|k| circle.kernels(k).0).collect();
        let whole = t + n_lags <= n;
        let margin = if whole { 0 } else { n / 8 };
        let len = if whole { t } else { n - n_lags - 2 * margin };
        let blocks: Vec<usize> = (0..t).step_by(len.max(1)).collect();
        let mut values = Mat::zeros(t, n_sources);
        for some in blocks.chunks(rayon::current_num_threads().max(1)) {
            let columns: Vec<Result<Vec<Vec<f64>>>> = some
                .par_iter()
                .map(|&first| {
                    let (begin, end) =
                        (first.saturating_sub(margin), (first + len + margin).min(t));
                    let x = x(begin, end)?;
                    let mut columns = self.conditional_mean(circle, &kernels, x.as_ref(), wanted);
                    for column in &mut columns {
                        column.drain(..first - begin);
                        column.truncate(len.min(t - first));
                    }
                    Ok(columns)
                })
                .collect();
            for (&first, columns) in some.iter().zip(columns) {
                for (k, column) in columns?.iter().enumerate() {
                    for (i, value) in column.iter().enumerate() {
                        values[(first + i, k)] = *value;
                    }
                }
            }
        }
        Ok(values)
    }

    /// E[s | x] or E[x | what is there of it] of a stretch of unmixed sources, NaN in missing rows.
    fn conditional_mean(
        &self,
        circle: &Circle,
        kernels: &[Vec<f64>],
        x: MatRef<'_, f64>,
        wanted: Wanted,
    ) -> Vec<Vec<f64>> {
        let missing: Vec<bool> = (0..circle.len())
            .map(|t| t >= x.nrows() || x[(t, 0)].is_nan())
            .collect();
        let mut columns: Vec<Vec<f64>> = (0..x.ncols())
            .map(|k| {
                let value = |t: usize| {
                    if missing[t] {
                        0.0
                    } else {
                        x[(t, k)] - self.mean(k)
                    }
                };
                (0..circle.len()).map(value).collect()
            })
            .collect();
        let mut work = circle.work();
        gaps::fill(circle, kernels, &missing, &mut columns, &mut work);
        if wanted == Wanted::Sources {
            circle.smooth(&mut columns, &mut work);
        }
        for (k, column) in columns.iter_mut().enumerate() {
            column.truncate(x.nrows());
            column.iter_mut().for_each(|value| *value += self.mean(k));
        }
        columns
    }

    fn mean(&self, k: usize) -> f64 {
        self.covariances.mean[k]
    }
}

/// Mean variance of the components that K sources leave over; `None` where there are none, as
/// with as many channels as sources or without noise. Directions in which channels do not vary at
/// all, such as those of constant channels, do not count.
fn left_over(eigenvalues: &[f64], n_sources: usize) -> Option<f64> {
    let threshold = DEFAULT_RANK_TOLERANCE * eigenvalues.first()?;
    let left = eigenvalues.get(n_sources..)?.iter();
    let (sum, count) = left
        .filter(|&&eigenvalue| eigenvalue > threshold)
        .fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Samples of the circles that long recordings of K sources are cut into.
fn circle_length(n_sources: usize) -> usize {
    let fits = MOST_NUMBERS / (n_sources * n_sources).max(1);
    let fits = if fits == 0 { 1 } else { 1 << fits.ilog2() };
    fits.clamp(CIRCLES.1, CIRCLES.0)
}

/// Sources of rows of channels under an affine model.
fn unmixed(separation: &Separation, observations: MatRef<'_, f64>) -> Result<Mat<f64>> {
    separation
        .unmix(observations)
        .expect("an affine model is a map")
}

#[cfg(test)]
mod tests;
