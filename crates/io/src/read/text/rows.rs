//! A text → rows of cells. The `csv` crate cuts at delimiters and knows quotes; before it sees a
//! line, comments, blank lines and all up to the header are emptied and runs of white space become
//! one space, where that is the delimiter. An empty line is no row, and lines keep their numbers.

use super::cells::Delimiter;
use super::detect::is_comment;
use csv::ByteRecord;
use std::io::{self, BufRead, Read};

/// Stands between the cells of a text of one column: no text contains it.
const NOWHERE: u8 = 0x1f;
/// Bytes that are cut at once.
const BUFFER: usize = 1 << 16;

/// The rows of a text.
pub(super) struct Rows<R> {
    reader: csv::Reader<Tidy<R>>,
    record: ByteRecord,
}

impl<R: BufRead> Rows<R> {
    /// The rows behind line `header_line`, which is 0 where there is no header.
    pub fn new(input: R, delimiter: Delimiter, header_line: u64) -> Self {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .delimiter(match delimiter {
                Delimiter::Byte(byte) => byte,
                Delimiter::Space => b' ',
                Delimiter::None => NOWHERE,
            })
            .from_reader(Tidy::new(input, delimiter == Delimiter::Space, header_line));
        Self {
            reader,
            record: ByteRecord::new(),
        }
    }

    /// The next row and the number of its first line, from 1.
    pub fn next(&mut self) -> io::Result<Option<(u64, Row<'_>)>> {
        if !self.reader.read_byte_record(&mut self.record)? {
            return Ok(None);
        }
        // The reader stands behind the end of the row, which `Tidy` always writes. The start that
        // the crate tells is that of the empty lines before it.
        let bytes = self.record.as_slice();
        let n_inside = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        // A quote that is not closed takes the last end of a line with it.
        let n_ends = u64::from(!bytes.ends_with(b"\n"));
        let line = self.reader.position().line() - n_ends - n_inside;
        Ok(Some((line, Row(&self.record))))
    }

    /// Blank lines between the rows that were given.
    pub fn n_blank(&self) -> usize {
        self.reader.get_ref().n_blank
    }
}

/// The cells of a row.
pub(super) struct Row<'a>(&'a ByteRecord);

impl Row<'_> {
    /// The cells, without surrounding white space and quotes.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|cell| unquoted(cell.trim_ascii()))
    }
}

/// The cells of a single line.
pub(super) fn cells(line: &[u8], delimiter: Delimiter) -> Vec<Vec<u8>> {
    let mut rows = Rows::new(line, delimiter, 0);
    match rows.next() {
        Ok(Some((_, row))) => row.cells().map(<[u8]>::to_vec).collect(),
        _ => Vec::new(),
    }
}

/// A quote behind a space is not cut away by the crate.
fn unquoted(cell: &[u8]) -> &[u8] {
    match cell {
        [b'"', inside @ .., b'"'] => inside.trim_ascii(),
        _ => cell,
    }
}

/// A text whose lines are rows or empty.
struct Tidy<R> {
    input: R,
    one_space: bool,
    header_line: u64,
    line: Vec<u8>,
    /// Bytes of the line that were given away.
    given: usize,
    n_lines: u64,
    has_row: bool,
    n_blank: usize,
    /// Blank lines since the last row.
    pending: usize,
}

impl<R: BufRead> Tidy<R> {
    fn new(input: R, one_space: bool, header_line: u64) -> Self {
        Self {
            input,
            one_space,
            header_line,
            line: Vec::new(),
            given: 0,
            n_lines: 0,
            has_row: false,
            n_blank: 0,
            pending: 0,
        }
    }

    /// Puts the next line in place; `false` at the end of the text.
    fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.given = 0;
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        self.n_lines += 1;
        if self.n_lines == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        let is_blank = self.line.trim_ascii().is_empty();
        if is_blank && self.has_row {
            self.pending += 1;
        }
        if is_blank || self.n_lines <= self.header_line || is_comment(&self.line) {
            self.line.clear();
        } else {
            self.n_blank += std::mem::take(&mut self.pending);
            self.has_row = true;
            without_end(&mut self.line);
            if self.one_space {
                with_single_spaces(&mut self.line);
            }
        }
        self.line.push(b'\n');
        Ok(true)
    }
}

impl<R: BufRead> Read for Tidy<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.line.len() && !self.advance()? {
            return Ok(0);
        }
        let rest = &self.line[self.given..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}

/// What some programs put before a text in UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn without_end(line: &mut Vec<u8>) {
    for end in [b'\n', b'\r'] {
        if line.last() == Some(&end) {
            line.pop();
        }
    }
}

/// Every run of spaces and tabs outside quotes becomes one space; none at the ends.
fn with_single_spaces(line: &mut Vec<u8>) {
    let (mut quoted, mut length) = (false, 0);
    for at in 0..line.len() {
        let byte = line[at];
        quoted ^= byte == b'"';
        let is_space = !quoted && (byte == b' ' || byte == b'\t');
        if is_space && (length == 0 || line[length - 1] == b' ') {
            continue;
        }
        line[length] = if is_space { b' ' } else { byte };
        length += 1;
    }
    line.truncate(length);
    if line.last() == Some(&b' ') {
        line.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::name;
    use super::*;

    fn check(line: &str, delimiter: Delimiter, expected: &[&str]) {
        let cells = cells(line.as_bytes(), delimiter);
        let found: Vec<String> = cells.iter().map(|cell| name(cell)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_are_cut_at_delimiters_outside_quotes() {
        let comma = Delimiter::Byte(b',');
        check("1,2,3", comma, &["1", "2", "3"]);
        check(" 1 , 2,,", comma, &["1", "2", "", ""]);
        check(
            "\"a, b\",\"say \"\"hi\"\"\" , c",
            comma,
            &["a, b", "say \"hi\"", "c"],
        );
        check("a, \"b\"", comma, &["a", "b"]);
        check("1\t\t 3", Delimiter::Byte(b'\t'), &["1", "", "3"]);
        check("  1 \t 2   3 ", Delimiter::Space, &["1", "2", "3"]);
        check("\"a  b\" c", Delimiter::Space, &["a  b", "c"]);
        check(" 1,5 ", Delimiter::None, &["1,5"]);
    }

    #[test]
    fn rows_keep_the_numbers_of_their_lines() {
        let text = "\u{feff}# comment\na,b\n\n1,2\r\n\n \n% more\n3,4\n\n5,6";
        let mut rows = Rows::new(text.as_bytes(), Delimiter::Byte(b','), 2);
        let mut found = Vec::new();
        while let Some((line, row)) = rows.next().unwrap() {
            found.push((line, row.cells().map(name).collect::<Vec<_>>().join(" ")));
        }
        let expected = [(4, "1 2"), (8, "3 4"), (10, "5 6")];
        assert_eq!(found, expected.map(|(line, row)| (line, row.to_string())));
        assert_eq!(rows.n_blank(), 3);
        let mut rows = Rows::new(&b"a,b\n1,\"2\n3,4\n"[..], Delimiter::Byte(b','), 1);
        assert_eq!(rows.next().unwrap().map(|(line, _)| line), Some(2));
    }
}
