//! The HTML page: sections in the order in which they are read.
//!
//! In: a [`Report`]. Out: HTML. A section turns numbers into charts, tables and sentences
//! ([`view`]); the template writes them. No section knows another.

pub mod chart;
mod comparison;
mod mixing;
mod provenance;
mod sources;
mod spectra;
mod structure;
mod summary;
mod training;
pub mod view;

pub use comparison::{ComparedMethod, ComparisonPage};

use crate::decimate::thinned;
use crate::{Report, Result, palette};
use view::{Page, Part};

/// Writes the page.
pub fn write(report: &Report<'_>) -> Result<String> {
    let mut sections = vec![
        summary::section(report),
        training::section(report),
        structure::section(report),
        sources::section(report)?,
    ];
    sections.extend(sources::comparison(report)?);
    sections.extend([
        spectra::section(report),
        mixing::weights(report),
        mixing::residual(report),
        mixing::assignment(report),
    ]);
    sections.extend(provenance::source_count(report));
    sections.extend([
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

/// "source 1", …
fn source_name(k: usize) -> String {
    format!("source {}", k + 1)
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
