//! A short recording, evaluated whole in every step: S, Z and their gradients exist as T×K
//! matrices.
//!
//! ```text
//! S = Zw·A + E ─► Z = (S − μ)/(σ + ε) ─► terms, windows        d_A = Zwᵀ·d_S,  d_E = d_S ◄─ d_Z
//! ```
//!
//! Every preset runs this way up to `optimizer.block` samples; beyond, see [`super::long`]. Sources
//! in neural coordinates have no moments to be followed by, so beyond that length one random block
//! of the recording after the other is evaluated whole, with a gauge of its own
//! ([`super::blocks`]); the sources and the gauge of all samples are formed at the end.

use super::bend::Bend;
use super::blocks::Blocks;
use super::draws::Draws;
use super::gauge::Gauge;
use super::long::basis::Basis;
use super::long::judged;
use super::mixer::Mixer;
use super::objective::{DataTerms, Gradient};
use super::sources::SourceParameters;
use super::standardize::Standardize;
use super::terms::reconstruction::Reconstruction;
use super::terms::separation::Separation;
use super::terms::smoothness;
use crate::config::{Plan, SeparationForm};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::sync::Arc;
use strt_kernels::Outcome;
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::Rows;

/// The data of a short recording: scaled channels and their whitening, 0 in missing rows.
#[derive(Clone, Debug)]
pub(crate) struct WholeData {
    /// Y (T×m).
    pub observations: Arc<Mat<f64>>,
    /// Zw (T×K).
    pub whitened: Arc<Mat<f64>>,
}

/// Sources of a whole recording, or of one block of it, and what hangs on them.
pub(crate) struct Whole {
    plan: Plan,
    data: WholeData,
    rows: Rows,
    blocks: Option<Blocks>,
    bend: Option<Bend>,
    phase: f64, // from which of its samples on the volume is taken
    pub standardize: Standardize,
    reconstruction: Reconstruction,
    separation: Separation,
    s: Mat<f64>,   // S (T×K)
    d_s: Mat<f64>, // ∂J/∂S, what reads S itself (T×K)
    d_z: Mat<f64>, // ∂J/∂Z (T×K)
}

impl Whole {
    /// A recording that is evaluated whole.
    pub fn new(plan: &Plan, data: WholeData, rows: Rows, mixer: &dyn Mixer) -> Whole {
        Whole::with(plan, data, rows, None, mixer)
    }

    /// A longer recording, block by block.
    pub fn in_blocks(plan: &Plan, basis: Arc<Basis>, mixer: &dyn Mixer) -> Whole {
        let blocks = Blocks::new(basis);
        let (data, rows) = blocks.room(plan.block_len);
        Whole::with(plan, data, rows, Some(blocks), mixer)
    }

