//! All restarts of one run: [`Session`], one scheduler for everyone who separates.
//!
//! In: a recording and a configuration, or a [`SessionState`]. Out: the best restart. Restarts run
//! side by side as long as there are threads for them; what threads are left over share the steps
//! of each. A session can be interrupted after any step and continued later, with the bits of an
//! unbroken one, and every restart has the bits that it has alone.
//!
//! Where the configuration asks for it, restarts are taken in pairs, and no more are begun once the
//! best has been found twice (`agreement.rs`).

use super::agreement::agreement;
use super::checkpoint::{Checkpoint, check_recording};
use super::observer::{Observer, StepReport};
use super::prepared::Prepared;
use super::trainer::{Start, StopReason, Trainer, thread_pool};
use crate::config::Config;
use crate::separation::Separation;
use crate::{Error, Recording, Result, restart_seed};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// How one restart ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestartSummary {
    /// Index of the restart.
    pub restart: usize,
    /// Its seed.
    pub seed: u64,
    /// Its final smoothed objective, by which restarts are ranked.
    pub objective: f64,
    /// Why it ended.
    pub stop: StopReason,
    /// Whether it had converged.
    pub converged: bool,
    /// Whether innovations or forecasts told its sources apart, beside networks and second moments.
    #[serde(default)]
    pub novel: bool,
    /// The least |correlation| of its sources with those that were kept; `None` for the restart
    /// that was kept and for those that were never compared with it.
    pub agreement: Option<f64>,
    /// |correlation| of every source that was kept with the one of this restart that is paired with
    /// it; empty where `agreement` is `None`.
    #[serde(default)]
    pub agreement_by_source: Vec<f64>,
}

impl RestartSummary {
    /// Compared with the restart that is kept, whose sources have these likenesses here.
    fn compared(&mut self, by_source: Vec<f64>) {
        self.agreement = Some(by_source.iter().copied().fold(1.0, f64::min));
        self.agreement_by_source = by_source;
    }

    /// Never compared with the restart that is kept.
    fn not_compared(&mut self) {
        self.agreement = None;
        self.agreement_by_source = Vec::new();
    }

    /// Whether it found what was kept.
    pub(crate) fn agrees(&self, least: f64) -> bool {
        self.agreement.is_some_and(|agreement| agreement >= least)
    }

    /// Whether this restart is kept rather than `other`: the lower smoothed objective wins, a
    /// diverged restart never wins over another, and of equals the first is kept. Where innovations
    /// or forecasts are judged the objective is another one, and they were found to be needed.
    fn is_better_than(&self, other: &RestartSummary) -> bool {
        let rank = |s: &RestartSummary| {
            let diverged = s.stop == StopReason::Diverged;
            (diverged, s.objective.is_nan(), !s.novel)
        };
        rank(self)
            .cmp(&rank(other))
            .then(self.objective.total_cmp(&other.objective))
            .then(self.restart.cmp(&other.restart))
            .is_lt()
    }
}

/// Separates a recording into its sources.
///
/// ```
/// use strtransformer::{Config, Recording, separate};
/// # let (t, mut values) = (400, Vec::new());
/// # for i in 0..t {
/// #     let (a, b) = ((i as f64 * 0.9).sin(), (i as f64 * 0.05).sin());
/// #     values.extend([a + b, a - 0.5 * b, b]);
/// # }
/// let recording = Recording::from_rows(&values, 3)?; // 400 samples of 3 channels
/// let mut config = Config::new(2);
/// # config.optimizer.steps = Some(5);
/// # config.branches.patch_sizes = vec![4, 8];
/// config.seed = 7;
/// let separation = separate(&recording, &config)?;
/// println!("{:?}, converged: {}", separation.sources().shape(), separation.converged());
/// # assert_eq!(separation.sources().shape(), (400, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When configuration and recording do not fit together.
pub fn separate(recording: &Recording, config: &Config) -> Result<Separation> {
    separate_observed(recording, config, Start::default(), &mut ())
}

/// Separates a recording with parts of the caller's own, watched by `observer`: reports of several
/// restarts interleave, each says which one it is, and a break ends all of them.
///
/// # Errors
/// When configuration, recording and parts do not fit together.
pub fn separate_observed(
    recording: &Recording,
    config: &Config,
    start: Start,
    observer: &mut dyn Observer,
) -> Result<Separation> {
    let mut session = Session::new(recording, config, start)?;
    session.run(observer)?;
    Ok(session.finish())
}

