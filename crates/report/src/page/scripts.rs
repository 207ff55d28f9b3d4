//! The scripts and the style of a page, and which of them a page needs.
//!
//! One responsibility a file, in plain JavaScript without a build step. They share one scope: a
//! file uses functions of those before it.

use super::view::{Part, Section};

/// Style sheets, the page's and that of a run.
pub const STYLE: &str = concat!(
    include_str!("../../templates/page.css"),
    include_str!("../../templates/sources.css")
);

/// Drawing on canvases, and the charts.
const CHARTS: [&str; 3] = [
    include_str!("../../templates/canvas.js"),
    include_str!("../../templates/charts.js"),
    include_str!("../../templates/matrices.js"),
];

/// Cards, decisions and the explorer.
const SOURCES: [&str; 7] = [
    include_str!("../../templates/samples.js"),
    include_str!("../../templates/decisions.js"),
    include_str!("../../templates/head.js"),
    include_str!("../../templates/cards.js"),
    include_str!("../../templates/audio.js"),
    include_str!("../../templates/rows.js"),
    include_str!("../../templates/explorer.js"),
];

/// Starts what is there.
const START: &str = include_str!("../../templates/page.js");

/// The scripts of a page with these sections, in order.
pub fn of(sections: &[Section]) -> String {
    let has_sources = sections
        .iter()
        .flat_map(|section| &section.parts)
        .any(|part| matches!(part, Part::Explorer(_)));
    let mut scripts = vec!["\"use strict\";"];
    scripts.extend(CHARTS);
    if has_sources {
        scripts.extend(SOURCES);
    }
    scripts.push(START);
    scripts.join("\n")
}
