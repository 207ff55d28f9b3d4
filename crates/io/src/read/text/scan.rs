//! The first pass over a text: how many rows and columns, and do all lines agree? After it the size
//! of the matrix is known, and a ragged line has been found before any memory was asked for.

use super::cells::{Cell, cells, judge};
use super::detect::{Dialect, is_comment};
use crate::error::{Error, Result};
use crate::read::source::Source;
use std::io::BufRead;
use std::path::Path;

/// What the first pass finds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub n_rows: usize,
    /// Columns of every line, a last one without any contents included.
    pub n_columns: usize,
    /// Every line ends with a delimiter.
    pub last_is_empty: bool,
    /// Blank lines between rows.
    pub n_blank: usize,
    /// The column that may be the time; NaN where it holds none.
    pub time: Vec<f64>,
}

/// The lines of a text, without their ends and without a byte order mark.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// Of the line that was given last, from 1.
    pub number: usize,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        let (line, number) = (Vec::new(), 0);
        Self {
            input,
            line,
            number,
        }
    }

    pub fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        self.line.clear();
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut line: &[u8] = &self.line;
        if self.number == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        line = line.strip_suffix(b"\n").unwrap_or(line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

/// Counts rows from line `first_row` on. `expected` are the columns of the header and its line;
/// without a header the first row decides.
pub(super) fn scan(
    source: &mut Source,
    dialect: Dialect,
    header: Option<(usize, usize)>,
    time_at: Option<usize>,
) -> Result<Scan> {
    let path = source.path().to_owned();
    let reading = |error| Error::reading(&path)(error);
    let mut lines = Lines::new(source.stream(0)?);
    let mut found = Scan {
        last_is_empty: true,
        ..Scan::default()
    };
    let mut expected = header;
    let (mut blank, mut number) = (0, 0);
    while let Some(line) = lines.next().map_err(reading)? {
        number += 1;
        if is_comment(line) || header.is_some_and(|(header_line, _)| number <= header_line) {
            continue;
        }
        if line.trim_ascii().is_empty() {
            blank += 1;
            continue;
        }
        let (mut n_cells, mut last_is_empty) = (0, false);
        for cell in cells(line, dialect.delimiter) {
            if time_at == Some(n_cells) {
                found.time.push(match judge(cell, dialect.decimal_comma) {
                    Cell::Number(value) | Cell::Instant(value) => value,
                    _ => f64::NAN,
                });
            }
            last_is_empty = cell.is_empty();
            n_cells += 1;
        }
        let (expected_line, expected_cells) = *expected.get_or_insert((number, n_cells));
        if n_cells != expected_cells {
            return Err(ragged(
                &path,
                number,
                (expected_line, expected_cells),
                n_cells,
            ));
        }
        found.last_is_empty &= last_is_empty;
        if found.n_rows > 0 {
            found.n_blank += blank;
        }
        blank = 0;
        found.n_rows += 1;
    }
    found.n_columns = expected.map_or(0, |(_, n_cells)| n_cells);
    Ok(found)
}

fn ragged(
    path: &Path,
    line: usize,
    (expected_line, expected): (usize, usize),
    found: usize,
) -> Error {
    let columns = |count: usize| match count {
        1 => "1 column".to_string(),
        _ => format!("{count} columns"),
    };
    Error::content(
        path,
        format!("line {line}"),
        format!("{}, as in line {expected_line}", columns(expected)),
        columns(found),
        "repair the line, or put # before lines that are not data",
    )
}
