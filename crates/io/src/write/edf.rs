//! EDF: 16-bit whole numbers, one signal a signal, each scaled to its own range by the physical
//! minimum and maximum of the header.
//!
//! Records have whole samples and a length in seconds of at most 8 characters; they are chosen so
//! that the rate is kept to the last bit and, where that can be, so that the last record is full.
//! Otherwise it is filled with the last value of each signal. Refused: missing samples, which the
//! format has no mark for, rates that no such record has, and values of a size that 8 characters
//! cannot bound.

use super::Signals;
use crate::error::{Error, Result};
use crate::read::Note;
use std::io::{self, Write};
use std::path::Path;

/// Bytes of a record that all readers take (<https://www.edfplus.info/specs/edf.html>).
const LARGEST_RECORD: usize = 61_440;
/// Characters of a number in the header.
const WIDTH: usize = 8;
/// How much wider than its values the range of a signal may be.
const WIDEST: f64 = 64.0;

/// How the samples are cut into records.
#[derive(Debug, PartialEq)]
pub(super) struct Records {
    per_record: usize,
    /// Seconds, as the header writes them.
    duration: String,
    n_records: usize,
    n_filled: usize,
}

/// The range of a signal, as the header writes it.
struct Bounds {
    least: (String, f64),
    most: (String, f64),
}

pub(super) fn check(path: &Path, signals: &Signals<'_>) -> Result<Records> {
    let refused = |option, expected: &str, found: String| {
        let remedy = "write another format, such as NPY or CSV";
        Err(Error::request(path, option, expected, found, remedy))
    };
    let (n_samples, n_signals) = signals.values.shape();
    if n_samples == 0 || !(1..10_000).contains(&n_signals) {
        let found = format!("{n_samples} samples of {n_signals} signals");
        return refused("output", "1 to 9999 signals with samples", found);
    }
    let columns = signals.values.col_iter();
    let n_missing: usize = columns
        .map(|column| column.iter().filter(|value| value.is_nan()).count())
        .sum();
    if n_missing > 0 {
        let expected = "no missing samples, for which EDF has no mark";
        return refused("output", expected, format!("{n_missing} missing values"));
    }
    let Some(rate) = signals.rate else {
        return refused("rate", "a sampling rate, which EDF needs", "none".into());
    };
    let most = (LARGEST_RECORD / 2 / n_signals).max(1);
    match records(rate, n_samples, most) {
        Some(records) if records.n_records < 100_000_000 => Ok(records),
        Some(_) => refused("output", "fewer than 10^8 records", n_samples.to_string()),
        None => {
            let expected = "a rate of whole samples in a time of at most 8 characters";
            refused("rate", expected, rate.to_string())
        }
    }
}

/// The records of at most `most` samples that suit best: full ones before others, then those
/// nearest to a second.
fn records(rate: f64, n_samples: usize, most: usize) -> Option<Records> {
    let mut best: Option<(bool, f64, Records)> = None;
    for per_record in 1..=most {
        let Some(duration) = seconds(per_record, rate) else {
            continue;
        };
        let n_records = n_samples.div_ceil(per_record);
        let n_filled = n_records * per_record - n_samples;
        let distance = (per_record as f64 / rate).ln().abs();
        let is_better = best
            .as_ref()
            .is_none_or(|(is_filled, other, _)| (n_filled > 0, distance) < (*is_filled, *other));
        if is_better {
            let records = Records {
                per_record,
                duration,
                n_records,
                n_filled,
            };
            best = Some((n_filled > 0, distance, records));
        }
    }
    best.map(|(_, _, records)| records)
}

/// So many samples in seconds, when 8 characters give the rate back to the last bit.
fn seconds(per_record: usize, rate: f64) -> Option<String> {
    let exact = per_record as f64 / rate;
    (0..WIDTH - 1)
        .map(|digits| format!("{exact:.digits$}"))
        .find(|text| {
            let read = text.parse::<f64>().unwrap_or(0.0);
            text.len() <= WIDTH && per_record as f64 / read == rate
        })
}

/// Writes the file; gives what is to be known of it.
pub(super) fn write(path: &Path, signals: &Signals<'_>, records: &Records) -> Result<Vec<Note>> {
    let mut bounds = Vec::new();
    for (name, column) in signals.names.iter().zip(signals.values.col_iter()) {
        let (least, most) = column.iter().fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), &value| (least.min(value), most.max(value)),
        );
        bounds.push(Bounds::of(least, most).ok_or_else(|| {
            Error::request(
                path,
                "output",
                "values whose range fits into 8 characters",
                format!("signal `{name}` from {least} to {most}"),
                "write another format, such as NPY or CSV",
            )
        })?);
    }
    let labels: Vec<String> = signals.names.iter().map(|name| label(name)).collect();
    crate::atomic::write(path, |file| {
        header(file, &labels, &bounds, records)?;
        data(file, signals, &bounds, records)
    })?;
    let mut notes = vec![Note::detected(
        "EDF holds 16 bits: each signal is rounded to 65535 steps of its own range",
    )];
    if records.n_filled > 0 {
        notes.push(Note::warning(format!(
            "EDF holds whole records of {} samples: {} samples at the end repeat the last ones",
            records.per_record, records.n_filled
        )));
    }
    for (name, label) in signals.names.iter().zip(&labels).filter(|(a, b)| a != b) {
        notes.push(Note::warning(format!(
            "signal `{name}` is called `{label}`, since EDF has 16 letters of ASCII for a name"
        )));
    }
    Ok(notes)
}

