//! A short recording, evaluated whole in every step: S, Z and their gradients exist as T×K matrices.
//!
//! ```text
//! S = Zw·A + E ─► Z = (S − μ)/(σ + ε) ─► terms, windows        d_A = Zwᵀ·d_S,  d_E = d_S ◄─ d_Z
//! ```
//!
//! Every preset runs this way up to `optimizer.block` samples; beyond, see [`super::long`].

use super::draws::Draws;
use super::mixer::Mixer;
use super::objective::{DataTerms, Gradient};
use super::sources::{Rows, SourceParameters};
use super::standardize::{Standardize, col, col_mut};
use super::terms::reconstruction::Reconstruction;
use super::terms::separation::Separation;
use super::terms::smoothness;
use crate::config::Plan;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::sync::Arc;
use strt_kernels::Outcome;

/// The data of a short recording: scaled channels and their whitening, 0 in missing rows.
#[derive(Clone, Debug)]
pub(crate) struct WholeData {
    /// Y (T×m).
    pub observations: Arc<Mat<f64>>,
    /// Zw (T×K).
    pub whitened: Arc<Mat<f64>>,
}

/// Sources of a whole recording and what hangs on them.
pub(crate) struct Whole {
    plan: Plan,
    data: WholeData,
    rows: Rows,
    pub standardize: Standardize,
    reconstruction: Reconstruction,
    separation: Separation,
    s: Mat<f64>,   // S (T×K)
    d_s: Mat<f64>, // ∂J/∂S, what reads S itself (T×K)
    d_z: Mat<f64>, // ∂J/∂Z (T×K)
}

impl Whole {
    pub fn new(plan: &Plan, data: WholeData, rows: Rows, mixer: &dyn Mixer) -> Whole {
        let config = plan.config();
        let (t, k) = (rows.n_samples(), config.n_sources);
        Whole {
            standardize: Standardize::new(t, k, config.sources.epsilon),
            reconstruction: Reconstruction::new(
                t,
                mixer,
                plan.observation_variance,
                plan.elimination_ridge(),
            ),
            separation: Separation::new(config.weights.separation_form, k),
            s: Mat::zeros(t, k),
            d_s: Mat::zeros(t, k),
            d_z: Mat::zeros(t, k),
            plan: plan.clone(),
            data,
            rows,
        }
    }

    /// Y (T×m).
    pub fn observations(&self) -> MatRef<'_, f64> {
        (*self.data.observations).as_ref()
    }

    /// S and Z of these parameters.
    pub fn place(&mut self, sources: &SourceParameters) {
        self.d_z.fill(0.0);
        self.d_s.fill(0.0);
        match sources.parts() {
            (None, Some(s)) => self.s.copy_from(s),
            (Some(a), e) => {
                let whitened = self.data.whitened.as_ref().as_ref();
                matmul(self.s.as_mut(), Accum::Replace, whitened, a, 1.0, Par::Seq);
                if let Some(e) = e {
                    self.s += e;
                }
            }
            (None, None) => unreachable!("sources have coordinates"),
        }
        self.standardize.forward(self.s.as_ref(), &self.rows);
    }

    /// S̃, what the mixer is fed (T×K).
    pub fn mixer_input(&self) -> MatRef<'_, f64> {
        self.input(self.plan.config().mixer.decoder_standardization)
    }

    fn input(&self, standardized: bool) -> MatRef<'_, f64> {
        if standardized {
            self.standardize.z.as_ref()
        } else {
            self.s.as_ref()
        }
    }

    /// Reconstruction, separation and smoothness, with their gradients.
    pub fn terms(&mut self, mixer: &mut dyn Mixer, d_mixer: &mut [f64]) -> DataTerms {
        let (config, rows) = (self.plan.config(), self.rows.view());
        let mut terms = DataTerms::default();
        if self.plan.observation_variance.is_finite() {
            let (input, d_input) = if config.mixer.decoder_standardization {
                (self.standardize.z.as_ref(), self.d_z.as_mut())
            } else {
                (self.s.as_ref(), self.d_s.as_mut())
            };
            let observations = (*self.data.observations).as_ref();
            terms.reconstruction =
                self.reconstruction
                    .evaluate(mixer, &observations, input, rows, d_input, d_mixer);
        }
        if self.plan.separation > 0.0 {
            let z = self.standardize.z.as_ref();
            terms.separation =
                self.separation
                    .evaluate(z, self.rows.n_valid(), self.plan.separation, self.d_z.as_mut());
        }
        let weight = config.weights.smoothness;
        if weight > 0.0 {
            let (input, d_input) = if config.sources.standardize {
                (self.standardize.z.as_ref(), self.d_z.as_mut())
            } else {
                (self.s.as_ref(), self.d_s.as_mut())
            };
            terms.smoothness =
                smoothness::evaluate(input, rows, self.plan.smoothness_order(), weight, d_input);
        }
        terms
    }

    /// Cuts the windows of all jobs.
    pub fn read_windows(&self, draws: &mut Draws) {
        let sources = self.input(self.plan.config().sources.standardize);
        draws.read_windows(|k, start, window| {
            window.copy_from_slice(&col(sources, k)[start..start + window.len()]);
        });
    }

    /// Adds factor(job) · ∂ℓ/∂window of every job.
    pub fn add_windows(&mut self, draws: &Draws, outcomes: &[Outcome], factor: impl Fn(usize) -> f64) {
        let d_input = if self.plan.config().sources.standardize {
            &mut self.d_z
        } else {
            &mut self.d_s
        };
        for (j, outcome) in outcomes.iter().enumerate() {
            let (k, start, sign) = draws.place_of(j);
            let factor = factor(j) * sign;
            let column = col_mut(d_input.as_mut(), k);
            for (slot, d) in column[start..].iter_mut().zip(&outcome.d_window) {
                *slot += factor * d;
            }
        }
    }

    /// ∂J/∂A and ∂J/∂S from what the terms and windows have left.
    pub fn gradient(&mut self, sources: &SourceParameters, gradient: &mut Gradient) {
        gradient.sources.copy_from(&self.d_s);
        self.standardize
            .backward(self.d_z.as_ref(), &self.rows, gradient.sources.as_mut());
        if let SourceParameters::Fiber { .. } = sources {
            let whitened = self.data.whitened.transpose();
            let d_s = gradient.sources.as_ref();
            matmul(
                gradient.fiber.as_mut(),
                Accum::Replace,
                whitened,
                d_s,
                1.0,
                Par::Seq,
            );
        }
    }

    /// ZwᵀS/T (K×K) and the mean of S: the best linear fit of the sources to the whitened components.
    pub fn linear_fit(&self) -> (Mat<f64>, Vec<f64>) {
        let n = self.rows.n_valid() as f64;
        let fit = faer::Scale(1.0 / n) * (self.data.whitened.transpose() * &self.s);
        let mean = (0..self.s.ncols()).map(|k| {
            let column = col(self.s.as_ref(), k);
            let valid = (0..column.len()).filter(|&t| self.rows.is_valid(t));
            valid.map(|t| column[t]).sum::<f64>() / n
        });
        (fit, mean.collect())
    }
}
