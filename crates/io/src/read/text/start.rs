//! Where the rows of a table begin: behind the names of its columns, their units, and whatever the
//! device wrote before them.
//!
//! In: the first lines of a text and how it is written. Out: a [`Start`]. A line belongs to the
//! rows when it has as many cells as most lines and no text where most have a number; the first
//! such line is the first row. A line of numbers is never passed over, so that a damaged row stays
//! an error, and a line of names with another number of columns is one too.

use super::Sample;
use super::cells::{Cell, judge, name};
use super::detect::{Dialect, is_header};
use super::rows::cells;

/// What stands before the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Start {
    /// Lines of the text, from 1, up to which there is no row.
    pub before: u64,
    /// The line of the names, from 1, and how many cells it has.
    pub header: Option<(u64, usize)>,
    pub names: Vec<String>,
    /// One a column, from a line of its own.
    pub units: Option<Vec<String>>,
    /// Lines before the names that are no comments.
    pub preamble: Vec<Vec<u8>>,
    /// Cells of a line of the table.
    pub n_columns: usize,
    /// Samples per second, where the first lines are start and rate.
    pub rate: Option<f64>,
    /// A line between names and rows that counts the samples.
    pub count_line: Option<u64>,
}

/// Finds the rows. `has_header` is what the caller says of the first line.
pub(super) fn start(sample: &Sample, dialect: Dialect, has_header: Option<bool>) -> Start {
    let table = Table::new(sample, dialect);
    let asked = |header: bool| {
        let mut start = Start::default();
        if header && !table.lines.is_empty() {
            table.take_names(0, &mut start);
        }
        start.n_columns = table.lines.first().map_or(0, |line| line.len());
        start
    };
    match has_header {
        Some(header) => asked(header),
        None => match table.first_row() {
            Some(0) => table.start_and_rate().unwrap_or_else(|| asked(false)),
            Some(row) => table.behind_a_header(row),
            None => asked(table.is_header(0)),
        },
    }
}

/// The first lines, cut into cells.
struct Table<'a> {
    sample: &'a Sample,
    dialect: Dialect,
    lines: Vec<Vec<Vec<u8>>>,
    judged: Vec<Vec<Cell>>,
    /// Cells of most lines.
    usual: usize,
    /// Columns in which most cells that hold anything are numbers or times.
    numeric: Vec<bool>,
}

impl<'a> Table<'a> {
    fn new(sample: &'a Sample, dialect: Dialect) -> Self {
        let lines: Vec<Vec<Vec<u8>>> = sample
            .lines
            .iter()
            .map(|(_, line)| cells(line, dialect.delimiter))
            .collect();
        let judged: Vec<Vec<Cell>> = lines
            .iter()
            .map(|line| {
                let cells = line.iter();
                cells
                    .map(|cell| judge(cell, dialect.decimal_comma))
                    .collect()
            })
            .collect();
        let mut counts: Vec<usize> = lines.iter().map(Vec::len).collect();
        counts.sort_unstable();
        // Of equals the one with more columns: lines of one cell are what people write.
        let usual = counts
            .chunk_by(|a, b| a == b)
            .max_by_key(|run| (run.len(), run[0]))
            .map_or(0, |run| run[0]);
        let mut balance = vec![0i64; usual];
        for line in judged.iter().filter(|line| line.len() == usual) {
            for (balance, cell) in balance.iter_mut().zip(line) {
                *balance += match cell {
                    Cell::Missing => 0,
                    Cell::Text => -1,
                    _ => 1,
                };
            }
        }
        // In a table of names and one row, the row decides.
        let numeric = balance.iter().map(|&balance| balance >= 0).collect();
        Self {
            sample,
            dialect,
            lines,
            judged,
            usual,
            numeric,
        }
    }

    fn line_number(&self, at: usize) -> u64 {
        self.sample.lines[at].0
    }

