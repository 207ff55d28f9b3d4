//! Vectorised elementary functions: 2ˣ, and the normal distribution that GELU needs.

use super::simd::Simd;
use std::f32::consts::LOG2_E;

/// Below it 2ˣ is taken for 2^this: small enough to vanish beside 1, far enough from subnormal
/// numbers, on which the hardware is slow, that a product with such a weight is still normal.
pub const LOWEST: f32 = -100.0;

/// 2ᶠ in powers of f, minimax in relative error (9e-8) among those that are 1 at 0, for f in [−½,
/// ½].
#[allow(clippy::approx_constant)] // the best second coefficient is close to ln 2, but not ln 2
const EXP2_CENTRED: [f32; 6] = [
    1.0,
    0.693_147,
    0.240_222_42,
    0.055_507_336,
    0.009_671_513,
    0.001_326_472_8,
];
/// 2ᶠ in powers of f for f in [0, 1), likewise minimax (8e-8).
const EXP2_UPWARD: [f32; 6] = [
    1.0,
    0.693_151_3,
    0.240_164_44,
    0.055_799_916,
    0.009_017_028,
    0.001_867_131_3,
];

/// 2ˣ for x ≤ 127, relative error 3e-7 at most, most of it rounding; 2⁻¹⁰⁰ for every x below −100.
#[inline(always)]
pub fn exp2<S: Simd>(simd: S, x: S::V) -> S::V {
    exp2_in_range(simd, simd.max(x, simd.splat(LOWEST)))
}

/// 2ˣ for x known to lie between −100 and 127, as accurate as [`exp2`].
#[inline(always)]
pub fn exp2_in_range<S: Simd>(simd: S, x: S::V) -> S::V {
    let (fraction, power) = simd.split(x);
    let c = if S::CENTRED {
        &EXP2_CENTRED
    } else {
        &EXP2_UPWARD
    };
    // Horner's rule at the bottom, where rounding counts, and pairs at the top, where latency does.
    let square = simd.mul(fraction, fraction);
    let middle = simd.mul_add(simd.splat(c[3]), fraction, simd.splat(c[2]));
    let high = simd.mul_add(simd.splat(c[5]), fraction, simd.splat(c[4]));
    let upper = simd.mul_add(high, square, middle);
    let lower = simd.mul_add(upper, fraction, simd.splat(c[1]));
    simd.scale_by_power(simd.mul_add(lower, fraction, simd.splat(c[0])), power)
}

/// Σ_i c_i xⁱ by Horner's rule.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, x: S::V, coefficients: &[f32; N]) -> S::V {
    let mut value = simd.splat(coefficients[N - 1]);
    for &c in coefficients[..N - 1].iter().rev() {
        value = simd.mul_add(value, x, simd.splat(c));
    }
    value
}

/// erfc(a) = t·R(t)·exp(−a²) with t = 1/(1 + 0.4a), a ≥ 0: coefficients of R, minimax for the error
/// of erfc (3e-8).
const ERFC: [f32; 6] = [
    0.231_920_94,
    0.161_830_96,
    0.468_255_4,
    -0.370_884_3,
    0.709_132_5,
    -0.200_255_56,
];
/// The 0.4 above over √2, since a = |x|/√2.
const ERFC_SLOPE: f32 = 0.282_842_7;
/// 1/√(2π).
const DENSITY_PEAK: f32 = 0.398_942_3;

/// Distribution function Φ(x) and density φ(x) of the standard normal, absolute error below 2e-7.
#[inline(always)]
pub fn normal<S: Simd>(simd: S, x: S::V) -> (S::V, S::V) {
    let one = simd.splat(1.0);
    let bell = exp2(simd, simd.mul(simd.mul(x, x), simd.splat(-0.5 * LOG2_E))); // exp(−x²/2)
    let t = simd.div(one, simd.mul_add(simd.abs(x), simd.splat(ERFC_SLOPE), one));
    let tail = simd.mul(
        simd.mul(simd.splat(0.5), t),
        simd.mul(polynomial(simd, t, &ERFC), bell),
    ); // Φ(−|x|)
    let distribution = simd.select_non_negative(x, simd.sub(one, tail), tail);
    (distribution, simd.mul(bell, simd.splat(DENSITY_PEAK)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::portable::Portable;

    #[test]
    fn exp2_is_accurate_to_single_precision() {
        for i in 0..100_000 {
            let x = -100.0 + i as f32 * 0.002;
            let exact = (x as f64).exp2();
            let got = exp2(Portable, [x; 8])[0] as f64;
            assert!((got / exact - 1.0).abs() < 3e-7, "2^{x}: {got} for {exact}");
        }
        assert_eq!(exp2(Portable, [f32::NEG_INFINITY; 8])[0], (-100f32).exp2());
    }

    #[test]
    fn normal_distribution_is_accurate_to_single_precision() {
        for i in -120_000..=120_000 {
            let x = i as f32 * 1e-4;
            let (distribution, density) = normal(Portable, [x; 8]);
            let x = x as f64;
            let exact = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
            let exact_density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            assert!(
                (distribution[0] as f64 - exact).abs() < 2e-7,
                "Φ({x}): {} for {exact}",
                distribution[0]
            );
            assert!((density[0] as f64 - exact_density).abs() < 2e-7, "φ({x})");
        }
    }
}
