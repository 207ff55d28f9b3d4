//! Samples of a WFDB signal file, one after the other.

use std::io::{self, Read};

/// How samples are written, under the numbers that WFDB gives these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// 16: two's complement, little-endian.
    I16,
    /// 61: two's complement, big-endian.
    I16Big,
    /// 160: unsigned with an offset of 32768.
    U16,
    /// 24.
    I24,
    /// 32.
    I32,
    /// 80: unsigned with an offset of 128.
    U8,
    /// 212: two samples of 12 bits in three bytes.
    Pairs,
}

impl Coding {
    pub fn from_code(code: &str) -> Option<Self> {
        Some(match code {
            "16" => Coding::I16,
            "61" => Coding::I16Big,
            "160" => Coding::U16,
            "24" => Coding::I24,
            "32" => Coding::I32,
            "80" => Coding::U8,
            "212" => Coding::Pairs,
            _ => return None,
        })
    }

    /// Bytes of so many samples; `None` when no file can be that long.
    pub fn bytes(self, n_samples: u64) -> Option<u64> {
        match self {
            Coding::U8 => Some(n_samples),
            Coding::I16 | Coding::I16Big | Coding::U16 => n_samples.checked_mul(2),
            Coding::I24 => n_samples.checked_mul(3),
            Coding::I32 => n_samples.checked_mul(4),
            Coding::Pairs => n_samples.checked_mul(3).map(|bytes| bytes.div_ceil(2)),
        }
    }

    /// Whole samples in so many bytes.
    pub fn samples(self, bytes: u64) -> u64 {
        match self {
            Coding::U8 => bytes,
            Coding::I16 | Coding::I16Big | Coding::U16 => bytes / 2,
            Coding::I24 => bytes / 3,
            Coding::I32 => bytes / 4,
            Coding::Pairs => (bytes / 3) * 2 + u64::from(bytes % 3 == 2),
        }
    }

    /// The sample that stands for a missing one.
    fn invalid(self) -> i32 {
        match self {
            Coding::U8 => -128,
            Coding::I16 | Coding::I16Big | Coding::U16 => -32_768,
            Coding::I24 => -(1 << 23),
            Coding::I32 => i32::MIN,
            Coding::Pairs => -2048,
        }
    }
}

/// Decodes one file.
pub(super) struct Samples<R> {
    input: R,
    coding: Coding,
    /// The second of a pair.
    pending: Option<i32>,
}

impl<R: Read> Samples<R> {
    pub fn new(input: R, coding: Coding) -> Self {
        let pending = None;
        Self {
            input,
            coding,
            pending,
        }
    }

    /// The next sample; NaN when it is missing.
    pub fn next(&mut self) -> io::Result<f64> {
        let sample = self.next_number()?;
        if sample == self.coding.invalid() {
            return Ok(f64::NAN);
        }
        Ok(f64::from(sample))
    }

    fn next_number(&mut self) -> io::Result<i32> {
        Ok(match self.coding {
            Coding::U8 => i32::from(u8::from_le_bytes(self.bytes()?)) - 128,
            Coding::I16 => i32::from(i16::from_le_bytes(self.bytes()?)),
            Coding::I16Big => i32::from(i16::from_be_bytes(self.bytes()?)),
            Coding::U16 => i32::from(u16::from_le_bytes(self.bytes()?)) - 32_768,
            Coding::I24 => {
                let [low, middle, high] = self.bytes()?;
                i32::from_le_bytes([0, low, middle, high]) >> 8
            }
            Coding::I32 => i32::from_le_bytes(self.bytes()?),
            Coding::Pairs => match self.pending.take() {
                Some(second) => second,
                None => {
                    let [low, shared] = self.bytes()?;
                    // A last sample without a partner has no third byte.
                    let mut other = [0];
                    let has_partner = self.input.read(&mut other)? == 1;
                    self.pending = has_partner.then_some(twelve_bits(shared >> 4, other[0]));
                    twelve_bits(shared & 0x0f, low)
                }
            },
        })
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Two's complement of 12 bits: four in `high`, eight in `low`.
fn twelve_bits(high: u8, low: u8) -> i32 {
    let bits = i32::from(high) << 8 | i32::from(low);
    if bits >= 2048 { bits - 4096 } else { bits }
}
