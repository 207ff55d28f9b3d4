//! Masked patch errors: ℓ_c = 1/(|M_c|P) Σ_{i∈M_c} ‖û_i − u_i‖² of every block c of the window.

use crate::BlockError;

/// predicted (N×P), patches (N×P), the masked set M and the block c(i) of each of its patches →
/// ℓ_c, blocks in ascending order, each with factor 1.
pub fn forward(
    predicted: &[f64],
    patches: &[f64],
    masked: &[usize],
    block_of: &[usize],
    patch: usize,
) -> Vec<BlockError> {
    let mut blocks = block_of.to_vec();
    blocks.dedup();
    let error = |c: &usize| {
        let members = masked.iter().zip(block_of).filter(|(_, of)| *of == c);
        let members: Vec<usize> = members.map(|(&i, _)| i).collect();
        let elements = members.iter().flat_map(|&i| i * patch..(i + 1) * patch);
        let total: f64 = elements.map(|e| (predicted[e] - patches[e]).powi(2)).sum();
        BlockError {
            n_patches: members.len(),
            error: total / (members.len() * patch) as f64,
            factor: 1.0,
        }
    };
    blocks.iter().map(error).collect()
}

/// Gradients of g = Σ_c |M_c|/|M| f_c ℓ_c. The target carries gradient too: u_i is part of the
/// source that is being optimised.
pub fn backward(
    predicted: &[f64],
    patches: &[f64],
    masked: &[usize],
    blocks: &[BlockError],
    patch: usize,
    d_predicted: &mut [f64],
    d_patches: &mut [f64],
) {
    let factors = blocks
        .iter()
        .flat_map(|block| std::iter::repeat_n(block.factor, block.n_patches));
    for (&i, factor) in masked.iter().zip(factors) {
        for e in i * patch..(i + 1) * patch {
            let d = 2.0 / (masked.len() * patch) as f64 * factor * (predicted[e] - patches[e]);
            d_predicted[e] += d;
            d_patches[e] -= d;
        }
    }
}
