//! Masked patch energy: ℓ = 1/(|M|P) Σ_{i∈M} ‖û_i − u_i‖².

/// predicted (N×P), patches (N×P), the masked set M → ℓ.
pub fn forward(predicted: &[f64], patches: &[f64], masked: &[usize], patch: usize) -> f64 {
    let total: f64 = masked
        .iter()
        .flat_map(|&i| i * patch..(i + 1) * patch)
        .map(|e| (predicted[e] - patches[e]).powi(2))
        .sum();
    total / (masked.len() * patch) as f64
}

/// The target carries gradient too: u_i is part of the source that is being optimised.
pub fn backward(
    predicted: &[f64],
    patches: &[f64],
    masked: &[usize],
    patch: usize,
    d_predicted: &mut [f64],
    d_patches: &mut [f64],
) {
    let factor = 2.0 / (masked.len() * patch) as f64;
    for e in masked.iter().flat_map(|&i| i * patch..(i + 1) * patch) {
        let d = factor * (predicted[e] - patches[e]);
        d_predicted[e] += d;
        d_patches[e] -= d;
    }
}
