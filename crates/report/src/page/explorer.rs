//! The explorer: all sources and channels over the whole recording, to be moved through.
//!
//! In: a report. Out: the samples as `crate::samples` packs them, and what `templates/explorer.js`
//! needs to draw them: names, units, the mixing columns of an affine mixer, by which the page
//! subtracts rejected sources from channels, and events. Nothing is cleaned here.

use super::chart::script_safe;
use super::source_name;
use super::view::{Part, Section};
use crate::number::{ChartNumber, counted, grouped};
use crate::samples::{Column, Layout, MOST_VALUES};
use crate::{Report, palette};
use serde_json::{Value, json};
use strt_runs::results::rows;

/// Rows that are shown at once; others are reached by scrolling.
const MOST_ROWS: usize = 11;

/// What the scripts need.
pub struct Explorer {
    /// `{"series": …, "mixing": …, …}`, safe inside a script element.
    pub data: String,
    /// The samples of each series, in its order.
    pub samples: Vec<String>,
    /// Whether channels can be shown without rejected sources.
    pub affine: bool,
    /// Whether single samples have to be read from another file.
    pub bucketed: bool,
}

/// The section.
pub fn section(report: &Report<'_>) -> Section {
    let recording = report.recording;
    let (n_sources, n_channels) = (report.n_sources(), recording.n_channels());
    let layout = layout(report);
    let sources = (0..n_sources).map(|k| layout.pack(report.separation.sources().col(k)));
    let channels = (0..n_channels).map(|c| layout.pack(recording.observations().col(c)));
    let packed: Vec<Column> = sources.chain(channels).collect();
    let mixing = mixing(report);
    let affine = mixing.is_some();
    let data = json!({
        "run": report.findings.run,
        "fingerprint": format!("{:016x}", recording.fingerprint()),
        "result": format!("{:016x}", result_id(report)),
        "samples": recording.n_samples(),
        "rate": recording.sampling_rate(),
        "bucket": layout.bucket,
        "sources": n_sources,
        "rows_at_once": MOST_ROWS,
        "series": packed.iter().enumerate().map(|(i, column)| series(report, i, column))
            .collect::<Vec<_>>(),
        "mixing": mixing,
        "events": events(report),
    });
    let explorer = Explorer {
        data: script_safe(&data),
        samples: packed.into_iter().map(|column| column.text).collect(),
        affine,
        bucketed: layout.bucket > 1,
    };
    Section {
        id: "explorer",
        title: "Explorer",
        folded: false,
        parts: vec![
            Part::Explorer(explorer),
            Part::Caption(caption(report, layout, affine)),
        ],
    }
}

/// How the samples are held.
pub fn layout(report: &Report<'_>) -> Layout {
    let n_columns = report.n_sources() + report.recording.n_channels();
    Layout::fitting(report.recording.n_samples(), n_columns, MOST_VALUES)
}

fn series(report: &Report<'_>, index: usize, column: &Column) -> Value {
    let n_sources = report.n_sources();
    let (name, unit, color) = match index.checked_sub(n_sources) {
        None => (source_name(index), None, palette::source(index, n_sources)),
        Some(c) => (
            report.recording.channel_names()[c].clone(),
            report.summary().input.units.get(c).cloned().flatten(),
            palette::NEUTRAL.into(),
        ),
    };
    json!({
        "name": name, "unit": unit, "color": color, "mean": column.mean,
        "offset": column.levels.offset, "step": column.levels.step,
    })
}

/// The mixing matrix in the units of the recording, row by row; `None` where the channels are not
/// sums of sources as they are shown.
fn mixing(report: &Report<'_>) -> Option<Vec<Vec<ChartNumber>>> {
    let (matrix, _) = report.separation.mixing()?;
    if !report.separation.scales().is_empty() {
        return None;
    }
    let rows = rows(matrix.as_ref());
    Some(rows.iter().map(|row| ChartNumber::all(row, 7)).collect())
}

fn events(report: &Report<'_>) -> Vec<Value> {
    let mut events: Vec<_> = report.notes.events.iter().collect();
    events.sort_by_key(|event| event.sample);
    events
        .into_iter()
        .map(|event| json!({ "sample": event.sample, "name": event.name }))
        .collect()
}

/// A number that tells results apart, so that decisions about the sources of one run are not taken
/// for those about another's: 64-bit FNV-1a over all values.
fn result_id(report: &Report<'_>) -> u64 {
    let values = report.separation.sources();
    let columns = values.col_iter();
    let bits = columns.flat_map(|column| column.iter().map(|value| value.to_bits()));
    bits.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn caption(report: &Report<'_>, layout: Layout, affine: bool) -> String {
    let mut text = String::from(
        "Drag to move through the recording; Ctrl and the wheel, or a pinch, zoom. With the \
         keyboard: arrows left and right move, + and − zoom, 0 shows everything, [ and ] change \
         the height of the curves.",
    );
    if report.n_sources().max(report.recording.n_channels()) > MOST_ROWS {
        text += &format!(" {MOST_ROWS} rows are shown at once; the wheel or a finger scrolls.");
    }
    if report.recording.n_missing() > 0 {
        text += " Gaps are missing samples.";
    }
    if !report.notes.events.is_empty() {
        text += " Events are broken lines with their names, or marks above where they are dense.";
    }
    text += if affine {
        " A cleaned channel is the recorded one less its weight times each rejected source; what \
         the sources do not explain stays in it."
    } else {
        " The mixer is nonlinear, so channels without rejected sources are not shown here: `strt \
         clean` computes them."
    };
    if layout.bucket > 1 {
        text += &format!(
            " {} of {} are too many for a page: drawn are the lowest and highest value of every {} \
             samples, so that no peak is lost, and cleaned channels as means of them. To see \
             single samples of the sources, open sources.npy, which is beside this page.",
            counted(report.recording.n_samples(), "sample"),
            counted(report.n_sources() + report.recording.n_channels(), "row"),
            grouped(layout.bucket)
        );
    }
    text
}
