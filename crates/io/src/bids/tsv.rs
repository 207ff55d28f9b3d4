//! Tables of BIDS: tabs between cells, names in the first line, `n/a` for what is not known.

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// More is no table that describes one recording.
const MOST_BYTES: u64 = 1 << 26;

/// A table.
pub struct Tsv {
    path: PathBuf,
    names: Vec<String>,
    rows: Vec<Row>,
}

/// One line of a table.
pub struct Row {
    /// Counted from 1.
    line: usize,
    cells: Vec<String>,
}

impl Tsv {
    /// Reads a table that has the column `needed`.
    pub fn read(path: &Path, needed: &str) -> Result<Tsv> {
        let text = text(path)?;
        let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
        let cells = |line: &str| -> Vec<String> {
            let cells = line.split('\t');
            cells.map(|cell| cell.trim().to_string()).collect()
        };
        let names = lines.next().map_or_else(Vec::new, |(_, line)| cells(line));
        if !names.iter().any(|name| name == needed) {
            return Err(Error::content(
                path,
                "line 1",
                format!("names of columns between tabs, `{needed}` among them"),
                match names.join(", ") {
                    found if found.is_empty() => "none".into(),
                    found => format!("`{found}`"),
                },
                "correct the table, or read the recording without --bids",
            ));
        }
        let mut rows = Vec::new();
        for (i, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let row = Row {
                line: i + 1,
                cells: cells(line),
            };
            if row.cells.len() != names.len() {
                return Err(Error::content(
                    path,
                    format!("line {}", row.line),
                    format!("{} cells, as there are columns", names.len()),
                    row.cells.len().to_string(),
                    "correct the table: cells that are not known are `n/a`",
                ));
            }
            rows.push(row);
        }
        let path = path.to_owned();
        Ok(Tsv { path, names, rows })
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// A cell; `None` where the table has no such column or the cell is not known.
    pub fn get<'a>(&self, row: &'a Row, column: &str) -> Option<&'a str> {
        let place = self.names.iter().position(|name| name == column)?;
        let cell = row.cells[place].as_str();
        (!cell.is_empty() && cell != "n/a").then_some(cell)
    }

    /// A cell that is a number where it is known.
    pub fn number(&self, row: &Row, column: &str) -> Result<Option<f64>> {
        let Some(cell) = self.get(row, column) else {
            return Ok(None);
        };
        let number = cell.parse().ok().filter(|value: &f64| value.is_finite());
        let wrong = || self.wrong(row, column, "a number or n/a");
        number.map(Some).ok_or_else(wrong)
    }

    /// A cell is not what it should be.
    pub fn wrong(&self, row: &Row, column: &str, expected: &str) -> Error {
        Error::content(
            &self.path,
            format!("line {}, column `{column}`", row.line),
            expected,
            format!("`{}`", self.get(row, column).unwrap_or("n/a")),
            "correct the table",
        )
    }
}

/// The text of a small file.
pub fn text(path: &Path) -> Result<String> {
    let size = std::fs::metadata(path).map_err(Error::reading(path))?.len();
    if size > MOST_BYTES {
        return Err(Error::kind(
            path,
            format!("a description of a recording of at most {MOST_BYTES} bytes"),
            format!("{size} bytes"),
            "check that this is the file that was meant",
        ));
    }
    let bytes = std::fs::read(path).map_err(Error::reading(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
