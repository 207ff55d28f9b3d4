//! Levels as text: differences, compressed, in base64.
//!
//! In: planes of levels. Out: one text. Each plane becomes the differences of successive levels
//! (modulo 2¹⁶), first all their low bytes, then all their high bytes, which compress well: a
//! signal moves little from one sample to the next. Then deflate (RFC 1951), which browsers undo
//! with `DecompressionStream`, and base64 (RFC 4648).

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// Fast enough for a page of the largest size in about a second.
const LEVEL: u32 = 4;

/// The planes, one behind the other.
pub fn packed(planes: &[Vec<i16>]) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
    for plane in planes {
        let before = std::iter::once(&0).chain(plane);
        let differences: Vec<[u8; 2]> = plane
            .iter()
            .zip(before)
            .map(|(level, before)| level.wrapping_sub(*before).to_le_bytes())
            .collect();
        for byte in 0..2 {
            let bytes: Vec<u8> = differences.iter().map(|pair| pair[byte]).collect();
            encoder.write_all(&bytes).expect("a vector takes all bytes");
        }
    }
    base64(&encoder.finish().expect("a vector takes all bytes"))
}

/// Bytes as base64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| {
            bits << 8 | u32::from(chunk.get(i).copied().unwrap_or(0))
        });
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= chunk.len() {
                char::from(DIGITS[value as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in pairs {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn a_smooth_signal_takes_less_than_half_its_bytes() {
        let levels: Vec<i16> = (0..50_000)
            .map(|t| (30_000.0 * (f64::from(t) * 0.003).sin()) as i16)
            .collect();
        assert!(packed(&[levels]).len() < 50_000);
    }
}
