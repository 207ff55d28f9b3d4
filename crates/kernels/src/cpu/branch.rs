//! One branch network on one job: window → patches → tokens → L encoder layers → predicted patches → energy, and back.
//!
//! Works over the valid patches only; the reference does the same over all patches with B^mask = −∞. The patch
//! embedding is computed where it is used, at visible tokens, and the prediction where it is judged, at masked ones.

use super::layer::{Layer, Scene, two};
use super::linear::{self, Linear};
use super::simd::Simd;
use super::workspace::Workspace;
use super::{layernorm, masked_loss};
use crate::{Job, Layout, NetworkShape, Outcome, ScaleShape};

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
}

/// Parameters of one branch in both orders.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// The flat parameter vector.
    pub parameters: &'a [f32],
    /// The same with every matrix transposed in place; vectors are not set.
    pub transposed: &'a [f32],
}

impl Weights<'_> {
    fn linear(&self, w: &std::ops::Range<usize>, b: &std::ops::Range<usize>) -> Linear<'_> {
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
    pub fn transpose(&self, parameters: &[f32], transposed: &mut [f32]) {
        for tensor in self.layout.tensors().iter().filter(|t| t.shape.len() == 2) {
            let range = tensor.range.clone();
            linear::transpose(
                &parameters[range.clone()],
                tensor.shape[1],
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

    /// Energy and unit gradients of one job; ∂ℓ/∂parameters is added into `d_parameters`.
    pub fn evaluate<S: Simd>(
        &self,
        simd: S,
        weights: Weights,
        job: &Job,
        slope: f64,
        d_parameters: &mut [f32],
        work: &mut Workspace,
        outcome: &mut Outcome,
    ) {
        let (d, patch, layout) = (self.network.d_model, self.scale.patch, self.layout);
        let (n, m, n_layers) = (job.tokens.len(), job.masked.len(), self.network.n_layers);
        self.place_tokens(job, S::LANES, work);
        let Workspace {
            every_row,
            visible,
            key_positions,
            masked_positions,
            every_position,
            ..
        } = work;
        let (every_row, visible) = (&every_row[..n], &visible[..]);
        let key_positions = &key_positions[..n];
        let scene = |l: usize| {
            let last = l + 1 == n_layers;
            let (rows, query_positions) = if last {
                (&job.masked[..], &masked_positions[..])
            } else {
                (every_row, &every_position[..])
            };
            Scene {
                rows,
                query_positions,
                key_positions,
                slope: slope as f32,
            }
        };

        // Forward.
        let embed = weights.linear(&layout.w_in, &layout.b_in);
        let patches = &mut work.patches[..visible.len() * patch];
        self.read_patches(job, visible, patches);
        self.read_patches(job, &job.masked, &mut work.targets[..m * patch]);
        let embedded = &mut work.embedded[..visible.len() * d];
        embed.forward(simd, visible.len(), patches, embedded, false);
        let (mut x, mut y) = (&mut work.x, &mut work.y);
        self.place_embedded(
            job,
            visible,
            embedded,
            &weights.parameters[layout.mask_token.clone()],
            x,
        );
        for (l, tape) in work.layers.iter_mut().enumerate() {
            self.layer(l, weights)
                .forward(simd, &scene(l), x, y, tape, &mut work.scratch);
            std::mem::swap(&mut x, &mut y);
        }
        let (x_hat, r) = (&mut work.x_hat[..m * d], &mut work.r[..m]);
        let (gain, bias) = (
            &weights.parameters[layout.norm_gain.clone()],
            &weights.parameters[layout.norm_bias.clone()],
        );
        let normed = &mut work.normed[..m * d];
        layernorm::forward(simd, d, &x[..m * d], x_hat, r);
        layernorm::scale(simd, x_hat, gain, bias, normed);
        let head = weights.linear(&layout.w_out, &layout.b_out);
        let predicted = &mut work.predicted[..m * patch];
        head.forward(simd, m, normed, predicted, false);
        outcome.energy = masked_loss::forward_backward(predicted, &work.targets[..m * patch]);

        // Backward. x and y now hold gradients.
        let d_predicted = predicted;
        outcome.d_window.clear();
        outcome.d_window.resize(self.scale.span(), 0.0);
        self.add_to_window(job, &job.masked, d_predicted, -1.0, &mut outcome.d_window);
        let [d_w, d_b] = two(d_parameters, &layout.w_out, &layout.b_out);
        head.backward_weights(simd, m, normed, d_predicted, d_w, d_b);
        let d_normed = normed;
        head.backward_input(simd, m, d_predicted, d_normed, false);
        x[..m * d].fill(0.0);
        let [d_gain, d_bias] = two(d_parameters, &layout.norm_gain, &layout.norm_bias);
        layernorm::backward(simd, x_hat, r, gain, d_normed, &mut x[..m * d], d_gain, d_bias);
        outcome.d_slope = 0.0;
        for (l, tape) in work.layers.iter().enumerate().rev() {
            let scene = scene(l);
            let d_y = &mut x[..scene.rows.len() * d];
            let layer = self.layer(l, weights);
            outcome.d_slope += layer.backward(simd, &scene, d_y, y, d_parameters, tape, &mut work.scratch);
            std::mem::swap(&mut x, &mut y);
        }
        self.split_gradient(
            job,
            visible,
            x,
            &mut d_parameters[layout.mask_token.clone()],
            embedded,
        );
        let d_embedded = embedded;
        let [d_w, d_b] = two(d_parameters, &layout.w_in, &layout.b_in);
        embed.backward_weights(simd, visible.len(), patches, d_embedded, d_w, d_b);
        let d_patches = patches;
        embed.backward_input(simd, visible.len(), d_embedded, d_patches, false);
        self.add_to_window(job, visible, d_patches, 1.0, &mut outcome.d_window);
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

    /// Π at the tokens `rows`: → patches (rows × P).
    fn read_patches(&self, job: &Job, rows: &[u32], patches: &mut [f32]) {
        for (&a, patch) in rows.iter().zip(patches.chunks_exact_mut(self.scale.patch)) {
            let samples = &job.window[job.tokens[a as usize] as usize * self.scale.stride..];
            for (value, &sample) in patch.iter_mut().zip(samples) {
                *value = sample as f32;
            }
        }
    }

    /// d_window += sign · Πᵀ d_patches: overlapping patches add up.
    fn add_to_window(&self, job: &Job, rows: &[u32], d_patches: &[f32], sign: f64, d_window: &mut [f64]) {
        for (&a, d_patch) in rows.iter().zip(d_patches.chunks_exact(self.scale.patch)) {
            let d_samples = &mut d_window[job.tokens[a as usize] as usize * self.scale.stride..];
            for (d_sample, &d) in d_samples.iter_mut().zip(d_patch) {
                *d_sample += sign * f64::from(d);
            }
        }
    }

    /// embedded (visible × d) and the mask token, each with its positional encoding → x (N×d).
    fn place_embedded(
        &self,
        job: &Job,
        visible: &[u32],
        embedded: &[f32],
        mask_token: &[f32],
        x: &mut [f32],
    ) {
        let d = mask_token.len();
        let mut place = |a: u32, content: &[f32]| {
            let position = &self.positions[(job.shift + job.tokens[a as usize] as usize) * d..][..d];
            for ((x, &c), &p) in x[a as usize * d..][..d].iter_mut().zip(content).zip(position) {
                *x = c + p;
            }
        };
        for (&a, row) in visible.iter().zip(embedded.chunks_exact(d)) {
            place(a, row);
        }
        for &a in &job.masked {
            place(a, mask_token);
        }
    }

    /// The transpose: d_x (N×d) → d_embedded (visible × d), overwritten, and d_mask_token (d), added to.
    fn split_gradient(
        &self,
        job: &Job,
        visible: &[u32],
        d_x: &[f32],
        d_mask_token: &mut [f32],
        d_embedded: &mut [f32],
    ) {
        let d = d_mask_token.len();
        for (&a, row) in visible.iter().zip(d_embedded.chunks_exact_mut(d)) {
            row.copy_from_slice(&d_x[a as usize * d..][..d]);
        }
        for &a in &job.masked {
            for (slot, &g) in d_mask_token.iter_mut().zip(&d_x[a as usize * d..][..d]) {
                *slot += g;
            }
        }
    }
}
