//! Who looks on while a run is made: told what happens, asked whether it should stop.
//!
//! Out: facts ([`Event`], [`StepReport`]). In: the wish to stop. The program draws a bar and
//! listens to Ctrl-C; a Python package calls back and looks for KeyboardInterrupt; [`Unwatched`]
//! does neither. How a fact is worded is the watcher's business.

use crate::error::Error;
use crate::results::count::CountSummary;
use std::path::Path;
use strt_io::Opened;
use strtransformer::train::StepReport;

/// Somebody who looks on. All methods are called from the thread that makes the run.
pub trait Watcher: Send {
    /// A step was taken.
    fn step(&mut self, report: &StepReport<'_>);

    /// Whether the run should end after this step, so that it can be resumed. Asked after every
    /// step; once is enough.
    fn interrupted(&mut self) -> bool;

    /// Something else happened.
    fn event(&mut self, event: Event<'_>) {
        let _ = event;
    }
}

/// What happens besides steps, in this order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The recording is about to be read.
    Reading(&'a Path),
    /// It was read.
    Read(&'a Path, &'a Opened),
    /// The true sources were read.
    ReadReference(&'a Path, &'a Opened),
    /// The number of sources was estimated.
    Counted(&'a CountSummary),
    /// An unfinished run is taken up.
    Resumed {
        /// Steps that its restart in progress has taken.
        steps_done: usize,
    },
    /// Training begins.
    Training {
        /// Steps that the restart in progress has taken.
        steps_done: usize,
    },
    /// There was no space on the disk for a checkpoint: the run goes on, and the next one may fit.
    /// Told once until one fits again.
    NotSaved(&'a Error),
    /// Training is over, or was interrupted.
    Trained,
    /// The results are about to be written.
    Writing,
    /// They were written.
    Written,
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn step(&mut self, _: &StepReport<'_>) {}

    fn interrupted(&mut self) -> bool {
        false
    }
}
