//! Arguments that say which part of which file is read, the reading itself, and what is said about
//! it.

use crate::failure::Outcome;
use crate::output::note;
use crate::progress::under_way;
use clap::Args;
use std::path::Path;
use strt_io::Opened;
use strt_runs::Reading;
use strt_score::Reference;
use strtransformer::Recording;

/// How a file is read.
#[derive(Args, Clone, Debug, Default)]
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
    /// As the library takes it.
    pub fn reading(&self) -> Reading {
        let given = self.clone();
        Reading {
            rate: given.rate,
            channels: given.channels,
            start: given.start,
            stop: given.stop,
            variable: given.variable,
            transpose: given.transpose,
            delimiter: given.delimiter,
            time_column: given.time_column,
        }
    }

    /// Reads the recording and says what was detected.
    pub fn open(&self, path: &Path, quiet: bool) -> Outcome<Opened> {
        let what = format!("reading {}", path.display());
        let opened = under_way(quiet, &what, || self.reading().open(path))?;
        if !quiet {
            note(&describe(path, &opened));
        }
        Ok(opened)
    }
}

/// What was read and what was detected on the way, one line each.
pub fn describe(path: &Path, opened: &Opened) -> String {
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

/// The true sources of a recording: of the same samples, or of the whole file of which `options`
/// takes a span.
pub fn read_reference(
    path: &Path,
    recording: &Recording,
    options: &InputOptions,
    quiet: bool,
) -> Outcome<Reference> {
    let found = options.reading().open_reference(path, recording)?;
    if !quiet {
        note(&describe_reference(path, &found));
    }
    Ok(strt_runs::input::reference(path, &found, recording)?)
}

/// What was read as true sources.
pub fn describe_reference(path: &Path, opened: &Opened) -> String {
    format!("reference {}", describe(path, opened))
}
