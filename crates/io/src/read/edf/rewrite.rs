//! An EDF or BDF file, copied with new numbers: header, annotations, other signals and the times of
//! records stay.
//!
//! New numbers are rounded to the steps of the file. Where one lies beyond the digital limits of
//! its signal, these are widened to all that 16 (or 24) bits hold, and the physical limits with
//! them, so that every other stored number keeps its meaning; programs clip what lies beyond. A
//! number beyond that is refused. Between the records of a discontinuous file there is no place for
//! numbers.

use super::header::{self, Signal};
use super::{EdfReader, first_row};
use crate::error::{Error, Result};
use crate::read::Note;
use crate::read::assemble::check_limits;
use crate::read::numbers::Endian;
use crate::read::rewrite::{ANOTHER_FORMAT, Replacement, Trouble, copy, is_same, write_file};
use std::path::Path;

/// Digital numbers that a signal is to hold: least and largest of the new ones, and where they are.
#[derive(Clone, Copy, Debug)]
struct Needed {
    least: (f64, usize),
    most: (f64, usize),
}

impl Needed {
    const NONE: Needed = Needed {
        least: (f64::INFINITY, 0),
        most: (f64::NEG_INFINITY, 0),
    };
}

/// Limits of a signal that are written in place of those of the header.
struct Widened {
    physical: [String; 2],
    digital: [f64; 2],
}

pub(super) fn rewrite(
    reader: &mut EdfReader,
    new: &Replacement<'_>,
    out: &Path,
) -> Result<Vec<Note>> {
    let path = reader.source.path().to_owned();
    for (signal, channel) in reader.header.signals.iter().zip(&reader.channels) {
        if channel.is_some_and(|channel| new.wants(channel)) {
            check_limits(&path, &signal.label, signal.physical, signal.digital)?;
        }
    }
    let needed = needed(reader, new, out)?;
    let mut notes = Vec::new();
    let mut head = reader
        .source
        .bytes(0, header::size(reader.header.signals.len()), "header")?;
    for (at, needed) in needed.iter().enumerate() {
        if let Some(widened) = widened(reader, at, needed, new, out)? {
            let signal = &reader.header.signals[at];
            notes.push(Note::warning(format!(
                "channel `{}`: new values lie beyond {} to {}, the limits in the header, which are \
                 widened to {} to {}; stored numbers keep their meaning",
                signal.label,
                signal.physical[0],
                signal.physical[1],
                widened.physical[0],
                widened.physical[1],
            )));
            widened.put(&mut head, at, reader.header.signals.len());
        }
    }
    write_file(out, |file| {
        file.write_all(&head).map_err(Error::writing(out))?;
        let number = reader.number;
        each_record(reader, |reader, record, bytes| {
            each_new(reader, record, bytes, new, |_, bytes, digital, place| {
                if number.encode(Endian::Little, digital, bytes) {
                    return Ok(());
                }
                // The limits were checked: only a missing value is left.
                let (row, channel, value) = place;
                Err(Trouble::Beyond {
                    row,
                    channel,
                    value,
                    expected: "a number, as the format knows no missing values".into(),
                })
            })
            .map_err(|trouble| trouble.told(&path, out, new))?;
            file.write_all(bytes).map_err(Error::writing(out))
        })?;
        let size = reader.n_records * reader.record;
        let mut rest = reader
            .source
            .stream(header::size(reader.header.signals.len()) + size)?;
        copy(&mut rest, file, None).map_err(|trouble| trouble.told(&path, out, new))
    })?;
    Ok(notes)
}

