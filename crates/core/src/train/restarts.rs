//! The one call for most users: [`separate`]. Several restarts run in parallel and are ranked by
//! their own objective.

use super::observer::Observer;
use super::prepared::Prepared;
use super::trainer::{Start, StopReason, Trainer, thread_pool};
use crate::config::Config;
use crate::separation::Separation;
use crate::{Recording, Result};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use strt_signal::random::restart_seed;

/// How one restart ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestartSummary {
    /// Index of the restart.
    pub restart: usize,
    /// Its seed.
    pub seed: u64,
    /// Its final smoothed objective, by which restarts are ranked.
    pub objective: f64,
    /// Why it ended.
    pub stop: StopReason,
    /// Whether it had converged.
    pub converged: bool,
}

/// Separates a recording into its sources.
///
/// ```
/// use strtransformer::{Config, Recording, separate};
/// # let (t, mut values) = (400, Vec::new());
/// # for i in 0..t { let (a, b) = ((i as f64 * 0.9).sin(), (i as f64 * 0.05).sin()); values.extend([a + b, a - 0.5 * b, b]); }
/// let recording = Recording::from_rows(&values, 3)?; // 400 samples of 3 channels
/// let mut config = Config::new(2);
/// # config.optimizer.steps = Some(5);
/// # config.branches.patch_sizes = vec![4, 8];
/// config.seed = 7;
/// let separation = separate(&recording, &config)?;
/// println!("{:?}, converged: {}", separation.sources().shape(), separation.converged());
/// # assert_eq!(separation.sources().shape(), (400, 2));
/// # Ok::<(), strtransformer::Error>(())
/// ```
pub fn separate(recording: &Recording, config: &Config) -> Result<Separation> {
    separate_observed(recording, config, Start::default(), &mut ())
}

/// The same, watched by `observer` (reports of several restarts interleave; each says which one it
/// is) and with the mixer or the initial sources in `start`.
pub fn separate_observed(
    recording: &Recording,
    config: &Config,
    start: Start,
    observer: &mut dyn Observer,
) -> Result<Separation> {
    let prepared = Prepared::new(recording, config)?;
    let threads = match config.threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    };
    // Whole restarts side by side use the cores best; what is left over goes inside each of them.
    let side_by_side = config.restarts.min(threads);
    let next = AtomicUsize::new(0);
    let observer = Mutex::new(observer);
    let results: Mutex<Vec<Result<Separation>>> = Mutex::new(Vec::new());
    let work = || {
        let pool = match thread_pool(threads / side_by_side) {
            Ok(pool) => pool,
            Err(error) => return results.lock().expect("no worker panics").push(Err(error)),
        };
        loop {
            let restart = next.fetch_add(1, Ordering::Relaxed);
            if restart >= config.restarts {
                break;
            }
            let seed = restart_seed(config.seed, restart);
            let result =
                Trainer::from_prepared(&prepared, pool.clone(), seed, restart, start.clone()).map(
                    |mut trainer| {
                        trainer.run(&mut |report: &super::StepReport<'_>| {
                            observer.lock().expect("no observer panics").observe(report)
                        });
                        trainer.finish()
                    },
                );
            results.lock().expect("no worker panics").push(result);
        }
    };
    if side_by_side == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            (0..side_by_side).for_each(|_| {
                scope.spawn(work);
            });
        });
    }
    let results = results.into_inner().expect("all workers have ended");
    let separations = results.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(best_of(separations))
}

/// Whether restart `a` is kept rather than `b`, which came before: the lower smoothed objective
/// wins, and a diverged restart never wins over another.
pub(super) fn is_better(a: &RestartSummary, b: &RestartSummary) -> bool {
    let rank = |s: &RestartSummary| (s.stop == StopReason::Diverged, s.objective.is_nan());
    rank(a)
        .cmp(&rank(b))
        .then(a.objective.total_cmp(&b.objective))
        .is_lt()
}

/// The best restart, with the summary of all.
fn best_of(mut separations: Vec<Separation>) -> Separation {
    separations.sort_by_key(|s| s.restart());
    let summaries: Vec<RestartSummary> = separations.iter().map(Separation::summary).collect();
    let best = (0..summaries.len()).reduce(|best, i| {
        if is_better(&summaries[i], &summaries[best]) {
            i
        } else {
            best
        }
    });
    separations
        .swap_remove(best.unwrap_or(0))
        .with_restarts(summaries)
}
