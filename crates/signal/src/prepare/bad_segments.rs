//! Spans of a recording that are not to be used: their samples become missing.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A span in seconds from the first sample. As plain data the two numbers in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub struct Segment {
    /// When it begins; below 0 where it began before the first sample.
    pub onset: f64,
    /// How long it is.
    pub duration: f64,
}

impl Segment {
    /// Refuses what is no span.
    ///
    /// # Errors
    /// [`Error::Preparation`].
    pub fn check(&self) -> Result<()> {
        if self.onset.is_finite() && self.duration.is_finite() && self.duration >= 0.0 {
            return Ok(());
        }
        Err(Error::preparation(
            "bad_segments",
            "an onset and a duration from 0 on, in seconds",
            format!("{} and {}", self.onset, self.duration),
            "correct it",
        ))
    }
}

impl From<(f64, f64)> for Segment {
    fn from((onset, duration): (f64, f64)) -> Segment {
        Segment { onset, duration }
    }
}

impl From<Segment> for (f64, f64) {
    fn from(segment: Segment) -> (f64, f64) {
        (segment.onset, segment.duration)
    }
}

/// Sets the flags of the samples that are in a segment, and says how many are.
pub fn mark(segments: &[Segment], rate: f64, missing: &mut [bool]) -> usize {
    let mut marked = vec![false; missing.len()];
    // 0.3 s at 10 Hz is sample 3, whatever the last bit of the product says.
    let sample = |seconds: f64| (seconds * rate - 1e-6).ceil().max(0.0) as usize;
    for segment in segments {
        let end = sample(segment.onset + segment.duration).min(missing.len());
        let first = sample(segment.onset).min(end);
        marked[first..end].fill(true);
    }
    for (gone, marked) in missing.iter_mut().zip(&marked) {
        *gone |= marked;
    }
    marked.into_iter().filter(|&marked| marked).count()
}
