//! Parquet, through the crate of Apache Arrow: one group of rows, plain doubles, not packed; the
//! time in seconds first where the rate is known. Noise does not compress, so packing would cost
//! time and gain little.

use super::Signals;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Values that are handed over at once.
const BATCH: usize = 1 << 12;

pub(super) fn write(file: &mut (dyn Write + Send), signals: &Signals<'_>) -> io::Result<()> {
    write_columns(file, signals).map_err(io::Error::other)
}

fn write_columns(file: &mut (dyn Write + Send), signals: &Signals<'_>) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_created_by("StrTransformer".into())
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    let mut writer = SerializedFileWriter::new(file, schema(signals)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let n_rows = signals.values.nrows();
    if let Some(rate) = signals.rate {
        write_column(&mut group, n_rows, |t| t as f64 / rate)?;
    }
    for values in signals.values.col_iter() {
        write_column(&mut group, n_rows, |t| values[t])?;
    }
    group.close()?;
    writer.close().map(drop)
}

fn schema(signals: &Signals<'_>) -> Result<Arc<Type>> {
    let time = signals.rate.map(|_| "time");
    let names = time
        .into_iter()
        .chain(signals.names.iter().map(String::as_str));
    let columns: Result<Vec<Arc<Type>>> = names
        .map(|name| {
            let column = Type::primitive_type_builder(name, Physical::DOUBLE);
            column
                .with_repetition(Repetition::REQUIRED)
                .build()
                .map(Arc::new)
        })
        .collect();
    let table = Type::group_type_builder("schema").with_fields(columns?);
    table.build().map(Arc::new)
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    n_rows: usize,
    value: impl Fn(usize) -> f64,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    let mut batch = Vec::with_capacity(BATCH);
    for first in (0..n_rows).step_by(BATCH) {
        batch.clear();
        batch.extend((first..n_rows.min(first + BATCH)).map(&value));
        column
            .typed::<DoubleType>()
            .write_batch(&batch, None, None)?;
    }
    column.close()
}
