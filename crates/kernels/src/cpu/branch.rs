//! One branch network on one job: window → patches → tokens → L encoder layers → predicted patches
//! → energy, and back.
//!
//! Works over the valid patches only; the reference does the same over all patches with B^mask =
//! −∞. The patch embedding is computed where it is used, at visible tokens, and the prediction
//! where it is judged, at masked ones.

use super::crew::Crew;
use super::layer::{ChunkGradients, Layer, Scene};
use super::linear::{self, Linear};
use super::run::Run;
use super::shared::Shared;
use super::simd::Simd;
use super::workspace::{LayerTape, Scratch, Workspace};
use crate::flops::JobSize;
use crate::{BranchSet, Job, Judge, Layout, NetworkShape, Outcome, ScaleShape};

/// A branch of fixed size: everything but parameters and data.
#[derive(Clone, Copy)]
pub struct Branch<'a> {
    /// Network sizes.
    pub network: &'a NetworkShape,
    /// Patch grid.
    pub scale: &'a ScaleShape,
    /// Where the parameters lie.
    pub layout: &'a Layout,
    /// Positional encodings, row-major, at least N + shift rows.
    pub positions: &'a [f32],
    /// The set that it belongs to, for the blocks of its errors.
    pub branches: &'a BranchSet,
}

/// Parameters of one branch in both orders.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// The flat parameter vector.
    pub parameters: &'a [f32],
    /// The parameters with every matrix transposed in place; vectors are not set.
    pub transposed: &'a [f32],
}

impl Weights<'_> {
    /// The linear map with matrix `w` and bias `b`.
    pub fn linear(&self, w: &std::ops::Range<usize>, b: &std::ops::Range<usize>) -> Linear<'_> {
        Linear {
            n_in: w.len() / b.len(),
            n_out: b.len(),
            w: &self.parameters[w.clone()],
            stride: b.len(),
            w_transposed: &self.transposed[w.clone()],
            b: &self.parameters[b.clone()],
        }
    }
}

impl<'a> Branch<'a> {
    /// parameters → every matrix transposed, at the same places.
    fn transpose<S: Simd>(&self, simd: S, parameters: &[f32], transposed: &mut [f32]) {
        for tensor in self.layout.tensors().iter().filter(|t| t.shape.len() == 2) {
            let (range, n_out) = (tensor.range.clone(), tensor.shape[1]);
            linear::transpose(
                simd,
                &parameters[range.clone()],
                n_out,
                &mut transposed[range],
            );
        }
    }

    fn layer<'b>(&'b self, l: usize, weights: Weights<'b>) -> Layer<'b> {
        let Weights {
            parameters,
            transposed,
        } = weights;
        Layer {
            network: self.network,
            layout: &self.layout.layers[l],
            parameters,
            transposed,
        }
    }

