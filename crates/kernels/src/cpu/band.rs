//! Which keys a block of queries has to look at.
//!
//! A weight can be dropped when it is below 1e-7 of its softmax sum. With units of powers of two,
//! and a query i that always sees its own token,
//!
//! ```text
//! A_ij ≤ 2^(‖q_i‖·max_j‖κ_j‖ − α|i−j|) / 2^⟨q_i,κ_i⟩ ≤ 1e-7
//!     once   α|i−j| ≥ log₂(1e7) + ‖q_i‖·max‖κ‖ − ⟨q_i,κ_i⟩
//! ```
//!
//! so the reach of a query follows from its own norm and from α, both as they are now. When the
//! reach passes the end of the window the band is dense. ‖q_i‖·max‖κ‖ also bounds the logits, and
//! serves as the peak that softmax subtracts, as long as the sum cannot vanish beside it; if it
//! might, the kernel is told to find the true maximum.

use super::math::LOWEST;
use super::simd::{Lanes, Simd};

/// Keys are worked on in groups of this many; bands and their parts begin and end between groups,
/// or at N.
pub const KEY_GROUP: usize = 4;

/// log₂ of the largest ratio between a softmax sum and a weight that still counts.
const NEGLIGIBLE: f32 = 23.253_496; // log₂ 1e7

/// Largest log₂ of (bound of the largest weight / a weight surely in the sum) at which the bound
/// may serve as peak. The smallest weight that the kernels make is 2^[`LOWEST`], which must vanish
/// beside 2^−this.
const WIDEST_SPREAD: f32 = 60.0;

/// Keys that one block of queries of one head attends to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// First key.
    pub start: usize,
    /// Keys before this one are no later than any query of the block.
    pub middle: usize,
    /// Keys from this one on are no earlier than any query of the block, and there are none if
    /// attention is causal.
    pub right: usize,
    /// One past the last key.
    pub end: usize,
    /// Whether the bound on the logits is too loose to be the peak, or a weight might be smaller
    /// than 2^[`LOWEST`].
    pub steep: bool,
    /// Pairs of a query and a key in the band, without unused lanes and without what rounding to
    /// groups adds.
    pub pairs: usize,
}

/// How keys lie to the queries of a block, which decides how |i−j| is had from i−j.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// No later than any query: |i−j| = i−j.
    Left,
    /// Between the queries.
    Middle,
    /// No earlier than any query: |i−j| = j−i.
    Right,
}

impl Side {
    /// The factor of i−j (or of |i−j| in the middle) that makes |i−j| of it.
    pub fn sign(self) -> f32 {
        if self == Side::Right { -1.0 } else { 1.0 }
    }

    /// The side for keys that lie on this side of one block and on `other` of another: in the
    /// middle nothing is taken for granted, so it is right for both, and |i−j| has the same bits
    /// however it is had.
    #[inline(always)]
    pub fn or(self, other: Side) -> Side {
        if self == other { self } else { Side::Middle }
    }
}

impl Band {
    /// Whether one sweep can serve this block and another: neither is steep, and there are keys of
    /// both.
    pub fn shares_keys(&self, other: &Band) -> bool {
        !self.steep && !other.steep && self.start.max(other.start) < self.end.min(other.end)
    }

    /// The side of key j of the band.
    #[inline(always)]
    pub fn side(&self, j: usize) -> Side {
        if j < self.middle {
            Side::Left
        } else if j < self.right {
            Side::Middle
        } else {
            Side::Right
        }
    }
}

/// What the bands of a job depend on besides queries and keys.
#[derive(Clone, Copy)]
pub struct Tokens<'a> {
    /// Patch index of every key (N), ascending.
    pub positions: &'a [f32],
    /// Whether a query sees only keys at or before it.
    pub causal: bool,
    /// α·log₂e.
    pub slope: f32,
}

/// Raises `longest` (H) to the largest ‖κ‖² per head among a packed block of keys.
pub fn raise_longest<S: Simd>(simd: S, d_head: usize, keys: &[f32], longest: &mut [f32]) {
    simd.run(
        #[inline(always)]
        || {
            for (h, longest) in longest.iter_mut().enumerate() {
                let head = &keys[h * d_head * S::LANES..][..d_head * S::LANES];
                let norm = simd.largest(dots(simd, head, head));
                *longest = if norm > *longest { norm } else { *longest };
            }
        },
    )
}

