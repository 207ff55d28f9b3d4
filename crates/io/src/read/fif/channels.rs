//! The channels of a FIF file: what they are, in which unit, and where.
//!
//! In: the structures of 96 bytes that describe them. Out: names, factors, units, positions, and
//! why some are left out. Kinds, units and layout as the file `fiff_explanations` of MNE lists
//! them.

use crate::error::Result;
use crate::read::source::damaged;
use std::path::Path;

/// Bytes of a description.
const SIZE: usize = 96;
const EEG: i32 = 2;
const STIM: i32 = 3;

/// One channel, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Described {
    pub kind: i32,
    /// Physical units of one step of the numbers: calibration × range.
    pub factor: f64,
    pub unit: Option<String>,
    pub position: Option<[f64; 3]>,
    /// At most 15 letters; longer names are in a place of their own.
    pub name: String,
}

impl Described {
    pub fn parse(path: &Path, number: usize, bytes: &[u8]) -> Result<Self> {
        if bytes.len() < SIZE {
            return Err(damaged(
                path,
                format!("description of channel {number}"),
                format!("{SIZE} bytes"),
                bytes.len().to_string(),
            ));
        }
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let integer = |at: usize| i32::from_be_bytes(four(at));
        let real = |at: usize| f64::from(f32::from_be_bytes(four(at)));
        let kind = integer(8);
        let place = [real(24), real(28), real(32)];
        let is_known = place.iter().all(|x| x.is_finite()) && place.iter().any(|&x| x != 0.0);
        let letters = bytes[80..96].iter().take_while(|&&byte| byte != 0);
        Ok(Self {
            kind,
            factor: real(12) * real(16),
            unit: unit(integer(72), integer(76)),
            // Places of coils are given in the coordinates of the device, not of the head.
            position: (is_known && [EEG, SEEG, ECOG, DBS].contains(&kind)).then_some(place),
            name: letters.map(|&byte| char::from(byte)).collect(),
        })
    }

    pub fn is_stim(&self) -> bool {
        self.kind == STIM
    }

    /// Why the channel is no signal.
    pub fn left_out(&self) -> Option<&'static str> {
        match self.kind {
            STIM => Some("it holds triggers"),
            900 | 910 | 920 => Some("it holds states of the device"),
            700..=709 => Some("it holds positions of the head"),
            _ => None,
        }
    }
}

const SEEG: i32 = 802;
const DBS: i32 = 803;
const ECOG: i32 = 902;

/// `V`, or `µV` where the file says that its numbers are millionths.
fn unit(code: i32, power: i32) -> Option<String> {
    let unit = match code {
        1 => "m",
        3 => "s",
        4 => "A",
        5 => "K",
        6 => "mol",
        7 => "rad",
        10 => "M",
        101 => "Hz",
        102 => "N",
        103 => "Pa",
        104 => "J",
        105 => "W",
        107 => "V",
        109 => "Ω",
        110 => "S",
        112 => "T",
        114 => "°C",
        117 => "V/m²",
        201 => "T/m",
        202 => "Am",
        210 => "px",
        _ => return None,
    };
    let prefix = match power {
        0 => "",
        3 => "k",
        6 => "M",
        9 => "G",
        -3 => "m",
        -6 => "µ",
        -9 => "n",
        -12 => "p",
        -15 => "f",
        _ => return None,
    };
    Some(format!("{prefix}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read() {
        let mut bytes = Vec::new();
        for number in [1, 1, EEG] {
            bytes.extend(number.to_be_bytes());
        }
        for number in [0.5f32, 4.0] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(1i32.to_be_bytes());
        for at in 0..12 {
            bytes.extend((0.01 * at as f32).to_be_bytes());
        }
        bytes.extend(107i32.to_be_bytes());
        bytes.extend((-6i32).to_be_bytes());
        bytes.extend(b"EEG 001\0\0\0\0\0\0\0\0\0");
        let channel = Described::parse(Path::new("a.fif"), 1, &bytes).unwrap();
        assert_eq!((channel.factor, channel.unit.as_deref()), (2.0, Some("µV")));
        assert_eq!(channel.name, "EEG 001");
        assert!(
            channel
                .position
                .is_some_and(|[x, y, _]| x == 0.0 && (y - 0.01).abs() < 1e-8)
        );
        assert!(Described::parse(Path::new("a.fif"), 1, &bytes[..95]).is_err());
    }
}
