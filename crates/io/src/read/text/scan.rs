//! The first pass over a text: how many rows and columns, do all lines agree, and which columns
//! hold no numbers? After it the size of the matrix is known, and a ragged line has been found
//! before any memory was asked for.

use super::Plan;
use super::cells::{Cell, judge, name};
use super::dates::Moments;
use super::rows::Rows;
use crate::error::{Error, Result};
use crate::read::source::Source;
use std::collections::HashMap;
use std::path::Path;

/// Texts that are kept as events; a table with more has no events but a vocabulary.
const MOST_TEXTS: usize = 1 << 16;
/// Labels of lines that are kept: more channels are read from no text.
const MOST_LABELS: usize = 1 << 16;

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
    /// The columns that may be the time.
    pub times: Vec<(usize, Moments)>,
    pub columns: Vec<Held>,
    /// The numbers of the first row; NaN where it holds none.
    pub first_row: Vec<f64>,
    /// The texts in the first column, while it holds nothing else.
    pub labels: Vec<String>,
    /// Texts in columns that have held no number so far.
    pub texts: Vec<Text>,
    /// For every column with a text: the last one in `texts`.
    last_text: HashMap<usize, usize>,
}

/// The same text in rows that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub column: usize,
    pub row: usize,
    pub n_rows: usize,
    pub text: String,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub has_number: bool,
    pub n_texts: usize,
    pub n_dates: usize,
}

impl Scan {
    /// Whether every line begins with a text.
    pub fn is_labelled(&self) -> bool {
        self.n_columns > 1 && self.labels.len() == self.n_rows
    }
}

/// Counts the rows behind the header. Its number of columns is that of all rows; without one the
/// first row decides.
pub(super) fn scan(source: &mut Source, plan: &Plan) -> Result<Scan> {
    let path = source.path().to_owned();
    let dialect = plan.dialect;
    let mut rows = Rows::new(source.stream(0)?, dialect.delimiter, plan.start.before);
    let mut found = Scan {
        last_is_empty: true,
        times: plan
            .time_at
            .iter()
            .map(|&at| (at, Moments::default()))
            .collect(),
        ..Scan::default()
    };
    let mut expected = plan.start.header;
    while let Some((line, row)) = rows.next().map_err(Error::reading(&path))? {
        let (mut n_cells, mut last_is_empty) = (0, false);
        for cell in row.cells() {
            found.see(n_cells, cell, dialect.decimal_comma);
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
    found.columns.resize(found.n_columns, Held::default());
    Ok(found)
}

impl Scan {
    /// Takes a cell into account. Once a column has held a number, only times are looked at: what
    /// does not fit then is an error of the second pass.
    fn see(&mut self, column: usize, cell: &[u8], decimal_comma: bool) {
        if self.n_rows == 0 {
            self.columns.push(Held::default());
            self.first_row.push(match judge(cell, decimal_comma) {
                Cell::Number(value) => value,
                _ => f64::NAN,
            });
        }
        let Some(held) = self.columns.get_mut(column) else {
            return;
        };
        let times = self.times.iter_mut().find(|(at, _)| *at == column);
        if held.has_number && times.is_none() {
            return;
        }
        let judged = judge(cell, decimal_comma);
        match judged {
            Cell::Number(_) | Cell::Infinite => held.has_number = true,
            // A quote that is not closed takes numbers with it: an error of the second pass.
            Cell::Text if cell.contains(&b'\n') => held.has_number = true,
            Cell::Text => held.n_texts += 1,
            Cell::Instant(_) => held.n_dates += 1,
            Cell::Missing => {}
        }
        if let Some((_, times)) = times {
            match judged {
                Cell::Number(value) => times.push_number(value),
                Cell::Instant(moment) => times.push(moment),
                _ => times.push_number(f64::NAN),
            }
        }
        if judged == Cell::Text && !held.has_number {
            self.see_text(column, cell);
        }
        if column == 0 && judged == Cell::Text && self.labels.len() < MOST_LABELS {
            self.labels.push(name(cell));
        }
    }

    fn see_text(&mut self, column: usize, cell: &[u8]) {
        let row = self.n_rows;
        let text = name(cell);
        if let Some(last) = self.last_text.get(&column) {
            let last = &mut self.texts[*last];
            if last.row + last.n_rows == row && last.text == text {
                last.n_rows += 1;
                return;
            }
        }
        if self.texts.len() < MOST_TEXTS {
            self.last_text.insert(column, self.texts.len());
            self.texts.push(Text {
                column,
                row,
                n_rows: 1,
                text,
            });
        }
    }
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
