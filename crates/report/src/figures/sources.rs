//! Third figure: the sources over time, laid over the reference when there is one.

use super::Figure;
use super::canvas::{Canvas, Drawing, figure as picture};
use super::panel::{KEY_HEIGHT, Panel, PanelLine, key};
use crate::decimate::envelope;
use crate::number::significant;
use crate::{Error, Report, Result, palette};
use faer::Mat;
use plotters::prelude::DrawingBackend;
use strt_score::align;

/// Points of one waveform: more than a printed column resolves.
const MOST_POINTS: usize = 2400;

/// Rows under each other.
struct Rows {
    panels: Vec<Panel>,
    key: Vec<(String, String)>,
}

impl Drawing for Rows {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> std::result::Result<(), String> {
        let height = if self.key.is_empty() {
            0
        } else {
            canvas.px(KEY_HEIGHT)
        };
        let (top, rest) = canvas.area.split_vertically(height);
        key(canvas, &top, &self.key)?;
        let rows = rest.split_evenly((self.panels.len().max(1), 1));
        self.panels
            .iter()
            .zip(&rows)
            .try_for_each(|(panel, row)| panel.draw(canvas, row))
    }
}

/// The figure.
pub fn figure(report: &Report<'_>) -> Result<Figure> {
    let (rows, caption) = match report.reference {
        None => (
            alone(report),
            "Sources, from the shortest time scale to the longest.".into(),
        ),
        Some(_) => (
            overlaid(report)?,
            "Z-score normalized source comparison after post-hoc permutation and sign alignment."
                .into(),
        ),
    };
    let n_rows = rows.panels.len().max(1) as u32;
    let row_height = (1800 / n_rows).clamp(56, 130);
    let key_height = if rows.key.is_empty() {
        0
    } else {
        KEY_HEIGHT as u32
    };
    picture("sources", caption, key_height + n_rows * row_height, &rows)
}

fn alone(report: &Report<'_>) -> Rows {
    let n_sources = report.n_sources();
    let panel = |k: usize| {
        let line = waveform(
            report,
            &report.source(k),
            palette::source(k, n_sources),
            1.1,
        );
        row(
            report,
            format!("Source {}", k + 1),
            vec![line],
            k + 1 == n_sources,
        )
    };
    Rows {
        panels: (0..n_sources).map(panel).collect(),
        key: Vec::new(),
    }
}

fn overlaid(report: &Report<'_>) -> Result<Rows> {
    let Some((reference, matching)) = report.reference else {
        return Ok(alone(report));
    };
    let truth = reference.z_score();
    let aligned = align(report.separation.sources(), reference, matching).map_err(Error::Score)?;
    let column = |matrix: &Mat<f64>, j: usize| matrix.col(j).iter().copied().collect::<Vec<f64>>();
    let panel = |j: usize| {
        let matched = matching
            .matched()
            .iter()
            .position(|&matched| matched == Some(j));
        let title = match matched {
            Some(k) => format!(
                "Reference {} and source {}, absolute correlation {}",
                j + 1,
                k + 1,
                significant(matching.per_source()[k], 4)
            ),
            None => format!("Reference {}, matched by no source", j + 1),
        };
        let lines = vec![
            waveform(report, &column(&truth, j), palette::NEUTRAL.into(), 2.2),
            waveform(report, &column(&aligned, j), palette::source(1, 2), 1.0),
        ];
        row(report, title, lines, j + 1 == reference.n_sources())
    };
    Ok(Rows {
        panels: (0..reference.n_sources()).map(panel).collect(),
        key: vec![
            ("reference".into(), palette::NEUTRAL.into()),
            ("source, sign aligned".into(), palette::source(1, 2)),
        ],
    })
}

fn waveform(report: &Report<'_>, series: &[f64], color: String, width: f64) -> PanelLine {
    let drawn = envelope(series, MOST_POINTS);
    let step = drawn.step * report.sample_period().unwrap_or(1.0);
    let point = |(i, &value): (usize, &f64)| (i as f64 * step, value);
    PanelLine::new(
        &color,
        width,
        drawn.values.iter().enumerate().map(point).collect(),
    )
}

fn row(report: &Report<'_>, title: String, lines: Vec<PanelLine>, last: bool) -> Panel {
    let unit = match report.sample_period() {
        Some(_) => "time (s)",
        None => "time (samples)",
    };
    Panel {
        title,
        x: if last { unit } else { "" },
        lines,
        x_numbers: last,
        whole: false,
    }
}
