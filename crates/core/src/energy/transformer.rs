//! The structural energy of the paper: masked patches of a source, predicted by one small
//! Transformer per source and scale.
//!
//! ```text
//! L_str = 1/K Σ_k Σ_r w_kr φ(ℓ_kr)        w = (1 − f)π + f/R
//! ```
//!
//! The networks are computed by an [`Engine`]; here is what it does not know: which windows are
//! read and masked ([`Draws`]), φ ([`Phi`]), and the weights of the scales.

use super::draws::{Draws, Grid};
use super::phi::Phi;
use super::{Energy, Found, SourceWindows, Window};
use crate::Result;
use crate::config::{EngineKind, Plan};
use crate::controller::{ControllerGradient, ControllerState};
use crate::tensors::Tensors;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::ops::Range;
use strt_kernels::cpu::CpuEngine;
use strt_kernels::reference::ReferenceEngine;
use strt_kernels::{AdamStep, BranchSet, Buffer, Engine, Init, Layout, Outcome};
use strt_signal::random::{Stream, rng};
use strt_signal::rows::Rows;

/// The branch networks of all sources, and what one evaluation of them needs.
pub struct Transformer {
    engine: Box<dyn Engine>,
    grid: Grid,
    draws: Draws,
    phi: Phi,
    weight_floor: f64, // f
    outcomes: Vec<Outcome>,
    energy: Vec<f64>,    // ℓ_kr (K×R)
    by_source: Vec<f64>, // Σ_r w_kr φ(ℓ_kr)
    predicted: Vec<f64>, // 1 − Σ_r w_kr ℓ_kr, from 0 to 1
    weights: Vec<f64>,   // ∂J/∂g_kr: what multiplies the engine's gradients (K×R)
    updates: u64,
}

/// The engine of the plan, all parameters zero.
fn engine(plan: &Plan) -> Box<dyn Engine> {
    let branches = plan.branches().clone();
    match plan.config().engine {
        EngineKind::Cpu => Box::new(CpuEngine::new(branches)),
        EngineKind::Reference => Box::new(ReferenceEngine::new(branches)),
    }
}

/// Layout of one branch.
fn layout(branches: &BranchSet, branch: usize) -> Layout {
    Layout::new(branches.scale_of(branch).patch, &branches.network)
}

/// Name of the parameters of a branch.
pub(crate) fn network_name(branch: usize) -> String {
    format!("energy.network.{branch}")
}

impl Transformer {
    /// Networks drawn from the seed, for a recording with these rows.
    ///
    /// # Errors
    /// When missing samples leave no window at some scale.
    pub(crate) fn new(plan: &Plan, rows: &Rows, seed: u64) -> Result<Transformer> {
        let branches = plan.branches();
        let (k, n_branches) = (branches.n_sources, branches.n_branches());
        let mut transformer = Transformer {
            engine: engine(plan),
            grid: Grid::new(plan, rows)?,
            draws: Draws::new(branches),
            phi: plan.phi,
            weight_floor: plan.config().controller.weight_floor,
            outcomes: (0..n_branches)
                .map(|b| Outcome::with_capacity(branches, b))
                .collect(),
            energy: vec![0.0; n_branches],
            by_source: vec![0.0; k],
            predicted: vec![1.0; k],
            weights: vec![0.0; n_branches],
            updates: 0,
        };
        transformer.start(seed);
        Ok(transformer)
    }

    fn start(&mut self, seed: u64) {
        let mut rng = rng(seed, Stream::Networks);
        for b in 0..self.energy.len() {
            let layout = layout(self.engine.branches(), b);
            let mut values = vec![0.0; layout.len()];
            for tensor in layout.tensors() {
                let slot = &mut values[tensor.range.clone()];
                match tensor.init {
                    Init::Zero => slot.fill(0.0),
                    Init::One => slot.fill(1.0),
                    Init::Normal(scale) => slot.fill_with(|| {
                        let x: f64 = StandardNormal.sample(&mut rng);
                        scale * x
                    }),
                }
            }
            self.engine.write(Buffer::Parameters, b, &values);
        }
    }

    /// The networks.
    #[cfg(feature = "internals")]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The windows and masks of the next evaluation, to be replaced by given ones.
    #[cfg(feature = "internals")]
    pub fn draws_mut(&mut self) -> &mut Draws {
        &mut self.draws
    }

    fn read(&self, buffer: Buffer, branch: usize) -> Vec<f64> {
        let mut values = vec![0.0; layout(self.engine.branches(), branch).len()];
        self.engine.read(buffer, branch, &mut values);
        values
    }

    fn take(&mut self, buffer: Buffer, branch: usize, name: &str, from: &Tensors) -> Result<()> {
        let mut values = vec![0.0; layout(self.engine.branches(), branch).len()];
        from.read_vector(name, &mut values)?;
        self.engine.write(buffer, branch, &values);
        Ok(())
    }

