//! The forward pass: one sweep over the keys of a band, with logits, weights, softmax sum and output in registers.

use super::super::band::{Band, KEY_GROUP, Side};
use super::super::math::{exp2, exp2_in_range};
use super::super::simd::Simd;
use super::{Attention, MAX_D_HEAD, differences};

/// What the forward pass reads and writes for consecutive blocks of queries, all heads.
pub struct Forward<'a> {
    /// Keys that each block of each head attends to, blocks × H.
    pub bands: &'a [Band],
    /// Queries times log₂e/√d_h, packed; unused lanes are 0.
    pub queries: &'a [f32],
    /// Upper bounds of the logits (statistics); replaced by the true maxima where the band is steep.
    pub peaks: &'a mut [f32],
    /// → o, packed.
    pub outputs: &'a mut [f32],
    /// → 1/Σ_j 2^(logit − peak), statistics.
    pub inverse_totals: &'a mut [f32],
}

impl Attention<'_> {
    /// Outputs and softmax sums of the blocks in `block`; `query_positions` belongs to these blocks.
    pub fn forward<S: Simd>(&self, simd: S, blocks: Forward) {
        let n_blocks = self.query_positions.len() / S::LANES;
        self.check::<S>(n_blocks, blocks.bands, blocks.queries.len(), blocks.peaks.len());
        assert!(blocks.outputs.len() == blocks.queries.len());
        assert!(blocks.inverse_totals.len() == blocks.peaks.len());
        match self.d_head {
            4 => simd.run(
                #[inline(always)]
                || self.forward_blocks::<S, 4, true>(simd, blocks),
            ),
            8 => simd.run(
                #[inline(always)]
                || self.forward_blocks::<S, 8, true>(simd, blocks),
            ),
            16 => simd.run(
                #[inline(always)]
                || self.forward_blocks::<S, 16, true>(simd, blocks),
            ),
            _ => simd.run(
                #[inline(always)]
                || self.forward_blocks::<S, MAX_D_HEAD, false>(simd, blocks),
            ),
        }
    }

    #[inline(always)]
    fn forward_blocks<S: Simd, const WIDTH: usize, const FIXED: bool>(&self, simd: S, blocks: Forward) {
        let width = self.width::<WIDTH, FIXED>();
        for (at, band) in blocks.bands.iter().enumerate() {
            let (block, h) = (at / self.n_heads, at % self.n_heads);
            let (packed, statistic) = (at * width * S::LANES, at * S::LANES);
            // SAFETY: `check` and the assertions of `forward` fix the lengths: packed arrays hold width × lanes
            // values from `packed` on, statistics hold lanes values from `statistic` on, keys end before N.
            unsafe {
                let position = simd.load(self.query_positions.as_ptr().add(block * S::LANES));
                let mut sweep = Sweep::<S, WIDTH> {
                    q: [simd.zero(); WIDTH],
                    position,
                    start: simd.zero(),
                    total: simd.zero(),
                    o: [simd.zero(); WIDTH],
                };
                for c in 0..width {
                    sweep.q[c] = simd.load(blocks.queries.as_ptr().add(packed + c * S::LANES));
                }
                let peak_at = blocks.peaks.as_mut_ptr().add(statistic);
                if band.steep {
                    simd.store(peak_at, self.true_peak::<S, WIDTH, FIXED>(simd, h, band, &sweep));
                }
                sweep.start = simd.sub(simd.zero(), simd.load(peak_at));
                if band.steep {
                    self.sweep::<S, WIDTH, FIXED, true>(simd, h, band, &mut sweep);
                } else {
                    self.sweep::<S, WIDTH, FIXED, false>(simd, h, band, &mut sweep);
                }
                let inverse = simd.div(simd.splat(1.0), sweep.total);
                simd.store(blocks.inverse_totals.as_mut_ptr().add(statistic), inverse);
                for c in 0..width {
                    let to = blocks.outputs.as_mut_ptr().add(packed + c * S::LANES);
                    simd.store(to, simd.mul(sweep.o[c], inverse));
                }
            }
        }
    }

    /// The largest logit of every query of a block.
    #[inline(always)]
    unsafe fn true_peak<S: Simd, const WIDTH: usize, const FIXED: bool>(
        &self,
        simd: S,
        h: usize,
        band: &Band,
        sweep: &Sweep<S, WIDTH>,
    ) -> S::V {
        let (width, slope) = (self.width::<WIDTH, FIXED>(), simd.splat(self.slope));
        let mut peak = simd.splat(f32::NEG_INFINITY);
        for j in band.start..band.end {
            // SAFETY: keys of a band exist.
            let key = unsafe { self.key(width, h, j) };
            let difference = simd.sub(sweep.position, simd.splat(self.key_positions[j]));
            let mut logit = simd.neg_mul_add(slope, simd.abs(difference), simd.zero());
            for c in 0..width {
                // SAFETY: a key is width long.
                logit = simd.mul_add(sweep.q[c], simd.splat(unsafe { *key.add(c) }), logit);
            }
            if self.causal {
                logit = simd.select_non_negative(difference, logit, peak);
            }
            peak = simd.max(logit, peak);
        }
        peak
    }

    #[inline(always)]
    unsafe fn sweep<S: Simd, const WIDTH: usize, const FIXED: bool, const STEEP: bool>(
        &self,
        simd: S,
        h: usize,
        band: &Band,
        sweep: &mut Sweep<S, WIDTH>,
    ) {
        for (keys, side) in band.sides() {
            let slope = simd.splat(side.sign() * self.slope);
            let mut j = keys.start;
            // SAFETY: keys of a band exist.
            unsafe {
                if side == Side::Middle {
                    while j + KEY_GROUP <= keys.end {
                        self.add_keys::<S, WIDTH, FIXED, STEEP, KEY_GROUP, true>(simd, h, j, slope, sweep);
                        j += KEY_GROUP;
                    }
                } else {
                    while j + KEY_GROUP <= keys.end {
                        self.add_keys::<S, WIDTH, FIXED, STEEP, KEY_GROUP, false>(simd, h, j, slope, sweep);
                        j += KEY_GROUP;
                    }
                }
                let slope = simd.splat(self.slope);
                for j in j..keys.end {
                    self.add_keys::<S, WIDTH, FIXED, STEEP, 1, true>(simd, h, j, slope, sweep);
                }
            }
        }
    }

    /// Takes `KEYS` keys from j on into sum and output.
    #[inline(always)]
    unsafe fn add_keys<
        S: Simd,
        const WIDTH: usize,
        const FIXED: bool,
        const STEEP: bool,
        const KEYS: usize,
        const MIDDLE: bool,
    >(
        &self,
        simd: S,
        h: usize,
        j: usize,
        slope: S::V,
        sweep: &mut Sweep<S, WIDTH>,
    ) {
        let width = self.width::<WIDTH, FIXED>();
        // SAFETY: the caller has seen to it that the keys exist; `check` fixed the lengths.
        unsafe {
            let key = self.key(width, h, j);
            let key_positions = self.key_positions.as_ptr().add(j);
            let lengths = differences::<S, KEYS, MIDDLE>(simd, sweep.position, key_positions);
            let mut weights = [simd.zero(); KEYS];
            for k in 0..KEYS {
                weights[k] = simd.neg_mul_add(slope, lengths[k], sweep.start);
            }
            for c in 0..width {
                for k in 0..KEYS {
                    weights[k] =
                        simd.mul_add(sweep.q[c], simd.splat(*key.add(2 * k * width + c)), weights[k]);
                }
            }
            for k in 0..KEYS {
                weights[k] = weight::<S, STEEP>(simd, weights[k]);
                if MIDDLE && self.causal {
                    let difference = simd.sub(sweep.position, simd.splat(*key_positions.add(k)));
                    weights[k] = simd.select_non_negative(difference, weights[k], simd.zero());
                }
                sweep.total = simd.add(sweep.total, weights[k]);
            }
            for k in 0..KEYS {
                let value = key.add((2 * k + 1) * width);
                for c in 0..width {
                    sweep.o[c] = simd.mul_add(weights[k], simd.splat(*value.add(c)), sweep.o[c]);
                }
            }
        }
    }
}

/// 2^logit; only steep bands have logits that need clamping.
#[inline(always)]
pub(super) fn weight<S: Simd, const STEEP: bool>(simd: S, logit: S::V) -> S::V {
    if STEEP {
        exp2(simd, logit)
    } else {
        exp2_in_range(simd, logit)
    }
}

/// What stays in registers while the keys go by.
struct Sweep<S: Simd, const WIDTH: usize> {
    q: [S::V; WIDTH],
    position: S::V,
    start: S::V, // −peak
    total: S::V,
    o: [S::V; WIDTH],
}
