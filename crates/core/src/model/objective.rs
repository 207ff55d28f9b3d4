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
//!
//! How S is held, and what is summed over all samples, is the business of `whole` (short
//! recordings) and `long`.

use crate::config::Plan;
use crate::model::controller::{Controller, ControllerState};
use crate::model::draws::Draws;
use crate::model::gauge::Gauge;
use crate::model::long::Long;
use crate::model::mixer::Mixer;
use crate::model::sources::SourceParameters;
use crate::model::terms::scale_penalties;
use crate::model::whole::Whole;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
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

/// ∂J/∂(each group) after an evaluation. Gradients of the networks stay in the engine, one factor
/// per branch here.
pub struct Gradient {
    /// ∂J/∂A (K×K); zero in direct coordinates.
    pub fiber: Mat<f64>,
    /// ∂J/∂[Uᵀ | b | V] (h×(2K+1)); empty in other coordinates.
    pub bend: Mat<f64>,
    /// ∂J/∂S, which is also ∂J/∂E (T×K). Where the recording is trained in blocks: without rows,
    /// see [`Objective::touched`], or in neural coordinates those of the block.
    pub sources: Mat<f64>,
    /// Σ (∂J/∂E)² over the touched samples of a recording that is trained in blocks.
    pub(crate) touched_square: f64,
    /// ∂J/∂θ.
    pub mixer: Vec<f64>,
    /// ∂J/∂η.
    pub raw_gaps: Vec<f64>,
    /// ∂J/∂ℓ_kr (K×R): what multiplies the engine's unit gradients.
    pub branches: Vec<f64>,
}

/// The terms of J that compare sources with observations and with each other, unweighted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DataTerms {
    /// ‖Y − Ŷ‖²/(2ν_y).
    pub reconstruction: f64,
    /// L_sep.
    pub separation: f64,
    /// L_smooth.
    pub smoothness: f64,
}

/// How the sources of a recording are held.
pub(crate) enum Path {
    /// As T×K matrices.
    Whole(Box<Whole>),
    /// Through moments and samples.
    Long(Box<Long>),
}

/// J for one recording and plan, with all its workspace.
pub struct Objective {
    plan: Plan,
    controller: Controller,
    /// The controller's output at the last evaluation.
    #[doc(hidden)]
    pub state: ControllerState,
    pub(crate) path: Path,
    outcomes: Vec<Outcome>,
    /// ℓ_kr (K×R), mean over draws.
    #[doc(hidden)]
    pub energy: Vec<f64>,
    /// Σ_r w_kr φ(ℓ_kr) per source.
    #[doc(hidden)]
    pub branch_structure: Vec<f64>,
    /// 1 − Σ_r w_kr ℓ_kr per source, from 0 to 1: the share of a standardised source that its
    /// networks predict.
    pub(crate) predicted: Vec<f64>,
    d_scale_weights: Vec<f64>,
    d_centers: Vec<f64>,
    d_slopes: Vec<f64>,
    /// The gradient of the last evaluation.
    pub gradient: Gradient,
}

