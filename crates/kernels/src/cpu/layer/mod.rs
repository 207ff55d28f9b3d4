//! One pre-norm encoder layer: y = z + FFN(norm₂(z)) with z = x + attention(norm₁(x)).
//!
//! Keys and values come from all N tokens; queries, the residual stream and everything after them
//! exist for M rows only: all tokens, or in the last layer the masked ones, because nothing reads
//! the others (this is exact).
//!
//! Both directions are phases of items that any thread may take ([`super::crew`]), cut as
//! [`super::split`] says:
//!
//! | phase | item | does |
//! |---|---|---|
//! | project | chunk of tokens | norm₁, queries, keys, values |
//! | attend | some blocks of queries | bands, attention, W_o, norm₂, FFN |
//! | d_feed | chunk of queries | back through FFN, norm₂, W_o |
//! | d_attend | head × group of blocks | back through attention |
//! | d_project | chunk of tokens | back through queries, keys, values and norm₁ |
//!
//! Gradients of parameters are summed over a chunk, **overwriting** the chunk's own gradient
//! vector; the branch sums these over chunks.

mod backward;
mod forward;

use super::attention::Attention;
use super::band::Tokens;
use super::linear::Linear;
use super::shared::Shared;
use crate::NetworkShape;
use crate::layout::LayerLayout;
use std::f32::consts::LOG2_E;
use std::ops::Range;

/// One layer's parameters and sizes.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// Network sizes.
    pub network: &'a NetworkShape,
    /// Where the parameters lie.
    pub layout: &'a LayerLayout,
    /// Parameters of the branch.
    pub parameters: &'a [f32],
    /// Parameters of the branch with every matrix transposed.
    pub transposed: &'a [f32],
}

/// Which tokens ask, and where everything is.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Tokens that ask, as ascending indices into the N tokens (M).
    pub rows: &'a [u32],
    /// Patch index of every one of them, padded to whole blocks with the last one.
    pub query_positions: &'a [f32],
    /// Patch index of every token (N).
    pub key_positions: &'a [f32],
    /// Locality slope α.
    pub slope: f32,
}

/// Gradient vectors of the chunks of one job, each as long as the parameters.
pub struct ChunkGradients<'a> {
    /// The first chunk's, which becomes the sum.
    pub first: Shared<'a, f32>,
    /// Those of the others, one after the other.
    pub others: Shared<'a, f32>,
    /// Length of each.
    pub len: usize,
}

impl ChunkGradients<'_> {
    /// The gradient vector of a chunk.
    ///
    /// # Safety
    /// Nobody else uses it while the result lives, or uses other tensors of it only.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn of(&self, chunk: usize) -> &mut [f32] {
        // SAFETY: the caller's contract.
        unsafe {
            match chunk {
                0 => self.first.part(0..self.len),
                _ => self.others.part((chunk - 1) * self.len..chunk * self.len),
            }
        }
    }
}

impl Layer<'_> {
    fn get(&self, range: &Range<usize>) -> &[f32] {
        &self.parameters[range.clone()]
    }

    /// Columns `columns` of W_qkv.
    fn projection(&self, columns: Range<usize>) -> Linear<'_> {
        let d = self.network.d_model;
        Linear {
            n_in: d,
            n_out: columns.len(),
            w: &self.get(&self.layout.w_qkv)[columns.start..],
            stride: 3 * d,
            w_transposed: &self.transposed[self.layout.w_qkv.clone()][columns.start * d..],
            b: &self.get(&self.layout.b_qkv)[columns],
        }
    }

    fn dense(&self, w: &Range<usize>, b: &Range<usize>) -> Linear<'_> {
        Linear {
            n_in: w.len() / b.len(),
            n_out: b.len(),
            w: self.get(w),
            stride: b.len(),
            w_transposed: &self.transposed[w.clone()],
            b: self.get(b),
        }
    }

    /// log₂e/√d_h, with which queries are multiplied.
    fn query_scale(&self) -> f32 {
        LOG2_E / (self.network.d_head() as f32).sqrt()
    }

    fn tokens<'b>(&self, scene: &Scene<'b>) -> Tokens<'b> {
        Tokens {
            positions: scene.key_positions,
            causal: self.network.causal,
            slope: scene.slope * LOG2_E,
        }
    }

    /// The attention of this layer for queries at `query_positions`, part of the scene's.
    fn attention<'b>(
        &self,
        scene: &Scene<'b>,
        query_positions: &'b [f32],
        keys_values: &'b [f32],
    ) -> Attention<'b> {
        Attention {
            n_heads: self.network.n_heads,
            d_head: self.network.d_head(),
            slope: scene.slope * LOG2_E,
            causal: self.network.causal,
            key_positions: scene.key_positions,
            query_positions,
            keys_values,
        }
    }
}

/// Rows `rows` of `from`, of which the first is row `offset` → `to`, one after the other.
pub fn gather(rows: &[u32], offset: usize, d: usize, from: &[f32], to: &mut [f32]) {
    for (&row, to) in rows.iter().zip(to.chunks_exact_mut(d)) {
        to.copy_from_slice(&from[(row as usize - offset) * d..][..d]);
    }
}

/// Adds `from` to rows `rows` of `to`, of which the first is row `offset`.
pub fn scatter_add(rows: &[u32], offset: usize, d: usize, from: &[f32], to: &mut [f32]) {
    for (&row, from) in rows.iter().zip(from.chunks_exact(d)) {
        for (slot, &x) in to[(row as usize - offset) * d..][..d].iter_mut().zip(from) {
            *slot += x;
        }
    }
}

/// Two disjoint tensors of the gradient at once.
pub fn two<'a>(
    values: &'a mut [f32],
    first: &Range<usize>,
    second: &Range<usize>,
) -> [&'a mut [f32]; 2] {
    values
        .get_disjoint_mut([first.clone(), second.clone()])
        .expect("tensors of a layout do not overlap")
}
