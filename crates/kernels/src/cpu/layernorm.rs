//! Layer normalisation by rows: x̂ = (x − μ)·r with r = 1/√(σ² + ε), y = x̂·g + b.
//!
//! x̂ and r are what the backward pass needs; y is not kept but made again from x̂ by [`scale`].
//!
//! Rows of one, two or four whole vectors are held in registers ([`held`]); all others go through
//! memory, with the same operations in the same order.

use super::simd::{Lanes, Simd};
use crate::reference::layernorm::EPSILON;

/// Calls the function with the number of vectors in a row of d values as constant and says so, if
/// there is code for it.
macro_rules! held {
    ($d:ident, $function:ident($($argument:expr),*)) => {{
        let vectors = if $d.is_multiple_of(S::LANES) { $d / S::LANES } else { 0 };
        match vectors {
            1 => $function::<S, 1>($($argument),*),
            2 => $function::<S, 2>($($argument),*),
            4 => $function::<S, 4>($($argument),*),
            _ => {}
        }
        matches!(vectors, 1 | 2 | 4)
    }};
}

/// x (M×d) → x̂ (M×d), r (M) and y (M×d).
pub fn forward<S: Simd>(
    simd: S,
    x: &[f32],
    gain: &[f32],
    bias: &[f32],
    x_hat: &mut [f32],
    r: &mut [f32],
    y: &mut [f32],
) {
    let d = gain.len();
    simd.run(
        #[inline(always)]
        || {
            if held!(d, forward_held(simd, x, gain, bias, x_hat, r, y)) {
                return;
            }
            for (row, r) in r.iter_mut().enumerate() {
                let x = &x[row * d..][..d];
                let (x_hat, y) = (&mut x_hat[row * d..][..d], &mut y[row * d..][..d]);
                let mut total = simd.zero();
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| total = simd.add(total, simd.get(x, at, lanes)),
                );
                let mean = simd.splat(simd.sum(total) / d as f32);
                let mut squares = simd.zero();
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        simd.put(x_hat, at, lanes, simd.sub(simd.get(x, at, lanes), mean));
                        // Read again: lanes beyond d must be 0, not 0 − mean.
                        let centred = simd.get(x_hat, at, lanes);
                        squares = simd.mul_add(centred, centred, squares);
                    },
                );
                *r = 1.0 / (simd.sum(squares) / d as f32 + EPSILON as f32).sqrt();
                let scale = simd.splat(*r);
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        let hat = simd.mul(simd.get(x_hat, at, lanes), scale);
                        simd.put(x_hat, at, lanes, hat);
                        let (g, b) = (simd.get(gain, at, lanes), simd.get(bias, at, lanes));
                        simd.put(y, at, lanes, simd.mul_add(hat, g, b));
                    },
                );
            }
        },
    )
}

/// x̂ (M×d), gain (d), bias (d) → y (M×d).
pub fn scale<S: Simd>(simd: S, x_hat: &[f32], gain: &[f32], bias: &[f32], y: &mut [f32]) {
    let d = gain.len();
    simd.run(
        #[inline(always)]
        || {
            for (x_hat, y) in x_hat.chunks_exact(d).zip(y.chunks_exact_mut(d)) {
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        let (g, b) = (simd.get(gain, at, lanes), simd.get(bias, at, lanes));
                        simd.put(y, at, lanes, simd.mul_add(simd.get(x_hat, at, lanes), g, b));
                    },
                );
            }
        },
    )
}

/// With d_x̂ = d_y·g: d_x += r·(d_x̂ − mean(d_x̂) − x̂·mean(d_x̂·x̂)), and d_gain = Σ d_y·x̂,
/// d_bias = Σ d_y, overwritten, or added to if `accumulate`.
pub fn backward<S: Simd>(
    simd: S,
    x_hat: &[f32],
    r: &[f32],
    gain: &[f32],
    d_y: &[f32],
    d_x: &mut [f32],
    d_gain: &mut [f32],
    d_bias: &mut [f32],
    accumulate: bool,
) {
    let d = gain.len();
    if !accumulate {
        d_gain.fill(0.0);
        d_bias.fill(0.0);
    }
    simd.run(
        #[inline(always)]
        || {
            if held!(
                d,
                backward_held(simd, x_hat, r, gain, d_y, d_x, d_gain, d_bias)
            ) {
                return;
            }
            for (row, &r) in r.iter().enumerate() {
                let (x_hat, d_y) = (&x_hat[row * d..][..d], &d_y[row * d..][..d]);
                let d_x = &mut d_x[row * d..][..d];
                let (mut total, mut total_hat) = (simd.zero(), simd.zero());
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        let (hat, dy) = (simd.get(x_hat, at, lanes), simd.get(d_y, at, lanes));
                        let d_hat = simd.mul(dy, simd.get(gain, at, lanes));
                        total = simd.add(total, d_hat);
                        total_hat = simd.mul_add(d_hat, hat, total_hat);
                        simd.put(
                            d_gain,
                            at,
                            lanes,
                            simd.mul_add(dy, hat, simd.get(d_gain, at, lanes)),
                        );
                        simd.put(d_bias, at, lanes, simd.add(dy, simd.get(d_bias, at, lanes)));
                    },
                );
                let mean = simd.splat(simd.sum(total) / d as f32);
                let mean_hat = simd.splat(simd.sum(total_hat) / d as f32);
                let r = simd.splat(r);
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        let (hat, dy) = (simd.get(x_hat, at, lanes), simd.get(d_y, at, lanes));
                        let d_hat = simd.mul(dy, simd.get(gain, at, lanes));
                        let inner = simd.neg_mul_add(hat, mean_hat, simd.sub(d_hat, mean));
                        simd.put(
                            d_x,
                            at,
                            lanes,
                            simd.mul_add(r, inner, simd.get(d_x, at, lanes)),
                        );
                    },
                );
            }
        },
    )
}

