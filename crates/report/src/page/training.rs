//! Training diagnostics: what the objective and its terms did over the steps (first figure of the
//! paper).

use super::chart::{AxisStyle, Chart, Places, Series, lines};
use super::view::{Part, Section};
use super::{key, most_steps, source_name, summary};
use crate::decimate::thinned;
use crate::{Report, palette};
use strt_runs::results::scores::ScoredStep;
use strtransformer::train::{HistoryRow, Terms};

/// The terms of J: name, value, what it measures.
type Term = (&'static str, fn(&Terms) -> f64, &'static str);

const TERMS: [Term; 6] = [
    (
        "Reconstruction",
        |terms| terms.reconstruction,
        "misfit of the channels",
    ),
    (
        "Structure",
        |terms| terms.structure,
        "how badly hidden patches are predicted",
    ),
    (
        "Separation",
        |terms| terms.separation,
        "dependence between sources",
    ),
    (
        "Smoothness",
        |terms| terms.smoothness,
        "roughness of the sources",
    ),
    (
        "Scale entropy",
        |terms| terms.entropy,
        "indecision between scales",
    ),
    (
        "Scale gap",
        |terms| terms.gap,
        "branches too close in scale",
    ),
];

/// The section.
pub fn section(report: &Report<'_>) -> Section {
    let history = &report.history;
    let mut parts = vec![Part::Numbers(summary::numbers(report))];
    if history.is_empty() {
        parts.push(Part::Text(
            "No history of the steps was kept, so there is nothing to draw here.".into(),
        ));
    } else {
        let kept = thinned(history.len(), most_steps(report.n_sources()));
        let rows: Vec<&HistoryRow> = kept.into_iter().map(|i| history[i]).collect();
        parts.push(Part::Text(
            "A run looks healthy when the objective falls quickly and then levels off, and when \
             the loss of every branch falls with it. Losses of branches flicker because other \
             patches are hidden in every step."
                .into(),
        ));
        parts.push(key(report.n_sources()));
        parts.push(Part::Charts(charts(report, &rows)));
        parts.push(Part::Caption(caption(report, history.len(), rows.len())));
    }
    Section {
        id: "training",
        title: "Training diagnostics",
        folded: true,
        parts,
    }
}

fn charts(report: &Report<'_>, rows: &[&HistoryRow]) -> Vec<Chart> {
    let mut charts = vec![objective(rows), branch_losses(rows, report.n_sources())];
    if !report.scores.is_empty() {
        charts.push(correlations(&report.scores, report.n_sources()));
    }
    for (name, term, meaning) in TERMS {
        // A term with weight 0 is not computed and reads 0 throughout.
        if rows.iter().any(|row| term(&row.terms) != 0.0) {
            let series = line(name, rows, palette::source(0, 1), |row| term(&row.terms));
            let title = format!("{name}: {meaning}");
            let all_positive = rows.iter().all(|row| term(&row.terms) > 0.0);
            let y = if all_positive && name == "Reconstruction" {
                AxisStyle::log("")
            } else {
                AxisStyle::default()
            };
            charts.push(lines(
                &title,
                &format!("Line chart of {name} over training steps."),
                vec![series],
                steps(),
                y,
            ));
        }
    }
    let norm = line("gradient norm", rows, palette::source(0, 1), |row| {
        row.gradient_norm
    });
    charts.push(lines(
        "Gradient norm, before clipping",
        "Line chart of the gradient norm over training steps, on a logarithmic axis.",
        vec![norm],
        steps(),
        AxisStyle::log(""),
    ));
    charts
}

fn objective(rows: &[&HistoryRow]) -> Chart {
    let raw = line("each step", rows, palette::NEUTRAL.into(), |row| {
        row.terms.total
    });
    let mut smoothed = line("smoothed", rows, palette::source(0, 1), |row| {
        row.smoothed_objective
    });
    smoothed.width = 2.5;
    lines(
        "Objective J",
        "Line chart of the total objective over training steps, as it is and smoothed.",
        vec![raw, smoothed],
        steps(),
        AxisStyle::default(),
    )
}

fn branch_losses(rows: &[&HistoryRow], n_sources: usize) -> Chart {
    let series = (0..n_sources)
        .map(|k| {
            line(
                &source_name(k),
                rows,
                palette::source(k, n_sources),
                |row| row.branch_structure[k],
            )
        })
        .collect();
    lines(
        "Structural loss of each branch",
        "Line chart of the structural loss of every branch over training steps.",
        series,
        steps(),
        AxisStyle::default(),
    )
}

fn correlations(scores: &[&ScoredStep], n_sources: usize) -> Chart {
    let scores: Vec<&ScoredStep> = thinned(scores.len(), most_steps(n_sources))
        .into_iter()
        .map(|i| scores[i])
        .collect();
    let x: Vec<f64> = scores.iter().map(|score| score.step as f64).collect();
    let curve =
        |name: String, color: String, width: f64, value: &dyn Fn(&ScoredStep) -> f64| Series {
            name,
            x: Places::At(x.clone()),
            y: scores.iter().map(|score| value(score)).collect(),
            color,
            width,
        };
    let mut series: Vec<Series> = (0..n_sources)
        .map(|k| {
            curve(
                source_name(k),
                palette::source(k, n_sources),
                1.5,
                &|score| score.per_source[k],
            )
        })
        .collect();
    series.push(curve(
        "mean (MAC)".into(),
        palette::NEUTRAL.into(),
        3.0,
        &|score| score.mac,
    ));
    lines(
        "|Correlation| with the matched reference",
        "Line chart of the absolute correlation of every branch with its reference source over \
         training steps.",
        series,
        steps(),
        AxisStyle::default(),
    )
}

fn caption(report: &Report<'_>, kept: usize, drawn: usize) -> String {
    let mut text = String::from(
        "Terms are shown without their weights in the objective. Drag over a chart to zoom, \
         double-click to zoom out.",
    );
    if !report.scores.is_empty() {
        text +=
            " The thick grey line is the mean over sources (MAC); the run never saw the reference.";
    }
    if drawn < kept {
        text += &format!(" {drawn} of {kept} kept steps are drawn.");
    }
    text
}

/// One value of every row as a line.
pub fn line(
    name: &str,
    rows: &[&HistoryRow],
    color: String,
    value: impl Fn(&HistoryRow) -> f64,
) -> Series {
    Series {
        name: name.into(),
        x: Places::At(rows.iter().map(|row| row.step as f64).collect()),
        y: rows.iter().map(|row| value(row)).collect(),
        color,
        width: 1.5,
    }
}

/// The horizontal axis of everything that is drawn over steps.
pub fn steps() -> AxisStyle {
    AxisStyle::linear("step")
}
