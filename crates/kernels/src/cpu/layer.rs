//! One pre-norm encoder layer: y = z + FFN(norm₂(z)) with z = x + attention(norm₁(x)).
//!
//! Keys and values come from all N tokens; queries, the residual stream and everything after them exist for M rows
//! only: all tokens, or in the last layer the masked ones, because nothing reads the others (this is exact). Rows go
//! through chains of operations in blocks of [`ROW_BLOCK`](super::workspace::ROW_BLOCK).

use super::attention::{Attention, Gradients, Saved};
use super::band::{self, Tokens};
use super::linear::Linear;
use super::pack::Packing;
use super::simd::Simd;
use super::workspace::{LayerScratch, LayerTape, elements, row_blocks};
use super::{gelu, layernorm};
use crate::NetworkShape;
use crate::layout::LayerLayout;
use std::f32::consts::LOG2_E;
use std::ops::Range;

/// One layer's parameters and sizes.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// Network sizes.
    pub network: &'a NetworkShape,
    /// Where the parameters lie.
    pub layout: &'a LayerLayout,
    /// Parameters of the branch.
    pub parameters: &'a [f32],
    /// The same with every matrix transposed.
    pub transposed: &'a [f32],
}

/// Which tokens ask, and where everything is.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Tokens that ask, as ascending indices into the N tokens (M).
    pub rows: &'a [u32],
    /// Patch index of every one of them, padded to whole blocks with the last one.
    pub query_positions: &'a [f32],
    /// Patch index of every token (N).
    pub key_positions: &'a [f32],
    /// Locality slope α.
    pub slope: f32,
}

