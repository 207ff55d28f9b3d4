//! `events.json`: what happened when in the recording of a run, so that the folder can tell without
//! the file: one event a line, onset and duration in seconds from the first sample that was read.

use crate::error::{Error, Result};
use std::path::Path;
use strt_io::{Event, write_text};

/// Writes them.
pub(super) fn write(path: &Path, events: &[Event]) -> Result {
    let lines = events.iter().map(serde_json::to_string);
    let lines = lines.collect::<serde_json::Result<Vec<String>>>()?;
    write_text(path, &format!("[\n{}\n]\n", lines.join(",\n")))?;
    Ok(())
}

/// Reads them; a folder without the file has none.
pub(crate) fn read(path: &Path, remedy: &'static str) -> Result<Vec<Event>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(Error::file("read", path))?;
    serde_json::from_str(&text).map_err(|error| Error::Damaged {
        path: path.to_owned(),
        found: error.to_string(),
        remedy,
    })
}
