//! The objective J and its gradient in every parameter group.
//!
//! Flow of one evaluation, forward down the left, backward up the right:
//!
//! ```text
//! A, E ─► S ─► Z ─┬─► M_θ ─► L_rec            d_S ◄─ d_Z
//!                 ├─► C ─► L_sep
//!                 ├─► D_o ─► L_smooth
//!  η ─► π, α, c ──┴─► branches ─► ℓ ─► L_str    ∂J/∂ℓ_kr ─► engine
//!         └─► L_ent, L_gap
//! ```
//!
//! Mixer and branches read S or Z as the configuration says. The structural term is
//! L_str = 1/K Σ_k Σ_r w_kr φ(ℓ_kr) with w = (1−f)π + f/R, φ(ℓ) = ℓ or ln(ℓ+κ).

use crate::config::{Elimination, Plan};
use crate::model::controller::{Controller, ControllerState};
use crate::model::draws::Draws;
use crate::model::mixer::Mixer;
use crate::model::sources::{Rows, SourceParameters};
use crate::model::standardize::Standardize;
use crate::model::terms::reconstruction::Reconstruction;
use crate::model::terms::separation::Separation;
use crate::model::terms::{scale_penalties, smoothness};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use strt_kernels::{Engine, Outcome};

/// Everything that is optimised.
pub struct Model {
    /// Coordinates of S.
    pub sources: SourceParameters,
    /// M_θ.
    pub mixer: Box<dyn Mixer>,
    /// η.
    pub raw_gaps: Vec<f64>,
    /// Ψ, the branch networks, inside their engine.
    pub engine: Box<dyn Engine>,
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

/// ∂J/∂(each group) after an evaluation. Gradients of the networks stay in the engine, one factor per branch here.
pub struct Gradient {
    /// ∂J/∂A (K×K); zero in direct coordinates.
    pub fiber: Mat<f64>,
    /// ∂J/∂S, which is also ∂J/∂E (T×K).
    pub sources: Mat<f64>,
    /// ∂J/∂θ.
    pub mixer: Vec<f64>,
    /// ∂J/∂η.
    pub raw_gaps: Vec<f64>,
    /// ∂J/∂ℓ_kr (K×R): what multiplies the engine's unit gradients.
    pub branches: Vec<f64>,
}

/// J for one recording and plan, with all its workspace.
pub struct Objective {
    plan: Plan,
    rows: Rows,
    controller: Controller,
    /// The controller's output at the last evaluation.
    pub(crate) state: ControllerState,
    reconstruction: Reconstruction,
    separation: Separation,
    standardize: Standardize,
    s: Mat<f64>,   // S (T×K)
    d_z: Mat<f64>, // ∂J/∂Z (T×K)
    outcomes: Vec<Outcome>,
    /// ℓ_kr (K×R), mean over draws.
    pub(crate) energy: Vec<f64>,
    /// Σ_r w_kr φ(ℓ_kr) per source.
    pub(crate) branch_structure: Vec<f64>,
    d_scale_weights: Vec<f64>,
    d_centers: Vec<f64>,
    d_slopes: Vec<f64>,
    /// The gradient of the last evaluation.
    pub gradient: Gradient,
}

impl Objective {
    /// J for prepared observations (T×m, 0 in missing rows).
    pub fn new(plan: &Plan, observations: Arc<Mat<f64>>, rows: Rows, mixer: &dyn Mixer) -> Objective {
        let config = plan.config();
        let (t, k, r) = (rows.n_samples(), config.n_sources, plan.branches().scales.len());
        let ridge = (config.mixer.elimination == Elimination::LeastSquares).then_some(plan.ridge);
        let outcomes = (0..plan.branches().n_jobs())
            .map(|j| {
                let span = plan.branches().scale_of(j / plan.branches().n_draws).span();
                Outcome {
                    energy: 0.0,
                    d_window: vec![0.0; span],
                    d_slope: 0.0,
                }
            })
            .collect();
        Objective {
            controller: Controller::new(k, &config.branches.patch_sizes, &config.controller),
            state: ControllerState::default(),
            reconstruction: Reconstruction::new(observations, mixer, plan.observation_variance, ridge),
            separation: Separation::new(config.weights.separation_form, k),
            standardize: Standardize::new(t, k, config.sources.epsilon),
            s: Mat::zeros(t, k),
            d_z: Mat::zeros(t, k),
            outcomes,
            energy: vec![0.0; k * r],
            branch_structure: vec![0.0; k],
            d_scale_weights: vec![0.0; k * r],
            d_centers: vec![0.0; k],
            d_slopes: vec![0.0; k],
            gradient: Gradient {
                fiber: Mat::zeros(k, k),
                sources: Mat::zeros(t, k),
                mixer: vec![0.0; mixer.parameters().len()],
                raw_gaps: vec![0.0; k + 1],
                branches: vec![0.0; k * r],
            },
            plan: plan.clone(),
            rows,
        }
    }

