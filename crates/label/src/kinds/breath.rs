//! Breath: slow cycles, 6 to 36 a minute, of similar length, with little else.

use crate::course::{band, median, percent};
use crate::power::Power;
use crate::pulses::Pulses;
use crate::{Evidence, Proposal, met, weakest};

/// Cycles a second.
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 0.6;
/// Cycles without which nothing is said.
const FEWEST: usize = 4;
/// Seconds over which the rate of breathing changes little.
const STRETCH: f64 = 32.0;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let course = &evidence.course;
    let slow = course.slow()?;
    let seconds = slow.values.len() as f64 / slow.rate;
    if slow.rate < 2.0 || seconds < FEWEST as f64 / FASTEST {
        return None;
    }
    // Periods of up to 10 s are kept, what is slower than two of them is not. Ten samples a second
    // are enough for what is left.
    let wave = band(&slow.values, slow.rate, 0.5, 20.0);
    let step = (slow.rate / 10.0).max(1.0) as usize;
    let wave: Vec<f64> = wave.into_iter().step_by(step).collect();
    let there: Vec<bool> = slow.there.iter().copied().step_by(step).collect();
    let rate = slow.rate / step as f64;
    let samples = |seconds: f64| (seconds * rate).round().max(1.0) as usize;
    let longest = samples((1.0 / SLOWEST).min(seconds / 3.2));
    let shortest = samples(1.0 / FASTEST);
    let (lag, again) = period_by_stretches(&wave, samples(STRETCH), shortest, longest)?;
    let frequency = rate / lag;
    let pulses = Pulses::find(&wave, &there, lag as usize / 2, 0.0);
    if pulses.intervals.len() + 1 < FEWEST {
        return None;
    }
    let typical = median(&pulses.intervals);
    let similar = |interval: &&f64| (**interval - typical).abs() <= 0.35 * typical;
    let regular =
        pulses.intervals.iter().filter(similar).count() as f64 / pulses.intervals.len() as f64;
    let power = Power::new(course, Some(0.25 * frequency))?;
    let own = power.share(0.6 * frequency, 1.5 * frequency);
    let with_harmonics = own + power.share(1.5 * frequency, 3.5 * frequency);
    let fast = power.share(1.5f64.max(4.0 * frequency), power.highest());
    // A single breath looks like the next one; a wandering baseline does not.
    let confidence = weakest([
        met(again, 0.25, 0.5),
        met(regular, 0.6, 0.85),
        met(own, 0.35, 0.6),
        met(with_harmonics, 0.55, 0.8),
        met(fast, 0.35, 0.15),
        if (0.6..1.7).contains(&(typical / lag)) {
            1.0
        } else {
            0.0
        },
    ]);
    Some(Proposal {
        confidence,
        frequency: Some(frequency),
        reason: format!(
            "cycles {:.0} times a minute, {} of them of similar length, with {} of its power \
             around that frequency",
            60.0 * frequency,
            percent(regular),
            percent(own)
        ),
    })
}

/// Median period and median likeness at it, over half-overlapping stretches: the rate of breathing
/// wanders, so that breaths of a whole recording do not fall on one another.
fn period_by_stretches(
    wave: &[f64],
    stretch: usize,
    shortest: usize,
    longest: usize,
) -> Option<(f64, f64)> {
    let stretch = stretch.min(wave.len());
    let starts = (0..=wave.len() - stretch).step_by((stretch / 2).max(1));
    let of_stretch = |start: usize| {
        let part = &wave[start..start + stretch];
        super::heart::period(part, shortest, longest.min(stretch * 10 / 31))
    };
    let (lags, again): (Vec<f64>, Vec<f64>) = starts
        .filter_map(of_stretch)
        .map(|(lag, again)| (lag as f64, again))
        .unzip();
    (!lags.is_empty()).then(|| (median(&lags), median(&again)))
}
