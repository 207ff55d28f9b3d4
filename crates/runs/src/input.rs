//! Which part of which file is read, and what is made of it.
//!
//! In: a path and a [`Reading`], which is kept with a run so that a resumed one reads the same.
//! Out: what `strt-io` opened, and references of the same samples. Nothing is said about it here;
//! that is the watcher's business.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;
use strt_io::{NoteKind, Opened, ReadOptions, TimeColumn, read_recording};
use strt_score::Reference;
use strtransformer::Recording;

/// How a file is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// Samples per second, in place of what the file says.
    pub rate: Option<f64>,
    /// Channels to take: names, numbers from 1, ranges, such as Fz,Cz,5-8.
    pub channels: Option<String>,
    /// Leave out what comes before this many seconds.
    pub start: Option<f64>,
    /// Leave out what comes from this many seconds on.
    pub stop: Option<f64>,
    /// The array to take from a file that holds several.
    pub variable: Option<String>,
    /// Take an array as channels × samples.
    pub transpose: bool,
    /// Character between the columns of a text; detected where absent.
    pub delimiter: Option<char>,
    /// Column of a text that holds the time, or `none`; detected where absent.
    pub time_column: Option<String>,
}

impl Reading {
    /// As `strt-io` takes it.
    pub fn to_read_options(&self) -> ReadOptions {
        ReadOptions {
            rate: self.rate,
            variable: self.variable.clone(),
            channels: self.channels.as_deref().map(Into::into),
            start: self.start,
            stop: self.stop,
            transpose: self.transpose,
            delimiter: self.delimiter,
            time_column: match self.time_column.as_deref() {
                None => TimeColumn::Detect,
                Some("none") => TimeColumn::Absent,
                Some(name) => TimeColumn::Named(name.into()),
            },
            ..ReadOptions::default()
        }
    }

    /// Reads a recording.
    pub fn open(&self, path: &Path) -> strt_io::Result<Opened> {
        read_recording(path, &self.to_read_options())
    }

    /// Reads the file of true sources of a recording that was read so: of the same samples, or of
    /// the whole file of which a span was taken.
    pub fn open_reference(&self, path: &Path, recording: &Recording) -> strt_io::Result<Opened> {
        let found = read_recording(path, &ReadOptions::default())?;
        if found.recording.n_samples() == recording.n_samples()
            || (self.start.is_none() && self.stop.is_none())
        {
            return Ok(found);
        }
        let same_span = ReadOptions {
            rate: recording.sampling_rate(),
            start: self.start,
            stop: self.stop,
            ..ReadOptions::default()
        };
        read_recording(path, &same_span)
    }
}

/// The true sources in a file that [`Reading::open_reference`] opened.
pub fn reference(path: &Path, opened: &Opened, recording: &Recording) -> Result<Reference> {
    let sources = opened.recording.observations();
    if sources.nrows() != recording.n_samples() {
        return Err(Error::ReferenceLength {
            path: path.to_owned(),
            expected: recording.n_samples(),
            found: sources.nrows(),
        });
    }
    Reference::new(sources.to_owned()).map_err(|source| Error::RefusedReference {
        path: path.to_owned(),
        source,
    })
}

/// The notes that deserve attention.
pub fn warnings(opened: &Opened) -> impl Iterator<Item = String> + '_ {
    let notes = opened.notes.iter();
    notes
        .filter(|note| note.kind == NoteKind::Warning)
        .map(|note| note.text.clone())
}
