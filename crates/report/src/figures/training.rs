//! First figure: training diagnostics.

use super::Figure;
use super::canvas::{Canvas, Drawing, figure as picture};
use super::panel::{KEY_HEIGHT, Panel, PanelLine, grid};
use crate::decimate::thinned;
use crate::{Report, Result, palette};
use plotters::prelude::DrawingBackend;
use strtransformer::train::HistoryRow;

/// Points of one line: more than a printed panel resolves.
const MOST_POINTS: usize = 800;

/// The colour of lines that belong to no source.
const INK: &str = "#22262b";

/// Panels over training steps, two in a row.
pub struct Panels {
    /// K, for the colours above them.
    pub n_sources: usize,
    /// Drawn row by row.
    pub panels: Vec<Panel>,
}

impl Drawing for Panels {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> std::result::Result<(), String> {
        grid(canvas, self.n_sources, &self.panels)
    }
}

impl Panels {
    /// Draws them.
    pub fn figure(self, name: &'static str, caption: String) -> Result<Figure> {
        let rows = self.panels.len().div_ceil(2) as u32;
        picture(name, caption, KEY_HEIGHT as u32 + rows * 210, &self)
    }
}

/// The figure.
pub fn figure(report: &Report<'_>, history: &[&HistoryRow]) -> Result<Figure> {
    let n_sources = report.n_sources();
    let each = |k: usize| palette::source(k, n_sources);
    let mut panels = vec![
        over_steps(
            "Objective (dark: smoothed)",
            vec![
                PanelLine::new(
                    palette::NEUTRAL,
                    1.0,
                    points(history, |row| row.terms.total),
                ),
                PanelLine::new(INK, 1.6, points(history, |row| row.smoothed_objective)),
            ],
        ),
        over_steps(
            "Structural loss of each branch",
            (0..n_sources)
                .map(|k| {
                    PanelLine::new(
                        &each(k),
                        1.2,
                        points(history, |row| row.branch_structure[k]),
                    )
                })
                .collect(),
        ),
    ];
    if report.scores.is_empty() {
        let term = |points| vec![PanelLine::new(INK, 1.2, points)];
        let reconstruction = points(history, |row| row.terms.reconstruction);
        let separation = points(history, |row| row.terms.separation);
        panels.push(over_steps("Reconstruction term", term(reconstruction)));
        panels.push(over_steps("Separation term", term(separation)));
    } else {
        let scores: Vec<_> = thinned(report.scores.len(), MOST_POINTS)
            .into_iter()
            .map(|i| &report.scores[i])
            .collect();
        let mean = scores
            .iter()
            .map(|score| (score.step as f64, score.mac))
            .collect();
        let branch = |k: usize| {
            scores
                .iter()
                .map(|score| (score.step as f64, score.per_source[k]))
                .collect()
        };
        panels.push(over_steps(
            "Mean absolute correlation (MAC)",
            vec![PanelLine::new(INK, 1.6, mean)],
        ));
        panels.push(over_steps(
            "Absolute correlation of each branch",
            (0..n_sources)
                .map(|k| PanelLine::new(&each(k), 1.2, branch(k)))
                .collect(),
        ));
    }
    Panels { n_sources, panels }.figure(
        "training",
        "Training diagnostics of the ordered multi-scale StrTransformer.".into(),
    )
}

/// One value of the rows, thinned to what a panel resolves.
pub fn points(history: &[&HistoryRow], value: impl Fn(&HistoryRow) -> f64) -> Vec<(f64, f64)> {
    thinned(history.len(), MOST_POINTS)
        .into_iter()
        .map(|i| (history[i].step as f64, value(history[i])))
        .collect()
}

/// A panel of lines over steps.
pub fn over_steps(title: &str, lines: Vec<PanelLine>) -> Panel {
    Panel {
        title: title.into(),
        x: "step",
        lines,
        x_numbers: true,
        whole: false,
    }
}
