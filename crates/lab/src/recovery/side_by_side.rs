//! Problems solved side by side, one thread each, every result kept as soon as it is there.

use super::record::{Record, Store};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use strt_cli::failure::Outcome;
use strt_cli::output::note;

/// Solves every job; 0 threads are all cores. `name` is what a job is called in the note that is
/// made of it. What cannot be solved is noted and left out: a gap in a table, not the end of the
/// others.
///
/// # Errors
/// When a result cannot be kept.
pub fn solve<J: Sync>(
    jobs: &[J],
    threads: usize,
    store: Store,
    name: impl Fn(&J) -> String + Sync,
    solve_one: impl Fn(&J) -> Outcome<Record> + Sync,
) -> Outcome<Store> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        n => n,
    };
    let next = AtomicUsize::new(0);
    let state = Mutex::new((store, Ok(()), 0usize));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = solve_one(job);
                    let mut state = state.lock().expect("no worker panics");
                    let (store, outcome, done) = &mut *state;
                    *done += 1;
                    let shown = match &result {
                        Ok(record) => format!("MAC {:.4}, {:.1} s", record.mac, record.seconds),
                        Err(failure) => format!("failed: {failure}"),
                    };
                    note(&format!("{done}/{} {}: {shown}", jobs.len(), name(job)));
                    if let Ok(record) = result
                        && outcome.is_ok()
                    {
                        *outcome = store.add(record);
                    }
                    if outcome.is_err() {
                        break;
                    }
                }
            });
        }
    });
    let (store, outcome, _) = state.into_inner().expect("all workers have ended");
    outcome.map(|()| store)
}