    fn with(
        plan: &Plan,
        data: WholeData,
        rows: Rows,
        blocks: Option<Blocks>,
        mixer: &dyn Mixer,
    ) -> Whole {
        let config = plan.config();
        let (t, k) = (rows.n_samples(), config.n_sources);
        Whole {
            standardize: Standardize::new(t, k, config.sources.epsilon),
            bend: plan
                .is_neural()
                .then(|| Bend::new(t, k, config.sources.hidden)),
            blocks,
            phase: 0.0,
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

    /// Y (T×m), where all of it is evaluated.
    pub fn observations(&self) -> Option<MatRef<'_, f64>> {
        self.blocks
            .is_none()
            .then(|| (*self.data.observations).as_ref())
    }

    /// S and Z of these parameters, in the block that was drawn where there are several.
    pub fn place(&mut self, sources: &SourceParameters, draws: &Draws) {
        self.d_z.fill(0.0);
        self.d_s.fill(0.0);
        self.phase = draws.phase();
        if let Some(blocks) = &mut self.blocks {
            blocks.read(draws.blocks()[0], &mut self.data, &mut self.rows);
            // L_rec is T/B times the sum over the block, of the samples that are there.
            let share = self.rows.n_valid() as f64 / blocks.rows().n_valid() as f64;
            self.reconstruction.variance = share * self.plan.observation_variance;
        }
        let whitened = self.data.whitened.as_ref().as_ref();
        let mut linear = |a| matmul(self.s.as_mut(), Accum::Replace, whitened, a, 1.0, Par::Seq);
        match (sources, &mut self.bend) {
            (SourceParameters::Direct { s }, _) => self.s.copy_from(s),
            (SourceParameters::Fiber { a, e }, _) => {
                linear(a);
                if let Some(e) = e {
                    self.s += e;
                }
            }
            (SourceParameters::Neural { a, bend: b }, Some(bend)) => {
                linear(a);
                bend.forward(b, whitened, self.s.as_mut());
                for k in 0..self.s.ncols() {
                    self.rows.zero_missing(col_mut(self.s.as_mut(), k));
                }
            }
            (SourceParameters::Neural { .. }, None) => {
                unreachable!("neural coordinates have a bend")
            }
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
    pub fn terms(
        &mut self,
        sources: &SourceParameters,
        mixer: &mut dyn Mixer,
        gradient: &mut Gradient,
    ) -> DataTerms {
        let (config, rows) = (self.plan.config(), self.rows.view());
        let mut terms = DataTerms::default();
        if self.plan.observation_variance.is_finite() {
            let (input, d_input) = if config.mixer.decoder_standardization {
                (self.standardize.z.as_ref(), self.d_z.as_mut())
            } else {
                (self.s.as_ref(), self.d_s.as_mut())
            };
            let observations = (*self.data.observations).as_ref();
            terms.reconstruction = self.reconstruction.evaluate(
                mixer,
                &observations,
                input,
                rows,
                d_input,
                &mut gradient.mixer,
            );
        }
        if self.plan.separation > 0.0 {
            terms.separation = self.separate(sources, gradient);
        }
        let (config, rows) = (self.plan.config(), self.rows.view());
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

    /// L_sep: of a map with a volume that volume, else of the correlations.
    fn separate(&mut self, sources: &SourceParameters, gradient: &mut Gradient) -> f64 {
        let weight = self.plan.separation;
        let log_det = self.plan.config().weights.separation_form == SeparationForm::LogDet;
        let (z, n_valid) = (self.standardize.z.as_ref(), self.rows.n_valid());
        let (SourceParameters::Neural { a, bend: b }, Some(bend), true) =
            (sources, &mut self.bend, log_det)
        else {
            return self
                .separation
                .evaluate(z, n_valid, weight, self.d_z.as_mut());
        };
        let gauge = &self.standardize.gauge;
        let divisors = (0..a.ncols()).map(|k| gauge.divisor(k));
        let d = (&mut gradient.fiber, &mut gradient.bend);
        let (value, d_log_divisor) =
            bend.volume((a, b), divisors, self.rows.view(), self.phase, weight, d);
        for k in (0..a.ncols()).filter(|&k| !gauge.fixed && gauge.deviation[k] > 0.0) {
            // ∂ ln(σ + ε)/∂s_t = z_t/(T σ)
            let factor = d_log_divisor / (n_valid as f64 * gauge.deviation[k]);
            let d_s = col_mut(self.d_s.as_mut(), k);
            d_s.iter_mut()
                .zip(col(z, k))
                .for_each(|(d, z)| *d += factor * z);
        }
        value
    }

    /// First sample of what is evaluated.
    fn first(&self) -> usize {
        self.blocks.as_ref().map_or(0, |blocks| blocks.first)
    }

    /// Cuts the windows of all jobs.
    pub fn read_windows(&self, draws: &mut Draws) {
        let sources = self.input(self.plan.config().sources.standardize);
        draws.read_windows(|k, start, window| {
            let start = start - self.first();
            window.copy_from_slice(&col(sources, k)[start..start + window.len()]);
        });
    }

    /// Adds factor(job) · ∂ℓ/∂window of every job.
    pub fn add_windows(
        &mut self,
        draws: &Draws,
        outcomes: &[Outcome],
        factor: impl Fn(usize) -> f64,
    ) {
        let first = self.first();
        let d_input = if self.plan.config().sources.standardize {
            &mut self.d_z
        } else {
            &mut self.d_s
        };
        for (j, outcome) in outcomes.iter().enumerate() {
            let (k, start, sign) = draws.place_of(j);
            let factor = factor(j) * sign;
            let column = col_mut(d_input.as_mut(), k);
            for (slot, d) in column[start - first..].iter_mut().zip(&outcome.d_window) {
                *slot += factor * d;
            }
        }
    }

    /// ∂J/∂S from what the terms and windows have left, and what follows from it for the
    /// coordinates.
    pub fn gradient(&mut self, sources: &SourceParameters, gradient: &mut Gradient) {
        gradient.sources.copy_from(&self.d_s);
        self.standardize
            .backward(self.d_z.as_ref(), &self.rows, gradient.sources.as_mut());
        let (whitened, d_s) = (
            self.data.whitened.as_ref().as_ref(),
            gradient.sources.as_ref(),
        );
        if sources.parts().0.is_some() {
            matmul(
                gradient.fiber.as_mut(),
                Accum::Add,
                whitened.transpose(),
                d_s,
                1.0,
                Par::Seq,
            );
        }
        if let (SourceParameters::Neural { bend: b, .. }, Some(bend)) = (sources, &mut self.bend) {
            bend.backward(b, whitened, d_s, &mut gradient.bend);
        }
    }

    /// S̃ of all samples (T×K), each standardised as all of them ask for, and their gauge.
    fn all_inputs(&self, blocks: &Blocks, sources: &SourceParameters) -> (Mat<f64>, Gauge) {
        let config = self.plan.config();
        let s = blocks.sources(sources, 0..blocks.rows().n_samples());
        let mut standardize = Standardize::new(s.nrows(), s.ncols(), config.sources.epsilon);
        standardize.forward(s.as_ref(), blocks.rows());
        let Standardize { z, gauge } = standardize;
        (
            if config.mixer.decoder_standardization {
                z
            } else {
                s
            },
            gauge,
        )
    }

    /// S̃ of all samples (T×K): what the mixer was fed at the last evaluation or, in blocks, would
    /// be fed.
    pub fn sources(&self, sources: &SourceParameters) -> Mat<f64> {
        match &self.blocks {
            None => self.mixer_input().to_owned(),
            Some(blocks) => self.all_inputs(blocks, sources).0,
        }
    }

    /// The sources over the samples by which correlation times are judged: S̃ of all, or S in the
    /// middle of a longer recording. Neither mean nor scale changes a correlation time.
    pub fn judged_sources(&self, sources: &SourceParameters) -> Mat<f64> {
        match &self.blocks {
            None => self.mixer_input().to_owned(),
            Some(blocks) => blocks.sources(sources, judged(blocks.rows().n_samples())),
        }
    }

    /// S̃ of all samples at the end of a run, from when on the gauge is theirs.
    pub fn settle(&mut self, sources: &SourceParameters) -> Mat<f64> {
        let Some(blocks) = &self.blocks else {
            return self.mixer_input().to_owned();
        };
        let (input, gauge) = self.all_inputs(blocks, sources);
        self.standardize.gauge = gauge;
        input
    }

    /// ‖Y − Ŷ‖²/(2ν_y) over all samples, with an eliminated output layer fitted to all of them,
    /// where a step sees a block of them. S̃ is `input`.
    pub fn fit_mixer(&mut self, mixer: &mut dyn Mixer, input: MatRef<'_, f64>) -> Option<f64> {
        let observations = self.blocks.as_ref()?.observations();
        let variance = self.plan.observation_variance;
        variance
            .is_finite()
            .then(|| self.reconstruction.fit(mixer, observations, input) / (2.0 * variance))
    }

    /// ZwᵀS/T (K×K) and the mean of S: the best linear fit of the sources to the whitened
    /// components.
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
