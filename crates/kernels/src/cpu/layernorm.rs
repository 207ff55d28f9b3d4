//! Layer normalisation by rows: x̂ = (x − μ)·r with r = 1/√(σ² + ε), y = x̂·g + b.
//!
//! x̂ and r are what the backward pass needs; y is not kept but made again from x̂ by [`scale`].

use super::simd::Simd;
use crate::reference::layernorm::EPSILON;

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

/// With d_x̂ = d_y·g:  d_x += r·(d_x̂ − mean(d_x̂) − x̂·mean(d_x̂·x̂)),  and d_gain = Σ d_y·x̂,  d_bias = Σ d_y,
/// overwritten, or added to if `accumulate`.
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
                        simd.put(d_x, at, lanes, simd.mul_add(r, inner, simd.get(d_x, at, lanes)));
                    },
                );
            }
        },
    )
}
