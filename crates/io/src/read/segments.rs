//! A table of bad segments: a file to spans in seconds.
//!
//! The first line that names columns names `onset` (or `start`) and `duration` (or `stop`, `end`);
//! it may be a comment, as in the texts of MNE. Columns are cut at tabs, semicolons or commas,
//! whichever that line has. Other columns are not looked at: every row is a bad segment.

use crate::error::{Error, Result};
use std::path::Path;
use strtransformer::prepare::Segment;

/// More is no list that a person or a program made of one recording.
const MOST_BYTES: u64 = 1 << 26;

/// Reads them.
pub fn read(path: &Path) -> Result<Vec<Segment>> {
    if !path.exists() {
        return Err(Error::request(
            path,
            "bad-segments",
            "a table of bad segments, or the word `annotations`",
            "no file of this name",
            "correct the name; `annotations` takes those of the recording that begin with BAD",
        ));
    }
    let size = std::fs::metadata(path).map_err(Error::reading(path))?.len();
    if size > MOST_BYTES {
        return Err(Error::kind(
            path,
            format!("a table of bad segments of at most {MOST_BYTES} bytes"),
            format!("{size} bytes"),
            "check that this is the file that was meant",
        ));
    }
    let bytes = std::fs::read(path).map_err(Error::reading(path))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let columns = lines.find_map(|(_, line)| Columns::named_by(line));
    let columns = columns.ok_or_else(|| {
        Error::content(
            path,
            "first lines",
            "a line that names the columns onset and duration, or start and stop",
            "none",
            "put one above the numbers, such as `onset,duration`",
        )
    })?;
    lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(i, line)| columns.segment(path, i + 1, line))
        .collect()
}

/// Where the numbers are.
struct Columns {
    delimiter: char,
    onset: usize,
    end: End,
}

/// What says where a segment ends.
enum End {
    Duration(usize),
    Stop(usize),
}

impl Columns {
    fn named_by(line: &str) -> Option<Columns> {
        let line = line.trim_start_matches(['#', ' ']);
        let delimiter = ['\t', ';', ','].into_iter().find(|d| line.contains(*d))?;
        let names: Vec<String> = line
            .split(delimiter)
            .map(|name| tidy(name).to_lowercase())
            .collect();
        let place = |wanted: &[&str]| {
            names
                .iter()
                .position(|name| wanted.contains(&name.as_str()))
        };
        let duration = place(&["duration"]).map(End::Duration);
        let stop = || place(&["stop", "end", "offset"]).map(End::Stop);
        Some(Columns {
            delimiter,
            onset: place(&["onset", "start", "begin"])?,
            end: duration.or_else(stop)?,
        })
    }

    fn segment(&self, path: &Path, line: usize, text: &str) -> Result<Segment> {
        let cells: Vec<&str> = text.split(self.delimiter).map(tidy).collect();
        let number = |place: usize| {
            let cell = cells.get(place).copied().unwrap_or("");
            cell.parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
                .ok_or_else(|| {
                    let place = format!("line {line}, column {}", place + 1);
                    let found = format!("`{cell}`");
                    Error::content(path, place, "seconds", found, "correct it")
                })
        };
        let onset = number(self.onset)?;
        let duration = match self.end {
            End::Duration(place) => number(place)?,
            End::Stop(place) => number(place)? - onset,
        };
        if duration < 0.0 {
            return Err(Error::content(
                path,
                format!("line {line}"),
                "a segment that ends after it begins",
                format!("{duration} s"),
                "correct it",
            ));
        }
        Ok(Segment { onset, duration })
    }
}

fn tidy(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Segment>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.csv");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    fn check(text: &str, expected: &[(f64, f64)]) {
        let found: Vec<(f64, f64)> = of(text).unwrap().into_iter().map(Into::into).collect();
        assert_eq!(found, expected, "{text}");
    }

    fn refused(text: &str, parts: &[&str]) {
        let message = of(text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "\"{message}\" lacks \"{part}\"");
        }
    }

    #[test]
    fn tables_as_programs_write_them() {
        check(
            "onset,duration\n1,0.5\n\n20.25,3\n",
            &[(1.0, 0.5), (20.25, 3.0)],
        );
        check(
            "onset\tduration\ttrial_type\r\n4\t2\tBAD\r\n",
            &[(4.0, 2.0)],
        );
        check(
            "# MNE-Annotations\n# orig_time : 2020-01-01\n# onset, duration, description\n1.5,2,BAD_x\n",
            &[(1.5, 2.0)],
        );
        check("name;start;end\n\"a, b\";2;2.5\n", &[(2.0, 0.5)]);
        check("onset,duration\n", &[]);
    }

    #[test]
    fn what_is_no_such_table_is_refused_by_line() {
        refused(
            "1,2\n3,4\n",
            &["first lines", "onset and duration", "onset,duration"],
        );
        refused("", &["first lines"]);
        refused(
            "onset,duration\n1,2\nx,3\n",
            &["line 3, column 1", "seconds", "`x`"],
        );
        refused("onset,duration\n1\n", &["line 2, column 2", "``"]);
        refused(
            "start,stop\n5,4\n",
            &["line 2", "ends after it begins", "-1 s"],
        );
        refused("onset,duration\n1,inf\n", &["line 2, column 2", "`inf`"]);
    }
}
