//! Masked patch energy: ℓ = 1/(|M|P) Σ_{i∈M} ‖û_i − u_i‖², or the same pooled over blocks of the
//! window: ℓ = exp(Σ_c |M_c|/|M| ln(ℓ_c + κ)) − κ, with ℓ_c the plain energy of M_c, the masked
//! patches of block c.
//!
//! A block may lie in several chunks of rows, so no row has its gradient before all have their
//! errors: [`forward`] on every chunk, [`pool`] once, [`backward`] on every chunk.

use crate::Pooling;

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

/// `errors` (M) of all rows → ℓ, summed in the order of the rows. They become the factors of û − u
/// in d_predicted: 2/(|M|P), and if pooled times (ℓ + κ)/(ℓ_c + κ), from ∂ℓ/∂ℓ_c = |M_c|/|M| (ℓ +
/// κ)/(ℓ_c + κ). `block_of` says in which block a row lies; the rows of a block follow one another.
pub fn pool(
    errors: &mut [f64],
    patch: usize,
    pooling: Option<Pooling>,
    block_of: impl Fn(&Pooling, usize) -> usize,
) -> f64 {
    let m = errors.len();
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / (errors.len() * patch) as f64;
    let factor = 2.0 / (m * patch) as f64;
    let Some(pooling) = pooling else {
        let energy = mean(errors);
        errors.fill(factor);
        return energy;
    };
    let (mut total, mut start) = (0.0, 0); // Σ |M_c| ln(ℓ_c + κ)
    while start < m {
        let c = block_of(&pooling, start);
        let size = (start..m)
            .take_while(|&row| block_of(&pooling, row) == c)
            .count();
        let block = &mut errors[start..start + size];
        let error = mean(block) + pooling.offset;
        total += size as f64 * error.ln();
        block.fill(error);
        start += size;
    }
    let energy = (total / m as f64).exp(); // ℓ + κ
    for error in errors {
        *error = factor * energy / *error;
    }
    energy - pooling.offset
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
