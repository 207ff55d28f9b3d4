//! Charts of curves: several over one axis, or waveforms in rows under each other.

use super::{AxisStyle, Chart, VALUE_DIGITS, chart, escaped, layout, plain_axis, value};
use crate::decimate::Drawn;
use crate::number::ChartNumber;
use plotly::Scatter;
use plotly::common::{Anchor, Font, Line, Mode};
use plotly::layout::{Annotation, HoverMode, Margin};

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
    // A label for every line is readable for a few lines only; of many, the closest is named.
    let hover = if series.len() <= 8 {
        HoverMode::XUnified
    } else {
        HoverMode::Closest
    };
    let data = series.into_iter().map(|line| {
        let trace = Scatter::<ChartNumber, ChartNumber>::default()
            .y(ChartNumber::all(&line.y, VALUE_DIGITS))
            .name(escaped(&line.name))
            .mode(Mode::Lines)
            .line(Line::new().color(line.color).width(line.width));
        let trace = match line.x {
            Places::At(x) => trace.x(ChartNumber::all(&x, VALUE_DIGITS)),
            Places::Even { first, step } => trace.x0(first).dx(step),
        };
        value(trace.as_ref())
    });
    let layout = layout()
        .hover_mode(hover)
        .x_axis(x.axis().auto_margin(false))
        .y_axis(y.axis());
    chart(title, description, 260, data.collect(), value(&layout))
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
    const TOP: usize = 24;
    const BOTTOM: usize = 44;
    let n_rows = rows.len().max(1);
    let row_height = if n_rows <= 8 { 110 } else { 78 };
    let height = n_rows * row_height + TOP + BOTTOM;
    let period = seconds.unwrap_or(1.0);
    let (mut data, mut annotations, mut axes) = (Vec::new(), Vec::new(), Vec::new());
    for (row, (name, waveforms)) in rows.into_iter().enumerate() {
        let top = 1.0 - row as f64 / n_rows as f64;
        let bottom = 1.0 - (row as f64 + 0.78) / n_rows as f64;
        for waveform in waveforms {
            let trace = Scatter::<f64, ChartNumber>::default()
                .x0(0.0)
                .dx(waveform.drawn.step * period)
                .y(ChartNumber::all(&waveform.drawn.values, WAVEFORM_DIGITS))
                .name(escaped(&waveform.name))
                .mode(Mode::Lines)
                .line(Line::new().color(waveform.color).width(waveform.width))
                .y_axis(numbered("y", row));
            data.push(value(trace.as_ref()));
        }
        annotations.push(
            Annotation::new()
                .text(escaped(&name))
                .font(Font::new().size(12))
                .show_arrow(false)
                .x_ref("paper")
                .x(0.0)
                .x_anchor(Anchor::Left)
                .y_ref("paper")
                .y(top)
                .y_anchor(Anchor::Middle),
        );
        // The margin is the same for all rows; fitting it to dozens of them takes Plotly too long.
        let axis = plain_axis()
            .auto_margin(false)
            .domain(&[bottom.max(0.0), top - 0.1 / n_rows as f64])
            .n_ticks(if n_rows <= 8 { 4 } else { 2 });
        axes.push((numbered("yaxis", row), value(&axis)));
    }
    let x_title = if seconds.is_some() {
        "time (s)"
    } else {
        "time (samples)"
    };
    // All rows share this axis; it is drawn under the last of them.
    let x_axis = AxisStyle::linear(x_title)
        .axis()
        .anchor(numbered("y", n_rows - 1));
    let margin = Margin::new().left(52).right(12).top(TOP).bottom(BOTTOM);
    let layout = layout()
        .margin(margin)
        .hover_mode(HoverMode::X)
        .annotations(annotations)
        .x_axis(x_axis);
    let mut layout = value(&layout);
    axes.into_iter()
        .for_each(|(name, axis)| layout[name] = axis);
    Chart {
        wide: true,
        ..chart(title, description, height, data, layout)
    }
}

/// `y`, `y2`, `y3`, …
fn numbered(axis: &str, index: usize) -> String {
    match index {
        0 => axis.into(),
        _ => format!("{axis}{}", index + 1),
    }
}
