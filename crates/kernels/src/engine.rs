//! The seam between the method and the arithmetic: [`Engine`].

use crate::{AdamStep, BranchSet};

/// One window of one source, to be read by one branch: what the method drew for this step.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Samples of the source under the patch grid, `span` of the scale. Samples under invalid
    /// patches are never read by the engine's arithmetic, so they may hold anything finite.
    pub window: Vec<f64>,
    /// Shift of the positional encoding, at most `max_shift`.
    pub shift: usize,
    /// Ascending indices of the valid patches; at least one.
    pub tokens: Vec<u32>,
    /// Ascending indices *into `tokens`* of the patches to hide and predict; at least one.
    pub masked: Vec<u32>,
}

/// What an engine found for one [`Job`].
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// ℓ of this draw: the mean squared error of its masked patches, or what [`crate::Pooling`]
    /// makes of their errors.
    pub energy: f64,
    /// ∂ℓ/∂window, `span` long.
    pub d_window: Vec<f64>,
    /// ∂ℓ/∂α_k.
    pub d_slope: f64,
}

/// Which of an engine's per-branch vectors to read or write, in the order of [`crate::Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The network parameters.
    Parameters,
    /// ∂ℓ_kr/∂parameters of the last [`Engine::evaluate`], mean over draws.
    Gradient,
    /// Adam's first moment.
    FirstMoment,
    /// Adam's second moment.
    SecondMoment,
}

/// Arithmetic of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit.
    F32,
    /// 64-bit.
    F64,
}

/// Computes the energies of all branches and owns their parameters.
///
/// Equal inputs give equal bits whatever the number of threads. After construction no method
/// allocates, except in the reference engine.
pub trait Engine: Send {
    /// Sizes of the branches.
    fn branches(&self) -> &BranchSet;

    /// Arithmetic used; values read through [`Engine::read`] convert to and from it without loss.
    fn precision(&self) -> Precision;

    /// Forward and backward pass of every job. `slopes` holds α_k per source. Overwrites `outcomes`
    /// and the gradient buffers. Jobs are ordered as [`BranchSet::n_jobs`] says.
    fn evaluate(&mut self, jobs: &[Job], slopes: &[f64], outcomes: &mut [Outcome]);

    /// Σ over branches of weights² · ‖∂ℓ/∂parameters‖², for clipping by global norm. One weight per
    /// branch.
    fn gradient_norm_squared(&self, weights: &[f64]) -> f64;

    /// One Adam step of every branch with gradient `weights[branch]` · ∂ℓ/∂parameters.
    fn update(&mut self, weights: &[f64], step: &AdamStep);

    /// Gives source k the networks (and moments) that source `order[k]` has now.
    fn permute_sources(&mut self, order: &[usize]);

    /// Copies one vector of one branch out.
    fn read(&self, buffer: Buffer, branch: usize, values: &mut [f64]);

    /// Copies one vector of one branch in.
    fn write(&mut self, buffer: Buffer, branch: usize, values: &[f64]);
}
