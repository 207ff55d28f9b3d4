//! x → y, leaving on the tape what the backward pass needs.

use super::super::attention::Forward;
use super::super::crew::Crew;
use super::super::shared::Shared;
use super::super::simd::Simd;
use super::super::split::{Ranges, elements, row_blocks, within};
use super::super::workspace::{Between, LayerTape, Scratch};
use super::super::{band, gelu, layernorm, pack};
use super::{Layer, Scene, gather};

impl Layer<'_> {
    /// x (N×d) → y (M×d).
    pub fn forward<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        x: &[f32],
        y: &mut [f32],
        tape: &mut LayerTape,
        between: &mut Between,
    ) {
        self.project(simd, crew, scene, x, tape, between);
        self.attend(simd, crew, scene, x, y, tape, between);
    }

    fn project<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        x: &[f32],
        tape: &mut LayerTape,
        between: &mut Between,
    ) {
        let (d, n_heads) = (self.network.d_model, self.network.n_heads);
        let (n, d_head) = (scene.key_positions.len(), self.network.d_head());
        let chunks = Ranges::chunks(n);
        let (x_hat, r) = (Shared::new(&mut tape.x_hat1), Shared::new(&mut tape.r1));
        let keys_values = Shared::new(&mut tape.keys_values);
        let key_rows = Shared::new(&mut between.key_rows);
        let query_rows = Shared::new(&mut between.query_rows);
        let longest_keys = Shared::new(&mut between.longest_keys);
        let (gain, bias) = (
            self.get(&self.layout.norm1_gain),
            self.get(&self.layout.norm1_bias),
        );
        crew.for_each(chunks.len(), |scratch, chunk| {
            // SAFETY: of every buffer a chunk takes its own row only.
            let longest = unsafe { longest_keys.part(elements(&(chunk..chunk + 1), n_heads)) };
            longest.fill(0.0);
            for rows in row_blocks(chunks.get(chunk)) {
                let asking = within(scene.rows, &rows);
                // SAFETY: chunks are disjoint, and so are the queries at their tokens.
                let (x_hat, r, key_rows, queries) = unsafe {
                    (
                        x_hat.part(elements(&rows, d)),
                        r.part(rows.clone()),
                        key_rows.part(elements(&rows, 2 * d)),
                        query_rows.part(elements(&asking, d)),
                    )
                };
                let normed = &mut scratch.normed[..rows.len() * d];
                layernorm::forward(simd, &x[elements(&rows, d)], gain, bias, x_hat, r, normed);
                self.projection(d..3 * d)
                    .forward(simd, rows.len(), normed, key_rows, false);
                let m = asking.len();
                let asking = &scene.rows[asking];
                let to_queries = self.projection(0..d);
                if m == rows.len() {
                    to_queries.forward(simd, m, normed, queries, false);
                } else {
                    let gathered = &mut scratch.gathered[..m * d];
                    gather(asking, rows.start, d, normed, gathered);
                    to_queries.forward(simd, m, gathered, queries, false);
                }
                for h in 0..n_heads {
                    let place = h * n + rows.start..h * n + rows.end;
                    // SAFETY: as above, for every head.
                    let head = unsafe { keys_values.part(elements(&place, 2 * d_head)) };
                    take_head(simd, h, d_head, key_rows, head);
                }
                for first in (0..rows.len()).step_by(S::LANES) {
                    let count = S::LANES.min(rows.len() - first);
                    let key = |lane: usize| &key_rows[(first + lane) * 2 * d..][..d];
                    pack::pack(simd, d, count, key, 1.0, &mut scratch.block);
                    band::raise_longest(simd, d_head, &scratch.block, longest);
                }
            }
        });
    }

    fn attend<S: Simd>(
        &self,
        simd: S,
        crew: &Crew<Scratch>,
        scene: &Scene,
        x: &[f32],
        y: &mut [f32],
        tape: &mut LayerTape,
        between: &mut Between,
    ) {
        let layout = self.layout;
        let (d, f, n_heads) = (
            self.network.d_model,
            self.network.d_ffn(),
            self.network.n_heads,
        );
        let (n, m) = (scene.key_positions.len(), scene.rows.len());
        let longest = longest_of_all(n_heads, Ranges::chunks(n).len(), &mut between.longest_keys);
        let keys_values = &tape.keys_values[..n * 2 * d];
        let (query_rows, key_rows) = (&between.query_rows[..m * d], &between.key_rows[..n * 2 * d]);
        let (queries, outputs) = (
            Shared::new(&mut tape.queries),
            Shared::new(&mut tape.outputs),
        );
        let (bands, peaks) = (Shared::new(&mut tape.bands), Shared::new(&mut tape.peaks));
        let inverse_totals = Shared::new(&mut tape.inverse_totals);
        let (mixed, y) = (Shared::new(&mut tape.mixed), Shared::new(y));
        let (x_hat, r) = (Shared::new(&mut tape.x_hat2), Shared::new(&mut tape.r2));
        let (active, active_slope) = (
            Shared::new(&mut tape.active),
            Shared::new(&mut tape.active_slope),
        );
        let items = Ranges::attention_rows(m);
        crew.for_each(items.len(), |scratch, item| {
            let rows = items.get(item);
            let blocks = rows.start / S::LANES..rows.end.div_ceil(S::LANES);
            let lanes = elements(&blocks, S::LANES);
            let (part, wide) = (elements(&rows, d), elements(&rows, f));
            // SAFETY: items are disjoint ranges of rows that begin with a block.
            let (queries, outputs, bands, peaks, inverse_totals) = unsafe {
                (
                    queries.part(elements(&lanes, d)),
                    outputs.part(elements(&lanes, d)),
                    bands.part(elements(&blocks, n_heads)),
                    peaks.part(elements(&lanes, n_heads)),
                    inverse_totals.part(elements(&lanes, n_heads)),
                )
            };
            // SAFETY: as above.
            let (mixed, y, x_hat, r, active, active_slope) = unsafe {
                (
                    mixed.part(part.clone()),
                    y.part(part.clone()),
                    x_hat.part(part.clone()),
                    r.part(rows.clone()),
                    active.part(wide.clone()),
                    active_slope.part(wide.clone()),
                )
            };
            for (b, asking) in scene.rows[rows.clone()].chunks(S::LANES).enumerate() {
                let first = rows.start + b * S::LANES;
                let block = elements(&(b..b + 1), d * S::LANES);
                let query = |lane: usize| &query_rows[(first + lane) * d..][..d];
                let scale = self.query_scale();
                pack::pack(
                    simd,
                    d,
                    asking.len(),
                    query,
                    scale,
                    &mut queries[block.clone()],
                );
                let key = |lane: usize| &key_rows[asking[lane] as usize * 2 * d..][..d];
                pack::pack(simd, d, asking.len(), key, 1.0, &mut scratch.block);
                band::choose(
                    simd,
                    self.tokens(scene),
                    asking,
                    &queries[block],
                    &scratch.block,
                    longest,
                    &mut bands[elements(&(b..b + 1), n_heads)],
                    &mut peaks[elements(&(b..b + 1), n_heads * S::LANES)],
                );
            }
            self.attention(scene, &scene.query_positions[lanes], keys_values)
                .forward(
                    simd,
                    Forward {
                        bands,
                        queries,
                        peaks,
                        outputs,
                        inverse_totals,
                    },
                );
            for (b, mixed) in mixed.chunks_mut(d * S::LANES).enumerate() {
                let column = |c: usize| &outputs[(b * d + c) * S::LANES..][..S::LANES];
                pack::unpack(simd, d, column, 1.0, mixed);
            }

            let m = rows.len();
            gather(&scene.rows[rows], 0, d, x, y);
            self.dense(&layout.w_o, &layout.b_o)
                .forward(simd, m, mixed, y, true);
            let (gain, bias) = (self.get(&layout.norm2_gain), self.get(&layout.norm2_bias));
            let normed = &mut scratch.normed[..m * d];
            layernorm::forward(simd, y, gain, bias, x_hat, r, normed);
            let hidden = &mut scratch.wide[..m * f];
            self.dense(&layout.w_1, &layout.b_1)
                .forward(simd, m, normed, hidden, false);
            gelu::forward(simd, hidden, active, active_slope);
            self.dense(&layout.w_2, &layout.b_2)
                .forward(simd, m, active, y, true);
        });
    }
}

/// Keys and values of all heads (rows × 2d) → those of head h (rows × 2d_h).
fn take_head<S: Simd>(simd: S, h: usize, d_head: usize, rows: &[f32], head: &mut [f32]) {
    let d = rows.len() / head.len() * d_head;
    simd.run(
        #[inline(always)]
        || {
            for (row, head) in rows
                .chunks_exact(2 * d)
                .zip(head.chunks_exact_mut(2 * d_head))
            {
                simd.for_each_vector(
                    d_head,
                    #[inline(always)]
                    |at, lanes| {
                        let from = h * d_head + at;
                        simd.put(head, at, lanes, simd.get(row, from, lanes));
                        simd.put(head, d_head + at, lanes, simd.get(row, d + from, lanes));
                    },
                );
            }
        },
    )
}

/// The largest ‖κ‖² per head, from those of the chunks (chunks × H).
fn longest_of_all(n_heads: usize, n_chunks: usize, longest_keys: &mut [f32]) -> &[f32] {
    let (all, others) = longest_keys.split_at_mut(n_heads);
    for other in others.chunks_exact(n_heads).take(n_chunks - 1) {
        for (longest, &other) in all.iter_mut().zip(other) {
            *longest = longest.max(other);
        }
    }
    all
}
