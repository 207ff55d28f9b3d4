//! The backward pass of one head over some blocks of queries.
//!
//! With d_A_ij = ⟨d_o_i, v_j⟩ and d_logit = A∘(d_A − Σ_j A d_A):
//!
//! ```text
//! d_q_i = Σ_j d_logit_ij κ_j      d_κ_j = Σ_i d_logit_ij q_i
//! d_v_j = Σ_i A_ij d_o_i          d_α   = −Σ_ij d_logit_ij |i−j|
//! ```
//!
//! Blocks are taken [`QUERY_GROUP`] at a time: all that belongs to one lies in one place, its
//! [`Member`], and stays in the first-level cache while the keys go by in groups of [`KEY_GROUP`].
//! For one such tile, A and d_logit are made block by block and kept; then d_κ and d_v of these
//! keys are summed over the blocks lane by lane in registers, and once across lanes.
//!
//! A member of a head of width 8 with vectors of 16 fills 2 KiB: what is read in its first half,
//! what is written in its second. So no read falls on the same place of a 4-KiB page as a recent
//! write to another member, which processors may take for the same address and wait. With buffers
//! of their own, the time of a step differed by a third between processes and builds; that this is
//! the reason was inferred from the cure, not seen in a counter.

use super::super::band::{Band, KEY_GROUP, Side};
use super::super::simd::Simd;
use super::forward::weight;
use super::{Attention, differences};
use std::f32::consts::LN_2;
use std::ops::Range;

/// Blocks of a tile: as many as fit, with all that belongs to them, into two thirds of a
/// first-level cache of 48 KiB if heads are 8 wide and vectors 16. The more they are, the fewer
/// sums across lanes there are.
const QUERY_GROUP: usize = 16;

/// What the forward pass left, for all blocks.
#[derive(Clone, Copy)]
pub struct Saved<'a> {
    /// Keys that each block of each head attends to, blocks × H.
    pub bands: &'a [Band],
    /// Queries times log₂e/√d_h, packed; unused lanes are 0.
    pub queries: &'a [f32],
    /// Peaks that the forward pass subtracted (statistics).
    pub peaks: &'a [f32],
    /// 1/Σ_j 2^(logit − peak), statistics.
    pub inverse_totals: &'a [f32],
    /// Outputs o, packed.
    pub outputs: &'a [f32],
    /// Gradient of the outputs, packed with unused lanes 0.
    pub d_outputs: &'a [f32],
}

/// What the backward pass of one head over some blocks writes.
pub struct Gradients<'a> {
    /// Gradient of √d_h·q_i, blocks × d_h × lanes, overwritten.
    pub d_queries: &'a mut [f32],
    /// Gradients of the keys and values of this head (N × 2d_h), overwritten inside the returned
    /// range of keys.
    pub d_keys_values: &'a mut [f32],
    /// Scratch, as long as [`group_len`] says.
    pub group: &'a mut [f32],
}

/// Length of the memory of all members of a group.
pub const fn group_len(d_head: usize, lanes: usize) -> usize {
    QUERY_GROUP * member_len(d_head) * lanes
}

/// Vectors of one member: queries, output gradients over the softmax sums and query gradients (d_h
/// each), weights and logit gradients of the keys at hand ([`KEY_GROUP`] each).
const fn member_len(d_head: usize) -> usize {
    3 * d_head + 2 * KEY_GROUP
}

