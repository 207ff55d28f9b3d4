//! What a branch does around its layers: patches → tokens in front of them, prediction and loss
//! behind them, and the sum of the gradients of the chunks.

use super::branch::{Branch, Weights};
use super::crew::Crew;
use super::layer::{ChunkGradients, gather, two};
use super::linear::Linear;
use super::shared::Shared;
use super::simd::Simd;
use super::split::{Ranges, elements, row_blocks, within};
use super::workspace::Scratch;
use super::{layernorm, masked_loss};
use crate::{BlockError, Job, Judge};
use std::ops::Range;

/// One job on its way through a branch.
pub struct Run<'a, S: Simd> {
    /// The branch.
    pub branch: &'a Branch<'a>,
    /// The instruction set.
    pub simd: S,
    /// Whom to share the work with.
    pub crew: &'a Crew<'a, Scratch>,
    /// Parameters.
    pub weights: Weights<'a>,
    /// The job.
    pub job: &'a Job,
    /// Tokens that are not masked, ascending.
    pub visible: &'a [u32],
}

impl<S: Simd> Run<'_, S> {
    /// → patches (visible × P), x (N×d): embedded patches or mask token, each with its positional
    /// encoding where it has one.
    pub fn embed(&self, patches: &mut [f32], x: &mut [f32]) {
        let (job, branch, layout) = (self.job, self.branch, self.branch.layout);
        let (d, patch) = (branch.network.d_model, branch.scale.patch);
        let embed = self.weights.linear(&layout.w_in, &layout.b_in);
        let mask_token = &self.weights.parameters[layout.mask_token.clone()];
        let chunks = Ranges::chunks(job.tokens.len());
        let (patches, x) = (Shared::new(patches), Shared::new(x));
        self.crew.for_each(chunks.len(), |scratch, chunk| {
            for rows in row_blocks(chunks.get(chunk)) {
                let seen = within(self.visible, &rows);
                // SAFETY: chunks are disjoint ranges of tokens, and so are the visible ones among
                // them.
                let (patches, x) = unsafe {
                    (
                        patches.part(elements(&seen, patch)),
                        x.part(elements(&rows, d)),
                    )
                };
                self.read_patches(&self.visible[seen.clone()], patches);
                let embedded = &mut scratch.gathered[..seen.len() * d];
                embed.forward(self.simd, seen.len(), patches, embedded, false);
                let mut embedded = embedded.chunks_exact(d);
                let mut visible = self.visible[seen].iter().peekable();
                for (a, x) in rows.zip(x.chunks_exact_mut(d)) {
                    let content = match visible.next_if(|&&next| next as usize == a) {
                        Some(_) => embedded.next().expect("one row per visible token"),
                        None if !branch.network.mask_position => {
                            x.copy_from_slice(mask_token);
                            continue;
                        }
                        None => mask_token,
                    };
                    let position =
                        &branch.positions[(job.shift + job.tokens[a] as usize) * d..][..d];
                    for ((x, &c), &p) in x.iter_mut().zip(content).zip(position) {
                        *x = c + p;
                    }
                }
            }
        });
    }

    /// The last norm's gain and bias, and the head.
    fn prediction(&self) -> (&[f32], &[f32], Linear<'_>) {
        let (layout, parameters) = (self.branch.layout, self.weights.parameters);
        (
            &parameters[layout.norm_gain.clone()],
            &parameters[layout.norm_bias.clone()],
            self.weights.linear(&layout.w_out, &layout.b_out),
        )
    }

    /// x (M×d) at the masked tokens → `blocks`, the errors of their blocks as `judge` leaves them;
    /// `differences` (M×P) û − u, `factors` (M) of their rows in d_predicted.
    pub fn predict(
        &self,
        x: &[f32],
        judge: Judge<'_>,
        blocks: &mut Vec<BlockError>,
        differences: &mut [f32],
        factors: &mut [f64],
    ) {
        let (simd, job, branch) = (self.simd, self.job, self.branch);
        let (d, patch, m) = (branch.network.d_model, branch.scale.patch, job.masked.len());
        let (gain, bias, head) = self.prediction();
        let chunks = Ranges::chunks(m);
        let factors = &mut factors[..m];
        // Until the blocks are judged, `factors` holds the errors of the rows.
        let (differences, shared_errors) = (Shared::new(differences), Shared::new(factors));
        self.crew.for_each(chunks.len(), |scratch, chunk| {
            for rows in row_blocks(chunks.get(chunk)) {
                let count = rows.len();
                // SAFETY: chunks are disjoint ranges of rows.
                let (predicted, errors) = unsafe {
                    (
                        differences.part(elements(&rows, patch)),
                        shared_errors.part(rows.clone()),
                    )
                };
                let (x_hat, r) = (&mut scratch.x_hat[..count * d], &mut scratch.r[..count]);
                let normed = &mut scratch.normed[..count * d];
                layernorm::forward(simd, &x[elements(&rows, d)], gain, bias, x_hat, r, normed);
                head.forward(simd, count, normed, predicted, false);
                let targets = &mut scratch.patches[..count * patch];
                self.read_patches(&job.masked[rows], targets);
                masked_loss::forward(predicted, targets, patch, errors);
            }
        });
        let block_of = |row: usize| {
            let token = job.tokens[job.masked[row] as usize];
            branch.branches.block_of(token as usize, branch.scale)
        };
        masked_loss::by_block(factors, patch, block_of, blocks);
        judge(blocks);
        masked_loss::row_factors(blocks, patch, factors);
    }

    /// x (M×d) becomes d_x; what [`Run::predict`] left becomes d_predicted (M×P). The norm is
    /// computed again, because scratch holds one row block; with the second phase that is a
    /// thousandth of a step's instructions.
    pub fn d_predict(
        &self,
        x: &mut [f32],
        differences: &mut [f32],
        factors: &[f64],
        gradients: &ChunkGradients,
    ) {
        let (simd, branch, layout) = (self.simd, self.branch, self.branch.layout);
        let (d, patch, m) = (
            branch.network.d_model,
            branch.scale.patch,
            self.job.masked.len(),
        );
        let (gain, bias, head) = self.prediction();
        let chunks = Ranges::chunks(m);
        let (x, differences) = (Shared::new(x), Shared::new(differences));
        self.crew.for_each(chunks.len(), |scratch, chunk| {
            // SAFETY: a chunk has a gradient of its own.
            let gradient = unsafe { gradients.of(chunk) };
            let whole = chunks.get(chunk);
            for rows in row_blocks(whole.clone()) {
                let (count, accumulate) = (rows.len(), rows.start > whole.start);
                // SAFETY: chunks are disjoint ranges of rows.
                let (x, d_predicted) = unsafe {
                    (
                        x.part(elements(&rows, d)),
                        differences.part(elements(&rows, patch)),
                    )
                };
                masked_loss::backward(d_predicted, patch, &factors[rows]);
                let (x_hat, r) = (&mut scratch.x_hat[..count * d], &mut scratch.r[..count]);
                let normed = &mut scratch.normed[..count * d];
                layernorm::forward(simd, x, gain, bias, x_hat, r, normed);
                let [d_w, d_b] = two(gradient, &layout.w_out, &layout.b_out);
                head.backward_weights(simd, count, normed, d_predicted, d_w, d_b, accumulate);
                let d_normed = &mut scratch.d_normed[..count * d];
                head.backward_input(simd, count, d_predicted, d_normed, false);
                let [d_gain, d_bias] = two(gradient, &layout.norm_gain, &layout.norm_bias);
                x.fill(0.0);
                layernorm::backward(
                    simd, x_hat, r, gain, d_normed, x, d_gain, d_bias, accumulate,
                );
            }
        });
    }

    /// d_x (N×d); patches (visible × P) become d_patches.
    pub fn d_embed(&self, patches: &mut [f32], d_x: &[f32], gradients: &ChunkGradients) {
        let (job, simd, layout) = (self.job, self.simd, self.branch.layout);
        let (d, patch) = (self.branch.network.d_model, self.branch.scale.patch);
        let embed = self.weights.linear(&layout.w_in, &layout.b_in);
        let chunks = Ranges::chunks(job.tokens.len());
        let patches = Shared::new(patches);
        self.crew.for_each(chunks.len(), |scratch, chunk| {
            // SAFETY: a chunk has a gradient of its own.
            let gradient = unsafe { gradients.of(chunk) };
            let whole = chunks.get(chunk);
            gradient[layout.mask_token.clone()].fill(0.0);
            for rows in row_blocks(whole.clone()) {
                let accumulate = rows.start > whole.start;
                let seen = within(self.visible, &rows);
                // SAFETY: chunks are disjoint ranges of tokens, and so are the visible ones among
                // them.
                let patches = unsafe { patches.part(elements(&seen, patch)) };
                let d_embedded = &mut scratch.gathered[..seen.len() * d];
                gather(&self.visible[seen.clone()], 0, d, d_x, d_embedded);
                let [d_w, d_b] = two(gradient, &layout.w_in, &layout.b_in);
                embed.backward_weights(simd, seen.len(), patches, d_embedded, d_w, d_b, accumulate);
                embed.backward_input(simd, seen.len(), d_embedded, patches, false);
                let d_mask_token = &mut gradient[layout.mask_token.clone()];
                for &a in &job.masked[within(&job.masked, &rows)] {
                    for (slot, &g) in d_mask_token.iter_mut().zip(&d_x[a as usize * d..][..d]) {
                        *slot += g;
                    }
                }
            }
        });
    }

    /// Adds the gradients of the other chunks to the first, in their order. Tensors up to the last
    /// layer's projections have a gradient per chunk of the N tokens, the rest one per chunk of the
    /// masked ones.
    pub fn sum_over_chunks(&self, gradients: &ChunkGradients) {
        let last = self
            .branch
            .layout
            .layers
            .last()
            .expect("at least one layer");
        let (tokens, masked) = (0..last.b_qkv.end, last.b_qkv.end..gradients.len);
        let parts: [(Range<usize>, usize); 2] = [
            (tokens, Ranges::chunks(self.job.tokens.len()).len()),
            (masked, Ranges::chunks(self.job.masked.len()).len()),
        ];
        if parts.iter().all(|(_, n_chunks)| *n_chunks == 1) {
            return;
        }
        self.crew.for_each(parts.len(), |_, part| {
            let (range, n_chunks) = parts[part].clone();
            for chunk in 1..n_chunks {
                // SAFETY: the parts are disjoint ranges of parameters.
                let (sum, other) = unsafe {
                    let start = (chunk - 1) * gradients.len;
                    (
                        gradients.first.part(range.clone()),
                        gradients
                            .others
                            .part(start + range.start..start + range.end),
                    )
                };
                add(self.simd, other, sum);
            }
        });
    }

    /// Π at the tokens `rows`: → patches (rows × P).
    fn read_patches(&self, rows: &[u32], patches: &mut [f32]) {
        let (job, scale) = (self.job, self.branch.scale);
        for (&a, patch) in rows.iter().zip(patches.chunks_exact_mut(scale.patch)) {
            let samples = &job.window[job.tokens[a as usize] as usize * scale.stride..];
            for (value, &sample) in patch.iter_mut().zip(samples) {
                *value = sample as f32;
            }
        }
    }
}

/// sum += values.
fn add<S: Simd>(simd: S, values: &[f32], sum: &mut [f32]) {
    simd.run(
        #[inline(always)]
        || {
            simd.for_each_vector(
                sum.len(),
                #[inline(always)]
                |at, lanes| {
                    let total = simd.add(simd.get(sum, at, lanes), simd.get(values, at, lanes));
                    simd.put(sum, at, lanes, total);
                },
            );
        },
    )
}
