//! Sources that a step holds as matrices: S, Z and their gradients (n×K), of a whole recording or
//! of one block of it.
//!
//! ```text
//! S ─► Z = (S − μ)/(σ + ε) ─► terms, windows        d_S ◄─ d_Z
//! ```
//!
//! In: S, which the caller writes. Out: terms, windows, ∂J/∂S. Where S comes from is the caller's
//! business.

use super::gauge::Gauge;
use super::second_moments::SecondMoments;
use super::standardize::Standardize;
use super::terms::reconstruction::Reconstruction;
use super::terms::separation::Separation;
use super::terms::smoothness;
use crate::config::Plan;
use crate::mixer::Mixer;
use faer::{Mat, MatMut, MatRef};
use strt_signal::columns::{col, col_mut};
use strt_signal::preprocess::observations::ReadRows;
use strt_signal::rows::Rows;

/// S and all that a step computes from it.
pub(crate) struct Dense {
    plan: Plan,
    /// Which of the rows are there.
    pub rows: Rows,
    /// The sample that is row 0.
    pub first: usize,
    /// Z and the gauge.
    pub standardize: Standardize,
    /// L_rec.
    pub reconstruction: Reconstruction,
    separation: Separation,
    /// S (n×K).
    pub s: Mat<f64>,
    /// ∂J/∂S of what reads S itself; all of ∂J/∂S after [`Dense::close`] (n×K).
    pub d_s: Mat<f64>,
    d_z: Mat<f64>, // ∂J/∂Z (n×K)
    /// What the kernel energy reads.
    pub moments: SecondMoments,
}

impl Dense {
    pub fn new(plan: &Plan, rows: Rows, mixer: &dyn Mixer, moments: SecondMoments) -> Dense {
        let config = plan.config();
        let (n, k) = (rows.n_samples(), config.n_sources);
        Dense {
            standardize: Standardize::new(n, k, config.sources.epsilon),
            reconstruction: Reconstruction::new(
                n,
                mixer,
                plan.observation_variance,
                plan.elimination_ridge(),
            ),
            separation: Separation::new(config.weights.separation_form, k),
            s: Mat::zeros(n, k),
            d_s: Mat::zeros(n, k),
            d_z: Mat::zeros(n, k),
            first: 0,
            plan: plan.clone(),
            rows,
            moments,
        }
    }

    /// Begins a step: `write` puts S into a matrix that holds the last one.
    pub fn place(&mut self, write: impl FnOnce(MatMut<'_, f64>)) {
        self.d_z.fill(0.0);
        self.d_s.fill(0.0);
        write(self.s.as_mut());
        self.standardize.forward(self.s.as_ref(), &self.rows);
    }

    /// μ and σ.
    pub fn gauge(&self) -> &Gauge {
        &self.standardize.gauge
    }

    /// S or Z, and where the gradient in it is collected.
    fn input(&mut self, standardized: bool) -> (MatRef<'_, f64>, MatMut<'_, f64>) {
        if standardized {
            (self.standardize.z.as_ref(), self.d_z.as_mut())
        } else {
            (self.s.as_ref(), self.d_s.as_mut())
        }
    }

    /// S̃, what the mixer is fed (n×K).
    pub fn mixer_input(&self) -> MatRef<'_, f64> {
        if self.plan.config().mixer.decoder_standardization {
            self.standardize.z.as_ref()
        } else {
            self.s.as_ref()
        }
    }

    /// L_rec against the observations of the same rows.
    pub fn reconstruct(
        &mut self,
        mixer: &mut dyn Mixer,
        observations: &dyn ReadRows,
        d_mixer: &mut [f64],
    ) -> f64 {
        if self.plan.observation_variance.is_infinite() {
            return 0.0;
        }
        let (input, d_input) = if self.plan.config().mixer.decoder_standardization {
            (self.standardize.z.as_ref(), self.d_z.as_mut())
        } else {
            (self.s.as_ref(), self.d_s.as_mut())
        };
        let rows = self.rows.view();
        self.reconstruction
            .evaluate(mixer, observations, input, rows, d_input, d_mixer)
    }

