//! Two energies at once: the kernel energy, accurate where sources are Gaussian, and the branch
//! networks, which see everything else.
//!
//! ```text
//! L_str = (1 − w)·L_networks + w·L_kernel
//! ```
//!
//! What is learned, drawn and told of scales is that of the networks. Until the sources have come
//! to rest the networks weigh more: where sources share one spectrum, the kernel energy has minima
//! that mean nothing, and what it pulls there keeps the networks from finding the right ones. Once
//! the place is found, it makes it accurate. Where it judges more than second moments, it has found
//! the place itself.

use super::kernel::Kernel;
use super::{Energy, Found, Rng, SourceWindows, Transformer, Window};
use crate::Result;
use crate::controller::{ControllerGradient, ControllerState};
use crate::tensors::Tensors;
use std::ops::Range;
use strt_kernels::AdamStep;

/// Networks and kernel energy.
pub(crate) struct Blend {
    networks: Transformer,
    kernel: Kernel,
    share: f64, // w
    at_rest: bool,
    by_source: Vec<f64>,
}

/// What w is multiplied by until the sources have come to rest.
const SEARCHING: f64 = 0.4;

impl Blend {
    pub fn new(networks: Transformer, kernel: Kernel, share: f64) -> Blend {
        Blend {
            by_source: vec![0.0; networks.found().by_source.len()],
            networks,
            kernel,
            share,
            at_rest: false,
        }
    }

    /// Blends with this kernel energy from now on.
    pub fn set_kernel(&mut self, kernel: Kernel, share: f64) {
        (self.kernel, self.share) = (kernel, share);
    }

    /// The networks.
    #[cfg(feature = "internals")]
    pub fn networks(&self) -> &Transformer {
        &self.networks
    }

    /// The networks, to be given windows and masks.
    #[cfg(feature = "internals")]
    pub fn networks_mut(&mut self) -> &mut Transformer {
        &mut self.networks
    }
}

impl Energy for Blend {
    fn accepts(&self, samples: &Range<usize>) -> Result<()> {
        self.networks.accepts(samples)
    }

    fn sample(&mut self, samples: &Range<usize>, rng: &mut dyn Rng) {
        self.networks.sample(samples, rng);
    }

    fn windows(&self) -> &[Window] {
        self.networks.windows()
    }

    fn evaluate(
        &mut self,
        sources: &mut dyn SourceWindows,
        controller: &ControllerState,
        weight: f64,
        d_controller: &mut ControllerGradient,
    ) -> f64 {
        let share = if self.at_rest || self.kernel.judges_novelty() {
            self.share
        } else {
            SEARCHING * self.share
        };
        let shares = [1.0 - share, share];
        // Windows and masks may be those of a test, so this is not done where they are drawn.
        self.kernel.look_at(self.networks.windows());
        let parts: [&mut dyn Energy; 2] = [&mut self.networks, &mut self.kernel];
        self.by_source.fill(0.0);
        let mut value = 0.0;
        for (part, share) in parts.into_iter().zip(shares) {
            value += share * part.evaluate(sources, controller, share * weight, d_controller);
            let own = part.found().by_source;
            self.by_source
                .iter_mut()
                .zip(own)
                .for_each(|(sum, own)| *sum += share * own);
        }
        value
    }

    fn found(&self) -> Found<'_> {
        Found {
            by_source: &self.by_source,
            ..self.networks.found()
        }
    }

    fn gradient_norm_squared(&self) -> f64 {
        self.networks.gradient_norm_squared()
    }

    fn update(&mut self, step: &AdamStep, scale: f64) {
        self.networks.update(step, scale);
    }

    fn come_to_rest(&mut self, at_rest: bool) {
        self.at_rest = at_rest;
    }

    fn permute(&mut self, order: &[usize]) {
        self.networks.permute(order);
    }

    fn save_parameters(&self, to: &mut Tensors) {
        self.networks.save_parameters(to);
    }

    fn restore_parameters(&mut self, from: &Tensors) -> Result<()> {
        self.networks.restore_parameters(from)
    }

    fn save_optimizer(&self, to: &mut Tensors) {
        self.networks.save_optimizer(to);
    }

    fn restore_optimizer(&mut self, from: &Tensors) -> Result<()> {
        self.networks.restore_optimizer(from)
    }

    fn gradient(&self) -> Tensors {
        self.networks.gradient()
    }
}
