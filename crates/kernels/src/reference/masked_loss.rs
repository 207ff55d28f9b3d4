//! Masked patch energy: ℓ = 1/(|M|P) Σ_{i∈M} ‖û_i − u_i‖², or the same pooled over blocks of the
//! window: ℓ = exp(Σ_c |M_c|/|M| ln(ℓ_c + κ)) − κ, with ℓ_c the plain energy of M_c, the masked
//! patches of block c.

/// The blocks over which errors are pooled.
pub struct Blocks {
    /// Block c(i) of every i ∈ M, in the order of the masked set.
    pub of: Vec<usize>,
    /// κ > 0.
    pub offset: f64,
}

/// predicted (N×P), patches (N×P), the masked set M → ℓ, pooled if there are blocks.
pub fn forward(
    predicted: &[f64],
    patches: &[f64],
    masked: &[usize],
    patch: usize,
    blocks: Option<&Blocks>,
) -> f64 {
    let Some(blocks) = blocks else {
        return mean_error(predicted, patches, masked, patch);
    };
    // Σ_c |M_c|/|M| ln(ℓ_c + κ) = 1/|M| Σ_{i∈M} ln(ℓ_c(i) + κ)
    let mut total = 0.0;
    for error in blocks.errors(predicted, patches, masked, patch) {
        total += (error + blocks.offset).ln();
    }
    (total / masked.len() as f64).exp() - blocks.offset
}

/// The target carries gradient too: u_i is part of the source that is being optimised.
pub fn backward(
    predicted: &[f64],
    patches: &[f64],
    masked: &[usize],
    patch: usize,
    blocks: Option<&Blocks>,
    d_predicted: &mut [f64],
    d_patches: &mut [f64],
) {
    // |M|/|M_c| ∂ℓ/∂ℓ_c of the block of every i ∈ M: 1, or (ℓ + κ)/(ℓ_c + κ) if pooled
    let weights: Vec<f64> = match blocks {
        None => vec![1.0; masked.len()],
        Some(blocks) => {
            let energy = forward(predicted, patches, masked, patch, Some(blocks));
            let errors = blocks.errors(predicted, patches, masked, patch);
            let weight = |error| (energy + blocks.offset) / (error + blocks.offset);
            errors.into_iter().map(weight).collect()
        }
    };
    for (&i, weight) in masked.iter().zip(weights) {
        let factor = 2.0 / (masked.len() * patch) as f64 * weight;
        for e in i * patch..(i + 1) * patch {
            let d = factor * (predicted[e] - patches[e]);
            d_predicted[e] += d;
            d_patches[e] -= d;
        }
    }
}

impl Blocks {
    /// ℓ_c(i) of every i ∈ M.
    fn errors(
        &self,
        predicted: &[f64],
        patches: &[f64],
        masked: &[usize],
        patch: usize,
    ) -> Vec<f64> {
        let error_of = |c: usize| {
            let members = masked.iter().zip(&self.of).filter(|(_, of)| **of == c);
            let members: Vec<usize> = members.map(|(&i, _)| i).collect();
            mean_error(predicted, patches, &members, patch)
        };
        self.of.iter().map(|&c| error_of(c)).collect()
    }
}

/// 1/(|M|P) Σ_{i∈M} ‖û_i − u_i‖² of a set M of patches.
fn mean_error(predicted: &[f64], patches: &[f64], set: &[usize], patch: usize) -> f64 {
    let total: f64 = set
        .iter()
        .flat_map(|&i| i * patch..(i + 1) * patch)
        .map(|e| (predicted[e] - patches[e]).powi(2))
        .sum();
    total / (set.len() * patch) as f64
}
