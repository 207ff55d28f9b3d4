//! Memory of one job in flight: what the forward pass leaves for the backward pass, and scratch.
//!
//! Sized once for the largest scale of a [`BranchSet`]; a smaller job uses the front of every buffer. Nothing in here
//! survives a job: every value is written before it is read.
//!
//! N tokens, M ≤ N queries (all tokens, or in the last layer the masked ones), width d, feed-forward width f, patch P.

use super::aligned::Aligned;
use super::band::Band;
use super::pack::Packing;
use crate::BranchSet;

/// Rows that go through a chain of operations together, so that what lies between them stays in the first-level
/// cache.
pub const ROW_BLOCK: usize = 64;

/// What the backward pass of one layer needs.
pub struct LayerTape {
    pub x_hat1: Aligned,         // N×d
    pub r1: Aligned,             // N
    pub keys_values: Aligned,    // N×2d
    pub queries: Aligned,        // packed, times log₂e/√d_h
    pub bands: Vec<Band>,        // H × blocks
    pub peaks: Aligned,          // statistics
    pub inverse_totals: Aligned, // statistics
    pub outputs: Aligned,        // packed
    pub mixed: Aligned,          // M×d, the same as rows
    pub x_hat2: Aligned,         // M×d
    pub r2: Aligned,             // M
    pub active: Aligned,         // M×f, after GELU
    pub active_slope: Aligned,   // M×f, GELU′
}

/// Scratch of the layers.
pub struct LayerScratch {
    pub normed: Aligned,        // N×d
    pub gathered: Aligned,      // M×d, rows of `normed` at the queries
    pub query_rows: Aligned,    // M×d, queries or their gradient
    pub hidden: Aligned,        // ROW_BLOCK×f, before GELU, or its gradient
    pub d_normed: Aligned,      // N×d
    pub d_mixed: Aligned,       // M×d
    pub d_outputs: Aligned,     // packed
    pub d_queries: Aligned,     // packed
    pub means: Aligned,         // statistics
    pub d_keys_values: Aligned, // N×2d
}

/// Everything one job writes to besides the gradient.
pub struct Workspace {
    pub every_row: Vec<u32>,       // 0..N
    pub visible: Vec<u32>,         // tokens that are not masked
    pub key_positions: Aligned,    // N, patch index of every token
    pub masked_positions: Aligned, // blocks × lanes, patch index of every masked token
    pub every_position: Aligned,   // blocks × lanes, patch index of every token
    pub patches: Aligned,          // visible × P
    pub targets: Aligned,          // masked × P
    pub embedded: Aligned,         // visible × d
    pub x: Aligned,                // N×d, input of a layer, or its gradient
    pub y: Aligned,                // N×d, output of a layer, or its gradient
    pub x_hat: Aligned,            // masked × d, final norm
    pub r: Aligned,                // masked, final norm
    pub normed: Aligned,           // masked × d, final norm
    pub predicted: Aligned,        // masked × P, or its gradient
    pub layers: Vec<LayerTape>,
    pub scratch: LayerScratch,
}

impl Workspace {
    /// Room for the largest job of `branches` with vectors of `lanes`.
    pub fn new(branches: &BranchSet, lanes: usize) -> Workspace {
        let (d, f) = (branches.network.d_model, branches.network.d_ffn());
        let n = branches
            .scales
            .iter()
            .map(|s| s.n_patches)
            .max()
            .expect("at least one scale");
        let n_patched = branches
            .scales
            .iter()
            .map(|s| s.n_patches * s.patch)
            .max()
            .expect("at least one scale");
        let packing = Packing {
            n_heads: branches.network.n_heads,
            d_head: branches.network.d_head(),
            lanes,
            n_rows: n,
        };
        let (packed, statistics) = (packing.len(), packing.statistics_len());
        let padded = packing.n_blocks() * lanes;
        let layer = || LayerTape {
            x_hat1: Aligned::zeros(n * d),
            r1: Aligned::zeros(n),
            keys_values: Aligned::zeros(n * 2 * d),
            queries: Aligned::zeros(packed),
            bands: vec![Band::default(); packing.n_heads * packing.n_blocks()],
            peaks: Aligned::zeros(statistics),
            inverse_totals: Aligned::zeros(statistics),
            outputs: Aligned::zeros(packed),
            mixed: Aligned::zeros(n * d),
            x_hat2: Aligned::zeros(n * d),
            r2: Aligned::zeros(n),
            active: Aligned::zeros(n * f),
            active_slope: Aligned::zeros(n * f),
        };
        Workspace {
            every_row: (0..n as u32).collect(),
            visible: Vec::with_capacity(n),
            key_positions: Aligned::zeros(n),
            masked_positions: Aligned::zeros(padded),
            every_position: Aligned::zeros(padded),
            patches: Aligned::zeros(n_patched),
            targets: Aligned::zeros(n_patched),
            embedded: Aligned::zeros(n * d),
            x: Aligned::zeros(n * d),
            y: Aligned::zeros(n * d),
            x_hat: Aligned::zeros(n * d),
            r: Aligned::zeros(n),
            normed: Aligned::zeros(n * d),
            predicted: Aligned::zeros(n_patched),
            layers: (0..branches.network.n_layers).map(|_| layer()).collect(),
            scratch: LayerScratch {
                normed: Aligned::zeros(n * d),
                gathered: Aligned::zeros(n * d),
                query_rows: Aligned::zeros(n * d),
                hidden: Aligned::zeros(ROW_BLOCK * f),
                d_normed: Aligned::zeros(n * d),
                d_mixed: Aligned::zeros(n * d),
                d_outputs: Aligned::zeros(packed),
                d_queries: Aligned::zeros(packed),
                means: Aligned::zeros(statistics),
                d_keys_values: Aligned::zeros(n * 2 * d),
            },
        }
    }
}

/// Ranges of at most [`ROW_BLOCK`] rows that cover 0..n.
pub fn row_blocks(n: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..n)
        .step_by(ROW_BLOCK)
        .map(move |start| start..(start + ROW_BLOCK).min(n))
}

/// `rows` rows of a matrix with `width` columns, as a range of its elements.
pub fn elements(rows: &std::ops::Range<usize>, width: usize) -> std::ops::Range<usize> {
    rows.start * width..rows.end * width
}
