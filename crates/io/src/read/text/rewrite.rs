//! A table in text, copied with new numbers: comments, header, delimiters, quotes, spaces, line
//! ends and other columns stay.
//!
//! Lines are cut here a second time, by places instead of contents, side by side with the rows that
//! the reader sees ([`Rows`]); where the two do not agree on a cell, nothing is written. A new
//! number has as many decimals (or, with an exponent, as many digits) as the most precise one of
//! its channel, and its decimal mark.

use super::TextReader;
use super::cells::{Cell, Delimiter, judge};
use super::detect::is_comment;
use super::grid::Grid;
use super::rows::{BYTE_ORDER_MARK, Rows};
use crate::error::{Error, Result};
use crate::read::Note;
use crate::read::rewrite::{Replacement, is_same, write_file};
use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::Path;

/// Digits beyond which a decimal number of 64 bits has nothing to say.
const MOST_DIGITS: usize = 17;

pub(super) fn rewrite(
    reader: &mut TextReader,
    new: &Replacement<'_>,
    out: &Path,
) -> Result<Vec<Note>> {
    let precision = precision(reader, new)?;
    let path = reader.source.path().to_owned();
    let (delimiter, decimal_comma) = (reader.dialect.delimiter, reader.dialect.decimal_comma);
    // A second handle: one gives the cells, the other the bytes around them.
    let mut beside = reader.source.again()?;
    let mut rows = Rows::new(beside.stream(0)?, delimiter, reader.before);
    let mut lines = Lines {
        input: reader.source.stream(0)?,
        delimiter,
        before: reader.before,
        n_lines: 0,
    };
    let grid = &reader.grid;
    write_file(out, |file| {
        let mut row = 0;
        while let Some(line) = lines.next().map_err(Error::reading(&path))? {
            let Some(places) = &line.cells else {
                file.write_all(&line.bytes).map_err(Error::writing(out))?;
                continue;
            };
            let (number, cells) = rows
                .next()
                .map_err(Error::reading(&path))?
                .ok_or_else(|| not_cut(&path, lines.n_lines))?;
            let cells: Vec<&[u8]> = cells.cells().collect();
            let as_cut: Vec<&[u8]> = places
                .iter()
                .map(|place| &line.bytes[place.clone()])
                .collect();
            if !alike(&cells, &as_cut) {
                return Err(not_cut(&path, number));
            }
            let word = missing_word(&cells, row, grid, new, decimal_comma);
            let mut copied = 0;
            for (column, place) in places.iter().enumerate() {
                let Some((sample, channel)) = grid.place(row, column) else {
                    continue;
                };
                let Some(value) = new.get(sample, channel) else {
                    continue;
                };
                let old = match judge(cells[column], decimal_comma) {
                    Cell::Number(old) => old,
                    _ => f64::NAN,
                };
                if is_same(old, value) {
                    continue;
                }
                let text = match (&precision[channel], value.is_nan()) {
                    (_, true) => word.clone(),
                    (Some(precision), false) => precision.text(value, decimal_comma).into_bytes(),
                    (None, false) => value.to_string().into_bytes(),
                };
                let (mut before, mut text) = (&line.bytes[copied..place.start], text);
                if delimiter == Delimiter::Space {
                    (before, text) = aligned(before, place.len(), text);
                }
                write(file, before, &text, out)?;
                copied = place.end;
            }
            write(file, &line.bytes[copied..], b"", out)?;
            row += 1;
        }
        Ok(Vec::new())
    })
}

fn write(file: &mut dyn Write, before: &[u8], text: &[u8], out: &Path) -> Result<()> {
    file.write_all(before)
        .and_then(|()| file.write_all(text))
        .map_err(|error| Error::writing(out)(error))
}

/// What stands before a number and the number itself, so that columns between spaces keep their
/// right edge where there is room. One space stays.
fn aligned(before: &[u8], old_len: usize, mut text: Vec<u8>) -> (&[u8], Vec<u8>) {
    if text.len() < old_len {
        text.splice(..0, vec![b' '; old_len - text.len()]);
        return (before, text);
    }
    let n_spaces = before
        .iter()
        .rev()
        .take_while(|&&byte| byte == b' ')
        .count();
    let taken = (text.len() - old_len).min(n_spaces.saturating_sub(1));
    (&before[..before.len() - taken], text)
}

