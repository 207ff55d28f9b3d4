//! Locality-biased attention, fused per head: no N×N buffer exists.
//!
//! ```text
//! logit_ij = ⟨q_i, κ_j⟩/√d_h − α|i−j|      A = softmax_j(logit)      o_i = Σ_j A_ij v_j
//! ```
//!
//! The lanes of a vector are queries. One *block* is as many queries as a vector has lanes; its
//! logits against one key take d_h products with broadcast elements of that key, and softmax sums
//! and outputs stay lane by lane, so that the forward pass has no sum across lanes at all. Keys
//! come in groups of [`KEY_GROUP`], so that several chains of dependent products are under way at
//! once.
//!
//! Everything is in powers of two: queries carry log₂e/√d_h, the slope log₂e, and weights are
//! 2^(logit − peak). Keys outside the [`Band`] of a block are skipped. Which band, and which
//! `peak`, [`super::band`] decides.
//!
//! *Packed* arrays below are blocks × H × d_h × lanes, see [`super::pack`]; *statistics* are blocks
//! × H × lanes.

mod backward;
mod forward;

pub use backward::{Gradients, Saved, group_len};
pub use forward::Forward;

use super::band::{Band, KEY_GROUP};
use super::simd::Simd;

/// The widest head that the engine accepts.
pub const MAX_D_HEAD: usize = 512;

/// What the forward and the backward pass share.
#[derive(Clone, Copy)]
pub struct Attention<'a> {
    /// Heads H.
    pub n_heads: usize,
    /// Width of one head d_h.
    pub d_head: usize,
    /// α·log₂e.
    pub slope: f32,
    /// Whether a query sees only keys at or before it.
    pub causal: bool,
    /// Patch index of every key (N).
    pub key_positions: &'a [f32],
    /// Patch index of every query, blocks × lanes; lanes beyond the last query repeat it.
    pub query_positions: &'a [f32],
    /// Keys and values side by side, head by head (H × N × 2d_h): what a query meets next lies
    /// next.
    pub keys_values: &'a [f32],
}

impl Attention<'_> {
    /// The lengths on which the pointer arithmetic relies.
    fn check<S: Simd>(&self, n_blocks: usize, bands: &[Band], packed: usize, statistics: usize) {
        let n = self.key_positions.len();
        assert!(self.d_head >= 1 && self.d_head <= MAX_D_HEAD);
        assert!(self.query_positions.len() == n_blocks * S::LANES);
        assert!(bands.len() == n_blocks * self.n_heads && statistics == bands.len() * S::LANES);
        assert!(packed == statistics * self.d_head);
        assert!(self.keys_values.len() == n * 2 * self.n_heads * self.d_head);
        let is_split = |at: usize| at.is_multiple_of(KEY_GROUP) || at == n;
        assert!(bands.iter().all(|b| {
            b.start <= b.middle
                && b.middle <= b.right
                && b.right <= b.end
                && b.end <= n
                && [b.start, b.middle, b.right, b.end]
                    .into_iter()
                    .all(is_split)
        }));
    }

    /// Width of a head: the constant `WIDTH` if `FIXED`, so that loops over it unroll.
    #[inline(always)]
    fn width<const WIDTH: usize, const FIXED: bool>(&self) -> usize {
        if FIXED { WIDTH } else { self.d_head }
    }

    /// Key of head h of token j, followed by its value and the next key.
    ///
    /// # Safety
    /// j < N.
    #[inline(always)]
    unsafe fn key(&self, width: usize, h: usize, j: usize) -> *const f32 {
        let at = (h * self.key_positions.len() + j) * 2 * width;
        // SAFETY: the caller's contract, and `check`.
        unsafe { self.keys_values.as_ptr().add(at) }
    }
}

/// i − j for `KEYS` keys from j on, or |i − j| if `MIDDLE`.
///
/// # Safety
/// `key_positions` is valid for reading `KEYS` values.
#[inline(always)]
unsafe fn differences<S: Simd, const KEYS: usize, const MIDDLE: bool>(
    simd: S,
    position: S::V,
    key_positions: *const f32,
) -> [S::V; KEYS] {
    let mut differences = [position; KEYS];
    for (k, difference) in differences.iter_mut().enumerate() {
        // SAFETY: the caller's contract.
        *difference = simd.sub(position, simd.splat(unsafe { *key_positions.add(k) }));
        if MIDDLE {
            *difference = simd.abs(*difference);
        }
    }
    differences
}
