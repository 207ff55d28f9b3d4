//! Tables of plain numbers as CSV, written so that reading them gives the same bits.

use crate::error::{Error, Result};
use std::fmt::Write;
use std::path::Path;

/// What to do about a table that was changed: of a run to be resumed, and of one to be looked at.
pub const TO_RESUME: &str = "remove it to resume without what it recorded";
pub const TO_LOAD: &str = "use another copy of the folder, or separate again";

/// One line of numbers.
pub fn line(values: impl IntoIterator<Item = f64>) -> String {
    let mut text = String::new();
    for (i, value) in values.into_iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(text, "{comma}{value}").expect("a string takes text");
    }
    text.push('\n');
    text
}

/// The rows of a file with this header line; `remedy` is what to do where it was changed.
pub fn read(path: &Path, header: &str, remedy: &'static str) -> Result<Vec<Vec<f64>>> {
    let width = header.split(',').count();
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    let changed = |line: usize, expected: &str| Error::Table {
        path: path.to_owned(),
        line,
        expected: expected.into(),
        remedy,
    };
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, first)| first != header) {
        return Err(changed(1, "the names of the columns"));
    }
    lines
        .map(|(i, line)| {
            let values: Option<Vec<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            values
                .filter(|values| values.len() == width)
                .ok_or_else(|| changed(i + 1, &format!("{width} numbers")))
        })
        .collect()
}
