//! d_y → d_x, d_parameters and d_α.

use super::super::attention::{Gradients, Saved};
use super::super::crew::Crew;
use super::super::shared::Shared;
use super::super::simd::Simd;
use super::super::split::{Ranges, elements, row_blocks, within};
use super::super::workspace::{Between, GroupResult, LayerTape, Scratch};
use super::super::{gelu, layernorm, pack};
use super::{ChunkGradients, Layer, Scene, gather, scatter_add, two};
use std::ops::Range;

impl Layer<'_> {
    /// d_y (M×d) → d_x (N×d), overwritten; `d_y` is destroyed. Fills the layer's part of the
    /// chunks' gradients, returns ∂/∂α.
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        d_y: &mut [f32],
        d_x: &mut [f32],
        gradients: &ChunkGradients,
        tape: &LayerTape,
        between: &mut Between,
    ) -> f64 {
        self.d_feed(simd, crew, scene, d_y, gradients, tape, between);
        let d_slope = self.d_attend(simd, crew, scene, tape, between);
        self.d_project(simd, crew, scene, d_y, d_x, gradients, tape, between);
        d_slope
    }

    fn d_feed<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        d_y: &mut [f32],
        gradients: &ChunkGradients,
        tape: &LayerTape,
        between: &mut Between,
    ) {
        let layout = self.layout;
        let (d, f) = (self.network.d_model, self.network.d_ffn());
        let chunks = Ranges::chunks(scene.rows.len());
        let d_y = Shared::new(d_y);
        let d_outputs = Shared::new(&mut between.d_outputs);
        crew.for_each(chunks.len(), |scratch, chunk| {
            // SAFETY: a chunk has a gradient of its own.
            let gradient = unsafe { gradients.of(chunk) };
            let whole = chunks.get(chunk);
            for rows in row_blocks(whole.clone()) {
                let accumulate = rows.start > whole.start;
                let (m, part, wide) = (rows.len(), elements(&rows, d), elements(&rows, f));
                // SAFETY: chunks are disjoint ranges of rows.
                let d_y = unsafe { d_y.part(part.clone()) };
                let active = &tape.active[wide.clone()];
                let d_hidden = &mut scratch.wide[..m * f];
                let w_2 = self.dense(&layout.w_2, &layout.b_2);
                let [d_w, d_b] = two(gradient, &layout.w_2, &layout.b_2);
                w_2.backward_weights(simd, m, active, d_y, d_w, d_b, accumulate);
                w_2.backward_input(simd, m, d_y, d_hidden, false);
                gelu::backward(simd, &tape.active_slope[wide], d_hidden);

                let x_hat = &tape.x_hat2[part.clone()];
                let (gain, bias) = (self.get(&layout.norm2_gain), self.get(&layout.norm2_bias));
                let normed = &mut scratch.normed[..m * d];
                layernorm::scale(simd, x_hat, gain, bias, normed);
                let w_1 = self.dense(&layout.w_1, &layout.b_1);
                let [d_w, d_b] = two(gradient, &layout.w_1, &layout.b_1);
                w_1.backward_weights(simd, m, normed, d_hidden, d_w, d_b, accumulate);
                let d_normed = &mut scratch.d_normed[..m * d];
                w_1.backward_input(simd, m, d_hidden, d_normed, false);
                let [d_gain, d_bias] = two(gradient, &layout.norm2_gain, &layout.norm2_bias);
                let r = &tape.r2[rows.clone()];
                layernorm::backward(
                    simd, x_hat, r, gain, d_normed, d_y, d_gain, d_bias, accumulate,
                );

                let w_o = self.dense(&layout.w_o, &layout.b_o);
                let [d_w, d_b] = two(gradient, &layout.w_o, &layout.b_o);
                w_o.backward_weights(simd, m, &tape.mixed[part], d_y, d_w, d_b, accumulate);
                let d_mixed = &mut scratch.gathered[..m * d];
                w_o.backward_input(simd, m, d_y, d_mixed, false);

                let blocks = rows.start / S::LANES..rows.end.div_ceil(S::LANES);
                let lanes = elements(&blocks, S::LANES);
                // SAFETY: row blocks begin with a block of queries.
                let d_outputs = unsafe { d_outputs.part(elements(&lanes, d)) };
                for (b, block) in d_outputs.chunks_exact_mut(d * S::LANES).enumerate() {
                    let first = b * S::LANES;
                    let row = |lane: usize| &d_mixed[(first + lane) * d..][..d];
                    pack::pack(simd, d, S::LANES.min(m - first), row, 1.0, block);
                }
            }
        });
    }

    fn d_attend<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        tape: &LayerTape,
        between: &mut Between,
    ) -> f64 {
        let (n_heads, d_head) = (self.network.n_heads, self.network.d_head());
        let (d, n) = (self.network.d_model, scene.key_positions.len());
        let n_blocks = scene.rows.len().div_ceil(S::LANES);
        let lanes = n_blocks * S::LANES;
        let groups = Ranges::groups(n_blocks);
        let saved = Saved {
            bands: &tape.bands[..n_blocks * n_heads],
            queries: &tape.queries[..lanes * d],
            peaks: &tape.peaks[..lanes * n_heads],
            inverse_totals: &tape.inverse_totals[..lanes * n_heads],
            outputs: &tape.outputs[..lanes * d],
            d_outputs: &between.d_outputs[..lanes * d],
        };
        let attention = self.attention(
            scene,
            &scene.query_positions[..lanes],
            &tape.keys_values[..n * 2 * d],
        );
        let d_queries = Shared::new(&mut between.d_queries);
        let d_keys_values = Shared::new(&mut between.d_keys_values);
        let results = Shared::new(&mut between.groups);
        crew.for_each(n_heads * groups.len(), |scratch, item| {
            let (h, group) = (item / groups.len(), item % groups.len());
            let blocks = groups.get(group);
            let place = h * n_blocks + blocks.start..h * n_blocks + blocks.end;
            // SAFETY: every item has its own head and blocks, its own sums and its own result.
            let (d_queries, d_keys_values, result) = unsafe {
                (
                    d_queries.part(elements(&place, d_head * S::LANES)),
                    d_keys_values.part(elements(&(item..item + 1), n * 2 * d_head)),
                    &mut results.part(item..item + 1)[0],
                )
            };
            let (d_slope, keys) = attention.backward(
                simd,
                h,
                blocks,
                saved,
                Gradients {
                    d_queries,
                    d_keys_values,
                    group: &mut scratch.group,
                },
            );
            *result = GroupResult { d_slope, keys };
        });
        between.groups[..n_heads * groups.len()]
            .iter()
            .map(|result| result.d_slope)
            .sum()
    }

    fn d_project<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        d_z: &[f32],
        d_x: &mut [f32],
        gradients: &ChunkGradients,
        tape: &LayerTape,
        between: &Between,
    ) {
        let layout = self.layout;
        let (d, d_head) = (self.network.d_model, self.network.d_head());
        let n_blocks = scene.rows.len().div_ceil(S::LANES);
        let chunks = Ranges::chunks(scene.key_positions.len());
        let (gain, bias) = (self.get(&layout.norm1_gain), self.get(&layout.norm1_bias));
        let d_x = Shared::new(d_x);
        crew.for_each(chunks.len(), |scratch, chunk| {
            // SAFETY: a chunk has a gradient of its own.
            let gradient = unsafe { gradients.of(chunk) };
            let whole = chunks.get(chunk);
            for rows in row_blocks(whole.clone()) {
                let accumulate = rows.start > whole.start;
                let (count, part) = (rows.len(), elements(&rows, d));
                let asking = within(scene.rows, &rows);
                let x_hat = &tape.x_hat1[part.clone()];
                let normed = &mut scratch.normed[..count * d];
                layernorm::scale(simd, x_hat, gain, bias, normed);

                let d_keys_values = &mut scratch.d_keys_values[..count * 2 * d];
                self.sum_over_groups(simd, scene, &rows, between, d_keys_values);
                let w_kv = self.projection(d..3 * d);
                let [d_w, d_b] = two(gradient, &layout.w_qkv, &layout.b_qkv);
                let (d_w_kv, d_b_kv) = (&mut d_w[d..], &mut d_b[d..]);
                w_kv.backward_weights(
                    simd,
                    count,
                    normed,
                    d_keys_values,
                    d_w_kv,
                    d_b_kv,
                    accumulate,
                );
                let d_normed = &mut scratch.d_normed[..count * d];
                w_kv.backward_input(simd, count, d_keys_values, d_normed, false);

                // The queries of these rows, with the rest of their first and last block.
                let blocks = asking.start / S::LANES..asking.end.div_ceil(S::LANES);
                let scale = 1.0 / (d_head as f32).sqrt();
                for (to, block) in scratch
                    .query_rows
                    .chunks_exact_mut(d * S::LANES)
                    .zip(blocks.clone())
                {
                    let column = |c: usize| {
                        let at = ((c / d_head * n_blocks + block) * d_head + c % d_head) * S::LANES;
                        &between.d_queries[at..][..S::LANES]
                    };
                    pack::unpack(simd, d, column, scale, to);
                }
                let m = asking.len();
                let first = asking.start - blocks.start * S::LANES;
                let d_queries = &scratch.query_rows[first * d..][..m * d];
                let w_q = self.projection(0..d);
                let asking_rows = &scene.rows[asking.clone()];
                if m == count {
                    w_q.backward_weights(
                        simd,
                        m,
                        normed,
                        d_queries,
                        d_w,
                        &mut d_b[..d],
                        accumulate,
                    );
                    w_q.backward_input(simd, m, d_queries, d_normed, true);
                } else {
                    let gathered = &mut scratch.gathered[..m * d];
                    gather(asking_rows, rows.start, d, normed, gathered);
                    w_q.backward_weights(
                        simd,
                        m,
                        gathered,
                        d_queries,
                        d_w,
                        &mut d_b[..d],
                        accumulate,
                    );
                    w_q.backward_input(simd, m, d_queries, gathered, false);
                    scatter_add(asking_rows, rows.start, d, gathered, d_normed);
                }

                // SAFETY: chunks are disjoint ranges of rows.
                let d_x = unsafe { d_x.part(part) };
                if m == count {
                    d_x.copy_from_slice(&d_z[elements(&asking, d)]);
                } else {
                    d_x.fill(0.0);
                    scatter_add(asking_rows, rows.start, d, &d_z[elements(&asking, d)], d_x);
                }
                let [d_gain, d_bias] = two(gradient, &layout.norm1_gain, &layout.norm1_bias);
                let r = &tape.r1[rows];
                layernorm::backward(
                    simd, x_hat, r, gain, d_normed, d_x, d_gain, d_bias, accumulate,
                );
            }
        });
    }

    /// Gradients of keys and values at the tokens `rows` (rows × 2d), from the sums of all heads
    /// and groups.
    fn sum_over_groups<S: Simd>(
        &self,
        simd: S,
        scene: &Scene,
        rows: &Range<usize>,
        between: &Between,
        d_keys_values: &mut [f32],
    ) {
        let (d, d_head) = (self.network.d_model, self.network.d_head());
        let n = scene.key_positions.len();
        let n_groups = Ranges::groups(scene.rows.len().div_ceil(S::LANES)).len();
        d_keys_values.fill(0.0);
        simd.run(
            #[inline(always)]
            || {
                for (item, result) in between.groups[..self.network.n_heads * n_groups]
                    .iter()
                    .enumerate()
                {
                    let h = item / n_groups;
                    for j in rows.start.max(result.keys.start)..rows.end.min(result.keys.end) {
                        let from =
                            &between.d_keys_values[(item * n + j) * 2 * d_head..][..2 * d_head];
                        let to = &mut d_keys_values[(j - rows.start) * 2 * d..][..2 * d];
                        for (half, from) in from.chunks_exact(d_head).enumerate() {
                            let to = &mut to[half * d + h * d_head..][..d_head];
                            simd.for_each_vector(
                                d_head,
                                #[inline(always)]
                                |at, lanes| {
                                    let sum = simd
                                        .add(simd.get(to, at, lanes), simd.get(from, at, lanes));
                                    simd.put(to, at, lanes, sum);
                                },
                            );
                        }
                    }
                }
            },
        )
    }
}
