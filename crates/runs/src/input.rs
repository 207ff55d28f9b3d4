//! The true sources of a recording, and what deserves attention of a file that was read.
//!
//! In: paths, and the [`ReadOptions`] that are kept with a run so that a resumed one reads the
//! same. Out: references of the same samples. Nothing is said about it here; that is the watcher's
//! business.

use crate::error::{Error, Result};
use std::path::Path;
use strt_io::{NoteKind, Opened, ReadOptions, read_recording};
use strtransformer::Recording;
use strtransformer::evaluate::Reference;

/// Reads the file of true sources of a recording that was read with `options`: of the same
/// samples, or of the whole file of which a span was taken.
pub fn open_reference(
    path: &Path,
    options: &ReadOptions,
    recording: &Recording,
) -> strt_io::Result<Opened> {
    let found = read_recording(path, &ReadOptions::default())?;
    let whole = options.start.is_none() && options.stop.is_none();
    if whole || found.recording.n_samples() == recording.n_samples() {
        return Ok(found);
    }
    let same_span = ReadOptions {
        rate: recording.sampling_rate(),
        start: options.start,
        stop: options.stop,
        ..ReadOptions::default()
    };
    read_recording(path, &same_span)
}

/// The true sources in a file that [`open_reference`] opened.
pub fn reference(path: &Path, opened: &Opened, recording: &Recording) -> Result<Reference> {
    let sources = opened.recording.observations();
    if sources.nrows() != recording.n_samples() {
        return Err(Error::ReferenceLength {
            path: path.to_owned(),
            expected: recording.n_samples(),
            found: sources.nrows(),
        });
    }
    Reference::new(sources.to_owned()).map_err(|source| Error::Refused {
        name: path.display().to_string(),
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
