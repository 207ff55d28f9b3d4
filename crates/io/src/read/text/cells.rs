//! One line of text → cells → numbers. Knows delimiters, quotes, missing values and dates; not
//! lines, not tables.

/// What stands between cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Byte(u8),
    /// Any run of spaces and tabs.
    Space,
    /// One column.
    None,
}

impl Delimiter {
    pub fn name(self) -> String {
        match self {
            Delimiter::Byte(b'\t') => "tab".into(),
            Delimiter::Byte(byte) => format!("`{}`", char::from(byte)),
            Delimiter::Space => "white space".into(),
            Delimiter::None => "none (one column)".into(),
        }
    }
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    Number(f64),
    Missing,
    Infinite,
    /// A date with or without a time of day, in seconds since 1970.
    Instant(f64),
    Text,
}

/// Words that stand for a missing value, in any case. An empty cell is missing, too.
pub(crate) const MISSING: [&str; 7] = ["nan", "na", "n/a", "null", "none", "?", "-"];

/// Judges a cell without its surrounding white space.
pub(crate) fn judge(cell: &[u8], decimal_comma: bool) -> Cell {
    if cell.is_empty()
        || MISSING
            .iter()
            .any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
    {
        return Cell::Missing;
    }
    let number = match decimal_comma {
        false => std::str::from_utf8(cell)
            .ok()
            .and_then(|cell| cell.parse().ok()),
        true => with_point(cell),
    };
    match number {
        Some(number) if f64::is_infinite(number) => Cell::Infinite,
        Some(number) if f64::is_nan(number) => Cell::Missing,
        Some(number) => Cell::Number(number),
        None => instant(cell).map_or(Cell::Text, Cell::Instant),
    }
}

/// `1,5` → 1.5; a point, a second comma or a comma without digits after it is no number.
fn with_point(cell: &[u8]) -> Option<f64> {
    let mut text = String::with_capacity(cell.len());
    for (at, &byte) in cell.iter().enumerate() {
        text.push(match byte {
            b',' if cell.get(at + 1).is_some_and(u8::is_ascii_digit) => '.',
            b',' | b'.' => return None,
            _ => char::from(byte),
        });
    }
    text.parse().ok()
}

/// `2024-01-31`, `2024-01-31 12:30`, `2024-01-31T12:30:05.25Z` → seconds since 1970.
fn instant(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?;
    let (date, clock) = match text.split_once(['T', ' ']) {
        Some((date, clock)) => (date, clock.strip_suffix('Z').unwrap_or(clock)),
        None => (text, "00:00"),
    };
    let whole = |text: &str, digits: usize| -> Option<i64> {
        let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse().ok())?
    };
    let mut parts = date.split('-');
    let (year, month, day) = (
        whole(parts.next()?, 4)?,
        whole(parts.next()?, 2)?,
        whole(parts.next()?, 2)?,
    );
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut parts = clock.split(':');
    let (hours, minutes) = (whole(parts.next()?, 2)?, whole(parts.next()?, 2)?);
    let seconds: f64 = match parts.next() {
        Some(seconds) if seconds.starts_with(|first: char| first.is_ascii_digit()) => {
            seconds.parse().ok()?
        }
        Some(_) => return None,
        None => 0.0,
    };
    // Days since 1970 in the Gregorian calendar, counted in years that start with March.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    Some((days * 86_400 + hours * 3600 + minutes * 60) as f64 + seconds)
}

/// The cells of a line, in order.
pub(crate) struct Cells<'a> {
    rest: Option<&'a [u8]>,
    delimiter: Delimiter,
}

/// Cuts a line (without its line end) into cells. Surrounding white space and quotes do not belong
/// to a cell; a quote that is not closed does.
pub(crate) fn cells(line: &[u8], delimiter: Delimiter) -> Cells<'_> {
    let line = match delimiter {
        Delimiter::Space => line.trim_ascii(),
        _ => line,
    };
    let rest = (delimiter != Delimiter::Space || !line.is_empty()).then_some(line);
    Cells { rest, delimiter }
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.rest?;
        if self.delimiter == Delimiter::None {
            self.rest = None;
            return Some(unquoted(line.trim_ascii()));
        }
        let ends = |byte: u8| match self.delimiter {
            Delimiter::Byte(delimiter) => byte == delimiter,
            _ => byte == b' ' || byte == b'\t',
        };
        let start = line
            .iter()
            .position(|&byte| byte != b' ' || ends(byte))
            .unwrap_or(line.len());
        let quoted = match line.get(start) {
            Some(b'"') => closing_quote(&line[start + 1..]).map(|length| start + 1 + length + 1),
            _ => None,
        };
        let from = quoted.unwrap_or(0);
        let end = line[from..]
            .iter()
            .position(|&byte| ends(byte))
            .map_or(line.len(), |at| from + at);
        self.rest = match line.get(end + 1..) {
            None => None,
            Some(rest) if self.delimiter == Delimiter::Space => {
                let rest = rest.trim_ascii_start();
                (!rest.is_empty()).then_some(rest)
            }
            rest => rest,
        };
        Some(unquoted(line[..end].trim_ascii()))
    }
}

/// Where the quote closes; a doubled quote does not close it.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return Some(at),
            _ => at += 1,
        }
    }
    None
}

fn unquoted(cell: &[u8]) -> &[u8] {
    match cell {
        [b'"', inside @ .., b'"'] => inside.trim_ascii(),
        _ => cell,
    }
}

/// A cell as a name: UTF-8, or else Latin-1.
pub(crate) fn name(cell: &[u8]) -> String {
    let text = match std::str::from_utf8(cell) {
        Ok(text) => text.to_string(),
        Err(_) => cell.iter().map(|&byte| char::from(byte)).collect(),
    };
    text.replace("\"\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, delimiter: Delimiter, expected: &[&str]) {
        let found: Vec<String> = cells(line.as_bytes(), delimiter).map(name).collect();
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
        check("\"open, 2", comma, &["\"open", "2"]);
        check("", comma, &[""]);
        check("1\t\t 3", Delimiter::Byte(b'\t'), &["1", "", "3"]);
        check("  1 \t 2   3 ", Delimiter::Space, &["1", "2", "3"]);
        check("\"a b\" c", Delimiter::Space, &["a b", "c"]);
        check(" 1,5 ", Delimiter::None, &["1,5"]);
    }

    #[test]
    fn cells_are_numbers_missing_or_text() {
        let check = |cell: &str, comma, expected| {
            assert_eq!(judge(cell.as_bytes(), comma), expected, "{cell}")
        };
        check("1.5e-3", false, Cell::Number(1.5e-3));
        check("-.5", false, Cell::Number(-0.5));
        check("1,5", false, Cell::Text);
        check("1,5", true, Cell::Number(1.5));
        check("1.5", true, Cell::Text);
        check("1,2,3", true, Cell::Text);
        check("1,", true, Cell::Text);
        for missing in ["", "NaN", "-nan", "NA", "null", "?", "N/A", "None", "-"] {
            check(missing, false, Cell::Missing);
        }
        check("inf", false, Cell::Infinite);
        check("1e999", false, Cell::Infinite);
        check("12 V", false, Cell::Text);
        check("1970-01-02", false, Cell::Instant(86_400.0));
        check(
            "2000-03-01T00:00:00.5Z",
            false,
            Cell::Instant(951_868_800.5),
        );
        check("2024-02-29 12:30", false, Cell::Instant(1_709_209_800.0));
        check("2024-13-01", false, Cell::Text);
        check("2024-01-01 1:2:3", false, Cell::Text);
    }
}
