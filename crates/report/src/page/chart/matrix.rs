//! Charts of matrices and of one value for each name: heat maps and bars.

use super::{AxisStyle, Chart, VALUE_DIGITS, chart, escaped, layout, plain_axis, value};
use crate::number::ChartNumber;
use plotly::common::{
    ColorBar, ColorScale, ColorScaleElement, ColorScalePalette, Marker, ThicknessMode, Title,
};
use plotly::layout::{AxisType, HoverMode};
use plotly::{Bar, HeatMap};
use serde_json::json;

/// Digits of a cell: more than colours can show.
const CELL_DIGITS: i32 = 4;

/// Most negative to most positive: ColorBrewer's red and blue, which all kinds of colour vision can
/// tell apart.
const DIVERGING: [(f64, &str); 5] = [
    (0.0, "#2166ac"),
    (0.25, "#92c5de"),
    (0.5, "#f7f7f7"),
    (0.75, "#f4a582"),
    (1.0, "#b2182b"),
];

/// The colours of a heat map.
pub enum Scale {
    /// From little to much.
    Sequential {
        /// The ends, or those of the data.
        range: Option<(f64, f64)>,
    },
    /// Symmetric about 0.
    Diverging,
}

/// The names along one side of a heat map.
pub struct Side<'a> {
    /// What they are.
    pub title: &'a str,
    /// One for each row or column.
    pub names: &'a [String],
}

/// A matrix as colours, rows from top to bottom. Crowded names are thinned out; the pointer tells
/// each.
pub fn heat_map(
    title: &str,
    description: &str,
    y: Side<'_>,
    x: Side<'_>,
    z: Vec<Vec<f64>>,
    scale: Scale,
) -> Chart {
    let height = (y.names.len() * 26).clamp(180, 640) + 64;
    let bar = ColorBar::new()
        .thickness(12)
        .thickness_mode(ThicknessMode::Pixels)
        .outline_width(0);
    let largest = z
        .iter()
        .flatten()
        .filter(|v| v.is_finite())
        .fold(0.0, |most: f64, v| most.max(v.abs()));
    let z: Vec<Vec<ChartNumber>> = z
        .iter()
        .map(|row| ChartNumber::all(row, CELL_DIGITS))
        .collect();
    let labels = |names: &[String]| {
        unique(names)
            .iter()
            .map(|name| escaped(name))
            .collect::<Vec<_>>()
    };
    let template = format!(
        "{} %{{y}}<br>{} %{{x}}<br><b>%{{z}}</b><extra></extra>",
        y.title, x.title
    );
    let trace = HeatMap::new(labels(x.names), labels(y.names), z)
        .color_bar(bar)
        .hover_template(template);
    let trace = match scale {
        Scale::Sequential { range } => {
            let trace = trace.color_scale(ColorScale::Palette(ColorScalePalette::Cividis));
            match range {
                Some((low, high)) => trace.zmin(low).zmax(high),
                None => trace,
            }
        }
        Scale::Diverging => trace
            .color_scale(ColorScale::Vector(
                DIVERGING
                    .map(|(place, color)| ColorScaleElement(place, color.into()))
                    .into(),
            ))
            .zmin(-largest)
            .zmax(largest),
    };
    let side = |title: &str| {
        plain_axis()
            .type_(AxisType::Category)
            .show_grid(false)
            .title(Title::with_text(escaped(title)))
    };
    let layout = layout()
        .hover_mode(HoverMode::Closest)
        .x_axis(side(x.title).n_ticks(20).tick_angle(0.0))
        .y_axis(side(y.title).auto_range(true));
    let mut layout = value(&layout);
    layout["yaxis"]["autorange"] = json!("reversed");
    chart(
        title,
        description,
        height,
        vec![value(trace.as_ref())],
        layout,
    )
}

/// One bar for each name.
pub fn bars(
    title: &str,
    description: &str,
    names: &[String],
    heights: &[f64],
    x: &str,
    y: AxisStyle,
) -> Chart {
    let labels = unique(names).iter().map(|name| escaped(name)).collect();
    let trace = Bar::new(labels, ChartNumber::all(heights, VALUE_DIGITS))
        .name(escaped(&y.title))
        .marker(Marker::new().color("#0072b2"));
    let layout = layout()
        .hover_mode(HoverMode::X)
        .x_axis(AxisStyle::linear(x).axis().type_(AxisType::Category))
        .y_axis(y.axis());
    chart(
        title,
        description,
        300,
        vec![value(trace.as_ref())],
        value(&layout),
    )
}

/// Names short enough for an axis and different from each other, as an axis of categories needs.
fn unique(names: &[String]) -> Vec<String> {
    const LONGEST: usize = 22;
    let short = |(index, name): (usize, &String)| match name.chars().count() {
        0..=LONGEST => name.clone(),
        _ => format!(
            "{}… ({})",
            name.chars().take(LONGEST - 6).collect::<String>(),
            index + 1
        ),
    };
    names.iter().enumerate().map(short).collect()
}
