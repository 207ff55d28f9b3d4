//! Tables in text: CSV, TSV, columns between spaces.
//!
//! Three steps: the first lines tell how the text is written ([`detect`]), a first pass counts rows
//! and finds ragged lines ([`scan`]), a second pass decodes every cell into its place. Rows are cut
//! by the `csv` crate ([`rows`]) and are as long as they are; apart from one row at a time and one
//! column that may be the time, nothing is held but the matrix.
//!
//! Missing values are empty cells and the words of [`cells::MISSING`]. Lines that start with `#` or
//! `%` are comments, blank lines are passed over. Not understood: names with line breaks in them,
//! thousands separators, units behind numbers.

mod cells;
mod detect;
mod rewrite;
mod rows;
mod scan;

pub(super) use rewrite::Precision;

use super::rewrite::Replacement;
use super::selection::not_among;
use super::source::Source;
use super::table::{Channel, Contents, Reader, Table};
use super::time::{self, Axis};
use super::{Note, ReadOptions, TimeColumn};
use crate::error::{Error, Result};
use cells::{Cell, Delimiter, judge, name};
use detect::{Dialect, Preamble, dialect, is_comment, is_header, preamble};
use rows::{BYTE_ORDER_MARK, Rows, cells};
use scan::{Scan, scan};
use std::io::BufRead;
use std::path::Path;

/// Lines from which the way of writing is detected.
const SAMPLE: usize = 64;

/// A table in text.
pub(crate) struct TextReader {
    source: Source,
    dialect: Dialect,
    /// Line of the header, from 1; 0 without one.
    header_line: u64,
    /// For every column of the text: its channel.
    channels: Vec<Option<usize>>,
    contents: Contents,
}

/// The first lines of a text.
struct Sample {
    comments: Vec<Vec<u8>>,
    /// Lines that are neither blank nor comments, and the number of the first.
    lines: Vec<Vec<u8>>,
    first_line: u64,
}

/// How a text is to be read, from its first lines.
struct Plan {
    dialect: Dialect,
    /// Line of the header, from 1; 0 without one.
    header_line: u64,
    /// Cells of the first line that is no comment.
    n_first: usize,
    /// Names of the columns; empty when there are none.
    names: Vec<String>,
    /// What the comments say.
    said: Preamble,
    /// The column that may be the time.
    time_at: Option<usize>,
}

impl TextReader {
    pub fn open(mut source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let sample = sample(&mut source)?;
        let plan = plan(&path, &sample, options)?;
        let header = (plan.header_line > 0).then_some((plan.header_line, plan.n_first));
        let found = scan(&mut source, plan.dialect, header, plan.time_at)?;
        if found.n_rows == 0 {
            return Err(no_rows(&path));
        }
        let mut contents = Contents::default();
        describe(&mut contents, &plan, &sample, &found);
        let channels = channels(&mut contents, &plan, &found, options);
        Ok(Self {
            source,
            dialect: plan.dialect,
            header_line: plan.header_line,
            channels,
            contents,
        })
    }
}

fn plan(path: &Path, sample: &Sample, options: &ReadOptions) -> Result<Plan> {
    let Some(first) = sample.lines.first() else {
        return Err(no_rows(path));
    };
    let dialect = dialect(&sample.lines, options.delimiter);
    let has_header = options
        .header
        .unwrap_or_else(|| is_header(first, sample.lines.get(1).map(Vec::as_slice), dialect));
    let first_cells = cells(first, dialect.delimiter);
    let n_first = first_cells.len();
    let said = preamble(&sample.comments, dialect, n_first);
    let names = if has_header {
        first_cells.iter().map(|cell| name(cell)).collect()
    } else {
        said.names.clone().unwrap_or_default()
    };
    Ok(Plan {
        time_at: time_at(path, options, &names, n_first)?,
        header_line: if has_header { sample.first_line } else { 0 },
        dialect,
        n_first,
        names,
        said,
    })
}

