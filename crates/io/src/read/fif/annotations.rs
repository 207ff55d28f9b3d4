//! Annotations of a FIF file as events.
//!
//! MNE writes onsets and ends in seconds from the beginning of the measurement, which the first
//! sample of a file need not be, and descriptions in one text with colons between them.

use super::tags::Tag;
use crate::error::Result;
use crate::read::Event;
use crate::read::source::{Source, damaged};

mod kind {
    pub const DATE: i32 = 204;
    pub const DESCRIPTIONS: i32 = 206;
    pub const ONSETS: i32 = 3568;
    pub const ENDS: i32 = 3569;
}

/// What the block of annotations says.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    onsets: Vec<f64>,
    ends: Vec<f64>,
    descriptions: Vec<String>,
    /// What the onsets count from, in seconds since 1970.
    origin: Option<f64>,
}

/// Seconds since 1970: one number, or seconds and millionths.
pub(super) fn date(numbers: &[f64]) -> Option<f64> {
    match numbers {
        [seconds] => Some(*seconds),
        [seconds, micros, ..] => Some(seconds + micros / 1e6),
        [] => None,
    }
    .filter(|seconds| seconds.is_finite())
}

impl Annotations {
    pub fn take(&mut self, source: &mut Source, tag: &Tag) -> Result<()> {
        match tag.kind {
            kind::ONSETS => self.onsets = source.numbers(tag)?,
            kind::ENDS => self.ends = source.numbers(tag)?,
            kind::DATE => self.origin = date(&source.numbers(tag)?),
            kind::DESCRIPTIONS => {
                let text = source.text(tag)?;
                let names = text.split(':').map(|name| name.replace("{COLON}", ":"));
                self.descriptions = names.collect();
            }
            _ => {}
        }
        Ok(())
    }

    /// Events in seconds from the first sample of a file, which is `first` seconds after the
    /// beginning of the measurement of that date.
    pub fn events(&self, source: &Source, first: f64, measured: Option<f64>) -> Result<Vec<Event>> {
        if self.onsets.is_empty() {
            return Ok(Vec::new());
        }
        let counts = [self.onsets.len(), self.ends.len(), self.descriptions.len()];
        if counts.iter().any(|&count| count != counts[0]) {
            return Err(damaged(
                source.path(),
                "annotations",
                "as many onsets as ends and descriptions",
                format!("{}, {} and {}", counts[0], counts[1], counts[2]),
            ));
        }
        let shift = match (self.origin, measured) {
            (Some(origin), Some(measured)) => origin - measured - first,
            // Onsets without an origin in a file with a date count from its first sample.
            (None, Some(_)) => 0.0,
            _ => -first,
        };
        let times = self.onsets.iter().zip(&self.ends).zip(&self.descriptions);
        Ok(times
            .filter(|((onset, end), _)| onset.is_finite() && end.is_finite())
            .map(|((onset, end), name)| Event {
                onset: onset + shift,
                duration: (end - onset).max(0.0),
                name: name.clone(),
            })
            .collect())
    }
}