/// One block of queries: `rows` are their own tokens, `queries` carry log₂e/√d_h, `keys` are the
/// keys of their own tokens, both packed; `longest` is max‖κ‖² per head → bands (H) and peaks (H ×
/// lanes).
pub fn choose<S: Simd>(
    simd: S,
    tokens: Tokens,
    rows: &[u32],
    queries: &[f32],
    keys: &[f32],
    longest: &[f32],
    bands: &mut [Band],
    peaks: &mut [f32],
) {
    let packed = queries.len() / longest.len();
    simd.run(
        #[inline(always)]
        || {
            let lanes = Lanes(S::LANES);
            let mut own = [0.0; super::simd::MAX_LANES];
            for (lane, position) in own[..S::LANES].iter_mut().enumerate() {
                *position = tokens.positions[rows[lane.min(rows.len() - 1)] as usize];
            }
            let position = simd.get(&own, 0, lanes);
            for (h, band) in bands.iter_mut().enumerate() {
                let (q, key) = (
                    &queries[h * packed..][..packed],
                    &keys[h * packed..][..packed],
                );
                let bound = simd.mul(simd.sqrt(dots(simd, q, q)), simd.splat(longest[h].sqrt()));
                simd.put(&mut peaks[h * S::LANES..][..S::LANES], 0, lanes, bound);
                let spread = simd.sub(bound, dots(simd, q, key));
                let reach = simd.div(
                    simd.add(spread, simd.splat(NEGLIGIBLE)),
                    simd.splat(tokens.slope),
                );
                *band = extent(
                    tokens,
                    rows,
                    Reach {
                        lowest: -simd.largest(simd.sub(reach, position)),
                        highest: simd.largest(simd.add(reach, position)),
                        spread: simd.largest(spread),
                        bound: simd.largest(bound),
                        // A lane that is not a number must not narrow the band, and `largest` may
                        // pass over it.
                        is_finite: simd.sum(simd.sub(reach, reach)) == 0.0,
                    },
                );
            }
        },
    )
}

/// What a block of queries looks at, in patches, and how large its logits may be.
struct Reach {
    lowest: f32,
    highest: f32,
    spread: f32,
    bound: f32,
    is_finite: bool,
}

fn extent(tokens: Tokens, rows: &[u32], reach: Reach) -> Band {
    let (positions, n) = (tokens.positions, tokens.positions.len());
    let (first, last) = (rows[0] as usize, rows[rows.len() - 1] as usize);
    let (mut start, mut end) = (0, n);
    if reach.is_finite {
        start = positions.partition_point(|&p| p < reach.lowest).min(first);
        end = positions
            .partition_point(|&p| p <= reach.highest)
            .max(last + 1);
    }
    let pairs = if tokens.causal {
        end = end.min(last + 1);
        rows.iter().map(|&row| row as usize + 1 - start).sum()
    } else {
        rows.len() * (end - start)
    };
    let start = start - start % KEY_GROUP;
    let end = end.next_multiple_of(KEY_GROUP).min(n);
    let middle = (first - first % KEY_GROUP).max(start);
    let right = if tokens.causal {
        end
    } else {
        last.next_multiple_of(KEY_GROUP).clamp(middle, end)
    };
    let farthest = f32::max(
        positions[last] - positions[start],
        positions[end - 1] - positions[first],
    );
    let lowest_logit = -2.0 * reach.bound - tokens.slope * farthest;
    Band {
        start,
        middle,
        right,
        end,
        steep: !reach.is_finite && reach.spread.is_nan()
            || reach.spread >= WIDEST_SPREAD
            || lowest_logit.is_nan()
            || lowest_logit <= 0.99 * LOWEST,
        pairs,
    }
}

/// ⟨a, b⟩ lane by lane, of d_h × lanes values each.
#[inline(always)]
fn dots<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> S::V {
    let mut total = simd.zero();
    for (a, b) in a.chunks_exact(S::LANES).zip(b.chunks_exact(S::LANES)) {
        let lanes = Lanes(S::LANES);
        total = simd.mul_add(simd.get(a, 0, lanes), simd.get(b, 0, lanes), total);
    }
    total
}
