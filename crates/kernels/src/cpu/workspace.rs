//! Memory of one job in flight ([`Workspace`]) and of one thread at work ([`Scratch`]).
//!
//! Sized once for the largest scale of a [`BranchSet`]; a smaller job uses the front of every
//! buffer. Nothing in here survives a job: every value is written before it is read.
//!
//! N tokens, M ≤ N queries (all tokens, or in the last layer the masked ones), width d,
//! feed-forward width f, patch P. *Packed* is blocks × d × lanes, *statistics* are blocks × H ×
//! lanes: see [`super::attention`].

use super::aligned::Aligned;
use super::attention::group_len;
use super::band::Band;
use super::split::{ROW_BLOCK, Ranges};
use crate::{BranchSet, Layout};

/// What the backward pass of one layer needs.
pub struct LayerTape {
    pub x_hat1: Aligned,         // N×d
    pub r1: Aligned,             // N
    pub keys_values: Aligned,    // H × N × 2d_h
    pub queries: Aligned,        // packed, times log₂e/√d_h
    pub bands: Vec<Band>,        // blocks × H
    pub peaks: Aligned,          // statistics
    pub inverse_totals: Aligned, // statistics
    pub outputs: Aligned,        // packed
    pub mixed: Aligned,          // M×d, the same as rows
    pub x_hat2: Aligned,         // M×d
    pub r2: Aligned,             // M
    pub active: Aligned,         // M×f, after GELU
    pub active_slope: Aligned,   // M×f, GELU′
}

/// What passes between the phases of a layer.
pub struct Between {
    pub query_rows: Aligned,      // M×d
    pub key_rows: Aligned,        // N×2d, keys and values
    pub longest_keys: Aligned,    // chunks × H, largest ‖κ‖²
    pub d_outputs: Aligned,       // packed
    pub d_queries: Aligned,       // H × blocks × d_h × lanes
    pub d_keys_values: Aligned,   // H × groups × N × 2d_h
    pub groups: Vec<GroupResult>, // H × groups
}

/// What one item of the backward pass of attention leaves beside its sums.
#[derive(Clone, Default)]
pub struct GroupResult {
    pub d_slope: f64,
    pub keys: std::ops::Range<usize>, // those that have a sum
}

/// Everything one job writes to besides its gradient.
pub struct Workspace {
    pub every_row: Vec<u32>,       // 0..N
    pub visible: Vec<u32>,         // tokens that are not masked
    pub key_positions: Aligned,    // N, patch index of every token
    pub masked_positions: Aligned, // blocks × lanes, patch index of every masked token
    pub every_position: Aligned,   // blocks × lanes, patch index of every token
    pub patches: Aligned,          // visible × P, then its gradient
    pub predicted: Aligned,        // masked × P, then its gradient
    pub errors: Vec<f64>,          // masked: ‖û − u‖², then the factor of û − u in its gradient
    pub x: Aligned,                // N×d, input of a layer, or its gradient
    pub y: Aligned,                // N×d, output of a layer, or its gradient
    pub layers: Vec<LayerTape>,
    pub between: Between,
    pub transposed: Aligned, // parameters, every matrix transposed; vectors are not set
    pub partials: Aligned,   // (chunks − 1) × parameters: gradients of all chunks but the first
}

/// Memory of one thread, all of it inside one row block.
pub struct Scratch {
    pub normed: Aligned,        // rows × d
    pub d_normed: Aligned,      // rows × d
    pub gathered: Aligned,      // rows × d
    pub wide: Aligned,          // rows × f
    pub d_keys_values: Aligned, // rows × 2d
    pub query_rows: Aligned,    // (rows + two vectors) × d
    pub block: Aligned,         // d × lanes
    pub group: Aligned,         // members of a group, see `attention`
    pub patches: Aligned,       // rows × P
    pub x_hat: Aligned,         // rows × d
    pub r: Aligned,             // rows
}

impl Workspace {
    /// Room for the largest job of `branches` with vectors of `lanes`.
    pub fn new(branches: &BranchSet, lanes: usize) -> Workspace {
        let network = &branches.network;
        let (d, f, h) = (network.d_model, network.d_ffn(), network.n_heads);
        let n = largest(branches, |s| s.n_patches);
        let n_patched = largest(branches, |s| s.n_patches * s.patch);
        let n_parameters = largest(branches, |s| Layout::new(s.patch, network).len());
        // The masked tokens, fewer than N, may be cut into more chunks than the N tokens.
        let n_chunks = (1..=n).map(|n| Ranges::chunks(n).len()).max().unwrap_or(1);
        let n_groups = (1..=n)
            .map(|n| Ranges::groups(n.div_ceil(lanes)).len())
            .max()
            .unwrap_or(1);
        let padded = n.next_multiple_of(lanes);
        let n_blocks = padded / lanes;
        let layer = || LayerTape {
            x_hat1: Aligned::zeros(n * d),
            r1: Aligned::zeros(n),
            keys_values: Aligned::zeros(n * 2 * d),
            queries: Aligned::zeros(padded * d),
            bands: vec![Band::default(); n_blocks * h],
            peaks: Aligned::zeros(padded * h),
            inverse_totals: Aligned::zeros(padded * h),
            outputs: Aligned::zeros(padded * d),
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
            predicted: Aligned::zeros(n_patched),
            errors: vec![0.0; n],
            x: Aligned::zeros(n * d),
            y: Aligned::zeros(n * d),
            layers: (0..network.n_layers).map(|_| layer()).collect(),
            between: Between {
                query_rows: Aligned::zeros(n * d),
                key_rows: Aligned::zeros(n * 2 * d),
                longest_keys: Aligned::zeros(n_chunks * h),
                d_outputs: Aligned::zeros(padded * d),
                d_queries: Aligned::zeros(padded * d),
                d_keys_values: Aligned::zeros(n_groups * n * 2 * d),
                groups: vec![GroupResult::default(); h * n_groups],
            },
            transposed: Aligned::zeros(n_parameters),
            partials: Aligned::zeros((n_chunks - 1) * n_parameters),
        }
    }
}

impl Scratch {
    /// Room for any row block of `branches` with vectors of `lanes`.
    pub fn new(branches: &BranchSet, lanes: usize) -> Scratch {
        let (d, f) = (branches.network.d_model, branches.network.d_ffn());
        let patch = largest(branches, |s| s.patch);
        Scratch {
            normed: Aligned::zeros(ROW_BLOCK * d),
            d_normed: Aligned::zeros(ROW_BLOCK * d),
            gathered: Aligned::zeros(ROW_BLOCK * d),
            wide: Aligned::zeros(ROW_BLOCK * f),
            d_keys_values: Aligned::zeros(ROW_BLOCK * 2 * d),
            query_rows: Aligned::zeros((ROW_BLOCK + 2 * lanes) * d),
            block: Aligned::zeros(d * lanes),
            group: Aligned::zeros(group_len(branches.network.d_head(), lanes)),
            patches: Aligned::zeros(ROW_BLOCK * patch),
            x_hat: Aligned::zeros(ROW_BLOCK * d),
            r: Aligned::zeros(ROW_BLOCK),
        }
    }
}

fn largest(branches: &BranchSet, size: impl Fn(&crate::ScaleShape) -> usize) -> usize {
    branches
        .scales
        .iter()
        .map(size)
        .max()
        .expect("at least one scale")
}