    fn forget(&mut self) {
        self.energy.fill(0.0);
        self.by_source.fill(0.0);
        self.predicted.fill(1.0);
        self.weights.fill(0.0);
    }
}

impl Energy for Transformer {
    fn accepts(&self, samples: &Range<usize>) -> Result<()> {
        self.grid.accepts(samples)
    }

    fn sample(&mut self, samples: &Range<usize>, rng: &mut dyn Rng) {
        self.draws.sample(&self.grid, samples, rng);
    }

    fn windows(&self) -> &[Window] {
        self.draws.windows()
    }

    fn evaluate(
        &mut self,
        sources: &mut dyn SourceWindows,
        controller: &ControllerState,
        weight: f64,
        d_controller: &mut ControllerGradient,
    ) -> f64 {
        self.forget();
        if weight == 0.0 {
            return 0.0;
        }
        let (phi, floor) = (self.phi, self.weight_floor);
        let branches = self.engine.branches();
        let (k, r) = (branches.n_sources, branches.scales.len());
        self.draws.read_windows(sources);
        self.engine.evaluate(
            self.draws.jobs(),
            &controller.slopes,
            &|errors| phi.judge(errors),
            &mut self.outcomes,
        );
        let mut value = 0.0;
        for (b, outcome) in self.outcomes.iter().enumerate() {
            let energy = outcome.energy();
            let (phi, slope) = phi.of(&outcome.errors);
            let scale_weight = (1.0 - floor) * controller.scale_weights[b] + floor / r as f64;
            self.energy[b] = energy;
            self.by_source[b / r] += scale_weight * phi;
            self.predicted[b / r] -= scale_weight * energy;
            value += scale_weight * phi / k as f64;
            self.weights[b] = weight / k as f64 * scale_weight * slope;
            d_controller.scale_weights[b] += weight / k as f64 * (1.0 - floor) * phi;
            d_controller.slopes[b / r] += self.weights[b] * outcome.d_slope;
        }
        for share in &mut self.predicted {
            *share = share.clamp(0.0, 1.0);
        }
        for (b, outcome) in self.outcomes.iter().enumerate() {
            let (window, sign) = self.draws.place_of(b);
            let factor = self.weights[b] * sign;
            let d_window = &outcome.d_window[..window.len];
            sources.add_gradient(window.source, window.first, factor, d_window);
        }
        value
    }

    fn found(&self) -> Found<'_> {
        Found {
            by_source: &self.by_source,
            predicted: &self.predicted,
            by_scale: &self.energy,
        }
    }

    fn gradient_norm_squared(&self) -> f64 {
        self.engine.gradient_norm_squared(&self.weights)
    }

    fn update(&mut self, step: &AdamStep, scale: f64) {
        self.updates += 1;
        self.weights.iter_mut().for_each(|w| *w *= scale);
        let step = AdamStep {
            count: self.updates,
            ..*step
        };
        self.engine.update(&self.weights, &step);
    }

    fn permute(&mut self, order: &[usize]) {
        self.engine.permute_sources(order);
    }

    fn save_parameters(&self, to: &mut Tensors) {
        for b in 0..self.energy.len() {
            to.put_vector(network_name(b), &self.read(Buffer::Parameters, b));
        }
    }

    fn restore_parameters(&mut self, from: &Tensors) -> Result<()> {
        (0..self.energy.len())
            .try_for_each(|b| self.take(Buffer::Parameters, b, &network_name(b), from))
    }

    fn save_optimizer(&self, to: &mut Tensors) {
        for b in 0..self.energy.len() {
            let name = network_name(b);
            to.put_vector(format!("{name}.first"), &self.read(Buffer::FirstMoment, b));
            to.put_vector(
                format!("{name}.second"),
                &self.read(Buffer::SecondMoment, b),
            );
        }
        to.put_count("energy.updates", self.updates);
    }

    fn restore_optimizer(&mut self, from: &Tensors) -> Result<()> {
        for b in 0..self.energy.len() {
            let name = network_name(b);
            self.take(Buffer::FirstMoment, b, &format!("{name}.first"), from)?;
            self.take(Buffer::SecondMoment, b, &format!("{name}.second"), from)?;
        }
        self.updates = from.read_count("energy.updates")?;
        Ok(())
    }

    fn gradient(&self) -> Tensors {
        let mut gradient = Tensors::default();
        for (b, weight) in self.weights.iter().enumerate() {
            let mut values = self.read(Buffer::Gradient, b);
            values.iter_mut().for_each(|g| *g *= weight);
            gradient.put_vector(network_name(b), &values);
        }
        gradient
    }
}
