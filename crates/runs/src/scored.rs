//! Scores of a run against the true sources, step by step, without training seeing them.
//!
//! In: the [`StepReport`]s of a run, a [`Reference`]. Out: each report beside the [`Matching`] of
//! its sources, handed to a [`ScoredObserver`]. Training knows [`Observer`] only: data flows from
//! it to here and never back, except that a scored observer may end the run as any other may.

use std::ops::ControlFlow;

use strt_score::{Matching, Reference, Scorer};
use strtransformer::Recording;
use strtransformer::train::{Observer, StepReport};

/// Watches a run together with its scores.
pub trait ScoredObserver: Send {
    /// Called after every step. `score` is the matching of the step's sources with the true ones:
    /// row k of [`Matching::per_source`] and [`Matching::matched`] belongs to branch k. `None` in
    /// steps that are not scored. Should sources ever be infinite, the correlations and the MAC are
    /// NaN.
    fn observe(&mut self, report: &StepReport<'_>, score: Option<&Matching>) -> ControlFlow<()>;
}

impl<F: FnMut(&StepReport<'_>, Option<&Matching>) -> ControlFlow<()> + Send> ScoredObserver for F {
    fn observe(&mut self, report: &StepReport<'_>, score: Option<&Matching>) -> ControlFlow<()> {
        self(report, score)
    }
}

/// An [`Observer`] that scores the steps it sees and passes them on.
///
/// ```
/// use std::ops::ControlFlow;
/// use strt_runs::Scored;
/// use strt_score::Matching;
/// use strt_synth::ProblemSpec;
/// use strtransformer::train::{StepReport, Trainer};
/// use strtransformer::Config;
///
/// let problem = ProblemSpec { n_samples: 300, ..ProblemSpec::default() }.generate()?;
/// let recording = problem.recording()?;
/// let mut config = Config::new(3);
/// # config.optimizer.steps = Some(5);
/// # config.branches.patch_sizes = vec![4, 8];
/// let mut curve = Vec::new();
/// let keep = |report: &StepReport<'_>, score: Option<&Matching>| {
///     curve.extend(score.map(|score| (report.step, score.mac())));
///     ControlFlow::Continue(())
/// };
/// let mut scored = Scored::new(&problem.reference()?, &recording, keep)?.every(2);
/// Trainer::new(&recording, &config)?.run(&mut scored);
/// # drop(scored);
/// # assert_eq!(curve.iter().map(|&(step, _)| step).collect::<Vec<_>>(), [2, 4, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scored<O> {
    inner: O,
    scorer: Scorer,
    every: usize,
}

impl<O: ScoredObserver> Scored<O> {
    /// Scores every step of a run on `recording`, of which `reference` holds the true sources.
    ///
    /// # Errors
    /// When the numbers of samples differ, or fewer than two samples are complete.
    pub fn new(
        reference: &Reference,
        recording: &Recording,
        inner: O,
    ) -> Result<Self, strt_score::Error> {
        Ok(Self {
            inner,
            scorer: Scorer::new(reference, recording)?,
            every: 1,
        })
    }

    /// Scores only every n-th step, and the last one of the plan; the steps between are passed on
    /// without a score.
    pub fn every(mut self, n: usize) -> Self {
        self.every = n.max(1);
        self
    }

    /// The observer behind.
    pub fn into_inner(self) -> O {
        self.inner
    }
}

impl<O: ScoredObserver> Observer for Scored<O> {
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()> {
        let due = report.step.is_multiple_of(self.every) || report.step == report.steps;
        let score = due.then(|| self.scorer.score(report.sources().as_ref()));
        self.inner.observe(report, score.as_ref())
    }
}