    fn is_header(&self, at: usize) -> bool {
        let text = |at: usize| self.sample.lines.get(at).map(|(_, line)| line.as_slice());
        text(at).is_some_and(|line| is_header(line, text(at + 1), self.dialect))
    }

    /// The first line that is a row, or was meant to be one.
    fn first_row(&self) -> Option<usize> {
        let first = (0..self.lines.len()).find(|&at| self.is_row(at) && !self.has_names(at))?;
        let meant = (0..first).find(|&at| self.was_meant_as_row(at) && !self.has_names(at));
        Some(meant.unwrap_or(first))
    }

    /// Whether a line names the columns. Below a word, where most lines begin with one, only
    /// numbers that count the columns or rise evenly do: others are the channel of that name.
    fn has_names(&self, at: usize) -> bool {
        let is_label = self.judged[at].first() == Some(&Cell::Text)
            && self.judged[at].len() == self.usual
            && !self.numeric.first().copied().unwrap_or(true);
        if is_label {
            return at == 0 && (!self.is_row(at) || rises_evenly(&self.judged[at][1..]));
        }
        // Numbers name columns only in the first line: below names they are the first row.
        let has_text = self.judged[at].contains(&Cell::Text);
        self.is_header(at) && (at == 0 || has_text)
    }

    fn is_row(&self, at: usize) -> bool {
        let line = &self.judged[at];
        let is_value = |cell: &Cell| !matches!(cell, Cell::Text | Cell::Missing);
        line.len() == self.usual
            && line.iter().any(is_value)
            && line
                .iter()
                .zip(&self.numeric)
                .all(|(cell, &numeric)| !numeric || *cell != Cell::Text)
    }

    /// Nothing but numbers, or as many cells as a row and at least half of them numbers.
    fn was_meant_as_row(&self, at: usize) -> bool {
        let line = &self.judged[at];
        let held = line.iter().filter(|cell| **cell != Cell::Missing).count();
        let numbers = line
            .iter()
            .filter(|cell| matches!(cell, Cell::Number(_) | Cell::Infinite))
            .count();
        let begins_with_text = line.first() == Some(&Cell::Text);
        let all = numbers == held && numbers > 0;
        all || (line.len() == self.usual && 2 * numbers >= held && !begins_with_text && numbers > 0)
    }

    /// The first row is known; what is before it?
    fn behind_a_header(&self, row: usize) -> Start {
        let mut start = Start {
            n_columns: self.usual,
            before: self.line_number(row - 1),
            ..Start::default()
        };
        let last = row - 1;
        let is_key = |cell: &[u8]| cell.ends_with(b":") || cell.ends_with(b"=");
        let key = |at: usize| self.lines[at].iter().any(|cell| is_key(cell));
        let fits = |at: usize| self.lines[at].len() == self.usual && !key(at);
        let is_text = |at: usize| {
            let cells = &self.judged[at];
            cells
                .iter()
                .all(|cell| matches!(cell, Cell::Text | Cell::Missing))
        };
        let mut names_at = None;
        if fits(last) {
            names_at = Some(last);
            if last > 0 && fits(last - 1) && is_text(last - 1) && self.are_units(last) {
                names_at = Some(last - 1);
                let units = self.lines[last].iter();
                start.units = Some(units.map(|cell| unbracketed(&name(cell))).collect());
            }
        } else if self.lines[last].len() > 1 && is_text(last) && !self.has_keys(last) {
            // Names, but not as many as there are columns: an error that names the line.
            names_at = Some(last);
        }
        let n_before = match names_at {
            Some(at) => {
                self.take_names(at, &mut start);
                at
            }
            None => row,
        };
        start.before = self.line_number(row - 1);
        let lines = self.sample.lines[..n_before].iter();
        start.preamble = lines.map(|(_, line)| line.clone()).collect();
        if self.counts_samples(row) {
            start.before = self.line_number(row);
            start.count_line = Some(start.before);
        }
        start
    }

