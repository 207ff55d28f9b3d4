//! Layer normalisation by rows: x̂ = (x − μ)·r with r = 1/√(σ² + ε), y = x̂·g + b.
//!
//! x̂ and r are what the backward pass needs; y is not kept but made again from x̂ by [`scale`].

use super::simd::Simd;
use crate::reference::layernorm::EPSILON;

/// x (M×d) → x̂ (M×d) and r (M).
pub fn forward<S: Simd>(simd: S, d: usize, x: &[f32], x_hat: &mut [f32], r: &mut [f32]) {
    simd.run(
        #[inline(always)]
        || {
            for ((x, x_hat), r) in x.chunks_exact(d).zip(x_hat.chunks_exact_mut(d)).zip(r) {
                let mut total = simd.zero();
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| total = simd.add(total, simd.get(x, at, lanes)),
                );
                let mean = simd.sum(total) / d as f32;
                // Lanes beyond d hold 0 − mean: they are written nowhere but must not count in the variance.
                let mut squares = simd.zero();
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        let centred = simd.sub(simd.get(x, at, lanes), simd.splat(mean));
                        simd.put(x_hat, at, lanes, centred);
                        let centred = simd.get(x_hat, at, lanes);
                        squares = simd.mul_add(centred, centred, squares);
                    },
                );
                *r = 1.0 / (simd.sum(squares) / d as f32 + EPSILON as f32).sqrt();
                simd.for_each_vector(
                    d,
                    #[inline(always)]
                    |at, lanes| {
                        let hat = simd.mul(simd.get(x_hat, at, lanes), simd.splat(*r));
                        simd.put(x_hat, at, lanes, hat);
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

/// With d_x̂ = d_y·g:  d_x += r·(d_x̂ − mean(d_x̂) − x̂·mean(d_x̂·x̂)),  d_gain += Σ d_y·x̂,  d_bias += Σ d_y.
pub fn backward<S: Simd>(
    simd: S,
    x_hat: &[f32],
    r: &[f32],
    gain: &[f32],
    d_y: &[f32],
    d_x: &mut [f32],
    d_gain: &mut [f32],
    d_bias: &mut [f32],
) {
    let d = gain.len();
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
