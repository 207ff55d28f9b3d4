//! One record of WFDB that has signals of its own: which files hold them, how long they are, and
//! their samples in physical units.

use super::header::{Header, Signal};
use super::samples::{Coding, Samples};
use crate::error::{Error, Result};
use crate::read::flac;
use crate::read::source::{Source, damaged, failed};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A record whose files are there and long enough.
pub(super) struct Record {
    /// The header file.
    path: PathBuf,
    pub header: Header,
    groups: Vec<Group>,
    pub n_frames: usize,
}

/// Signals that share a file.
struct Group {
    path: PathBuf,
    signals: Range<usize>,
}

impl Record {
    pub fn open(path: &Path, header: Header) -> Result<Self> {
        let groups = groups(path, &header.signals)?;
        let mut n_frames = header.n_frames;
        for group in &groups {
            let signals = &header.signals[group.signals.clone()];
            n_frames = Some(frames(signals, (path, &group.path), n_frames)?);
        }
        Ok(Self {
            path: path.to_owned(),
            header,
            groups,
            n_frames: n_frames.unwrap_or(0),
        })
    }

    /// Gives `put(signal, sample, value)` the samples of the wanted signals in some frames; samples
    /// are counted from the first of the record. A signal that is to have one sample of a frame
    /// (`per_frame`) has the mean of those that are there.
    pub fn read(
        &self,
        frames: Range<usize>,
        per_frame: &[usize],
        wants: impl Fn(usize) -> bool,
        mut put: impl FnMut(usize, usize, f64),
    ) -> Result<()> {
        for group in &self.groups {
            if group.signals.clone().any(&wants) {
                self.read_group(group, frames.clone(), per_frame, &mut put)?;
            }
        }
        for (index, signal) in self.header.signals.iter().enumerate() {
            if wants(index) && signal.skew >= self.n_frames {
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

    fn read_group(
        &self,
        group: &Group,
        frames: Range<usize>,
        per_frame: &[usize],
        put: &mut impl FnMut(usize, usize, f64),
    ) -> Result<()> {
        let signals = &self.header.signals[group.signals.clone()];
        let (coding, offset) = (signals[0].coding, signals[0].offset);
        let is_stream = matches!(coding, Coding::Flac(_));
        let mut source = Source::open(&group.path)?;
        let bytes = source.stream(if is_stream { 0 } else { offset })?;
        let initial = signals.iter().map(|signal| signal.initial).collect();
        let wrong = |error, place: &str| failed(&group.path, error, place);
        let mut samples =
            Samples::new(bytes, coding, initial).map_err(|error| wrong(error, "stream"))?;
        if is_stream {
            for _ in 0..offset {
                for signal in 0..signals.len() {
                    let skipped = samples.next(signal);
                    skipped.map_err(|error| wrong(error, "samples before the first"))?;
                }
            }
        }
        let longest_skew = signals.iter().map(|signal| signal.skew).max().unwrap_or(0);
        let end = frames.end.saturating_add(longest_skew).min(self.n_frames);
        for frame in 0..end {
            for (index, signal) in signals.iter().enumerate() {
                let number = group.signals.start + index;
                let is_averaged = per_frame[number] < signal.per_frame;
                let (mut sum, mut count) = (0.0, 0.0);
                for i in 0..signal.per_frame {
                    let sample = samples
                        .next(index)
                        .map_err(|error| wrong(error, &format!("frame {}", frame + 1)))?;
                    let value = (sample - signal.baseline) / signal.gain;
                    if is_averaged {
                        if !sample.is_nan() {
                            (sum, count) = (sum + sample, count + 1.0);
                        }
                    } else if let Some(frame) = frame.checked_sub(signal.skew) {
                        put(number, frame * signal.per_frame + i, value);
                    }
                }
                // No sample at all is 0/0, a missing value.
                if is_averaged && let Some(frame) = frame.checked_sub(signal.skew) {
                    let mean = (sum / count - signal.baseline) / signal.gain;
                    put(number, frame, mean);
                }
            }
        }
        Ok(())
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
                let Some(file) = &first.file else {
                    return Err(Error::content(
                        path,
                        format!("signal `{}`", first.name),
                        "the name of a file beside the header",
                        "`~`, the mark of a layout, which has no samples",
                        "give the header of the whole record",
                    ));
                };
                let file = path.with_file_name(file);
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
fn frames(
    signals: &[Signal],
    (header, path): (&Path, &Path),
    claimed: Option<usize>,
) -> Result<usize> {
    let mut source = Source::open_beside(path, header, "signal lines")?;
    let (coding, offset) = (signals[0].coding, signals[0].offset);
    if let Coding::Flac(most_bits) = coding {
        return frames_of_stream(signals, &mut source, most_bits, claimed);
    }
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

/// A FLAC stream has one channel a signal, all with as many samples a frame.
fn frames_of_stream(
    signals: &[Signal],
    source: &mut Source,
    most_bits: u32,
    claimed: Option<usize>,
) -> Result<usize> {
    let (info, n_samples) = flac::length(source)?;
    let path = source.path();
    let per_frame = signals[0].per_frame;
    if info.n_channels != signals.len() || info.width > most_bits {
        return Err(damaged(
            path,
            "stream",
            format!(
                "{} channels of at most {most_bits} bits, as the header says",
                signals.len()
            ),
            format!("{} channels of {} bits", info.n_channels, info.width),
        ));
    }
    if signals.iter().any(|signal| signal.per_frame != per_frame) {
        let expected = "one number of samples a frame for all signals of a stream";
        return Err(damaged(path, "stream", expected, "several"));
    }
    let held = n_samples.saturating_sub(signals[0].offset) / per_frame as u64;
    match claimed {
        Some(claimed) if claimed as u64 > held => Err(damaged(
            path,
            "stream",
            format!("{claimed} samples of each signal, as the header says"),
            format!("{held} samples"),
        )),
        Some(claimed) => Ok(claimed),
        None => Ok(held as usize),
    }
}
