//! Parquet: one group of rows, plain doubles in pages of a megabyte, not packed; the time in
//! seconds first where the rate is known. Noise does not compress, so packing would cost time and
//! gain little.

use super::Signals;
use super::thrift::Writer;
use std::io::{self, Write};

/// Values of a page.
const PAGE: usize = 1 << 17;
/// Parquet's numbers for what is written here.
const DOUBLE: i32 = 5;
const REQUIRED: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const STRUCT: u8 = 12;

/// A column that has been written.
struct Written {
    name: String,
    offset: usize,
    size: usize,
}

pub(super) fn write(file: &mut dyn Write, signals: &Signals<'_>) -> io::Result<()> {
    let n_rows = signals.values.nrows();
    let mut at = 4;
    let mut columns = Vec::new();
    file.write_all(b"PAR1")?;
    if let Some(rate) = signals.rate {
        columns.push(column(file, &mut at, "time", n_rows, |t| t as f64 / rate)?);
    }
    for (name, values) in signals.names.iter().zip(signals.values.col_iter()) {
        columns.push(column(file, &mut at, name, n_rows, |t| values[t])?);
    }
    let footer = footer(&columns, n_rows);
    file.write_all(&footer)?;
    file.write_all(&(footer.len() as u32).to_le_bytes())?;
    file.write_all(b"PAR1")
}

fn column(
    file: &mut dyn Write,
    at: &mut usize,
    name: &str,
    n_rows: usize,
    value: impl Fn(usize) -> f64,
) -> io::Result<Written> {
    let offset = *at;
    for first in (0..n_rows).step_by(PAGE) {
        let count = PAGE.min(n_rows - first);
        let header = page_header(count);
        file.write_all(&header)?;
        for t in first..first + count {
            file.write_all(&value(t).to_le_bytes())?;
        }
        *at += header.len() + 8 * count;
    }
    Ok(Written {
        name: name.to_string(),
        offset,
        size: *at - offset,
    })
}

fn page_header(count: usize) -> Vec<u8> {
    let mut header = Writer::new();
    header.i32(1, 0); // a data page
    header.i32(2, 8 * count as i32); // bytes unpacked
    header.i32(3, 8 * count as i32); // bytes packed
    header.open(5);
    header.i32(1, count as i32);
    header.i32(2, PLAIN);
    header.i32(3, RLE); // levels, of which there are none
    header.i32(4, RLE);
    header.close();
    header.finish()
}

fn footer(columns: &[Written], n_rows: usize) -> Vec<u8> {
    let mut footer = Writer::new();
    footer.i32(1, 1); // version
    footer.list(2, STRUCT, columns.len() + 1);
    footer.open_element();
    footer.text(4, "schema");
    footer.i32(5, columns.len() as i32);
    footer.close();
    for column in columns {
        footer.open_element();
        footer.i32(1, DOUBLE);
        footer.i32(3, REQUIRED);
        footer.text(4, &column.name);
        footer.close();
    }
    footer.i64(3, n_rows as i64);
    footer.list(4, STRUCT, 1);
    footer.open_element();
    footer.list(1, STRUCT, columns.len());
    for column in columns {
        footer.open_element();
        footer.i64(2, column.offset as i64);
        footer.open(3);
        footer.i32(1, DOUBLE);
        footer.list(2, 5, 1);
        footer.element_i32(PLAIN);
        footer.list(3, 8, 1);
        footer.element_text(&column.name);
        footer.i32(4, 0); // not packed
        footer.i64(5, n_rows as i64);
        footer.i64(6, column.size as i64);
        footer.i64(7, column.size as i64);
        footer.i64(9, column.offset as i64);
        footer.close();
        footer.close();
    }
    footer.i64(2, columns.iter().map(|column| column.size as i64).sum());
    footer.i64(3, n_rows as i64);
    footer.close();
    footer.text(6, "StrTransformer");
    footer.finish()
}
