//! The objective J and its gradient in every parameter group.
//!
//! Flow of one evaluation, forward down the left, backward up the right:
//!
//! ```text
//! space ─► S ─► Z ─┬─► M_θ ─► L_rec            d_S ◄─ d_Z
//!                  ├─► C ─► L_sep
//!                  ├─► D_o ─► L_smooth
//!  η ─► π, α, c ───┴─► energy ─► L_str
//!         └─► L_ent, L_gap
//! ```
//!
//! Mixer and energy read S or Z as the configuration says. What S is, and how much of it a step
//! sees, is the space's business (`space/`); what structure is, the energy's
//! ([`crate::energy`]).

use crate::config::Plan;
use crate::controller::{Controller, ControllerGradient, ControllerState};
use crate::energy::Energy;
use crate::mixer::Mixer;
use crate::scale_penalties;
use crate::space::SourceSpace;
use crate::view::Excerpt;
use serde::{Deserialize, Serialize};

/// Everything that is optimised.
pub(crate) struct Model {
    /// S and its coordinates.
    pub space: Box<dyn SourceSpace>,
    /// M_θ.
    pub mixer: Box<dyn Mixer>,
    /// η.
    pub raw_gaps: Vec<f64>,
    /// What judges the sources, with its parameters Ψ.
    pub energy: Box<dyn Energy>,
}

/// The terms of J, unweighted, and J itself. A term with weight 0 is not computed and reads 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// J.
    pub total: f64,
    /// ‖Y − Ŷ‖²/(2ν_y).
    pub reconstruction: f64,
    /// L_str.
    pub structure: f64,
    /// L_sep.
    pub separation: f64,
    /// L_smooth.
    pub smoothness: f64,
    /// L_ent.
    pub entropy: f64,
    /// L_gap.
    pub gap: f64,
}

/// J for one plan, with its workspace. Gradients of sources and energy stay with them.
pub(crate) struct Objective {
    plan: Plan,
    controller: Controller,
    /// The controller's output at the last evaluation.
    pub state: ControllerState,
    d_state: ControllerGradient,
    /// ∂J/∂θ.
    pub d_mixer: Vec<f64>,
    /// ∂J/∂η.
    pub d_raw_gaps: Vec<f64>,
}

impl Objective {
    pub fn new(plan: &Plan, mixer: &dyn Mixer) -> Objective {
        let config = plan.config();
        let (k, patch_sizes) = (config.n_sources, &config.branches.patch_sizes);
        Objective {
            controller: Controller::new(k, patch_sizes, &config.controller),
            state: ControllerState::default(),
            d_state: ControllerGradient::new(k, patch_sizes.len()),
            d_mixer: vec![0.0; mixer.parameters().len()],
            d_raw_gaps: vec![0.0; k + 1],
            plan: plan.clone(),
        }
    }

    /// The controller, for its initial gaps and invariants.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// J and its gradient at the model, for what a step looks at.
    pub fn evaluate(&mut self, model: &mut Model, excerpt: &Excerpt) -> Terms {
        self.d_mixer.fill(0.0);
        self.d_raw_gaps.fill(0.0);
        self.d_state.clear();
        self.controller.forward(&model.raw_gaps, &mut self.state);

        let (space, energy) = (&mut *model.space, &mut *model.energy);
        space.place(excerpt, energy.windows());
        let mut terms = Terms {
            reconstruction: space
                .samples_mut()
                .reconstruct(&mut *model.mixer, &mut self.d_mixer),
            separation: space.separate(),
            smoothness: space.samples_mut().smooth(),
            structure: energy.evaluate(
                space.samples_mut(),
                &self.state,
                self.plan.structure,
                &mut self.d_state,
            ),
            ..Terms::default()
        };
        (terms.entropy, terms.gap) = self.penalise_scales();

        space.pull_back();
        self.controller.backward(
            &model.raw_gaps,
            &self.state,
            &self.d_state,
            &mut self.d_raw_gaps,
        );
        terms.total = self.total(&terms);
        terms
    }

    /// J from its terms.
    pub fn total(&self, terms: &Terms) -> f64 {
        let w = &self.plan.config().weights;
        terms.reconstruction
            + self.plan.structure * terms.structure
            + self.plan.separation * terms.separation
            + w.smoothness * terms.smoothness
            + w.entropy * terms.entropy
            + w.gap * terms.gap
    }

    /// L_ent and L_gap.
    fn penalise_scales(&mut self) -> (f64, f64) {
        let config = self.plan.config();
        let (state, d_state) = (&self.state, &mut self.d_state);
        let entropy = match config.weights.entropy {
            0.0 => 0.0,
            weight => scale_penalties::entropy(
                &state.scale_weights,
                config.n_sources,
                weight,
                &mut d_state.scale_weights,
            ),
        };
        let gap = match config.weights.gap {
            0.0 => 0.0,
            weight => {
                let target = self.controller.gap_target();
                scale_penalties::gap(&state.centers, target, weight, &mut d_state.centers)
            }
        };
        (entropy, gap)
    }
}
