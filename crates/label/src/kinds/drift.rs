//! Drift: nearly all power lies in waves of which the recording holds few, or that take longer than
//! any event.

use crate::course::percent;
use crate::power::Power;
use crate::{Evidence, Proposal, met};
use std::f64::consts::PI;

/// Half waves in the recording up to which one counts as slow.
const HALF_WAVES: usize = 10;
/// Block means that are looked at.
const BLOCKS: usize = 400;
/// Frequency in Hz below which nothing of interest happens.
const SLOW: f64 = 0.05;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let course = &evidence.course;
    let n = course.values.len();
    let (means, _) = course.averaged(n.div_ceil(BLOCKS));
    let few = smooth_share(&means);
    let long = match course.rate {
        Some(_) => Power::new(course, Some(SLOW / 4.0)).map_or(0.0, |power| {
            if power.resolution() <= SLOW / 2.0 {
                power.share(0.0, SLOW)
            } else {
                0.0
            }
        }),
        None => 0.0,
    };
    let (share, words) = if few >= long {
        (
            few,
            "waves of which the recording holds at most five".to_string(),
        )
    } else {
        (long, format!("waves of more than {:.0} s", 1.0 / SLOW))
    };
    Some(Proposal {
        confidence: met(share, 0.65, 0.9),
        frequency: None,
        reason: format!("{} of its variance lies in {words}", percent(share)),
    })
}

/// The share of a variance of 1 in the first cosines over the whole length.
fn smooth_share(means: &[f64]) -> f64 {
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let power = |k: usize| {
        let cosine = |i: usize| (PI * k as f64 * (i as f64 + 0.5) / n).cos();
        let pairs = means.iter().enumerate();
        let product: f64 = pairs.map(|(i, m)| (m - mean) * cosine(i)).sum();
        2.0 * (product / n).powi(2)
    };
    let share: f64 = (1..=HALF_WAVES.min(means.len() - 1)).map(power).sum();
    share.min(1.0) // what bridges gaps adds to it
}
