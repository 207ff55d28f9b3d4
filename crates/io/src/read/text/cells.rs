//! What a cell of a text holds: a number, nothing, a date. Knows nothing of rows.

use super::dates::{Moment, moment};

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
    /// A date, a time of day, or both.
    Instant(Moment),
    Text,
}

/// Words that stand for a missing value, in any case. An empty cell is missing, too.
pub(crate) const MISSING: [&str; 16] = [
    "nan", "na", "n/a", "null", "none", "?", "-", "<na>", ".", // SAS and Stata
    "#n/a", "#na", "missing", // spreadsheets, Julia
    "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", // C on Windows
];

/// Judges a cell without its surrounding white space.
pub(crate) fn judge(cell: &[u8], decimal_comma: bool) -> Cell {
    if cell.is_empty()
        || MISSING
            .iter()
            .any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
    {
        return Cell::Missing;
    }
    let number = if decimal_comma {
        with_point(cell)
    } else {
        let text = std::str::from_utf8(cell).ok();
        text.and_then(|text| text.parse().ok())
    };
    match number {
        Some(number) if f64::is_infinite(number) => Cell::Infinite,
        Some(number) if f64::is_nan(number) => Cell::Missing,
        Some(number) => Cell::Number(number),
        None => moment(cell).map_or(Cell::Text, Cell::Instant),
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
        for missing in [
            "", "NaN", "-nan", "NA", "null", "?", "N/A", "None", "-", "#N/A", "<NA>", ".",
            "-1.#IND",
        ] {
            check(missing, false, Cell::Missing);
        }
        check("inf", false, Cell::Infinite);
        check("..", false, Cell::Text);
        check("1e999", false, Cell::Infinite);
        check("12 V", false, Cell::Text);
        check("1970-01-02", false, Cell::Instant(Moment::Date(86_400.0)));
        check("12:30", false, Cell::Instant(Moment::Clock(45_000.0)));
        check(
            "1.2.1970",
            true,
            Cell::Instant(Moment::Date(31.0 * 86_400.0)),
        );
        check("2024-13-01", false, Cell::Text);
    }
}
