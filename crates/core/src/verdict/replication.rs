//! Whether sources are found again: in halves of the recording, by restarts, in further runs.
//!
//! Each half is asked where its own kernel energy is least near the place that the whole recording
//! has found. That says something of sources that the kernel energy tells apart, and nothing of
//! others.

use super::judged::Judged;
use crate::config::{Init, MixerKind};
use crate::train::{correlation, separate};
use crate::{Config, Error, Recording, Result, Separation, restart_seed};
use faer::{Mat, MatRef};
use strt_classic::Components;
use strt_classic::kernel::{Form, refit};
use strt_signal::columns::col;

/// The |correlation| from which on a source has been found again by another run.
const AGAIN: f64 = 0.9;
/// Seeds of further runs are those of restarts that no run has.
const FIRST_SEED: usize = 1 << 21;

/// |correlation| of every source as the first half has it with itself as the second half has it.
/// `None` where a half has no answer.
pub(super) fn of_halves(judged: &Judged, form: &Form) -> Option<Vec<f64>> {
    let (t, k) = (judged.n_samples(), judged.n_sources());
    let whitened = judged.whitened()?;
    let components = Components::of_rows(whitened.as_ref(), judged.rows.view()).ok()?;
    let found = Mat::identity(k, k);
    let forms = std::slice::from_ref(form);
    let first = refit(&components, 0..t / 2, forms, &found)?;
    let second = refit(&components, t / 2..t, forms, &found)?;
    let cosine = |k: usize| (first.col(k).transpose() * second.col(k)).abs().min(1.0);
    Some((0..k).map(cosine).collect())
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
    let refuse = |what| Err(Error::ReplicatesOfOwnParts { what });
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
