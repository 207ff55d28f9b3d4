//! Tables in text: CSV, TSV, columns between spaces.
//!
//! Three steps: the first lines tell how the text is written ([`detect`]), where its rows begin
//! ([`start`]) and what stands before them ([`said`]); a first pass counts rows, finds ragged lines
//! and columns without numbers ([`scan`]), after which it is decided what each column is
//! ([`columns`]), or each line where lines are channels ([`lines`]); a second pass decodes every
//! cell into its place ([`grid`]). Rows are cut by the `csv` crate ([`rows`]) and are as long as
//! they are; apart from one row at a time and the columns that may be the time, nothing is held but
//! the matrix.
//!
//! Missing values are empty cells and the words of [`cells::MISSING`]. Lines that start with `#` or
//! `%` are comments, blank lines are passed over. Not understood: names with line breaks in them,
//! thousands separators, units behind numbers.

mod cells;
mod columns;
mod dates;
mod detect;
mod grid;
mod lines;
mod rewrite;
mod rows;
mod said;
mod scan;
mod start;

pub(super) use dates::days as days_since_1970;
pub(super) use rewrite::Precision;

use super::rewrite::Replacement;
use super::selection::not_among;
use super::source::Source;
use super::table::{Contents, Reader, Table};
use super::{Note, ReadOptions, TimeColumn, time};
use crate::error::{Error, Result};
use cells::{Cell, Delimiter, judge, name};
use detect::{Dialect, dialect, is_comment};
use grid::Grid;
use rows::{BYTE_ORDER_MARK, Rows, cells};
use said::Said;
use scan::{Scan, scan};
use start::{Start, start};
use std::io::BufRead;
use std::path::Path;

/// Lines from which the way of writing is detected.
const SAMPLE: usize = 128;
/// Bytes after which two lines are enough for it.
const SAMPLE_BYTES: usize = 1 << 20;
/// Columns that may be the time.
const MOST_TIMES: usize = 8;

/// A table in text.
pub(crate) struct TextReader {
    source: Source,
    dialect: Dialect,
    /// Lines of the text, from 1, up to which there is no row.
    before: u64,
    grid: Grid,
    contents: Contents,
}

/// The first lines of a text.
struct Sample {
    comments: Vec<Vec<u8>>,
    /// Lines that are neither blank nor comments, and their numbers.
    lines: Vec<(u64, Vec<u8>)>,
}

/// How a text is to be read, from its first lines.
struct Plan {
    dialect: Dialect,
    start: Start,
    /// Names of the columns; empty when there are none.
    names: Vec<String>,
    units: Option<Vec<String>>,
    /// What the lines before the table say.
    said: Said,
    /// The columns that may be the time.
    time_at: Vec<usize>,
    first_row_line: u64,
}

impl TextReader {
    pub fn open(mut source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let sample = sample(&mut source)?;
        let plan = plan(&path, &sample, options)?;
        let mut found = scan(&mut source, &plan)?;
        if found.n_rows == 0 {
            return Err(no_rows(&path));
        }
        let mut contents = Contents::default();
        describe(&mut contents, &plan, &sample, &found);
        let (layout, note) = lines::layout(&plan, &found, options);
        contents.notes.extend(note);
        let grid = if layout.transposed {
            lines::channels(&mut contents, &plan, &found)
        } else {
            columns::channels(&mut contents, &plan, &mut found, options)
        };
        contents.layout = Some(layout);
        Ok(Self {
            source,
            dialect: plan.dialect,
            before: plan.start.before,
            grid,
            contents,
        })
    }
}

fn plan(path: &Path, sample: &Sample, options: &ReadOptions) -> Result<Plan> {
    if sample.lines.is_empty() {
        return Err(no_rows(path));
    }
    let dialect = dialect(&sample.lines, options.delimiter);
    let start = start(sample, dialect, options.header);
    let said = Said::read(&sample.comments, &start.preamble, dialect, start.n_columns);
    let mut names = start.names.clone();
    if let Some(said_names) = &said.names {
        if names.is_empty() {
            names.clone_from(said_names);
        } else if said.units.is_some() {
            // The device names its channels above the table and only numbers them in it.
            let better = names.iter_mut().zip(said_names);
            for (name, said) in better.filter(|(_, said)| !said.is_empty()) {
                name.clone_from(said);
            }
        }
    }
    let first_row = sample.lines.iter().find(|(line, _)| *line > start.before);
    let first_cells = first_row.map_or(Vec::new(), |(_, line)| cells(line, dialect.delimiter));
    let is_date = |cell: &Vec<u8>| matches!(judge(cell, dialect.decimal_comma), Cell::Instant(_));
    let dates: Vec<bool> = first_cells.iter().map(is_date).collect();
    Ok(Plan {
        time_at: time_at(path, options, &names, &dates)?,
        first_row_line: first_row.map_or(0, |(line, _)| *line),
        units: start.units.clone().or_else(|| said.units.clone()),
        dialect,
        start,
        names,
        said,
    })
}

/// Reads the first lines.
fn sample(source: &mut Source) -> Result<Sample> {
    let path = source.path().to_owned();
    if old_mac(&source.head(1 << 16)?) {
        return Err(Error::content(
            &path,
            "line ends",
            "line feeds (or carriage return and line feed)",
            "carriage returns only",
            "save the text with other line ends",
        ));
    }
    let mut sample = Sample {
        comments: Vec::new(),
        lines: Vec::new(),
    };
    let mut n_bytes = 0;
    for (number, line) in (1..).zip(source.stream(0)?.split(b'\n')) {
        let mut line = line.map_err(Error::reading(&path))?;
        if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if is_comment(&line) {
            if sample.lines.is_empty() {
                sample.comments.push(line);
            }
        } else if !line.trim_ascii().is_empty() {
            n_bytes += line.len();
            sample.lines.push((number, line));
        }
        let n_lines = sample.lines.len();
        if n_lines == SAMPLE || (n_lines > 1 && n_bytes > SAMPLE_BYTES) {
            break;
        }
    }
    Ok(sample)
}

