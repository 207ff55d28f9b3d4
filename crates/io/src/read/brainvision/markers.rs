//! The markers of a BrainVision recording (`.vmrk`) as events.
//!
//! `Mk3=Stimulus,S  1,1502,1,0`: type, description, sample from 1, samples it takes, channel. The
//! name of an event is `Stimulus/S  1`, as MNE writes it. A marker of one sample is a moment. The
//! first «New Segment» only holds the time of day and is left out; further ones are breaks.

use super::sections::{Sections, numbered};
use crate::error::{Error, Result};
use crate::read::Event;
use std::path::Path;

const NEW_SEGMENT: &str = "New Segment";

/// The events, and how many times the recording was interrupted.
pub(super) fn parse(path: &Path, bytes: &[u8], rate: f64) -> Result<(Vec<Event>, usize)> {
    let sections = Sections::parse(bytes);
    let (mut events, mut n_segments) = (Vec::new(), 0);
    for entry in sections.entries("Marker Infos") {
        let Some((_, fields)) = numbered(entry, "mk") else {
            continue;
        };
        let field = |at: usize| fields.get(at).map_or("", String::as_str);
        let (kind, description) = (field(0), field(1));
        let sample: f64 = match field(2).parse::<i64>() {
            Ok(sample) => sample as f64 - 1.0,
            Err(_) => {
                return Err(Error::content(
                    path,
                    format!("line {}, position of the marker", entry.line),
                    "a whole number",
                    format!("`{}`", field(2)),
                    "repair or remove the line",
                ));
            }
        };
        // Programs that know no size leave it empty.
        let size = field(3).parse::<u64>().unwrap_or(0);
        if kind == NEW_SEGMENT {
            n_segments += 1;
            if n_segments == 1 {
                continue;
            }
        }
        events.push(Event {
            onset: sample / rate,
            duration: if size > 1 { size as f64 / rate } else { 0.0 },
            name: match (kind, description) {
                (kind, "") => kind.to_string(),
                ("", description) => description.to_string(),
                (kind, description) => format!("{kind}/{description}"),
            },
        });
    }
    Ok((events, n_segments.max(1) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_events() {
        let text = b"Brain Vision Data Exchange Marker File, Version 1.0\n[Marker Infos]\n\
            ; a comment\nMk1=New Segment,,1,1,0,20131113161403794232\n\
            Mk2=Stimulus,S  1,11,1,0\nMk3=New Segment,,21,1,0\nMk4=Bad\\1 bad,,31,20,0\n";
        let (events, n_breaks) = parse(Path::new("a.vmrk"), text, 10.0).unwrap();
        let found: Vec<(f64, f64, &str)> = events
            .iter()
            .map(|event| (event.onset, event.duration, event.name.as_str()))
            .collect();
        let expected = [
            (1.0, 0.0, "Stimulus/S  1"),
            (2.0, 0.0, "New Segment"),
            (3.0, 2.0, "Bad, bad"),
        ];
        assert_eq!((&found[..], n_breaks), (&expected[..], 1));
        let error = parse(Path::new("a.vmrk"), b"[Marker Infos]\nMk1=a,b,c,1,0\n", 1.0);
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains("line 2, position of the marker"),
            "{message}"
        );
    }
}
