//! Which keys a block of queries has to look at.
//!
//! A weight can be dropped when it is below 1e-7 of its softmax sum. With units of powers of two, and a query i that
//! always sees its own token,
//!
//! ```text
//! A_ij ≤ 2^(‖q_i‖·max_j‖κ_j‖ − α|i−j|) / 2^⟨q_i,κ_i⟩ ≤ 1e-7   once   α|i−j| ≥ log₂(1e7) + ‖q_i‖·max‖κ‖ − ⟨q_i,κ_i⟩
//! ```
//!
//! so the reach of a query follows from its own norm and from α, both as they are now. When the reach passes the end
//! of the window the band is dense. ‖q_i‖·max‖κ‖ also bounds the logits, and serves as the peak that softmax
//! subtracts, as long as the sum cannot vanish beside it; if it might, the kernel is told to find the true maximum.

use super::pack::Packing;

/// log₂ of the largest ratio between a softmax sum and a weight that still counts.
const NEGLIGIBLE: f32 = 23.253_496; // log₂ 1e7

/// Largest log₂ of (bound of the largest weight / a weight surely in the sum) at which the bound may serve as peak.
/// The smallest weight that the kernels make is 2⁻¹⁰⁰, which must vanish beside 2^−this.
const WIDEST_SPREAD: f32 = 60.0;

/// Keys that one block of queries of one head attends to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// First key.
    pub start: usize,
    /// One past the last key.
    pub end: usize,
    /// Keys before this one are open to every query of the block; later ones only to queries at or after them.
    pub free: usize,
    /// Whether the bound on the logits is too loose to be the peak.
    pub needs_true_peaks: bool,
}

/// Tokens, as the band sees them.
#[derive(Clone, Copy)]
pub struct Tokens<'a> {
    /// Index of every query's own token in the list of keys (M).
    pub rows: &'a [u32],
    /// Patch index of every key (N), ascending.
    pub positions: &'a [f32],
    /// Whether a query sees only keys at or before it.
    pub causal: bool,
}

/// queries (M×d), keys_values (N×2d), `scale` that queries are to be multiplied with, slope in powers of two
/// → bands (H × blocks) and peaks (H × blocks × lanes, unused lanes 0).
pub fn choose(
    packing: &Packing,
    tokens: Tokens,
    queries: &[f32],
    keys_values: &[f32],
    scale: f32,
    slope: f32,
    bands: &mut [Band],
    peaks: &mut [f32],
) {
    let Packing {
        n_heads,
        d_head,
        lanes,
        ..
    } = *packing;
    let (n, d, n_blocks) = (tokens.positions.len(), n_heads * d_head, packing.n_blocks());
    peaks.fill(0.0);
    for h in 0..n_heads {
        let key = |j: usize| &keys_values[j * 2 * d + h * d_head..][..d_head];
        let longest_key = (0..n).map(|j| dot(key(j), key(j))).fold(0.0, f32::max).sqrt();
        for (block, rows) in tokens.rows.chunks(lanes).enumerate() {
            let (mut lowest, mut highest) = (f32::INFINITY, f32::NEG_INFINITY);
            let mut widest = 0f32;
            for (lane, &row) in rows.iter().enumerate() {
                let query = &queries[(block * lanes + lane) * d + h * d_head..][..d_head];
                let bound = scale * dot(query, query).sqrt() * longest_key;
                let spread = bound - scale * dot(query, key(row as usize));
                let reach = (NEGLIGIBLE + spread) / slope;
                // A reach that is not a number must not narrow the band.
                let reach = if reach < n_positions(tokens.positions) {
                    reach
                } else {
                    f32::INFINITY
                };
                let position = tokens.positions[row as usize];
                lowest = lowest.min(position - reach);
                highest = highest.max(position + reach);
                widest = widest.max(spread);
                peaks[(h * n_blocks + block) * lanes + lane] = bound;
            }
            let start = tokens.positions.partition_point(|&p| p < lowest);
            let end = tokens.positions.partition_point(|&p| p <= highest);
            let (first, last) = (rows[0] as usize, rows[rows.len() - 1] as usize);
            bands[h * n_blocks + block] = Band {
                start,
                end: if tokens.causal { end.min(last + 1) } else { end },
                free: if tokens.causal { first + 1 } else { n },
                needs_true_peaks: widest >= WIDEST_SPREAD,
            };
        }
    }
}

/// Patches between the first and the last token, and one more.
fn n_positions(positions: &[f32]) -> f32 {
    positions[positions.len() - 1] - positions[0] + 1.0
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
