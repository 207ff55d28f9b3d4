//! Locality-biased attention, fused per head: no N×N buffer exists.
//!
//! ```text
//! logit_ij = ⟨q_i, κ_j⟩/√d_h − α|i−j|      A = softmax_j(logit)      o_i = Σ_j A_ij v_j
//! ```
//!
//! The lanes of a vector are queries. One *block* is as many queries as a vector has lanes; its logits against one
//! key take d_h products with broadcast elements of that key, and softmax sums and outputs stay lane by lane, so
//! that the forward pass has no sum across lanes at all. What the backward pass needs across lanes (d_κ_j, d_v_j)
//! is accumulated over all blocks of a key first and summed once.
//!
//! Everything is in powers of two: queries carry log₂e/√d_h, the slope log₂e, and weights are 2^(logit − peak).
//! Keys outside the [`Band`] of a block are skipped. Which band, and which `peak`, [`super::band`] decides.
//!
//! *Packed* arrays below are H × blocks × d_h × lanes, see [`super::pack`]; *statistics* are H × blocks × lanes.

use super::band::Band;
use super::math::exp2;
use super::simd::{Lanes, Simd};
use std::f32::consts::LN_2;

/// The widest head that the engine accepts.
pub const MAX_D_HEAD: usize = 512;

/// What the forward and the backward pass share.
pub struct Attention<'a> {
    /// Heads H.
    pub n_heads: usize,
    /// Width of one head d_h.
    pub d_head: usize,
    /// α·log₂e.
    pub slope: f32,
    /// Patch index of every key (N).
    pub key_positions: &'a [f32],
    /// Patch index of every query, blocks × lanes; lanes beyond the last query repeat it.
    pub query_positions: &'a [f32],
    /// Keys that each block of each head attends to, H × blocks.
    pub bands: &'a [Band],
    /// Queries times log₂e/√d_h, packed; unused lanes are 0.
    pub queries: &'a [f32],
    /// Keys and values side by side (N×2d).
    pub keys_values: &'a [f32],
}