impl Layer<'_> {
    fn get(&self, range: &Range<usize>) -> &[f32] {
        &self.parameters[range.clone()]
    }

    /// Columns `columns` of W_qkv.
    fn projection(&self, columns: Range<usize>) -> Linear<'_> {
        let d = self.network.d_model;
        Linear {
            n_in: d,
            n_out: columns.len(),
            w: &self.get(&self.layout.w_qkv)[columns.start..],
            stride: 3 * d,
            w_transposed: &self.transposed[self.layout.w_qkv.clone()][columns.start * d..],
            b: &self.get(&self.layout.b_qkv)[columns],
        }
    }

    fn dense(&self, w: &Range<usize>, b: &Range<usize>) -> Linear<'_> {
        Linear {
            n_in: w.len() / b.len(),
            n_out: b.len(),
            w: self.get(w),
            stride: b.len(),
            w_transposed: &self.transposed[w.clone()],
            b: self.get(b),
        }
    }

    fn packing(&self, n_rows: usize, lanes: usize) -> Packing {
        Packing {
            n_heads: self.network.n_heads,
            d_head: self.network.d_head(),
            lanes,
            n_rows,
        }
    }

    /// log₂e/√d_h, with which queries are multiplied.
    fn query_scale(&self) -> f32 {
        LOG2_E / (self.network.d_head() as f32).sqrt()
    }

    /// The attention of this layer over what the forward pass packed.
    fn attention<'b>(
        &self,
        scene: &Scene<'b>,
        packing: &Packing,
        core: AttentionInputs<'b>,
    ) -> Attention<'b> {
        Attention {
            n_heads: packing.n_heads,
            d_head: packing.d_head,
            slope: scene.slope * LOG2_E,
            key_positions: scene.key_positions,
            query_positions: &scene.query_positions[..packing.n_blocks() * packing.lanes],
            bands: core.bands,
            queries: core.queries,
            keys_values: core.keys_values,
        }
    }

    /// x (N×d) → y (M×d).
    pub fn forward<S: Simd>(
        &self,
        simd: S,
        scene: &Scene,
        x: &[f32],
        y: &mut [f32],
        tape: &mut LayerTape,
        scratch: &mut LayerScratch,
    ) {
        let layout = self.layout;
        let (d, f) = (self.network.d_model, self.network.d_ffn());
        let (n, m) = (scene.key_positions.len(), scene.rows.len());
        let packing = self.packing(m, S::LANES);

        for rows in row_blocks(n) {
            let part = elements(&rows, d);
            layernorm::forward(
                simd,
                d,
                &x[part.clone()],
                &mut tape.x_hat1[part.clone()],
                &mut tape.r1[rows.clone()],
            );
            let (gain, bias) = (self.get(&layout.norm1_gain), self.get(&layout.norm1_bias));
            let normed = &mut scratch.normed[part.clone()];
            layernorm::scale(simd, &tape.x_hat1[part], gain, bias, normed);
            let keys_values = &mut tape.keys_values[elements(&rows, 2 * d)];
            self.projection(d..3 * d)
                .forward(simd, rows.len(), normed, keys_values, false);
        }
        let gathered = &mut scratch.gathered[..m * d];
        let queries = &mut scratch.query_rows[..m * d];
        gather(scene.rows, d, &scratch.normed, gathered);
        self.projection(0..d).forward(simd, m, gathered, queries, false);

        let keys_values = &tape.keys_values[..n * 2 * d];
        let bands = &mut tape.bands[..packing.n_heads * packing.n_blocks()];
        let peaks = &mut tape.peaks[..packing.statistics_len()];
        let packed = &mut tape.queries[..packing.len()];
        let tokens = Tokens {
            rows: scene.rows,
            positions: scene.key_positions,
            causal: self.network.causal,
        };
        let scale = self.query_scale();
        band::choose(
            &packing,
            tokens,
            queries,
            keys_values,
            scale,
            scene.slope * LOG2_E,
            bands,
            peaks,
        );
        packing.pack(queries, scale, packed);
        let outputs = &mut tape.outputs[..packing.len()];
        let inverse_totals = &mut tape.inverse_totals[..packing.statistics_len()];
        let inputs = AttentionInputs {
            bands,
            queries: packed,
            keys_values,
        };
        self.attention(scene, &packing, inputs)
            .forward(simd, peaks, outputs, inverse_totals);
        packing.unpack(outputs, 1.0, &mut tape.mixed[..m * d]);

        gather(scene.rows, d, x, &mut y[..m * d]);
        for rows in row_blocks(m) {
            let (part, wide) = (elements(&rows, d), elements(&rows, f));
            let y = &mut y[part.clone()];
            self.dense(&layout.w_o, &layout.b_o).forward(
                simd,
                rows.len(),
                &tape.mixed[part.clone()],
                y,
                true,
            );
            layernorm::forward(
                simd,
                d,
                y,
                &mut tape.x_hat2[part.clone()],
                &mut tape.r2[rows.clone()],
            );
            let (gain, bias) = (self.get(&layout.norm2_gain), self.get(&layout.norm2_bias));
            let normed = &mut scratch.normed[..part.len()];
            layernorm::scale(simd, &tape.x_hat2[part], gain, bias, normed);
            let hidden = &mut scratch.hidden[..wide.len()];
            self.dense(&layout.w_1, &layout.b_1)
                .forward(simd, rows.len(), normed, hidden, false);
            let active = &mut tape.active[wide.clone()];
            gelu::forward(simd, hidden, active, &mut tape.active_slope[wide]);
            self.dense(&layout.w_2, &layout.b_2)
                .forward(simd, rows.len(), active, y, true);
        }
    }

    /// d_y (M×d) → d_x (N×d), overwritten; `d_y` is destroyed. Adds to `d_parameters`, returns ∂/∂α.
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        scene: &Scene,
        d_y: &mut [f32],
        d_x: &mut [f32],
        d_parameters: &mut [f32],
        tape: &LayerTape,
        scratch: &mut LayerScratch,
    ) -> f64 {
        let layout = self.layout;
        let (d, f) = (self.network.d_model, self.network.d_ffn());
        let (n, m) = (scene.key_positions.len(), scene.rows.len());
        let packing = self.packing(m, S::LANES);

        for rows in row_blocks(m) {
            let (part, wide) = (elements(&rows, d), elements(&rows, f));
            let d_y = &mut d_y[part.clone()];
            let active = &tape.active[wide.clone()];
            let d_hidden = &mut scratch.hidden[..wide.len()];
            let w_2 = self.dense(&layout.w_2, &layout.b_2);
            let [d_w, d_b] = two(d_parameters, &layout.w_2, &layout.b_2);
            w_2.backward_weights(simd, rows.len(), active, d_y, d_w, d_b);
            w_2.backward_input(simd, rows.len(), d_y, d_hidden, false);
            gelu::backward(simd, &tape.active_slope[wide], d_hidden);

            let x_hat = &tape.x_hat2[part.clone()];
            let (gain, bias) = (self.get(&layout.norm2_gain), self.get(&layout.norm2_bias));
            let normed = &mut scratch.normed[..part.len()];
            layernorm::scale(simd, x_hat, gain, bias, normed);
            let w_1 = self.dense(&layout.w_1, &layout.b_1);
            let [d_w, d_b] = two(d_parameters, &layout.w_1, &layout.b_1);
            w_1.backward_weights(simd, rows.len(), normed, d_hidden, d_w, d_b);
            let d_normed = &mut scratch.d_normed[..part.len()];
            w_1.backward_input(simd, rows.len(), d_hidden, d_normed, false);
            let [d_gain, d_bias] = two(d_parameters, &layout.norm2_gain, &layout.norm2_bias);
            layernorm::backward(
                simd,
                x_hat,
                &tape.r2[rows.clone()],
                gain,
                d_normed,
                d_y,
                d_gain,
                d_bias,
            );

            let w_o = self.dense(&layout.w_o, &layout.b_o);
            let [d_w, d_b] = two(d_parameters, &layout.w_o, &layout.b_o);
            w_o.backward_weights(simd, rows.len(), &tape.mixed[part.clone()], d_y, d_w, d_b);
            w_o.backward_input(simd, rows.len(), d_y, &mut scratch.d_mixed[part], false);
        }

        let (packed, statistics) = (packing.len(), packing.statistics_len());
        packing.pack(&scratch.d_mixed[..m * d], 1.0, &mut scratch.d_outputs[..packed]);
        let inputs = AttentionInputs {
            bands: &tape.bands[..packing.n_heads * packing.n_blocks()],
            queries: &tape.queries[..packed],
            keys_values: &tape.keys_values[..n * 2 * d],
        };
        let saved = Saved {
            peaks: &tape.peaks[..statistics],
            inverse_totals: &tape.inverse_totals[..statistics],
            outputs: &tape.outputs[..packed],
        };
        let mut gradients = Gradients {
            d_outputs: &mut scratch.d_outputs[..packed],
            means: &mut scratch.means[..statistics],
            d_queries: &mut scratch.d_queries[..packed],
            d_keys_values: &mut scratch.d_keys_values[..n * 2 * d],
        };
        let d_slope = self
            .attention(scene, &packing, inputs)
            .backward(simd, &saved, &mut gradients);

        let (gain, bias) = (self.get(&layout.norm1_gain), self.get(&layout.norm1_bias));
        for rows in row_blocks(n) {
            let part = elements(&rows, d);
            let normed = &mut scratch.normed[part.clone()];
            layernorm::scale(simd, &tape.x_hat1[part.clone()], gain, bias, normed);
            let d_keys_values = &scratch.d_keys_values[elements(&rows, 2 * d)];
            let w_kv = self.projection(d..3 * d);
            let [d_w, d_b] = two(d_parameters, &layout.w_qkv, &layout.b_qkv);
            w_kv.backward_weights(
                simd,
                rows.len(),
                normed,
                d_keys_values,
                &mut d_w[d..],
                &mut d_b[d..],
            );
            w_kv.backward_input(
                simd,
                rows.len(),
                d_keys_values,
                &mut scratch.d_normed[part],
                false,
            );
        }
        let (gathered, d_queries) = (&mut scratch.gathered[..m * d], &mut scratch.query_rows[..m * d]);
        gather(scene.rows, d, &scratch.normed, gathered);
        packing.unpack(
            &scratch.d_queries[..packed],
            1.0 / (packing.d_head as f32).sqrt(),
            d_queries,
        );
        let w_q = self.projection(0..d);
        let [d_w, d_b] = two(d_parameters, &layout.w_qkv, &layout.b_qkv);
        w_q.backward_weights(simd, m, gathered, d_queries, d_w, &mut d_b[..d]);
        let d_gathered = gathered; // its values are spent
        w_q.backward_input(simd, m, d_queries, d_gathered, false);
        scatter_add(scene.rows, d, d_gathered, &mut scratch.d_normed);

        d_x[..n * d].fill(0.0);
        scatter_add(scene.rows, d, d_y, d_x);
        let [d_gain, d_bias] = two(d_parameters, &layout.norm1_gain, &layout.norm1_bias);
        let (x_hat, d_normed) = (&tape.x_hat1[..n * d], &scratch.d_normed[..n * d]);
        layernorm::backward(
            simd,
            x_hat,
            &tape.r1[..n],
            gain,
            d_normed,
            &mut d_x[..n * d],
            d_gain,
            d_bias,
        );
        d_slope
    }
}

/// What attention reads besides the scene.
struct AttentionInputs<'a> {
    bands: &'a [band::Band],
    queries: &'a [f32],
    keys_values: &'a [f32],
}

/// Rows `rows` of `from` (N×d) → `to` (M×d).
fn gather(rows: &[u32], d: usize, from: &[f32], to: &mut [f32]) {
    for (&row, to) in rows.iter().zip(to.chunks_exact_mut(d)) {
        to.copy_from_slice(&from[row as usize * d..][..d]);
    }
}

/// Adds `from` (M×d) to rows `rows` of `to` (N×d).
fn scatter_add(rows: &[u32], d: usize, from: &[f32], to: &mut [f32]) {
    for (&row, from) in rows.iter().zip(from.chunks_exact(d)) {
        for (slot, &x) in to[row as usize * d..][..d].iter_mut().zip(from) {
            *slot += x;
        }
    }
}

/// Two disjoint tensors of the gradient at once.
pub fn two<'a>(values: &'a mut [f32], first: &Range<usize>, second: &Range<usize>) -> [&'a mut [f32]; 2] {
    values
        .get_disjoint_mut([first.clone(), second.clone()])
        .expect("tensors of a layout do not overlap")
}
