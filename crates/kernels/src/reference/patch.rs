//! The patch operator Π: u_i = window[i·q .. i·q + P], and its transpose.

use crate::ScaleShape;

/// window (span) → patches (N×P).
pub fn forward(window: &[f64], scale: &ScaleShape) -> Vec<f64> {
    (0..scale.n_patches)
        .flat_map(|i| window[i * scale.stride..][..scale.patch].iter().copied())
        .collect()
}

/// d_window += Πᵀ d_patches: overlapping patches add up.
pub fn backward(d_patches: &[f64], scale: &ScaleShape, d_window: &mut [f64]) {
    for i in 0..scale.n_patches {
        for p in 0..scale.patch {
            d_window[i * scale.stride + p] += d_patches[i * scale.patch + p];
        }
    }
}
