//! The bytes of a Parquet file, given to the decoder only when the sizes that they claim are
//! possible.
//!
//! The decoder asks for the memory that a page header claims before it unpacks the page: a damaged
//! header of 20 bytes could ask for gigabytes. The decoder reads every header through this file, so
//! the claims are compared here with the bytes that are really there.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{BufReader, Read};

/// Writers fill pages up to a megabyte; one that is larger must not be packed more than deflate can
/// pack.
const USUAL_PAGE: u64 = 1 << 21;
/// The largest factor by which deflate packs.
const MOST_PACKED: u64 = 1032;
/// Bytes of a page header that hold the sizes.
const SIZES: u64 = 48;
/// Bytes at the end of the file that are no page.
const TAIL: u64 = 8;

/// A Parquet file whose claims are checked.
pub(super) struct Guarded {
    file: File,
    length: u64,
}

impl Guarded {
    pub fn new(file: File, length: u64) -> Self {
        Self { file, length }
    }
}

impl Length for Guarded {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Guarded {
    type T = BufReader<File>;

    /// Called for the header of every page, and once for the tail of the file.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        if start.saturating_add(TAIL) < self.length {
            let mut head = Vec::new();
            let input = self.file.get_read(start)?;
            input.take(SIZES).read_to_end(&mut head)?;
            let sizes =
                Sizes::parse(&head).ok_or_else(|| refused("a page header of other bytes"))?;
            sizes.check()?;
        }
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(refused("a page that is not inside the file"));
        }
        self.file.get_bytes(start, length)
    }
}

fn refused(found: &str) -> ParquetError {
    ParquetError::General(found.to_string())
}

/// What a page header claims.
#[derive(Debug, PartialEq)]
struct Sizes {
    unpacked: u64,
    packed: u64,
    n_values: u64,
    is_dictionary: bool,
}

impl Sizes {
    /// Thrift's compact protocol, as far as the sizes go: the type, the two sizes, perhaps a
    /// checksum, then the header of the kind of page, which starts with the number of values. All
    /// writers keep to this order, which is that of the numbers of the fields.
    fn parse(mut bytes: &[u8]) -> Option<Self> {
        let input = &mut bytes;
        field(input, INT, 1)?;
        unsigned(input)?;
        field(input, INT, 1)?;
        let unpacked = unsigned(input)?;
        field(input, INT, 1)?;
        let packed = unsigned(input)?;
        let mut kind = 3 + u64::from(*input.first()? >> 4);
        if kind == 4 {
            field(input, INT, 1)?;
            number(input)?;
            kind += u64::from(*input.first()? >> 4);
        }
        let is_dictionary = kind == 7;
        // An index page, which is passed over, has no numbers.
        let mut n_values = 0;
        if kind != 6 {
            input
                .split_off_first()
                .filter(|head| *head & 15 == STRUCT)?;
            field(input, INT, 1)?;
            n_values = unsigned(input)?;
        }
        Some(Self {
            unpacked,
            packed,
            n_values,
            is_dictionary,
        })
    }

    fn check(&self) -> Result<()> {
        let most = self.packed.saturating_mul(MOST_PACKED).max(USUAL_PAGE);
        if self.unpacked > most {
            return Err(refused(
                "a page that is larger than its packed bytes can hold",
            ));
        }
        if self.is_dictionary && self.n_values > self.unpacked {
            return Err(refused(
                "a dictionary of more numbers than its page can hold",
            ));
        }
        Ok(())
    }
}

/// Thrift's numbers of types.
const INT: u8 = 5;
const STRUCT: u8 = 12;

/// The head of a field of this type, so many numbers after the field before it.
fn field(input: &mut &[u8], kind: u8, step: u8) -> Option<()> {
    (*input.split_off_first()? == (step << 4 | kind)).then_some(())
}

/// A number of at most 32 bits, seven bits a byte, the sign in the last bit.
fn number(input: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = *input.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

fn unsigned(input: &mut &[u8]) -> Option<u64> {
    number(input)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type 0, 400 bytes from 100, and a data page of 50 values.
    const DATA: [u8; 11] = [0x15, 0, 0x15, 0xa0, 6, 0x15, 0xc8, 1, 0x2c, 0x15, 100];

    #[test]
    fn sizes_of_a_page_header() {
        let sizes = Sizes {
            unpacked: 400,
            packed: 100,
            n_values: 50,
            is_dictionary: false,
        };
        assert_eq!(Sizes::parse(&DATA), Some(sizes));
        // A checksum before the header of a dictionary.
        let bytes = [0x15, 4, 0x15, 8, 0x15, 8, 0x15, 9, 0x3c, 0x15, 2];
        let sizes = Sizes {
            unpacked: 4,
            packed: 4,
            n_values: 1,
            is_dictionary: true,
        };
        assert_eq!(Sizes::parse(&bytes), Some(sizes));
        assert_eq!(Sizes::parse(&DATA[..7]), None);
        assert_eq!(
            Sizes::parse(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            None
        );
    }

    #[test]
    fn impossible_claims_are_refused() {
        let check = |unpacked, packed, n_values, expected: bool| {
            let is_dictionary = true;
            let sizes = Sizes {
                unpacked,
                packed,
                n_values,
                is_dictionary,
            };
            assert_eq!(sizes.check().is_ok(), expected, "{sizes:?}");
        };
        check(USUAL_PAGE, 1, 10, true);
        check(USUAL_PAGE + 1, 1, 10, false);
        check(USUAL_PAGE * 1000, USUAL_PAGE, 10, true);
        check(80, 80, 80, true);
        check(80, 80, 81, false);
    }
}
