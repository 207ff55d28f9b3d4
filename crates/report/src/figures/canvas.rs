//! One drawing, two pictures: SVG and PNG.
//!
//! A [`Drawing`] draws on a canvas that is `scale` times as large as the figure will appear.
//! Plotters knows whole pixels only: the SVG is drawn ten times too large and shown at its size, so
//! that lines are exact; the PNG is drawn twice too large and every four pixels are averaged, so
//! that edges are smooth.

use super::Figure;
use crate::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::sync::Once;

/// Width of every figure in CSS pixels: a full text column.
pub const WIDTH: u32 = 720;
const SVG_SCALE: u32 = 10;
const PNG_SCALE: u32 = 2;
const OVERSAMPLING: u32 = 2;

/// The canvas that a drawing is given.
pub struct Canvas<DB: DrawingBackend> {
    /// Where to draw.
    pub area: DrawingArea<DB, Shift>,
    /// Canvas pixels for one pixel of the figure.
    pub scale: u32,
}

impl<DB: DrawingBackend> Canvas<DB> {
    /// A length in pixels of the figure.
    pub fn px(&self, length: f64) -> u32 {
        (length * self.scale as f64).round() as u32
    }
}

/// Something that can be drawn on any canvas.
pub trait Drawing {
    /// Draws it.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> std::result::Result<(), String>;
}

/// Draws a figure of this height (in CSS pixels) in both forms.
pub fn figure(
    name: &'static str,
    caption: String,
    height: u32,
    drawing: &impl Drawing,
) -> Result<Figure> {
    static FONT: Once = Once::new();
    FONT.call_once(|| {
        // The font is part of the program and known to be valid; without it labels would fail with
        // their own error.
        let _ =
            plotters::style::register_font("sans-serif", FontStyle::Normal, ttf_noto_sans::REGULAR);
    });
    let failed = |reason: String| Error::Figure {
        figure: name,
        reason,
    };
    Ok(Figure {
        svg: svg(&caption, height, drawing).map_err(failed)?,
        png: png(height, drawing).map_err(failed)?,
        name,
        caption,
    })
}

fn svg(caption: &str, height: u32, drawing: &impl Drawing) -> std::result::Result<String, String> {
    let (width, tall) = (WIDTH * SVG_SCALE, height * SVG_SCALE);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width, tall)).into_drawing_area();
        draw(area, SVG_SCALE, drawing)?;
    }
    let large = format!("width=\"{width}\" height=\"{tall}\"");
    let shown =
        format!("width=\"{WIDTH}\" height=\"{height}\" role=\"img\" stroke-linejoin=\"round\"");
    let text = askama::filters::escape(caption, askama::filters::Html)
        .map_err(|error| error.to_string())?;
    let svg = svg.replacen(&large, &shown, 1);
    Ok(svg.replacen(">\n", &format!(">\n<title>{text}</title>\n"), 1))
}

fn png(height: u32, drawing: &impl Drawing) -> std::result::Result<Vec<u8>, String> {
    let scale = PNG_SCALE * OVERSAMPLING;
    let (width, tall) = (WIDTH * scale, height * scale);
    let mut large = vec![0; 3 * (width * tall) as usize];
    draw(
        BitMapBackend::with_buffer(&mut large, (width, tall)).into_drawing_area(),
        scale,
        drawing,
    )?;
    let pixels = averaged(&large, width as usize);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH * PNG_SCALE, height * PNG_SCALE);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer
        .write_image_data(&pixels)
        .map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn draw<DB: DrawingBackend>(
    area: DrawingArea<DB, Shift>,
    scale: u32,
    drawing: &impl Drawing,
) -> std::result::Result<(), String> {
    area.fill(&WHITE).map_err(|error| error.to_string())?;
    let canvas = Canvas { area, scale };
    drawing.draw(&canvas)?;
    canvas.area.present().map_err(|error| error.to_string())
}

/// RGB pixels of half the width and height: means of squares of four.
fn averaged(large: &[u8], width: usize) -> Vec<u8> {
    let side = OVERSAMPLING as usize;
    let rows = large.len() / (3 * width * side);
    let mut small = Vec::with_capacity(large.len() / (side * side));
    for row in 0..rows {
        for column in 0..width / side {
            for channel in 0..3 {
                let mut sum = 0;
                for y in row * side..(row + 1) * side {
                    for x in column * side..(column + 1) * side {
                        sum += large[3 * (y * width + x) + channel] as usize;
                    }
                }
                small.push((sum / (side * side)) as u8);
            }
        }
    }
    small
}
