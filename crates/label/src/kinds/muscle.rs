//! Muscle: noise above 20 Hz that comes and goes. What is steady may be anything.
//!
//! Speech comes and goes as well; what is sampled as fast as sound must have no pitch and end below
//! the frequencies that electrodes on the skin pick up.

use crate::course::{Course, median, percent};
use crate::power::Power;
use crate::{Evidence, Proposal, met, weakest};

/// Below it there is more than muscle, in Hz.
const LOWEST: f64 = 20.0;
/// Above it there is next to no muscle on the skin.
const HIGHEST: f64 = 500.0;
/// Seconds whose power is compared with that of others.
const WINDOW: f64 = 0.5;
/// Samples a second from which on a source may be sound.
const SOUND: f64 = 2000.0;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let course = &evidence.course;
    let rate = course.rate?;
    let power = Power::new(course, Some(1.0))?;
    let top = power.highest();
    if top < 2.0 * LOWEST {
        return None;
    }
    let above = power.share(LOWEST, HIGHEST.min(top));
    let noisy = power.flatness(LOWEST, HIGHEST.min(top), 16);
    let rhythmic = super::rhythm::propose(evidence).map_or(0.0, |rhythm| rhythm.confidence);
    let changes = modulation(course, rate, above)?;
    let mut confidence = weakest([
        met(above, 0.4, 0.7),
        met(noisy, 0.1, 0.25),
        1.0 - rhythmic,
        met(changes, 0.25, 0.6),
    ]);
    let reason = format!(
        "{} of its power is between {LOWEST} and {:.0} Hz, without a peak, and comes and goes \
         (by a factor of {:.1})",
        percent(above),
        HIGHEST.min(top),
        changes.exp()
    );
    if rate >= SOUND {
        confidence = weakest([
            confidence,
            met(power.share(HIGHEST, top), 0.15, 0.05),
            met(pitch(course, rate), 0.6, 0.4),
        ]);
    }
    Some(Proposal {
        confidence,
        frequency: None,
        reason,
    })
}

/// Standard deviation of the logarithm of the power of short windows, beyond what chance does to
/// steady noise; `None` of too few windows.
fn modulation(course: &Course, rate: f64, bandwidth: f64) -> Option<f64> {
    let length = (WINDOW * rate).round() as usize;
    let windows = course
        .values
        .chunks_exact(length)
        .zip(course.there.chunks_exact(length));
    let logarithms: Vec<f64> = windows
        .filter(|(_, there)| there.iter().all(|&there| there))
        .map(|(values, _)| {
            // Differences leave the slow part out.
            let squares = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
            (squares.sum::<f64>() / length as f64).max(1e-12).ln()
        })
        .collect();
    if logarithms.len() < 8 {
        return None;
    }
    let n = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / n;
    let variance = logarithms.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / n;
    let by_chance = 2.0 / (length as f64 * bandwidth.max(0.1) * 0.7);
    Some((variance - by_chance).max(0.0).sqrt())
}

/// The median, over the louder half of frames of 40 ms, of the highest autocorrelation at lags of
/// 2.5 to 12.5 ms, where voices have their pitch.
fn pitch(course: &Course, rate: f64) -> f64 {
    let samples = |seconds: f64| (seconds * rate).round() as usize;
    let (length, shortest, longest) = (samples(0.04), samples(0.0025), samples(0.0125));
    let frames: Vec<&[f64]> = course.values.chunks_exact(length).collect();
    let power = |frame: &&[f64]| frame.iter().map(|v| v * v).sum::<f64>();
    let loud = median(&frames.iter().map(power).collect::<Vec<f64>>());
    let highest = |frame: &&[f64]| {
        let lags = shortest..=longest;
        lags.map(|lag| crate::course::correlation(&frame[..length - lag], &frame[lag..]))
            .fold(0.0, f64::max)
    };
    // A few hundred frames say as much as all.
    let step = (frames.len() / 400).max(1);
    let pitches: Vec<f64> = frames
        .iter()
        .step_by(step)
        .filter(|frame| power(frame) > loud)
        .map(highest)
        .collect();
    if pitches.is_empty() {
        1.0
    } else {
        median(&pitches)
    }
}
