//! The history of a run: what its steps reported, kept for tables and figures.
//!
//! In: the [`StepReport`]s of a run. Out: [`HistoryRow`]s, plain data, one for every n-th step and
//! the last. Scores against true sources are not part of it: they are evaluation, not training.

use super::observer::{Observer, StepReport};
use crate::objective::Terms;
use std::ops::ControlFlow;

/// The diagnostics of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRow {
    /// Which restart the step belongs to.
    pub restart: usize,
    /// Steps done, this one included.
    pub step: usize,
    /// J and its terms.
    pub terms: Terms,
    /// Exponential average of J.
    pub smoothed_objective: f64,
    /// Global norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Δ, the margin of the present assignment of sources to branches.
    pub assignment_margin: f64,
    /// Σ_r w_kr φ(ℓ_kr) of each source (K).
    pub branch_structure: Vec<f64>,
    /// c_k, the log-scale centers (K).
    pub centers: Vec<f64>,
    /// α_k, the locality slopes (K).
    pub slopes: Vec<f64>,
    /// P̄_k, the expected patch sizes in samples (K).
    pub expected_patch: Vec<f64>,
    /// π_kr, row-major (K×R).
    pub scale_weights: Vec<f64>,
    /// ℓ_kr, row-major (K×R).
    pub energy: Vec<f64>,
}

impl From<&StepReport<'_>> for HistoryRow {
    fn from(report: &StepReport<'_>) -> HistoryRow {
        HistoryRow {
            restart: report.restart,
            step: report.step,
            terms: report.terms,
            smoothed_objective: report.smoothed_objective,
            gradient_norm: report.gradient_norm,
            assignment_margin: report.assignment_margin(),
            branch_structure: report.branch_structure.to_vec(),
            centers: report.controller.centers.clone(),
            slopes: report.controller.slopes.clone(),
            expected_patch: report.controller.expected_patch.clone(),
            scale_weights: report.controller.scale_weights.clone(),
            energy: report.energy.to_vec(),
        }
    }
}

/// An [`Observer`] that keeps every n-th step.
///
/// ```
/// use strt_synth::ProblemSpec;
/// use strtransformer::train::{History, Trainer};
/// use strtransformer::Config;
///
/// let problem = ProblemSpec { n_samples: 300, ..ProblemSpec::default() }.generate()?;
/// let recording = problem.recording()?;
/// let mut config = Config::new(3);
/// # config.optimizer.steps = Some(7);
/// # config.branches.patch_sizes = vec![4, 8];
/// let mut history = History::every(3);
/// Trainer::new(&recording, &config)?.run(&mut history);
/// # assert_eq!(history.rows().iter().map(|row| row.step).collect::<Vec<_>>(), [1, 3, 6, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct History {
    every: usize,
    rows: Vec<HistoryRow>,
}

impl History {
    /// Keeps the first step, every n-th and the last one of the plan.
    pub fn every(n: usize) -> History {
        History {
            every: n.max(1),
            rows: Vec::new(),
        }
    }

    /// Continues a history that was kept before, as after a resume.
    pub fn continuing(n: usize, rows: Vec<HistoryRow>) -> History {
        History {
            rows,
            ..History::every(n)
        }
    }

    /// What was kept, restart by restart and step by step, whatever order the reports came in:
    /// restarts that run side by side interleave.
    pub fn rows(&self) -> &[HistoryRow] {
        &self.rows
    }

    /// The rows of one restart.
    pub fn of_restart(&self, restart: usize) -> impl Iterator<Item = &HistoryRow> {
        self.rows.iter().filter(move |row| row.restart == restart)
    }
}

impl Observer for History {
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()> {
        let due = report.step == 1
            || report.step.is_multiple_of(self.every)
            || report.step == report.steps;
        if due {
            let place = (report.restart, report.step);
            let before = |row: &HistoryRow| (row.restart, row.step) <= place;
            let at = self.rows.partition_point(before);
            self.rows.insert(at, HistoryRow::from(report));
        }
        ControlFlow::Continue(())
    }
}
