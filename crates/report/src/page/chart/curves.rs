//! Charts of curves: several over one axis, or waveforms in rows under each other.

use super::{AxisStyle, Chart, VALUE_DIGITS, chart};
use crate::decimate::Drawn;
use crate::number::ChartNumber;
use serde_json::{Value, json};

/// Digits of a waveform: finer than a pixel.
const WAVEFORM_DIGITS: i32 = 4;

/// Where the points of a line are.
pub enum Places {
    /// At these places.
    At(Vec<f64>),
    /// Evenly spaced, which takes no room on the page.
    Even {
        /// The first.
        first: f64,
        /// From one to the next.
        step: f64,
    },
}

/// One line of a chart.
pub struct Series {
    /// Name, shown under the pointer.
    pub name: String,
    /// Horizontal positions.
    pub x: Places,
    /// Values; NaN is a gap.
    pub y: Vec<f64>,
    /// Colour.
    pub color: String,
    /// Pixels.
    pub width: f64,
}

/// Lines over a common horizontal axis.
pub fn lines(
    title: &str,
    description: &str,
    series: Vec<Series>,
    x: AxisStyle,
    y: AxisStyle,
) -> Chart {
    let series: Vec<Value> = series
        .into_iter()
        .map(|line| {
            let x = match line.x {
                Places::At(x) => json!(ChartNumber::all(&x, VALUE_DIGITS)),
                Places::Even { first, step } => json!({ "first": first, "step": step }),
            };
            json!({
                "name": line.name, "x": x, "y": ChartNumber::all(&line.y, VALUE_DIGITS),
                "color": line.color, "width": line.width,
            })
        })
        .collect();
    let spec = json!({ "kind": "lines", "series": series, "x": x, "y": y });
    chart(title, description, 260, &spec)
}

/// A waveform of [`rows`].
pub struct Waveform {
    /// Name.
    pub name: String,
    /// Points.
    pub drawn: Drawn,
    /// Colour.
    pub color: String,
    /// Pixels.
    pub width: f64,
}

/// Waveforms in rows under each other over a common time axis: zooming one zooms all.
pub fn rows(
    title: &str,
    description: &str,
    rows: Vec<(String, Vec<Waveform>)>,
    seconds: Option<f64>,
) -> Chart {
    let row_height = if rows.len() <= 8 { 110 } else { 78 };
    let height = rows.len().max(1) * row_height + 48;
    let period = seconds.unwrap_or(1.0);
    let rows: Vec<Value> = rows
        .into_iter()
        .map(|(name, waveforms)| {
            let lines: Vec<Value> = waveforms
                .into_iter()
                .map(|waveform| {
                    let y = ChartNumber::all(&waveform.drawn.values, WAVEFORM_DIGITS);
                    let x = json!({ "first": 0.0, "step": waveform.drawn.step * period });
                    json!({
                        "name": waveform.name, "x": x, "y": y,
                        "color": waveform.color, "width": waveform.width,
                    })
                })
                .collect();
            json!({ "name": name, "series": lines })
        })
        .collect();
    let x = AxisStyle::linear(match seconds {
        Some(_) => "time (s)",
        None => "time (samples)",
    });
    let spec = json!({ "kind": "rows", "rows": rows, "x": x });
    Chart {
        wide: true,
        ..chart(title, description, height, &spec)
    }
}
