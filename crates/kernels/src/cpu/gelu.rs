//! GELU(x) = x·Φ(x), the exact form. Its slope Φ(x) + x·φ(x) needs the same exponential, so the
//! forward pass makes both and the backward pass is one product.

use super::math::normal;
use super::simd::Simd;

/// x → GELU(x) and GELU′(x), element by element.
pub fn forward<S: Simd>(simd: S, x: &[f32], active: &mut [f32], slope: &mut [f32]) {
    simd.run(
        #[inline(always)]
        || {
            simd.for_each_vector(
                x.len(),
                #[inline(always)]
                |at, lanes| {
                    let x = simd.get(x, at, lanes);
                    let (distribution, density) = normal(simd, x);
                    simd.put(active, at, lanes, simd.mul(x, distribution));
                    simd.put(slope, at, lanes, simd.mul_add(x, density, distribution));
                },
            );
        },
    )
}

/// Turns d_active into d_x in place: d_x = d_active·GELU′(x).
pub fn backward<S: Simd>(simd: S, slope: &[f32], d: &mut [f32]) {
    simd.run(
        #[inline(always)]
        || {
            simd.for_each_vector(
                d.len(),
                #[inline(always)]
                |at, lanes| {
                    simd.put(
                        d,
                        at,
                        lanes,
                        simd.mul(simd.get(d, at, lanes), simd.get(slope, at, lanes)),
                    );
                },
            );
        },
    )
}
