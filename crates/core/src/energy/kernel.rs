//! The kernel energy: what a Gaussian process says of a source.
//!
//! ```text
//! L_str = 1/K Σ_k 2·g_k
//! ```
//!
//! with g_k the entropy per sample of [`strt_classic::kernel`], from the second moments that the
//! view of the sources gives. It has no parameters and draws nothing: the value of a step is that
//! of the whole recording, or of the block that the step looks at. Twice, because φ = ln ℓ is twice
//! an entropy. What tells sources apart beside second moments is taken off ([`Novelty`]).

use super::novelty::Novelty;
use super::{Energy, Found, Rng, SourceWindows, Window};
use crate::Result;
use crate::controller::{ControllerGradient, ControllerState};
use crate::tensors::Tensors;
use std::ops::Range;
use strt_classic::kernel::SourceEnergy;
use strt_kernels::AdamStep;

/// The kernel energy of all sources.
pub(crate) struct Kernel {
    energy: SourceEnergy,
    novelty: Option<Novelty>,
    moments: Vec<f64>,
    d_moments: Vec<f64>,
    by_source: Vec<f64>, // 2·g_k
    predicted: Vec<f64>, // 1 − exp(2·g_k), from 0 to 1
    by_scale: Vec<f64>,  // exp(2·g_k), repeated
    n_scales: usize,
}

impl Kernel {
    pub fn new(
        energy: SourceEnergy,
        novelty: Option<Novelty>,
        n_sources: usize,
        n_scales: usize,
    ) -> Kernel {
        let n = energy.n_moments();
        Kernel {
            energy,
            novelty,
            moments: vec![0.0; n],
            d_moments: vec![0.0; n],
            by_source: vec![0.0; n_sources],
            predicted: vec![1.0; n_sources],
            by_scale: vec![0.0; n_sources * n_scales],
            n_scales,
        }
    }

    /// Whether more than second moments is judged.
    pub fn judges_novelty(&self) -> bool {
        self.novelty.is_some()
    }

    /// Takes note of the windows of the step, in which samples are read.
    pub fn look_at(&mut self, windows: &[Window]) {
        if let Some(novelty) = &mut self.novelty {
            novelty.look_at(windows);
        }
    }
}

impl Energy for Kernel {
    fn accepts(&self, _samples: &Range<usize>) -> Result<()> {
        Ok(())
    }

    fn sample(&mut self, _samples: &Range<usize>, _rng: &mut dyn Rng) {}

    fn windows(&self) -> &[Window] {
        &[]
    }

    fn evaluate(
        &mut self,
        sources: &mut dyn SourceWindows,
        _controller: &ControllerState,
        weight: f64,
        _d_controller: &mut ControllerGradient,
    ) -> f64 {
        let k = self.by_source.len();
        if weight == 0.0 {
            self.by_source.fill(0.0);
            self.predicted.fill(1.0);
            self.by_scale.fill(0.0);
            return 0.0;
        }
        let factor = 2.0 * weight / k as f64;
        for source in 0..k {
            sources.read_moments(source, &mut self.moments);
            let mut entropy = self.energy.evaluate(&self.moments, &mut self.d_moments);
            sources.add_moment_gradient(source, factor, &self.d_moments);
            if let Some(novelty) = &mut self.novelty {
                entropy -= novelty.evaluate(source, &self.moments, sources, -factor);
            }
            let error = (2.0 * entropy).exp();
            self.by_source[source] = 2.0 * entropy;
            self.predicted[source] = (1.0 - error).clamp(0.0, 1.0);
            self.by_scale[source * self.n_scales..][..self.n_scales].fill(error);
        }
        self.by_source.iter().sum::<f64>() / k as f64
    }

    fn found(&self) -> Found<'_> {
        Found {
            by_source: &self.by_source,
            predicted: &self.predicted,
            by_scale: &self.by_scale,
        }
    }

    fn gradient_norm_squared(&self) -> f64 {
        0.0
    }

    fn update(&mut self, _step: &AdamStep, _scale: f64) {}

    fn permute(&mut self, _order: &[usize]) {}

    fn save_parameters(&self, _to: &mut Tensors) {}

    fn restore_parameters(&mut self, _from: &Tensors) -> Result<()> {
        Ok(())
    }

    fn save_optimizer(&self, _to: &mut Tensors) {}

    fn restore_optimizer(&mut self, _from: &Tensors) -> Result<()> {
        Ok(())
    }
}
