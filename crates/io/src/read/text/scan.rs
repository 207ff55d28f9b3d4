//! The first pass over a text: how many rows and columns, and do all lines agree? After it the size
//! of the matrix is known, and a ragged line has been found before any memory was asked for.

use super::cells::{Cell, judge};
use super::detect::Dialect;
use super::rows::Rows;
use crate::error::{Error, Result};
use crate::read::source::Source;
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

/// Counts the rows behind the header. `header` is its line and its number of columns; without one
/// the first row decides.
pub(super) fn scan(
    source: &mut Source,
    dialect: Dialect,
    header: Option<(u64, usize)>,
    time_at: Option<usize>,
) -> Result<Scan> {
    let path = source.path().to_owned();
    let header_line = header.map_or(0, |(line, _)| line);
    let mut rows = Rows::new(source.stream(0)?, dialect.delimiter, header_line);
    let mut found = Scan {
        last_is_empty: true,
        ..Scan::default()
    };
    let mut expected = header;
    while let Some((line, row)) = rows.next().map_err(Error::reading(&path))? {
        let (mut n_cells, mut last_is_empty) = (0, false);
        for cell in row.cells() {
            if time_at == Some(n_cells) {
                found.time.push(match judge(cell, dialect.decimal_comma) {
                    Cell::Number(value) | Cell::Instant(value) => value,
                    _ => f64::NAN,
                });
            }
            last_is_empty = cell.is_empty();
            n_cells += 1;
        }
        let expected = *expected.get_or_insert((line, n_cells));
        if n_cells != expected.1 {
            return Err(ragged(&path, line, expected, n_cells));
        }
        found.last_is_empty &= last_is_empty;
        found.n_rows += 1;
    }
    found.n_blank = rows.n_blank();
    found.n_columns = expected.map_or(0, |(_, n_cells)| n_cells);
    Ok(found)
}

fn ragged(path: &Path, line: u64, (expected_line, expected): (u64, usize), found: usize) -> Error {
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