impl Attention<'_> {
    /// → outputs o, packed; 1/Σ_j 2^(logit − peak), statistics. `peaks` (statistics) come in as upper bounds and are
    /// replaced by the true maxima where the band asks for it.
    pub fn forward<S: Simd>(
        &self,
        simd: S,
        peaks: &mut [f32],
        outputs: &mut [f32],
        inverse_totals: &mut [f32],
    ) {
        self.check::<S>();
        assert!(peaks.len() == self.query_positions.len() * self.n_heads);
        assert!(inverse_totals.len() == peaks.len() && outputs.len() == self.queries.len());
        match self.d_head {
            4 => simd.run(
                #[inline(always)]
                || self.forward_heads::<S, 4, true>(simd, peaks, outputs, inverse_totals),
            ),
            8 => simd.run(
                #[inline(always)]
                || self.forward_heads::<S, 8, true>(simd, peaks, outputs, inverse_totals),
            ),
            _ => simd.run(
                #[inline(always)]
                || self.forward_heads::<S, MAX_D_HEAD, false>(simd, peaks, outputs, inverse_totals),
            ),
        }
    }

    /// With d_A_ij = ⟨d_o_i, v_j⟩ and d_logit = A∘(d_A − Σ_j A d_A): fills `d`, returns ∂/∂α.
    pub fn backward<S: Simd>(&self, simd: S, saved: &Saved, d: &mut Gradients) -> f64 {
        self.check::<S>();
        assert!(saved.peaks.len() == self.query_positions.len() * self.n_heads);
        assert!(saved.inverse_totals.len() == saved.peaks.len() && d.means.len() == saved.peaks.len());
        assert!(saved.outputs.len() == self.queries.len() && d.d_outputs.len() == self.queries.len());
        assert!(d.d_queries.len() == self.queries.len() && d.d_keys_values.len() == self.keys_values.len());
        match self.d_head {
            4 => simd.run(
                #[inline(always)]
                || self.backward_heads::<S, 4, true>(simd, saved, d),
            ),
            8 => simd.run(
                #[inline(always)]
                || self.backward_heads::<S, 8, true>(simd, saved, d),
            ),
            _ => simd.run(
                #[inline(always)]
                || self.backward_heads::<S, MAX_D_HEAD, false>(simd, saved, d),
            ),
        }
    }

    /// The lengths on which the pointer arithmetic below relies.
    fn check<S: Simd>(&self) {
        let n_blocks = self.query_positions.len() / S::LANES;
        assert!(self.d_head >= 1 && self.d_head <= MAX_D_HEAD);
        assert!(
            self.query_positions.len() == n_blocks * S::LANES && self.bands.len() == self.n_heads * n_blocks
        );
        assert!(self.queries.len() == self.query_positions.len() * self.n_heads * self.d_head);
        assert!(self.keys_values.len() == self.key_positions.len() * 2 * self.n_heads * self.d_head);
        assert!(self.bands.iter().all(|band| band.end <= self.key_positions.len()));
    }

    /// Width of a head: the constant `WIDTH` if `FIXED`, so that loops over it unroll.
    #[inline(always)]
    fn width<const WIDTH: usize, const FIXED: bool>(&self) -> usize {
        if FIXED { WIDTH } else { self.d_head }
    }

    /// Key of head h of token j; its value lies d further on.
    #[inline(always)]
    fn key(&self, h: usize, j: usize) -> *const f32 {
        let d = self.n_heads * self.d_head;
        self.keys_values[j * 2 * d + h * self.d_head..].as_ptr()
    }

    #[inline(always)]
    fn forward_heads<S: Simd, const WIDTH: usize, const FIXED: bool>(
        &self,
        simd: S,
        peaks: &mut [f32],
        outputs: &mut [f32],
        inverse_totals: &mut [f32],
    ) {
        let width = self.width::<WIDTH, FIXED>();
        let n_blocks = self.query_positions.len() / S::LANES;
        let d = self.n_heads * width;
        for (at, band) in self.bands.iter().enumerate() {
            let (h, block) = (at / n_blocks, at % n_blocks);
            let packed = at * width * S::LANES;
            // SAFETY: `check` and the assertions of `forward` fix the lengths: packed arrays hold width × lanes
            // values from `packed` on, statistics hold lanes values from `at * lanes` on, keys end before N.
            unsafe {
                let mut q = [simd.zero(); WIDTH];
                for c in 0..width {
                    q[c] = simd.load(self.queries.as_ptr().add(packed + c * S::LANES));
                }
                let position = simd.load(self.query_positions.as_ptr().add(block * S::LANES));
                let slope = simd.splat(self.slope);
                let peak_at = peaks.as_mut_ptr().add(at * S::LANES);
                if band.needs_true_peaks {
                    let mut peak = simd.splat(f32::NEG_INFINITY);
                    for j in band.start..band.end {
                        let distance = simd.sub(position, simd.splat(self.key_positions[j]));
                        let value = logit(
                            simd,
                            &q[..width],
                            self.key(h, j),
                            simd.neg_mul_add(slope, simd.abs(distance), simd.zero()),
                        );
                        let value = if j < band.free {
                            value
                        } else {
                            simd.select_non_negative(distance, value, peak)
                        };
                        peak = simd.max(value, peak);
                    }
                    simd.store(peak_at, peak);
                }
                let start = simd.sub(simd.zero(), simd.load(peak_at));
                let mut total = simd.zero();
                let mut o = [simd.zero(); WIDTH];
                for j in band.start..band.end {
                    let key = self.key(h, j);
                    let distance = simd.sub(position, simd.splat(*self.key_positions.get_unchecked(j)));
                    let mut weight = exp2(
                        simd,
                        logit(
                            simd,
                            &q[..width],
                            key,
                            simd.neg_mul_add(slope, simd.abs(distance), start),
                        ),
                    );
                    if j >= band.free {
                        weight = simd.select_non_negative(distance, weight, simd.zero());
                    }
                    total = simd.add(total, weight);
                    for c in 0..width {
                        o[c] = simd.mul_add(weight, simd.splat(*key.add(d + c)), o[c]);
                    }
                }
                let inverse = simd.div(simd.splat(1.0), total);
                simd.store(inverse_totals.as_mut_ptr().add(at * S::LANES), inverse);
                for c in 0..width {
                    simd.store(
                        outputs.as_mut_ptr().add(packed + c * S::LANES),
                        simd.mul(o[c], inverse),
                    );
                }
            }
        }
    }

    #[inline(always)]
    fn backward_heads<S: Simd, const WIDTH: usize, const FIXED: bool>(
        &self,
        simd: S,
        saved: &Saved,
        gradients: &mut Gradients,
    ) -> f64 {
        let Gradients {
            d_outputs,
            means,
            d_queries,
            d_keys_values,
        } = gradients;
        let width = self.width::<WIDTH, FIXED>();
        let n_blocks = self.query_positions.len() / S::LANES;
        let d = self.n_heads * width;
        divide_by_totals(simd, width, saved, d_outputs, means);
        d_queries.fill(0.0);
        let mut d_slope = 0.0;
        for h in 0..self.n_heads {
            let bands = &self.bands[h * n_blocks..][..n_blocks];
            let mut d_slope_lanes = simd.zero();
            for j in 0..self.key_positions.len() {
                let key = self.key(h, j);
                let key_position = simd.splat(self.key_positions[j]);
                let slope = simd.splat(self.slope);
                let mut d_key_value = [[simd.zero(); WIDTH]; 2];
                for (block, band) in bands.iter().enumerate() {
                    if j < band.start || j >= band.end {
                        continue;
                    }
                    let at = (h * n_blocks + block) * S::LANES;
                    // SAFETY: as in `forward_heads`.
                    unsafe {
                        let q = self.queries.as_ptr().add(at * width);
                        let d_o = d_outputs.as_ptr().add(at * width);
                        let d_q = d_queries.as_mut_ptr().add(at * width);
                        let position = simd.load(self.query_positions.as_ptr().add(block * S::LANES));
                        let distance = simd.sub(position, key_position);
                        let length = simd.abs(distance);
                        let start = simd.sub(simd.zero(), simd.load(saved.peaks.as_ptr().add(at)));
                        let mut logit = simd.neg_mul_add(slope, length, start);
                        let mut d_weight = simd.sub(simd.zero(), simd.load(means.as_ptr().add(at)));
                        for c in 0..width {
                            logit =
                                simd.mul_add(simd.load(q.add(c * S::LANES)), simd.splat(*key.add(c)), logit);
                            let value = simd.splat(*key.add(d + c));
                            d_weight = simd.mul_add(simd.load(d_o.add(c * S::LANES)), value, d_weight);
                        }
                        let mut weight = exp2(simd, logit);
                        if j >= band.free {
                            weight = simd.select_non_negative(distance, weight, simd.zero());
                        }
                        let d_logit = simd.mul(weight, d_weight);
                        d_slope_lanes = simd.neg_mul_add(d_logit, length, d_slope_lanes);
                        for c in 0..width {
                            let slot = d_q.add(c * S::LANES);
                            simd.store(
                                slot,
                                simd.mul_add(d_logit, simd.splat(*key.add(c)), simd.load(slot)),
                            );
                            d_key_value[0][c] =
                                simd.mul_add(d_logit, simd.load(q.add(c * S::LANES)), d_key_value[0][c]);
                            d_key_value[1][c] =
                                simd.mul_add(weight, simd.load(d_o.add(c * S::LANES)), d_key_value[1][c]);
                        }
                    }
                }
                let row = &mut d_keys_values[j * 2 * d..][..2 * d];
                let (d_key, d_value) = row.split_at_mut(d);
                let (d_key, d_value) = (
                    &mut d_key[h * width..][..width],
                    &mut d_value[h * width..][..width],
                );
                if FIXED {
                    let mut sums = [[0.0; WIDTH]; 2];
                    simd.sums(d_key_value.as_flattened(), sums.as_flattened_mut());
                    d_key.copy_from_slice(&sums[0]);
                    d_value.copy_from_slice(&sums[1]);
                } else {
                    simd.sums(&d_key_value[0][..width], d_key);
                    simd.sums(&d_key_value[1][..width], d_value);
                }
                d_key.iter_mut().for_each(|x| *x *= LN_2); // the queries carry log₂e
            }
            d_slope += f64::from(simd.sum(d_slope_lanes));
        }
        d_slope
    }
}

