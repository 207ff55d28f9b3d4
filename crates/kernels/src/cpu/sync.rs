//! The atomics that the crew is built of; under `cfg(loom)` those of the model checker in their
//! place.
//!
//! The orderings on which the crew's soundness rests have names here, so that the model can weaken
//! one at a time and show that it is needed. Everything else in the crew is relaxed, or is ordered
//! by rayon as well.

#[cfg(not(loom))]
pub use std::{
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize},
    thread::yield_now,
};

#[cfg(loom)]
pub use loom::{
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize},
    thread::yield_now,
};

pub use std::sync::atomic::Ordering;

/// The two pairs of release and acquire in the life of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// A leader opens a phase: what it wrote before is released …
    Opened,
    /// … and acquired by whoever takes an item.
    Seen,
    /// An item is finished: what it wrote is released …
    Finished,
    /// … and acquired by the leader that waited for it.
    Awaited,
}

impl Edge {
    /// How the access is ordered.
    #[inline(always)]
    pub fn ordering(self) -> Ordering {
        #[cfg(loom)]
        if weakened::get() == Some(self) {
            return Ordering::Relaxed;
        }
        match self {
            Edge::Opened | Edge::Finished => Ordering::Release,
            Edge::Seen | Edge::Awaited => Ordering::Acquire,
        }
    }
}

/// Which ordering the model leaves out.
#[cfg(loom)]
pub mod weakened {
    use super::Edge;
    use std::cell::Cell;

    // A thread of the model is a coroutine of the thread that started it.
    thread_local!(static WEAKENED: Cell<Option<Edge>> = const { Cell::new(None) });

    /// The ordering left out now.
    pub fn get() -> Option<Edge> {
        WEAKENED.get()
    }

    /// Leaves out another one, or none.
    pub fn set(edge: Option<Edge>) {
        WEAKENED.set(edge);
    }
}
