//! What makes a source a source: energies that judge windows of the sources.
//!
//! An [`Energy`] is given access to the sources of a step and says how far they are from having
//! structure (L_str), with the gradient in what it has read. It owns its parameters and their
//! optimiser. The first is the `Transformer`: masked patches, predicted by one small network per
//! source and scale; the second the `Kernel` energy, the entropy of a Gaussian process; a run has
//! a `Blend` of both. Another one implements the trait and is given to a run by
//! [`Start::energy`](crate::train::Start); neither trainer nor objective know which one they have.
//!
//! Deliberately absent: where the sources come from, their weight in J, schedules and clipping.

mod blend;
pub(crate) mod draws;
mod kernel;
mod novelty;
mod phi;
pub(crate) mod transformer;

pub(crate) use blend::Blend;
pub(crate) use kernel::Kernel;
pub(crate) use novelty::{Judge, Novelty};
pub(crate) use phi::Phi;
pub use rand::Rng;
pub use strt_kernels::AdamStep;
pub use strt_signal::rows::Rows;
pub(crate) use transformer::Transformer;

use crate::Result;
use crate::config::Plan;
use crate::controller::{ControllerGradient, ControllerState};
use crate::tensors::Tensors;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Makes the energy of a restart from the plan, the samples that are there, and the restart's seed.
pub type MakeEnergy = Arc<dyn Fn(&Plan, &Rows, u64) -> Result<Box<dyn Energy>> + Send + Sync>;

/// Consecutive samples of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The source.
    pub source: usize,
    /// The first sample.
    pub first: usize,
    /// How many samples.
    pub len: usize,
}

/// The sources of a step, as energies read them: of mean 0 and variance 1 where the configuration
/// says so, 0 in missing samples.
pub trait SourceWindows {
    /// Copies samples `first..` of a source, as many as `window` holds. They must lie in one of the
    /// windows that the energy has announced.
    fn read(&self, source: usize, first: usize, window: &mut [f64]);

    /// Adds `factor` · `d_window`, J's gradient in such samples.
    fn add_gradient(&mut self, source: usize, first: usize, factor: f64, d_window: &[f64]);

    /// Second moments of a source, of the whole recording or the block that the step looks at, for
    /// the segments and lags that the kernel energy of the run asks for ([`strt_classic::kernel`]).
    /// A run without a kernel energy has none.
    fn read_moments(&self, source: usize, moments: &mut [f64]);

    /// Adds `factor` · `d_moments`, J's gradient in these moments.
    fn add_moment_gradient(&mut self, source: usize, factor: f64, d_moments: &[f64]);
}

/// What an energy found in its last evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The part of L_str that each source has, times K: their mean is L_str.
    pub by_source: &'a [f64],
    /// The share of each source's variance that is predicted, from 0 to 1.
    pub predicted: &'a [f64],
    /// ℓ_kr, row-major (K×R): the mean squared error of source k at scale r. An energy that knows
    /// no scales repeats that of the source.
    pub by_scale: &'a [f64],
}

/// Judges the sources of a run, and learns to.
///
/// A step calls [`Energy::sample`], then [`Energy::evaluate`], then, unless the run ends,
/// [`Energy::update`]. Equal seeds must give equal bits: everything random comes from `rng`. A run
/// whose λ_str is 0 evaluates with weight 0, where L_str is to be 0.
pub trait Energy: Any + Send {
    /// Whether windows can be drawn among these samples of the recording.
    ///
    /// # Errors
    /// Says what they lack.
    fn accepts(&self, samples: &Range<usize>) -> Result<()>;

    /// Draws what the next evaluation reads, among these samples.
    fn sample(&mut self, samples: &Range<usize>, rng: &mut dyn Rng);

    /// What the next evaluation reads.
    fn windows(&self) -> &[Window];

    /// L_str of the sources. Adds `weight` times its gradient: in the samples to `sources`, in what
    /// the controller says to `d_controller`; that in the own parameters is kept.
    fn evaluate(
        &mut self,
        sources: &mut dyn SourceWindows,
        controller: &ControllerState,
        weight: f64,
        d_controller: &mut ControllerGradient,
    ) -> f64;

    /// What the last evaluation found.
    fn found(&self) -> Found<'_>;

    /// Squared norm of the kept gradient in the own parameters.
    fn gradient_norm_squared(&self) -> f64;

    /// Moves the own parameters along `scale` times their gradient; counts its updates itself.
    fn update(&mut self, step: &AdamStep, scale: f64);

    /// The sources have come to rest at the first rate and go on at lower ones: what helped them to
    /// find their places may give way to what makes them accurate.
    fn come_to_rest(&mut self, at_rest: bool) {
        let _ = at_rest;
    }

    /// Source k takes over what was learned about source `order[k]`.
    fn permute(&mut self, order: &[usize]);

    /// Puts the learned parameters, which judge the sources of new data too. Names begin with
    /// `energy.` and are those of the first step from the beginning.
    fn save_parameters(&self, to: &mut Tensors);

    /// Takes back what [`Energy::save_parameters`] has put.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    fn restore_parameters(&mut self, from: &Tensors) -> Result<()>;

    /// Puts the state of the optimiser, beside the parameters and under names of the same form.
    fn save_optimizer(&self, to: &mut Tensors);

    /// Takes back what [`Energy::save_optimizer`] has put.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    fn restore_optimizer(&mut self, from: &Tensors) -> Result<()>;

    /// The kept gradient in the parameters, under their names, for checks of gradients.
    fn gradient(&self) -> Tensors {
        Tensors::default()
    }
}
