//! The HTML page: sections in the order in which they are read.
//!
//! In: a [`Report`]. Out: HTML. A section turns numbers into charts, tables and sentences
//! ([`view`]); the template writes them. No section knows another.

pub mod cards;
pub mod chart;
mod comparison;
pub mod explorer;
mod mixing;
mod pictures;
mod provenance;
mod reference;
mod scripts;
mod spectra;
mod structure;
mod summary;
mod training;
pub mod view;

pub use comparison::{ComparedMethod, ComparisonPage};

use crate::decimate::thinned;
use crate::time_scale::correlation_time;
use crate::{Report, Result, palette};
use view::{Page, Part};

/// Writes the page: what was found, then how it fits together, then how it came about.
pub fn write(report: &Report<'_>) -> Result<String> {
    let times: Vec<usize> = (0..report.n_sources())
        .map(|k| correlation_time(&report.source(k), report.separation.pieces()))
        .collect();
    let mut sections = vec![
        summary::section(report, &times),
        cards::section(report, &times),
        explorer::section(report),
    ];
    sections.extend(reference::section(report)?);
    sections.extend([
        mixing::weights(report),
        mixing::residual(report),
        spectra::section(report),
    ]);
    sections.extend(provenance::source_count(report));
    sections.extend([
        training::section(report),
        structure::section(report),
        mixing::assignment(report),
        provenance::configuration(report),
        provenance::reproduction(report),
    ]);
    Page::new(
        summary::title(report),
        summary::status(report),
        sections,
        summary::footer(report),
    )
    .write()
}

/// s1, s2, …, as the files of a run call them.
fn source_name(k: usize) -> String {
    format!("s{}", k + 1)
}

/// The sources by number, for axes that say what they are.
fn source_numbers(n_sources: usize) -> Vec<String> {
    (1..=n_sources).map(|number| number.to_string()).collect()
}

/// Which colour is which source; of many, some: their colours run evenly from the first to the
/// last.
fn key(n_sources: usize) -> Part {
    const MOST: usize = 16;
    let entry = |k: usize| (source_name(k), palette::source(k, n_sources));
    let shown = if n_sources <= MOST {
        n_sources
    } else {
        MOST / 2
    };
    Part::Key(thinned(n_sources, shown).into_iter().map(entry).collect())
}

/// How many of the kept steps are drawn for a chart with one line a source: the page must stay
/// small for many sources.
fn most_steps(n_sources: usize) -> usize {
    (4000 / n_sources).clamp(40, 600)
}
