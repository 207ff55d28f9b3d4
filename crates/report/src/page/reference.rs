//! The sources beside a reference, when there is one (third figure of the paper).

use super::chart::{Chart, Scale, Side, Waveform, heat_map, rows};
use super::view::{Part, Section, Table};
use super::{source_name, source_numbers};
use crate::decimate::envelope;
use crate::number::{significant, trimmed};
use crate::{Error, Report, Result, palette};
use strt_score::{Matching, align};

/// Points of all waveforms of one chart together: what keeps the page small for many sources.
const POINT_BUDGET: usize = 24_000;
/// Points of one waveform: two for every pixel of a wide screen.
const MOST_POINTS: usize = 4000;

/// The sources laid over the reference; `None` without one.
pub fn section(report: &Report<'_>) -> Result<Option<Section>> {
    let Some((reference, matching)) = report.reference else {
        return Ok(None);
    };
    let truth = reference.z_score();
    let aligned = align(report.separation.sources(), reference, matching).map_err(Error::Score)?;
    let n_references = reference.n_sources();
    let most = points_each(2 * n_references);
    let column =
        |matrix: &faer::Mat<f64>, j: usize| matrix.col(j).iter().copied().collect::<Vec<f64>>();
    let overlay = (0..n_references).map(|j| {
        let name = match matching
            .matched()
            .iter()
            .position(|&matched| matched == Some(j))
        {
            Some(k) => format!(
                "reference {} and {}, |correlation| {}",
                j + 1,
                source_name(k),
                significant(matching.per_source()[k], 4)
            ),
            None => format!("reference {}, matched by no source", j + 1),
        };
        let waveform = |label: &str, series: &[f64], color: String, width: f64| Waveform {
            name: label.into(),
            drawn: envelope(series, most),
            color,
            width,
        };
        let lines = vec![
            waveform(
                "reference",
                &column(&truth, j),
                palette::NEUTRAL.into(),
                2.5,
            ),
            waveform("source", &column(&aligned, j), palette::source(1, 2), 1.2),
        ];
        (name, lines)
    });
    let description =
        "Each reference source with the matched source laid over it, both standardised, over time.";
    let overlay = rows(
        "Sources laid over the reference",
        description,
        overlay.collect(),
        report.sample_period(),
    );
    Ok(Some(Section {
        id: "comparison",
        title: "Comparison with the reference",
        folded: false,
        parts: vec![
            Part::Key(vec![
                ("reference".into(), palette::NEUTRAL.into()),
                ("source, sign aligned".into(), palette::source(1, 2)),
            ]),
            Part::Charts(vec![overlay, correlation_map(matching)]),
            Part::Caption(format!(
                "Both are brought to mean 0 and standard deviation 1, because neither sign nor \
                 size of a source can be known from a mixture. In the map, each row should have \
                 one bright cell, and each column too.{}",
                decimation(report, most)
            )),
            Part::Table(matches(matching)),
        ],
    }))
}

fn points_each(n_waveforms: usize) -> usize {
    (POINT_BUDGET / n_waveforms).min(MOST_POINTS)
}

/// What a waveform of `most` points leaves out; empty when it leaves out nothing.
fn decimation(report: &Report<'_>, most: usize) -> String {
    let n_samples = report.recording.n_samples();
    if n_samples <= most {
        return String::new();
    }
    format!(
        " The recording has more samples than are drawn: each waveform is the lowest and highest \
         value of {} equal stretches of time ({} samples each), so that no peak is lost, but \
         faster detail looks like a band.",
        most / 2,
        trimmed(n_samples as f64 / (most / 2) as f64, 3)
    )
}

fn correlation_map(matching: &Matching) -> Chart {
    let correlations = matching.correlations();
    let z = (0..correlations.nrows())
        .map(|k| correlations.row(k).iter().copied().collect())
        .collect();
    heat_map(
        "|Correlation| of every pair",
        "Heat map of the absolute correlation of every source with every reference source.",
        Side {
            title: "source",
            names: &source_numbers(correlations.nrows()),
        },
        Side {
            title: "reference",
            names: &source_numbers(correlations.ncols()),
        },
        z,
        Scale::Sequential {
            range: Some((0.0, 1.0)),
        },
    )
}

fn matches(matching: &Matching) -> Table {
    let rows = matching
        .matched()
        .iter()
        .enumerate()
        .map(|(k, matched)| match matched {
            Some(j) => {
                let sign = if matching.sign()[k] < 0.0 {
                    "reversed"
                } else {
                    "same"
                };
                vec![
                    source_name(k),
                    (j + 1).to_string(),
                    significant(matching.per_source()[k], 4),
                    sign.into(),
                ]
            }
            None => vec![source_name(k), "–".into(), "–".into(), "–".into()],
        });
    Table {
        title: "Best matching of sources and references".into(),
        header: ["source", "reference", "|correlation|", "sign"]
            .map(String::from)
            .into(),
        rows: rows.collect(),
        folded: matching.matched().len() > 12,
    }
}
