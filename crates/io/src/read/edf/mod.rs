//! EDF, EDF+, BDF and BDF+: biosignals in records of fixed length.
//!
//! Numbers are scaled to the physical units of the header. Annotations are no channels but events;
//! the status channel of BioSemi is one only when it is asked for, and its triggers are events.
//! Records of a discontinuous file (EDF+D) are put where their time says, and what lies between
//! them is missing. Channels of different rates cannot be read together: that is for the caller to
//! choose.
//!
//! Written by hand: the crate for it (`edfplus` 0.1) refuses discontinuous files and knows no BDF.

mod events;
mod header;
mod rewrite;

use super::assemble::check_limits;
use super::numbers::{Endian, Number};
use super::rewrite::Replacement;
use super::source::{Source, damaged};
use super::table::{Channel, Contents, Reader, Table};
use super::{Format, Note};
use crate::error::{Error, Result};
use header::{Header, Signal};
use std::io::Read;
use std::path::Path;

/// A discontinuous file may be missing at most so many times what it holds.
const MOST_GAPS: f64 = 64.0;

/// An EDF or BDF file.
pub(crate) struct EdfReader {
    source: Source,
    number: Number,
    header: Header,
    /// Bytes of one record.
    record: u64,
    n_records: u64,
    /// Seconds from the first record to each, for a discontinuous file.
    onsets: Option<Vec<f64>>,
    /// For every signal: its channel.
    channels: Vec<Option<usize>>,
    contents: Contents,
}

impl EdfReader {
    pub fn open(mut source: Source, format: Format) -> Result<Self> {
        let path = source.path().to_owned();
        let header = header::read(&mut source, format)?;
        let number = if format == Format::Bdf {
            Number::I24
        } else {
            Number::I16
        };
        let data_at = header::size(header.signals.len());
        let record = header.signals.iter().try_fold(0u64, |sum, signal| {
            sum.checked_add((signal.per_record as u64).checked_mul(number.size() as u64)?)
        });
        let record = match record {
            Some(0) | None => {
                let found = record.map_or("more than any file", |_| "none");
                return Err(damaged(
                    &path,
                    "header, samples per record",
                    "some samples in each record",
                    found,
                ));
            }
            Some(record) => record,
        };
        let mut contents = Contents::default();
        let available = (source.length() - data_at) / record;
        let n_records = match header.n_records {
            Some(n_records) => {
                let size = n_records.saturating_mul(record);
                source.require(data_at, size, &format!("{n_records} data records"))?;
                let rest = source.length() - data_at - size;
                if rest > 0 {
                    contents.warn(format!("{rest} bytes after the last record are not read"));
                }
                n_records
            }
            None => {
                contents.warn(format!(
                    "the number of records is not in the header: \
                     the {available} whole records of the file are read"
                ));
                available
            }
        };
        let mut reader = Self {
            source,
            number,
            header,
            record,
            n_records,
            onsets: None,
            channels: Vec::new(),
            contents,
        };
        if reader.header.discontinuous {
            reader.onsets = Some(reader.read_onsets()?);
        }
        reader.describe(&path, format)?;
        reader.find_events(format)?;
        Ok(reader)
    }

    /// Channels and what is to be said about them.
    fn describe(&mut self, path: &Path, format: Format) -> Result<()> {
        for signal in &self.header.signals {
            if signal.is_annotations() {
                self.channels.push(None);
                continue;
            }
            let rate = (self.header.duration > 0.0)
                .then(|| signal.per_record as f64 / self.header.duration);
            let status = format == Format::Bdf && signal.label == "Status";
            self.channels.push(Some(self.contents.channels.len()));
            self.contents.channels.push(Channel {
                name: signal.label.clone(),
                unit: Some(signal.unit.clone()).filter(|unit| !unit.is_empty()),
                rate,
                n_samples: self.n_samples(path, signal, rate)?,
                left_out: status.then_some("it holds triggers and states of the device"),
                position: None,
            });
        }
        self.contents.detected(format!(
            "{} records of {} s, scaled to physical units",
            self.n_records, self.header.duration
        ));
        if self.header.duration == 0.0 {
            self.contents.warn("records last 0 s: no rate is known");
        }
        if let Some(onsets) = &self.onsets {
            let gaps = onsets
                .windows(2)
                .filter(|pair| pair[1] - pair[0] > 1.5 * self.header.duration)
                .count();
            self.contents.warn(format!(
                "the recording is discontinuous: samples in its {gaps} gaps are missing"
            ));
        }
        Ok(())
    }

