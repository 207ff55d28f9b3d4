//! The crew under the model checker loom: `cargo xtask ci --thorough` runs it.
//!
//! Every order of events that the memory model allows is gone through, up to a number of
//! preemptions that is given with each case. What items write, and the tools they write with, are
//! cells whose accesses the checker sees: one that is not ordered after the last fails the test.
//! Rayon is not part of the model; its threads are replaced by the model's.

use super::super::sync::{Edge, weakened};
use super::*;
use loom::cell::UnsafeCell;

/// A number whose every access is checked.
#[derive(Default)]
struct Checked(UnsafeCell<usize>);

// SAFETY: the model checker reports accesses that are not ordered, which is what it is here for.
unsafe impl Sync for Checked {}
// SAFETY: as above.
unsafe impl Send for Checked {}

impl Checked {
    fn add_one(&self) {
        // SAFETY: the checker fails the test before an access that is not ordered.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }
}

struct Case {
    n_workers: usize,
    n_jobs: usize,
    n_phases: usize,
    n_items: usize,
    /// How often a thread may be interrupted where it does not wait.
    preemptions: usize,
}

fn checked(n: usize) -> Vec<Checked> {
    (0..n).map(|_| Checked::default()).collect()
}

/// Lives until the process ends: threads of the model may not borrow.
fn keep<T>(values: Vec<T>) -> &'static mut [T] {
    values.leak()
}

/// Runs the jobs on threads of the model. The leader sees every item of a phase done once.
fn explore(case: Case) {
    let Case {
        n_workers,
        n_jobs,
        n_phases,
        n_items,
        preemptions,
    } = case;
    let mut checker = loom::model::Builder::new();
    checker.preemption_bound = Some(preemptions);
    checker.check(move || {
        let round: &'static Round<Checked, Checked> = &keep(vec![Round {
            order: keep((0..n_jobs).collect()),
            slots: keep((0..n_workers).map(|_| Slot::default()).collect()),
            memories: Shared::new(keep(checked(n_workers))),
            tools: Shared::new(keep(checked(n_workers))),
            next: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(n_jobs),
        }])[0];
        let done: &'static [Checked] = keep(checked(n_jobs * n_items));
        let job = move |job: usize, phases: &mut Checked, crew: &Crew<Checked>| {
            let done = &done[job * n_items..][..n_items];
            for phase in 1..=n_phases {
                crew.for_each(n_items, |tools, item| {
                    tools.add_one();
                    done[item].add_one();
                });
                assert!(done.iter().all(|item| item.get() == phase));
                phases.add_one();
            }
        };
        let others: Vec<_> = (1..n_workers)
            .map(|worker| loom::thread::spawn(move || round.work(worker, &job)))
            .collect();
        round.work(0, &job);
        for other in others {
            other.join().expect("a thread of the model");
        }
    });
}

#[test]
fn one_job_of_several_phases() {
    explore(Case {
        n_workers: 2,
        n_jobs: 1,
        n_phases: 2,
        n_items: 2,
        preemptions: 3,
    });
}

#[test]
fn two_leaders() {
    explore(Case {
        n_workers: 2,
        n_jobs: 2,
        n_phases: 1,
        n_items: 2,
        preemptions: 3,
    });
}

/// Two threads that only wait could take turns for ever, so here helpers try a few times and leave;
/// the leader does what they did not.
#[test]
fn two_helpers_of_one_leader() {
    const PHASES: usize = 2;
    let mut checker = loom::model::Builder::new();
    checker.preemption_bound = Some(2);
    checker.check(|| {
        let slot: &'static Slot = &keep(vec![Slot::default()])[0];
        let done: &'static [Checked] = keep(checked(2));
        let helpers = [1, 2].map(|worker| {
            loom::thread::spawn(move || {
                for _ in 0..PHASES {
                    slot.help(worker);
                }
            })
        });
        for phase in 1..=PHASES {
            // On the leader's stack, as the task is: gone when the phase is over.
            let of_this_phase = checked(2);
            slot.lead(0, 2, &|_, item| {
                of_this_phase[item].add_one();
                done[item].add_one();
            });
            assert!(of_this_phase.iter().all(|item| item.get() == 1));
            assert!(done.iter().all(|item| item.get() == phase));
        }
        for helper in helpers {
            helper.join().expect("a thread of the model");
        }
    });
}

/// Each of the four orderings is needed, and the model can fail. One phase only: the task of an
/// earlier one, called by a thread that does not see the later one, would be a dangling pointer.
#[test]
fn without_any_one_ordering_the_model_finds_a_race() {
    for edge in [Edge::Opened, Edge::Seen, Edge::Finished, Edge::Awaited] {
        weakened::set(Some(edge));
        let outcome = catch_unwind(|| {
            explore(Case {
                n_workers: 2,
                n_jobs: 1,
                n_phases: 1,
                n_items: 2,
                preemptions: 3,
            });
        });
        weakened::set(None);
        assert!(
            outcome.is_err(),
            "{edge:?} may be relaxed and nobody sees it"
        );
    }
}