impl Attention<'_> {
    /// Fills `d` for head `h` and the blocks `blocks`; returns ∂/∂α and the range of keys that
    /// these blocks look at.
    pub fn backward<S: Simd>(
        &self,
        simd: S,
        h: usize,
        blocks: Range<usize>,
        saved: Saved,
        d: Gradients,
    ) -> (f64, Range<usize>) {
        let n_blocks = self.query_positions.len() / S::LANES;
        self.check::<S>(
            n_blocks,
            saved.bands,
            saved.queries.len(),
            saved.peaks.len(),
        );
        assert!(
            saved.d_outputs.len() == saved.queries.len()
                && saved.outputs.len() == saved.queries.len()
        );
        assert!(saved.inverse_totals.len() == saved.peaks.len());
        assert!(blocks.end <= n_blocks && h < self.n_heads);
        assert!(d.d_queries.len() == blocks.len() * self.d_head * S::LANES);
        assert!(d.d_keys_values.len() == self.key_positions.len() * 2 * self.d_head);
        assert!(d.group.len() == group_len(self.d_head, S::LANES));
        match self.d_head {
            4 => simd.run(
                #[inline(always)]
                || self.backward_head::<S, 4, true>(simd, h, blocks, saved, d),
            ),
            8 => simd.run(
                #[inline(always)]
                || self.backward_head::<S, 8, true>(simd, h, blocks, saved, d),
            ),
            16 => simd.run(
                #[inline(always)]
                || self.backward_head::<S, 16, true>(simd, h, blocks, saved, d),
            ),
            _ => simd.run(
                #[inline(always)]
                || self.backward_head::<S, 1, false>(simd, h, blocks, saved, d),
            ),
        }
    }

    #[inline(always)]
    fn backward_head<S: Simd, const WIDTH: usize, const FIXED: bool>(
        &self,
        simd: S,
        h: usize,
        blocks: Range<usize>,
        saved: Saved,
        d: Gradients,
    ) -> (f64, Range<usize>) {
        let width = self.width::<WIDTH, FIXED>();
        let band = |block: usize| &saved.bands[block * self.n_heads + h];
        let reach = |blocks: Range<usize>| {
            let start = blocks.clone().map(|b| band(b).start).min().unwrap_or(0);
            start..blocks.map(|b| band(b).end).max().unwrap_or(0)
        };
        let keys = reach(blocks.clone());
        d.d_keys_values[keys.start * 2 * width..keys.end * 2 * width].fill(0.0);
        let mut pass = Pass {
            attention: self,
            simd,
            h,
            d_slope: simd.zero(),
        };
        // Taken once: a second borrow of the group would end the use of this one.
        let group_memory = d.group.as_mut_ptr();
        let mut members = [Member::<S> {
            memory: group_memory,
            band: Band::default(),
            position: simd.zero(),
            start: simd.zero(),
            mean: simd.zero(),
        }; QUERY_GROUP];
        for first in blocks.clone().step_by(QUERY_GROUP) {
            let group = first..(first + QUERY_GROUP).min(blocks.end);
            for (i, block) in group.clone().enumerate() {
                // SAFETY: the block exists, and there is room for `QUERY_GROUP` members; `backward`
                // asserted the lengths.
                unsafe {
                    let memory = group_memory.add(i * member_len(width) * S::LANES);
                    members[i] = pass.bring::<WIDTH, FIXED>(memory, block, &saved);
                }
            }
            let keys = reach(group.clone());
            let mut j = keys.start;
            while j < keys.end {
                let plan = Plan::new(&members[..group.len()], j..keys.end);
                while j < plan.end {
                    let count = KEY_GROUP.min(plan.end - j);
                    for tile in &plan.tiles[..plan.n_tiles] {
                        // SAFETY: keys of a band exist, and it ends between groups or at N, so all
                        // `count` are in it.
                        unsafe { pass.fill::<WIDTH, FIXED>(&members, tile, j, count) };
                    }
                    let rows = &mut d.d_keys_values[j * 2 * width..(j + count) * 2 * width];
                    // SAFETY: these are members.
                    unsafe {
                        pass.sum_over_blocks::<WIDTH, FIXED>(&plan.active[..plan.n_active], rows)
                    };
                    j += count;
                }
            }
            for (i, member) in members[..group.len()].iter().enumerate() {
                let at = (first - blocks.start + i) * width * S::LANES;
                let to = &mut d.d_queries[at..at + width * S::LANES];
                // SAFETY: a member's query gradients are d_h × lanes values.
                unsafe {
                    let from = member.memory.add(2 * width * S::LANES);
                    std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
                }
            }
        }
        (f64::from(simd.sum(pass.d_slope)), keys)
    }
}

/// Which members look at the next groups of keys, and which of them share what is read of the keys.
struct Plan {
    end: usize, // the key before which nothing of this changes
    active: [*mut f32; QUERY_GROUP],
    n_active: usize,
    tiles: [Tile; QUERY_GROUP],
    n_tiles: usize,
}

