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

/// The masked patches of one block of a window, and how well they were predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockError {
    /// |M_c|, how many masked patches begin in block c.
    pub n_patches: usize,
    /// ℓ_c = 1/(|M_c| P) Σ_{i∈M_c} ‖û_i − u_i‖².
    pub error: f64,
    /// f_c: what the gradients of ℓ_c are multiplied by, 1 unless the caller's judgement says
    /// otherwise.
    pub factor: f64,
}

/// What an engine found for one [`Job`].
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The errors of the blocks that have masked patches, in their order.
    pub errors: Vec<BlockError>,
    /// ∂g/∂window, `span` long.
    pub d_window: Vec<f64>,
    /// ∂g/∂α_k.
    pub d_slope: f64,
}

impl Outcome {
    /// With memory for every outcome of branch `branch`.
    pub fn with_capacity(branches: &BranchSet, branch: usize) -> Outcome {
        let scale = branches.scale_of(branch);
        Outcome {
            errors: Vec::with_capacity(branches.n_blocks(scale)),
            d_window: vec![0.0; scale.span()],
            d_slope: 0.0,
        }
    }

    /// ℓ = Σ_c |M_c|/|M| ℓ_c: the mean squared error of all masked patches.
    pub fn energy(&self) -> f64 {
        if let [whole] = self.errors[..] {
            return whole.error;
        }
        let total = |of: &dyn Fn(&BlockError) -> f64| self.errors.iter().map(of).sum::<f64>();
        total(&|b| b.n_patches as f64 * b.error) / total(&|b| b.n_patches as f64)
    }
}

/// The caller's judgement of the errors of one job: sets the factor of each block, once all errors
/// of the job are known and before its backward pass. It may be asked from several threads.
pub type Judge<'a> = &'a (dyn Fn(&mut [BlockError]) + Sync);

/// Which of an engine's per-branch vectors to read or write, in the order of [`crate::Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// The network parameters.
    Parameters,
    /// ∂g/∂parameters of the last [`Engine::evaluate`].
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

    /// Forward and backward pass of every job, one a branch. `slopes` holds α_k per source.
    /// Overwrites `outcomes` and the gradient buffers: the errors ℓ_c, and the gradients of
    ///
    /// ```text
    /// g = Σ_c |M_c|/|M| f_c ℓ_c
    /// ```
    ///
    /// with the factors f_c that `judge` gives, held constant. With f = 1, g is ℓ.
    fn evaluate(
        &mut self,
        jobs: &[Job],
        slopes: &[f64],
        judge: Judge<'_>,
        outcomes: &mut [Outcome],
    );

    /// Σ over branches of weights² · ‖∂g/∂parameters‖², for clipping by global norm. One weight per
    /// branch.
    fn gradient_norm_squared(&self, weights: &[f64]) -> f64;

    /// One step of every branch with gradient `weights[branch]` · ∂g/∂parameters.
    fn update(&mut self, weights: &[f64], step: &AdamStep);

    /// Gives source k the networks (and moments) that source `order[k]` has now.
    fn permute_sources(&mut self, order: &[usize]);

    /// Copies one vector of one branch out.
    fn read(&self, buffer: Buffer, branch: usize, values: &mut [f64]);

    /// Copies one vector of one branch in.
    fn write(&mut self, buffer: Buffer, branch: usize, values: &[f64]);
}