    fn take_names(&self, at: usize, start: &mut Start) {
        start.names = self.lines[at].iter().map(|cell| name(cell)).collect();
        start.header = Some((self.line_number(at), self.lines[at].len()));
        start.before = self.line_number(at);
    }

    /// Whether a line says something of the form `key: value`.
    fn has_keys(&self, at: usize) -> bool {
        let line = &self.sample.lines[at].1;
        line.contains(&b':') || line.contains(&b'=')
    }

    fn are_units(&self, at: usize) -> bool {
        let held = self.lines[at].iter().filter(|cell| !cell.is_empty());
        let held: Vec<String> = held.map(|cell| unbracketed(&name(cell))).collect();
        !held.is_empty() && held.iter().all(|unit| is_unit(unit))
    }

    /// AcqKnowledge writes how many samples each channel has below the names.
    fn counts_samples(&self, row: usize) -> bool {
        let (line, Some(next)) = (&self.judged[row], self.judged.get(row + 1)) else {
            return false;
        };
        let mut held = line.iter().filter(|cell| **cell != Cell::Missing);
        let Some(&Cell::Number(count)) = held.next() else {
            return false;
        };
        line.len() > 1
            && line[0] == Cell::Missing
            && matches!(next.first(), Some(Cell::Number(_)))
            && count.fract() == 0.0
            && count > 0.0
            && held.all(|cell| *cell == Cell::Number(count))
    }

    /// Empatica's E4 writes the start in seconds since 1970 and the rate as the first two rows.
    fn start_and_rate(&self) -> Option<Start> {
        let same = |at: usize| -> Option<f64> {
            let line = self.judged.get(at)?;
            let Some(&Cell::Number(first)) = line.first() else {
                return None;
            };
            let all = line.iter().all(|cell| *cell == Cell::Number(first));
            all.then_some(first)
        };
        let (began, rate) = (same(0)?, same(1)?);
        let is_rate = (1.0..=1024.0).contains(&rate) && rate.fract() == 0.0;
        let small = |cell: &Cell| matches!(cell, Cell::Number(value) if value.abs() < 1e8);
        let others = &self.judged[2..];
        let is_small = others.len() > 1 && others.iter().flatten().all(small);
        ((1e9..2.2e9).contains(&began) && is_rate && is_small).then(|| Start {
            before: self.line_number(1),
            n_columns: self.usual,
            rate: Some(rate),
            ..Start::default()
        })
    }
}

/// Whether cells are numbers in equal steps upwards.
fn rises_evenly(cells: &[Cell]) -> bool {
    let numbers: Vec<f64> = cells
        .iter()
        .map_while(|cell| match cell {
            Cell::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let even = |step: &f64| *step > 0.0 && (step - steps[0]).abs() <= 0.01 * steps[0];
    numbers.len() == cells.len() && steps.len() > 1 && steps.iter().all(even)
}

/// `(mV)` → `mV`
fn unbracketed(unit: &str) -> String {
    let inside = unit.trim();
    let inside = inside
        .strip_prefix(['(', '['])
        .and_then(|inside| inside.strip_suffix([')', ']']));
    inside.unwrap_or(unit).trim().to_string()
}

/// Units that devices write below the names of columns.
fn is_unit(text: &str) -> bool {
    const UNITS: [&str; 43] = [
        "s", "sec", "ms", "us", "µs", "min", "h", "hz", "v", "mv", "uv", "µv", "μv", "nv", "volts",
        "a", "ma", "g", "m/s2", "m/s^2", "m/s²", "°c", "degc", "c", "k", "%", "bpm", "mmhg", "kpa",
        "pa", "hpa", "n", "nm", "deg", "°", "rad", "au", "a.u.", "-", "t", "ft", "us/cm", "dps",
    ];
    let lower = text.to_lowercase();
    UNITS.contains(&lower.as_str())
}
