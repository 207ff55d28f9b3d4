//! Whether sources are found again: in halves of the recording, in recordings put together from its
//! blocks, by restarts, in further runs.
//!
//! Halves and drawn recordings are asked where their own kernel energy is least near the place that
//! the whole recording has found. That says something of sources that the kernel energy tells
//! apart; of others, forecasts and networks say where each half has them (`evidence.rs`).

use super::judged::Judged;
use crate::config::{Init, MixerKind};
use crate::train::{correlation, separate};
use crate::{Config, Error, Recording, Result, Separation, restart_seed};
use faer::{Mat, MatRef};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use strt_classic::Components;
use strt_classic::kernel::{Beside, Blocks, Form, refit};
use strt_signal::columns::col;
use strt_signal::random::{Stream, rng};

/// The |correlation| from which on a source has been found again.
const AGAIN: f64 = 0.9;
/// Blocks of which recordings are put together.
const BLOCKS: usize = 16;
/// Seeds of further runs are those of restarts that no run has.
const FIRST_SEED: usize = 1 << 21;

/// The sources as the kernel energy of each half of the recording has them, near where the whole
/// has found them.
pub(super) struct Halves {
    first: Mat<f64>, // columns of norm 1
    second: Mat<f64>,
}

impl Halves {
    /// By this form and what is judged beside it. `None` where a half has no answer.
    pub fn new(judged: &Judged, form: &Form, beside: Beside) -> Option<Halves> {
        let (t, k) = (judged.n_samples(), judged.n_sources());
        let whitened = judged.whitened()?;
        let components = Components::of_rows(whitened.as_ref(), judged.rows.view()).ok()?;
        let found = Mat::identity(k, k);
        let forms = std::slice::from_ref(form);
        let of_half = |half| refit(&components, half, forms, beside, &found);
        let (first, mut second) = (of_half(0..t / 2)?, of_half(t / 2..t)?);
        for k in 0..k {
            if first.col(k).transpose() * second.col(k) < 0.0 {
                second.col_as_slice_mut(k).iter_mut().for_each(|a| *a = -*a);
            }
        }
        Some(Halves { first, second })
    }

    /// By how much of source j the two have another source k: for small ones the angle of the pair.
    pub fn apart(&self, k: usize, j: usize) -> f64 {
        self.first[(j, k)] - self.second[(j, k)]
    }
}

/// The share of `n` recordings, each put together from blocks of this one that are drawn with
/// replacement, in which the kernel energy has each source again. `None` where it has no answer.
pub(super) fn of_blocks(judged: &Judged, form: &Form, n: usize, seed: u64) -> Option<Vec<f64>> {
    let k = judged.n_sources();
    let whitened = judged.whitened()?;
    let components = Components::of_rows(whitened.as_ref(), judged.rows.view()).ok()?;
    let blocks = Blocks::new(&components, form, BLOCKS);
    let found = Mat::identity(k, k);
    let mut rng = rng(seed, Stream::Verdict);
    let mut draw = || {
        let mut times = [0; BLOCKS];
        (0..BLOCKS).for_each(|_| times[rng.random_range(0..BLOCKS)] += 1);
        times
    };
    let draws: Vec<[usize; BLOCKS]> = (0..n).map(|_| draw()).collect();
    let again = |times: &[usize; BLOCKS]| match blocks.refit(times, &found) {
        // Columns have norm 1, so that this is the |correlation| with the source itself.
        Some(a) => (0..k).map(|k| a[(k, k)].abs() >= AGAIN).collect(),
        None => vec![false; k],
    };
    let again: Vec<Vec<bool>> = draws.par_iter().map(again).collect();
    let share = |k: usize| again.iter().filter(|found| found[k]).count() as f64 / n as f64;
    Some((0..k).map(share).collect())
}

/// In how many restarts a source was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurrence {
    /// Those that have it.
    pub found: usize,
    /// Those that were compared with the one that was kept.
    pub compared: usize,
}

/// What the other restarts of a run say of one source.
pub(super) struct Restarts {
    pub recurrence: Recurrence,
    /// Its largest |correlation| with a source of another restart.
    pub likeness: f64,
}

/// What the other restarts say of source k; `None` where none was compared.
pub(super) fn of_restarts(separation: &Separation, k: usize) -> Option<Restarts> {
    let restarts = separation.restarts().iter();
    let likenesses: Vec<f64> = restarts
        .filter_map(|restart| restart.agreement_by_source.get(k).copied())
        .collect();
    let likeness = likenesses.iter().copied().max_by(f64::total_cmp)?;
    let recurrence = Recurrence {
        found: likenesses.iter().filter(|&&found| found >= AGAIN).count(),
        compared: likenesses.len(),
    };
    Some(Restarts {
        recurrence,
        likeness,
    })
}

/// The share of `n` further runs with seeds of their own in which each source is found again.
///
/// # Errors
/// When the run had parts of the caller's own, which are not kept, or a run fails.
pub(super) fn of_runs(
    separation: &Separation,
    recording: &Recording,
    n: usize,
) -> Result<Vec<f64>> {
    let of_run = separation.config();
    let refuse = |what| Err(Error::RerunsOfOwnParts { what });
    if of_run.mixer.kind == MixerKind::Custom {
        return refuse("a mixer");
    }
    if of_run.sources.init == Some(Init::Given) {
        return refuse("initial sources");
    }
    let k = separation.sources().ncols();
    let mut again = vec![0.0; k];
    for run in 0..n {
        let config = Config {
            seed: restart_seed(of_run.seed, FIRST_SEED + run),
            ..of_run.clone()
        };
        let other = separate(recording, &config)?;
        for (source, count) in again.iter_mut().enumerate() {
            let own = col(separation.sources(), source);
            *count += f64::from(likeness(own, other.sources()) >= AGAIN);
        }
    }
    again.iter_mut().for_each(|count| *count /= n as f64);
    Ok(again)
}

/// The largest |correlation| of a source with one of `others`, over the samples that are there.
fn likeness(source: &[f64], others: MatRef<'_, f64>) -> f64 {
    let correlations = (0..others.ncols()).map(|k| {
        let correlation = correlation(source, col(others, k)).abs();
        if correlation.is_nan() {
            0.0
        } else {
            correlation
        }
    });
    correlations.fold(0.0, f64::max)
}
