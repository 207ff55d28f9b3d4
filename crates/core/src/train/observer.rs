//! What a run tells while it runs: [`StepReport`], and who listens: [`Observer`].

use crate::controller::ControllerState;
use crate::objective::Terms;
use crate::space::SourceSpace;
use faer::Mat;
use std::ops::ControlFlow;
use strt_signal::assignment;

/// Everything about one finished step. Borrowed from the trainer; copy what you keep.
#[derive(Clone, Copy)]
pub struct StepReport<'a> {
    /// Which restart this step belongs to, from 0.
    pub restart: usize,
    /// How many restarts there are in all, at most.
    pub restarts: usize,
    /// Steps done, this one included.
    pub step: usize,
    /// N_max.
    pub steps: usize,
    /// The largest angle in radians by which a source turned over the last steps that were judged.
    pub turned: Option<f64>,
    /// Whether the sources are bent, where a run has an affine stage before that.
    pub bent: bool,
    /// J and its terms, before this step's update.
    pub terms: Terms,
    /// Exponential average of J.
    pub smoothed_objective: f64,
    /// Global norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// Σ_r w_kr φ(ℓ_kr) of each branch.
    pub branch_structure: &'a [f64],
    /// ℓ_kr, row-major (K×R).
    pub energy: &'a [f64],
    /// Centers, slopes, scale weights and expected patch sizes.
    pub controller: &'a ControllerState,
    /// Number of patch scales R.
    pub n_scales: usize,
    pub(crate) space: &'a dyn SourceSpace,
}

impl StepReport<'_> {
    /// S̃ (T×K): the sources that the mixer was fed in this step. A recording that is trained in
    /// blocks has them formed for this call, as they are after the step's update.
    pub fn sources(&self) -> Mat<f64> {
        self.space.sources()
    }

    /// H = π·ℓᵀ: cost of giving source j (with its networks) to branch k.
    pub fn assignment_cost(&self) -> Mat<f64> {
        assignment::cost(&self.controller.scale_weights, self.energy, self.n_scales)
    }

    /// Δ: by how much the best other assignment costs more than the present one (negative when one
    /// is cheaper).
    pub fn assignment_margin(&self) -> f64 {
        assignment::margin(&self.assignment_cost())
    }
}

/// Watches a run. `Break` ends it after the current step, with everything done so far kept.
pub trait Observer: Send {
    /// Called after every step.
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()>;
}

/// Watches nothing.
impl Observer for () {
    fn observe(&mut self, _report: &StepReport<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&StepReport<'_>) -> ControlFlow<()> + Send> Observer for F {
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()> {
        self(report)
    }
}
