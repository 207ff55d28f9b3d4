//! What happens inside a step, for tests of this crate and for the laboratory (`strt-lab`).
//!
//! In: a [`Trainer`], through [`Inspect`]. Out: every parameter and its gradient by name, and
//! evaluations at parameters and draws that the caller sets. Behind the feature `internals`, which
//! programs leave off: nothing here is needed to separate a recording, and all of it may change
//! with any version.

use crate::Trainer;
use crate::energy::Blend;
use crate::energy::Energy;
use crate::mixer::Mixer;
use crate::objective::{Model, Terms};
use crate::tensors::Tensors;
use crate::train::checkpoint::{MIXER, RAW_GAPS};
use faer::{Mat, MatRef};
use std::any::Any;
use strt_classic::kernel::Beside;

pub use crate::controller::Controller;
pub use crate::energy::draws::Draws;
pub use crate::energy::transformer::Transformer;

/// A look into a run, and hands on it.
pub trait Inspect {
    /// The parameter of this name: `space.s`, `space.a`, `space.e`, `space.bend`, `mixer`,
    /// `controller.raw_gaps` or `energy.network.N`. A vector is one column.
    fn parameter(&self, name: &str) -> Option<Mat<f64>>;

    /// Names of all parameters.
    fn parameter_names(&self) -> Vec<String>;

    /// Replaces a parameter.
    ///
    /// # Panics
    /// When there is none of this name and shape.
    fn set_parameter(&mut self, name: &str, value: &Mat<f64>);

    /// J's gradient of the last evaluation, under the names of the parameters. What is free sample
    /// by sample is left out where a step sees a part of it, see [`Inspect::touched`].
    fn gradient(&self) -> Tensors;

    /// ∂J/∂E at the samples that the last step touched: (source, first sample, values).
    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)>;

    /// Prepared observations (T×m), where every step sees all of them.
    fn observations(&self) -> Option<MatRef<'_, f64>>;

    /// Σ_r w_kr φ(ℓ_kr) of each source at the last evaluation.
    fn by_source(&self) -> &[f64];

    /// The branch networks.
    fn transformer(&self) -> &Transformer;

    /// What the kernel energy judges beside second moments.
    fn judged_beside(&self) -> Beside;

    /// All layers of a map of the components take part from now on.
    fn deepen(&mut self);

    /// M_θ.
    fn mixer(&self) -> &dyn Mixer;

    /// J and its gradient at the present parameters with the draws of step `step`; nothing is
    /// updated.
    fn evaluate_at(&mut self, step: usize) -> Terms;

    /// J and its gradient with the draws of the last evaluation, but with these blocks.
    fn evaluate_in_blocks(&mut self, blocks: [usize; 2]) -> Terms;

    /// J and its gradient with the draws of the last evaluation as `set` leaves them; nothing is
    /// updated.
    fn evaluate_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms;

    /// One step with draws that the caller sets, for reproducing a recorded run. The terms are
    /// those before the update.
    fn step_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms;
}

/// Whether this is the name of a parameter, and not of a part of an optimiser's state.
fn is_parameter(name: &str) -> bool {
    let state = [
        ".first",
        ".second",
        ".updates",
        ".counts",
        ".squares",
        ".with_components",
        ".with_channels",
        ".with_itself",
        ".mean",
    ];
    !state.iter().any(|ending| name.ends_with(ending))
}

fn draws(energy: &mut dyn Energy) -> &mut Draws {
    let energy: &mut dyn Any = energy;
    if energy.is::<Blend>() {
        let blend: Option<&mut Blend> = energy.downcast_mut();
        return blend.expect("it is one").networks_mut().draws_mut();
    }
    let transformer: Option<&mut Transformer> = energy.downcast_mut();
    transformer.expect("the branch networks").draws_mut()
}

impl Inspect for Trainer {
    fn parameter(&self, name: &str) -> Option<Mat<f64>> {
        let tensors = self.checkpoint().tensors;
        tensors.get(name).map(|value| value.to_owned())
    }

    fn parameter_names(&self) -> Vec<String> {
        let tensors = self.checkpoint().tensors;
        let names = tensors.iter().map(|(name, _)| name);
        names
            .filter(|name| is_parameter(name))
            .map(String::from)
            .collect()
    }

    fn set_parameter(&mut self, name: &str, value: &Mat<f64>) {
        let mut all = Tensors::default();
        all.put(name, value.clone());
        let Model {
            space,
            mixer,
            raw_gaps,
            energy,
        } = &mut self.model;
        let outcome = match name {
            MIXER => all.read_vector(name, mixer.parameters_mut()),
            RAW_GAPS => all.read_vector(name, raw_gaps),
            _ if space.set_parameter(name, value) => Ok(()),
            _ => {
                energy.save_parameters(&mut all);
                all.put(name, value.clone());
                energy.restore_parameters(&all)
            }
        };
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = self.model.space.gradient();
        gradient.put_vector(MIXER, &self.objective.d_mixer);
        gradient.put_vector(RAW_GAPS, &self.objective.d_raw_gaps);
        for (name, value) in self.model.energy.gradient().iter() {
            gradient.put(name, value.to_owned());
        }
        gradient
    }

    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        self.model.space.touched()
    }

    fn observations(&self) -> Option<MatRef<'_, f64>> {
        self.model.space.samples().observations()
    }

    fn by_source(&self) -> &[f64] {
        self.model.energy.found().by_source
    }

    fn transformer(&self) -> &Transformer {
        let energy: &dyn Any = &*self.model.energy;
        let blend: Option<&Blend> = energy.downcast_ref();
        let networks = blend.map(Blend::networks);
        networks.unwrap_or_else(|| energy.downcast_ref().expect("the branch networks"))
    }

    fn judged_beside(&self) -> Beside {
        let kernels = self.prepared.kernels.as_ref();
        kernels.map_or(Beside::Nothing, |kernels| kernels.novel.kind())
    }

    fn deepen(&mut self) {
        self.model.space.deepen();
    }

    fn mixer(&self) -> &dyn Mixer {
        &*self.model.mixer
    }

    fn evaluate_at(&mut self, step: usize) -> Terms {
        let pool = self.pool.clone();
        pool.install(|| {
            self.sample(step);
            self.evaluate()
        })
    }

    fn evaluate_in_blocks(&mut self, blocks: [usize; 2]) -> Terms {
        let pool = self.pool.clone();
        self.excerpt.blocks = blocks;
        pool.install(|| self.evaluate())
    }

    fn evaluate_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms {
        let pool = self.pool.clone();
        pool.install(|| {
            set(draws(&mut *self.model.energy));
            self.evaluate()
        })
    }

    fn step_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms {
        let pool = self.pool.clone();
        pool.install(|| {
            set(draws(&mut *self.model.energy));
            self.advance_from_sample();
        });
        self.terms
    }
}
