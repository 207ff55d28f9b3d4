//! The table of events behind the records of a GDF file.
//!
//! In: the bytes behind the last record. Out: events, named by the number of their type, as MNE has
//! them. What the numbers stand for differs from laboratory to laboratory; BioSig's list of codes
//! is not applied.

use crate::error::Result;
use crate::read::Event;
use crate::read::source::{Source, damaged};

/// Stands for a sample of a sparse channel, not for an event.
const SPARSE_SAMPLE: u16 = 0x7fff;

/// Reads the table that begins at byte `at`; `rate` is that of the recording, for tables without
/// their own.
pub(super) fn read(
    source: &mut Source,
    at: u64,
    version: f64,
    rate: Option<f64>,
) -> Result<Vec<Event>> {
    // A file may end without a table.
    if source.length() < at + 8 {
        return Ok(Vec::new());
    }
    let head = source.bytes(at, 8, "table of events")?;
    let three = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], 0]);
    let four = [head[4], head[5], head[6], head[7]];
    let (n_events, own_rate) = if version < 1.94 {
        (u32::from_le_bytes(four), f64::from(three(1)))
    } else {
        (three(1), f64::from(f32::from_le_bytes(four)))
    };
    // The second bit stands for channels and durations, the third for times of day.
    let (has_durations, has_times) = match head[0] {
        mode @ (1 | 3 | 5 | 7) => (mode & 2 != 0, mode & 4 != 0),
        mode => {
            let expected = "a table of mode 1, 3, 5 or 7";
            return Err(damaged(
                source.path(),
                "table of events",
                expected,
                mode.to_string(),
            ));
        }
    };
    if n_events == 0 {
        return Ok(Vec::new());
    }
    let rate = match (own_rate > 0.0 && own_rate.is_finite(), rate) {
        (true, _) => own_rate,
        (false, Some(rate)) => rate,
        (false, None) => return Ok(Vec::new()),
    };
    let n = n_events as usize;
    let width = 6 + if has_durations { 6 } else { 0 } + if has_times { 8 } else { 0 };
    let what = format!("table of {n_events} events");
    let bytes = source.bytes(at + 8, width * u64::from(n_events), &what)?;
    let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
    let events = (0..n).filter_map(|event| {
        let code = u16_at(4 * n + 2 * event);
        let samples = match has_durations {
            true => u32_at(8 * n + 4 * event),
            false => 0,
        };
        (code != SPARSE_SAMPLE).then(|| Event {
            onset: (f64::from(u32_at(4 * event)) - 1.0) / rate,
            duration: f64::from(samples) / rate,
            name: code.to_string(),
        })
    });
    Ok(events.collect())
}