/// One or two members that meet the same keys.
#[derive(Clone, Copy)]
struct Tile {
    first: usize,
    second: Option<usize>,
    side: Side,
    steep: bool,
}

impl Plan {
    /// The plan from the first of `keys` on.
    #[inline(always)]
    fn new<S: Simd>(members: &[Member<S>], keys: Range<usize>) -> Plan {
        let j = keys.start;
        let nobody = Tile {
            first: 0,
            second: None,
            side: Side::Middle,
            steep: false,
        };
        let mut plan = Plan {
            end: keys.end,
            active: [std::ptr::null_mut(); QUERY_GROUP],
            n_active: 0,
            tiles: [nobody; QUERY_GROUP],
            n_tiles: 0,
        };
        let mut waiting: Option<Tile> = None;
        for (i, member) in members.iter().enumerate() {
            let band = &member.band;
            for edge in [band.start, band.middle, band.right, band.end] {
                if edge > j {
                    plan.end = plan.end.min(edge);
                }
            }
            if j < band.start || j >= band.end {
                continue;
            }
            plan.active[plan.n_active] = member.memory;
            plan.n_active += 1;
            let alone = Tile {
                first: i,
                second: None,
                side: band.side(j),
                steep: band.steep,
            };
            if alone.steep {
                plan.add(alone);
                continue;
            }
            match waiting.take() {
                Some(other) => plan.add(Tile {
                    second: Some(i),
                    side: other.side.or(alone.side),
                    ..other
                }),
                None => waiting = Some(alone),
            }
        }
        if let Some(tile) = waiting {
            plan.add(tile);
        }
        plan
    }

    #[inline(always)]
    fn add(&mut self, tile: Tile) {
        self.tiles[self.n_tiles] = tile;
        self.n_tiles += 1;
    }
}

/// One block of the group.
#[derive(Clone, Copy)]
struct Member<S: Simd> {
    memory: *mut f32, // see `member_len`
    band: Band,
    position: S::V,
    start: S::V, // −peak
    mean: S::V,  // Σ_j A_ij d_A_ij over the softmax sum
}

/// One head on its way over tiles.
struct Pass<'a, S: Simd> {
    attention: &'a Attention<'a>,
    simd: S,
    h: usize,
    d_slope: S::V,
}

