//! Second figure: ordered structural parameters.

use super::Figure;
use super::panel::{Panel, PanelLine};
use super::training::{Panels, over_steps, points};
use crate::{Report, Result, palette};
use strtransformer::train::HistoryRow;

/// The figure.
pub fn figure(report: &Report<'_>, history: &[&HistoryRow]) -> Result<Figure> {
    type Parameter = fn(&HistoryRow) -> &Vec<f64>;
    let n_sources = report.n_sources();
    let color = |k: usize| palette::source(k, n_sources);
    let panel = |title: &str, values: Parameter| {
        let lines = (0..n_sources)
            .map(|k| PanelLine::new(&color(k), 1.4, points(history, |row| values(row)[k])));
        over_steps(title, lines.collect())
    };
    let mut panels = vec![
        panel("Expected patch size (samples)", |row| &row.expected_patch),
        panel("Log-scale center c", |row| &row.centers),
        panel("Locality slope α", |row| &row.slopes),
    ];
    if report.scores.is_empty() {
        panels.push(Panel {
            x: "patch size (samples)",
            ..over_steps("Scale weights π at the end", final_weights(report))
        });
    } else {
        let matched = |k: usize| {
            let place = |j: usize| (j + 1) as f64;
            let scores = report.scores.iter();
            scores.map(move |score| (score.step as f64, score.matched[k].map_or(f64::NAN, place)))
        };
        let lines = (0..n_sources).map(|k| PanelLine::new(&color(k), 1.4, matched(k).collect()));
        panels.push(Panel {
            whole: true,
            ..over_steps("Matched reference source", lines.collect())
        });
    }
    Panels { n_sources, panels }
        .figure("structure", "Learned ordered structural parameters.".into())
}

/// π of each source over the patch sizes.
fn final_weights(report: &Report<'_>) -> Vec<PanelLine> {
    let patch_sizes = &report.separation.config().branches.patch_sizes;
    let weights = &report.separation.controller().scale_weights;
    let of_source = |(k, row): (usize, &[f64])| {
        let points = patch_sizes
            .iter()
            .zip(row)
            .map(|(&size, &weight)| (size as f64, weight));
        PanelLine::new(
            &palette::source(k, report.n_sources()),
            1.4,
            points.collect(),
        )
    };
    weights
        .chunks(patch_sizes.len())
        .enumerate()
        .map(of_source)
        .collect()
}
