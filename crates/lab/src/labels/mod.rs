//! `strt-lab labels`: whether what sources are said to look like is right.
//!
//! In: simulated sources of every kind and of none, and, where there is a folder of them,
//! recordings of known origin. Out: Markdown on stdout: a confusion table, how often a label of
//! some confidence is right, and what was said of each recording. Limits of labels were settled on
//! seeds from 901 on.

mod draw;
mod recorded;
mod simulated;

use clap::Args;
use simulated::{FAMILIES, Family};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use strt_cli::failure::Outcome;
use strt_cli::output;
use strt_label::{Kind, Label, Subject, label};

/// Bounds of the classes of confidence.
const CLASSES: [f64; 4] = [0.5, 0.7, 0.9, 1.01];

#[derive(Args)]
pub struct Labels {
    /// First seed of the simulated sources; limits were settled on seeds from 901, so figures with
    /// those prove nothing
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Simulated sources of each family
    #[arg(long, default_value_t = 200)]
    sources: u64,
    /// Folder of real recordings, of which each says what it is
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// What was said of the sources of one family.
struct Judged {
    family: &'static Family,
    said: Vec<Option<Label>>,
}

impl Judged {
    fn is_right(&self, label: &Option<Label>) -> bool {
        match label {
            Some(label) => self.family.right.contains(&label.kind),
            None => self.family.may_be_silent(),
        }
    }

    fn n_right(&self) -> usize {
        self.said
            .iter()
            .filter(|label| self.is_right(label))
            .count()
    }
}

impl Labels {
    pub fn run(self) -> Outcome {
        let judged = self.simulated();
        let mut text = format!("{}\n{}\n", confusion(&judged), confidences(&judged));
        if let Some(data) = &self.data {
            text.push_str(&recorded::table(data)?);
        }
        output::print_line(text.trim_end());
        Ok(())
    }

    /// Labels of all simulated sources, family by family.
    fn simulated(&self) -> Vec<Judged> {
        let seeds = self.first_seed..self.first_seed + self.sources;
        let families = FAMILIES.iter().enumerate();
        let judge = |(place, family): (usize, &'static Family)| Judged {
            family,
            said: seeds
                .clone()
                .map(|seed| of_family(family, place, seed))
                .collect(),
        };
        families.map(judge).collect()
    }
}

fn of_family(family: &Family, place: usize, seed: u64) -> Option<Label> {
    let drawn = family.draw(place, seed);
    let alone = Subject::alone(&drawn.source, Some(drawn.rate));
    match &drawn.cap {
        None => label(&alone),
        Some(cap) => label(&Subject {
            weights: &cap.weights,
            channels: &cap.names,
            places: &cap.places,
            ..alone
        }),
    }
}

fn percent(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".into(),
        n => format!("{:.0} %", 100.0 * part as f64 / n as f64),
    }
}

/// Of each family: how many are right, and what was said.
fn confusion(judged: &[Judged]) -> String {
    let mut table =
        String::from("| simulated | sources | right | what was said |\n|---|---|---|---|\n");
    for family in judged {
        let mut counts: BTreeMap<Option<Kind>, usize> = BTreeMap::new();
        for label in &family.said {
            *counts
                .entry(label.as_ref().map(|label| label.kind))
                .or_default() += 1;
        }
        let mut counts: Vec<(Option<Kind>, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let said: Vec<String> = counts
            .into_iter()
            .map(|(kind, count)| format!("{} {count}", kind.map_or("no label", Kind::name)))
            .collect();
        let n = family.said.len();
        writeln!(
            table,
            "| {} | {n} | {} | {} |",
            family.family.name,
            percent(family.n_right(), n),
            said.join(", ")
        )
        .expect("a string takes text");
    }
    table
}

/// Of labels of some confidence: how many are right.
fn confidences(judged: &[Judged]) -> String {
    let mut table = String::from("| confidence | labels | right |\n|---|---|---|\n");
    for class in CLASSES.windows(2) {
        let (mut right, mut all) = (0, 0);
        for family in judged {
            for label in family.said.iter().filter(|label| {
                let confidence = label.as_ref().map(|label| label.confidence);
                confidence.is_some_and(|c| (class[0]..class[1]).contains(&c))
            }) {
                all += 1;
                right += usize::from(family.is_right(label));
            }
        }
        let (low, high) = (class[0], class[1].min(1.0));
        writeln!(
            table,
            "| {low} to {high} | {all} | {} |",
            percent(right, all)
        )
        .expect("a string takes text");
    }
    table
}
