//! Heart: events that come 35 to 220 times a minute, nearly but not perfectly regularly, all alike.
//!
//! Looked for twice: as the QRS complex of an electrocardiogram, short and far above what lies
//! between, and as a pulse wave, whose rise is steeper than its fall.

use crate::course::{Slow, band, median, moving_mean, percent, skewness};
use crate::power::Power;
use crate::pulses::{Pulses, window_maxima};
use crate::{Evidence, Proposal, met, weakest};

/// Seconds between beats.
const SHORTEST: f64 = 60.0 / 220.0;
const LONGEST: f64 = 60.0 / 35.0;
/// Beats without which nothing is said.
const FEWEST: usize = 6;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let slow = evidence.course.slow()?;
    if slow.rate < 50.0 {
        return None; // a QRS complex of 0.1 s would have five samples
    }
    // Nothing of a heart is faster; most of what is faster is no heart.
    let power = Power::new(&evidence.course, Some(1.0))?;
    let audible = met(power.share(60.0, power.highest()), 0.7, 0.4);
    let found = [complexes(slow), waves(slow)];
    let beats = found
        .into_iter()
        .flatten()
        .max_by(|a, b| a.confidence.total_cmp(&b.confidence))?;
    let frequency = slow.rate / median(&beats.pulses.intervals);
    Some(Proposal {
        confidence: beats.confidence.min(audible),
        frequency: Some(frequency),
        reason: format!(
            "{} {:.0} times a minute, {} of the intervals regular, correlation of the beats with \
             their mean {:.2}",
            beats.verb,
            60.0 * frequency,
            percent(beats.pulses.regularity()),
            beats.likeness
        ),
    })
}

struct Beats {
    verb: &'static str,
    pulses: Pulses,
    likeness: f64,
    confidence: f64,
}

/// Beats as short complexes of high energy.
fn complexes(slow: &Slow) -> Option<Beats> {
    let samples = |seconds: f64| (seconds * slow.rate).round().max(1.0) as usize;
    let steep = band(&slow.values, slow.rate, 0.02, 0.2);
    let squares: Vec<f64> = steep.iter().map(|v| v * v).collect();
    let energy = moving_mean(&squares, samples(0.08));
    // Two seconds hold at least one beat.
    let typical = median(&window_maxima(&energy, samples(2.0)));
    let pulses = Pulses::find(&energy, &slow.there, samples(0.8 * SHORTEST), 0.3 * typical);
    let sign = if skewness(&steep) < 0.0 { -1.0 } else { 1.0 };
    let upright: Vec<f64> = steep.iter().map(|v| sign * v).collect();
    let pulses = pulses.aligned(&upright, &slow.there, samples(0.06));
    let (_, likeness) = pulses.shape(&upright, samples(0.1), samples(0.12))?;
    let above = typical / median(&energy);
    let criteria = [
        rate_fits(&pulses, slow)?,
        met(pulses.regularity(), 0.65, 0.95),
        met(likeness, 0.6, 0.85),
        met(above, 4.0, 10.0),
        coverage(&pulses, slow),
    ];
    Some(Beats {
        verb: "beats",
        confidence: weakest(criteria),
        pulses,
        likeness,
    })
}

/// Beats as a wave that fills the time between them.
fn waves(slow: &Slow) -> Option<Beats> {
    let samples = |seconds: f64| (seconds * slow.rate).round().max(1.0) as usize;
    let wave = band(&slow.values, slow.rate, 0.06, 2.0);
    // A sixtieth of a second is near enough for the period.
    let step = (slow.rate / 60.0).max(1.0) as usize;
    let thinned: Vec<f64> = wave.iter().copied().step_by(step).collect();
    let (lag, again) = period(&thinned, samples(SHORTEST) / step, samples(LONGEST) / step)?;
    let lag = lag * step;
    let sign = if skewness(&wave) < 0.0 { -1.0 } else { 1.0 };
    let upright: Vec<f64> = wave.iter().map(|v| sign * v).collect();
    let typical = median(&window_maxima(&upright, samples(2.0)));
    let pulses = Pulses::find(&upright, &slow.there, lag * 6 / 10, 0.3 * typical);
    let reach = lag * 45 / 100;
    let (shape, likeness) = pulses.shape(&upright, reach, reach)?;
    let slopes: Vec<f64> = shape.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let criteria = [
        rate_fits(&pulses, slow)?,
        met(again, 0.25, 0.5),
        met(pulses.regularity(), 0.7, 0.95),
        met(likeness, 0.75, 0.92),
        met(skewness(&slopes).abs(), 0.35, 0.7),
        coverage(&pulses, slow),
    ];
    Some(Beats {
        verb: "pulses",
        confidence: weakest(criteria),
        pulses,
        likeness,
    })
}

/// Whether the beats come as often as a heart beats, and not as exactly as a clock; `None` of too
/// few.
fn rate_fits(pulses: &Pulses, slow: &Slow) -> Option<f64> {
    if pulses.intervals.len() + 1 < FEWEST {
        return None;
    }
    let typical = median(&pulses.intervals) / slow.rate;
    let within = (SHORTEST..=LONGEST).contains(&typical);
    // Intervals of a clock differ by 0.41 samples (1/√6), since both their ends are rounded.
    let spread = pulses.variation() * median(&pulses.intervals);
    let exact = spread < 0.5;
    Some(if within && !exact { 1.0 } else { 0.0 })
}

/// Whether there are as many beats as fit into the recording.
fn coverage(pulses: &Pulses, slow: &Slow) -> f64 {
    let present = slow.there.iter().filter(|&&there| there).count() as f64;
    met(
        pulses.at.len() as f64 * median(&pulses.intervals) / present,
        0.6,
        0.85,
    )
}

/// The lag within limits at which a series is most like itself, and how much; `None` of a series
/// that is too short.
pub(super) fn period(values: &[f64], shortest: usize, longest: usize) -> Option<(usize, f64)> {
    if longest <= shortest || values.len() < 3 * longest {
        return None;
    }
    let n = values.len();
    let power = values.iter().map(|v| v * v).sum::<f64>() / n as f64;
    let product = |lag: usize| {
        let pairs = values.iter().zip(&values[lag..]);
        pairs.map(|(a, b)| a * b).sum::<f64>() / (n - lag) as f64 / power
    };
    let likeness: Vec<f64> = (shortest..=longest + 1).map(product).collect();
    // A multiple of the period is as good as the period itself: the first high peak counts.
    let peaks: Vec<usize> = (1..likeness.len() - 1)
        .filter(|&i| likeness[i] >= likeness[i - 1] && likeness[i] > likeness[i + 1])
        .collect();
    let best = peaks
        .iter()
        .map(|&i| likeness[i])
        .fold(f64::NEG_INFINITY, f64::max);
    let first = peaks.into_iter().find(|&i| likeness[i] >= 0.85 * best)?;
    Some((shortest + first, likeness[first]))
}
