//! Parquet tables: numeric columns, with missing values where the table has nulls.
//!
//! Decoded by the `parquet` crate of Apache Arrow: all encodings, pages as they are or packed with
//! snappy, gzip, lz4 or zstd. What it does not bound itself is checked before it sees the bytes
//! ([`guard`]). Columns that hold no numbers (texts, decimals, lists) are left out. Not read:
//! encrypted files, and files packed with brotli, whose decoder would cost more than it serves.

mod columns;
mod guard;
mod replace;
mod rewrite;

use super::rewrite::Replacement;
use super::selection::not_among;
use super::source::{Source, cut_short, damaged};
use super::table::{Channel, Contents, Reader, Table};
use super::time::{self, Axis};
use super::{Note, ReadOptions, TimeColumn};
use crate::error::{Error, Result};
use columns::{Column, decode};
use guard::Guarded;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The name that pandas gives to an index.
const PANDAS_INDEX: &str = "__index_level_0__";

/// A Parquet file.
pub(crate) struct ParquetReader {
    file: Decoder,
    /// For every channel: its column.
    columns: Vec<usize>,
    contents: Contents,
}

impl ParquetReader {
    pub fn open(source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let file = Decoder::open(source)?;
        let (n_rows, n_columns) = (file.n_rows, file.columns.len());
        let mut contents = Contents::default();
        contents.detected(format!(
            "{n_rows} rows in {} groups, {n_columns} columns",
            file.reader.num_row_groups(),
        ));
        let (mut rate, mut left_out) = (None, None);
        if let Some(at) = time_at(&path, &file.columns, options)? {
            let axis = judge(&file, at, options)?;
            if let Some(of_column) = axis.settle(&mut contents) {
                (rate, left_out) = (of_column, Some(at));
            }
        }
        let columns: Vec<usize> = (0..n_columns).filter(|&at| Some(at) != left_out).collect();
        let channel = |&at: &usize| Channel {
            name: file.columns[at].name.clone(),
            unit: None,
            rate,
            n_samples: n_rows,
            left_out: file.columns[at].kind.err().or_else(|| {
                time::names_events(&file.columns[at].name)
                    .then_some("its name says that it holds events")
            }),
            position: None,
        };
        contents.channels = columns.iter().map(channel).collect();
        Ok(Self {
            file,
            columns,
            contents,
        })
    }
}

impl Reader for ParquetReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        for (channel, &at) in self.columns.iter().enumerate() {
            if table.wants(channel) {
                let put = &mut |row, value| table.set(row, channel, value);
                self.file.read_column(at, put)?;
            }
        }
        Ok(())
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        self.file.rewrite(&self.columns, new, out).map(Some)
    }
}

/// A file whose footer has been read.
struct Decoder {
    path: PathBuf,
    reader: SerializedFileReader<Guarded>,
    /// The same file, for columns that are copied as they are.
    bytes: File,
    columns: Vec<Column>,
    n_rows: usize,
    /// Bytes of the file.
    length: u64,
}

impl Decoder {
    fn open(mut source: Source) -> Result<Self> {
        check_end(&mut source)?;
        let (path, length) = (source.path().to_owned(), source.length());
        let file = source.into_file();
        let bytes = file.try_clone().map_err(Error::reading(&path))?;
        let file = Guarded::new(file, length);
        let reader = caught(|| SerializedFileReader::new(file));
        let reader = reader.map_err(|error| footer_refused(&path, &error))?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let columns: Vec<Column> = schema
            .columns()
            .iter()
            .map(|leaf| Column::new(leaf))
            .collect();
        let n_rows = n_rows(&path, metadata)?;
        // Runs can stand for any number of rows; beyond this they are not the noise of any sensor.
        let n_values = (n_rows as u64).saturating_mul(columns.len() as u64);
        if n_values > length.saturating_mul(1032) {
            return Err(Error::content(
                &path,
                "footer",
                format!("at most 1032 values a byte of the {length} bytes of the file"),
                format!("{n_rows} rows of {} columns", columns.len()),
                "the file is damaged, or its columns are constant",
            ));
        }
        Ok(Self {
            path,
            reader,
            bytes,
            columns,
            n_rows,
            length,
        })
    }

    /// Reads a column of all groups of rows; `put(row, number)`.
    fn read_column(&self, at: usize, put: &mut dyn FnMut(usize, f64)) -> Result<()> {
        let column = &self.columns[at];
        let place = format!("column `{}`", column.name);
        let kind = column.kind.map_err(|why| {
            Error::content(
                &self.path,
                place.clone(),
                "numbers",
                why,
                "leave the column out",
            )
        })?;
        let metadata = self.reader.metadata();
        let mut first = 0;
        for (index, group) in metadata.row_groups().iter().enumerate() {
            let n_rows = group.num_rows() as usize;
            let chunk = group.column(at);
            check_codec(&self.path, &place, chunk.compression())?;
            check_extent(&self.path, &place, chunk, self.length)?;
            let put = &mut |row, value| put(first + row, value);
            let found = caught(|| {
                let chunk = self.reader.get_row_group(index)?.get_column_reader(at)?;
                decode(chunk, kind, n_rows, put)
            });
            let found = found.map_err(|error| pages_refused(&self.path, &place, &error))?;
            if found != n_rows {
                let expected = format!("{n_rows} rows in group {}", index + 1);
                return Err(damaged(&self.path, place, expected, found.to_string()));
            }
            first += n_rows;
        }
        Ok(())
    }
}