/// Where a restart stands.
enum Restart {
    /// Not begun.
    Waiting,
    /// Between two steps.
    Running(Box<Trainer>),
    /// Over.
    Ended(RestartSummary),
}

impl Restart {
    fn ended(&self) -> Option<RestartSummary> {
        match self {
            Restart::Ended(summary) => Some(summary.clone()),
            _ => None,
        }
    }
}

/// What restarts are made of.
struct Origin {
    prepared: Prepared,
    start: Start,
}

impl Origin {
    /// A restart before its first step; it gets its threads when it runs.
    fn begin(&self, restart: usize) -> Result<Trainer> {
        let seed = restart_seed(self.prepared.plan.config().seed, restart);
        let start = self.start.clone();
        Trainer::from_prepared(&self.prepared, thread_pool(1)?, seed, restart, start)
    }

    /// Runs one restart to its end, or to where it is interrupted.
    fn advance(
        &self,
        place: &mut Restart,
        restart: usize,
        pool: &Arc<rayon::ThreadPool>,
        shared: &Shared<'_>,
    ) {
        let mut trainer = match std::mem::replace(place, Restart::Waiting) {
            Restart::Running(trainer) => trainer,
            _ => match self.begin(restart) {
                Ok(trainer) => Box::new(trainer),
                Err(error) => return shared.fail(error),
            },
        };
        trainer.pool = pool.clone();
        trainer.run(&mut |report: &StepReport<'_>| shared.observe(report));
        *place = Restart::Running(trainer);
    }
}

/// Restarts that are taken together before it is asked whether the best was found twice.
const ROUND: usize = 2;

/// A run of one or more restarts in progress.
pub struct Session {
    origin: Origin,
    restarts: Vec<Restart>,
    best: Option<Separation>, // of those that have ended
}

/// A [`Session`] between two steps.
#[derive(Clone)]
pub struct SessionState {
    /// The restarts in progress, in order.
    pub running: Vec<Checkpoint>,
    /// Those that have ended, in order.
    pub finished: Vec<RestartSummary>,
    /// The best of them.
    pub best: Option<Separation>,
}

impl SessionState {
    /// The configuration of the run, unless all its restarts have ended.
    pub fn config(&self) -> Option<&Config> {
        self.running.first().map(|checkpoint| &checkpoint.config)
    }
}

impl Session {
    /// A run of as many restarts as the configuration wants, before the first step.
    ///
    /// # Errors
    /// When configuration, recording and parts do not fit together.
    pub fn new(recording: &Recording, config: &Config, start: Start) -> Result<Session> {
        let prepared = Prepared::new(recording, config)?;
        let mut session = Session::before_the_start(Origin { prepared, start });
        // The first restart is made at once: what it refuses is refused before anything runs.
        let first = session.origin.begin(0)?;
        session.restarts[0] = Restart::Running(Box::new(first));
        Ok(session)
    }

    fn before_the_start(origin: Origin) -> Session {
        let restarts = origin.prepared.plan.restarts;
        Session {
            restarts: (0..restarts).map(|_| Restart::Waiting).collect(),
            best: None,
            origin,
        }
    }

    /// Threads for `n_open` restarts: side by side as far as they go, the rest shared out.
    fn pools(&self, n_open: usize) -> Result<Vec<Arc<rayon::ThreadPool>>> {
        let threads = match self.origin.prepared.plan.config().threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        };
        let n = n_open.min(threads);
        (0..n)
            .map(|i| thread_pool(threads / n + usize::from(i < threads % n)))
            .collect()
    }

    /// Continues from a state on the same recording; `start` holds what the run was started with.
    ///
    /// # Errors
    /// When the recording is another one, or the parts of the state do not fit together.
    pub fn resume(recording: &Recording, state: SessionState, start: Start) -> Result<Session> {
        let refuse = |state: &SessionState| Error::Session {
            running: state.running.iter().map(|c| c.restart).collect(),
            finished: state.finished.iter().map(|s| s.restart).collect(),
            has_best: state.best.is_some(),
        };
        let Some(first) = state.running.first() else {
            return Err(refuse(&state));
        };
        check_recording(recording, first)?;
        let prepared = Prepared::new(recording, &first.config)?;
        let mut session = Session::before_the_start(Origin { prepared, start });
        if state.best.is_some() == state.finished.is_empty() {
            return Err(refuse(&state));
        }
        for summary in &state.finished {
            match session.restarts.get_mut(summary.restart) {
                Some(place @ Restart::Waiting) => *place = Restart::Ended(summary.clone()),
                _ => return Err(refuse(&state)),
            }
        }
        for checkpoint in &state.running {
            if !matches!(
                session.restarts.get(checkpoint.restart),
                Some(Restart::Waiting)
            ) {
                return Err(refuse(&state));
            }
            let Origin { prepared, start } = &session.origin;
            let trainer = Trainer::restored(prepared, thread_pool(1)?, checkpoint, start.clone())?;
            session.restarts[checkpoint.restart] = Restart::Running(Box::new(trainer));
        }
        session.best = state.best;
        Ok(session)
    }

