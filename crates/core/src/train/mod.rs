//! Training: from a recording and a configuration to a [`Separation`](crate::Separation).
//!
//! One step reads: sample → evaluate → update → observe ([`Trainer`]). Everything that watches a
//! run (progress bar, history file, scores against true sources) is an [`Observer`] of one typed
//! [`StepReport`].
//!
//! Deliberately absent: true sources (they live in `strt-score`, on which this crate does not
//! depend), files, clocks.

mod agreement;
pub(crate) mod checkpoint;
mod convergence;
mod history;
mod kernels;
mod moves;
mod observer;
mod prepared;
mod proposal;
mod restarts;
mod schedule;
mod stages;
mod start;
mod trainer;
mod turn;

pub use crate::controller::ControllerState;
pub use crate::objective::Terms;
pub(crate) use agreement::correlation;
pub use checkpoint::Checkpoint;
pub use convergence::Convergence;
pub use history::{History, HistoryRow};
pub use observer::{Observer, StepReport};
pub use prepared::{Prepared, usable_patch_sizes};
pub use restarts::{
    RestartSummary, Session, SessionEnd, SessionState, separate, separate_observed,
};
pub use trainer::{Start, StopReason, Trainer};
pub(crate) use trainer::{adam_step, thread_pool};
