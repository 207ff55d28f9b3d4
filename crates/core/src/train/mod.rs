//! Training: from a recording and a configuration to a [`Separation`](crate::Separation).
//!
//! One step reads: sample → evaluate → update → observe ([`Trainer`]). Everything that watches a
//! run (progress bar, history file, scores against true sources) is an [`Observer`] of one typed
//! [`StepReport`].
//!
//! Deliberately absent: true sources (they live in `evaluate`, which this module does not import),
//! files, clocks.

mod adam_group;
mod checkpoint;
mod convergence;
mod history;
mod moves;
mod observer;
mod prepared;
mod restarts;
mod resume;
mod schedule;
mod session;
mod sources_group;
mod sparse_adam;
pub(crate) mod start;
mod trainer;

pub use crate::model::controller::ControllerState;
pub use crate::model::objective::Terms;
pub use checkpoint::{BranchCheckpoint, Checkpoint, Moments};
pub use history::{History, HistoryRow};
pub use observer::{Observer, StepReport};
pub use prepared::{Prepared, usable_patch_sizes};
pub use restarts::{RestartSummary, separate, separate_observed};
pub use session::{Session, SessionState};
pub use trainer::{Start, StopReason, Trainer};
