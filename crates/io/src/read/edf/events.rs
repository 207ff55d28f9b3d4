//! Events of an EDF+ or BDF+ file: its annotations, and the triggers of BioSemi's status channel.
//!
//! In: the records. Out: events in seconds from the first sample. Annotations are read as
//! <https://www.edfplus.info/specs/edfplus.html> has them; the first one of every record says when
//! the record begins and is no event. A trigger is a change of the lower 16 bits of the status
//! channel to another value than 0; which bits of it mean what depends on the device, so that its
//! number is its name. What is not as the format has it is left out, with a warning.

use super::{EdfReader, header};
use crate::error::Result;
use crate::read::events::Event;

/// Ends a list of texts; follows a text.
const TEXT_END: u8 = 0x14;
/// Stands before a duration.
const DURATION: u8 = 0x15;
/// Events that are kept: more are no annotations but noise of a trigger line.
const MOST_EVENTS: usize = 100_000;
/// The bits of the status channel that carry triggers.
const TRIGGER_BITS: u32 = 0xFFFF;

/// What was found in a file.
#[derive(Default)]
pub(super) struct Found {
    pub events: Vec<Event>,
    /// Records with something that is no annotation.
    pub damaged: usize,
    /// Whether there were more than are kept.
    pub cut: bool,
}

/// The annotations of all records.
pub(super) fn annotations(reader: &mut EdfReader) -> Result<Found> {
    let mut found = Found::default();
    let places = places(reader, |signal| signal.is_annotations());
    let data_at = header::size(reader.header.signals.len());
    // Times count from the start of the file, which may be up to a second before the first sample.
    let mut start = None;
    for record in 0..reader.n_records {
        for &(before, size) in &places {
            let place = format!("annotations of record {}", record + 1);
            let at = data_at + record * reader.record + before;
            let bytes = reader.source.bytes(at, size, &place)?;
            let lists = bytes
                .split(|&byte| byte == 0)
                .filter(|list| !list.is_empty());
            for list in lists {
                let Some((onset, duration, texts)) = parse(list) else {
                    found.damaged += 1;
                    continue;
                };
                let first = *start.get_or_insert(onset);
                found.events.extend(texts.into_iter().map(|name| Event {
                    onset: onset - first,
                    duration,
                    name,
                }));
                if found.events.len() > MOST_EVENTS {
                    found.events.truncate(MOST_EVENTS);
                    found.cut = true;
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// The triggers of the status channel, where there is one.
pub(super) fn triggers(reader: &mut EdfReader) -> Result<Found> {
    let mut found = Found::default();
    let Some(&(before, size)) = places(reader, |signal| signal.label == "Status").first() else {
        return Ok(found);
    };
    let per_record = size / 3;
    if reader.header.duration <= 0.0 || per_record == 0 {
        return Ok(found);
    }
    let data_at = header::size(reader.header.signals.len());
    let mut last = None;
    for record in 0..reader.n_records {
        let place = format!("status of record {}", record + 1);
        let at = data_at + record * reader.record + before;
        let bytes = reader.source.bytes(at, size, &place)?;
        for (i, sample) in bytes.chunks_exact(3).enumerate() {
            let value = u32::from_le_bytes([sample[0], sample[1], sample[2], 0]) & TRIGGER_BITS;
            // The state in which the recording begins is no event.
            if value != 0 && last.is_some_and(|last| last != value) {
                if found.events.len() == MOST_EVENTS {
                    found.cut = true;
                    return Ok(found);
                }
                let of_record = match &reader.onsets {
                    Some(onsets) => onsets[record as usize],
                    None => record as f64 * reader.header.duration,
                };
                found.events.push(Event {
                    onset: of_record + reader.header.duration * i as f64 / per_record as f64,
                    duration: 0.0,
                    name: value.to_string(),
                });
            }
            last = Some(value);
        }
    }
    Ok(found)
}

/// Where in a record the bytes of some signals are.
fn places(reader: &EdfReader, wanted: impl Fn(&header::Signal) -> bool) -> Vec<(u64, u64)> {
    let (mut before, mut places) = (0, Vec::new());
    for signal in &reader.header.signals {
        let size = (signal.per_record * reader.number.size()) as u64;
        if wanted(signal) {
            places.push((before, size));
        }
        before += size;
    }
    places
}

/// `+1.5␕0.5␔text␔text␔`: seconds, how long, and texts that are not empty; `None` for anything
/// else.
fn parse(list: &[u8]) -> Option<(f64, f64, Vec<String>)> {
    let end = list.iter().position(|&byte| byte == TEXT_END)?;
    let (time, texts) = (&list[..end], &list[end..]);
    let mut parts = time.split(|&byte| byte == DURATION);
    let onset = parts.next()?;
    if !onset.first().is_some_and(|sign| b"+-".contains(sign)) || texts.last() != Some(&TEXT_END) {
        return None;
    }
    let seconds = |bytes: &[u8]| {
        let value: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
    };
    let onset = seconds(onset)?;
    let duration = match parts.next() {
        Some([]) | None => 0.0,
        Some(duration) => seconds(duration).filter(|duration| *duration >= 0.0)?,
    };
    let texts = texts.split(|&byte| byte == TEXT_END);
    let texts = texts.map(|text| String::from_utf8_lossy(text).trim().to_string());
    Some((
        onset,
        duration,
        texts.filter(|text| !text.is_empty()).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_annotations() {
        let check = |list: &str, expected: Option<(f64, f64, &[&str])>| {
            let list = list.replace('␔', "\u{14}").replace('␕', "\u{15}");
            let expected = expected.map(|(onset, duration, texts)| {
                let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
                (onset, duration, texts)
            });
            assert_eq!(parse(list.as_bytes()), expected, "{list:?}");
        };
        check("+0␔␔", Some((0.0, 0.0, &[])));
        check(
            "+1.5␕0.25␔Lights off␔Eyes zu: ä␔",
            Some((1.5, 0.25, &["Lights off", "Eyes zu: ä"])),
        );
        check("-0.065␔Pre␔", Some((-0.065, 0.0, &["Pre"])));
        for damaged in [
            "",
            "1.5␔no sign␔",
            "+x␔a␔",
            "+1␔no end",
            "+1␕-2␔a␔",
            "+inf␔a␔",
            "+1",
        ] {
            check(damaged, None);
        }
    }
}