    /// Runs until all restarts have ended or `observer` breaks off, which interrupts all of them
    /// after their present step; says which of the two. An interrupted session may be run on.
    ///
    /// # Errors
    /// When a restart cannot begin.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<SessionEnd> {
        while !self.is_over() {
            if self.run_round(observer)? && !self.is_over() {
                self.begin_one()?;
                return Ok(SessionEnd::Interrupted);
            }
        }
        Ok(SessionEnd::Over)
    }

    /// Runs the restarts whose turn it is; says whether they were interrupted.
    fn run_round(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        let open = self.round();
        let pools = self.pools(open.len())?;
        let places: Vec<Mutex<Restart>> = std::mem::take(&mut self.restarts)
            .into_iter()
            .map(Mutex::new)
            .collect();
        let shared = Shared {
            next: AtomicUsize::new(0),
            interrupted: AtomicBool::new(false),
            observer: Mutex::new(observer),
            best: Mutex::new(self.best.take()),
            failure: Mutex::new(None),
        };
        let origin = &self.origin;
        let work = |pool: &Arc<rayon::ThreadPool>| {
            while let Some(&restart) = open.get(shared.next.fetch_add(1, Ordering::Relaxed)) {
                if shared.interrupted.load(Ordering::Relaxed) {
                    break;
                }
                {
                    let mut place = places[restart].lock().expect("no worker panics");
                    origin.advance(&mut place, restart, pool, &shared);
                }
                shared.keep_best(&places);
            }
        };
        match &pools[..] {
            [pool] => work(pool),
            pools => std::thread::scope(|scope| {
                for pool in pools {
                    scope.spawn(|| work(pool));
                }
            }),
        }
        let Shared {
            interrupted,
            best,
            failure,
            ..
        } = shared;
        let whole = "all workers have ended";
        let (best, failure) = (best.into_inner(), failure.into_inner());
        self.best = best.expect(whole);
        self.restarts = places
            .into_iter()
            .map(|place| place.into_inner().expect(whole))
            .collect();
        match failure.expect(whole) {
            Some(error) => Err(error),
            None => Ok(interrupted.into_inner()),
        }
    }

    /// The restarts whose turn it is: those of the first round that is not over, or all that have
    /// not ended.
    fn round(&self) -> Vec<usize> {
        let is_open = |&i: &usize| !matches!(self.restarts[i], Restart::Ended(_));
        let open = (0..self.restarts.len()).filter(is_open);
        match (self.agreement(), open.clone().next()) {
            (Some(_), Some(first)) => open.filter(|i| i / ROUND == first / ROUND).collect(),
            _ => open.collect(),
        }
    }

    /// From which |correlation| on two restarts have found the same; `None` where all are to run.
    fn agreement(&self) -> Option<f64> {
        let least = self.origin.prepared.plan.config().agreement;
        least.filter(|&least| least > 0.0)
    }

    /// Begins the next restart where none is in progress, so that a state always has one.
    fn begin_one(&mut self) -> Result<()> {
        let running = |restart: &Restart| matches!(restart, Restart::Running(_));
        let waiting = |restart: &Restart| matches!(restart, Restart::Waiting);
        if !self.restarts.iter().any(running)
            && let Some(next) = self.restarts.iter().position(waiting)
        {
            let trainer = self.origin.begin(next)?;
            self.restarts[next] = Restart::Running(Box::new(trainer));
        }
        Ok(())
    }

    /// Whether no more restarts are to run: all have ended, or whole rounds of them have and the
    /// best was found twice.
    fn is_over(&self) -> bool {
        let ended: Vec<RestartSummary> = self.restarts.iter().filter_map(Restart::ended).collect();
        let found_twice = |least: f64| ended.iter().any(|end| end.agrees(least));
        ended.len() == self.restarts.len()
            || ended.len().is_multiple_of(ROUND) && self.agreement().is_some_and(found_twice)
    }

    /// All that is needed to continue.
    pub fn state(&self) -> SessionState {
        let mut state = SessionState {
            running: Vec::new(),
            finished: Vec::new(),
            best: self.best.clone(),
        };
        for restart in &self.restarts {
            match restart {
                Restart::Waiting => {}
                Restart::Running(trainer) => state.running.push(trainer.checkpoint()),
                Restart::Ended(summary) => state.finished.push(summary.clone()),
            }
        }
        state
    }

    /// Ends the run, restarts in progress as they stand, and hands out the best result. Restarts
    /// that had not begun are left out.
    pub fn finish(self) -> Separation {
        let least = self.agreement();
        let Session { restarts, best, .. } = self;
        let mut ended = Ended {
            best,
            summaries: restarts.iter().filter_map(Restart::ended).collect(),
        };
        for restart in restarts {
            match restart {
                Restart::Waiting | Restart::Ended(_) => {}
                // Begun so that the state had one, and interrupted at once.
                Restart::Running(trainer) if trainer.step() == 0 && ended.best.is_some() => {}
                Restart::Running(trainer) => ended.take(trainer.finish()),
            }
        }
        ended.summaries.sort_by_key(|summary| summary.restart);
        let best = ended.best;
        best.expect("the first restart was begun when the session was made")
            .with_restarts(ended.summaries, least)
    }
}

