//! How one number of a GDF file is written.

use crate::read::numbers::{Endian, Number};

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    Of(Number),
    /// Without a sign, in three bytes.
    U24,
}

impl Sample {
    /// Codes as the description of the format lists them; `None` for numbers of other widths.
    pub fn of_code(code: u32) -> Option<Self> {
        Some(match code {
            1 => Self::Of(Number::I8),
            0 | 2 => Self::Of(Number::U8),
            3 => Self::Of(Number::I16),
            4 => Self::Of(Number::U16),
            5 => Self::Of(Number::I32),
            6 => Self::Of(Number::U32),
            7 => Self::Of(Number::I64),
            8 => Self::Of(Number::U64),
            16 => Self::Of(Number::F32),
            17 => Self::Of(Number::F64),
            279 => Self::Of(Number::I24),
            535 => Self::U24,
            _ => return None,
        })
    }

    pub fn size(self) -> usize {
        match self {
            Self::Of(number) => number.size(),
            Self::U24 => 3,
        }
    }

    pub fn decoder(self) -> fn(&[u8]) -> f64 {
        match self {
            Self::Of(number) => number.decoder(Endian::Little),
            Self::U24 => |bytes| f64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])),
        }
    }
}
