//! WFDB records of PhysioNet: a header `.hea`, the signal files, or the segments, that it names,
//! and annotations beside them.
//!
//! Numbers are scaled to physical units, samples that stand for missing ones become missing, skewed
//! signals are put in their place. Signals with several samples a frame, all with as many, have
//! that many times the rate of the frames; where the chosen ones differ, each is averaged over its
//! frames, as the WFDB library does. Formats 8, 16, 24, 32, 61, 80, 160, 212, 310, 311, and FLAC in
//! 508, 516 and 524. Segments follow each other in time, those of a variable layout each with some
//! of its signals; where a signal has none it is missing. Checksums of headers are not compared.
//! Refused: files in other directories than the header.
//!
//! Written by hand: `wfdb` (0.1) parses skews and samples a frame without applying them, and asks
//! for as much memory as a header claims.

mod annotations;
mod header;
mod record;
mod samples;
mod segments;

use super::ReadOptions;
use super::source::Source;
use super::table::{Channel, Contents, Reader, Table};
use crate::error::Result;
use header::{Described, Header, Signal};
use record::Record;
use std::path::Path;

/// Headers are some kilobytes long, those of many segments some hundred.
const LONGEST_HEADER: u64 = 1 << 22;

/// A WFDB record.
pub(crate) struct WfdbReader {
    parts: Vec<Part>,
    contents: Contents,
    /// Samples that become of a frame, for every channel.
    per_frame: Vec<usize>,
}

/// A record that fills some time of the recording, or all of it.
struct Part {
    /// Frames of the recording before it.
    start: usize,
    record: Record,
    /// For every signal of the record: its channel.
    channels: Vec<usize>,
}

impl WfdbReader {
    pub fn open(mut source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let (rate, mut reader) = match describe(&mut source)? {
            Described::Signals(header) => (header.rate, Self::of_one(&path, header, options)?),
            Described::Segments(segments) => {
                (segments.rate, segments::open(&path, segments, options)?)
            }
        };
        reader.annotate(&path, rate);
        Ok(reader)
    }

    /// Takes the annotations beside a header, whose times are counted in frames, as events.
    fn annotate(&mut self, header: &Path, rate: f64) {
        let Some(beside) = annotations::beside(header) else {
            return;
        };
        let name = beside.file_name().unwrap_or_default().to_string_lossy();
        match annotations::read(&beside, rate) {
            Ok(events) => {
                let found = format!("{} annotations in `{name}`", events.len());
                self.contents.detected(found);
                self.contents.events = events;
            }
            // The record is whole without them, and other files have these endings, too.
            Err(error) => {
                let lost = format!("annotations are not read: {error}");
                self.contents.warn(lost);
            }
        }
    }

    fn of_one(path: &Path, header: Header, options: &ReadOptions) -> Result<Self> {
        let is_length_known = header.n_frames.is_some();
        let record = Record::open(path, header)?;
        let per_frame = per_frame(path, &record.header.signals, options);
        let mut contents = contents(
            &record.header.signals,
            record.header.rate,
            record.n_frames,
            &per_frame,
        );
        if !is_length_known {
            contents.detected(format!(
                "the header gives no length: the files hold {} samples",
                record.n_frames
            ));
        }
        let signals = &record.header.signals;
        for (signal, per_frame) in signals.iter().zip(&per_frame) {
            if signal.skew > 0 {
                contents.detected(format!(
                    "channel `{}` is put {} samples earlier (skew)",
                    signal.name,
                    signal.skew.saturating_mul(*per_frame)
                ));
            }
        }
        Ok(Self {
            per_frame,
            contents,
            parts: vec![Part {
                start: 0,
                channels: (0..signals.len()).collect(),
                record,
            }],
        })
    }
}

fn describe(source: &mut Source) -> Result<Described> {
    let path = source.path().to_owned();
    let text = source.head(LONGEST_HEADER)?;
    header::parse(&path, &String::from_utf8_lossy(&text))
}

/// Samples that become of a frame, for every signal: one where the chosen signals differ in how
/// many they have, otherwise all.
fn per_frame(path: &Path, signals: &[Signal], options: &ReadOptions) -> Vec<usize> {
    let names: Vec<&str> = signals.iter().map(|signal| signal.name.as_str()).collect();
    let chosen = options.channels.as_ref();
    // A choice that cannot be met is told where all formats tell it.
    let chosen = chosen.and_then(|chosen| chosen.resolve(path, &names).ok());
    let chosen = chosen.unwrap_or_else(|| (0..signals.len()).collect());
    let of = |index: &usize| signals[*index].per_frame;
    let differ = chosen.iter().any(|index| of(index) != of(&chosen[0]));
    let become_of = |signal: &Signal| if differ { 1 } else { signal.per_frame };
    signals.iter().map(become_of).collect()
}

/// The channels that signals become over so many frames.
fn contents(signals: &[Signal], rate: f64, n_frames: usize, per_frame: &[usize]) -> Contents {
    let mut contents = Contents::default();
    contents.detected("scaled to physical units");
    for (signal, &per_frame) in signals.iter().zip(per_frame) {
        let name = &signal.name;
        let own_rate = rate * per_frame as f64;
        contents.channels.push(Channel {
            name: name.clone(),
            unit: Some(signal.unit.clone()),
            rate: Some(own_rate),
            n_samples: n_frames.saturating_mul(per_frame),
            ..Channel::default()
        });
        if signal.per_frame > per_frame {
            contents.warn(format!(
                "channel `{name}` has {} samples a frame and others have not; they are averaged to \
                 {rate} Hz: choose channels of one rate to have them all",
                signal.per_frame
            ));
        } else if signal.per_frame > 1 {
            contents.detected(format!(
                "channel `{name}` has {} samples in each of {rate} frames a second: {own_rate} Hz",
                signal.per_frame
            ));
        }
        if !signal.calibrated {
            contents.warn(format!(
                "channel `{name}` is not calibrated; {} a unit are assumed",
                signal.gain
            ));
        }
    }
    contents
}

impl Reader for WfdbReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        // All wanted channels have as many samples a frame: only channels of one rate are read
        // together.
        let wanted = (0..self.per_frame.len()).find(|&channel| table.wants(channel));
        let per_frame = wanted.map_or(1, |channel| self.per_frame[channel]);
        let rows = table.rows();
        let (first, end) = (rows.start / per_frame, rows.end.div_ceil(per_frame));
        for part in &self.parts {
            let before = part.start * per_frame;
            let frames = first.saturating_sub(part.start)
                ..end.saturating_sub(part.start).min(part.record.n_frames);
            if frames.is_empty() {
                continue;
            }
            let wants: Vec<bool> = part.channels.iter().map(|&c| table.wants(c)).collect();
            let per_frame: Vec<usize> = part.channels.iter().map(|&c| self.per_frame[c]).collect();
            part.record.read(
                frames,
                &per_frame,
                |signal| wants[signal],
                |signal, sample, value| {
                    if wants[signal] {
                        table.set(before + sample, part.channels[signal], value);
                    }
                },
            )?;
        }
        Ok(())
    }
}
