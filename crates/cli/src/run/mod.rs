//! Training under the eyes of a person: progress, history, Ctrl-C, and a checkpoint now and then.
//!
//! In: a recording and a configuration, or what [`state`] has kept of an interrupted run. Out: [`Ended`]. What is written
//! when a run is over is the business of [`crate::results`].

pub mod state;

use crate::failure::Outcome;
use crate::interrupt;
use crate::progress::Progress;
use crate::results::scores::ScoreRow;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use strt_report::ScoredStep;
use strtransformer::evaluate::{Matching, Reference, Scored, ScoredObserver};
use strtransformer::train::{
    History, HistoryRow, Observer, Session, SessionState, Start, StepReport, StopReason,
};
use strtransformer::{Config, Recording, Separation};

/// What a run has recorded so far.
#[derive(Default)]
pub struct Log {
    history: History,
    pub scores: Vec<ScoreRow>,
    /// Steps of all restarts, and the time they took.
    pub steps: usize,
    pub seconds: f64,
}

impl Log {
    pub fn every(n: usize) -> Log {
        Log {
            history: History::every(n),
            ..Log::default()
        }
    }

    pub fn rows(&self) -> &[HistoryRow] {
        self.history.rows()
    }
}

/// A run in progress.
pub struct Run<'a> {
    recording: &'a Recording,
    reference: Option<&'a Reference>,
    log_every: usize,
    session: Session,
    log: Log,
}

/// A run that has ended or was interrupted.
pub struct Ended {
    pub separation: Separation,
    pub log: Log,
    /// What is needed to continue, where the run was interrupted.
    pub state: Option<SessionState>,
}

impl<'a> Run<'a> {
    pub fn new(
        recording: &'a Recording,
        reference: Option<&'a Reference>,
        config: &Config,
        log_every: usize,
    ) -> strtransformer::Result<Run<'a>> {
        Ok(Run {
            recording,
            reference,
            log_every,
            session: Session::new(recording, config, Start::default())?,
            log: Log::every(log_every),
        })
    }

    /// Continues a run from its state and what it has recorded.
    pub fn resume(
        recording: &'a Recording,
        reference: Option<&'a Reference>,
        state: SessionState,
        log: Log,
        log_every: usize,
    ) -> strtransformer::Result<Run<'a>> {
        Ok(Run {
            recording,
            reference,
            log_every,
            session: Session::resume(recording, state, Start::default())?,
            log,
        })
    }

    /// Steps of the restart in progress.
    pub fn steps_done(&self) -> usize {
        self.session.trainer().step()
    }

    /// Trains to the end, or until Ctrl-C. `autosave`, called every so often, keeps what a crash must not cost.
    pub fn train(
        mut self,
        quiet: bool,
        every: Duration,
        mut autosave: impl FnMut(&SessionState, &Log) -> Outcome,
    ) -> Outcome<Ended> {
        interrupt::watch();
        let mut progress = Progress::new(quiet, self.steps_done());
        let stop = loop {
            let began = Instant::now();
            let watch = Watch {
                progress: &mut progress,
                log: &mut self.log,
                pause_at: began.checked_add(every),
            };
            let stop = match self.reference {
                None => self.session.run(&mut Unscored(watch))?,
                Some(reference) => {
                    let scored = Scored::new(reference, self.recording, watch)?;
                    self.session.run(&mut scored.every(self.log_every))?
                }
            };
            self.log.seconds += began.elapsed().as_secs_f64();
            if stop != StopReason::Interrupted || interrupt::asked() {
                break stop;
            }
            autosave(&self.session.state(), &self.log)?;
        };
        progress.end();
        Ok(Ended {
            state: (stop == StopReason::Interrupted).then(|| self.session.state()),
            separation: self.session.finish(),
            log: self.log,
        })
    }
}

/// Shows and records every step, and pauses the run where it is asked to.
struct Watch<'a> {
    progress: &'a mut Progress,
    log: &'a mut Log,
    pause_at: Option<Instant>,
}

impl ScoredObserver for Watch<'_> {
    fn observe(&mut self, report: &StepReport<'_>, score: Option<&Matching>) -> ControlFlow<()> {
        self.progress.show(report);
        self.log.steps += 1;
        self.log.scores.extend(score.map(|score| ScoreRow {
            restart: report.restart,
            score: ScoredStep::new(report.step, score),
        }));
        let _ = self.log.history.observe(report);
        match interrupt::asked() || self.pause_at.is_some_and(|at| Instant::now() > at) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// A run without a reference.
struct Unscored<'a>(Watch<'a>);

impl Observer for Unscored<'_> {
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()> {
        self.0.observe(report, None)
    }
}
