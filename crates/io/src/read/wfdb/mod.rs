//! WFDB records of PhysioNet: a header `.hea`, the signal files that it names, and annotations beside
//! them.
//!
//! Numbers are scaled to physical units, samples that stand for missing ones become missing, skewed
//! signals are put in their place, and signals with several samples a frame are averaged over each
//! frame, as the WFDB library does by default. Formats 16, 24, 32, 61, 80, 160 and 212. Checksums
//! are not compared. Refused: records of several segments, and signal files in other directories
//! than the header.
//!
//! Written by hand: `wfdb` (0.1) parses skews and samples a frame without applying them, and asks
//! for as much memory as a header claims.

mod annotations;
mod header;
mod samples;

use super::source::{Source, damaged, failed};
use super::table::{Channel, Contents, Reader, Table};
use crate::error::{Error, Result};
use header::{Header, Signal};
use samples::Samples;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Headers are some kilobytes long.
const LONGEST_HEADER: u64 = 1 << 20;

/// A WFDB record.
pub(crate) struct WfdbReader {
    /// The header file.
    path: PathBuf,
    header: Header,
    groups: Vec<Group>,
    n_frames: usize,
    contents: Contents,
}

/// Signals that share a file.
struct Group {
    path: PathBuf,
    signals: Range<usize>,
}

impl WfdbReader {
    pub fn open(mut source: Source) -> Result<Self> {
        let path = source.path().to_owned();
        let text = source.head(LONGEST_HEADER)?;
        let header = header::parse(&path, &String::from_utf8_lossy(&text))?;
        let groups = groups(&path, &header.signals)?;
        let mut n_frames = header.n_frames;
        for group in &groups {
            n_frames = Some(frames(
                &header.signals[group.signals.clone()],
                &group.path,
                n_frames,
            )?);
        }
        let n_frames = n_frames.unwrap_or(0);
        let mut contents = Contents::default();
        for signal in &header.signals {
            contents.channels.push(Channel {
                name: signal.name.clone(),
                unit: Some(signal.unit.clone()),
                rate: Some(header.rate),
                n_samples: n_frames,
                left_out: None,
                position: None,
            });
        }
        contents.detected("scaled to physical units");
        if let Some(beside) = annotations::beside(&path) {
            let name = beside.file_name().unwrap_or_default().to_string_lossy();
            match annotations::read(&beside, header.rate) {
                Ok(events) => {
                    contents.detected(format!("{} annotations in `{name}`", events.len()));
                    contents.events = events;
                }
                // The record is whole without them, and other files have these endings, too.
                Err(error) => contents.warn(format!("annotations are not read: {error}")),
            }
        }
        if header.n_frames.is_none() {
            contents.detected(format!(
                "the header gives no length: the files hold {n_frames} samples"
            ));
        }
        for signal in &header.signals {
            let name = &signal.name;
            if signal.per_frame > 1 {
                contents.warn(format!(
                    "channel `{name}` has {} samples a frame; they are averaged to {} Hz",
                    signal.per_frame, header.rate
                ));
            }
            if signal.skew > 0 {
                contents.detected(format!(
                    "channel `{name}` is put {} samples earlier (skew)",
                    signal.skew
                ));
            }
            if !signal.calibrated {
                contents.warn(format!(
                    "channel `{name}` is not calibrated; {} a unit are assumed",
                    signal.gain
                ));
            }
        }
        Ok(Self {
            path,
            header,
            groups,
            n_frames,
            contents,
        })
    }
}

/// Signals of one file follow each other in the header and are written alike.
fn groups(path: &Path, signals: &[Signal]) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut start = 0;
    for end in 1..=signals.len() {
        let first = &signals[start];
        match signals.get(end) {
            Some(next) if next.file == first.file => {
                if next.coding != first.coding || next.offset != first.offset {
                    return Err(damaged(
                        path,
                        format!("signals `{}` and `{}`", first.name, next.name),
                        "one format and offset for one file",
                        "two",
                    ));
                }
            }
            _ => {
                let file = path.with_file_name(&first.file);
                if groups.iter().any(|group| group.path == file) {
                    let place = format!("signal `{}`", first.name);
                    return Err(damaged(
                        path,
                        place,
                        "signals of one file beside each other",
                        "other files between",
                    ));
                }
                groups.push(Group {
                    path: file,
                    signals: start..end,
                });
                start = end;
            }
        }
    }
    Ok(groups)
}

/// Frames of a file: as many as are claimed, when it can hold them.
fn frames(signals: &[Signal], path: &Path, claimed: Option<usize>) -> Result<usize> {
    let source = Source::open(path)?;
    let (coding, offset) = (signals[0].coding, signals[0].offset);
    let frame = signals
        .iter()
        .try_fold(0u64, |sum, signal| sum.checked_add(signal.per_frame as u64))
        .unwrap_or(u64::MAX);
    match claimed {
        Some(n_frames) => {
            let size = (n_frames as u64)
                .checked_mul(frame)
                .and_then(|n_samples| coding.bytes(n_samples));
            source.require(
                offset,
                size.unwrap_or(u64::MAX),
                &format!("{n_frames} samples of each signal"),
            )?;
            Ok(n_frames)
        }
        None => {
            source.require(offset, 0, "bytes before the samples")?;
            Ok((coding.samples(source.length() - offset) / frame) as usize)
        }
    }
}

impl Reader for WfdbReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        for group in &self.groups {
            if group.signals.clone().any(|channel| table.wants(channel)) {
                self.read_group(group, table)?;
            }
        }
        for (channel, signal) in self.header.signals.iter().enumerate() {
            if table.wants(channel) && signal.skew >= self.n_frames {
                return Err(Error::content(
                    &self.path,
                    format!("signal `{}`", signal.name),
                    format!("a skew below the {} samples of the record", self.n_frames),
                    signal.skew.to_string(),
                    "leave the channel out",
                ));
            }
        }
        Ok(())
    }
}

impl WfdbReader {
    fn read_group(&self, group: &Group, table: &mut Table) -> Result<()> {
        let signals = &self.header.signals[group.signals.clone()];
        let mut source = Source::open(&group.path)?;
        let mut samples = Samples::new(source.stream(signals[0].offset)?, signals[0].coding);
        let longest_skew = signals.iter().map(|signal| signal.skew).max().unwrap_or(0);
        let end = table
            .rows()
            .end
            .saturating_add(longest_skew)
            .min(self.n_frames);
        for frame in 0..end {
            for (signal, channel) in signals.iter().zip(group.signals.clone()) {
                let (mut sum, mut count) = (0.0, 0.0);
                for _ in 0..signal.per_frame {
                    let sample = samples.next().map_err(|error| {
                        failed(&group.path, error, &format!("frame {}", frame + 1))
                    })?;
                    if !sample.is_nan() {
                        sum += sample;
                        count += 1.0;
                    }
                }
                // No sample at all is 0/0, a missing value.
                if let Some(row) = frame.checked_sub(signal.skew) {
                    table.set(row, channel, (sum / count - signal.baseline) / signal.gain);
                }
            }
        }
        Ok(())
    }
}