/// Whether both ways of cutting found the same cells. Doubled quotes are one in the first.
fn alike(cells: &[&[u8]], as_cut: &[&[u8]]) -> bool {
    let plain = |cell: &[u8]| -> Vec<u8> {
        let text = cell.iter().filter(|&&byte| !b"\" \t\r\n".contains(&byte));
        text.copied().collect()
    };
    cells.len() == as_cut.len()
        && cells
            .iter()
            .zip(as_cut)
            .all(|(a, b)| a == b || plain(a) == plain(b))
}

fn not_cut(path: &Path, line: u64) -> Error {
    Error::content(
        path,
        format!("line {line}"),
        "cells whose places are certain",
        "quotes that can be understood in several ways",
        "remove the quotes, or write another format, such as NPY",
    )
}

/// The word for a missing value in a row that has one.
fn missing_word(
    cells: &[&[u8]],
    row: usize,
    grid: &Grid,
    new: &Replacement<'_>,
    decimal_comma: bool,
) -> Vec<u8> {
    let is_wanted = |column| {
        let place = grid.place(row, column);
        place.is_some_and(|(_, channel)| new.wants(channel))
    };
    let missing = cells
        .iter()
        .enumerate()
        .find(|(column, cell)| is_wanted(*column) && judge(cell, decimal_comma) == Cell::Missing);
    missing.map_or(b"NaN".to_vec(), |(_, cell)| cell.to_vec())
}

/// How the numbers of a channel are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::read) struct Precision {
    /// Most digits behind the decimal mark.
    decimals: usize,
    /// Most digits in all.
    digits: usize,
    /// The letter before the exponent, where a number has one.
    exponent: Option<char>,
}

impl Precision {
    /// Takes a number as it is written into account.
    pub fn see(&mut self, cell: &[u8]) {
        let at = cell
            .iter()
            .position(|byte| byte.eq_ignore_ascii_case(&b'e'));
        let mantissa = &cell[..at.unwrap_or(cell.len())];
        let mark = mantissa.iter().position(|byte| b".,".contains(byte));
        let decimals = mark.map_or(0, |mark| mantissa.len() - mark - 1);
        let digits = mantissa.iter().filter(|byte| byte.is_ascii_digit()).count();
        self.decimals = self.decimals.max(decimals);
        self.digits = self.digits.max(digits);
        self.exponent = self.exponent.or(at.map(|at| char::from(cell[at])));
    }

    pub fn text(&self, value: f64, decimal_comma: bool) -> String {
        let text = match self.exponent {
            Some(letter) => with_exponent(value, self.digits, letter),
            // More decimals than a number has say no more than all that it has.
            None if self.decimals >= MOST_DIGITS => value.to_string(),
            None => {
                let text = format!("{value:.*}", self.decimals);
                let is_zero = text.bytes().all(|byte| b"-0.".contains(&byte));
                text.strip_prefix('-')
                    .filter(|_| is_zero)
                    .map_or(text.clone(), String::from)
            }
        };
        if decimal_comma {
            return text.replace('.', ",");
        }
        text
    }
}

/// `1.50e-03`, as C writes it.
fn with_exponent(value: f64, digits: usize, letter: char) -> String {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, size) = match exponent.strip_prefix('-') {
        Some(size) => ('-', size),
        None => ('+', exponent),
    };
    format!("{mantissa}{letter}{sign}{size:0>2}")
}

/// How the numbers of every wanted channel are written.
fn precision(reader: &mut TextReader, new: &Replacement<'_>) -> Result<Vec<Option<Precision>>> {
    let path = reader.source.path().to_owned();
    let (delimiter, decimal_comma) = (reader.dialect.delimiter, reader.dialect.decimal_comma);
    let mut found: Vec<Option<Precision>> = (0..reader.contents.channels.len())
        .map(|channel| new.wants(channel).then(Precision::default))
        .collect();
    let mut rows = Rows::new(reader.source.stream(0)?, delimiter, reader.before);
    let mut row = 0;
    while let Some((_, cells)) = rows.next().map_err(Error::reading(&path))? {
        for (column, cell) in cells.cells().enumerate() {
            let Some((_, channel)) = reader.grid.place(row, column) else {
                continue;
            };
            if let (Some(found), Cell::Number(_)) =
                (&mut found[channel], judge(cell, decimal_comma))
            {
                found.see(cell);
            }
        }
        row += 1;
    }
    Ok(found)
}

/// The lines of a text with the places of their cells.
struct Lines<R> {
    input: R,
    delimiter: Delimiter,
    /// Lines up to which there is no row.
    before: u64,
    n_lines: u64,
}

