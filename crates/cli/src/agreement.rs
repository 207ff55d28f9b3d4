//! Two runs on one recording, source by source: which is which, and whether both found it.
//!
//! In: two folders. Out: a table or JSON. Sources have no sign, scale or order of their own, so
//! they are matched by |correlation|, over the samples that both runs have. What two runs of
//! different seeds both find does not hang on the start of the training.

use crate::failure::{Failure, Outcome};
use crate::output::{self, note};
use crate::table::table;
use faer::{Mat, MatRef};
use serde::Serialize;
use std::path::Path;
use strt_io::load_model;
use strt_runs::folder::MODEL;
use strt_runs::load_summary;
use strt_runs::results::rows;
use strt_runs::results::summary::{Summary, source_names};
use strt_score::{Reference, match_sources};
use strtransformer::Separation;

/// |correlation| from which two sources count as one, and as similar.
const SAME: f64 = 0.95;
const SIMILAR: f64 = 0.8;

/// What `--json` prints.
#[derive(Serialize)]
struct Agreement {
    runs: [String; 2],
    /// Samples that both have.
    samples: usize,
    /// Mean absolute correlation of the matched sources, and the lowest of them.
    mean: f64,
    lowest: f64,
    /// Sources that are the same in both.
    same: usize,
    sources: Vec<Pair>,
    /// |correlation| of every source of the first run (rows) with every one of the second.
    correlations: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct Pair {
    first: String,
    /// Null where the second run has fewer sources.
    second: Option<String>,
    correlation: f64,
    sign: f64,
    verdict: &'static str,
}

/// Compares the runs in two folders.
pub fn compare(first: &Path, second: &Path, json: bool) -> Outcome {
    let (a, b) = (Run::load(first)?, Run::load(second)?);
    let (t, expected) = (a.sources().nrows(), b.sources().nrows());
    if t != expected {
        return Err(Failure::Failed(format!(
            "{}: expected {expected} samples, as {} has, found {t}; only runs on the same recording \
             can be compared",
            first.display(),
            second.display()
        )));
    }
    if a.model.channel_names() != b.model.channel_names()
        || a.summary.input.name() != b.summary.input.name()
    {
        // Not even --json hides what may make the comparison meaningless.
        note(&format!(
            "warning: {} is a run on {}, {} one on {}: are they the same recording?",
            first.display(),
            a.summary.input.name(),
            second.display(),
            b.summary.input.name()
        ));
    }
    let kept: Vec<usize> = (0..t)
        .filter(|&t| !a.sources()[(t, 0)].is_nan() && !b.sources()[(t, 0)].is_nan())
        .collect();
    let refused = |folder: &Path, error: strt_score::Error| {
        Failure::Failed(format!("{}: {error}", folder.display()))
    };
    let truth = Reference::new(b.rows(&kept)).map_err(|error| refused(second, error))?;
    let matching =
        match_sources(a.rows(&kept).as_ref(), &truth).map_err(|error| refused(first, error))?;
    let names = source_names(b.sources().ncols());
    let pair = |(k, first): (usize, String)| {
        let correlation = matching.per_source()[k];
        let second = matching.matched()[k].map(|j| names[j].clone());
        Pair {
            verdict: match correlation {
                _ if second.is_none() => "left over",
                SAME.. => "the same",
                SIMILAR.. => "similar",
                _ => "different",
            },
            first,
            second,
            correlation,
            sign: matching.sign()[k],
        }
    };
    let of_first = source_names(a.sources().ncols()).into_iter().enumerate();
    let sources: Vec<Pair> = of_first.map(pair).collect();
    let agreement = Agreement {
        runs: [first, second].map(|folder| folder.display().to_string()),
        samples: kept.len(),
        mean: matching.mac(),
        lowest: matching.worst(),
        same: sources.iter().filter(|s| s.verdict == "the same").count(),
        sources,
        correlations: rows(matching.correlations()),
    };
    if json {
        output::print_line(&serde_json::to_string_pretty(&agreement)?);
    } else {
        output::print(&text(&agreement, &names));
    }
    Ok(())
}

struct Run {
    summary: Summary,
    model: Separation,
}

impl Run {
    fn load(folder: &Path) -> Outcome<Run> {
        Ok(Run {
            summary: load_summary(folder)?,
            model: load_model(folder.join(MODEL))?,
        })
    }

    fn sources(&self) -> MatRef<'_, f64> {
        self.model.sources()
    }

    fn rows(&self, kept: &[usize]) -> Mat<f64> {
        let sources = self.sources();
        Mat::from_fn(kept.len(), sources.ncols(), |t, k| sources[(kept[t], k)])
    }
}

fn text(agreement: &Agreement, of_second: &[String]) -> String {
    let dash = || "-".to_string();
    let row = |pair: &Pair| {
        let matched = pair.second.is_some();
        vec![
            pair.first.clone(),
            pair.second.clone().unwrap_or_else(dash),
            if matched {
                format!("{:.4}", pair.correlation)
            } else {
                dash()
            },
            if pair.sign < 0.0 { "-" } else { "+" }.into(),
            pair.verdict.into(),
        ]
    };
    let is_left = |name: &&String| {
        let matched = agreement.sources.iter();
        !matched
            .into_iter()
            .any(|pair| pair.second.as_ref() == Some(*name))
    };
    let left = of_second.iter().filter(is_left);
    let left = left.map(|name| vec![dash(), name.clone(), dash(), "+".into(), "left over".into()]);
    let rows: Vec<Vec<String>> = agreement.sources.iter().map(row).chain(left).collect();
    let [first, second] = &agreement.runs;
    format!(
        "{}\n\
         mean absolute correlation  {:.4}\n\
         lowest                     {:.4}\n\
         samples compared           {}\n\n\
         {} of {} sources are the same in both runs (|correlation| of {SAME} or more)\n",
        table(&[first, second, "|correlation|", "sign", "verdict"], &rows),
        agreement.mean,
        agreement.lowest,
        agreement.samples,
        agreement.same,
        agreement.sources.len(),
    )
}