    /// L_sep of the correlations.
    pub fn separate(&mut self) -> f64 {
        let weight = self.plan.separation;
        if weight == 0.0 {
            return 0.0;
        }
        let z = self.standardize.z.as_ref();
        self.separation
            .evaluate(z, self.rows.n_valid(), weight, self.d_z.as_mut())
    }

    /// L_smooth.
    pub fn smooth(&mut self) -> f64 {
        let config = self.plan.config();
        let weight = config.weights.smoothness;
        if weight == 0.0 {
            return 0.0;
        }
        let (order, standardized) = (self.plan.smoothness_order(), config.sources.standardize);
        let rows = self.rows.clone();
        let (input, d_input) = self.input(standardized);
        smoothness::evaluate(input, rows.view(), order, weight, d_input)
    }

    /// Adds factor · ∂ ln(σ_k + ε)/∂S for every source k: what a term asks of the deviations.
    pub fn add_deviation_gradient(&mut self, factor: f64) {
        let Standardize { z, gauge } = &self.standardize;
        if gauge.fixed {
            return;
        }
        let n_valid = self.rows.n_valid() as f64;
        for k in (0..z.ncols()).filter(|&k| gauge.deviation[k] > 0.0) {
            // ∂ ln(σ + ε)/∂s_t = z_t/(T σ)
            let factor = factor / (n_valid * gauge.deviation[k]);
            let d_s = col_mut(self.d_s.as_mut(), k);
            d_s.iter_mut()
                .zip(col(z.as_ref(), k))
                .for_each(|(d, z)| *d += factor * z);
        }
    }

    /// Completes ∂J/∂S.
    pub fn close(&mut self) -> MatRef<'_, f64> {
        self.standardize
            .backward(self.d_z.as_ref(), &self.rows, self.d_s.as_mut());
        // A missing sample is no parameter, whatever an energy says of it.
        for k in 0..self.d_s.ncols() {
            self.rows.zero_missing(col_mut(self.d_s.as_mut(), k));
        }
        self.d_s.as_ref()
    }

    /// Reads a window of source k as the energies see it.
    pub fn read(&self, k: usize, first: usize, window: &mut [f64]) {
        let sources = if self.plan.config().sources.standardize {
            self.standardize.z.as_ref()
        } else {
            self.s.as_ref()
        };
        let start = first - self.first;
        window.copy_from_slice(&col(sources, k)[start..start + window.len()]);
    }

    /// Adds factor · `d_window`, a gradient in such a window.
    pub fn add_gradient(&mut self, k: usize, first: usize, factor: f64, d_window: &[f64]) {
        let start = first - self.first;
        let (_, d_input) = self.input(self.plan.config().sources.standardize);
        let column = &mut col_mut(d_input, k)[start..];
        for (slot, d) in column.iter_mut().zip(d_window) {
            *slot += factor * d;
        }
    }

    /// Second moments of source k.
    pub fn read_moments(&self, k: usize, moments: &mut [f64]) {
        let sources = if self.plan.config().sources.standardize {
            self.standardize.z.as_ref()
        } else {
            self.s.as_ref()
        };
        self.moments.read(k, col(sources, k), &self.rows, moments);
    }

    /// Adds factor · `d`, a gradient in these moments.
    pub fn add_moment_gradient(&mut self, k: usize, factor: f64, d: &[f64]) {
        let (sources, d_input) = if self.plan.config().sources.standardize {
            (self.standardize.z.as_ref(), self.d_z.as_mut())
        } else {
            (self.s.as_ref(), self.d_s.as_mut())
        };
        let (samples, d_samples) = (col(sources, k), col_mut(d_input, k));
        self.moments
            .add_gradient(k, factor, d, samples, &self.rows, d_samples);
    }

    /// ZwᵀS/T (K×K) and the mean of S.
    pub fn linear_fit(&self, whitened: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
        let n = self.rows.n_valid() as f64;
        let fit = faer::Scale(1.0 / n) * (whitened.transpose() * &self.s);
        let mean = (0..self.s.ncols()).map(|k| {
            let column = col(self.s.as_ref(), k);
            let valid = (0..column.len()).filter(|&t| self.rows.is_valid(t));
            valid.map(|t| column[t]).sum::<f64>() / n
        });
        (fit, mean.collect())
    }
}