    /// The controller, for its initial gaps and invariants.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The samples that take part.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Prepared observations (T×m).
    pub fn observations(&self) -> MatRef<'_, f64> {
        self.reconstruction.observations()
    }

    /// S̃ at the last evaluation: what the mixer was fed (T×K).
    pub fn mixer_input(&self) -> MatRef<'_, f64> {
        if self.plan.config().mixer.decoder_standardization {
            self.standardize.z.as_ref()
        } else {
            self.s.as_ref()
        }
    }

    /// Mean and divisor of Φ_dec for source k at the last evaluation: S̃ = (S − mean)/divisor.
    pub(crate) fn decoder_gauge(&self, k: usize) -> (f64, f64) {
        if self.plan.config().mixer.decoder_standardization {
            (self.standardize.mean[k], self.standardize.divisor(k))
        } else {
            (0.0, 1.0)
        }
    }

    /// Mean and divisor that standardise source k, whether or not anything reads it standardised.
    pub(crate) fn gauge(&self, k: usize) -> (f64, f64) {
        (self.standardize.mean[k], self.standardize.divisor(k))
    }

    /// Standardises with these means and divisors from now on.
    pub(crate) fn fix_gauge(&mut self, gauge: &[(f64, f64)]) {
        self.standardize.fix(gauge);
    }

    /// J and its gradient at the model, for these draws.
    pub fn evaluate(&mut self, model: &mut Model, draws: &mut Draws) -> Terms {
        self.forget();
        model.sources.assemble(self.s.as_mut());
        self.standardize.forward(self.s.as_ref(), &self.rows);
        self.controller.forward(&model.raw_gaps, &mut self.state);

        let mut terms = Terms {
            reconstruction: self.reconstruct(&mut *model.mixer),
            separation: self.separate(),
            smoothness: self.smooth(),
            structure: self.structure(&mut *model.engine, draws),
            ..Terms::default()
        };
        (terms.entropy, terms.gap) = self.penalise_scales();

        self.standardize
            .backward(self.d_z.as_ref(), &self.rows, self.gradient.sources.as_mut());
        model
            .sources
            .fiber_gradient(self.gradient.sources.as_ref(), self.gradient.fiber.as_mut());
        self.controller.backward(
            &model.raw_gaps,
            &self.state,
            &self.d_scale_weights,
            &self.d_centers,
            &self.d_slopes,
            &mut self.gradient.raw_gaps,
        );
        let w = &self.plan.config().weights;
        terms.total = terms.reconstruction
            + self.plan.structure * terms.structure
            + self.plan.separation * terms.separation
            + w.smoothness * terms.smoothness
            + w.entropy * terms.entropy
            + w.gap * terms.gap;
        terms
    }

    fn forget(&mut self) {
        self.d_z.fill(0.0);
        self.gradient.sources.fill(0.0);
        self.gradient.fiber.fill(0.0);
        let vectors = [
            &mut self.gradient.mixer,
            &mut self.gradient.raw_gaps,
            &mut self.d_scale_weights,
            &mut self.d_centers,
            &mut self.d_slopes,
        ];
        vectors.into_iter().for_each(|v| v.fill(0.0));
    }

    fn reconstruct(&mut self, mixer: &mut dyn Mixer) -> f64 {
        if self.plan.observation_variance.is_infinite() {
            return 0.0;
        }
        let (input, d_input) = if self.plan.config().mixer.decoder_standardization {
            (self.standardize.z.as_ref(), self.d_z.as_mut())
        } else {
            (self.s.as_ref(), self.gradient.sources.as_mut())
        };
        self.reconstruction
            .evaluate(mixer, input, &self.rows, d_input, &mut self.gradient.mixer)
    }

    fn separate(&mut self) -> f64 {
        if self.plan.separation == 0.0 {
            return 0.0;
        }
        let z = self.standardize.z.as_ref();
        self.separation
            .evaluate(z, self.rows.n_valid(), self.plan.separation, self.d_z.as_mut())
    }

    fn smooth(&mut self) -> f64 {
        let weight = self.plan.config().weights.smoothness;
        if weight == 0.0 {
            return 0.0;
        }
        let (input, d_input) = if self.plan.config().sources.standardize {
            (self.standardize.z.as_ref(), self.d_z.as_mut())
        } else {
            (self.s.as_ref(), self.gradient.sources.as_mut())
        };
        smoothness::evaluate(input, &self.rows, self.plan.smoothness_order(), weight, d_input)
    }

    fn structure(&mut self, engine: &mut dyn Engine, draws: &mut Draws) -> f64 {
        self.energy.fill(0.0);
        self.branch_structure.fill(0.0);
        self.gradient.branches.fill(0.0);
        let weight = self.plan.structure;
        if weight == 0.0 {
            return 0.0;
        }
        let branches = self.plan.branches();
        let (k, r, n_draws) = (branches.n_sources, branches.scales.len(), branches.n_draws);
        let standardized = self.plan.config().sources.standardize;
        draws.read_windows(if standardized {
            self.standardize.z.as_ref()
        } else {
            self.s.as_ref()
        });
        engine.evaluate(draws.jobs(), &self.state.slopes, &mut self.outcomes);

        let floor = self.plan.config().controller.weight_floor;
        let mut value = 0.0;
        for b in 0..k * r {
            let outcomes = &self.outcomes[b * n_draws..(b + 1) * n_draws];
            let energy = outcomes.iter().map(|o| o.energy).sum::<f64>() / n_draws as f64;
            let (phi, d_phi) = match self.plan.kappa {
                None => (energy, 1.0),
                Some(kappa) => ((energy + kappa).ln(), 1.0 / (energy + kappa)),
            };
            let scale_weight = (1.0 - floor) * self.state.scale_weights[b] + floor / r as f64;
            let d_energy = weight / k as f64 * scale_weight * d_phi;
            self.energy[b] = energy;
            self.branch_structure[b / r] += scale_weight * phi;
            value += scale_weight * phi / k as f64;
            self.gradient.branches[b] = d_energy;
            self.d_scale_weights[b] += weight / k as f64 * (1.0 - floor) * phi;
            self.d_slopes[b / r] +=
                d_energy * outcomes.iter().map(|o| o.d_slope).sum::<f64>() / n_draws as f64;
        }
        let d_input = if standardized {
            &mut self.d_z
        } else {
            &mut self.gradient.sources
        };
        for (j, outcome) in self.outcomes.iter().enumerate() {
            let factor = self.gradient.branches[j / n_draws] / n_draws as f64;
            draws.add_gradient(j, factor, &outcome.d_window, d_input.as_mut());
        }
        value
    }

    fn penalise_scales(&mut self) -> (f64, f64) {
        let w = &self.plan.config().weights;
        let (pi, k) = (&self.state.scale_weights, self.plan.branches().n_sources);
        let entropy = match w.entropy {
            0.0 => 0.0,
            weight => scale_penalties::entropy(pi, k, weight, &mut self.d_scale_weights),
        };
        let gap = match w.gap {
            0.0 => 0.0,
            weight => {
                let target = self.controller.gap_target();
                scale_penalties::gap(&self.state.centers, target, weight, &mut self.d_centers)
            }
        };
        (entropy, gap)
    }
}
