//! Samples of a WFDB signal file, one after the other.
//!
//! The formats are those of <https://physionet.org/physiotools/wag/signal-5.htm>, with 310 and 311
//! as the WFDB library reads them.

use crate::flac::Decoder;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

/// How samples are written, under the numbers that WFDB gives these ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// 0: nothing is written, in a layout.
    None,
    /// 8: differences of 8 bits.
    Differences,
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
    /// 310: three samples of 10 bits in four bytes, two of them in the middle of two bytes.
    Triples,
    /// 311: three samples of 10 bits in four bytes, one after the other.
    PackedTriples,
    /// 508, 516 and 524: a FLAC stream of at most so many bits.
    Flac(u32),
}

impl Coding {
    /// What can be read, for messages.
    pub const KNOWN: &str = "8, 16, 24, 32, 61, 80, 160, 212, 310, 311, 508, 516 or 524";

    pub fn from_code(code: &str) -> Option<Self> {
        Some(match code {
            "0" => Coding::None,
            "8" => Coding::Differences,
            "16" => Coding::I16,
            "61" => Coding::I16Big,
            "160" => Coding::U16,
            "24" => Coding::I24,
            "32" => Coding::I32,
            "80" => Coding::U8,
            "212" => Coding::Pairs,
            "310" => Coding::Triples,
            "311" => Coding::PackedTriples,
            "508" => Coding::Flac(8),
            "516" => Coding::Flac(16),
            "524" => Coding::Flac(24),
            _ => return None,
        })
    }

    /// Bytes of so many samples, those of FLAC aside; `None` when no file can be that long.
    pub fn bytes(self, n_samples: u64) -> Option<u64> {
        match self {
            Coding::None | Coding::Flac(_) => Some(0),
            Coding::U8 | Coding::Differences => Some(n_samples),
            Coding::I16 | Coding::I16Big | Coding::U16 => n_samples.checked_mul(2),
            Coding::I24 => n_samples.checked_mul(3),
            Coding::I32 => n_samples.checked_mul(4),
            Coding::Pairs => n_samples.checked_mul(3).map(|bytes| bytes.div_ceil(2)),
            Coding::Triples => of_triples(n_samples, [0, 2, 4]),
            Coding::PackedTriples => of_triples(n_samples, [0, 2, 3]),
        }
    }

    /// Whole samples in so many bytes.
    pub fn samples(self, bytes: u64) -> u64 {
        match self {
            Coding::None | Coding::Flac(_) => 0,
            Coding::U8 | Coding::Differences => bytes,
            Coding::I16 | Coding::I16Big | Coding::U16 => bytes / 2,
            Coding::I24 => bytes / 3,
            Coding::I32 => bytes / 4,
            Coding::Pairs => (bytes / 3) * 2 + u64::from(bytes % 3 == 2),
            Coding::Triples => bytes / 4 * 3 + [0, 0, 1, 1][bytes as usize % 4],
            Coding::PackedTriples => bytes / 4 * 3 + [0, 0, 1, 2][bytes as usize % 4],
        }
    }

    /// The sample that stands for a missing one.
    fn invalid(self) -> Option<i64> {
        match self {
            Coding::None | Coding::Differences => None,
            Coding::U8 | Coding::Flac(8) => Some(-128),
            Coding::Triples | Coding::PackedTriples => Some(-512),
            Coding::Pairs => Some(-2048),
            Coding::I16 | Coding::I16Big | Coding::U16 | Coding::Flac(16) => Some(-32_768),
            Coding::I24 | Coding::Flac(_) => Some(-(1 << 23)),
            Coding::I32 => Some(i64::from(i32::MIN)),
        }
    }
}

/// Bytes of triples in four bytes, and of one or two samples after them.
fn of_triples(n_samples: u64, of_rest: [u64; 3]) -> Option<u64> {
    let whole = (n_samples / 3).checked_mul(4)?;
    whole.checked_add(of_rest[(n_samples % 3) as usize])
}

/// Decodes one file.
pub(super) struct Samples<R> {
    input: Input<R>,
    coding: Coding,
}

enum Input<R> {
    Plain {
        bytes: R,
        /// The rest of a group of samples, the next one last.
        pending: Vec<i64>,
        /// For differences: the last sample of every signal.
        last: Vec<i64>,
    },
    Flac {
        decoder: Decoder<R>,
        /// What is decoded and not yet taken, one list a signal.
        pending: Vec<VecDeque<i64>>,
    },
}