fn old_mac(head: &[u8]) -> bool {
    head.contains(&b'\r') && !head.contains(&b'\n')
}

fn no_rows(path: &Path) -> Error {
    Error::kind(
        path,
        "a table of numbers",
        "a text without any row of numbers",
        "check that whatever wrote it came to its end",
    )
}

/// The columns that may be the time; `dates` says which hold one in the first row.
fn time_at(
    path: &Path,
    options: &ReadOptions,
    names: &[String],
    dates: &[bool],
) -> Result<Vec<usize>> {
    let n_columns = dates.len().max(names.len());
    match &options.time_column {
        Some(TimeColumn::Absent) => Ok(Vec::new()),
        None if n_columns < 2 => Ok(Vec::new()),
        None => {
            let may_be = |&column: &usize| match names.get(column) {
                Some(name) if column == 0 => time::candidate(name),
                Some(name) => time::is_called_time(name),
                None => column == 0 && names.is_empty(),
            };
            let is_date = |column: &usize| dates.get(*column) == Some(&true);
            let columns = (0..n_columns).filter(|column| may_be(column) || is_date(column));
            Ok(columns.take(MOST_TIMES).collect())
        }
        Some(TimeColumn::Named(asked)) => match names.iter().position(|name| name == asked) {
            Some(at) => Ok(vec![at]),
            None => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                Err(not_among(path, "time column", asked, &names))
            }
        },
    }
}

fn describe(contents: &mut Contents, plan: &Plan, sample: &Sample, found: &Scan) {
    let mut text = format!("delimiter: {}", plan.dialect.delimiter.name());
    if plan.dialect.decimal_comma {
        text += ", decimal comma";
    }
    match plan.start.header {
        None => text += ", no header",
        Some((line, _)) => text += &format!(", header in line {line}"),
    }
    match sample.comments.len() {
        0 => {}
        1 => text += ", 1 comment line before the table",
        n_comments => text += &format!(", {n_comments} comment lines before the table"),
    }
    match plan.start.preamble.len() {
        0 => {}
        1 => text += ", 1 line of other text before the table",
        n_lines => text += &format!(", {n_lines} lines of other text before the table"),
    }
    contents.detected(text);
    if plan.start.header.is_none() && plan.said.names.is_some() {
        contents.detected("names are taken from the lines before the table");
    }
    if let Some(rate) = plan.start.rate {
        contents.detected(format!(
            "the first two rows are the start in seconds since 1970 and the rate: {rate} Hz"
        ));
    }
    if let Some(rate) = plan.said.rate {
        let line = &plan.said.rate_line;
        contents.detected(format!("rate {rate} Hz is taken from `{line}`"));
    }
    if plan.said.rates_differ {
        let text = "the lines before the table name several rates: none is taken; give the rate";
        contents.warn(text);
    }
    if let Some(line) = plan.start.count_line {
        contents.detected(format!("line {line} counts the samples and is passed over"));
    }
    if found.n_blank > 0 {
        contents.warn(format!(
            "blank lines between rows are passed over: {}",
            found.n_blank
        ));
    }
}

impl Reader for TextReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let samples = table.rows();
        let rows = self.grid.rows(samples.clone());
        let (delimiter, decimal_comma) = (self.dialect.delimiter, self.dialect.decimal_comma);
        let mut input = Rows::new(self.source.stream(0)?, delimiter, self.before);
        for row in 0..rows.end {
            let Some((line, cells)) = input.next().map_err(Error::reading(&path))? else {
                break;
            };
            if row < rows.start {
                continue;
            }
            for (column, cell) in cells.cells().enumerate() {
                let Some((sample, channel)) = self.grid.place(row, column) else {
                    continue;
                };
                if !samples.contains(&sample) || !table.wants(channel) {
                    continue;
                }
                match judge(cell, decimal_comma) {
                    Cell::Number(value) => table.set(sample, channel, value),
                    Cell::Missing => {}
                    wrong => {
                        let column = match &self.grid {
                            Grid::Columns(_) => self.contents.channels[channel].name.clone(),
                            Grid::Lines { .. } => (column + 1).to_string(),
                        };
                        let place = format!("line {line}, column `{column}`");
                        return Err(not_a_number(&path, place, cell, wrong, self.dialect));
                    }
                }
            }
        }
        Ok(())
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        rewrite::rewrite(self, new, out).map(Some)
    }
}

fn not_a_number(path: &Path, place: String, cell: &[u8], wrong: Cell, dialect: Dialect) -> Error {
    // A quote that is not closed makes one cell of all that follows.
    let text = name(cell).replace(['\n', '\r'], " ");
    let shown: String = text.chars().take(40).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    let found = format!("`{shown}{more}`");
    let comma =
        text.contains(',') && !dialect.decimal_comma && dialect.delimiter != Delimiter::Byte(b',');
    let remedy = match wrong {
        Cell::Infinite => "repair the value or mark it as missing",
        Cell::Instant(_) => "name the time column, or leave this one out",
        _ if cell.contains(&b'\n') => "close the quote at its start",
        _ if comma => "write all numbers with a decimal point",
        _ => "repair the cell, leave it empty where the value is missing, or leave the column out",
    };
    Error::content(
        path,
        place,
        "a finite number or a missing value",
        found,
        remedy,
    )
}