/// How [`Session::run`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// All restarts have ended by themselves.
    Over,
    /// The observer broke off.
    Interrupted,
}

/// What the workers of a session share.
struct Shared<'a> {
    next: AtomicUsize,
    interrupted: AtomicBool,
    observer: Mutex<&'a mut dyn Observer>,
    best: Mutex<Option<Separation>>,
    failure: Mutex<Option<Error>>,
}

impl Shared<'_> {
    /// Every step is observed, and one that is broken off ends all restarts.
    fn observe(&self, report: &StepReport<'_>) -> ControlFlow<()> {
        let mut observer = self.observer.lock().expect("no observer panics");
        if observer.observe(report).is_break() {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Of the restarts that have run to their end, in order and as far as there is none before them
    /// that has not, keeps the best. In order, so that what is compared with what does not depend
    /// on the threads.
    fn keep_best(&self, places: &[Mutex<Restart>]) {
        let mut best = self.best.lock().expect("no worker panics");
        let mut ended = Ended {
            best: best.take(),
            summaries: Vec::new(),
        };
        let mut seen = Vec::new();
        for place in places {
            // Who holds a place is at work there, and comes here afterwards.
            let Ok(mut place) = place.try_lock() else {
                break;
            };
            if matches!(&*place, Restart::Running(trainer) if trainer.has_ended())
                && let Restart::Running(trainer) = std::mem::replace(&mut *place, Restart::Waiting)
            {
                ended.take(trainer.finish());
            } else if let Some(summary) = place.ended() {
                ended.summaries.push(summary);
            } else {
                break;
            }
            seen.push(place);
        }
        for (mut place, summary) in seen.into_iter().zip(ended.summaries) {
            *place = Restart::Ended(summary);
        }
        *best = ended.best;
    }

    /// Ends all restarts because one cannot begin.
    fn fail(&self, error: Error) {
        self.interrupted.store(true, Ordering::Relaxed);
        self.failure
            .lock()
            .expect("no worker panics")
            .get_or_insert(error);
    }
}

/// Restarts that have ended, and the best of them.
struct Ended {
    best: Option<Separation>,
    summaries: Vec<RestartSummary>,
}

impl Ended {
    /// Takes in one more, and says how much it has in common with the best so far.
    fn take(&mut self, found: Separation) {
        let mut summary = found.summary();
        match self.best.take() {
            None => self.best = Some(found),
            Some(best) => {
                let common = agreement(best.sources(), found.sources());
                if summary.is_better_than(&best.summary()) {
                    self.summaries
                        .iter_mut()
                        .for_each(RestartSummary::not_compared);
                    let mut before = self.summaries.iter_mut();
                    if let Some(before) = before.find(|s| s.restart == best.restart()) {
                        before.compared(common.of_second());
                    }
                    self.best = Some(found);
                } else {
                    summary.compared(common.of_first());
                    self.best = Some(best);
                }
            }
        }
        self.summaries.push(summary);
    }
}
