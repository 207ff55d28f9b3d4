//! Line noise: power at 50 or 60 Hz and its multiples, and next to nowhere else.

use crate::course::percent;
use crate::power::Power;
use crate::{Evidence, Proposal, met, weakest};

/// Distance from a multiple within which power counts, in Hz: mains wander by some tenths.
const WIDTH: f64 = 0.8;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    evidence.course.rate?;
    let power = Power::new(&evidence.course, Some(0.25))?;
    if power.resolution() > 1.0 {
        return None; // too short to tell 50 from 52 Hz
    }
    let at = |line: f64| {
        let multiples = 1..=(power.highest() / line) as usize;
        let near = |n: usize, width: f64| {
            let f = line * n as f64;
            power.share(f - width, (f + width).min(power.highest()))
        };
        let share: f64 = multiples.clone().map(|n| near(n, WIDTH)).sum();
        // A broad resonance has as much beside the line as on it.
        let around: f64 = multiples.map(|n| near(n, 3.0 * WIDTH)).sum();
        (line, share, share / around)
    };
    let (line, share, narrow) = [50.0, 60.0]
        .into_iter()
        .filter(|line| line + WIDTH < power.highest())
        .map(at)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Proposal {
        confidence: weakest([met(share, 0.3, 0.7), met(narrow, 0.6, 0.85)]),
        frequency: Some(line),
        reason: format!(
            "{} of its power lies within {WIDTH} Hz of {line} Hz and its multiples",
            percent(share)
        ),
    })
}
