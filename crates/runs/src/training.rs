//! Training under the eyes of a [`Watcher`]: history, scores, a stop when it is asked for, and a
//! pause now and then for a checkpoint.
//!
//! In: a recording and a configuration, or what was kept of an interrupted run. Out: [`Trained`].
//! Nothing is shown or written here: the watcher shows, and what is written when a run is over is
//! the business of [`crate::results`].

use crate::error::Result;
use crate::results::scores::ScoredStep;
use crate::scored::{Scored, ScoredObserver};
use crate::watcher::{Event, Watcher};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use strt_score::{Matching, Reference};
use strtransformer::train::{
    History, HistoryRow, Observer, Session, SessionEnd, SessionState, Start, StepReport,
};
use strtransformer::{Config, Recording, Separation};

/// What a run has recorded so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub(crate) history: History,
    /// With a reference, how well the sources of each logged step match it.
    pub scores: Vec<ScoredStep>,
    /// Steps of all restarts.
    pub steps: usize,
    /// The time they took.
    pub seconds: f64,
}

impl Log {
    /// A log of every n-th step, empty.
    pub fn every(n: usize) -> Log {
        Log {
            history: History::every(n),
            ..Log::default()
        }
    }

    /// A log of a run that is over, from its rows of history; the other fields are left to be set.
    pub fn of_rows(rows: Vec<HistoryRow>) -> Log {
        Log {
            history: History::continuing(1, rows),
            ..Log::default()
        }
    }

    /// Adds a score at its place: restarts that run side by side interleave.
    fn add_score(&mut self, score: ScoredStep) {
        let place = (score.restart, score.step);
        let before = |row: &ScoredStep| (row.restart, row.step) <= place;
        let at = self.scores.partition_point(before);
        self.scores.insert(at, score);
    }

    /// What the logged steps reported.
    pub fn rows(&self) -> &[HistoryRow] {
        self.history.rows()
    }
}

/// The training of a run, under way.
pub struct Training<'a> {
    recording: &'a Recording,
    reference: Option<&'a Reference>,
    log_every: usize,
    session: Session,
    log: Log,
}

/// Training that has ended or was interrupted.
pub struct Trained {
    /// The best restart, or the state of the one that was interrupted.
    pub separation: Separation,
    /// What was recorded.
    pub log: Log,
    /// What is needed to continue, where the run was interrupted.
    pub state: Option<SessionState>,
}

impl<'a> Training<'a> {
    /// A run before its first step, that logs every n-th.
    pub fn new(
        recording: &'a Recording,
        reference: Option<&'a Reference>,
        config: &Config,
        log_every: usize,
    ) -> strtransformer::Result<Training<'a>> {
        Ok(Training {
            recording,
            reference,
            log_every: log_every.max(1),
            session: Session::new(recording, config, Start::default())?,
            log: Log::every(log_every.max(1)),
        })
    }

    /// Continues a run from its state and what it has recorded.
    pub fn resume(
        recording: &'a Recording,
        reference: Option<&'a Reference>,
        state: SessionState,
        log: Log,
        log_every: usize,
    ) -> strtransformer::Result<Training<'a>> {
        Ok(Training {
            recording,
            reference,
            log_every: log_every.max(1),
            session: Session::resume(recording, state, Start::default())?,
            log,
        })
    }

    /// Steps done, of all restarts.
    pub fn steps_done(&self) -> usize {
        self.log.steps
    }

    /// Trains to the end, or until the watcher asks for it. `autosave`, called every so often,
    /// keeps what a crash must not cost. A disk without space for that does not end the run: its
    /// results, which take less, may fit.
    ///
    /// # Errors
    /// What else `autosave` met with, anything that it met with in the end, and what the library
    /// refuses.
    pub fn run<W: Watcher + ?Sized>(
        mut self,
        watcher: &mut W,
        every: Duration,
        mut autosave: impl FnMut(&SessionState, &Log) -> Result,
    ) -> Result<Trained> {
        watcher.event(Event::Training {
            steps_done: self.steps_done(),
        });
        let (mut asked, mut is_saved) = (false, true);
        let stop = loop {
            let began = Instant::now();
            let watch = Watch {
                watcher: &mut *watcher,
                asked: &mut asked,
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
            // A pause ends in another round; what the watcher asked for does not.
            if stop == SessionEnd::Over || asked || watcher.interrupted() {
                break stop;
            }
            let saved = autosave(&self.session.state(), &self.log);
            match &saved {
                Err(error) if error.is_full_disk() => {
                    if is_saved {
                        watcher.event(Event::NotSaved(error));
                    }
                    is_saved = false;
                }
                _ => {
                    saved?;
                    is_saved = true;
                }
            }
        };
        // Before results are formed, which takes a while: whatever happens then, nothing is lost.
        let state = (stop == SessionEnd::Interrupted).then(|| self.session.state());
        if let Some(state) = &state {
            autosave(state, &self.log)?;
        }
        watcher.event(Event::Trained);
        Ok(Trained {
            state,
            separation: self.session.finish(),
            log: self.log,
        })
    }
}

/// Shows and records every step, and pauses the run where it is asked to.
struct Watch<'a, W: ?Sized> {
    watcher: &'a mut W,
    /// Whether the watcher has asked for the end.
    asked: &'a mut bool,
    log: &'a mut Log,
    pause_at: Option<Instant>,
}

impl<W: Watcher + ?Sized> ScoredObserver for Watch<'_, W> {
    fn observe(&mut self, report: &StepReport<'_>, score: Option<&Matching>) -> ControlFlow<()> {
        self.watcher.step(report);
        self.log.steps += 1;
        let scored = score.map(|score| ScoredStep::new(report.restart, report.step, score));
        if let Some(scored) = scored {
            self.log.add_score(scored);
        }
        let _ = self.log.history.observe(report);
        *self.asked |= self.watcher.interrupted();
        if *self.asked || self.pause_at.is_some_and(|at| Instant::now() > at) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// A run without a reference.
struct Unscored<'a, W: ?Sized>(Watch<'a, W>);

impl<W: Watcher + ?Sized> Observer for Unscored<'_, W> {
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()> {
        self.0.observe(report, None)
    }
}
