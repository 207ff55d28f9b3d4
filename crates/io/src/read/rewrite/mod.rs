//! A recording in its own file: the bytes of the input, with other numbers in the places of the
//! chosen channels and samples.
//!
//! In: the input, what was read of it, and numbers of the shape that was read. Out: a file of the
//! same format that differs in these numbers only; header, events, units, other channels and other
//! samples are copied. A number that is the one in the file keeps its bytes, so that nothing is
//! lost where nothing was changed. Each format writes its own file (`Reader::rewrite`), those whose
//! numbers lie in one block through [`in_place`].
//!
//! A file that was packed is copied unpacked, unless the name of the copy ends in `.gz` or `.zst`.
//!
//! Deliberately absent: formats whose files would have to be made anew (NPZ, HDF5, WFDB, GDF, XDF,
//! FLAC, Ogg); their numbers can be written by [`crate::write_signals`].

mod block;
mod encode;

pub(super) use block::{Trouble, Units};

use super::assemble;
use super::numbers::Block;
#[cfg(feature = "packed")]
use super::packed::Packing;
use super::source::{Source, failed};
use super::{Note, ReadOptions};
use crate::atomic;
use crate::error::{Error, Result};
use faer::MatRef;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

/// What to do about numbers that a file cannot hold.
pub(super) const ANOTHER_FORMAT: &str = "write another format, such as NPY or CSV";

/// Writes `input` to `out` with `values` in place of what [`crate::read_recording`] gives with the
/// same options: one row a sample, one column a channel, NaN for missing ones. The notes say what
/// had to be changed besides.
///
/// ```
/// use strt_io::{ReadOptions, read_recording, rewrite_recording};
///
/// let directory = tempfile::tempdir()?;
/// let (path, out) = (directory.path().join("a.csv"), directory.path().join("b.csv"));
/// std::fs::write(&path, "# in mV\ntime;Fz;Cz\n0,00;1,50;2\n0,01;2,50;3\n")?;
/// let options = ReadOptions { channels: Some("Fz".into()), ..ReadOptions::default() };
/// let recording = read_recording(&path, &options)?.recording;
///
/// let doubled = faer::Scale(2.0) * recording.observations();
/// rewrite_recording(&path, &options, doubled.as_ref(), &out)?;
/// let text = std::fs::read_to_string(&out)?;
/// assert_eq!(text, "# in mV\ntime;Fz;Cz\n0,00;3,00;2\n0,01;5,00;3\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the input cannot be read or has changed, its format cannot be written so, it cannot hold
/// one of the numbers, or `out` cannot be written or is the input. An old file is then left as it
/// was.
pub fn rewrite_recording(
    input: impl AsRef<Path>,
    options: &ReadOptions,
    values: MatRef<'_, f64>,
    out: impl AsRef<Path>,
) -> Result<Vec<Note>> {
    let (path, out) = (input.as_ref(), out.as_ref());
    let (format, mut reader) = super::open(path, options)?;
    let contents = super::described(path, reader.contents(), options)?;
    let wanted = assemble::wanted(path, &contents, options, &mut Vec::new())?;
    let shape = (wanted.rows.len(), wanted.chosen.len());
    if values.shape() != shape {
        return Err(Error::content(
            path,
            "samples × channels",
            format!("{} × {}", values.nrows(), values.ncols()),
            format!("{} × {}", shape.0, shape.1),
            "the file has changed since it was read: read it again",
        ));
    }
    if same_file(path, out) {
        return Err(Error::kind(
            out,
            "another file than the recording",
            "the recording itself",
            "choose another name",
        ));
    }
    let mut columns = vec![None; contents.channels.len()];
    for (column, &channel) in wanted.chosen.iter().enumerate() {
        columns[channel] = Some(column);
    }
    let names = contents.channels.into_iter().map(|channel| channel.name);
    let new = Replacement {
        values,
        rows: wanted.rows,
        columns,
        names: names.collect(),
    };
    match reader.rewrite(&new, out)? {
        Some(notes) => Ok(notes),
        None => Err(Error::kind(
            out,
            "text, NPY, WAV, EDF, BDF, BrainVision, FIF, Parquet, MATLAB 5-7, or EEGLAB in these",
            format!("a copy of a file of format {format}, which would have to be made anew"),
            ANOTHER_FORMAT,
        )),
    }
}

