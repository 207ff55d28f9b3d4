//! Masked patch errors: ℓ_c = 1/(|M_c|P) Σ_{i∈M_c} ‖û_i − u_i‖² of every block c of the window.
//!
//! A block may lie in several chunks of rows, so no row has its gradient before all have their
//! errors: [`forward`] on every chunk, [`by_block`] once, then the caller's judgement and
//! [`row_factors`], [`backward`] on every chunk.

use crate::BlockError;

/// Some rows of predicted and targets (rows × P) → `errors` (rows) ‖û_i − u_i‖², summed in f64;
/// `predicted` becomes û − u in place.
pub fn forward(predicted: &mut [f32], targets: &[f32], patch: usize, errors: &mut [f64]) {
    let rows = predicted
        .chunks_exact_mut(patch)
        .zip(targets.chunks_exact(patch));
    for ((predicted, target), error) in rows.zip(errors) {
        let mut total = 0.0;
        for (p, &t) in predicted.iter_mut().zip(target) {
            *p -= t;
            total += f64::from(*p) * f64::from(*p);
        }
        *error = total;
    }
}

/// `errors` (M) of all rows → ℓ_c of their blocks, summed in the order of the rows. `block_of` says
/// in which block a row lies; the rows of a block follow one another.
pub fn by_block(
    errors: &[f64],
    patch: usize,
    block_of: impl Fn(usize) -> usize,
    blocks: &mut Vec<BlockError>,
) {
    blocks.clear();
    let mut start = 0;
    while start < errors.len() {
        let c = block_of(start);
        let rest = start..errors.len();
        let n_patches = rest.take_while(|&row| block_of(row) == c).count();
        let total: f64 = errors[start..start + n_patches].iter().sum();
        blocks.push(BlockError {
            n_patches,
            error: total / (n_patches * patch) as f64,
            factor: 1.0,
        });
        start += n_patches;
    }
}

/// → `factors` (M) of the rows of û − u in d_predicted: 2/(|M|P)·f_c, since
/// ∂g/∂ℓ_c = |M_c|/|M| f_c.
pub fn row_factors(blocks: &[BlockError], patch: usize, factors: &mut [f64]) {
    let factor = 2.0 / (factors.len() * patch) as f64;
    let mut rows = factors.iter_mut();
    for block in blocks {
        for row in rows.by_ref().take(block.n_patches) {
            *row = factor * block.factor;
        }
    }
}

/// Some rows of û − u (rows × P) become d_predicted = factor·(û − u) in place. The gradient of the
/// targets is its negative.
pub fn backward(differences: &mut [f32], patch: usize, factors: &[f64]) {
    for (row, &factor) in differences.chunks_exact_mut(patch).zip(factors) {
        for d in row {
            *d *= factor as f32;
        }
    }
}
