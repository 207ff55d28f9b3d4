//! A long recording: a step costs the same however long it is, and S is formed once, at the end.
//!
//! Everything that is a sum over all samples depends on S through its second moments only, and
//! these follow from those of Zw ([`basis`]) and of E ([`free`]). So gauge, separation and affine
//! reconstruction ([`affine`]) are exact, and so is smoothness while E is absent ([`moments`]).
//! Only the windows of the branches, and where needed one random *block* of consecutive samples,
//! are read as samples ([`column`], [`block`]).
//!
//! The block stands for the whole recording where moments do not suffice: reconstruction by a
//! nonlinear mixer (T/B times its sum over the block; an eliminated output layer is fitted to the
//! block) and smoothness of free sources. The gradient in E of what is exact is taken in a second
//! block only, T/B times as large: a second one, because the gauge pulls with what the first has
//! found. Averaged over blocks this is the gradient that [`super::whole`] computes, except for the
//! fit of an eliminated layer and for differences across the border of a block.

mod affine;
pub(crate) mod basis;
mod block;
mod column;
mod free;
mod moments;

use super::draws::Draws;
use super::gauge::Gauge;
use super::mixer::Mixer;
use super::objective::{DataTerms, Gradient};
use super::sources::SourceParameters;
use super::terms::reconstruction::Reconstruction;
use super::terms::separation::Separation;
use super::terms::smoothness;
use crate::config::{MixerKind, Plan};
use affine::AffineReconstruction;
use basis::Basis;
use block::Block;
use column::Column;
use faer::{Mat, MatRef};
pub(crate) use free::FreeMoments;
use moments::{InputMoments, SourceMoments};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use strt_kernels::Outcome;
use strt_signal::columns::{col, col_mut};

/// Samples by which the correlation time of a source is judged.
const JUDGED: usize = 1 << 16;

/// The samples in the middle of n by which the correlation time of a source is judged.
pub(crate) fn judged(n: usize) -> Range<usize> {
    let len = JUDGED.min(n);
    let first = (n - len) / 2;
    first..first + len
}

/// How the mixer's term is computed.
enum Mixing {
    /// Not at all: ν_y is infinite.
    Off,
    /// From moments; the gradient in them.
    Affine(AffineReconstruction, InputMoments),
    /// On the block.
    Sampled(Reconstruction),
}

/// S through its moments and the samples that a step touches.
pub(crate) struct Long {
    plan: Plan,
    basis: Arc<Basis>,
    moments: SourceMoments,
    free: Option<FreeMoments>,
    columns: Vec<Column>,
    block: Option<Block>,
    second_start: usize, // of the block in which the moments act on E
    mixing: Mixing,
    separation: Separation,
}

impl Long {
    pub fn new(
        plan: &Plan,
        basis: Arc<Basis>,
        mixer: &dyn Mixer,
        sources: &SourceParameters,
    ) -> Long {
        let (config, branches) = (plan.config(), plan.branches());
        let (k, m) = (config.n_sources, basis.observations.n_channels());
        let free = sources
            .parts()
            .1
            .map(|e| FreeMoments::of(e.as_ref(), &basis));
        let (len, n_samples) = (config.optimizer.block, basis.rows().n_samples());
        let (variance, ridge) = (plan.observation_variance, plan.elimination_ridge());
        let mixing = if variance.is_infinite() {
            Mixing::Off
        } else if config.mixer.kind == MixerKind::Affine {
            let term = AffineReconstruction::new(k, m, variance, ridge);
            Mixing::Affine(term, InputMoments::new(k, m))
        } else {
            // T/B times the sum over the block.
            let share = len as f64 / n_samples as f64;
            Mixing::Sampled(Reconstruction::new(len, mixer, share * variance, ridge))
        };
        let sampled = matches!(mixing, Mixing::Sampled(_)) || free.is_some();
        let n_windows = branches.scales.len() * branches.n_draws + 2;
        let spans: usize = branches.scales.iter().map(|s| s.span()).sum();
        let column = Column::new(n_windows, spans * branches.n_draws + 2 * len, &basis);
        Long {
            moments: SourceMoments::new(k, m, config.sources.epsilon),
            free,
            columns: vec![column; k],
            block: sampled.then(|| Block::new(len, k, m)),
            second_start: 0,
            mixing,
            separation: Separation::new(config.weights.separation_form, k),
            plan: plan.clone(),
            basis,
        }
    }

    /// μ and σ of the last evaluation.
    pub fn gauge(&self) -> &Gauge {
        &self.moments.gauge
    }