/// Goes through the records of the file.
fn each_record(
    reader: &mut EdfReader,
    mut visit: impl FnMut(&EdfReader, usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let data_at = header::size(reader.header.signals.len());
    for record in 0..reader.n_records {
        let (at, place) = (
            data_at + record * reader.record,
            format!("record {}", record + 1),
        );
        let mut bytes = reader.source.bytes(at, reader.record, &place)?;
        visit(reader, record as usize, &mut bytes)?;
    }
    Ok(())
}

/// Calls `change` for every sample of a record that gets another number: with its signal, its
/// bytes, its new digital number, and sample, channel and value for messages. Gives how many of the
/// new numbers have their place in the record.
fn each_new(
    reader: &EdfReader,
    record: usize,
    bytes: &mut [u8],
    new: &Replacement<'_>,
    mut change: impl FnMut(usize, &mut [u8], f64, (usize, usize, f64)) -> Result<(), Trouble>,
) -> Result<usize, Trouble> {
    let (size, decode) = (reader.number.size(), reader.number.decoder(Endian::Little));
    let (mut rest, mut n_placed) = (bytes, 0);
    for (at, (signal, channel)) in reader
        .header
        .signals
        .iter()
        .zip(&reader.channels)
        .enumerate()
    {
        let (samples, others) = rest.split_at_mut(signal.per_record * size);
        rest = others;
        let Some(channel) = channel.filter(|&channel| new.wants(channel)) else {
            continue;
        };
        let rate = reader.contents.channels[channel].rate;
        let first = first_row(&reader.onsets, rate, record, signal);
        for (i, bytes) in samples.chunks_exact_mut(size).enumerate() {
            let Some(value) = new.get(first + i, channel) else {
                continue;
            };
            n_placed += usize::from(!value.is_nan());
            if !is_same(signal.meaning(decode(bytes)), value) {
                change(
                    at,
                    bytes,
                    signal.digital(value),
                    (first + i, channel, value),
                )?;
            }
        }
    }
    Ok(n_placed)
}

/// What every signal is to hold. Refuses numbers that have no place in any record.
fn needed(reader: &mut EdfReader, new: &Replacement<'_>, out: &Path) -> Result<Vec<Needed>> {
    let path = reader.source.path().to_owned();
    let mut needed = vec![Needed::NONE; reader.header.signals.len()];
    let mut n_placed = 0;
    each_record(reader, |reader, record, bytes| {
        let placed = each_new(reader, record, bytes, new, |at, _, digital, (row, ..)| {
            let needed = &mut needed[at];
            if digital < needed.least.0 {
                needed.least = (digital, row);
            }
            if digital > needed.most.0 {
                needed.most = (digital, row);
            }
            Ok(())
        });
        n_placed += placed.map_err(|trouble| trouble.told(&path, out, new))?;
        Ok(())
    })?;
    let lost = new.n_present().saturating_sub(n_placed);
    if lost > 0 {
        return Err(Error::content(
            out,
            "gaps between the records",
            "missing values: the file holds no samples there",
            format!("{lost} numbers"),
            "leave the gaps missing, or write another format, such as NPY or CSV",
        ));
    }
    Ok(needed)
}

/// The limits that the signal needs, unless its own are wide enough.
fn widened(
    reader: &EdfReader,
    at: usize,
    needed: &Needed,
    new: &Replacement<'_>,
    out: &Path,
) -> Result<Option<Widened>> {
    let signal = &reader.header.signals[at];
    let [from, to] = signal.digital;
    let inside =
        |needed: &Needed, least: f64, most: f64| needed.least.0 >= least && needed.most.0 <= most;
    if inside(needed, from.min(to), from.max(to)) {
        return Ok(None);
    }
    let (least, most) = reader.number.limits().unwrap_or_default();
    let (least, most) = (least as f64, most as f64);
    let digital = if from < to {
        [least, most]
    } else {
        [most, least]
    };
    let exact = digital.map(|digital| signal.meaning(digital));
    let step = signal.gain().abs();
    let fields = [field(exact[0], step), field(exact[1], step)];
    if let ([Some(low), Some(high)], true) = (fields, inside(needed, least, most)) {
        return Ok(Some(Widened {
            physical: [low, high],
            digital,
        }));
    }
    let channel = reader.channels[at].unwrap_or_default();
    let (digital, row) = if needed.least.0 < from.min(to) {
        needed.least
    } else {
        needed.most
    };
    let value = new.get(row, channel).unwrap_or(signal.meaning(digital));
    Err(Error::content(
        out,
        new.place(row, channel),
        format!(
            "a value from {} to {}, which {:?} can hold in the steps of the file, {step}",
            exact[0].min(exact[1]),
            exact[0].max(exact[1]),
            reader.number
        ),
        value.to_string(),
        ANOTHER_FORMAT,
    ))
}

/// A number in the eight characters of a header, when it is off by at most half a step.
fn field(value: f64, step: f64) -> Option<String> {
    let texts = (0..8).rev().map(|decimals| format!("{value:.decimals$}"));
    let text = texts.into_iter().find(|text| text.len() <= 8)?;
    let found: f64 = text.parse().ok()?;
    // Without the zeros at its end.
    ((found - value).abs() <= step / 2.0).then(|| found.to_string())
}

impl Widened {
    /// Writes the limits of signal `at` into the bytes of the header.
    fn put(&self, head: &mut [u8], at: usize, n_signals: usize) {
        let mut set = |before: usize, text: &str| {
            let start = 256 + before * n_signals + 8 * at;
            head[start..start + 8].copy_from_slice(format!("{text:<8}").as_bytes());
        };
        set(104, &self.physical[0]);
        set(112, &self.physical[1]);
        set(120, &self.digital[0].to_string());
        set(128, &self.digital[1].to_string());
    }
}

impl Signal {
    /// The digital number that is nearest to a physical value.
    fn digital(&self, value: f64) -> f64 {
        ((value - self.physical[0]) / self.gain() + self.digital[0]).round()
    }
}
