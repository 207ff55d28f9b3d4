//! The two penalties of the controller: scale entropy and ordered gaps.

/// ε inside the logarithm of the entropy.
const EPSILON: f64 = 1e-6;

/// L_ent = −1/K Σ_k Σ_r π ln(π + ε); adds weight · ∂L_ent/∂π to `d_scale_weights`.
pub(crate) fn entropy(
    scale_weights: &[f64],
    n_sources: usize,
    weight: f64,
    d_scale_weights: &mut [f64],
) -> f64 {
    let k = n_sources as f64;
    let mut value = 0.0;
    for (&p, d) in scale_weights.iter().zip(d_scale_weights) {
        let log = (p + EPSILON).ln();
        value -= p * log / k;
        *d -= weight * (log + p / (p + EPSILON)) / k;
    }
    value
}

/// L_gap = 1/(K−1) Σ_k max(0, Δ_c − (c_{k+1} − c_k))², 0 for one source; adds weight · ∂L_gap/∂c to
/// `d_centers`.
pub(crate) fn gap(centers: &[f64], target: f64, weight: f64, d_centers: &mut [f64]) -> f64 {
    let pairs = centers.len().saturating_sub(1) as f64;
    let mut value = 0.0;
    for k in 1..centers.len() {
        let short = (target - (centers[k] - centers[k - 1])).max(0.0);
        value += short * short / pairs;
        let d = weight * 2.0 * short / pairs;
        d_centers[k] -= d;
        d_centers[k - 1] += d;
    }
    value
}