    /// Annotations and triggers, and what is to be said about them.
    fn find_events(&mut self, format: Format) -> Result<()> {
        let annotations = events::annotations(self)?;
        let triggers = match format {
            Format::Bdf => events::triggers(self)?,
            _ => events::Found::default(),
        };
        for (found, what) in [
            (annotations, ["annotation", "annotations"]),
            (
                triggers,
                [
                    "trigger in the status channel",
                    "triggers in the status channel",
                ],
            ),
        ] {
            if found.cut {
                let kept = found.events.len();
                self.contents
                    .warn(format!("only the first {kept} {} are read", what[1]));
            } else if !found.events.is_empty() {
                let count = found.events.len();
                let what = what[usize::from(count != 1)];
                self.contents.detected(format!("{count} {what}"));
            }
            if found.damaged > 0 {
                self.contents.warn(format!(
                    "{} annotations are not as EDF+ has them and are left out",
                    found.damaged
                ));
            }
            self.contents.events.extend(found.events);
        }
        Ok(())
    }

    /// Samples of a signal, gaps included.
    fn n_samples(&self, path: &Path, signal: &Signal, rate: Option<f64>) -> Result<usize> {
        let held = self.n_records as usize * signal.per_record;
        let (Some(onsets), Some(rate)) = (&self.onsets, rate) else {
            return Ok(held);
        };
        let Some(last) = onsets.last() else {
            return Ok(0);
        };
        let all = (last * rate).round() + signal.per_record as f64;
        if all > MOST_GAPS * held as f64 {
            return Err(Error::content(
                path,
                "times of the records",
                format!("gaps of at most {MOST_GAPS} times what is recorded"),
                format!("{last} s from the first record to the last"),
                "cut the file into its continuous parts",
            ));
        }
        Ok(all as usize)
    }

    /// The time of every record, from the first annotation in it.
    fn read_onsets(&mut self) -> Result<Vec<f64>> {
        let path = self.source.path().to_owned();
        let (mut before, mut place) = (0, None);
        for signal in &self.header.signals {
            let size = (signal.per_record * self.number.size()) as u64;
            if signal.is_annotations() {
                place = Some((before, size));
                break;
            }
            before += size;
        }
        let Some((before, size)) = place else {
            return Err(damaged(
                &path,
                "header",
                "an annotation signal, as every discontinuous file has",
                "none",
            ));
        };
        let data_at = header::size(self.header.signals.len());
        let mut onsets: Vec<f64> = Vec::new();
        for record in 0..self.n_records {
            let place = format!("time of record {}", record + 1);
            let at = data_at + record * self.record + before;
            let bytes = self.source.bytes(at, size, &place)?;
            let end = bytes
                .iter()
                .position(|byte| [0x14, 0x15].contains(byte))
                .unwrap_or(0);
            let text = String::from_utf8_lossy(&bytes[..end]);
            let onset: f64 = match text.parse() {
                Ok(onset) if f64::is_finite(onset) => onset,
                _ => return Err(damaged(&path, place, "seconds", format!("`{text}`"))),
            };
            let earliest = onsets
                .last()
                .map_or(onset, |last| last + self.header.duration * (1.0 - 1e-3));
            if onset < earliest {
                let expected = format!("at least {earliest} s, when the record before it ends");
                return Err(damaged(&path, place, expected, format!("{onset} s")));
            }
            onsets.push(onset);
        }
        let first = onsets.first().copied().unwrap_or(0.0);
        onsets.iter_mut().for_each(|onset| *onset -= first);
        Ok(onsets)
    }
}

impl Reader for EdfReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        for (signal, channel) in self.header.signals.iter().zip(&self.channels) {
            if channel.is_some_and(|channel| table.wants(channel)) {
                check_limits(&path, &signal.label, signal.physical, signal.digital)?;
            }
        }
        let (size, decode) = (self.number.size(), self.number.decoder(Endian::Little));
        let data_at = header::size(self.header.signals.len());
        let mut input = self.source.stream(data_at)?;
        // Of a record that is not there the size may be anything.
        let length = if self.n_records > 0 { self.record } else { 0 };
        let mut bytes = vec![0; length as usize];
        for record in 0..self.n_records as usize {
            input.read_exact(&mut bytes).map_err(|error| {
                super::source::failed(&path, error, &format!("record {}", record + 1))
            })?;
            let mut rest = &bytes[..];
            for (signal, channel) in self.header.signals.iter().zip(&self.channels) {
                let (samples, others) = rest.split_at(signal.per_record * size);
                rest = others;
                let Some(channel) = channel.filter(|&channel| table.wants(channel)) else {
                    continue;
                };
                let rate = self.contents.channels[channel].rate;
                let first = first_row(&self.onsets, rate, record, signal);
                for (i, sample) in samples.chunks_exact(size).enumerate() {
                    table.set(first + i, channel, signal.meaning(decode(sample)));
                }
            }
        }
        Ok(())
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        rewrite::rewrite(self, new, out).map(Some)
    }
}

/// The sample that a record starts with, gaps included.
fn first_row(
    onsets: &Option<Vec<f64>>,
    rate: Option<f64>,
    record: usize,
    signal: &Signal,
) -> usize {
    match (onsets, rate) {
        (Some(onsets), Some(rate)) => (onsets[record] * rate).round() as usize,
        _ => record * signal.per_record,
    }
}