#[inline(always)]
fn forward_held<S: Simd, const VECTORS: usize>(
    simd: S,
    x: &[f32],
    gain: &[f32],
    bias: &[f32],
    x_hat: &mut [f32],
    r: &mut [f32],
    y: &mut [f32],
) {
    let d = VECTORS * S::LANES;
    let (gain, bias) = (
        row_of::<S, VECTORS>(simd, gain),
        row_of::<S, VECTORS>(simd, bias),
    );
    let outputs = x_hat.chunks_exact_mut(d).zip(y.chunks_exact_mut(d)).zip(r);
    for (x, ((x_hat, y), r)) in x.chunks_exact(d).zip(outputs) {
        let mut row = row_of::<S, VECTORS>(simd, x);
        let mut total = simd.zero();
        for v in 0..VECTORS {
            total = simd.add(total, row[v]);
        }
        let mean = simd.splat(simd.sum(total) / d as f32);
        let mut squares = simd.zero();
        for v in 0..VECTORS {
            row[v] = simd.sub(row[v], mean);
            squares = simd.mul_add(row[v], row[v], squares);
        }
        *r = 1.0 / (simd.sum(squares) / d as f32 + EPSILON as f32).sqrt();
        let scale = simd.splat(*r);
        for v in 0..VECTORS {
            let hat = simd.mul(row[v], scale);
            simd.put(x_hat, v * S::LANES, Lanes(S::LANES), hat);
            let scaled = simd.mul_add(hat, gain[v], bias[v]);
            simd.put(y, v * S::LANES, Lanes(S::LANES), scaled);
        }
    }
}

#[inline(always)]
fn backward_held<S: Simd, const VECTORS: usize>(
    simd: S,
    x_hat: &[f32],
    r: &[f32],
    gain: &[f32],
    d_y: &[f32],
    d_x: &mut [f32],
    d_gain: &mut [f32],
    d_bias: &mut [f32],
) {
    let d = VECTORS * S::LANES;
    let gain = row_of::<S, VECTORS>(simd, gain);
    let mut sums_gain = row_of::<S, VECTORS>(simd, d_gain);
    let mut sums_bias = row_of::<S, VECTORS>(simd, d_bias);
    let inputs = x_hat.chunks_exact(d).zip(d_y.chunks_exact(d)).zip(r);
    for (((x_hat, d_y), &r), d_x) in inputs.zip(d_x.chunks_exact_mut(d)) {
        let (hat, dy) = (
            row_of::<S, VECTORS>(simd, x_hat),
            row_of::<S, VECTORS>(simd, d_y),
        );
        let mut d_hat = [simd.zero(); VECTORS];
        let (mut total, mut total_hat) = (simd.zero(), simd.zero());
        for v in 0..VECTORS {
            d_hat[v] = simd.mul(dy[v], gain[v]);
            total = simd.add(total, d_hat[v]);
            total_hat = simd.mul_add(d_hat[v], hat[v], total_hat);
            sums_gain[v] = simd.mul_add(dy[v], hat[v], sums_gain[v]);
            sums_bias[v] = simd.add(dy[v], sums_bias[v]);
        }
        let mean = simd.splat(simd.sum(total) / d as f32);
        let mean_hat = simd.splat(simd.sum(total_hat) / d as f32);
        let r = simd.splat(r);
        let before = row_of::<S, VECTORS>(simd, d_x);
        for v in 0..VECTORS {
            let inner = simd.neg_mul_add(hat[v], mean_hat, simd.sub(d_hat[v], mean));
            simd.put(
                d_x,
                v * S::LANES,
                Lanes(S::LANES),
                simd.mul_add(r, inner, before[v]),
            );
        }
    }
    for v in 0..VECTORS {
        simd.put(d_gain, v * S::LANES, Lanes(S::LANES), sums_gain[v]);
        simd.put(d_bias, v * S::LANES, Lanes(S::LANES), sums_bias[v]);
    }
}

/// A row in registers.
#[inline(always)]
fn row_of<S: Simd, const VECTORS: usize>(simd: S, values: &[f32]) -> [S::V; VECTORS] {
    let mut row = [simd.zero(); VECTORS];
    for v in 0..VECTORS {
        row[v] = simd.get(values, v * S::LANES, Lanes(S::LANES));
    }
    row
}