impl<S: Simd> Pass<'_, S> {
    /// Makes a member of a block. Dividing d_o and the mean ⟨d_o, o⟩ by the softmax sum makes
    /// weight·(⟨d_o, v⟩ − mean) of A·(d_A − Σ A d_A), which is free of the sum.
    #[inline(always)]
    unsafe fn bring<const WIDTH: usize, const FIXED: bool>(
        &self,
        memory: *mut f32,
        block: usize,
        saved: &Saved,
    ) -> Member<S> {
        let (simd, width) = (self.simd, self.attention.width::<WIDTH, FIXED>());
        let at = (block * self.attention.n_heads + self.h) * S::LANES;
        // SAFETY: the caller's contract.
        unsafe {
            let inverse = simd.load(saved.inverse_totals.as_ptr().add(at));
            let mut mean = simd.zero();
            for c in 0..width {
                let from = at * width + c * S::LANES;
                let d_o = simd.mul(inverse, simd.load(saved.d_outputs.as_ptr().add(from)));
                mean = simd.mul_add(d_o, simd.load(saved.outputs.as_ptr().add(from)), mean);
                let q = simd.load(saved.queries.as_ptr().add(from));
                simd.store(memory.add(c * S::LANES), q);
                simd.store(memory.add((width + c) * S::LANES), d_o);
                simd.store(memory.add((2 * width + c) * S::LANES), simd.zero());
            }
            let position = self
                .attention
                .query_positions
                .as_ptr()
                .add(block * S::LANES);
            Member {
                memory,
                band: saved.bands[block * self.attention.n_heads + self.h],
                position: simd.load(position),
                start: simd.sub(simd.zero(), simd.load(saved.peaks.as_ptr().add(at))),
                mean,
            }
        }
    }

    /// Makes weights and logit gradients of a tile for `count` keys from j on, at most
    /// [`KEY_GROUP`].
    #[inline(always)]
    unsafe fn fill<const WIDTH: usize, const FIXED: bool>(
        &mut self,
        members: &[Member<S>; QUERY_GROUP],
        tile: &Tile,
        j: usize,
        count: usize,
    ) {
        let first = &members[tile.first];
        let second = tile.second.map(|i| &members[i]);
        // SAFETY: the caller's contract.
        unsafe {
            if tile.steep || count < KEY_GROUP {
                self.fill_one_by_one::<WIDTH, FIXED>(first, j, count);
                if let Some(second) = second {
                    self.fill_one_by_one::<WIDTH, FIXED>(second, j, count);
                }
            } else if let Some(second) = second {
                self.fill_group::<WIDTH, FIXED, 2>([first, second], tile.side, j);
            } else {
                self.fill_group::<WIDTH, FIXED, 1>([first], tile.side, j);
            }
        }
    }

    /// A whole group of keys, against blocks that share what is read of the keys.
    #[inline(always)]
    unsafe fn fill_group<const WIDTH: usize, const FIXED: bool, const BLOCKS: usize>(
        &mut self,
        members: [&Member<S>; BLOCKS],
        side: Side,
        j: usize,
    ) {
        // SAFETY: the caller's contract.
        unsafe {
            if side != Side::Middle {
                self.fill_keys::<WIDTH, FIXED, BLOCKS, KEY_GROUP, false, false, false>(
                    members, side, j, 0,
                );
            } else if self.attention.causal {
                self.fill_keys::<WIDTH, FIXED, BLOCKS, KEY_GROUP, false, true, true>(
                    members, side, j, 0,
                );
            } else {
                self.fill_keys::<WIDTH, FIXED, BLOCKS, KEY_GROUP, false, true, false>(
                    members, side, j, 0,
                );
            }
        }
    }

    /// Gradients of `count` keys from j on, one at a time: for one block with a steep band, or
    /// where N ends inside a group of keys.
    #[inline(always)]
    unsafe fn fill_one_by_one<const WIDTH: usize, const FIXED: bool>(
        &mut self,
        member: &Member<S>,
        j: usize,
        count: usize,
    ) {
        for k in 0..count {
            // SAFETY: the caller's contract.
            unsafe {
                self.fill_keys::<WIDTH, FIXED, 1, 1, true, true, true>([member], Side::Middle, j, k)
            };
        }
    }

    /// `KEYS` keys from j + first on. A query may come before a key only if `MIDDLE` and, should
    /// attention be causal, `CAUSAL`: a question that costs more than its answer, so it is asked
    /// outside.
    #[inline(always)]
    unsafe fn fill_keys<
        const WIDTH: usize,
        const FIXED: bool,
        const BLOCKS: usize,
        const KEYS: usize,
        const STEEP: bool,
        const MIDDLE: bool,
        const CAUSAL: bool,
    >(
        &mut self,
        members: [&Member<S>; BLOCKS],
        side: Side,
        j: usize,
        first: usize,
    ) {
        let (simd, attention) = (self.simd, self.attention);
        let width = attention.width::<WIDTH, FIXED>();
        let j = j + first;
        // SAFETY: the caller has seen to it that blocks and keys exist; `check` fixed the lengths.
        unsafe {
            let key = attention.key(width, self.h, j);
            let key_positions = attention.key_positions.as_ptr().add(j);
            let slope = simd.splat(side.sign() * attention.slope);
            let mut logits = [[simd.zero(); KEYS]; BLOCKS];
            let mut d_weights = [[simd.zero(); KEYS]; BLOCKS];
            for b in 0..BLOCKS {
                let lengths =
                    differences::<S, KEYS, MIDDLE>(simd, members[b].position, key_positions);
                for k in 0..KEYS {
                    logits[b][k] = simd.neg_mul_add(slope, lengths[k], members[b].start);
                    d_weights[b][k] = simd.sub(simd.zero(), members[b].mean);
                }
            }
            for c in 0..width {
                for k in 0..KEYS {
                    let key = key.add(2 * k * width + c);
                    let (value, key) = (simd.splat(*key.add(width)), simd.splat(*key));
                    for b in 0..BLOCKS {
                        let q = members[b].memory.add(c * S::LANES);
                        logits[b][k] = simd.mul_add(simd.load(q), key, logits[b][k]);
                        let d_o = simd.load(q.add(width * S::LANES));
                        d_weights[b][k] = simd.mul_add(d_o, value, d_weights[b][k]);
                    }
                }
            }
            let mut d_logits = [[simd.zero(); KEYS]; BLOCKS];
            for b in 0..BLOCKS {
                let position = members[b].position;
                let lengths = differences::<S, KEYS, MIDDLE>(simd, position, key_positions);
                let weights = members[b].memory.add((3 * width + first) * S::LANES);
                let mut d_lengths = simd.zero();
                for k in 0..KEYS {
                    let mut weight = weight::<S, STEEP>(simd, logits[b][k]);
                    if CAUSAL && attention.causal {
                        let difference = simd.sub(position, simd.splat(*key_positions.add(k)));
                        weight = simd.select_non_negative(difference, weight, simd.zero());
                    }
                    d_logits[b][k] = simd.mul(weight, d_weights[b][k]);
                    d_lengths = simd.mul_add(d_logits[b][k], lengths[k], d_lengths);
                    simd.store(weights.add(k * S::LANES), weight);
                    simd.store(weights.add((KEY_GROUP + k) * S::LANES), d_logits[b][k]);
                }
                self.d_slope = simd.neg_mul_add(simd.splat(side.sign()), d_lengths, self.d_slope);
            }
            for c in 0..width {
                let slot = |b: usize| members[b].memory.add((2 * width + c) * S::LANES);
                let mut sums = [simd.zero(); BLOCKS];
                for b in 0..BLOCKS {
                    sums[b] = simd.load(slot(b));
                }
                for k in 0..KEYS {
                    let key = simd.splat(*key.add(2 * k * width + c));
                    for b in 0..BLOCKS {
                        sums[b] = simd.mul_add(d_logits[b][k], key, sums[b]);
                    }
                }
                for b in 0..BLOCKS {
                    simd.store(slot(b), sums[b]);
                }
            }
        }
    }

    /// d_κ_j += ln 2 · Σ d_logit q (the queries carry log₂e) and d_v_j += Σ weight·d_o over the
    /// members, for the keys whose `rows` (keys × 2d_h) are given.
    #[inline(always)]
    unsafe fn sum_over_blocks<const WIDTH: usize, const FIXED: bool>(
        &self,
        members: &[*mut f32],
        rows: &mut [f32],
    ) {
        let (simd, width) = (self.simd, self.attention.width::<WIDTH, FIXED>());
        // Two keys share what is read of a member; weights meet output gradients, logit gradients
        // queries.
        for (pair, rows) in rows.chunks_mut(4 * width).enumerate() {
            for (what, place, scale) in [(KEY_GROUP, 0, LN_2), (0, width, 1.0)] {
                for c in (0..width).step_by(WIDTH) {
                    let mut sums = [[simd.zero(); WIDTH]; 2];
                    for &memory in members {
                        // SAFETY: the caller's contract.
                        unsafe {
                            let factors = memory.add((3 * width + what + 2 * pair) * S::LANES);
                            let factors = [simd.load(factors), simd.load(factors.add(S::LANES))];
                            let from = memory.add((place + c) * S::LANES);
                            for i in 0..WIDTH {
                                let x = simd.load(from.add(i * S::LANES));
                                sums[0][i] = simd.mul_add(factors[0], x, sums[0][i]);
                                sums[1][i] = simd.mul_add(factors[1], x, sums[1][i]);
                            }
                        }
                    }
                    let mut totals = [[0.0; WIDTH]; 2];
                    simd.sums(sums.as_flattened(), totals.as_flattened_mut());
                    for (row, totals) in rows.chunks_exact_mut(2 * width).zip(&totals) {
                        for i in 0..WIDTH {
                            row[place + c + i] += scale * totals[i];
                        }
                    }
                }
            }
        }
    }
}