/// Makes the channels; gives the channel of every column.
fn channels(
    contents: &mut Contents,
    plan: &Plan,
    found: &Scan,
    options: &ReadOptions,
) -> Vec<Option<usize>> {
    let names = &plan.names;
    let empty_end = found.n_columns > 1
        && found.last_is_empty
        && names.last().is_none_or(|last| last.is_empty());
    if empty_end {
        contents.detected("every line ends with a delimiter; the empty last column is left out");
    }
    let n_columns = found.n_columns - usize::from(empty_end);
    let axis = match (plan.time_at, &options.time_column) {
        (Some(at), Some(TimeColumn::Named(_))) => time::asked(&names[at], &found.time),
        (Some(at), _) if !names.is_empty() => time::judge_named(&names[at], &found.time),
        (Some(_), _) if n_columns > 1 => time::judge_unnamed(&found.time),
        _ => Axis::Channel,
    };
    let (left_out, rate) = match axis.settle(contents) {
        Some(of_column) => (plan.time_at, of_column.or(plan.said.rate)),
        None => (None, plan.said.rate),
    };
    let mut channels = Vec::with_capacity(found.n_columns);
    for column in 0..found.n_columns {
        if Some(column) == left_out || column >= n_columns {
            channels.push(None);
            continue;
        }
        let position = contents.channels.len();
        channels.push(Some(position));
        let own = names.get(column).filter(|name| !name.is_empty());
        contents.channels.push(Channel {
            name: own
                .cloned()
                .unwrap_or_else(|| format!("ch{}", position + 1)),
            rate,
            n_samples: found.n_rows,
            ..Channel::default()
        });
    }
    channels
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
        first_line: 0,
    };
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
            if sample.lines.is_empty() {
                sample.first_line = number;
            }
            sample.lines.push(line);
        }
        if sample.lines.len() == SAMPLE {
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

/// The column that may be the time.
fn time_at(
    path: &Path,
    options: &ReadOptions,
    names: &[String],
    n_columns: usize,
) -> Result<Option<usize>> {
    match &options.time_column {
        Some(TimeColumn::Absent) => Ok(None),
        None => match names.first() {
            Some(name) => Ok((n_columns > 1 && time::candidate(name)).then_some(0)),
            None => Ok((n_columns > 1).then_some(0)),
        },
        Some(TimeColumn::Named(asked)) => match names.iter().position(|name| name == asked) {
            Some(at) => Ok(Some(at)),
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
    match plan.header_line {
        0 => text += ", no header",
        line => text += &format!(", header in line {line}"),
    }
    match sample.comments.len() {
        0 => {}
        1 => text += ", 1 comment line before the table",
        n_comments => text += &format!(", {n_comments} comment lines before the table"),
    }
    contents.detected(text);
    if plan.header_line == 0 && plan.said.names.is_some() {
        contents.detected("names are taken from the comment before the table");
    }
    if let Some(rate) = plan.said.rate {
        contents.detected(format!("rate {rate} Hz is taken from a comment"));
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
        let rows = table.rows();
        let (delimiter, decimal_comma) = (self.dialect.delimiter, self.dialect.decimal_comma);
        let mut input = Rows::new(self.source.stream(0)?, delimiter, self.header_line);
        for row in 0..rows.end {
            let Some((line, cells)) = input.next().map_err(Error::reading(&path))? else {
                break;
            };
            if row < rows.start {
                continue;
            }
            for (cell, channel) in cells.cells().zip(&self.channels) {
                let Some(channel) = channel.filter(|&channel| table.wants(channel)) else {
                    continue;
                };
                match judge(cell, decimal_comma) {
                    Cell::Number(value) => table.set(row, channel, value),
                    Cell::Missing => {}
                    wrong => {
                        let column = &self.contents.channels[channel].name;
                        return Err(not_a_number(&path, line, column, cell, wrong, self.dialect));
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

fn not_a_number(
    path: &Path,
    line: u64,
    column: &str,
    cell: &[u8],
    wrong: Cell,
    dialect: Dialect,
) -> Error {
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
        format!("line {line}, column `{column}`"),
        "a finite number or a missing value",
        found,
        remedy,
    )
}
