//! Signals as sound in whole numbers of 24 bits: how they are scaled so that nothing is clipped.
//!
//! Every signal has a factor of its own, since the size of a source means nothing; the factor is
//! noted in the file. Missing samples are silence.

use super::Signals;
use crate::error::{Error, Result};
use crate::read::Note;
use std::path::Path;

/// Bits of a sample.
pub(super) const WIDTH: u32 = 24;
/// The largest magnitude of a signal, as a part of the range: players that resample need some room.
const PEAK: f64 = 0.99;

/// The factors of all signals.
pub(super) fn factors(signals: &Signals<'_>) -> Vec<f64> {
    let peaks = signals.values.col_iter().map(|column| {
        let sizes = column.iter().map(|value| value.abs());
        sizes.filter(|size| !size.is_nan()).fold(0.0, f64::max)
    });
    peaks
        .map(|peak| if peak > 0.0 { PEAK / peak } else { 1.0 })
        .collect()
}

/// A value as a whole number.
pub(super) fn sample(value: f64, factor: f64) -> i64 {
    if value.is_nan() {
        return 0;
    }
    (value * factor * f64::from((1 << (WIDTH - 1)) - 1)).round() as i64
}

/// What is noted of a signal.
pub(super) fn comment(name: &str, factor: f64) -> String {
    format!("{name} is scaled by {factor}")
}

/// What is to be known of signals that became sound.
pub(super) fn notes(signals: &Signals<'_>) -> Vec<Note> {
    let all: Vec<String> = signals
        .names
        .iter()
        .zip(factors(signals))
        .map(|(name, factor)| comment(name, factor))
        .collect();
    let mut notes = vec![Note::detected(all.join("; "))];
    let columns = signals.values.col_iter();
    let n_missing: usize = columns
        .map(|column| column.iter().filter(|value| value.is_nan()).count())
        .sum();
    if n_missing > 0 {
        let text = format!("{n_missing} missing values are written as silence");
        notes.push(Note::warning(text));
    }
    notes
}

/// The rate as sound has it, up to `most`.
pub(super) fn rate(path: &Path, signals: &Signals<'_>, most: u32) -> Result<u32> {
    let refused = |expected: String, found: String| {
        let remedy = "give a rate, or write another format";
        Err(Error::request(path, "rate", expected, found, remedy))
    };
    match signals.rate {
        Some(rate) if rate.fract() == 0.0 && (1.0..=f64::from(most)).contains(&rate) => {
            Ok(rate as u32)
        }
        Some(rate) if rate.fract() == 0.0 => {
            refused(format!("1 to {most} samples per second"), rate.to_string())
        }
        Some(rate) => refused(
            "a whole number of samples per second".into(),
            rate.to_string(),
        ),
        None => refused("a sampling rate, which sound needs".into(), "none".into()),
    }
}
