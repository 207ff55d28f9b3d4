//! What is drawn on the card of a source.
//!
//! In: a source, one at a time, so that long recordings are not held twice. Out: the numbers that
//! `templates/cards.js` draws: a stretch of the source sample by sample, its spectrum, and its
//! weight in every channel, with the places of electrodes where most are known. No words.

use crate::number::ChartNumber;
use crate::samples::{Levels, base64};
use crate::{Report, stretch};
use serde_json::{Value, json};
use strt_signal::montage;
use strt_signal::spectrum::{Spectrum, welch};

/// Share of the power of a source below the highest frequency of its spectrum that is shown.
const POWER_SHOWN: f64 = 0.99;
/// Electrodes with known places from which a map of the head can be drawn.
const FEWEST_PLACES: usize = 8;

/// Of one source.
pub struct Picture {
    /// First sample of the stretch.
    pub start: usize,
    /// `None` where no stretch without gaps is long enough.
    pub spectrum: Option<Spectrum>,
    levels: Levels,
    /// The stretch: 16-bit levels, low byte first, in base64.
    samples: String,
}

impl Picture {
    /// Of source k and its most typical stretch of `length` samples.
    pub fn of(report: &Report<'_>, k: usize, length: usize, rate: Option<f64>) -> Picture {
        let source = &report.source(k);
        let start = stretch::typical(source, length);
        let samples = &source[start..start + length];
        let levels = Levels::covering(samples.iter().copied().filter(|value| value.is_finite()));
        let bytes: Vec<u8> = levels
            .all(samples.iter().copied())
            .into_iter()
            .flat_map(i16::to_le_bytes)
            .collect();
        Picture {
            start,
            spectrum: welch(&report.source_apart(k), rate.unwrap_or(1.0)),
            levels,
            samples: base64(&bytes),
        }
    }
}

/// What the scripts need to draw all cards.
pub fn data(report: &Report<'_>, pictures: &[Picture], length: usize) -> Value {
    let weights = &report.mixture().weights;
    let card = |(k, picture): (usize, &Picture)| {
        let column: Vec<f64> = weights.col(k).iter().copied().collect();
        json!({
            "start": picture.start, "levels": picture.levels, "samples": picture.samples,
            "spectrum": picture.spectrum.as_ref().map(decibels),
            "weights": ChartNumber::all(&column, 4),
        })
    };
    let names = report.recording.channel_names();
    let places = montage::places(names, &report.summary().input.positions);
    let known = places.iter().flatten().count();
    let spectra = || {
        pictures
            .iter()
            .filter_map(|picture| picture.spectrum.as_ref())
    };
    json!({
        "cards": pictures.iter().enumerate().map(card).collect::<Vec<_>>(),
        "resolution": spectra().map(|spectrum| spectrum.resolution).next(),
        "length": length,
        "highest": spectra().map(highest_frequency).reduce(f64::max),
        "channels": names,
        "places": (known >= FEWEST_PLACES && 2 * known > places.len()).then_some(places),
    })
}

/// The density in decibels, from the first frequency above 0.
fn decibels(spectrum: &Spectrum) -> Vec<ChartNumber> {
    let decibels = |&density: &f64| 10.0 * density.max(f64::MIN_POSITIVE).log10();
    let values: Vec<f64> = spectrum.density[1..].iter().map(decibels).collect();
    ChartNumber::all(&values, 3)
}

/// The frequency below which a source has most of its power, with some room behind it.
fn highest_frequency(spectrum: &Spectrum) -> f64 {
    let total: f64 = spectrum.density.iter().sum();
    let mut below = 0.0;
    let last = spectrum.density.iter().position(|density| {
        below += density;
        below >= POWER_SHOWN * total
    });
    let all = spectrum.density.len() - 1;
    let shown = (last.unwrap_or(all) * 5 / 4 + 2).min(all);
    shown as f64 * spectrum.resolution
}
