//! `strt evaluate`: how well estimated sources match true ones, or those of another run.

use crate::agreement;
use crate::failure::{Failure, Outcome};
use crate::output::{self, note};
use crate::reading::{describe_reference, open};
use crate::table::table;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use strt_io::ReadOptions;
use strt_runs::data;
use strt_runs::results::rows;
use strt_score::{Reference, match_sources};

#[derive(Args)]
pub struct Evaluate {
    /// Estimated sources, samples × sources, in any format; or the folder of a run
    estimated: PathBuf,
    /// True sources of the same samples; or the folder of another run on the same recording
    reference: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadOptions,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Scores {
    /// Mean absolute correlation of matched sources, and the lowest of them.
    mac: f64,
    worst: f64,
    samples: usize,
    sources: Vec<Matched>,
    /// |correlation| of every estimated source (rows) with every true one.
    correlations: Vec<Vec<f64>>,
    /// What was detected in the two files.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Matched {
    estimated: String,
    /// Null where there are more estimated sources than true ones.
    reference: Option<String>,
    correlation: f64,
    sign: f64,
}

impl Evaluate {
    pub fn run(self) -> Outcome {
        if self.reference.is_dir() {
            return self.with_another_run();
        }
        let estimated_path = if self.estimated.is_dir() {
            self.estimated.join("sources.csv")
        } else {
            self.estimated.clone()
        };
        let estimated = open(&estimated_path, &self.reading, self.json)?;
        let reference = data::open_reference(&self.reference, &self.reading, &estimated.recording)?;
        if !self.json {
            note(&describe_reference(&self.reference, &reference));
        }
        let notes = estimated.notes.iter().chain(&reference.notes);
        let notes = notes.map(ToString::to_string).collect();
        let (estimated, reference) = (estimated.recording, reference.recording);
        let (t, expected) = (estimated.n_samples(), reference.n_samples());
        if t != expected {
            return Err(Failure::Failed(format!(
                "{}: expected {expected} samples, as {} has, found {t}; both files must hold the \
                 same samples, one column a source",
                estimated_path.display(),
                self.reference.display()
            )));
        }
        let truth = Reference::new(reference.observations().to_owned())
            .map_err(|error| Failure::Failed(format!("{}: {error}", self.reference.display())))?;
        let matching = match_sources(estimated.observations(), &truth)
            .map_err(|error| Failure::Failed(format!("{}: {error}", estimated_path.display())))?;
        let sources = estimated.channel_names().iter().enumerate();
        let scores = Scores {
            mac: matching.mac(),
            worst: matching.worst(),
            samples: t - estimated.n_missing(),
            sources: sources
                .map(|(k, name)| Matched {
                    estimated: name.clone(),
                    reference: matching.matched()[k].map(|j| reference.channel_names()[j].clone()),
                    correlation: matching.per_source()[k],
                    sign: matching.sign()[k],
                })
                .collect(),
            correlations: rows(matching.correlations()),
            notes,
        };
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&scores)?);
        } else {
            output::print(&text(&scores));
        }
        Ok(())
    }

    fn with_another_run(&self) -> Outcome {
        if self.reading != ReadOptions::default() {
            return Err(Failure::Usage(
                "reading the recording: expected no such arguments with two runs, whose sources \
                 are compared as they are; remove them"
                    .into(),
            ));
        }
        agreement::compare(&self.estimated, &self.reference, self.json)
    }
}

fn text(scores: &Scores) -> String {
    let row = |source: &Matched| {
        vec![
            source.estimated.clone(),
            source.reference.clone().unwrap_or("-".into()),
            format!("{:.4}", source.correlation),
            if source.sign < 0.0 { "-" } else { "+" }.into(),
        ]
    };
    let rows: Vec<Vec<String>> = scores.sources.iter().map(row).collect();
    format!(
        "{}\n\
         mean absolute correlation (MAC)  {:.4}\n\
         lowest                           {:.4}\n\
         samples compared                 {}\n",
        table(&["source", "true source", "|correlation|", "sign"], &rows),
        scores.mac,
        scores.worst,
        scores.samples
    )
}
