//! The columns of a Parquet file: which of them hold numbers, and how these become f64.
//!
//! In: a leaf of the schema, and the typed reader of one of its chunks. Out: calls with a row and a
//! number; rows that are missing are passed over.

use crate::read::numbers::Number;
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
    /// What a value is; `None` for truth values.
    pub number: Option<Number>,
    /// Definition level of a value that is present; 0 where none can be missing.
    pub present: i16,
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
                number: number(leaf),
                present: leaf.max_def_level(),
                seconds: seconds(leaf),
            }),
            _ => Err("it holds no numbers"),
        };
        Self { name, kind }
    }
}

/// What the values of a column of numbers are.
fn number(leaf: &ColumnDescriptor) -> Option<Number> {
    Some(match (leaf.physical_type(), leaf.converted_type()) {
        (Physical::FLOAT, _) => Number::F32,
        (Physical::DOUBLE, _) => Number::F64,
        (_, ConvertedType::INT_8) => Number::I8,
        (_, ConvertedType::INT_16) => Number::I16,
        (_, ConvertedType::UINT_8) => Number::U8,
        (_, ConvertedType::UINT_16) => Number::U16,
        (_, ConvertedType::UINT_32) => Number::U32,
        (_, ConvertedType::UINT_64) => Number::U64,
        (Physical::INT32, _) => Number::I32,
        (Physical::INT64, _) => Number::I64,
        _ => return None,
    })
}

/// A whole number as the file holds it; those without a sign use the bits of those with one.
pub(super) fn number_of(value: i64, number: Option<Number>) -> f64 {
    match number {
        Some(Number::U64) => value as u64 as f64,
        Some(Number::U8 | Number::U16 | Number::U32) => f64::from(value as u32),
        _ => value as f64,
    }
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
        Int32ColumnReader(chunk) => {
            let number = |value| number_of(i64::from(value), kind.number);
            drain(chunk, kind, n_rows, number, put)
        }
        Int64ColumnReader(chunk) => {
            let number = |value| number_of(value, kind.number);
            drain(chunk, kind, n_rows, number, put)
        }
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
