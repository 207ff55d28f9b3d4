//! What happened at known times of a recording: annotations, triggers, markers.
//!
//! In: events as a format has them, in seconds from the first sample of the file. Out: those of the
//! samples that were read, in seconds from the first of these. Nothing here decides what an event
//! means.

use serde::{Deserialize, Serialize};

/// Something that happened at a known time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it began, in seconds from the first sample; below 0 where it began before that.
    pub onset: f64,
    /// How long it took, in seconds; 0 for a moment.
    pub duration: f64,
    /// What it was.
    pub name: String,
}

/// The events that touch the span of `seconds` from `start` on, told from there, in order of time.
pub(crate) fn within(events: &[Event], start: f64, seconds: f64) -> Vec<Event> {
    let touches = |event: &&Event| {
        event.onset < start + seconds
            && (event.onset >= start || event.onset + event.duration > start)
    };
    let mut found: Vec<Event> = events.iter().filter(touches).cloned().collect();
    for event in &mut found {
        event.onset -= start;
    }
    found.sort_by(|a, b| a.onset.total_cmp(&b.onset));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(onset: f64, duration: f64) -> Event {
        Event {
            onset,
            duration,
            name: format!("{onset}+{duration}"),
        }
    }

    #[test]
    fn a_span_has_the_events_that_touch_it() {
        let all = [
            event(12.0, 0.0),
            event(3.0, 1.0),
            event(9.5, 1.0),
            event(20.0, 0.0),
        ];
        let names: Vec<(f64, String)> = within(&all, 10.0, 10.0)
            .into_iter()
            .map(|event| (event.onset, event.name))
            .collect();
        assert_eq!(names, [(-0.5, "9.5+1".into()), (2.0, "12+0".into())]);
    }
}