/// Refuses a file that does not end as it should.
fn check_end(source: &mut Source) -> Result<()> {
    const PLACE: &str = "end of the file";
    let end = match source.length().checked_sub(4) {
        Some(start) => source.bytes(start, 4, PLACE)?,
        None => Vec::new(),
    };
    let found = match &end[..] {
        b"PAR1" => return Ok(()),
        b"PARE" => "an encrypted file",
        _ => "other bytes",
    };
    Err(cut_short(
        source.path(),
        PLACE,
        "`PAR1`".into(),
        found.into(),
    ))
}

/// Rows of all groups.
fn n_rows(path: &Path, metadata: &ParquetMetaData) -> Result<usize> {
    let claimed = metadata.file_metadata().num_rows();
    let of_groups = metadata.row_groups().iter().try_fold(0i64, |sum, group| {
        sum.checked_add(group.num_rows())
            .filter(|_| group.num_rows() >= 0)
    });
    let complete = metadata
        .row_groups()
        .iter()
        .all(|group| group.num_columns() == metadata.file_metadata().schema_descr().num_columns());
    match (of_groups, usize::try_from(claimed)) {
        (Some(of_groups), Ok(n_rows)) if of_groups == claimed && complete => Ok(n_rows),
        _ => Err(damaged(
            path,
            "footer",
            format!("{claimed} rows of all columns in its groups"),
            of_groups.map_or("a negative number".into(), |rows| format!("{rows} rows")),
        )),
    }
}

fn check_codec(path: &Path, place: &str, codec: Compression) -> Result<()> {
    use Compression::{BROTLI, LZO};
    if !matches!(codec, BROTLI(_) | LZO) {
        return Ok(());
    }
    Err(Error::content(
        path,
        place,
        "pages that are not packed, or with snappy, gzip, lz4 or zstd",
        codec.to_string(),
        "write it with another compression",
    ))
}

/// Refuses a chunk that does not lie inside the file, on which the crate would panic.
fn check_extent(path: &Path, place: &str, chunk: &ColumnChunkMetaData, length: u64) -> Result<()> {
    let dictionary = chunk.dictionary_page_offset();
    let start = dictionary.unwrap_or_else(|| chunk.data_page_offset());
    let size = chunk.compressed_size();
    let end = start
        .checked_add(size)
        .and_then(|end| u64::try_from(end).ok());
    if start < 0 || size < 0 || end.is_none_or(|end| end > length) {
        let expected = format!("pages inside the {length} bytes of the file");
        return Err(cut_short(
            path,
            place,
            expected,
            format!("{size} bytes from byte {start}"),
        ));
    }
    Ok(())
}

/// What the crate gives, or an error where it panics: of 43,000 damaged files that had passed
/// [`check_extent`] and [`guard`] two made it do so (a dictionary that is not there, a page of
/// split bytes that is too short). Such a file is refused like any other.
fn caught<T>(decode: impl FnOnce() -> parquet::errors::Result<T>) -> parquet::errors::Result<T> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(ParquetError::General("bytes that make it give up".into())))
}

/// The message of the crate, without its first word.
fn words(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => {
            text.clone()
        }
        other => other.to_string(),
    }
}

fn footer_refused(path: &Path, error: &ParquetError) -> Error {
    let expected = "a footer that describes the columns".into();
    cut_short(path, "footer", expected, words(error))
}

fn pages_refused(path: &Path, place: &str, error: &ParquetError) -> Error {
    damaged(path, place, "pages that can be decoded", words(error))
}

/// The column that may be the time.
fn time_at(path: &Path, columns: &[Column], options: &ReadOptions) -> Result<Option<usize>> {
    match &options.time_column {
        Some(TimeColumn::Absent) => Ok(None),
        Some(TimeColumn::Named(asked)) => {
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            let at = names.iter().position(|name| name == asked);
            at.map(Some)
                .ok_or_else(|| not_among(path, "time column", asked, &names))
        }
        None => Ok(columns.iter().enumerate().find_map(|(at, column)| {
            let kind = column.kind.ok()?;
            let is_candidate = kind.seconds.is_some()
                || (at == 0 && time::candidate(&column.name))
                || column.name == PANDAS_INDEX;
            is_candidate.then_some(at)
        })),
    }
}

/// Reads the column that may be the time, and says whether it is.
fn judge(file: &Decoder, at: usize, options: &ReadOptions) -> Result<Axis> {
    let column = &file.columns[at];
    let mut times = vec![f64::NAN; file.n_rows];
    file.read_column(at, &mut |row, value| times[row] = value)?;
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
