//! Sinusoidal positional encoding p_i, as in Vaswani et al. (2017).
//!
//! ```text
//! p_{i,2c} = sin(i ω_c),   p_{i,2c+1} = cos(i ω_c),   ω_c = 10⁻⁴^(2c/d)
//! ```
//!
//! A window whose positions are shifted by s patches uses rows s, s+1, … of the same table.

/// The first `rows` encodings, row-major (rows × d), d even.
pub fn table(rows: usize, d_model: usize) -> Vec<f64> {
    let mut table = vec![0.0; rows * d_model];
    for (i, row) in table.chunks_exact_mut(d_model).enumerate() {
        for (c, pair) in row.chunks_exact_mut(2).enumerate() {
            let omega = (-(1e4f64.ln()) * (2 * c) as f64 / d_model as f64).exp();
            (pair[0], pair[1]) = (i as f64 * omega).sin_cos();
        }
    }
    table
}
