//! What a page is made of. Plain data between the sections, which fill it in, and the template,
//! which writes it.
//!
//! All text is escaped by the template; only data for the scripts (see `chart::script_safe`), the
//! style sheet and the scripts, which come from this crate, are written as they are.

use super::cards::Cards;
use super::chart::Chart;
use super::explorer::Explorer;
use super::scripts;
use crate::{Error, Result};
use askama::Template;

/// The whole page.
#[derive(Template)]
#[template(path = "page.html")]
pub struct Page {
    /// Heading and window title.
    pub title: String,
    /// What kind of page it is, above the heading.
    pub kind: &'static str,
    /// How the run ended, in a few words.
    pub status: Status,
    /// In order.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: String,
    style: &'static str,
    scripts: String,
}

/// How the run ended.
pub struct Status {
    /// `good` or `bad`.
    pub class: &'static str,
    /// In words.
    pub text: String,
}

/// One section.
pub struct Section {
    /// Anchor.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Closed until the reader opens it.
    pub folded: bool,
    /// In order.
    pub parts: Vec<Part>,
}

/// A piece of a section.
pub enum Part {
    /// A paragraph.
    Text(String),
    /// Paragraphs that must not be overlooked.
    Warnings(Vec<String>),
    /// Name and value of the few numbers that matter most.
    Numbers(Vec<(&'static str, String)>),
    /// Names and colours.
    Key(Vec<(String, String)>),
    /// One card a source.
    Cards(Cards),
    /// All rows of the recording, to be moved through.
    Explorer(Explorer),
    /// Charts beside each other.
    Charts(Vec<Chart>),
    /// What to look for in them.
    Caption(String),
    /// A table.
    Table(Table),
    /// Points.
    List(Vec<String>),
    /// Text to be copied.
    Code(String),
}

/// A table; the first cell of a row names it.
pub struct Table {
    /// What it holds.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
    /// Closed until the reader opens it.
    pub folded: bool,
}

impl Page {
    /// A page with the style and scripts of this crate.
    pub fn new(title: String, status: Status, sections: Vec<Section>, footer: String) -> Page {
        Page {
            title,
            kind: "Source separation report",
            status,
            footer,
            style: scripts::STYLE,
            scripts: scripts::of(&sections),
            sections,
        }
    }

    /// Puts the page under another kind.
    pub fn of_kind(self, kind: &'static str) -> Page {
        Page { kind, ..self }
    }

    /// The page as HTML.
    pub fn write(&self) -> Result<String> {
        self.render()
            .map_err(|error| Error::Page(error.to_string()))
    }
}
