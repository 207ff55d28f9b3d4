//! What an EEGLAB data set knows beside its numbers: events, and where the electrodes are.
//!
//! In: the fields `EEG.event` and `EEG.chanlocs`. Out: events in seconds and positions in metres.
//! An element that lacks what it needs is left out: EEGLAB itself leaves fields empty. Coordinates
//! have no unit there; a radius above 3 is taken as millimetres, a smaller one as a share of 85 mm,
//! the radius of EEGLAB's own head.

use super::super::events::Event;
use super::super::matlab::{Numeric, Value};

/// Metres from the centre of EEGLAB's head to its skin.
const RADIUS: f64 = 0.085;
/// The largest coordinate that is a share of the radius, not millimetres.
const LARGEST_SHARE: f64 = 3.0;

fn elements(value: Option<&Value>) -> &[Vec<(String, Value)>] {
    match value {
        Some(Value::Struct(elements)) => elements,
        _ => &[],
    }
}

fn number(element: &[(String, Value)], name: &str) -> Option<f64> {
    let (_, value) = element.iter().find(|(own, _)| own == name)?;
    match value {
        Value::Numeric(Numeric {
            scalar: Some(value),
            ..
        }) if value.is_finite() => Some(*value),
        _ => None,
    }
}

/// Events: `latency` counts samples from 1, `type` is a text or a number.
pub(super) fn events(value: Option<&Value>, rate: f64) -> Vec<Event> {
    if !(rate.is_finite() && rate > 0.0) {
        return Vec::new();
    }
    let event = |element: &Vec<(String, Value)>| {
        let latency = number(element, "latency")?;
        let name = match element.iter().find(|(own, _)| own == "type")? {
            (_, Value::Text(text)) => text.trim().to_string(),
            _ => number(element, "type")?.to_string(),
        };
        Some(Event {
            onset: (latency - 1.0) / rate,
            duration: number(element, "duration").map_or(0.0, |samples| samples.max(0.0) / rate),
            name,
        })
    };
    elements(value).iter().filter_map(event).collect()
}

/// Positions, one a channel: from `X` (to the nose), `Y` (to the left) and `Z`, or from the polar
/// `theta` (degrees from the nose to the right) and `radius` (0.5 at the ears).
pub(super) fn positions(value: Option<&Value>) -> Vec<Option<[f64; 3]>> {
    let cartesian = |element: &Vec<(String, Value)>| {
        let (x, y, z) = (
            number(element, "X")?,
            number(element, "Y")?,
            number(element, "Z")?,
        );
        (x != 0.0 || y != 0.0 || z != 0.0).then_some([-y, x, z])
    };
    let polar = |element: &Vec<(String, Value)>| {
        let azimuth = number(element, "theta")?.to_radians();
        let angle = number(element, "radius")? * std::f64::consts::PI;
        Some([
            angle.sin() * azimuth.sin(),
            angle.sin() * azimuth.cos(),
            angle.cos(),
        ])
    };
    let mut positions: Vec<Option<[f64; 3]>> = elements(value).iter().map(cartesian).collect();
    if positions.iter().all(Option::is_none) {
        positions = elements(value).iter().map(polar).collect();
    }
    let largest = positions
        .iter()
        .flatten()
        .flatten()
        .fold(0.0f64, |a, x| a.max(x.abs()));
    let metres = if largest > LARGEST_SHARE {
        1e-3
    } else {
        RADIUS
    };
    for position in positions.iter_mut().flatten() {
        position
            .iter_mut()
            .for_each(|coordinate| *coordinate *= metres);
    }
    positions
}
