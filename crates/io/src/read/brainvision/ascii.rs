//! Numbers of a BrainVision recording that are written as text: a line a sample (multiplexed) or a
//! line a channel (vectorized).
//!
//! In: the text, and how many lines and columns come before the numbers. Out: its cells with their
//! places, one at a time: a line of a long recording need not fit into memory. Cells end with white
//! space or a semicolon, or with a comma where that is no decimal mark.

use super::header::Ascii;
use crate::error::{Error, Result};
use crate::read::source::damaged;
use std::io::BufRead;
use std::path::Path;

/// No number is longer.
const LONGEST_CELL: usize = 4096;

/// A part of the text.
pub(super) enum Part<'a> {
    /// A number: its line and its place in it, both counted from 0 without what is skipped.
    Cell {
        line: usize,
        place: usize,
        text: &'a [u8],
    },
    /// What stands between numbers and before them.
    Other(&'a [u8]),
}

/// Lines and numbers in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub lines: usize,
    pub places: usize,
}

/// Goes through a text. Every line has as many numbers as the first.
pub(super) fn scan(
    path: &Path,
    input: &mut dyn BufRead,
    coding: Ascii,
    visit: &mut dyn FnMut(Part<'_>) -> Result<()>,
) -> Result<Size> {
    let mut state = State {
        path,
        coding,
        number: 1,
        column: 0,
        size: Size {
            lines: 0,
            places: 0,
        },
        in_line: 0,
    };
    let separates = |byte: u8| {
        byte.is_ascii_whitespace() || byte == b';' || (byte == b',' && !coding.decimal_comma)
    };
    let mut cell: Vec<u8> = Vec::new();
    loop {
        let bytes = input.fill_buf().map_err(Error::reading(path))?;
        if bytes.is_empty() {
            break;
        }
        for run in bytes.chunk_by(|&a, &b| separates(a) == separates(b)) {
            if !separates(run[0]) {
                cell.extend(run);
                if cell.len() > LONGEST_CELL {
                    let place = format!("line {}", state.number);
                    let found = format!("more than {LONGEST_CELL} characters without a space");
                    return Err(damaged(path, place, "numbers", found));
                }
                continue;
            }
            state.cell(&cell, visit)?;
            cell.clear();
            visit(Part::Other(run))?;
            for _ in run.iter().filter(|&&byte| byte == b'\n') {
                state.end_line()?;
            }
        }
        let length = bytes.len();
        input.consume(length);
    }
    state.cell(&cell, visit)?;
    state.end_line()?;
    Ok(state.size)
}

struct State<'a> {
    path: &'a Path,
    coding: Ascii,
    /// Of the line, counted from 1.
    number: usize,
    /// Cells of the line so far, skipped ones included.
    column: usize,
    size: Size,
    /// Numbers of the line so far.
    in_line: usize,
}

impl State<'_> {
    fn cell(&mut self, text: &[u8], visit: &mut dyn FnMut(Part<'_>) -> Result<()>) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.column += 1;
        if self.number <= self.coding.skip_lines || self.column <= self.coding.skip_columns {
            return visit(Part::Other(text));
        }
        self.in_line += 1;
        visit(Part::Cell {
            line: self.size.lines,
            place: self.in_line - 1,
            text,
        })
    }

    fn end_line(&mut self) -> Result<()> {
        let in_line = std::mem::take(&mut self.in_line);
        if in_line > 0 {
            if self.size.lines == 0 {
                self.size.places = in_line;
            }
            if in_line != self.size.places {
                return Err(damaged(
                    self.path,
                    format!("line {}", self.number),
                    format!("{} numbers, as in the lines before", self.size.places),
                    in_line.to_string(),
                ));
            }
            self.size.lines += 1;
        }
        (self.number, self.column) = (self.number + 1, 0);
        Ok(())
    }
}

impl Ascii {
    /// The number in a cell; `None` where there is none.
    pub fn value(self, text: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(text).ok()?;
        if self.decimal_comma {
            return text.replace(',', ".").parse().ok();
        }
        text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_skipped_and_all_else_is_kept() {
        let coding = Ascii {
            decimal_comma: true,
            skip_lines: 1,
            skip_columns: 1,
        };
        let text = b"name Fz Cz\r\n\r\na 1,5 -2\r\nb ;3 4,25";
        let (mut copy, mut cells) = (Vec::<u8>::new(), Vec::new());
        let size = scan(Path::new("x"), &mut &text[..], coding, &mut |part| {
            match part {
                Part::Other(bytes) => copy.extend(bytes),
                Part::Cell { line, place, text } => {
                    copy.extend(text);
                    cells.push((line, place, coding.value(text).unwrap()));
                }
            }
            Ok(())
        });
        assert_eq!(
            size.unwrap(),
            Size {
                lines: 2,
                places: 2
            }
        );
        assert_eq!(copy, text);
        assert_eq!(
            cells,
            [(0, 0, 1.5), (0, 1, -2.0), (1, 0, 3.0), (1, 1, 4.25)]
        );
        let ragged = scan(Path::new("x"), &mut &b"1 2\n3\n"[..], coding, &mut |_| {
            Ok(())
        });
        assert!(ragged.is_ok(), "the first column is skipped");
        let plain = Ascii {
            skip_lines: 0,
            skip_columns: 0,
            ..coding
        };
        let ragged = scan(
            Path::new("x"),
            &mut &b"1 2\n3\n"[..],
            plain,
            &mut |_| Ok(()),
        );
        let message = ragged.unwrap_err().to_string();
        assert!(
            message.starts_with("x: line 2: expected 2 numbers"),
            "{message}"
        );
    }
}
