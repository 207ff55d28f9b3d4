//! Adam, or a plain step, over the contiguous parameters of one branch: gradient scaling, both
//! moments, decay and step in one pass.

use super::simd::Simd;
use crate::AdamStep;
use crate::adam::AdamFactors;

/// Updates `parameters` and both moments in place from `scale` × `gradient`. See [`AdamStep`] for
/// the equations.
pub fn update<S: Simd>(
    simd: S,
    step: &AdamStep,
    scale: f64,
    gradient: &[f32],
    parameters: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let AdamFactors {
        keep,
        rate,
        second_scale,
    } = step.factors();
    if step.plain {
        return along_gradient(simd, keep, step.rate * scale, gradient, parameters);
    }
    simd.run(
        #[inline(always)]
        || {
            let (beta1, beta2) = (constant(simd, step.beta1), constant(simd, step.beta2));
            let (fresh1, fresh2) = (
                constant(simd, 1.0 - step.beta1),
                constant(simd, 1.0 - step.beta2),
            );
            let (scale, keep, rate) = (
                constant(simd, scale),
                constant(simd, keep),
                constant(simd, rate),
            );
            let (second_scale, epsilon) =
                (constant(simd, second_scale), constant(simd, step.epsilon));
            simd.for_each_vector(
                parameters.len(),
                #[inline(always)]
                |at, lanes| {
                    let g = simd.mul(scale, simd.get(gradient, at, lanes));
                    let m = simd.mul_add(beta1, simd.get(first, at, lanes), simd.mul(fresh1, g));
                    let v = simd.mul_add(
                        beta2,
                        simd.get(second, at, lanes),
                        simd.mul(fresh2, simd.mul(g, g)),
                    );
                    let denominator = simd.mul_add(simd.sqrt(v), second_scale, epsilon);
                    let kept = simd.mul(keep, simd.get(parameters, at, lanes));
                    let p = simd.neg_mul_add(rate, simd.div(m, denominator), kept);
                    simd.put(first, at, lanes, m);
                    simd.put(second, at, lanes, v);
                    simd.put(parameters, at, lanes, p);
                },
            );
        },
    )
}

/// p ← keep·p − rate·g.
fn along_gradient<S: Simd>(
    simd: S,
    keep: f64,
    rate: f64,
    gradient: &[f32],
    parameters: &mut [f32],
) {
    simd.run(
        #[inline(always)]
        || {
            let (keep, rate) = (constant(simd, keep), constant(simd, rate));
            simd.for_each_vector(
                parameters.len(),
                #[inline(always)]
                |at, lanes| {
                    let kept = simd.mul(keep, simd.get(parameters, at, lanes));
                    let p = simd.neg_mul_add(rate, simd.get(gradient, at, lanes), kept);
                    simd.put(parameters, at, lanes, p);
                },
            );
        },
    )
}

#[inline(always)]
fn constant<S: Simd>(simd: S, x: f64) -> S::V {
    simd.splat(x as f32)
}
