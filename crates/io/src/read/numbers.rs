//! Numbers of fixed width → f64, one at a time or a whole block into a [`Table`].
//!
//! In: bytes in the order of a file. Out: columns of the library. A block passes through a buffer
//! of bounded size; there is no second copy. Where the bytes lie and what the numbers mean is the
//! business of the formats.

use super::table::Table;
use super::trials::Cube;
use std::io::{self, Read};

/// Bytes of a block that are decoded at once.
const BUFFER: usize = 1 << 16;

/// How one number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    U8,
    I16,
    U16,
    /// Two's complement in three bytes.
    I24,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

/// Which byte comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

impl Number {
    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 | Number::F16 => 2,
            Number::I24 => 3,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::I64 | Number::U64 | Number::F64 => 8,
        }
    }

    /// A function of [`Number::size`] bytes.
    pub fn decoder(self, endian: Endian) -> fn(&[u8]) -> f64 {
        macro_rules! either {
            ($type:ty) => {
                match endian {
                    Endian::Little => |bytes| <$type>::from_le_bytes(array(bytes)) as f64,
                    Endian::Big => |bytes| <$type>::from_be_bytes(array(bytes)) as f64,
                }
            };
        }
        match self {
            Number::I8 => either!(i8),
            Number::U8 => either!(u8),
            Number::I16 => either!(i16),
            Number::U16 => either!(u16),
            Number::I24 => match endian {
                Endian::Little => |bytes| i24([bytes[0], bytes[1], bytes[2]]),
                Endian::Big => |bytes| i24([bytes[2], bytes[1], bytes[0]]),
            },
            Number::I32 => either!(i32),
            Number::U32 => either!(u32),
            Number::I64 => either!(i64),
            Number::U64 => either!(u64),
            Number::F16 => match endian {
                Endian::Little => |bytes| f16(u16::from_le_bytes(array(bytes))),
                Endian::Big => |bytes| f16(u16::from_be_bytes(array(bytes))),
            },
            Number::F32 => either!(f32),
            Number::F64 => either!(f64),
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

/// Little-endian.
fn i24(bytes: [u8; 3]) -> f64 {
    f64::from(i32::from_le_bytes([0, bytes[0], bytes[1], bytes[2]]) >> 8)
}

fn f16(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = ((bits >> 10) & 31, f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    }
}

/// In which order the values of a block follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// All channels of the first sample, then of the second, …
    Interleaved,
    /// All samples of the first channel, then of the second, …
    Planar,
    /// Trials, in whatever order an array of three dimensions has them.
    Trials(Cube),
}

/// Numbers of one kind, n_samples × n_channels of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub number: Number,
    pub endian: Endian,
    pub order: Order,
    pub n_samples: usize,
    pub n_channels: usize,
}

impl Block {
    /// Bytes of the block; `None` when no file can be that long.
    pub fn size(&self) -> Option<u64> {
        (self.n_samples as u64)
            .checked_mul(self.n_channels as u64)?
            .checked_mul(self.number.size() as u64)
    }

    /// Decodes the block from `input` into `table`; `convert(channel, number)` is what is kept.
    pub fn fill(
        &self,
        input: &mut dyn Read,
        table: &mut Table,
        convert: impl Fn(usize, f64) -> f64,
    ) -> io::Result<()> {
        match self.order {
            Order::Interleaved => self.fill_interleaved(input, table, convert),
            Order::Planar => self.fill_planar(input, table, convert),
            Order::Trials(_) => self.fill_by_place(input, table, convert),
        }
    }

    /// The sample and the channel of a number, counted in the order of the file.
    pub fn place(&self, at: usize) -> (usize, usize) {
        match self.order {
            Order::Interleaved => (at / self.n_channels, at % self.n_channels),
            Order::Planar => (at % self.n_samples, at / self.n_samples),
            Order::Trials(cube) => cube.place(at),
        }
    }

    fn fill_by_place(
        &self,
        input: &mut dyn Read,
        table: &mut Table,
        convert: impl Fn(usize, f64) -> f64,
    ) -> io::Result<()> {
        let (size, decode) = (self.number.size(), self.number.decoder(self.endian));
        let n_values = self.n_samples * self.n_channels;
        let at_once = BUFFER / size;
        let mut buffer = vec![0; at_once * size];
        for first in (0..n_values).step_by(at_once) {
            let bytes = &mut buffer[..at_once.min(n_values - first) * size];
            input.read_exact(bytes)?;
            for (i, number) in bytes.chunks_exact(size).enumerate() {
                let (row, channel) = self.place(first + i);
                table.set(row, channel, convert(channel, decode(number)));
            }
        }
        Ok(())
    }

