//! The encodings of Parquet's values: plain, runs and bit-packed numbers, differences, split bytes.
//!
//! In: the bytes of a page. Out: numbers, never more than were asked for. `None` where the bytes do
//! not hold what is asked of them.

use super::footer::{Kind, Physical};
use super::thrift::Input;

impl Physical {
    /// Bytes of a plain value; booleans are single bits.
    pub fn size(self) -> usize {
        match self {
            Physical::Bool => 0,
            Physical::Int32 | Physical::Float => 4,
            Physical::Int64 | Physical::Double => 8,
        }
    }
}

impl Kind {
    fn decode(self, bytes: &[u8]) -> f64 {
        let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
        let eight = || {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[..8]);
            eight
        };
        match self.physical {
            Physical::Bool => f64::from(bytes[0]),
            Physical::Int32 => self.whole(i64::from(i32::from_le_bytes(four()))),
            Physical::Int64 => self.whole(i64::from_le_bytes(eight())),
            Physical::Float => f64::from(f32::from_le_bytes(four())),
            Physical::Double => f64::from_le_bytes(eight()),
        }
    }

    /// A whole number of this column; unsigned ones are stored as signed ones of the same bits.
    pub fn whole(self, value: i64) -> f64 {
        match (self.unsigned, self.physical) {
            (true, Physical::Int32) => f64::from(value as u32),
            (true, _) => value as u64 as f64,
            _ => value as f64,
        }
    }
}

/// Plain values.
pub(super) fn plain(kind: Kind, bytes: &[u8], count: usize) -> Option<Vec<f64>> {
    let size = kind.physical.size();
    if size == 0 {
        let bit = |i: usize| Some(f64::from(bytes.get(i / 8)? >> (i % 8) & 1));
        return within(count, bytes.len().checked_mul(8)?)?
            .map(bit)
            .collect();
    }
    let bytes = bytes.get(..count.checked_mul(size)?)?;
    Some(
        bytes
            .chunks_exact(size)
            .map(|value| kind.decode(value))
            .collect(),
    )
}

/// The first bytes of all values, then the second ones, …
pub(super) fn split_bytes(kind: Kind, bytes: &[u8], count: usize) -> Option<Vec<f64>> {
    let size = kind.physical.size();
    let bytes = bytes.get(..count.checked_mul(size)?)?;
    if size == 0 {
        return None;
    }
    let value = |i: usize| {
        let mut value = [0; 8];
        for byte in 0..size {
            value[byte] = bytes[byte * count + i];
        }
        kind.decode(&value)
    };
    Some((0..count).map(value).collect())
}

/// Numbers of `width` bits in runs: of one number repeated, or of numbers packed together. At most
/// `count` of them.
pub(super) fn runs(bytes: &[u8], width: u32, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let mut input = Input::new(bytes);
    let mut found = Vec::new();
    while found.len() < count {
        let head = input.unsigned()?;
        let left = count - found.len();
        if head & 1 == 0 {
            let mut value = [0; 4];
            let size = width.div_ceil(8) as usize;
            value[..size].copy_from_slice(input.take(size)?);
            let repeats = usize::try_from(head >> 1).ok()?.min(left);
            if repeats == 0 {
                return None;
            }
            found.resize(found.len() + repeats, u32::from_le_bytes(value));
        } else {
            let groups = usize::try_from(head >> 1).ok()?;
            let size = groups.checked_mul(width as usize)?;
            // The last run may be cut to what is needed of it.
            let packed = match input.take(size) {
                Some(packed) => packed,
                None => input.rest(),
            };
            if groups == 0 {
                return None;
            }
            for i in 0..groups.saturating_mul(8).min(left) {
                found.push(bits(packed, i.checked_mul(width as usize)?, width)? as u32);
            }
        }
    }
    Some(found)
}

/// `width` bits (at most 64) from bit `at`, the lowest first.
fn bits(bytes: &[u8], at: usize, width: u32) -> Option<u64> {
    let (mut value, mut done) = (0u64, 0);
    while done < width {
        let place = at + done as usize;
        let byte = u64::from(*bytes.get(place / 8)?) >> (place % 8);
        let taken = (8 - place % 8) as u32;
        let taken = taken.min(width - done);
        value |= (byte & ((1 << taken) - 1)) << done;
        done += taken;
    }
    Some(value)
}

/// Differences of whole numbers in blocks (DELTA_BINARY_PACKED).
pub(super) fn differences(kind: Kind, bytes: &[u8], count: usize) -> Option<Vec<f64>> {
    let mut input = Input::new(bytes);
    let block = usize::try_from(input.unsigned()?).ok()?;
    let n_parts = usize::try_from(input.unsigned()?).ok()?;
    let total = usize::try_from(input.unsigned()?).ok()?;
    let mut value = input.signed()?;
    if n_parts == 0
        || block == 0
        || !block.is_multiple_of(n_parts)
        || total < count
        || n_parts > bytes.len()
    {
        return None;
    }
    let part = block / n_parts;
    let mut found = Vec::new();
    if count > 0 {
        found.push(kind.whole(value));
    }
    while found.len() < count {
        let least = input.signed()?;
        let widths = input.take(n_parts)?;
        for &width in widths {
            if found.len() == count {
                break;
            }
            let size = part.checked_mul(usize::from(width))?.div_ceil(8);
            if width > 64 {
                return None;
            }
            let packed = match input.take(size) {
                Some(packed) => packed,
                None => input.rest(),
            };
            for i in 0..part.min(count - found.len()) {
                let difference =
                    bits(packed, i.checked_mul(usize::from(width))?, u32::from(width))?;
                value = value.wrapping_add(least).wrapping_add(difference as i64);
                if kind.physical == Physical::Int32 {
                    value = i64::from(value as i32);
                }
                found.push(kind.whole(value));
            }
        }
    }
    Some(found)
}

/// `0..count`, unless there cannot be so many.
fn within(count: usize, most: usize) -> Option<std::ops::Range<usize>> {
    (count <= most).then_some(0..count)
}
