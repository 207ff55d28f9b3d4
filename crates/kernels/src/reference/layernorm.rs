//! Layer normalisation: y = (x − μ)·r·g + b with r = 1/√(σ² + ε), per row.

/// ε under the root.
pub const EPSILON: f64 = 1e-5;

/// Mean and reciprocal standard deviation of one row.
fn statistics(row: &[f64]) -> (f64, f64) {
    let d = row.len() as f64;
    let mean = row.iter().sum::<f64>() / d;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / d;
    (mean, 1.0 / (variance + EPSILON).sqrt())
}

/// x (N×d), gain (d), bias (d) → y (N×d).
pub fn forward(x: &[f64], gain: &[f64], bias: &[f64]) -> Vec<f64> {
    let d = gain.len();
    x.chunks_exact(d)
        .flat_map(|row| {
            let (mean, r) = statistics(row);
            (0..d).map(move |c| (row[c] - mean) * r * gain[c] + bias[c])
        })
        .collect()
}

/// With x̂ = (x−μ)r and d_x̂ = d_y·g:  d_x += r·(d_x̂ − mean(d_x̂) − x̂·mean(d_x̂·x̂)).
pub fn backward(
    x: &[f64],
    gain: &[f64],
    d_y: &[f64],
    d_x: &mut [f64],
    d_gain: &mut [f64],
    d_bias: &mut [f64],
) {
    let d = gain.len();
    for n in 0..x.len() / d {
        let row = &x[n * d..][..d];
        let (mean, r) = statistics(row);
        let (mut sum, mut sum_hat) = (0.0, 0.0);
        for c in 0..d {
            let (hat, dy) = ((row[c] - mean) * r, d_y[n * d + c]);
            d_gain[c] += dy * hat;
            d_bias[c] += dy;
            sum += dy * gain[c];
            sum_hat += dy * gain[c] * hat;
        }
        for c in 0..d {
            let hat = (row[c] - mean) * r;
            d_x[n * d + c] +=
                r * (d_y[n * d + c] * gain[c] - sum / d as f64 - hat * sum_hat / d as f64);
        }
    }
}