impl<R: BufRead> Samples<R> {
    /// `initial` are the numbers of the signals before their first difference.
    pub fn new(bytes: R, coding: Coding, initial: Vec<i64>) -> io::Result<Self> {
        let input = if matches!(coding, Coding::Flac(_)) {
            let decoder = Decoder::new(bytes)?;
            let pending = vec![VecDeque::new(); decoder.info().n_channels];
            Input::Flac { decoder, pending }
        } else {
            Input::Plain {
                bytes,
                pending: Vec::new(),
                last: initial,
            }
        };
        Ok(Self { input, coding })
    }

    /// The next sample of a signal of the file, whose turn it must be; NaN when it is missing.
    pub fn next(&mut self, signal: usize) -> io::Result<f64> {
        let sample = match &mut self.input {
            Input::Plain {
                bytes,
                pending,
                last,
            } => {
                let number = next_number(bytes, self.coding, pending)?;
                if self.coding == Coding::Differences {
                    last[signal] = last[signal].wrapping_add(number);
                    last[signal]
                } else {
                    number
                }
            }
            Input::Flac { decoder, pending } => loop {
                if let Some(sample) = pending[signal].pop_front() {
                    break sample;
                }
                let Some(block) = decoder.next_block()? else {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                };
                for (pending, samples) in pending.iter_mut().zip(block) {
                    pending.extend(samples);
                }
            },
        };
        if Some(sample) == self.coding.invalid() {
            return Ok(f64::NAN);
        }
        Ok(sample as f64)
    }
}

fn next_number(input: &mut impl Read, coding: Coding, pending: &mut Vec<i64>) -> io::Result<i64> {
    if let Some(number) = pending.pop() {
        return Ok(number);
    }
    Ok(match coding {
        Coding::Differences => i64::from(i8::from_le_bytes(bytes(input)?)),
        Coding::U8 => i64::from(u8::from_le_bytes(bytes(input)?)) - 128,
        Coding::I16 => i64::from(i16::from_le_bytes(bytes(input)?)),
        Coding::I16Big => i64::from(i16::from_be_bytes(bytes(input)?)),
        Coding::U16 => i64::from(u16::from_le_bytes(bytes(input)?)) - 32_768,
        Coding::I24 => {
            let [low, middle, high] = bytes(input)?;
            i64::from(i32::from_le_bytes([0, low, middle, high]) >> 8)
        }
        Coding::I32 => i64::from(i32::from_le_bytes(bytes(input)?)),
        Coding::Pairs => {
            let [low, shared] = bytes(input)?;
            let (low, shared) = (i64::from(low), i64::from(shared));
            // A last sample without a partner has no third byte; the partner is not asked for.
            let [other] = padded(input)?;
            pending.push(signed(shared >> 4 << 8 | i64::from(other), 12));
            signed((shared & 0x0f) << 8 | low, 12)
        }
        Coding::Triples => {
            let first = i64::from(u16::from_le_bytes(bytes(input)?));
            let second = i64::from(u16::from_le_bytes(padded(input)?));
            pending.push(signed(first >> 11 | second >> 11 << 5, 10));
            pending.push(signed(second >> 1, 10));
            signed(first >> 1, 10)
        }
        Coding::PackedTriples => {
            let first = i64::from(u16::from_le_bytes(bytes(input)?));
            let [third, fourth] = padded(input)?;
            let all = first | i64::from(third) << 16 | i64::from(fourth) << 24;
            pending.push(signed(all >> 20, 10));
            pending.push(signed(all >> 10, 10));
            signed(all, 10)
        }
        Coding::None | Coding::Flac(_) => return Err(io::ErrorKind::InvalidData.into()),
    })
}

fn bytes<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Bytes of which the last may lie behind the end of the file, where nobody asks for the samples
/// that they belong to.
fn padded<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut n_read = 0;
    while n_read < N {
        match input.read(&mut bytes[n_read..])? {
            0 => break,
            n => n_read += n,
        }
    }
    Ok(bytes)
}

/// The lowest `width` bits in two's complement.
fn signed(bits: i64, width: u32) -> i64 {
    let unused = 64 - width;
    bits << unused >> unused
}
