//! The columns of a Parquet file: which of them hold numbers, and how these become f64.
//!
//! In: a leaf of the schema, and the typed reader of one of its chunks. Out: calls with a row and a
//! number; rows that are missing are passed over.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescriptor;

/// Rows that are decoded at once.
const BATCH: usize = 1 << 12;

/// A column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: String,
    /// What its numbers are, or why it has none.
    pub kind: std::result::Result<Kind, &'static str>,
}

/// What the numbers of a column are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    unsigned: bool,
    /// Definition level of a value that is present; 0 where none can be missing.
    present: i16,
    /// Seconds of one unit, when the column holds times.
    pub seconds: Option<f64>,
}

impl Column {
    pub fn new(leaf: &ColumnDescriptor) -> Self {
        let name = leaf.path().parts().join(".");
        let kind = match leaf.physical_type() {
            _ if leaf.max_rep_level() > 0 => Err("it holds lists"),
            _ if leaf.converted_type() == ConvertedType::DECIMAL => Err("it holds decimals"),
            Physical::BOOLEAN
            | Physical::INT32
            | Physical::INT64
            | Physical::FLOAT
            | Physical::DOUBLE => Ok(Kind {
                unsigned: is_unsigned(leaf),
                present: leaf.max_def_level(),
                seconds: seconds(leaf),
            }),
            _ => Err("it holds no numbers"),
        };
        Self { name, kind }
    }
}

fn is_unsigned(leaf: &ColumnDescriptor) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    matches!(leaf.converted_type(), UINT_8 | UINT_16 | UINT_32 | UINT_64)
}

/// Seconds of one unit of a time, from the newer logical type or the older converted one.
fn seconds(leaf: &ColumnDescriptor) -> Option<f64> {
    match (leaf.logical_type_ref(), leaf.converted_type()) {
        (Some(LogicalType::Timestamp(stamp)), _) => Some(match stamp.unit {
            TimeUnit::MILLIS => 1e-3,
            TimeUnit::MICROS => 1e-6,
            TimeUnit::NANOS => 1e-9,
        }),
        (_, ConvertedType::TIMESTAMP_MILLIS) => Some(1e-3),
        (_, ConvertedType::TIMESTAMP_MICROS) => Some(1e-6),
        (_, ConvertedType::DATE) | (Some(LogicalType::Date), _) => Some(86_400.0),
        _ => None,
    }
}

/// Decodes up to `n_rows` rows of a chunk, `put(row, number)`; gives the rows that were there.
pub(super) fn decode(
    chunk: ColumnReader,
    kind: Kind,
    n_rows: usize,
    put: &mut dyn FnMut(usize, f64),
) -> Result<usize> {
    use ColumnReader::*;
    match chunk {
        BoolColumnReader(chunk) => drain(chunk, kind, n_rows, f64::from, put),
        FloatColumnReader(chunk) => drain(chunk, kind, n_rows, f64::from, put),
        DoubleColumnReader(chunk) => drain(chunk, kind, n_rows, |value| value, put),
        Int32ColumnReader(chunk) if kind.unsigned => {
            drain(chunk, kind, n_rows, |value| f64::from(value as u32), put)
        }
        Int32ColumnReader(chunk) => drain(chunk, kind, n_rows, f64::from, put),
        Int64ColumnReader(chunk) if kind.unsigned => {
            drain(chunk, kind, n_rows, |value| value as u64 as f64, put)
        }
        Int64ColumnReader(chunk) => drain(chunk, kind, n_rows, |value| value as f64, put),
        // `Column::new` found no numbers in these.
        Int96ColumnReader(_) | ByteArrayColumnReader(_) | FixedLenByteArrayColumnReader(_) => Ok(0),
    }
}

fn drain<T: DataType>(
    mut chunk: ColumnReaderImpl<T>,
    kind: Kind,
    n_rows: usize,
    number: impl Fn(T::T) -> f64,
    put: &mut dyn FnMut(usize, f64),
) -> Result<usize> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut row = 0;
    while row < n_rows {
        levels.clear();
        values.clear();
        let at_once = BATCH.min(n_rows - row);
        let (count, _, _) = chunk.read_records(at_once, Some(&mut levels), None, &mut values)?;
        if count == 0 {
            break;
        }
        let mut values = values.drain(..);
        for i in 0..count {
            let is_present = kind.present == 0 || levels.get(i) == Some(&kind.present);
            if let Some(value) = is_present.then(|| values.next()).flatten() {
                put(row + i, number(value));
            }
        }
        row += count;
    }
    Ok(row)
}
