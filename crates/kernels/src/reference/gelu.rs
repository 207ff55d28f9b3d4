//! GELU(x) = x·Φ(x), the exact form with the normal distribution function Φ.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

fn normal_cdf(x: f64) -> f64 {
    0.5 * (1.0 + libm::erf(x * FRAC_1_SQRT_2))
}

/// Element by element.
pub fn forward(x: &[f64]) -> Vec<f64> {
    x.iter().map(|&v| v * normal_cdf(v)).collect()
}

/// GELU′(x) = Φ(x) + x·φ(x).
pub fn backward(x: &[f64], d_y: &[f64], d_x: &mut [f64]) {
    for i in 0..x.len() {
        let density = (-0.5 * x[i] * x[i]).exp() / (2.0 * PI).sqrt();
        d_x[i] += d_y[i] * (normal_cdf(x[i]) + x[i] * density);
    }
}
