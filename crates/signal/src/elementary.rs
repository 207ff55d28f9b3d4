//! exp and tanh as plain arithmetic: loops over them vectorise, and every machine gives the same
//! bits.
//!
//! Everything that the nonlinear methods do to a sample costs one exponential. The one of `libm` is
//! as reproducible, but its branches keep a loop scalar.

/// exp(x) of smaller x is this one's, 1e-304.
const LEAST: f64 = -700.0;
/// 1.5·2⁵²: adding it leaves the nearest whole number in the last bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first with zeros at its end, so that n·LN2_HIGH is exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1/n! for n = 13 … 0.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// exp(x) for x ≤ 0: 2ⁿ·exp(r) with |r| ≤ ½·ln 2 and exp(r) by its series.
#[inline(always)]
pub fn exp_negative(x: f64) -> f64 {
    let x = x.max(LEAST);
    let shifted = x * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let mut series = INVERSE_FACTORIALS[0];
    for coefficient in &INVERSE_FACTORIALS[1..] {
        series = series * r + coefficient;
    }
    // The last bits of the shifted number are n; as an exponent they are 2ⁿ.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    series * power
}

/// tanh u = (1 − e)/(1 + e), with the sign of u, and e = exp(−2|u|).
#[inline(always)]
pub fn tanh_and_decay(u: f64) -> (f64, f64) {
    let decay = exp_negative(-2.0 * u.abs());
    (((1.0 - decay) / (1.0 + decay)).copysign(u), decay)
}

/// u_i ← tanh(u_i + shift), with the widest registers that the machine has; NaN stays NaN.
pub fn tanh_in_place(values: &mut [f64], shift: f64) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for value in values {
                let u = *value + shift;
                let tanh = tanh_and_decay(u).0;
                *value = if u.is_nan() { u } else { tanh };
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_agree_with_libm_over_their_range() {
        for i in 0..200_000 {
            let x = -700.0 * (i as f64 / 200_000.0).powi(3);
            let (found, expected) = (exp_negative(x), libm::exp(x));
            assert!(
                (found / expected - 1.0).abs() < 4e-16,
                "exp({x}): {found} against {expected}"
            );
            for u in [x, -x] {
                let (found, expected) = (tanh_and_decay(u).0, libm::tanh(u));
                assert!(
                    (found - expected).abs() < 3e-16,
                    "tanh({u}): {found} against {expected}"
                );
            }
        }
        assert_eq!((exp_negative(0.0), tanh_and_decay(0.0)), (1.0, (0.0, 1.0)));
        assert!(exp_negative(f64::NEG_INFINITY) < 1e-300 && tanh_and_decay(1e300).0 == 1.0);
    }

    #[test]
    fn many_values_have_the_bits_of_one_and_nan_stays() {
        for n in [0, 1, 7, 8, 100] {
            let u: Vec<f64> = (0..n).map(|i| 0.37 * i as f64 - 9.0).collect();
            let mut found = u.clone();
            tanh_in_place(&mut found, 0.25);
            for (u, found) in u.iter().zip(&found) {
                assert_eq!(found.to_bits(), tanh_and_decay(u + 0.25).0.to_bits(), "{u}");
            }
        }
        let mut found = [f64::NAN, f64::INFINITY, -1e300];
        tanh_in_place(&mut found, 0.0);
        assert!(
            found[0].is_nan() && found[1] == 1.0 && found[2] == -1.0,
            "{found:?}"
        );
    }
}
