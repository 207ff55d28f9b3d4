//! Eye blinks: rare pulses to one side, a tenth to half a second long, alike, at no regular times.
//! Where places of electrodes are known they have to be strongest at the forehead.

use crate::course::{band, median, quantile, skewness};
use crate::power::Power;
use crate::pulses::{Pulses, window_maxima};
use crate::{Evidence, Proposal, met, weakest};

/// Blinks without which nothing is said.
const FEWEST: usize = 3;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let slow = evidence.course.slow()?;
    let samples = |seconds: f64| (seconds * slow.rate).round().max(1.0) as usize;
    if slow.rate < 20.0 {
        return None; // a blink would have two samples
    }
    let wave = band(&slow.values, slow.rate, 0.05, 4.0);
    let skew = skewness(&wave);
    let upright: Vec<f64> = wave.iter().map(|v| v * skew.signum()).collect();
    let spread = 1.4826 * median(&upright.iter().map(|v| v.abs()).collect::<Vec<f64>>());
    let high: Vec<f64> = window_maxima(&upright, samples(5.0))
        .into_iter()
        .filter(|&height| height > 3.0 * spread)
        .collect();
    if high.is_empty() {
        return None;
    }
    let least = (0.4 * median(&high)).max(2.5 * spread);
    let pulses = Pulses::find(&upright, &slow.there, samples(0.35), least);
    if pulses.at.len() < FEWEST {
        return None;
    }
    let sides: Vec<(f64, f64)> = pulses.at.iter().map(|&t| width(&upright, t)).collect();
    let width = median(&sides.iter().map(|(a, b)| a + b).collect::<Vec<f64>>()) / slow.rate;
    // Eyes take their time to close; what jumps is something else.
    let rise = median(&sides.iter().map(|(a, b)| a / (a + b)).collect::<Vec<f64>>());
    let (_, likeness) = pulses.shape(&upright, samples(0.3), samples(0.4))?;
    let minutes = slow.values.len() as f64 / slow.rate / 60.0;
    let per_minute = pulses.at.len() as f64 / minutes;
    let power = Power::new(&evidence.course, Some(0.5))?;
    let below = power.share(0.0, 8.0);
    // The lower tail of blinks is that of the background.
    let one_sided = quantile(&upright, 0.995) / -quantile(&upright, 0.005);
    let place = match evidence.head.frontal() {
        Some(frontal) => met(frontal, 0.45, 0.7),
        None if evidence.head.is_of_the_eyes() => 1.0,
        None => 0.8, // any rare pulse of this length may be something else
    };
    let confidence = weakest([
        met(skew.abs(), 0.6, 1.3),
        met(one_sided, 1.3, 2.2),
        met(width, 0.06, 0.1) * met(width, 0.55, 0.42),
        met(rise, 0.1, 0.25) * met(rise, 0.9, 0.75),
        met(likeness, 0.6, 0.85),
        met(per_minute, 1.0, 2.5) * met(per_minute, 75.0, 55.0),
        met(pulses.variation(), 0.1, 0.25),
        met(below, 0.45, 0.7),
        place,
    ]);
    let where_ = match evidence.head.frontal() {
        Some(frontal) => format!(", likeness of its map to the forehead {frontal:.2}"),
        None => String::new(),
    };
    Some(Proposal {
        confidence,
        frequency: None,
        reason: format!(
            "{} pulses to one side ({per_minute:.0} a minute) of {width:.2} s at no regular times, \
             correlation with their mean {likeness:.2}{where_}",
            pulses.at.len()
        ),
    })
}

/// Samples before and after a peak that are above half its height.
fn width(values: &[f64], peak: usize) -> (f64, f64) {
    let half = 0.5 * values[peak];
    let above = |&t: &usize| values[t] > half;
    let after = (peak..values.len()).take_while(above).count();
    let before = (0..peak).rev().take_while(above).count();
    (before as f64, after as f64)
}
