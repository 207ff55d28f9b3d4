//! Reading the files that a command names, and what is said about them on standard error.
//!
//! Which part of a file is read is said by `ReadOptions` of `strt-io`, which every command that
//! reads a recording takes as one group of arguments.

use crate::failure::Outcome;
use crate::output::note;
use crate::progress::under_way;
use std::path::Path;
use strt_io::{Opened, ReadOptions, read_recording};
use strt_runs::data;
use strt_score::Reference;
use strtransformer::Recording;

/// Reads a recording and says what was detected.
pub fn open(path: &Path, options: &ReadOptions, quiet: bool) -> Outcome<Opened> {
    let what = format!("reading {}", path.display());
    let opened = under_way(quiet, &what, || read_recording(path, options))?;
    if !quiet {
        note(&describe(path, &opened));
    }
    Ok(opened)
}

/// Reads a recording for a model of so many channels, which decide which way round a matrix lies
/// whose file does not say; a square one lies as that of the run did.
pub fn open_for_model(
    path: &Path,
    options: &ReadOptions,
    n_channels: usize,
    of_run: Option<bool>,
    quiet: bool,
) -> Outcome<Opened> {
    let what = format!("reading {}", path.display());
    let fits = |_, channels| channels == n_channels;
    let opened = under_way(quiet, &what, || {
        data::read_with_side(path, options, of_run, fits)
    })?;
    if !quiet {
        note(&describe(path, &opened));
    }
    Ok(opened)
}

/// The true sources of a recording: of the same samples, or of the whole file of which `options`
/// takes a span.
pub fn open_reference(
    path: &Path,
    recording: &Recording,
    options: &ReadOptions,
    quiet: bool,
) -> Outcome<Reference> {
    let found = data::open_reference(path, options, recording)?;
    if !quiet {
        note(&describe_reference(path, &found));
    }
    Ok(data::reference(path, &found, recording)?)
}

/// A number of things: one of them has no s.
pub fn number_of(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
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
        1 => ", 1 sample with missing values".into(),
        n => format!(", {n} samples with missing values"),
    };
    let mut lines = format!(
        "{}: {}, {} × {}, {rate}{missing}",
        path.display(),
        opened.format,
        number_of(recording.n_samples(), "sample"),
        number_of(recording.n_channels(), "channel"),
    );
    for note in &opened.notes {
        lines.push_str(&format!("\n  {note}"));
    }
    lines
}

/// What was read as true sources.
pub fn describe_reference(path: &Path, opened: &Opened) -> String {
    format!("reference {}", describe(path, opened))
}
