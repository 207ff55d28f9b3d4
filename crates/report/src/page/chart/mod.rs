//! Interactive charts as specifications.
//!
//! In: numbers, names and axis titles. Out: a [`Chart`] whose `spec` is the JSON that
//! `templates/charts.js` draws. The colours of text, axes and background are not here: the style
//! sheet sets them, once for light, dark and paper. Names are text, never markup: the scripts write
//! them on a canvas or as text of an element.

mod curves;
mod matrix;

pub use curves::{Places, Series, Waveform, lines, rows};
pub use matrix::{Scale, Side, bars, heat_map};

use serde::Serialize;
use serde_json::Value;

/// Digits of values other than waveforms and maps: the end of a slow descent must stay visible.
const VALUE_DIGITS: i32 = 6;

/// One chart of the page.
pub struct Chart {
    /// Shown above it.
    pub title: String,
    /// What it shows, for those who cannot see it.
    pub description: String,
    /// Pixels.
    pub height: usize,
    /// What to draw, safe inside a script element.
    pub spec: String,
    /// Whether it takes the whole width of the page.
    pub wide: bool,
}

/// How one axis reads.
#[derive(Clone, Default, Serialize)]
pub struct AxisStyle {
    /// Title, with unit.
    pub title: String,
    /// Logarithmic.
    pub log: bool,
    /// Distance of the ticks, where it is not left to the chart.
    pub tick: Option<f64>,
}

impl AxisStyle {
    /// A linear axis.
    pub fn linear(title: &str) -> AxisStyle {
        AxisStyle {
            title: title.into(),
            ..AxisStyle::default()
        }
    }

    /// A linear axis of whole numbers up to `most`.
    pub fn whole(title: &str, most: usize) -> AxisStyle {
        AxisStyle {
            tick: Some(most.div_ceil(10).max(1) as f64),
            ..AxisStyle::linear(title)
        }
    }

    /// A logarithmic axis.
    pub fn log(title: &str) -> AxisStyle {
        AxisStyle {
            log: true,
            ..AxisStyle::linear(title)
        }
    }
}

fn chart(title: &str, description: &str, height: usize, spec: &Value) -> Chart {
    Chart {
        title: title.into(),
        description: description.into(),
        height,
        spec: script_safe(spec),
        wide: false,
    }
}

/// JSON that can stand in a script element: nothing in it looks like markup.
pub fn script_safe(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}
