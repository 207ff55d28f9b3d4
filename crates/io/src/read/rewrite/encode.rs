//! f64 → numbers of fixed width: the way back of [`Number::decoder`].

use crate::read::numbers::{Endian, Number};

impl Number {
    /// Least and largest whole number; `None` for floating point.
    pub fn limits(self) -> Option<(i128, i128)> {
        let (bits, signed) = match self {
            Number::I8 => (8, true),
            Number::U8 => (8, false),
            Number::I16 => (16, true),
            Number::U16 => (16, false),
            Number::I24 => (24, true),
            Number::I32 => (32, true),
            Number::U32 => (32, false),
            Number::I64 => (64, true),
            Number::U64 => (64, false),
            Number::F16 | Number::F32 | Number::F64 => return None,
        };
        Some(match signed {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        })
    }

    /// Writes the number of this kind that is nearest to `value` into [`Number::size`] bytes;
    /// `false` where there is none.
    pub fn encode(self, endian: Endian, value: f64, bytes: &mut [u8]) -> bool {
        let little: [u8; 16] = match self.limits() {
            Some((least, most)) => {
                let whole = value.round() as i128;
                if value.is_nan() || !(least..=most).contains(&whole) {
                    return false;
                }
                whole.to_le_bytes()
            }
            None => {
                let Some(bits) = self.bits(value) else {
                    return false;
                };
                u128::from(bits).to_le_bytes()
            }
        };
        bytes.copy_from_slice(&little[..self.size()]);
        if endian == Endian::Big {
            bytes.reverse();
        }
        true
    }

    /// The bits of a floating-point number; `None` where it would be infinite.
    fn bits(self, value: f64) -> Option<u64> {
        match self {
            Number::F16 => f16(value).map(u64::from),
            Number::F32 => {
                let single = value as f32;
                (!single.is_infinite()).then(|| u64::from(single.to_bits()))
            }
            _ => (!value.is_infinite()).then(|| value.to_bits()),
        }
    }
}

fn f16(value: f64) -> Option<u16> {
    if value.is_nan() {
        return Some(0x7e00);
    }
    let (sign, size) = (u16::from(value.is_sign_negative()) << 15, value.abs());
    // Half the step above the largest number, 65504.
    if size >= 65520.0 {
        return None;
    }
    let exponent = if size < 2f64.powi(-14) {
        -14
    } else {
        size.log2().floor() as i32
    };
    // 1024 to 2048 steps, or fewer below the least exponent; 2048 of them are the next exponent.
    let steps = (size / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    Some(sign | ((((exponent + 14) as u16) << 10) + steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Number; 12] = [
        Number::I8,
        Number::U8,
        Number::I16,
        Number::U16,
        Number::I24,
        Number::I32,
        Number::U32,
        Number::I64,
        Number::U64,
        Number::F16,
        Number::F32,
        Number::F64,
    ];

    #[test]
    fn what_is_encoded_is_decoded() {
        for number in ALL {
            for endian in [Endian::Little, Endian::Big] {
                let mut bytes = vec![0; number.size()];
                let floating = number.limits().is_none();
                for value in [0.0, 1.0, 100.0, -1.0, -128.0, 0.5, -65504.0, 6e-8] {
                    let fits = number.encode(endian, value, &mut bytes);
                    let unsigned = number.limits().is_some_and(|(least, _)| least == 0);
                    let small = number
                        .limits()
                        .is_some_and(|(least, _)| value < least as f64);
                    assert_eq!(fits, !small, "{number:?} {value}");
                    if !fits {
                        assert!(unsigned || number == Number::I8 || number == Number::I16);
                        continue;
                    }
                    let found = number.decoder(endian)(&bytes);
                    let expected = if floating { value } else { value.round() };
                    let room = if floating { 3e-8 } else { 0.0 };
                    assert!(
                        (found - expected).abs() <= room,
                        "{number:?} {value} {found}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_half_precision_number_comes_back() {
        for bits in 0..=u16::MAX {
            let value = Number::F16.decoder(Endian::Little)(&bits.to_le_bytes());
            if value.is_finite() {
                assert_eq!(f16(value), Some(bits), "{value}");
            }
        }
        assert_eq!(f16(65519.9), Some(0x7bff));
        assert_eq!(f16(65520.0), None);
    }

    #[test]
    fn limits_are_kept() {
        let fits = |number: Number, value| {
            number.encode(Endian::Little, value, &mut vec![0; number.size()])
        };
        for (number, most) in [
            (Number::I16, 32767.0),
            (Number::I24, 8_388_607.0),
            (Number::U8, 255.0),
        ] {
            assert!(fits(number, most) && fits(number, most + 0.4));
            assert!(!fits(number, most + 0.5), "{number:?}");
        }
        assert!(!fits(Number::I16, f64::NAN) && fits(Number::F32, f64::NAN));
        assert!(!fits(Number::F32, 1e39) && !fits(Number::I64, f64::INFINITY));
        assert!(!fits(Number::U64, 2f64.powi(64)) && fits(Number::I64, -(2f64.powi(63))));
    }
}