    fn fill_interleaved(
        &self,
        input: &mut dyn Read,
        table: &mut Table,
        convert: impl Fn(usize, f64) -> f64,
    ) -> io::Result<()> {
        let (size, decode) = (self.number.size(), self.number.decoder(self.endian));
        let frame = size * self.n_channels;
        let rows = table.rows();
        skip(input, rows.start as u64 * frame as u64)?;
        let at_once = (BUFFER / frame).clamp(1, rows.len().max(1));
        let mut buffer = vec![0; at_once * frame];
        for first in (0..rows.len()).step_by(at_once) {
            let n_rows = at_once.min(rows.len() - first);
            let frames = &mut buffer[..n_rows * frame];
            input.read_exact(frames)?;
            for channel in 0..self.n_channels {
                let Some(column) = table.column(channel) else {
                    continue;
                };
                for (value, frame) in column[first..first + n_rows]
                    .iter_mut()
                    .zip(frames.chunks_exact(frame))
                {
                    *value = convert(channel, decode(&frame[channel * size..]));
                }
            }
        }
        Ok(())
    }

    fn fill_planar(
        &self,
        input: &mut dyn Read,
        table: &mut Table,
        convert: impl Fn(usize, f64) -> f64,
    ) -> io::Result<()> {
        let (size, decode) = (self.number.size(), self.number.decoder(self.endian));
        let rows = table.rows();
        let (before, after) = (rows.start, self.n_samples - rows.end);
        let mut buffer = vec![0; (BUFFER / size).min(rows.len()) * size];
        // What is not wanted is passed over in one go when the next wanted value is known.
        let mut passed = 0;
        for channel in 0..self.n_channels {
            let Some(column) = table.column(channel) else {
                passed += self.n_samples as u64;
                continue;
            };
            skip(input, (passed + before as u64) * size as u64)?;
            for part in column.chunks_mut((buffer.len() / size).max(1)) {
                let bytes = &mut buffer[..part.len() * size];
                input.read_exact(bytes)?;
                for (value, number) in part.iter_mut().zip(bytes.chunks_exact(size)) {
                    *value = convert(channel, decode(number));
                }
            }
            passed = after as u64;
        }
        Ok(())
    }
}

/// Reads `count` bytes and forgets them.
pub(crate) fn skip(input: &mut dyn Read, count: u64) -> io::Result<()> {
    let passed = io::copy(&mut input.take(count), &mut io::sink())?;
    if passed != count {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn numbers_of_every_width() {
        let check = |number: Number, little: &[u8], expected: f64| {
            let big: Vec<u8> = little.iter().rev().copied().collect();
            assert_eq!(number.size(), little.len());
            assert_eq!(
                number.decoder(Endian::Little)(little),
                expected,
                "{number:?}"
            );
            assert_eq!(number.decoder(Endian::Big)(&big), expected, "{number:?}");
        };
        check(Number::I8, &[0xff], -1.0);
        check(Number::U8, &[0xff], 255.0);
        check(Number::I16, &[0x00, 0x80], -32768.0);
        check(Number::U16, &[0x00, 0x80], 32768.0);
        check(Number::I24, &[0xff, 0xff, 0xff], -1.0);
        check(Number::I24, &[0x00, 0x00, 0x80], -8_388_608.0);
        check(Number::I24, &[0xff, 0xff, 0x7f], 8_388_607.0);
        check(Number::I32, &[0xfe, 0xff, 0xff, 0xff], -2.0);
        check(Number::U32, &[0xfe, 0xff, 0xff, 0xff], 4_294_967_294.0);
        check(Number::I64, &(-3i64).to_le_bytes(), -3.0);
        check(Number::U64, &7u64.to_le_bytes(), 7.0);
        check(Number::F16, &[0x00, 0xc0], -2.0);
        check(Number::F16, &[0x01, 0x00], 2f64.powi(-24));
        check(Number::F16, &[0x00, 0x7c], f64::INFINITY);
        check(Number::F32, &1.5f32.to_le_bytes(), 1.5);
        check(Number::F64, &(-0.1f64).to_le_bytes(), -0.1);
        assert!(Number::F16.decoder(Endian::Little)(&[0x01, 0x7c]).is_nan());
    }

    #[test]
    fn both_orders_and_any_window_give_the_same_values() {
        let (n_samples, n_channels) = (5, 3);
        let value = |t: usize, channel: usize| (10 * t + channel) as u8;
        let interleaved: Vec<u8> = (0..15).map(|i| value(i / 3, i % 3)).collect();
        let planar: Vec<u8> = (0..15).map(|i| value(i % 5, i / 5)).collect();
        for (order, bytes) in [(Order::Interleaved, interleaved), (Order::Planar, planar)] {
            for rows in [0..5, 1..3, 4..5, 2..5] {
                for chosen in [vec![0, 1, 2], vec![2, 0], vec![1]] {
                    let block = Block {
                        number: Number::U8,
                        endian: Endian::Little,
                        order,
                        n_samples,
                        n_channels,
                    };
                    let mut table =
                        Table::new(Path::new("x"), rows.clone(), n_channels, &chosen).unwrap();
                    let keep = |_, value| value;
                    block.fill(&mut &bytes[..], &mut table, keep).unwrap();
                    let values = table.into_values();
                    for (i, t) in rows.clone().enumerate() {
                        for (column, &channel) in chosen.iter().enumerate() {
                            assert_eq!(values[(i, column)], f64::from(value(t, channel)));
                        }
                    }
                }
            }
        }
    }
}