    /// The same, to be fixed.
    pub fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.moments.gauge
    }

    /// Moments of these sources, and their samples in the windows of `draws`.
    pub fn place(&mut self, sources: &SourceParameters, draws: &Draws) {
        let (a, e) = sources.parts();
        self.moments.read(a, self.free.as_ref(), &self.basis);
        let [first, second] = draws.blocks();
        let first = self.block.as_mut().map(|block| {
            block.start = first;
            (first, block.len())
        });
        self.second_start = second;
        let second = first
            .filter(|_| self.free.is_some())
            .map(|(_, len)| (second, len));
        let basis = &*self.basis;
        self.columns
            .par_iter_mut()
            .enumerate()
            .for_each(|(k, column)| {
                let windows = draws.windows_of(k).chain(first).chain(second);
                let (a, e) = (a.map(|a| col(a.as_ref(), k)), e.map(|e| col(e.as_ref(), k)));
                column.cover(windows, basis, a, e);
            });
    }

    /// Reconstruction, separation and smoothness, with their gradients.
    pub fn terms(&mut self, mixer: &mut dyn Mixer, d_mixer: &mut [f64]) -> DataTerms {
        DataTerms {
            reconstruction: self.reconstruct(mixer, d_mixer),
            separation: self.separate(),
            smoothness: self.smooth(),
        }
    }

    fn reconstruct(&mut self, mixer: &mut dyn Mixer, d_mixer: &mut [f64]) -> f64 {
        let standardized = self.plan.config().mixer.decoder_standardization;
        let (basis, moments) = (&*self.basis, &mut self.moments);
        match (&mut self.mixing, &mut self.block) {
            (Mixing::Affine(term, d_input), _) => {
                let input = if standardized { &moments.z } else { &moments.s };
                let value = term.evaluate(mixer, basis, input, d_input, d_mixer);
                if standardized {
                    moments.add_standardized_gradient(d_input, basis);
                } else {
                    moments.add_gradient(d_input);
                }
                value
            }
            (Mixing::Sampled(term), Some(block)) => {
                block.fill(&self.columns, moments, standardized, basis);
                let rows = basis.rows().stretch(block.start, block.len());
                let (y, input) = (block.observations(basis), block.values.as_ref());
                let value = term.evaluate(mixer, &y, input, rows, block.gradient.as_mut(), d_mixer);
                block.give_back(&mut self.columns, moments, standardized, basis);
                value
            }
            _ => 0.0,
        }
    }

    fn separate(&mut self) -> f64 {
        let (weight, term) = (self.plan.separation, &mut self.separation);
        if weight == 0.0 {
            return 0.0;
        }
        term.correlation.copy_from(&self.moments.z.uu);
        let value = term.value_and_gradient();
        self.moments
            .add_correlation_gradient(weight, &term.d_correlation);
        value
    }

    fn smooth(&mut self) -> f64 {
        let config = self.plan.config();
        let (weight, standardized) = (config.weights.smoothness, config.sources.standardize);
        let (basis, moments) = (&*self.basis, &mut self.moments);
        match &mut self.block {
            _ if weight == 0.0 => 0.0,
            Some(block) if self.free.is_some() => {
                block.fill(&self.columns, moments, standardized, basis);
                let rows = basis.rows().stretch(block.start, block.len());
                let (input, d_input) = (block.values.as_ref(), block.gradient.as_mut());
                let order = self.plan.smoothness_order();
                let value = smoothness::evaluate(input, rows, order, weight, d_input);
                block.give_back(&mut self.columns, moments, standardized, basis);
                value
            }
            _ => moments.smoothness(basis, weight, standardized),
        }
    }

    /// Cuts the windows of all jobs.
    pub fn read_windows(&self, draws: &mut Draws) {
        let standardized = self.plan.config().sources.standardize;
        draws.read_windows(|k, start, window| {
            let column = &self.columns[k];
            window.copy_from_slice(&column.s[column.range(start, window.len())]);
            if standardized {
                let (mean, divisor) = self.gauge().of(k);
                window.iter_mut().for_each(|v| *v = (*v - mean) / divisor);
                self.basis.rows().zero_missing_from(start, window);
            }
        });
    }

    /// Adds factor(job) · ∂ℓ/∂window of every job.
    pub fn add_windows(
        &mut self,
        draws: &Draws,
        outcomes: &[Outcome],
        factor: impl Fn(usize) -> f64,
    ) {
        let standardized = self.plan.config().sources.standardize;
        for (j, outcome) in outcomes.iter().enumerate() {
            let (k, start, sign) = draws.place_of(j);
            let factor = factor(j) * sign;
            let (mean, divisor) = if standardized {
                self.moments.gauge.of(k)
            } else {
                (0.0, 1.0)
            };
            let column = &mut self.columns[k];
            let range = column.range(start, outcome.d_window.len());
            let samples = column.d[range.clone()].iter_mut().zip(&column.s[range]);
            let (mut sum, mut dot) = (0.0, 0.0);
            for ((slot, &s), &d) in samples.zip(&outcome.d_window) {
                let d = factor * d;
                *slot += d / divisor;
                sum += d;
                dot += d * (s - mean) / divisor;
            }
            if standardized {
                self.moments.add_gauge_gradient(k, sum, dot);
            }
        }
    }

    /// ∂J/∂A, and in the columns ∂J/∂E at the touched samples.
    pub fn gradient(&mut self, sources: &SourceParameters, gradient: &mut Gradient) {
        let basis = &*self.basis;
        self.moments.close();
        if let SourceParameters::Fiber { .. } = sources {
            self.moments.fiber_gradient(basis, &mut gradient.fiber);
            self.columns
                .par_iter_mut()
                .for_each(|column| column.project(basis));
            for (k, column) in self.columns.iter().enumerate() {
                let d_a = col_mut(gradient.fiber.as_mut(), k);
                d_a.iter_mut()
                    .zip(column.projected())
                    .for_each(|(d, p)| *d += p);
            }
        }
        if let (Some(block), true) = (&mut self.block, self.free.is_some()) {
            block.start = self.second_start;
            block.add_moments(&mut self.columns, &self.moments, basis);
        }
        let square = |column: &Column| column.d.iter().map(|d| d * d).sum::<f64>();
        gradient.touched_square = self.columns.iter().map(square).sum();
    }

    /// Moves E at the touched samples: `change(k, samples, values)` turns the gradient there into
    /// what is added to E.
    pub fn move_free(
        &mut self,
        e: &mut Mat<f64>,
        mut change: impl FnMut(usize, Range<usize>, &mut [f64]),
    ) {
        let Some(free) = &mut self.free else { return };
        for (k, column) in self.columns.iter_mut().enumerate() {
            for stretch in &column.stretches {
                let samples = stretch.first..stretch.first + stretch.len;
                change(k, samples, &mut column.d[stretch.range()]);
            }
            free.change(e, k, column, &self.basis);
        }
    }

    /// The gradient in E at the touched samples: (source, first sample, values) of every stretch.
    pub fn touched(&self) -> impl Iterator<Item = (usize, usize, &[f64])> {
        self.columns.iter().enumerate().flat_map(|(k, column)| {
            let stretches = column.stretches.iter();
            stretches.map(move |s| (k, s.first, &column.d[s.range()]))
        })
    }

    /// The moments of E, where there is one.
    pub fn free_moments(&self) -> Option<&FreeMoments> {
        self.free.as_ref()
    }

    /// The same, to be permuted or restored.
    pub fn free_moments_mut(&mut self) -> Option<&mut FreeMoments> {
        self.free.as_mut()
    }

    /// Reads the moments of E anew, after it was changed from outside.
    pub fn refresh(&mut self, sources: &SourceParameters) {
        let (_, e) = sources.parts();
        self.free = e.map(|e| FreeMoments::of(e.as_ref(), &self.basis));
    }

    /// S̃ (T×K), what the mixer is fed: all of it, once; in the storage of E where there is one. 0
    /// in missing rows.
    pub fn form_sources(&self, sources: SourceParameters) -> Mat<f64> {
        let (a, e) = match sources {
            SourceParameters::Direct { s } => (None, Some(s)),
            SourceParameters::Fiber { a, e } => (Some(a), e),
            SourceParameters::Neural { .. } => unreachable!("neural coordinates have no moments"),
        };
        let n_samples = self.basis.rows().n_samples();
        let mut s = e.unwrap_or_else(|| Mat::zeros(n_samples, self.columns.len()));
        self.basis.assemble(a.as_ref(), s.as_mut());
        if self.plan.config().mixer.decoder_standardization {
            for k in 0..s.ncols() {
                let (mean, divisor) = self.gauge().of(k);
                let column = col_mut(s.as_mut(), k);
                column.iter_mut().for_each(|v| *v = (*v - mean) / divisor);
                self.basis.rows().zero_missing(column);
            }
        }
        s
    }

    /// S over the samples by which correlation times are judged: all, or those in the middle.
    pub fn judged_sources(&self, sources: &SourceParameters) -> Mat<f64> {
        let samples = judged(self.basis.rows().n_samples());
        let len = samples.len();
        let (a, e) = sources.parts();
        let mut column = Column::new(1, len, &self.basis);
        let mut judged = Mat::zeros(len, self.columns.len());
        for k in 0..judged.ncols() {
            let (a, e) = (a.map(|a| col(a.as_ref(), k)), e.map(|e| col(e.as_ref(), k)));
            column.cover(std::iter::once((samples.start, len)), &self.basis, a, e);
            col_mut(judged.as_mut(), k).copy_from_slice(&column.s);
        }
        judged
    }

    /// ‖Y − Ŷ‖²/(2ν_y) over the whole recording, with an eliminated output layer fitted to all of
    /// it; `None` where the term is exact already. S̃ is `input`.
    pub fn fit_mixer(&mut self, mixer: &mut dyn Mixer, input: MatRef<'_, f64>) -> Option<f64> {
        let Mixing::Sampled(term) = &mut self.mixing else {
            return None;
        };
        let square = term.fit(mixer, &self.basis.observations, input);
        Some(square / (2.0 * self.plan.observation_variance))
    }

    /// P = ZwᵀS/T (K×K) and the mean of S: the best linear fit of the sources to the whitened
    /// components.
    pub fn linear_fit(&self) -> (Mat<f64>, Vec<f64>) {
        (self.moments.p.clone(), self.moments.s.mean.clone())
    }
}
