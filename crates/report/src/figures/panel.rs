//! One panel of a static figure: lines over a common axis, with a title and quiet axes.
//!
//! In: a [`Panel`] and the part of a canvas where it goes. It decides nothing about data; ranges
//! are those of the lines.

use super::canvas::Canvas;
use crate::number::trimmed;
use crate::palette;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

const INK: RGBColor = RGBColor(34, 38, 43);
const QUIET: RGBColor = RGBColor(96, 104, 113);
const GRID: RGBColor = RGBColor(228, 231, 235);

/// Height of the row of colours above the panels.
pub const KEY_HEIGHT: f64 = 30.0;

/// Room for the numbers of the vertical axis.
const LEFT: f64 = 50.0;

/// One line.
pub struct PanelLine {
    /// Points from left to right; NaN is a gap.
    pub points: Vec<(f64, f64)>,
    /// As `#rrggbb`.
    pub color: String,
    /// Pixels of the figure.
    pub width: f64,
}

impl PanelLine {
    /// A line through `points`.
    pub fn new(color: &str, width: f64, points: Vec<(f64, f64)>) -> PanelLine {
        PanelLine {
            points,
            color: color.into(),
            width,
        }
    }
}

/// One panel.
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Title of the horizontal axis; empty for none.
    pub x: &'static str,
    /// Drawn in order.
    pub lines: Vec<PanelLine>,
    /// Whether the horizontal axis has numbers.
    pub x_numbers: bool,
    /// Whether only whole numbers make sense on the vertical axis.
    pub whole: bool,
}

impl Panel {
    /// Draws it into `area`, a part of `canvas`.
    pub fn draw<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        area: &DrawingArea<DB, Shift>,
    ) -> Result<(), String> {
        let text =
            |size: f64, color: RGBColor| ("sans-serif", canvas.px(size)).into_font().color(&color);
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x_range = range(points().map(|point| point.0), 0.0);
        let y_range = range(points().map(|point| point.1), 0.06);
        let title = Text::new(
            self.title.as_str(),
            (canvas.px(LEFT) as i32, canvas.px(4.0) as i32),
            text(14.0, INK),
        );
        area.draw(&title).map_err(text_of)?;
        let mut chart = ChartBuilder::on(area)
            .margin_top(canvas.px(24.0))
            .margin_right(canvas.px(14.0))
            .margin_bottom(canvas.px(4.0))
            .x_label_area_size(canvas.px(if self.x_numbers { 32.0 } else { 4.0 }))
            .y_label_area_size(canvas.px(LEFT))
            .build_cartesian_2d(x_range, y_range)
            .map_err(text_of)?;
        let hairline = |color: RGBColor| color.stroke_width(canvas.px(0.8));
        let rows = area.dim_in_pixel().1 / canvas.px(34.0).max(1);
        chart
            .configure_mesh()
            .x_desc(self.x)
            .axis_desc_style(text(12.0, QUIET))
            .label_style(text(11.5, QUIET))
            .x_labels(6)
            .y_labels((rows as usize).clamp(2, 6))
            .x_label_formatter(&|&value| {
                if self.x_numbers {
                    label(value)
                } else {
                    String::new()
                }
            })
            .y_label_formatter(&|&value| {
                if self.whole && value.fract() != 0.0 {
                    String::new()
                } else {
                    label(value)
                }
            })
            .set_all_tick_mark_size(canvas.px(3.0))
            .light_line_style(TRANSPARENT)
            .bold_line_style(hairline(GRID))
            .axis_style(hairline(GRID))
            .draw()
            .map_err(text_of)?;
        for line in &self.lines {
            let style = color(&line.color).stroke_width(canvas.px(line.width));
            for stretch in line
                .points
                .split(|point| !(point.0.is_finite() && point.1.is_finite()))
            {
                let series = LineSeries::new(stretch.iter().copied(), style);
                chart.draw_series(series).map_err(text_of)?;
            }
        }
        Ok(())
    }
}

/// Draws panels in two columns under a row that tells the colours, and nothing else.
pub fn grid<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    n_sources: usize,
    panels: &[Panel],
) -> Result<(), String> {
    let (top, rest) = canvas.area.split_vertically(canvas.px(KEY_HEIGHT));
    key(canvas, &top, &source_key(n_sources))?;
    let cells = rest.split_evenly((panels.len().div_ceil(2), 2));
    panels
        .iter()
        .zip(&cells)
        .try_for_each(|(panel, cell)| panel.draw(canvas, cell))
}

/// The colours of the sources: each of a few, the ends of many.
pub fn source_key(n_sources: usize) -> Vec<(String, String)> {
    let entry = |k: usize| (format!("source {}", k + 1), palette::source(k, n_sources));
    match n_sources {
        0..=palette::MOST_CATEGORICAL => (0..n_sources).map(entry).collect(),
        _ => [0, n_sources / 2, n_sources - 1].map(entry).into(),
    }
}

/// Draws names beside their colours in one row.
pub fn key<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    area: &DrawingArea<DB, Shift>,
    entries: &[(String, String)],
) -> Result<(), String> {
    let place = Pos::new(HPos::Left, VPos::Center);
    let style = ("sans-serif", canvas.px(13.0))
        .into_font()
        .color(&INK)
        .pos(place);
    let middle = area.dim_in_pixel().1 as i32 / 2 + canvas.px(2.0) as i32;
    let mut left = canvas.px(LEFT) as i32;
    for (name, hex) in entries {
        let line = color(hex).stroke_width(canvas.px(2.5));
        let end = left + canvas.px(18.0) as i32;
        area.draw(&PathElement::new([(left, middle), (end, middle)], line))
            .map_err(text_of)?;
        let start = end + canvas.px(6.0) as i32;
        area.draw(&Text::new(name.as_str(), (start, middle), style.clone()))
            .map_err(text_of)?;
        let width = area.estimate_text_size(name, &style).map_err(text_of)?.0;
        left = start + (width + canvas.px(20.0)) as i32;
    }
    Ok(())
}

/// The range of finite values, widened by a share of itself on both sides; never empty.
fn range(values: impl Iterator<Item = f64>, margin: f64) -> Range<f64> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let width = high - low;
    match width {
        w if w.is_finite() && w > 0.0 => low - margin * w..high + margin * w,
        0.0 => low - 0.5..high + 0.5,
        _ => 0.0..1.0,
    }
}

/// A number on an axis; what is 0 but for rounding reads 0.
fn label(value: f64) -> String {
    match value {
        v if v.abs() < 1e-12 => "0".into(),
        v if v.fract() == 0.0 && v.abs() < 1e9 => format!("{v:.0}").replace('-', "−"),
        v => trimmed(v, 3),
    }
}

fn color(hex: &str) -> RGBColor {
    let channel = |range: Range<usize>| {
        hex.get(range)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            .unwrap_or(0)
    };
    RGBColor(channel(1..3), channel(3..5), channel(5..7))
}

fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_never_empty() {
        assert_eq!(range([1.0, 3.0, f64::NAN].into_iter(), 0.5), 0.0..4.0);
        assert_eq!(range([2.0, 2.0].into_iter(), 0.5), 1.5..2.5);
        assert_eq!(range([f64::NAN].into_iter(), 0.5), 0.0..1.0);
    }

    #[test]
    fn labels_and_colours_are_read_as_written() {
        assert_eq!(label(0.5), "0.5");
        assert_eq!(label(-1500.0), "−1500");
        assert_eq!(label(1e-17), "0");
        assert_eq!(label(10.25), "10.2");
        assert_eq!(color("#0072b2"), RGBColor(0, 0x72, 0xb2));
    }
}
