//! The paper's three figures as static pictures, for papers and slides.
//!
//! In: a checked [`Report`]. Out: [`Figure`]s, each as SVG and as PNG, on white. Text in PNG is set
//! in a font that is part of the program, so that the picture does not depend on what is installed.
//! They hold what the paper's figures hold; the page has more. Plotters sets bars such as those of
//! |x| apart from what they enclose, so labels do without.

mod canvas;
mod panel;
mod sources;
mod structure;
mod training;

use crate::{Report, Result};

/// A static figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// `training`, `structure` or `sources`: a name for a file.
    pub name: &'static str,
    /// What it shows.
    pub caption: String,
    /// Scalable, with text as text.
    pub svg: String,
    /// Pixels, twice the size of the SVG.
    pub png: Vec<u8>,
}

/// Draws all figures for which there is something to draw.
pub fn draw(report: &Report<'_>) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let history = &report.history;
    if !history.is_empty() {
        figures.push(training::figure(report, history)?);
        figures.push(structure::figure(report, history)?);
    }
    figures.push(sources::figure(report)?);
    Ok(figures)
}
