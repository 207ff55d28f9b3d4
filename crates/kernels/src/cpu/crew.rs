//! Shares the work of one step out over the threads of the current rayon pool, without allocating.
//!
//! There are two levels. *Jobs* are taken by threads in a given order, biggest first; the thread
//! that took a job leads it. A leader works through its job in *phases* ([`Crew::for_each`]) of
//! independent *items*, and a thread that finds no job left helps the leaders with theirs, item by
//! item, until the last job is done. So every thread is busy while items are left, although jobs
//! differ in size, and nobody waits but a leader for the last items of its phase.
//!
//! How work is cut into items never depends on the number of threads, every item writes memory of
//! its own, and sums over items are taken in the order of the items: the same bits come out whoever
//! did what.

//!
//! What makes it sound is checked by model: `model.rs` runs it through every order of events that
//! the memory model allows, as it stands and with each of its orderings weakened.

use super::shared::Shared;
use super::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Edge, Ordering, yield_now};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[cfg(all(test, loom))]
mod model;

/// Turns of waiting before a thread offers its core to others.
const PATIENCE: usize = 200;

/// The phase that one leader has open: a task, and which of its items are still to be taken.
#[derive(Default)]
#[repr(align(128))] // two cache lines: leaders write their own slot only
pub struct Slot {
    /// Number of the phase (upper half) and items not yet taken (lower half).
    state: AtomicU64,
    /// Items not yet finished.
    unfinished: AtomicUsize,
    /// The task: a closure, and the function that calls it.
    closure: AtomicPtr<()>,
    call: AtomicPtr<()>,
    /// Whether an item panicked on another thread.
    panicked: AtomicBool,
}

/// Calls the closure behind the pointer with (worker, item).
type Call = unsafe fn(*const (), usize, usize);

impl Slot {
    /// Takes an item of the open phase and runs it as `worker`; false if there is none.
    fn help(&self, worker: usize) -> bool {
        let seen = Edge::Seen.ordering();
        let mut state = self.state.load(seen);
        while state as u32 > 0 {
            let (closure, call) = (
                self.closure.load(Ordering::Relaxed),
                self.call.load(Ordering::Relaxed),
            );
            // Whoever takes the next item needs what the leader released when it opened the phase:
            // an exchange in between leaves that as it is, so this one need not release anything.
            match self
                .state
                .compare_exchange_weak(state, state - 1, seen, seen)
            {
                Err(now) => state = now,
                Ok(_) => {
                    self.finish_item(closure, call, worker, state as u32 as usize - 1);
                    return true;
                }
            }
        }
        false
    }

    /// Runs an item that was taken, and counts it as finished whether or not it panics.
    fn finish_item(&self, closure: *const (), call: *mut (), worker: usize, item: usize) {
        // The model weakens the orderings, and must not then call nothing at all.
        #[cfg(loom)]
        assert!(
            !call.is_null(),
            "an item was taken of a task that was not seen"
        );
        // SAFETY: taking the item succeeded, so the phase was open all the time since its task was
        // read, and its leader changes neither pointer, nor lets the closure go, before this item
        // is finished.
        let run = || unsafe { std::mem::transmute::<*mut (), Call>(call)(closure, worker, item) };
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.unfinished.fetch_sub(1, Edge::Finished.ordering());
    }

    /// Opens a phase of `n_items` items, works on it, and returns when all of it is done.
    fn lead<F: Fn(usize, usize) + Sync>(&self, worker: usize, n_items: usize, task: &F) {
        unsafe fn call<F: Fn(usize, usize) + Sync>(closure: *const (), worker: usize, item: usize) {
            // SAFETY: `closure` was made from a `&F` that outlives the phase.
            unsafe { (*closure.cast::<F>())(worker, item) }
        }
        let phase = (self.state.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        self.closure.store(
            std::ptr::from_ref(task).cast_mut().cast(),
            Ordering::Relaxed,
        );
        self.call
            .store(call::<F> as Call as *mut (), Ordering::Relaxed);
        self.unfinished.store(n_items, Ordering::Relaxed);
        self.state
            .store(phase << 32 | n_items as u64, Edge::Opened.ordering());
        while self.help(worker) {}
        let mut patience = Patience::default();
        while self.unfinished.load(Edge::Awaited.ordering()) > 0 {
            patience.wait();
        }
        if self.panicked.swap(false, Ordering::Relaxed) {
            resume_unwind(Box::new("an item of a phase panicked"));
        }
    }
}

/// Spins for a while, then yields.
#[derive(Default)]
struct Patience(usize);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        if self.0 < PATIENCE && cfg!(not(loom)) {
            std::hint::spin_loop();
        } else {
            yield_now();
        }
    }
}

/// What a leader of a job shares its phases out with. `T` are the tools of one thread: its scratch
/// memory.
pub struct Crew<'a, T> {
    slots: &'a [Slot],
    tools: &'a Shared<'a, T>,
    leader: usize,
}

impl<T: Send + Sync> Crew<'_, T> {
    /// Calls `task(tools, item)` for every item below `n_items`, on any threads and in any order;
    /// returns when all are done. Items must not call `for_each` themselves: they have their
    /// thread's tools in use.
    pub fn for_each(&self, n_items: usize, task: impl Fn(&mut T, usize) + Sync) {
        let run = |worker: usize, item: usize| {
            // SAFETY: a worker runs one item at a time, and nobody else uses its tools.
            let tools = unsafe { self.tools.part(worker..worker + 1) };
            task(&mut tools[0], item);
        };
        if n_items == 1 || self.slots.len() == 1 {
            (0..n_items).for_each(|item| run(self.leader, item));
        } else {
            self.slots[self.leader].lead(self.leader, n_items, &run);
        }
    }
}