/// Whether two names are of one file that is there.
pub(super) fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// The new numbers of the chosen samples × the chosen channels.
pub(crate) struct Replacement<'a> {
    values: MatRef<'a, f64>,
    rows: Range<usize>,
    /// For every channel of the file: its column.
    columns: Vec<Option<usize>>,
    names: Vec<String>,
}

impl Replacement<'_> {
    /// The new number of a sample of a channel of the file; `None` where it stays.
    pub fn get(&self, row: usize, channel: usize) -> Option<f64> {
        let column = self.columns[channel]?;
        let inside = self.rows.contains(&row);
        inside.then(|| self.values[(row - self.rows.start, column)])
    }

    pub fn wants(&self, channel: usize) -> bool {
        self.columns[channel].is_some()
    }

    /// How many numbers there are, missing ones not counted.
    pub fn n_present(&self) -> usize {
        let columns = self.values.col_iter();
        columns
            .map(|column| column.iter().filter(|value| !value.is_nan()).count())
            .sum()
    }

    /// Where a number is, for messages.
    pub fn place(&self, row: usize, channel: usize) -> String {
        let name = &self.names[channel];
        format!("channel `{name}`, sample {} (counted from 1)", row + 1)
    }
}

/// Whether a number of a file stays as it is.
pub(super) fn is_same(old: f64, new: f64) -> bool {
    old == new || (old.is_nan() && new.is_nan())
}

/// Writes a file, whole or not at all, by a function that may fail for its own reasons; packed
/// where its name says so.
pub(super) fn write_file<T>(
    out: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<T>,
) -> Result<T> {
    let mut outcome = None;
    let written = atomic::write(out, |file| {
        #[cfg(feature = "packed")]
        let filled = match Packing::named(out) {
            Some(packing) => packing.pack(file, fill)?,
            None => fill(file),
        };
        #[cfg(not(feature = "packed"))]
        let filled = fill(file);
        let failed = filled.is_err();
        outcome = Some(filled);
        if failed {
            return Err(io::Error::other("nothing to write"));
        }
        Ok(())
    });
    match outcome {
        Some(Err(error)) => Err(error),
        Some(Ok(value)) => written.map(|()| value),
        None => Err(written
            .err()
            .unwrap_or_else(|| Error::writing(out)(io::Error::other("the file was not begun")))),
    }
}

/// Copies a file whose numbers are one block that starts at byte `data_at`.
pub(super) fn in_place(
    source: &mut Source,
    (data_at, block): (u64, &Block),
    new: &Replacement<'_>,
    units: &dyn Fn(usize) -> Units,
    out: &Path,
) -> Result<Vec<Note>> {
    let path = source.path().to_owned();
    let mut input = source.stream(0)?;
    let told = |trouble: Trouble| trouble.told(&path, out, new);
    write_file(out, |file| {
        copy(&mut input, file, Some(data_at)).map_err(told)?;
        let rounded = block.rewrite(&mut input, file, new, units).map_err(told)?;
        copy(&mut input, file, None).map_err(told)?;
        Ok(block.notes(rounded))
    })
}

/// Copies `count` bytes, or all that are left.
pub(super) fn copy(
    input: &mut dyn Read,
    out: &mut dyn Write,
    count: Option<u64>,
) -> Result<(), Trouble> {
    let mut input = input.take(count.unwrap_or(u64::MAX));
    let mut buffer = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        let n = input.read(&mut buffer).map_err(Trouble::Reading)?;
        if n == 0 {
            break;
        }
        out.write_all(&buffer[..n]).map_err(Trouble::Writing)?;
        copied += n as u64;
    }
    match count {
        Some(count) if copied < count => Err(Trouble::Reading(io::ErrorKind::UnexpectedEof.into())),
        _ => Ok(()),
    }
}

impl Trouble {
    /// The error that it is for a file that is copied to `out`.
    pub fn told(self, path: &Path, out: &Path, new: &Replacement<'_>) -> Error {
        match self {
            Trouble::Reading(error) => failed(path, error, "numbers"),
            Trouble::Writing(error) => Error::writing(out)(error),
            Trouble::Beyond {
                row,
                channel,
                value,
                expected,
            } => Error::content(
                out,
                new.place(row, channel),
                expected,
                if value.is_nan() {
                    "a missing value".into()
                } else {
                    value.to_string()
                },
                ANOTHER_FORMAT,
            ),
        }
    }
}
