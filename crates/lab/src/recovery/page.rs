//! The page of `strt-lab recovery`: which method recovers which problems how well.

use super::tables;
use strt_report::Result;
use strt_report::parts::{Chart, Page, Part, Scale, Section, Side, Status, Table, heat_map};

/// What the benchmark found.
pub struct RecoveryPage<'a> {
    /// Program, machine, versions, in a sentence or two.
    pub about: String,
    /// What each family asks, one sentence each.
    pub questions: Vec<String>,
    /// Rows of `mean_mac`.
    pub families: Vec<String>,
    /// Columns of `mean_mac`.
    pub methods: Vec<String>,
    /// Mean absolute correlation; `None` where nothing was run.
    pub mean_mac: Vec<Vec<Option<f64>>>,
    /// As printed in Markdown.
    pub tables: &'a [tables::Table],
}

impl RecoveryPage<'_> {
    /// One self-contained HTML page.
    ///
    /// # Errors
    /// When the page cannot be written.
    pub fn to_html(&self) -> Result<String> {
        let z = self
            .mean_mac
            .iter()
            .map(|row| row.iter().map(|mac| mac.unwrap_or(f64::NAN)).collect())
            .collect();
        let map = heat_map(
            "Mean absolute correlation",
            "Heat map of the mean absolute correlation with the true sources, for every family of \
             problems and method.",
            Side {
                title: "family",
                names: &self.families,
            },
            Side {
                title: "method",
                names: &self.methods,
            },
            z,
            Scale::Sequential { range: None },
        );
        let overview = Section {
            id: "overview",
            title: "Overview",
            folded: false,
            parts: vec![
                Part::Text(self.about.clone()),
                Part::Charts(vec![Chart { wide: true, ..map }]),
                Part::Caption(
                    "1 is perfect recovery; every method has the number of sources, none sees the \
                     true ones."
                        .into(),
                ),
                Part::List(self.questions.clone()),
            ],
        };
        let tables = self.tables.iter().map(|table| {
            // Bold in Markdown has no meaning here.
            let plain = |row: &Vec<String>| row.iter().map(|cell| cell.replace("**", "")).collect();
            let title = &table.title;
            Part::Table(Table {
                // What Markdown marks is not marked here.
                title: title.split(';').next().unwrap_or(title).into(),
                header: table.header.clone(),
                rows: table.rows.iter().map(plain).collect(),
                folded: false,
            })
        });
        let figures = Section {
            id: "figures",
            title: "Figures",
            folded: false,
            parts: tables.collect(),
        };
        let status = Status {
            class: "good",
            text: format!(
                "{} families, {} methods",
                self.families.len(),
                self.methods.len()
            ),
        };
        let footer = "Made by StrTransformer. This file loads nothing from the network.".into();
        Page::new(
            "Recovery of known sources".into(),
            status,
            vec![overview, figures],
            footer,
        )
        .write()
    }
}