    /// Errors and gradients of one job, as [`Engine::evaluate`](crate::Engine::evaluate) says;
    /// ∂g/∂parameters overwrites `d_parameters`. Returns what the amount of arithmetic depends on.
    pub fn evaluate<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        parameters: &[f32],
        job: &Job,
        slope: f64,
        judge: Judge<'_>,
        d_parameters: &mut [f32],
        work: &mut Workspace,
        outcome: &mut Outcome,
    ) -> JobSize {
        let d = self.network.d_model;
        let (n, m, n_layers) = (job.tokens.len(), job.masked.len(), self.network.n_layers);
        self.place_tokens(job, S::LANES, work);
        let Workspace {
            every_row,
            visible,
            key_positions,
            masked_positions,
            every_position,
            patches,
            predicted,
            errors,
            x,
            y,
            layers,
            between,
            partials,
            transposed,
        } = work;
        let transposed = &mut transposed[..parameters.len()];
        self.transpose(simd, parameters, transposed);
        let weights = Weights {
            parameters,
            transposed,
        };
        let (every_row, visible) = (&every_row[..n], &visible[..]);
        let scene = |l: usize| {
            let last = l + 1 == n_layers;
            Scene {
                rows: if last { &job.masked } else { every_row },
                query_positions: if last {
                    masked_positions
                } else {
                    every_position
                },
                key_positions: &key_positions[..n],
                slope: slope as f32,
            }
        };
        let run = Run {
            branch: self,
            simd,
            crew,
            weights,
            job,
            visible,
        };
        let gradients = ChunkGradients {
            len: d_parameters.len(),
            first: Shared::new(d_parameters),
            others: Shared::new(partials),
        };

        // Forward.
        let (mut x, mut y) = (x, y);
        run.embed(patches, x);
        for (l, tape) in layers.iter_mut().enumerate() {
            self.layer(l, weights)
                .forward(simd, crew, &scene(l), x, y, tape, between);
            std::mem::swap(&mut x, &mut y);
        }
        run.predict(&x[..m * d], judge, &mut outcome.errors, predicted, errors);

        // Backward. From here x and y hold gradients, and errors the factors of the gradients of
        // the predictions.
        run.d_predict(&mut x[..m * d], predicted, errors, &gradients);
        outcome.d_window.clear();
        outcome.d_window.resize(self.scale.span(), 0.0);
        self.add_to_window(job, &job.masked, predicted, -1.0, &mut outcome.d_window);
        outcome.d_slope = 0.0;
        for (l, tape) in layers.iter().enumerate().rev() {
            let layer = self.layer(l, weights);
            outcome.d_slope +=
                layer.backward(simd, crew, &scene(l), x, y, &gradients, tape, between);
            std::mem::swap(&mut x, &mut y);
        }
        run.d_embed(patches, x, &gradients);
        self.add_to_window(job, visible, patches, 1.0, &mut outcome.d_window);
        run.sum_over_chunks(&gradients);
        let pairs = |(l, tape): (usize, &LayerTape)| -> usize {
            let n_bands = scene(l).rows.len().div_ceil(S::LANES) * self.network.n_heads;
            tape.bands[..n_bands].iter().map(|band| band.pairs).sum()
        };
        JobSize {
            tokens: n as u64,
            masked: m as u64,
            pairs: layers.iter().enumerate().map(pairs).sum::<usize>() as u64,
        }
    }

    /// Lists the visible tokens and the patch indices of all and of the masked ones.
    fn place_tokens(&self, job: &Job, lanes: usize, work: &mut Workspace) {
        let n = job.tokens.len();
        work.visible.clear();
        let mut masked = job.masked.iter().peekable();
        for a in 0..n as u32 {
            if masked.next_if(|&&next| next == a).is_none() {
                work.visible.push(a);
            }
        }
        for (position, &token) in work.key_positions.iter_mut().zip(&job.tokens) {
            *position = token as f32;
        }
        let keys = &work.key_positions;
        let padded = |count: usize| count.next_multiple_of(lanes);
        for (a, position) in work.every_position[..padded(n)].iter_mut().enumerate() {
            *position = keys[a.min(n - 1)];
        }
        let m = job.masked.len();
        for (a, position) in work.masked_positions[..padded(m)].iter_mut().enumerate() {
            *position = keys[job.masked[a.min(m - 1)] as usize];
        }
    }

    /// d_window += sign · Πᵀ d_patches: overlapping patches add up.
    fn add_to_window(
        &self,
        job: &Job,
        rows: &[u32],
        d_patches: &[f32],
        sign: f64,
        d_window: &mut [f64],
    ) {
        for (&a, d_patch) in rows.iter().zip(d_patches.chunks_exact(self.scale.patch)) {
            let d_samples = &mut d_window[job.tokens[a as usize] as usize * self.scale.stride..];
            for (d_sample, &d) in d_samples.iter_mut().zip(d_patch) {
                *d_sample += sign * f64::from(d);
            }
        }
    }
}
