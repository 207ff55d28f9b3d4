//! What happens inside a step, for tests of this crate and for the laboratory (`strt-lab`).
//!
//! In: a [`Trainer`], through [`Inspect`]. Out: the model and the objective of a step with the
//! gradient of every parameter, and evaluations at parameters and draws that the caller sets.
//! Behind the feature `internals`, which programs leave off: nothing here is needed to separate a
//! recording, and all of it may change with any version.

use crate::Trainer;

pub use crate::model::controller::Controller;
pub use crate::model::draws::Draws;
pub use crate::model::objective::{Gradient, Model, Objective, Terms};
pub use crate::model::sources::SourceParameters;

/// A look into a run, and hands on it.
pub trait Inspect {
    /// The model as it stands.
    fn model(&self) -> &Model;

    /// The model, to be given other parameters.
    fn model_mut(&mut self) -> &mut Model;

    /// The objective with the gradient of the last evaluation.
    fn objective(&self) -> &Objective;

    /// J and its gradient at the present parameters with the draws of step `step`; nothing is
    /// updated.
    fn evaluate_at(&mut self, step: usize) -> Terms;

    /// J and its gradient with the draws of the last evaluation as `set` leaves them; nothing is
    /// updated.
    fn evaluate_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms;

    /// One step with draws that the caller sets, for reproducing a recorded run.
    fn step_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms;
}

impl Inspect for Trainer {
    fn model(&self) -> &Model {
        Trainer::model(self)
    }

    fn model_mut(&mut self) -> &mut Model {
        Trainer::model_mut(self)
    }

    fn objective(&self) -> &Objective {
        Trainer::objective(self)
    }

    fn evaluate_at(&mut self, step: usize) -> Terms {
        Trainer::evaluate_at(self, step)
    }

    fn evaluate_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms {
        Trainer::evaluate_with_draws(self, set)
    }

    fn step_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms {
        Trainer::step_with_draws(self, set)
    }
}
