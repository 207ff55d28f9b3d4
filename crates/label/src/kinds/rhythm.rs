//! Rhythm: one frequency, with its multiples, that stands out of the spectrum on both sides. Needs
//! no sampling rate.

use crate::course::{percent, rounded};
use crate::power::Power;
use crate::{Evidence, Proposal, met, unit, weakest};

/// Steps of the spectrum between frequency 0 and a peak.
const FEWEST_STEPS: usize = 6;
/// How far around its frequency a rhythm is counted, in units of it.
const WIDTH: f64 = 0.2;
/// Frequency in Hz above which a rhythm would be a tone, and how narrow that has to be: resonances
/// of a throat or a room are no tones.
const TONE: f64 = 150.0;
const TONE_WIDTH: f64 = 0.02;
/// Share of the highest frequency up to which there is something on both sides of a peak.
const HIGHEST: f64 = 0.75;
/// Multiples that are counted.
const MULTIPLES: usize = 9;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let course = &evidence.course;
    let power = Power::new(course, None)?;
    let step = power.resolution();
    let density = power.density();
    let steps = density.len();
    if steps <= 2 * FEWEST_STEPS {
        return None;
    }
    // The band of relative width that holds most, so that jitter of the frequency does not count.
    let width = |f: f64| {
        if course.rate.is_some() && f > TONE {
            TONE_WIDTH
        } else {
            WIDTH
        }
    };
    let share_around = |f: f64| power.share(f * (1.0 - width(f)), f * (1.0 + width(f)));
    let last = ((steps - 1) as f64 * HIGHEST) as usize;
    let frequencies = (FEWEST_STEPS..=last).map(|i| i as f64 * step);
    let middle = frequencies.max_by(|&a, &b| share_around(a).total_cmp(&share_around(b)))?;
    let (low, high) = (
        middle * (1.0 - width(middle)),
        middle * (1.0 + width(middle)),
    );
    let peak = ((low / step).ceil() as usize..=((high / step) as usize).min(last))
        .max_by(|&a, &b| density[a].total_cmp(&density[b]))?;
    let f = (peak as f64 + between(density, peak)) * step;
    let own = share_around(f);
    let multiples: f64 = (2..=MULTIPLES)
        .map(|n| n as f64 * f)
        .filter(|&g| g * (1.0 + 0.05) < power.highest())
        .map(|g| power.share(g - 0.1 * f, g + 0.1 * f))
        .sum();
    let inside = power.mean(f * (1.0 - width(f)), f * (1.0 + width(f)));
    let below = power.mean(0.4 * f, 0.7 * f);
    let above = power.mean(1.3 * f, (1.6 * f).min(power.highest()));
    let beside = if above.is_nan() {
        below
    } else {
        below.max(above)
    };
    let prominence = inside / beside;
    let unit = unit(course.rate.is_some());
    Some(Proposal {
        confidence: weakest([
            met(own + multiples, 0.3, 0.65),
            met(own, 0.2, 0.4),
            met(prominence, 3.0, 8.0),
        ]),
        frequency: Some(f),
        reason: format!(
            "{} of its power lies around {} {unit} and its multiples, {} times as dense there as \
             beside it",
            percent(own + multiples),
            rounded(f),
            rounded(prominence)
        ),
    })
}

/// How far from step `peak` the top of a parabola through the logarithms of three densities lies,
/// in steps.
fn between(density: &[f64], peak: usize) -> f64 {
    let (Some(&before), Some(&after)) = (density.get(peak.wrapping_sub(1)), density.get(peak + 1))
    else {
        return 0.0;
    };
    let [a, b, c] = [before, density[peak], after].map(|d| d.max(f64::MIN_POSITIVE).ln());
    let place = 0.5 * (a - c) / (a - 2.0 * b + c);
    if place.is_finite() {
        place.clamp(-0.5, 0.5)
    } else {
        0.0
    }
}