/// What the forward pass leaves for the backward pass.
pub struct Saved<'a> {
    /// Peaks that the forward pass subtracted (statistics).
    pub peaks: &'a [f32],
    /// Reciprocal softmax sums (statistics).
    pub inverse_totals: &'a [f32],
    /// Outputs o, packed.
    pub outputs: &'a [f32],
}

/// What the backward pass reads, destroys and writes.
pub struct Gradients<'a> {
    /// Gradient of the outputs, packed with unused lanes 0; divided by the softmax sums in place.
    pub d_outputs: &'a mut [f32],
    /// Scratch: Σ_j A_ij d_A_ij over the softmax sum (statistics).
    pub means: &'a mut [f32],
    /// Gradient of √d_h·q_i, packed, overwritten.
    pub d_queries: &'a mut [f32],
    /// Gradient of keys and values (N×2d), overwritten.
    pub d_keys_values: &'a mut [f32],
}

/// start + ⟨q, key⟩.
///
/// # Safety
/// `key` must be valid for reading as many values as `q` has.
#[inline(always)]
unsafe fn logit<S: Simd>(simd: S, q: &[S::V], key: *const f32, start: S::V) -> S::V {
    let mut logit = start;
    for (c, &q) in q.iter().enumerate() {
        // SAFETY: the caller's contract.
        logit = simd.mul_add(q, unsafe { simd.splat(*key.add(c)) }, logit);
    }
    logit
}

/// d_o /= Σ weights, and mean = ⟨d_o, o⟩ of the result: then A·(d_A − mean) is weight·(d_A′ − mean′), free of the sum.
#[inline(always)]
fn divide_by_totals<S: Simd>(simd: S, width: usize, saved: &Saved, d_outputs: &mut [f32], means: &mut [f32]) {
    let lanes = Lanes(S::LANES);
    for at in (0..means.len()).step_by(S::LANES) {
        let inverse = simd.get(saved.inverse_totals, at, lanes);
        let mut mean = simd.zero();
        for c in 0..width {
            let packed = at * width + c * S::LANES;
            let d_o = simd.mul(inverse, simd.get(d_outputs, packed, lanes));
            simd.put(d_outputs, packed, lanes, d_o);
            mean = simd.mul_add(d_o, simd.get(saved.outputs, packed, lanes), mean);
        }
        simd.put(means, at, lanes, mean);
    }
}