impl Bounds {
    /// The narrowest that can be written.
    fn of(least: f64, most: f64) -> Option<Self> {
        let most = if most > least { most } else { least + 1.0 };
        let bounds = Self {
            least: below(least)?,
            most: above(most)?,
        };
        let is_narrow = bounds.most.1 - bounds.least.1 <= WIDEST * (most - least);
        is_narrow.then_some(bounds)
    }

    fn sample(&self, value: f64) -> i16 {
        let share = (value - self.least.1) / (self.most.1 - self.least.1);
        (share * 65535.0 - 32768.0).round() as i16
    }
}

/// The nearest number of 8 characters that is not above a value.
fn below(value: f64) -> Option<(String, f64)> {
    (0..WIDTH - 1).rev().find_map(|digits| {
        let unit = 10f64.powi(digits as i32);
        let near = (value * unit).floor();
        // Products are rounded, and perhaps to the wrong side.
        [near, near - 1.0].into_iter().find_map(|near| {
            let text = format!("{:.digits$}", near / unit);
            let read = text.parse::<f64>().ok()?;
            (text.len() <= WIDTH && read <= value).then_some((text, read))
        })
    })
}

/// The nearest number of 8 characters that is not below a value.
fn above(value: f64) -> Option<(String, f64)> {
    (0..WIDTH - 1).rev().find_map(|digits| {
        let unit = 10f64.powi(digits as i32);
        let near = (value * unit).ceil();
        [near, near + 1.0].into_iter().find_map(|near| {
            let text = format!("{:.digits$}", near / unit);
            let read = text.parse::<f64>().ok()?;
            (text.len() <= WIDTH && read >= value).then_some((text, read))
        })
    })
}

/// At most 16 letters of ASCII.
fn label(name: &str) -> String {
    name.chars()
        .map(|letter| match letter {
            ' '..='~' => letter,
            _ => '?',
        })
        .take(16)
        .collect()
}

/// What a column of the header says of a signal.
type Text<'a> = &'a dyn Fn(&Bounds) -> String;

fn header(
    file: &mut dyn Write,
    labels: &[String],
    bounds: &[Bounds],
    records: &Records,
) -> io::Result<()> {
    let n_signals = labels.len();
    write!(file, "{:8}{:80}{:80}", "0", "X X X X", "Startdate X X X X")?;
    write!(
        file,
        "01.01.8500.00.00{:<8}{:44}",
        256 * (1 + n_signals),
        ""
    )?;
    write!(
        file,
        "{:<8}{:8}{n_signals:<4}",
        records.n_records, records.duration
    )?;
    labels
        .iter()
        .try_for_each(|label| write!(file, "{label:16}"))?;
    let columns: [(usize, Text<'_>); 8] = [
        (80, &|_| String::new()),
        (8, &|_| String::new()),
        (8, &|bounds| bounds.least.0.clone()),
        (8, &|bounds| bounds.most.0.clone()),
        (8, &|_| i16::MIN.to_string()),
        (8, &|_| i16::MAX.to_string()),
        (80, &|_| String::new()),
        (8, &|_| records.per_record.to_string()),
    ];
    for (width, text) in columns {
        for bounds in bounds {
            write!(file, "{:width$}", text(bounds))?;
        }
    }
    write!(file, "{:1$}", "", 32 * n_signals)
}

fn data(
    file: &mut dyn Write,
    signals: &Signals<'_>,
    bounds: &[Bounds],
    records: &Records,
) -> io::Result<()> {
    let last = signals.values.nrows() - 1;
    for record in 0..records.n_records {
        let first = record * records.per_record;
        for (column, bounds) in signals.values.col_iter().zip(bounds) {
            for t in first..first + records.per_record {
                let sample = bounds.sample(column[t.min(last)]);
                file.write_all(&sample.to_le_bytes())?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_the_rate() {
        let check = |rate: f64, n_samples, expected: Option<(usize, &str, usize)>| {
            let found = records(rate, n_samples, 30_720);
            let told = found
                .as_ref()
                .map(|r| (r.per_record, r.duration.as_str(), r.n_filled));
            assert_eq!(told, expected, "{rate}");
        };
        check(256.0, 2560, Some((256, "1", 0)));
        check(250.1, 25_010, Some((2501, "10", 0)));
        check(0.5, 7, Some((1, "2", 0)));
        check(100.0, 1000, Some((100, "1", 0)));
        // Of a prime number of samples all in one record fill it.
        check(100.0, 997, Some((997, "9.97", 0)));
        // A 256th of a second has ten characters: the last record has three samples to spare.
        check(256.0, 2557, Some((256, "1", 3)));
        check(std::f64::consts::PI, 100, None);
    }

    #[test]
    fn bounds_enclose_their_values() {
        for value in [
            0.0,
            1.0,
            -1.0,
            0.1,
            -0.1,
            123.456_789,
            -98765.4321,
            3.3e-6,
            -7e6,
            9e7,
        ] {
            let (least, most) = (below(value), above(value));
            let (least, most) = (least.unwrap(), most.unwrap());
            assert!(
                least.1 <= value && value <= most.1,
                "{value} {least:?} {most:?}"
            );
            assert!(
                least.0.len() <= 8 && most.0.len() <= 8,
                "{least:?} {most:?}"
            );
            let step = 1e-6f64.max(value.abs() * 1e-4);
            assert!(most.1 - least.1 <= 2.0 * step, "{value} {least:?} {most:?}");
        }
        assert!(above(1e9).is_none());
        assert!(Bounds::of(1e-9, 2e-9).is_none());
    }
}
