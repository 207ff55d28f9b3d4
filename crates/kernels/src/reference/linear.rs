//! y = x·W + b for N rows.

/// x (N×I), w (I×O), b (O) → y (N×O).
pub fn forward(x: &[f64], w: &[f64], b: &[f64]) -> Vec<f64> {
    let n_out = b.len();
    let n_in = w.len() / n_out;
    let mut y = Vec::with_capacity(x.len() / n_in * n_out);
    for row in x.chunks_exact(n_in) {
        for o in 0..n_out {
            y.push(b[o] + (0..n_in).map(|i| row[i] * w[i * n_out + o]).sum::<f64>());
        }
    }
    y
}

/// d_x += d_y·Wᵀ,  d_w += xᵀ·d_y,  d_b += Σ_rows d_y.
pub fn backward(
    x: &[f64],
    w: &[f64],
    d_y: &[f64],
    d_x: &mut [f64],
    d_w: &mut [f64],
    d_b: &mut [f64],
) {
    let n_out = d_b.len();
    let n_in = w.len() / n_out;
    for n in 0..x.len() / n_in {
        for o in 0..n_out {
            let d = d_y[n * n_out + o];
            d_b[o] += d;
            for i in 0..n_in {
                d_x[n * n_in + i] += d * w[i * n_out + o];
                d_w[i * n_out + o] += d * x[n * n_in + i];
            }
        }
    }
}