/// A line, or several where a quote goes over their ends.
struct Line {
    bytes: Vec<u8>,
    /// Where the cells are, without spaces and quotes around them; `None` where it is no row.
    cells: Option<Vec<Range<usize>>>,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> std::io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        if self.input.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.n_lines += 1;
        let has_mark = self.n_lines == 1 && bytes.starts_with(BYTE_ORDER_MARK);
        let start = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
        let text = &bytes[start..];
        if text.trim_ascii().is_empty() || self.n_lines <= self.before || is_comment(text) {
            return Ok(Some(Line { bytes, cells: None }));
        }
        loop {
            let (cells, is_open) = cut(&bytes, start, self.delimiter);
            if !is_open || self.input.read_until(b'\n', &mut bytes)? == 0 {
                let cells = Some(cells);
                return Ok(Some(Line { bytes, cells }));
            }
            self.n_lines += 1;
        }
    }
}

/// The places of the cells from byte `start` on, and whether the last quote is not closed.
fn cut(bytes: &[u8], start: usize, delimiter: Delimiter) -> (Vec<Range<usize>>, bool) {
    let mut end = bytes.len();
    for byte in [b'\n', b'\r'] {
        if end > start && bytes[end - 1] == byte {
            end -= 1;
        }
    }
    let is_space = |byte: u8| byte == b' ' || byte == b'\t';
    let ends = |byte: u8| match delimiter {
        Delimiter::Byte(own) => byte == own,
        Delimiter::Space => is_space(byte),
        Delimiter::None => false,
    };
    let (mut cells, mut at, mut is_open) = (Vec::new(), start, false);
    loop {
        if delimiter == Delimiter::Space {
            while at < end && is_space(bytes[at]) {
                at += 1;
            }
            if at == end && !cells.is_empty() {
                return (cells, false);
            }
        }
        let first = at;
        // Inside quotes a doubled one closes and opens again, which comes to the same.
        let may_quote = at < end && bytes[at] == b'"';
        while at < end && (is_open || !ends(bytes[at])) {
            is_open ^= may_quote && bytes[at] == b'"';
            at += 1;
        }
        cells.push(inside(bytes, first..at));
        if at == end {
            return (cells, is_open);
        }
        at += 1;
    }
}

/// A cell without spaces and quotes around it.
fn inside(bytes: &[u8], place: Range<usize>) -> Range<usize> {
    let trimmed = |place: Range<usize>| {
        let text = &bytes[place.clone()];
        let start = place.start + (text.len() - text.trim_ascii_start().len());
        start..start + text.trim_ascii().len()
    };
    let place = trimmed(place);
    match &bytes[place.clone()] {
        [b'"', .., b'"'] => trimmed(place.start + 1..place.end - 1),
        _ => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, delimiter: Delimiter, expected: &[&str]) {
        let (cells, is_open) = cut(line.as_bytes(), 0, delimiter);
        let found: Vec<&str> = cells.into_iter().map(|cell| &line[cell]).collect();
        assert_eq!(found, expected, "{line}");
        assert!(!is_open);
    }

    #[test]
    fn cells_have_places() {
        let comma = Delimiter::Byte(b',');
        check("1, 2 ,3\r\n", comma, &["1", "2", "3"]);
        check("1,,", comma, &["1", "", ""]);
        check("\"a, b\",\" 1.5 \", \"c\"\n", comma, &["a, b", "1.5", "c"]);
        check("\"say \"\"hi\"\"\",2", comma, &["say \"\"hi\"\"", "2"]);
        check("  1 \t 2   3 \n", Delimiter::Space, &["1", "2", "3"]);
        check("\"a  b\" c", Delimiter::Space, &["a  b", "c"]);
        check("1,5\n", Delimiter::None, &["1,5"]);
        assert!(cut(b"1,\"a\n", 0, comma).1);
    }

    #[test]
    fn numbers_are_written_as_those_of_their_column() {
        let check = |seen: &[&str], value: f64, comma, expected: &str| {
            let mut precision = Precision::default();
            seen.iter().for_each(|cell| precision.see(cell.as_bytes()));
            assert_eq!(precision.text(value, comma), expected, "{seen:?}");
        };
        check(&["1.5", "2.25", "3"], 1.0 / 3.0, false, "0.33");
        check(&["1,5"], -0.26, true, "-0,3");
        check(&["1", "20"], 7.4, false, "7");
        check(&["1.50"], -0.001, false, "0.00");
        check(&["1.500e-03", "1.5"], 1.0 / 3.0, false, "3.333e-01");
        check(&["1.5E+10"], -12345.0, false, "-1.2E+04");
        check(
            &["0.1000000000000000055"],
            0.1 + 0.2,
            false,
            "0.30000000000000004",
        );
    }
}
