//! The page of `strt-lab verify`: a table of all checks, then a section each with sentence, numbers
//! and figures.

use crate::theory::{Axis, Bound, Check, CheckResult, Figure, Line, Measurement, Variant};
use strt_report::Result;
use strt_report::parts::{
    self, AxisStyle, Chart, Page, Part, Places, Scale, Section, Series, Status, Table, bars,
    counted, heat_map, lines, series_color, significant,
};

/// Names along a side of a map up to which it fits half the page.
const MOST_NARROW: usize = 12;

/// Checks that were made, and how.
pub struct Verification<'a> {
    /// The checks.
    pub checks: &'a [Check],
    /// What came out of each.
    pub results: &'a [CheckResult],
    /// As claimed, or broken on purpose.
    pub variant: Variant,
    /// The command that repeats them.
    pub command: &'a str,
    /// Program and version.
    pub version: &'a str,
}

impl Verification<'_> {
    /// One self-contained HTML page.
    ///
    /// # Errors
    /// When the template cannot be filled in.
    pub fn to_html(&self) -> Result<String> {
        let mut sections = vec![summary(self)];
        sections.extend(self.results.iter().map(section));
        sections.push(reproduction(self));
        let footer = format!(
            "Made by {}. This file loads nothing from the network.",
            self.version
        );
        let title = match self.variant {
            Variant::True => "The paper's claims, by experiment",
            Variant::Broken => "The paper's claims, broken on purpose",
        };
        Page::new(title.into(), status(self), sections, footer)
            .of_kind("Verification report")
            .write()
    }
}

/// How many checks did what they must.
fn status(verification: &Verification<'_>) -> Status {
    let (results, variant) = (verification.results, verification.variant);
    let count = |passed: bool| {
        results
            .iter()
            .filter(|result| result.passed == passed)
            .count()
    };
    let all = counted(results.len(), "check");
    let (good, text) = match variant {
        Variant::True => (
            count(false) == 0,
            format!("{} of {all} passed", count(true)),
        ),
        Variant::Broken => (
            count(true) == 0,
            format!("{} of {all} failed, as all of them must", count(false)),
        ),
    };
    Status {
        class: if good { "good" } else { "bad" },
        text,
    }
}

fn verdict(result: &CheckResult) -> &'static str {
    if result.passed { "passed" } else { "failed" }
}

fn summary(verification: &Verification<'_>) -> Section {
    let about = match verification.variant {
        Variant::True => {
            "Each claim of the paper is tried on a small instance. A check passes when every \
             number it measures keeps its bound. An experiment is evidence about one instance, not \
             a proof."
        }
        Variant::Broken => {
            "From each experiment one thing that the claim needs was taken away. A check that \
             passes here could not have failed, and would be worth nothing."
        }
    };
    let row = |result: &CheckResult| {
        let held = result
            .measurements
            .iter()
            .filter(|measured| measured.holds)
            .count();
        vec![
            result.title.into(),
            verdict(result).into(),
            format!("{held} of {}", result.measurements.len()),
        ]
    };
    Section {
        id: "summary",
        title: "Summary",
        folded: false,
        parts: vec![
            Part::Text(about.into()),
            Part::Table(Table {
                title: "All checks".into(),
                header: ["check", "result", "bounds kept"].map(String::from).into(),
                rows: verification.results.iter().map(row).collect(),
                folded: false,
            }),
        ],
    }
}

fn section(result: &CheckResult) -> Section {
    let mut parts = vec![Part::Text(format!("Claim: {}", result.claim))];
    if result.passed {
        parts.push(Part::Text(format!("Passed. {}", result.sentence)))
    } else {
        parts.push(Part::Warnings(vec![format!("Failed. {}", result.sentence)]))
    }
    for figure in &result.figures {
        if let Figure::Lines { lines, .. } = figure
            && lines.len() > 1
        {
            let entry =
                |(n, line): (usize, &Line)| (line.name.clone(), series_color(n, lines.len()));
            parts.push(Part::Key(lines.iter().enumerate().map(entry).collect()));
            parts.push(Part::Charts(vec![chart_of(figure)]));
            continue;
        }
        // Charts without a key stand beside each other.
        match parts.last_mut() {
            Some(Part::Charts(charts)) => charts.push(chart_of(figure)),
            _ => parts.push(Part::Charts(vec![chart_of(figure)])),
        }
    }
    let rows = result.measurements.iter().map(|measured: &Measurement| {
        vec![
            measured.what.clone(),
            significant(measured.value, 4),
            match measured.bound {
                Bound::Noted => "–".into(),
                bound => bound.to_string().replace('-', "−"),
            },
            match (measured.bound, measured.holds) {
                (Bound::Noted, _) => "",
                (_, true) => "yes",
                (_, false) => "no",
            }
            .into(),
        ]
    });
    parts.push(Part::Table(Table {
        title: "What was measured".into(),
        header: ["number", "value", "must be", "kept"]
            .map(String::from)
            .into(),
        rows: rows.collect(),
        folded: false,
    }));
    Section {
        id: result.name,
        title: result.title,
        folded: false,
        parts,
    }
}

fn reproduction(verification: &Verification<'_>) -> Section {
    let broken = |result: &CheckResult| {
        let check = verification
            .checks
            .iter()
            .find(|check| check.name == result.name);
        check.map(|check| format!("{}: {}", check.name, check.broken))
    };
    Section {
        id: "reproduce",
        title: "How to repeat this",
        folded: false,
        parts: vec![
            Part::Text("Everything is seeded: the same program gives the same numbers.".into()),
            Part::Code(verification.command.into()),
            Part::Text("What --broken changes:".into()),
            Part::List(verification.results.iter().filter_map(broken).collect()),
        ],
    }
}

fn axis(axis: &Axis) -> AxisStyle {
    if axis.log {
        AxisStyle::log(&axis.title)
    } else {
        AxisStyle::linear(&axis.title)
    }
}

fn chart_of(figure: &Figure) -> Chart {
    match figure {
        Figure::Lines {
            title,
            x,
            y,
            lines: curves,
        } => {
            let series = curves.iter().enumerate().map(|(n, line)| Series {
                name: line.name.clone(),
                x: Places::At(line.x.clone()),
                y: line.y.clone(),
                color: series_color(n, curves.len()),
                width: 2.0,
            });
            let names: Vec<&str> = curves.iter().map(|line| line.name.as_str()).collect();
            let description = format!(
                "Line chart of {} over {}: {}.",
                y.title,
                x.title,
                names.join(", ")
            );
            lines(title, &description, series.collect(), axis(x), axis(y))
        }
        Figure::Map {
            title,
            rows,
            columns,
            values,
            signed,
        } => Chart {
            wide: columns.names.len() > MOST_NARROW,
            ..heat_map(
                title,
                &format!("Heat map over {} and {}.", rows.title, columns.title),
                parts::Side {
                    title: &rows.title,
                    names: &rows.names,
                },
                parts::Side {
                    title: &columns.title,
                    names: &columns.names,
                },
                values.clone(),
                if *signed {
                    Scale::Diverging
                } else {
                    Scale::Sequential { range: None }
                },
            )
        },
        Figure::Bars {
            title,
            x,
            y,
            names,
            heights,
        } => bars(
            title,
            &format!("Bar chart of {}.", y.title),
            names,
            heights,
            x,
            axis(y),
        ),
    }
}
