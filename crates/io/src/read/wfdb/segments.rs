//! Records of several segments: which of them lie where in time, and which of their signals are
//! which channels.
//!
//! In a fixed layout all segments have the same signals in the same order. In a variable one a
//! first segment of no length names all signals, and every other has some of them, found by name.

use super::header::{Described, Header, Segment, Segments, Signal};
use super::record::Record;
use super::{Part, WfdbReader, contents, describe, per_frame};
use crate::error::{Error, Result};
use crate::read::ReadOptions;
use crate::read::source::{Source, damaged};
use std::path::Path;

/// A record may be missing at most so many times what it holds.
const MOST_GAPS: u64 = 64;

/// Opens every segment, so that each is known to hold what is claimed of it.
pub(super) fn open(path: &Path, segments: Segments, options: &ReadOptions) -> Result<WfdbReader> {
    let layout = layout(path, &segments.list)?;
    let listed = &segments.list[usize::from(layout.is_some())..];
    let (mut parts, mut start, mut n_held) = (Vec::new(), 0usize, 0u64);
    for segment in listed {
        if segment.name.is_some() {
            let record = record(path, segment)?;
            n_held += record.n_frames as u64;
            parts.push((start, record));
        }
        start = start
            .checked_add(segment.n_frames)
            .ok_or_else(|| damaged(path, "segment lines", "lengths of a recording", "larger"))?;
    }
    let Some((_, first)) = parts.first() else {
        return Err(Error::content(
            path,
            "segment lines",
            "at least one segment with samples",
            "gaps only",
            "check that this is the record that was meant",
        ));
    };
    if start as u64 > n_held.saturating_mul(MOST_GAPS) {
        return Err(Error::content(
            path,
            "segment lines",
            format!("gaps of at most {MOST_GAPS} times what is recorded"),
            format!("{start} samples, of which {n_held} are recorded"),
            "read the segments one by one",
        ));
    }
    let by_name = layout.is_some();
    let signals = match &layout {
        Some(header) => &header.signals,
        None => &first.header.signals,
    };
    let per_frame = per_frame(path, signals, options);
    let mut contents = contents(signals, segments.rate, start, &per_frame);
    let n_gaps = listed
        .iter()
        .filter(|segment| segment.name.is_none())
        .count();
    contents.detected(format!(
        "{} segments, joined as their times say; {} gaps between them are missing",
        parts.len(),
        n_gaps
    ));
    if let Some(claimed) = segments.n_frames.filter(|&claimed| claimed != start) {
        contents.warn(format!(
            "the header claims {claimed} samples; its segments have {start}"
        ));
    }
    let mut mapped = Vec::new();
    for (start, record) in &parts {
        mapped.push((
            *start,
            channels(path, signals, &record.header.signals, by_name)?,
        ));
    }
    let parts = parts.into_iter().zip(mapped);
    Ok(WfdbReader {
        parts: parts
            .map(|((start, record), (_, channels))| Part {
                start,
                record,
                channels,
            })
            .collect(),
        contents,
        per_frame,
    })
}

/// The header of a first segment that has no length.
fn layout(path: &Path, list: &[Segment]) -> Result<Option<Header>> {
    match list.first() {
        Some(Segment {
            name: Some(name),
            n_frames: 0,
        }) => header(path, name).map(Some),
        _ => Ok(None),
    }
}

/// The header of a segment, which must not have segments itself.
fn header(path: &Path, name: &str) -> Result<Header> {
    let own = path.with_file_name(format!("{name}.hea"));
    match describe(&mut Source::open_beside(&own, path, "segment lines")?)? {
        Described::Signals(header) => Ok(header),
        Described::Segments(_) => Err(damaged(
            &own,
            "line 1",
            "a segment with signals",
            "a record of segments inside another",
        )),
    }
}

fn record(path: &Path, segment: &Segment) -> Result<Record> {
    let name = segment.name.as_deref().unwrap_or_default();
    let own = path.with_file_name(format!("{name}.hea"));
    let record = Record::open(&own, header(path, name)?)?;
    if record.n_frames != segment.n_frames {
        return Err(damaged(
            path,
            format!("segment `{name}`"),
            format!("{} samples, as its own header says", record.n_frames),
            segment.n_frames.to_string(),
        ));
    }
    Ok(record)
}

/// Which channel each signal of a segment is.
fn channels(path: &Path, all: &[Signal], own: &[Signal], by_name: bool) -> Result<Vec<usize>> {
    let mut is_taken = vec![false; all.len()];
    let mut channels = Vec::new();
    for (position, signal) in own.iter().enumerate() {
        let found = if by_name {
            (0..all.len()).find(|&channel| !is_taken[channel] && all[channel].name == signal.name)
        } else {
            Some(position).filter(|&position| position < all.len() && own.len() == all.len())
        };
        let Some(channel) = found else {
            return Err(damaged(
                path,
                format!("signal `{}` of a segment", signal.name),
                "one of the signals of the record",
                "another",
            ));
        };
        let expected = &all[channel];
        if expected.per_frame != signal.per_frame || expected.unit != signal.unit {
            let told = |signal: &Signal| {
                format!("{} samples a frame, in {}", signal.per_frame, signal.unit)
            };
            return Err(Error::content(
                path,
                format!("signal `{}` of a segment", signal.name),
                told(expected),
                told(signal),
                "read the segments one by one",
            ));
        }
        is_taken[channel] = true;
        channels.push(channel);
    }
    Ok(channels)
}
