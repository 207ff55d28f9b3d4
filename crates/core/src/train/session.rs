//! All restarts of one run, one after another, so that it can be stopped at any step and continued
//! later.
//!
//! In: a recording and a configuration, or a [`SessionState`]. Out: the best restart, with the bits
//! that [`separate`](super::separate) gives. That function runs whole restarts side by side and is
//! quicker where nobody needs to stop.

use super::checkpoint::Checkpoint;
use super::observer::Observer;
use super::prepared::Prepared;
use super::restarts::{RestartSummary, is_better};
use super::trainer::{Start, StopReason, Trainer, thread_pool};
use crate::{Config, Error, Recording, Result, Separation, restart_seed};
use std::sync::Arc;

/// A run of one or more restarts in progress.
pub struct Session {
    prepared: Prepared,
    pool: Arc<rayon::ThreadPool>,
    start: Start,
    trainer: Trainer,
    finished: Vec<RestartSummary>,
    best: Option<Separation>,
}

/// A [`Session`] between two steps.
#[derive(Clone)]
pub struct SessionState {
    /// The restart in progress.
    pub current: Checkpoint,
    /// Those that have ended, in order.
    pub finished: Vec<RestartSummary>,
    /// The best of them.
    pub best: Option<Separation>,
}

impl Session {
    /// A run of `config.restarts` restarts, before the first step.
    pub fn new(recording: &Recording, config: &Config, start: Start) -> Result<Session> {
        let prepared = Prepared::new(recording, config)?;
        let pool = thread_pool(config.threads)?;
        let trainer = Trainer::from_prepared(
            &prepared,
            pool.clone(),
            restart_seed(config.seed, 0),
            0,
            start.clone(),
        )?;
        Ok(Session {
            prepared,
            pool,
            start,
            trainer,
            finished: Vec::new(),
            best: None,
        })
    }

    /// Continues from a state on the same recording; `start` gives again what the run was started
    /// with.
    pub fn resume(recording: &Recording, state: SessionState, start: Start) -> Result<Session> {
        let SessionState {
            current,
            finished,
            best,
        } = state;
        if finished.len() != current.restart || best.is_some() != (current.restart > 0) {
            return Err(Error::State(format!(
                "restart {} is in progress, so {} restarts and their best result must have been kept; found {} and {}",
                current.restart + 1,
                current.restart,
                finished.len(),
                if best.is_some() {
                    "one result"
                } else {
                    "no result"
                }
            )));
        }
        let trainer = Trainer::resume(recording, &current, start.clone())?;
        Ok(Session {
            prepared: trainer.prepared.clone(),
            pool: trainer.pool.clone(),
            start,
            trainer,
            finished,
            best,
        })
    }

    /// Runs until all restarts have ended or `observer` breaks one; says how the last one ended. An
    /// interrupted session may be run on.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<StopReason> {
        loop {
            let stop = self.trainer.run(observer);
            let next = self.trainer.restart + 1;
            if stop == StopReason::Interrupted || next >= self.prepared.plan.config().restarts {
                return Ok(stop);
            }
            let seed = restart_seed(self.prepared.plan.config().seed, next);
            let trainer = Trainer::from_prepared(
                &self.prepared,
                self.pool.clone(),
                seed,
                next,
                self.start.clone(),
            )?;
            let ended = std::mem::replace(&mut self.trainer, trainer).finish();
            self.keep(ended);
        }
    }

    fn keep(&mut self, ended: Separation) {
        let summary = ended.summary();
        if self
            .best
            .as_ref()
            .is_none_or(|best| is_better(&summary, &best.summary()))
        {
            self.best = Some(ended);
        }
        self.finished.push(summary);
    }

    /// The restart in progress.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// All that is needed to continue.
    pub fn state(&self) -> SessionState {
        SessionState {
            current: self.trainer.checkpoint(),
            finished: self.finished.clone(),
            best: self.best.clone(),
        }
    }

    /// Ends the run, the restart in progress as it stands, and hands out the best result.
    pub fn finish(self) -> Separation {
        let Session {
            trainer,
            mut finished,
            best,
            ..
        } = self;
        let last = trainer.finish();
        finished.push(last.summary());
        let kept = match best {
            Some(best) if !is_better(&last.summary(), &best.summary()) => best,
            _ => last,
        };
        kept.with_restarts(finished)
    }
}
