//! Tables of plain numbers as CSV, written so that reading them gives the same bits.

use crate::failure::{Failure, Outcome};
use std::fmt::Write;
use std::path::Path;

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

/// The rows of a file with this header line.
pub fn read(path: &Path, header: &str) -> Outcome<Vec<Vec<f64>>> {
    let width = header.split(',').count();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Failed(format!("{}: cannot read: {error}", path.display())))?;
    let changed = |line: usize, expected: &str| {
        Failure::Failed(format!(
            "{}: line {line}: expected {expected}, found something else: the file was changed; remove it to resume without \
             what it recorded",
            path.display()
        ))
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
