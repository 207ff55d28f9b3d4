//! One column of one group of rows with new numbers.
//!
//! In: the typed reader of the column and the new numbers. Out: what writes the column, or nothing
//! where no number changes. A value that stays keeps its bits, and a row without a value keeps the
//! level at which it has none.

use super::columns::{Kind, number_of};
use crate::read::numbers::Number;
use crate::read::rewrite::{Replacement, Trouble, Units, is_same};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::Result as Decoded;
use parquet::file::writer::SerializedColumnWriter;
use std::ops::Range;

/// The new numbers of a channel in the rows of a group.
pub(super) struct Numbers<'a> {
    new: &'a Replacement<'a>,
    channel: usize,
    rows: Range<usize>,
}

impl<'a> Numbers<'a> {
    pub fn new(new: &'a Replacement<'a>, channel: usize, rows: Range<usize>) -> Self {
        Self { new, channel, rows }
    }

    fn beyond(&self, row: usize, value: f64, expected: String) -> Trouble {
        Trouble::Beyond {
            row: self.rows.start + row,
            channel: self.channel,
            value,
            expected,
        }
    }
}

/// Writes the values of a column, of whatever type they are.
type Write = dyn FnOnce(&mut SerializedColumnWriter<'_>) -> Decoded<()>;

/// A column that is to be written anew.
pub(super) struct Changed {
    /// Whether a number was rounded to a whole one.
    pub rounded: bool,
    pub write: Box<Write>,
}

/// Decodes a column and puts the new numbers in.
pub(super) fn changed(
    chunk: ColumnReader,
    kind: Kind,
    numbers: &Numbers<'_>,
) -> Decoded<Result<Option<Changed>, Trouble>> {
    use ColumnReader::*;
    match chunk {
        BoolColumnReader(chunk) => replace(chunk, kind, numbers, &f64::from, &|value| {
            (value == 0.0 || value == 1.0).then_some(value == 1.0)
        }),
        FloatColumnReader(chunk) => replace(chunk, kind, numbers, &f64::from, &|value| {
            let single = value as f32;
            (!single.is_infinite()).then_some(single)
        }),
        DoubleColumnReader(chunk) => replace(chunk, kind, numbers, &|value| value, &Some),
        Int32ColumnReader(chunk) => {
            let old = |value| number_of(i64::from(value), kind.number);
            replace(chunk, kind, numbers, &old, &|value| {
                whole(value, kind.number).map(|whole| whole as i32)
            })
        }
        Int64ColumnReader(chunk) => {
            let old = |value| number_of(value, kind.number);
            replace(chunk, kind, numbers, &old, &|value| {
                whole(value, kind.number).map(|whole| whole as i64)
            })
        }
        // `Column::new` found no numbers in these.
        Int96ColumnReader(_) | ByteArrayColumnReader(_) | FixedLenByteArrayColumnReader(_) => {
            Ok(Ok(None))
        }
    }
}

/// The nearest whole number that the column can hold.
fn whole(value: f64, number: Option<Number>) -> Option<i128> {
    let (least, most) = number?.limits()?;
    let whole = value.round() as i128;
    (!value.is_nan() && (least..=most).contains(&whole)).then_some(whole)
}

fn replace<T: DataType>(
    mut chunk: ColumnReaderImpl<T>,
    kind: Kind,
    numbers: &Numbers<'_>,
    old: &dyn Fn(T::T) -> f64,
    stored: &dyn Fn(f64) -> Option<T::T>,
) -> Decoded<Result<Option<Changed>, Trouble>> {
    let n_rows = numbers.rows.len();
    let (mut levels, mut present) = (Vec::new(), Vec::new());
    let mut n_read = 0;
    while n_read < n_rows {
        let more = n_rows - n_read;
        let (count, _, _) = chunk.read_records(more, Some(&mut levels), None, &mut present)?;
        if count == 0 {
            break;
        }
        n_read += count;
    }
    levels.resize(n_rows, kind.present);
    let mut present = present.into_iter();
    let mut values = Vec::with_capacity(n_rows);
    let (mut changed, mut rounded) = (false, false);
    for (row, level) in levels.iter_mut().enumerate() {
        let before = (*level == kind.present).then(|| present.next()).flatten();
        let number = before.clone().map_or(f64::NAN, old);
        let asked = numbers.new.get(numbers.rows.start + row, numbers.channel);
        let Some(value) = asked.filter(|&value| !is_same(number, value)) else {
            values.extend(before);
            continue;
        };
        changed = true;
        if value.is_nan() && kind.present > 0 {
            *level = kind.present - 1;
            continue;
        }
        let Some(new) = stored(value) else {
            return Ok(Err(numbers.beyond(row, value, expected(kind))));
        };
        *level = kind.present;
        rounded |= kind.number.is_some_and(|number| number.limits().is_some());
        values.push(new);
    }
    let levels = (kind.present > 0).then_some(levels);
    Ok(Ok(changed.then(|| Changed {
        rounded,
        write: Box::new(move |column| {
            let column = column.typed::<T>();
            column
                .write_batch(&values, levels.as_deref(), None)
                .map(drop)
        }),
    })))
}

fn expected(kind: Kind) -> String {
    match kind.number {
        Some(number) => Units::PLAIN.expected(number),
        None => "0 or 1, which a column of truth values can hold".into(),
    }
}