/// Calls `job(job, memory, crew)` for every job in `order`, in that order as threads become free.
/// `slots`, `memories` and `tools` have one element per thread that may take part.
pub fn run<M: Send + Sync, T: Send + Sync>(
    order: &[usize],
    slots: &[Slot],
    memories: &mut [M],
    tools: &mut [T],
    job: impl Fn(usize, &mut M, &Crew<T>) + Sync,
) {
    let n_workers = slots.len();
    assert!(n_workers > 0 && memories.len() >= n_workers && tools.len() >= n_workers);
    let round = Round {
        order,
        slots,
        memories: Shared::new(memories),
        tools: Shared::new(tools),
        next: AtomicUsize::new(0),
        unfinished: AtomicUsize::new(order.len()),
    };
    if n_workers == 1 {
        round.work(0, &job);
    } else {
        (0..n_workers)
            .into_par_iter()
            .with_max_len(1)
            .for_each(|worker| round.work(worker, &job));
    }
}

/// One call of [`run`]: the jobs, and how far they are.
struct Round<'a, M, T> {
    order: &'a [usize],
    slots: &'a [Slot],
    memories: Shared<'a, M>,
    tools: Shared<'a, T>,
    /// Place in `order` of the next job to be taken.
    next: AtomicUsize,
    /// Jobs not yet finished.
    unfinished: AtomicUsize,
}

impl<M: Send + Sync, T: Send + Sync> Round<'_, M, T> {
    /// What one thread does: leads jobs while there are any, then helps until the last is done. No
    /// two threads may have the same number.
    fn work(&self, worker: usize, job: &impl Fn(usize, &mut M, &Crew<T>)) {
        let n_workers = self.slots.len();
        while let Some(&at) = self.order.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let _done = Countdown(&self.unfinished);
            let crew = Crew {
                slots: self.slots,
                tools: &self.tools,
                leader: worker,
            };
            // SAFETY: workers have different numbers and lead one job at a time.
            let memory = unsafe { self.memories.part(worker..worker + 1) };
            job(at, &mut memory[0], &crew);
        }
        let mut patience = Patience::default();
        while self.unfinished.load(Ordering::Acquire) > 0 {
            let mut others = (1..n_workers).map(|ahead| &self.slots[(worker + ahead) % n_workers]);
            if others.any(|slot| slot.help(worker)) {
                patience = Patience::default();
            } else {
                patience.wait();
            }
        }
    }
}

/// Counts down when it goes, also when a job panics: those who wait for the count must not wait for
/// ever.
struct Countdown<'a>(&'a AtomicUsize);

impl Drop for Countdown<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn pool(n_threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .expect("a thread pool")
    }

    fn slots(n: usize) -> Vec<Slot> {
        (0..n).map(|_| Slot::default()).collect()
    }

    #[test]
    fn every_item_of_every_phase_runs_once_and_phases_in_order() {
        for n_threads in [1, 2, 5, 16] {
            let order: Vec<usize> = (0..7).rev().collect();
            let done: Vec<AtomicUsize> = (0..7 * 40 * 9).map(|_| AtomicUsize::new(0)).collect();
            let (slots, mut memories, mut tools) =
                (slots(n_threads), vec![0; n_threads], vec![0; n_threads]);
            pool(n_threads).install(|| {
                run(
                    &order,
                    &slots,
                    &mut memories,
                    &mut tools,
                    |job, phases, crew| {
                        for phase in 0..40 {
                            let place = |item: usize| (job * 40 + phase) * 9 + item;
                            crew.for_each(1 + phase % 9, |items, item| {
                                *items += 1;
                                done[place(item)].fetch_add(1, Ordering::Relaxed);
                            });
                            // All items are done when `for_each` returns, whoever did them.
                            let count = |item: usize| done[place(item)].load(Ordering::Relaxed);
                            assert!((0..=phase % 9).all(|item| count(item) == 1));
                            *phases += 1;
                        }
                    },
                );
            });
            let expected: usize = (0..40).map(|phase| 1 + phase % 9).sum();
            assert_eq!(
                tools.iter().sum::<usize>(),
                7 * expected,
                "{n_threads} threads"
            );
            assert_eq!(
                memories.iter().sum::<usize>(),
                7 * 40,
                "{n_threads} threads"
            );
        }
    }

    #[test]
    fn a_thread_without_a_job_helps() {
        // Two items of one job wait for each other, so both threads must take part.
        let (slots, mut memories, mut tools) = (slots(2), [(), ()], [(), ()]);
        let meeting = std::sync::Barrier::new(2);
        pool(2).install(|| {
            run(&[0], &slots, &mut memories, &mut tools, |_, _, crew| {
                crew.for_each(2, |_, _| {
                    meeting.wait();
                });
            });
        });
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        for n_threads in [1, 3] {
            let (slots, mut memories, mut tools) =
                (slots(n_threads), vec![(); n_threads], vec![(); n_threads]);
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool(n_threads).install(|| {
                    run(
                        &[0, 1, 2],
                        &slots,
                        &mut memories,
                        &mut tools,
                        |job, _, crew| {
                            crew.for_each(20, |_, item| {
                                assert!(job != 1 || item != 13, "an item fails")
                            });
                        },
                    );
                });
            }));
            assert!(result.is_err(), "{n_threads} threads");
        }
    }
}