impl Objective {
    /// J over the sources that `path` holds, of a recording of `n_samples` samples.
    pub(crate) fn new(plan: &Plan, path: Path, n_samples: usize, mixer: &dyn Mixer) -> Objective {
        let config = plan.config();
        let (k, r) = (config.n_sources, plan.branches().scales.len());
        let rows = match path {
            Path::Whole(_) if plan.is_long => plan.block_len,
            Path::Whole(_) => n_samples,
            Path::Long(_) => 0,
        };
        let bend = match plan.is_neural() {
            true => config.sources.bend_shape(k),
            false => (0, 0),
        };
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
            path,
            outcomes,
            energy: vec![0.0; k * r],
            branch_structure: vec![0.0; k],
            predicted: vec![1.0; k],
            d_scale_weights: vec![0.0; k * r],
            d_centers: vec![0.0; k],
            d_slopes: vec![0.0; k],
            gradient: Gradient {
                fiber: Mat::zeros(k, k),
                bend: Mat::zeros(bend.0, bend.1),
                sources: Mat::zeros(rows, k),
                touched_square: 0.0,
                mixer: vec![0.0; mixer.parameters().len()],
                raw_gaps: vec![0.0; k + 1],
                branches: vec![0.0; k * r],
            },
            plan: plan.clone(),
        }
    }

    /// The controller, for its initial gaps and invariants.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Prepared observations (T×m), where the recording is evaluated whole.
    pub fn observations(&self) -> Option<MatRef<'_, f64>> {
        match &self.path {
            Path::Whole(whole) => whole.observations(),
            Path::Long(_) => None,
        }
    }

    /// ∂J/∂E at the samples that the last step touched, where the recording is trained in blocks:
    /// (source, first sample, values) of every run of consecutive samples.
    pub fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        match &self.path {
            Path::Whole(_) => Vec::new(),
            Path::Long(long) => long
                .touched()
                .map(|(k, first, d)| (k, first, d.to_vec()))
                .collect(),
        }
    }

    /// S̃ (T×K): what the mixer was fed at the last evaluation; where the recording is trained in
    /// blocks, what it would be fed with these sources.
    pub(crate) fn sources(&self, sources: &SourceParameters) -> Mat<f64> {
        match &self.path {
            Path::Whole(whole) => whole.sources(sources),
            Path::Long(long) => long.form_sources(sources.clone()),
        }
    }

    /// The same at the end of a run, from when on the gauge is that of the whole recording; gives
    /// up the parameters for their memory.
    pub(crate) fn take_sources(&mut self, sources: SourceParameters) -> Mat<f64> {
        match &mut self.path {
            Path::Whole(whole) => whole.settle(&sources),
            Path::Long(long) => long.form_sources(sources),
        }
    }

    /// L_rec over the whole recording, with an eliminated output layer fitted to all of it, where a
    /// step sees only a block; `None` where the last evaluation was exact. S̃ is `sources`.
    pub(crate) fn fit_mixer(
        &mut self,
        mixer: &mut dyn Mixer,
        sources: MatRef<'_, f64>,
    ) -> Option<f64> {
        match &mut self.path {
            Path::Whole(whole) => whole.fit_mixer(mixer, sources),
            Path::Long(long) => long.fit_mixer(mixer, sources),
        }
    }

    /// ZwᵀS/T (K×K) and the mean of S at the last evaluation.
    pub(crate) fn linear_fit(&self) -> (Mat<f64>, Vec<f64>) {
        match &self.path {
            Path::Whole(whole) => whole.linear_fit(),
            Path::Long(long) => long.linear_fit(),
        }
    }

    fn full_gauge(&self) -> &Gauge {
        match &self.path {
            Path::Whole(whole) => &whole.standardize.gauge,
            Path::Long(long) => long.gauge(),
        }
    }

    /// Mean and divisor of Φ_dec for source k at the last evaluation: S̃ = (S − mean)/divisor.
    pub(crate) fn decoder_gauge(&self, k: usize) -> (f64, f64) {
        if self.plan.config().mixer.decoder_standardization {
            self.gauge(k)
        } else {
            (0.0, 1.0)
        }
    }

    /// Mean and divisor that standardise source k, whether or not anything reads it standardised.
    pub(crate) fn gauge(&self, k: usize) -> (f64, f64) {
        self.full_gauge().of(k)
    }

    /// Standardises with these means and divisors from now on.
    pub(crate) fn fix_gauge(&mut self, gauge: &[(f64, f64)]) {
        match &mut self.path {
            Path::Whole(whole) => whole.standardize.gauge.fix(gauge),
            Path::Long(long) => long.gauge_mut().fix(gauge),
        }
    }

    /// J and its gradient at the model, for these draws.
    pub fn evaluate(&mut self, model: &mut Model, draws: &mut Draws) -> Terms {
        self.forget();
        self.controller.forward(&model.raw_gaps, &mut self.state);
        let mixer = &mut *model.mixer;
        let data = match &mut self.path {
            Path::Whole(whole) => {
                whole.place(&model.sources, draws);
                whole.terms(&model.sources, mixer, &mut self.gradient)
            }
            Path::Long(long) => {
                long.place(&model.sources, draws);
                long.terms(mixer, &mut self.gradient.mixer)
            }
        };
        let mut terms = Terms {
            reconstruction: data.reconstruction,
            separation: data.separation,
            smoothness: data.smoothness,
            structure: self.structure(&mut *model.engine, draws),
            ..Terms::default()
        };
        (terms.entropy, terms.gap) = self.penalise_scales();

        match &mut self.path {
            Path::Whole(whole) => whole.gradient(&model.sources, &mut self.gradient),
            Path::Long(long) => long.gradient(&model.sources, &mut self.gradient),
        }
        self.controller.backward(
            &model.raw_gaps,
            &self.state,
            &self.d_scale_weights,
            &self.d_centers,
            &self.d_slopes,
            &mut self.gradient.raw_gaps,
        );
        terms.total = self.total(&terms);
        terms
    }

    /// J from its terms.
    pub(crate) fn total(&self, terms: &Terms) -> f64 {
        let w = &self.plan.config().weights;
        terms.reconstruction
            + self.plan.structure * terms.structure
            + self.plan.separation * terms.separation
            + w.smoothness * terms.smoothness
            + w.entropy * terms.entropy
            + w.gap * terms.gap
    }

    fn forget(&mut self) {
        self.gradient.fiber.fill(0.0);
        self.gradient.bend.fill(0.0);
        let vectors = [
            &mut self.gradient.mixer,
            &mut self.gradient.raw_gaps,
            &mut self.d_scale_weights,
            &mut self.d_centers,
            &mut self.d_slopes,
        ];
        vectors.into_iter().for_each(|v| v.fill(0.0));
    }

    fn structure(&mut self, engine: &mut dyn Engine, draws: &mut Draws) -> f64 {
        self.energy.fill(0.0);
        self.branch_structure.fill(0.0);
        self.predicted.fill(1.0);
        self.gradient.branches.fill(0.0);
        let weight = self.plan.structure;
        if weight == 0.0 {
            return 0.0;
        }
        let branches = self.plan.branches();
        let (k, r, n_draws) = (branches.n_sources, branches.scales.len(), branches.n_draws);
        match &self.path {
            Path::Whole(whole) => whole.read_windows(draws),
            Path::Long(long) => long.read_windows(draws),
        }
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
            self.predicted[b / r] -= scale_weight * energy;
            value += scale_weight * phi / k as f64;
            self.gradient.branches[b] = d_energy;
            self.d_scale_weights[b] += weight / k as f64 * (1.0 - floor) * phi;
            self.d_slopes[b / r] +=
                d_energy * outcomes.iter().map(|o| o.d_slope).sum::<f64>() / n_draws as f64;
        }
        self.predicted
            .iter_mut()
            .for_each(|share| *share = share.clamp(0.0, 1.0));
        let factors = &self.gradient.branches;
        let factor = |j: usize| factors[j / n_draws] / n_draws as f64;
        match &mut self.path {
            Path::Whole(whole) => whole.add_windows(draws, &self.outcomes, factor),
            Path::Long(long) => long.add_windows(draws, &self.outcomes, factor),
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
