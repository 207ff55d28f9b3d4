//! The forward pass: one sweep over the keys of a band, with logits, weights, softmax sum and
//! output in registers, of two blocks at a time where there are registers for it.

use super::super::band::{Band, KEY_GROUP, Side};
use super::super::math::{exp2, exp2_in_range};
use super::super::simd::Simd;
use super::{Attention, MAX_D_HEAD, differences};
use std::ops::Range;

/// What the forward pass reads and writes for consecutive blocks of queries, all heads.
pub struct Forward<'a> {
    /// Keys that each block of each head attends to, blocks × H.
    pub bands: &'a [Band],
    /// Queries times log₂e/√d_h, packed; unused lanes are 0.
    pub queries: &'a [f32],
    /// Upper bounds of the logits (statistics); replaced by the true maxima where the band is
    /// steep.
    pub peaks: &'a mut [f32],
    /// → o, packed.
    pub outputs: &'a mut [f32],
    /// → 1/Σ_j 2^(logit − peak), statistics.
    pub inverse_totals: &'a mut [f32],
}

impl Attention<'_> {
    /// Outputs and softmax sums of the blocks in `block`; `query_positions` belongs to these
    /// blocks.
    pub fn forward<S: Simd>(&self, simd: S, blocks: Forward) {
        let n_blocks = self.query_positions.len() / S::LANES;
        self.check::<S>(
            n_blocks,
            blocks.bands,
            blocks.queries.len(),
            blocks.peaks.len(),
        );
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
    fn forward_blocks<S: Simd, const WIDTH: usize, const FIXED: bool>(
        &self,
        simd: S,
        mut blocks: Forward,
    ) {
        for h in 0..self.n_heads {
            let mut at = h;
            while at < blocks.bands.len() {
                let next = at + self.n_heads;
                let together = S::WIDE
                    && FIXED
                    && next < blocks.bands.len()
                    && blocks.bands[at].shares_keys(&blocks.bands[next]);
                // SAFETY: `check` and the assertions of `forward` fix the lengths.
                at = unsafe {
                    if together {
                        self.forward_some::<S, WIDTH, FIXED, 2>(simd, h, [at, next], &mut blocks);
                        next + self.n_heads
                    } else {
                        self.forward_some::<S, WIDTH, FIXED, 1>(simd, h, [at], &mut blocks);
                        next
                    }
                };
            }
        }
    }

    /// Head h of the blocks whose bands are at `places`.
    #[inline(always)]
    unsafe fn forward_some<S: Simd, const WIDTH: usize, const FIXED: bool, const BLOCKS: usize>(
        &self,
        simd: S,
        h: usize,
        places: [usize; BLOCKS],
        blocks: &mut Forward,
    ) {
        let width = self.width::<WIDTH, FIXED>();
        // SAFETY: packed arrays hold width × lanes values from `packed` on, statistics hold lanes
        // values from `statistic` on, keys end before N.
        unsafe {
            let mut sweeps = [Sweep::<S, WIDTH> {
                q: blocks.queries.as_ptr(),
                position: simd.zero(),
                start: simd.zero(),
                total: simd.zero(),
                o: [simd.zero(); WIDTH],
            }; BLOCKS];
            let mut bands = [Band::default(); BLOCKS];
            for (b, at) in places.into_iter().enumerate() {
                let (packed, statistic) = (at * width * S::LANES, at * S::LANES);
                let sweep = &mut sweeps[b];
                bands[b] = blocks.bands[at];
                sweep.q = blocks.queries.as_ptr().add(packed);
                sweep.position = simd.load(
                    self.query_positions
                        .as_ptr()
                        .add(at / self.n_heads * S::LANES),
                );
                let peak_at = blocks.peaks.as_mut_ptr().add(statistic);
                if bands[b].steep {
                    simd.store(
                        peak_at,
                        self.true_peak::<S, WIDTH, FIXED>(simd, h, &bands[b], sweep),
                    );
                }
                sweep.start = simd.sub(simd.zero(), simd.load(peak_at));
            }
            // Steep blocks are alone, see `Band::shares_keys`.
            if BLOCKS == 1 && bands[0].steep {
                self.sweep::<S, WIDTH, FIXED, BLOCKS, true>(simd, h, &bands, &mut sweeps);
            } else {
                self.sweep::<S, WIDTH, FIXED, BLOCKS, false>(simd, h, &bands, &mut sweeps);
            }
            for (sweep, at) in sweeps.iter().zip(places) {
                let (packed, statistic) = (at * width * S::LANES, at * S::LANES);
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
                unsafe {
                    let q = simd.load(sweep.q.add(c * S::LANES));
                    logit = simd.mul_add(q, simd.splat(*key.add(c)), logit);
                }
            }
            if self.causal {
                logit = simd.select_non_negative(difference, logit, peak);
            }
            peak = simd.max(logit, peak);
        }
        peak
    }

    /// All keys of the bands: first those of one block only, then those of all, then again those of
    /// one only. Every block meets its keys in their order.
    #[inline(always)]
    unsafe fn sweep<
        S: Simd,
        const WIDTH: usize,
        const FIXED: bool,
        const BLOCKS: usize,
        const STEEP: bool,
    >(
        &self,
        simd: S,
        h: usize,
        bands: &[Band; BLOCKS],
        sweeps: &mut [Sweep<S, WIDTH>; BLOCKS],
    ) {
        let start = bands.iter().map(|band| band.start).max().unwrap_or(0);
        let end = bands.iter().map(|band| band.end).min().unwrap_or(0);
        // SAFETY: keys of a band exist.
        unsafe {
            if BLOCKS == 1 {
                self.sweep_keys::<S, WIDTH, FIXED, BLOCKS, STEEP>(
                    simd,
                    h,
                    bands,
                    start..end,
                    sweeps,
                );
                return;
            }
            for (band, sweep) in bands.iter().zip(sweeps.iter_mut()) {
                let (band, sweep) = (std::array::from_ref(band), std::array::from_mut(sweep));
                self.sweep_keys::<S, WIDTH, FIXED, 1, STEEP>(
                    simd,
                    h,
                    band,
                    band[0].start..start,
                    sweep,
                );
            }
            self.sweep_keys::<S, WIDTH, FIXED, BLOCKS, STEEP>(simd, h, bands, start..end, sweeps);
            for (band, sweep) in bands.iter().zip(sweeps.iter_mut()) {
                let (band, sweep) = (std::array::from_ref(band), std::array::from_mut(sweep));
                self.sweep_keys::<S, WIDTH, FIXED, 1, STEEP>(
                    simd,
                    h,
                    band,
                    end..band[0].end,
                    sweep,
                );
            }
        }
    }

    /// The keys `keys`, which all bands contain.
    #[inline(always)]
    unsafe fn sweep_keys<
        S: Simd,
        const WIDTH: usize,
        const FIXED: bool,
        const BLOCKS: usize,
        const STEEP: bool,
    >(
        &self,
        simd: S,
        h: usize,
        bands: &[Band; BLOCKS],
        keys: Range<usize>,
        sweeps: &mut [Sweep<S, WIDTH>; BLOCKS],
    ) {
        let mut j = keys.start;
        while j < keys.end {
            let mut side = bands[0].side(j);
            let mut until = keys.end;
            for band in bands {
                side = side.or(band.side(j));
                for edge in [band.middle, band.right] {
                    if edge > j {
                        until = until.min(edge);
                    }
                }
            }
            let slope = simd.splat(side.sign() * self.slope);
            // SAFETY: keys of a band exist.
            unsafe {
                while j + KEY_GROUP <= until {
                    if side != Side::Middle {
                        self.add_keys::<S, WIDTH, FIXED, BLOCKS, STEEP, KEY_GROUP, false, false>(
                            simd, h, j, slope, sweeps,
                        );
                    } else if self.causal {
                        self.add_keys::<S, WIDTH, FIXED, BLOCKS, STEEP, KEY_GROUP, true, true>(
                            simd, h, j, slope, sweeps,
                        );
                    } else {
                        self.add_keys::<S, WIDTH, FIXED, BLOCKS, STEEP, KEY_GROUP, true, false>(
                            simd, h, j, slope, sweeps,
                        );
                    }
                    j += KEY_GROUP;
                }
                let slope = simd.splat(self.slope);
                while j < until {
                    self.add_keys::<S, WIDTH, FIXED, BLOCKS, STEEP, 1, true, true>(
                        simd, h, j, slope, sweeps,
                    );
                    j += 1;
                }
            }
        }
    }

    /// Takes `KEYS` keys from j on into sums and outputs of the blocks, which share what is read of
    /// the keys. A query may come before a key only if `MIDDLE` and, should attention be causal,
    /// `CAUSAL`.
    #[inline(always)]
    unsafe fn add_keys<
        S: Simd,
        const WIDTH: usize,
        const FIXED: bool,
        const BLOCKS: usize,
        const STEEP: bool,
        const KEYS: usize,
        const MIDDLE: bool,
        const CAUSAL: bool,
    >(
        &self,
        simd: S,
        h: usize,
        j: usize,
        slope: S::V,
        sweeps: &mut [Sweep<S, WIDTH>; BLOCKS],
    ) {
        let width = self.width::<WIDTH, FIXED>();
        // SAFETY: the caller has seen to it that the keys exist; `check` fixed the lengths.
        unsafe {
            let key = self.key(width, h, j);
            let key_positions = self.key_positions.as_ptr().add(j);
            let mut weights = [[simd.zero(); KEYS]; BLOCKS];
            for b in 0..BLOCKS {
                let lengths =
                    differences::<S, KEYS, MIDDLE>(simd, sweeps[b].position, key_positions);
                for k in 0..KEYS {
                    weights[b][k] = simd.neg_mul_add(slope, lengths[k], sweeps[b].start);
                }
            }
            for c in 0..width {
                for k in 0..KEYS {
                    let key = simd.splat(*key.add(2 * k * width + c));
                    for b in 0..BLOCKS {
                        let q = simd.load(sweeps[b].q.add(c * S::LANES));
                        weights[b][k] = simd.mul_add(q, key, weights[b][k]);
                    }
                }
            }
            for b in 0..BLOCKS {
                for k in 0..KEYS {
                    weights[b][k] = weight::<S, STEEP>(simd, weights[b][k]);
                    if CAUSAL && self.causal {
                        let difference =
                            simd.sub(sweeps[b].position, simd.splat(*key_positions.add(k)));
                        weights[b][k] =
                            simd.select_non_negative(difference, weights[b][k], simd.zero());
                    }
                    sweeps[b].total = simd.add(sweeps[b].total, weights[b][k]);
                }
            }
            for k in 0..KEYS {
                for c in 0..width {
                    let value = simd.splat(*key.add((2 * k + 1) * width + c));
                    for b in 0..BLOCKS {
                        sweeps[b].o[c] = simd.mul_add(weights[b][k], value, sweeps[b].o[c]);
                    }
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

/// What stays in registers while the keys go by, and where the queries are.
#[derive(Clone, Copy)]
struct Sweep<S: Simd, const WIDTH: usize> {
    q: *const f32, // d_h × lanes
    position: S::V,
    start: S::V, // −peak
    total: S::V,
    o: [S::V; WIDTH],
}
