//! Interactive charts as Plotly specifications.
//!
//! In: numbers, names and axis titles. Out: a [`Chart`] whose `spec` is the JSON that
//! `Plotly.newPlot` is given. The colours of text, axes and background are not here: the style
//! sheet sets them, once for light, dark and paper. Names are escaped here, because Plotly reads
//! labels as a kind of HTML.

mod curves;
mod matrix;

pub use curves::{Places, Series, Waveform, lines, rows};
pub use matrix::{Scale, Side, bars, heat_map};

use plotly::common::{ExponentFormat, Font, Title};
use plotly::layout::{Axis, AxisType, Layout, Margin};
use serde::Serialize;
use serde_json::{Value, json};

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
    /// `{"data": …, "layout": …}`, safe inside a script element.
    pub spec: String,
    /// Whether it takes the whole width of the page.
    pub wide: bool,
}

/// How one axis reads.
#[derive(Clone, Default)]
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
            title: title.into(),
            log: true,
            tick: None,
        }
    }

    fn axis(&self) -> Axis {
        let axis = plain_axis().exponent_format(ExponentFormat::SmallE);
        let axis = match self.tick {
            Some(distance) => axis.dtick(distance),
            None => axis,
        };
        let axis = if self.log {
            axis.type_(AxisType::Log)
        } else {
            axis
        };
        match self.title.as_str() {
            "" => axis,
            title => axis.title(Title::with_text(escaped(title))),
        }
    }
}

/// Text that Plotly shows as it is.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn plain_axis() -> Axis {
    Axis::new().zero_line(false).auto_margin(true)
}

fn layout() -> Layout {
    Layout::new()
        .margin(Margin::new().left(56).right(20).top(10).bottom(44))
        .show_legend(false)
        .paper_background_color("rgba(0,0,0,0)")
        .plot_background_color("rgba(0,0,0,0)")
        .font(Font::new().size(12).family("inherit"))
}

fn value(part: &(impl Serialize + ?Sized)) -> Value {
    serde_json::to_value(part).expect("chart parts have string keys only")
}

fn chart(
    title: &str,
    description: &str,
    height: usize,
    data: Vec<Value>,
    mut layout: Value,
) -> Chart {
    // The crate has no setter for the distance of an axis title from its numbers.
    for axis in ["xaxis", "yaxis"] {
        if let Some(title) = layout.pointer_mut(&format!("/{axis}/title")) {
            title["standoff"] = json!(10);
        }
    }
    let spec = json!({ "data": data, "layout": layout }).to_string();
    Chart {
        title: title.into(),
        description: description.into(),
        height,
        // Nothing in a script element may look like markup.
        spec: spec.replace('<', "\\u003c"),
        wide: false,
    }
}
