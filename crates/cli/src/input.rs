//! Arguments that say which part of which file is read, the reading itself, and what is said about it.

use crate::failure::{Failure, Outcome};
use crate::output::note;
use crate::progress::under_way;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::Path;
use strt_io::{NoteKind, Opened, ReadOptions, TimeColumn, read_recording};
use strtransformer::Recording;
use strtransformer::evaluate::Reference;

/// How a file is read. Kept with a run, so that a resumed one reads the same.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Reading the recording")]
pub struct InputOptions {
    /// Samples per second, in place of what the file says
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Channels to take: names, numbers from 1, ranges, such as Fz,Cz,5-8
    #[arg(long, value_name = "LIST")]
    pub channels: Option<String>,
    /// Leave out what comes before this many seconds
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub start: Option<f64>,
    /// Leave out what comes from this many seconds on
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub stop: Option<f64>,
    /// The array to take from a file that holds several (NPZ, MATLAB)
    #[arg(long, value_name = "NAME")]
    pub variable: Option<String>,
    /// Take an array as channels × samples
    #[arg(long)]
    pub transpose: bool,
    /// Character between the columns of a text [default: detected]
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<char>,
    /// Column of a text that holds the time, or `none` [default: detected]
    #[arg(long, value_name = "NAME")]
    pub time_column: Option<String>,
}

impl InputOptions {
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

    /// Reads the recording and says what was detected.
    pub fn open(&self, path: &Path, quiet: bool) -> Outcome<Opened> {
        let what = format!("reading {}", path.display());
        let opened = under_way(quiet, &what, || read_recording(path, &self.to_read_options()))?;
        if !quiet {
            note(&describe(path, &opened));
        }
        Ok(opened)
    }
}

/// What was read and what was detected on the way, one line each.
fn describe(path: &Path, opened: &Opened) -> String {
    let recording = &opened.recording;
    let rate = match recording.sampling_rate() {
        Some(rate) => format!("{rate} Hz"),
        None => "rate unknown".into(),
    };
    let missing = match recording.n_missing() {
        0 => String::new(),
        n => format!(", {n} samples with missing values"),
    };
    let mut lines = format!(
        "{}: {}, {} samples × {} channels, {rate}{missing}",
        path.display(),
        opened.format,
        recording.n_samples(),
        recording.n_channels()
    );
    for note in &opened.notes {
        lines.push_str(&format!("\n  {note}"));
    }
    lines
}

/// The notes that deserve attention.
pub fn warnings(opened: &Opened) -> impl Iterator<Item = String> + '_ {
    let notes = opened.notes.iter();
    notes
        .filter(|note| note.kind == NoteKind::Warning)
        .map(|note| note.text.clone())
}

/// The true sources of a recording: of the same samples, or of the whole file of which `options` takes a span.
pub fn read_reference(
    path: &Path,
    recording: &Recording,
    options: &InputOptions,
    quiet: bool,
) -> Outcome<Reference> {
    let rows = recording.n_samples();
    let mut found = read_recording(path, &ReadOptions::default())?;
    if found.recording.n_samples() != rows && (options.start.is_some() || options.stop.is_some()) {
        let same_span = ReadOptions {
            rate: recording.sampling_rate(),
            start: options.start,
            stop: options.stop,
            ..ReadOptions::default()
        };
        found = read_recording(path, &same_span)?;
    }
    if !quiet {
        note(&format!("reference {}", describe(path, &found)));
    }
    let sources = found.recording.observations();
    if sources.nrows() != rows {
        return Err(Failure::Failed(format!(
            "{}: expected {rows} samples, as the recording has, found {}; give the true sources of the same samples, one \
             column a source",
            path.display(),
            sources.nrows()
        )));
    }
    Reference::new(sources.to_owned())
        .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}
