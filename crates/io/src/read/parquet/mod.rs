//! Parquet tables: numeric columns, with missing values where the table has nulls.
//!
//! Read by hand: the `parquet` crate takes a minute to build, and bounds on memory for damaged
//! headers are ours to keep here. Plain, dictionary, run-length, difference and split-byte
//! encodings; pages as they are or with snappy, gzip or zstd. Columns that hold no numbers (texts,
//! decimals, lists, structures) are left out. Not read: encrypted files.

mod encodings;
mod footer;
mod pages;
mod thrift;

use super::selection::not_among;
use super::source::Source;
use super::table::{Channel, Contents, Reader, Table};
use super::time::{self, Axis};
use super::{ReadOptions, TimeColumn};
use crate::error::{Error, Result};
use footer::Footer;
use std::path::Path;

/// The name that pandas gives to an index.
const PANDAS_INDEX: &str = "__index_level_0__";

/// A Parquet file.
pub(crate) struct ParquetReader {
    source: Source,
    footer: Footer,
    /// For every channel: its column.
    columns: Vec<usize>,
    contents: Contents,
}

impl ParquetReader {
    pub fn open(mut source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let footer = footer::read(&mut source)?;
        let n_values = (footer.n_rows as u64).saturating_mul(footer.columns.len() as u64);
        // Runs can stand for any number of rows; beyond this they are not the noise of any sensor.
        if n_values > source.length().saturating_mul(1032) {
            return Err(Error::content(
                &path,
                "footer",
                format!(
                    "at most 1032 values a byte of the {} bytes of the file",
                    source.length()
                ),
                format!("{} rows of {} columns", footer.n_rows, footer.columns.len()),
                "the file is damaged, or its columns are constant",
            ));
        }
        let mut contents = Contents::default();
        contents.detected(format!(
            "{} rows in {} groups, {} columns",
            footer.n_rows,
            footer.groups.len(),
            footer.columns.len()
        ));
        let (mut rate, mut left_out) = (None, None);
        if let Some(at) = time_at(&path, &footer, options)? {
            let axis = judge(&mut source, &footer, at, options)?;
            if let Some(of_column) = axis.settle(&mut contents) {
                (rate, left_out) = (of_column, Some(at));
            }
        }
        let columns: Vec<usize> = (0..footer.columns.len())
            .filter(|&at| Some(at) != left_out)
            .collect();
        contents.channels = columns
            .iter()
            .map(|&at| Channel {
                name: footer.columns[at].name.clone(),
                unit: None,
                rate,
                n_samples: footer.n_rows,
                left_out: footer.columns[at].kind.as_ref().err().copied(),
            })
            .collect();
        Ok(Self {
            source,
            footer,
            columns,
            contents,
        })
    }
}

/// The column that may be the time.
fn time_at(path: &Path, footer: &Footer, options: &ReadOptions) -> Result<Option<usize>> {
    match &options.time_column {
        Some(TimeColumn::Absent) => Ok(None),
        Some(TimeColumn::Named(asked)) => {
            let names: Vec<&str> = footer
                .columns
                .iter()
                .map(|column| column.name.as_str())
                .collect();
            let at = names.iter().position(|name| name == asked);
            at.map(Some)
                .ok_or_else(|| not_among(path, "time column", asked, &names))
        }
        None => Ok(footer.columns.iter().enumerate().find_map(|(at, column)| {
            let kind = column.kind.ok()?;
            let is_candidate = kind.seconds.is_some()
                || (at == 0 && time::candidate(&column.name))
                || column.name == PANDAS_INDEX;
            is_candidate.then_some(at)
        })),
    }
}

/// Reads the column that may be the time, and says whether it is.
fn judge(source: &mut Source, footer: &Footer, at: usize, options: &ReadOptions) -> Result<Axis> {
    let column = &footer.columns[at];
    let mut times = vec![f64::NAN; footer.n_rows];
    read_column(source, footer, at, &mut |row, value| times[row] = value)?;
    let unit = column.kind.as_ref().ok().and_then(|kind| kind.seconds);
    Ok(match (unit, &options.time_column) {
        (Some(unit), _) => {
            times.iter_mut().for_each(|value| *value *= unit);
            time::in_seconds(&column.name, &times)
        }
        (None, Some(TimeColumn::Named(_))) => time::asked(&column.name, &times),
        (None, _) if column.name == PANDAS_INDEX => time::judge_named("index", &times),
        (None, _) => time::judge_named(&column.name, &times),
    })
}

fn read_column(
    source: &mut Source,
    footer: &Footer,
    at: usize,
    put: &mut dyn FnMut(usize, f64),
) -> Result<()> {
    let column = &footer.columns[at];
    let kind = column.kind.map_err(|why| {
        Error::content(
            source.path(),
            format!("column `{}`", column.name),
            "numbers",
            why,
            "leave the column out",
        )
    })?;
    let mut first = 0;
    for (n_rows, chunks) in &footer.groups {
        pages::read(
            source,
            column,
            kind,
            &chunks[at],
            *n_rows,
            &mut |row, value| {
                put(first + row, value);
            },
        )?;
        first += n_rows;
    }
    Ok(())
}

impl Reader for ParquetReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        for (channel, &at) in self.columns.iter().enumerate() {
            if table.wants(channel) {
                read_column(&mut self.source, &self.footer, at, &mut |row, value| {
                    table.set(row, channel, value);
                })?;
            }
        }
        Ok(())
    }
}
