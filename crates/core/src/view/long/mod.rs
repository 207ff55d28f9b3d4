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

use super::gauge::Gauge;
use super::second_moments::{KernelData, SecondMoments};
use super::sparse_adam::SparseAdam;
use super::terms::reconstruction::Reconstruction;
use super::terms::separation::Separation;
use super::terms::smoothness;
use super::{Excerpt, Samples, View, judged};
use crate::Result;
use crate::config::{MixerKind, Plan};
use crate::energy::{SourceWindows, Window};
use crate::linalg::permute::permute_columns;
use crate::mixer::Mixer;
use crate::tensors::Tensors;
use affine::AffineReconstruction;
use basis::Basis;
use block::Block;
use column::Column;
use faer::{Mat, MatRef};
pub(crate) use free::FreeMoments;
use moments::{InputMoments, SourceMoments};
use rayon::prelude::*;
use std::sync::Arc;
use strt_kernels::AdamStep;
use strt_signal::columns::{col, col_mut};

/// How the mixer's term is computed.
enum Mixing {
    /// Not at all: ν_y is infinite.
    Off,
    /// From moments; the gradient in them.
    Affine(AffineReconstruction, InputMoments),
    /// On the block.
    Sampled(Reconstruction),
}

/// E, its running moments and its optimiser.
struct Free {
    e: Mat<f64>, // T×K
    moments: FreeMoments,
    adam: Option<SparseAdam>, // absent where E never moves
}

/// S through its moments and the samples that a step touches.
pub(crate) struct Long {
    plan: Plan,
    basis: Arc<Basis>,
    moments: SourceMoments,
    free: Option<Free>,
    columns: Vec<Column>,
    block: Option<Block>,
    second_start: usize, // of the block in which the moments act on E
    mixing: Mixing,
    separation: Separation,
    lagged: SecondMoments, // what the kernel energy reads
}

impl Long {
    /// With E at `e`, which `moves` or stays. A step reads at most one window of each scale.
    pub fn new(
        plan: &Plan,
        basis: Arc<Basis>,
        mixer: &dyn Mixer,
        e: Option<Mat<f64>>,
        moves: bool,
        kernel: Option<&KernelData>,
    ) -> Long {
        let config = plan.config();
        // The plan has no kernel energy where sources are free: their moments would have to be
        // followed.
        let lagged = kernel.map_or(SecondMoments::Off, |kernel| kernel.linear(config.n_sources));
        let (k, m) = (config.n_sources, basis.observations.n_channels());
        let free = e.map(|e| Free {
            moments: FreeMoments::of(e.as_ref(), &basis),
            adam: moves.then(|| SparseAdam::new(e.nrows(), e.ncols())),
            e,
        });
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
        let scales = &plan.branches().scales;
        let spans: usize = scales.iter().map(|s| s.span()).sum();
        let column = Column::new(scales.len() + 2, spans + 2 * len, &basis);
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
            lagged,
        }
    }

    /// E.
    fn e(&self) -> Option<&Mat<f64>> {
        self.free.as_ref().map(|free| &free.e)
    }

    /// S̃ (T×K) in the memory of `out`, which holds E or zeros; 0 in missing rows.
    fn form(&self, a: Option<&Mat<f64>>, mut out: Mat<f64>) -> Mat<f64> {
        self.basis.assemble(a, out.as_mut());
        if self.plan.config().mixer.decoder_standardization {
            for k in 0..out.ncols() {
                let (mean, divisor) = self.moments.gauge.of(k);
                let column = col_mut(out.as_mut(), k);
                column.iter_mut().for_each(|v| *v = (*v - mean) / divisor);
                self.basis.rows().zero_missing(column);
            }
        }
        out
    }

    fn zeros(&self) -> Mat<f64> {
        Mat::zeros(self.basis.rows().n_samples(), self.columns.len())
    }
}

impl SourceWindows for Long {
    fn read(&self, source: usize, first: usize, window: &mut [f64]) {
        let column = &self.columns[source];
        window.copy_from_slice(&column.s[column.range(first, window.len())]);
        if self.plan.config().sources.standardize {
            let (mean, divisor) = self.moments.gauge.of(source);
            window.iter_mut().for_each(|v| *v = (*v - mean) / divisor);
            self.basis.rows().zero_missing_from(first, window);
        }
    }

    fn add_gradient(&mut self, source: usize, first: usize, factor: f64, d_window: &[f64]) {
        let standardized = self.plan.config().sources.standardize;
        let (mean, divisor) = if standardized {
            self.moments.gauge.of(source)
        } else {
            (0.0, 1.0)
        };
        let column = &mut self.columns[source];
        let range = column.range(first, d_window.len());
        let samples = column.d[range.clone()].iter_mut().zip(&column.s[range]);
        let (mut sum, mut dot) = (0.0, 0.0);
        for ((slot, &s), &d) in samples.zip(d_window) {
            let d = factor * d;
            *slot += d / divisor;
            sum += d;
            dot += d * (s - mean) / divisor;
        }
        if standardized {
            self.moments.add_gauge_gradient(source, sum, dot);
        }
    }

    fn read_moments(&self, source: usize, moments: &mut [f64]) {
        self.lagged.read(source, &[], self.basis.rows(), moments);
    }

    fn add_moment_gradient(&mut self, source: usize, factor: f64, d_moments: &[f64]) {
        let rows = self.basis.rows();
        self.lagged
            .add_gradient(source, factor, d_moments, &[], rows, &mut []);
    }
}

impl Samples for Long {
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

    fn gauge(&self) -> &Gauge {
        &self.moments.gauge
    }

    fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.moments.gauge
    }

    fn linear_fit(&self) -> (Mat<f64>, Vec<f64>) {
        (self.moments.p.clone(), self.moments.s.mean.clone())
    }

    fn fit_mixer(&mut self, mixer: &mut dyn Mixer, input: MatRef<'_, f64>) -> Option<f64> {
        let Mixing::Sampled(term) = &mut self.mixing else {
            return None;
        };
        let square = term.fit(mixer, &self.basis.observations, input);
        Some(square / (2.0 * self.plan.observation_variance))
    }

    fn observations(&self) -> Option<MatRef<'_, f64>> {
        None
    }
}

impl View for Long {
    fn place(&mut self, a: Option<&Mat<f64>>, excerpt: &Excerpt, windows: &[Window]) {
        self.lagged.place(a);
        let (basis, free) = (&*self.basis, &self.free);
        self.moments
            .read(a, free.as_ref().map(|free| &free.moments), basis);
        let [first, second] = excerpt.blocks;
        let first = self.block.as_mut().map(|block| {
            block.start = first;
            (first, block.len())
        });
        self.second_start = second;
        let second = first
            .filter(|_| free.is_some())
            .map(|(_, len)| (second, len));
        let e = free.as_ref().map(|free| &free.e);
        self.columns
            .par_iter_mut()
            .enumerate()
            .for_each(|(k, column)| {
                let own = windows.iter().filter(|window| window.source == k);
                let read = own.map(|window| (window.first, window.len));
                let (a, e) = (a.map(|a| col(a.as_ref(), k)), e.map(|e| col(e.as_ref(), k)));
                column.cover(read.chain(first).chain(second), basis, a, e);
            });
    }

    fn pull_back(&mut self, d_a: Option<&mut Mat<f64>>) {
        let basis = &*self.basis;
        self.moments.close();
        if let Some(d_a) = d_a {
            self.moments.fiber_gradient(basis, d_a);
            self.lagged.add_to(d_a);
            self.columns
                .par_iter_mut()
                .for_each(|column| column.project(basis));
            for (k, column) in self.columns.iter().enumerate() {
                let d_a = col_mut(d_a.as_mut(), k);
                d_a.iter_mut()
                    .zip(column.projected())
                    .for_each(|(d, p)| *d += p);
            }
        }
        if let (Some(block), Some(_)) = (&mut self.block, &self.free) {
            block.start = self.second_start;
            block.add_moments(&mut self.columns, &self.moments, basis);
        }
    }

    fn free_norm_squared(&self) -> f64 {
        let square = |column: &Column| column.d.iter().map(|d| d * d).sum::<f64>();
        self.columns.iter().map(square).sum()
    }

    fn move_free(&mut self, step: &AdamStep, scale: f64, pace: &dyn Fn(usize) -> f64) {
        let Some(Free {
            e,
            moments,
            adam: Some(adam),
        }) = &mut self.free
        else {
            return;
        };
        for (k, column) in self.columns.iter_mut().enumerate() {
            let step = AdamStep {
                rate: pace(k) * step.rate,
                ..*step
            };
            for stretch in &column.stretches {
                let samples = stretch.first..stretch.first + stretch.len;
                adam.update(&step, scale, k, samples, &mut column.d[stretch.range()]);
            }
            moments.change(e, k, column, &self.basis);
        }
    }

    fn permute(&mut self, order: &[usize]) {
        if let Some(free) = &mut self.free {
            permute_columns(&mut free.e, order);
            free.moments.permute(order);
            if let Some(adam) = &mut free.adam {
                adam.permute_columns(order);
            }
        }
    }

    fn is_free(&self) -> bool {
        self.free.is_some()
    }

    fn sources(&self, a: Option<&Mat<f64>>) -> Mat<f64> {
        let out = self.e().cloned().unwrap_or_else(|| self.zeros());
        self.form(a, out)
    }

    fn take_sources(&mut self, a: Option<&Mat<f64>>) -> Mat<f64> {
        let out = self.free.take().map_or_else(|| self.zeros(), |free| free.e);
        self.form(a, out)
    }

    fn judged_sources(&self, a: Option<&Mat<f64>>) -> Mat<f64> {
        let samples = judged(self.basis.rows().n_samples());
        let len = samples.len();
        let mut column = Column::new(1, len, &self.basis);
        let mut judged = Mat::zeros(len, self.columns.len());
        for k in 0..judged.ncols() {
            let a = a.map(|a| col(a.as_ref(), k));
            let e = self.e().map(|e| col(e.as_ref(), k));
            column.cover(std::iter::once((samples.start, len)), &self.basis, a, e);
            col_mut(judged.as_mut(), k).copy_from_slice(&column.s);
        }
        judged
    }

    fn save(&self, name: &str, to: &mut Tensors) {
        if let Some(free) = &self.free {
            to.put(name, free.e.clone());
            free.moments.save(name, to);
            if let Some(adam) = &free.adam {
                adam.save(name, to);
            }
        }
    }

    fn restore(&mut self, name: &str, from: &Tensors) -> Result<()> {
        if let Some(free) = &mut self.free {
            from.read(name, &mut free.e)?;
            free.moments.restore(name, from)?;
            if let Some(adam) = &mut free.adam {
                adam.restore(name, from)?;
            }
        }
        Ok(())
    }

    fn save_gradient(&self, _name: &str, _to: &mut Tensors) {} // known where a step looked

    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        let columns = self.columns.iter().enumerate();
        let stretches = columns.flat_map(|(k, column)| {
            let stretches = column.stretches.iter();
            stretches.map(move |s| (k, s.first, column.d[s.range()].to_vec()))
        });
        stretches.collect()
    }

    fn set_free(&mut self, e: &Mat<f64>) {
        if let Some(free) = &mut self.free {
            free.e.copy_from(e);
            free.moments = FreeMoments::of(e.as_ref(), &self.basis);
        }
    }
}
