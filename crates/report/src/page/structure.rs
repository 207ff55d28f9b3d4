//! Ordered structural parameters: which time scale each branch settled on (second figure of the
//! paper).

use super::chart::{AxisStyle, Chart, Places, Scale, Series, Side, heat_map, lines};
use super::training::{line, steps};
use super::view::{Part, Section, Table};
use super::{key, most_steps, source_name};
use crate::decimate::thinned;
use crate::number::significant;
use crate::{Report, palette};
use strtransformer::train::HistoryRow;

/// Cells of the map of scale weights, and its columns: enough to see when a branch moved.
const MOST_WEIGHT_CELLS: usize = 8000;
const MOST_WEIGHT_STEPS: usize = 40;

/// The section.
pub fn section(report: &Report<'_>) -> Section {
    let n_sources = report.n_sources();
    let history = &report.history;
    let mut parts = vec![Part::Text(
        "Each source has a branch of its own, and the branches are kept in order: a low number \
         means short patches and a steep locality slope, so that little context counts; a high \
         number means long patches and wide context. Branches that settle apart have found \
         different time scales."
            .into(),
    )];
    if !history.is_empty() {
        let kept = thinned(history.len(), most_steps(n_sources));
        let rows: Vec<&HistoryRow> = kept.into_iter().map(|i| history[i]).collect();
        parts.push(key(n_sources));
        parts.push(Part::Charts(charts(report, &rows)));
        parts.push(Part::Caption(
            "The darker a cell of the last map, the less the branch looks at that patch size; the \
             weights of one source add up to 1."
                .into(),
        ));
    }
    parts.push(Part::Table(table(report)));
    Section {
        id: "structure",
        title: "Ordered structural parameters",
        folded: true,
        parts,
    }
}

fn charts(report: &Report<'_>, rows: &[&HistoryRow]) -> Vec<Chart> {
    type Parameter = fn(&HistoryRow) -> &Vec<f64>;
    let n_sources = report.n_sources();
    let over_steps = |title: &str, what: &str, y: AxisStyle, values: Parameter| {
        let series = (0..n_sources)
            .map(|k| {
                line(
                    &source_name(k),
                    rows,
                    palette::source(k, n_sources),
                    |row| values(row)[k],
                )
            })
            .collect();
        lines(
            title,
            &format!("Line chart of {what} over training steps."),
            series,
            steps(),
            y,
        )
    };
    let mut charts = vec![
        over_steps(
            "Expected patch size",
            "the expected patch size of every branch",
            AxisStyle::log("samples"),
            |row| &row.expected_patch,
        ),
        over_steps(
            "Log-scale center c",
            "the log-scale center of every branch",
            AxisStyle::linear("ln samples"),
            |row| &row.centers,
        ),
        over_steps(
            "Locality slope α",
            "the locality slope of every branch",
            AxisStyle::log("per patch"),
            |row| &row.slopes,
        ),
    ];
    if !report.scores.is_empty() {
        charts.push(matched(report));
    }
    charts.push(weights(report, rows));
    charts
}

fn matched(report: &Report<'_>) -> Chart {
    let n_sources = report.n_sources();
    let scores = thinned(report.scores.len(), most_steps(n_sources));
    let series = (0..n_sources)
        .map(|k| Series {
            name: source_name(k),
            x: Places::At(
                scores
                    .iter()
                    .map(|&i| report.scores[i].step as f64)
                    .collect(),
            ),
            y: scores
                .iter()
                .map(|&i| report.scores[i].matched[k].map_or(f64::NAN, |j| (j + 1) as f64))
                .collect(),
            color: palette::source(k, n_sources),
            width: 1.5,
        })
        .collect();
    lines(
        "Matched reference source",
        "Line chart of the number of the reference source that every branch is matched with, over \
         training steps.",
        series,
        steps(),
        AxisStyle::whole("reference source", n_sources),
    )
}

/// π over steps: one row for each source and patch size.
fn weights(report: &Report<'_>, rows: &[&HistoryRow]) -> Chart {
    let patch_sizes = &report.separation.config().branches.patch_sizes;
    let n_rows = report.n_sources() * patch_sizes.len();
    let n_columns = (MOST_WEIGHT_CELLS / n_rows).clamp(10, MOST_WEIGHT_STEPS);
    let shown: Vec<&HistoryRow> = thinned(rows.len(), n_columns)
        .into_iter()
        .map(|i| rows[i])
        .collect();
    let columns: Vec<String> = shown.iter().map(|row| row.step.to_string()).collect();
    let names: Vec<String> = (0..n_rows)
        .map(|i| {
            format!(
                "{} · {}",
                i / patch_sizes.len() + 1,
                patch_sizes[i % patch_sizes.len()]
            )
        })
        .collect();
    let z = (0..n_rows)
        .map(|i| shown.iter().map(|row| row.scale_weights[i]).collect())
        .collect();
    let chart = heat_map(
        "Scale weights π of each source over patch sizes",
        "Heat map of the weight that every source gives to every patch size, over training steps.",
        Side {
            title: "source · patch size",
            names: &names,
        },
        Side {
            title: "step",
            names: &columns,
        },
        z,
        Scale::Sequential {
            range: Some((0.0, 1.0)),
        },
    );
    Chart {
        wide: true,
        ..chart
    }
}

fn table(report: &Report<'_>) -> Table {
    let controller = report.separation.controller();
    let rows = (0..report.n_sources())
        .map(|k| {
            vec![
                source_name(k),
                significant(controller.expected_patch[k], 3),
                significant(controller.centers[k], 3),
                significant(controller.slopes[k], 3),
            ]
        })
        .collect();
    Table {
        title: "Structural parameters at the end of the run".into(),
        header: ["source", "expected patch (samples)", "center c", "slope α"]
            .map(String::from)
            .into(),
        rows,
        folded: report.n_sources() > 12,
    }
}
