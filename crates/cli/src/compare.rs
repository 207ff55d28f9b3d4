//! `strt compare`: StrTransformer and the classical methods on one recording.
//!
//! With a reference the methods are scored against it. Without one there are three blind scores:
//! how well each source is predicted by its own past, how much the sources still depend on each
//! other, and how well the sources of two starts of a method agree (1 for methods that do not
//! depend on chance).

use crate::ending::Ending;
use crate::failure::{Failure, Outcome};
use crate::formats::formats;
use crate::inputs::reference_is_file;
use crate::methods::{Found, MethodName, Task};
use crate::output;
use crate::progress::under_way;
use crate::reading::{open, open_reference};
use crate::settings::Settings;
use crate::table::table;
use clap::Args;
use faer::MatRef;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use strt_io::{Prepare, ReadOptions, Signals, write_text};
use strt_report::{ComparedMethod, ComparisonPage};
use strt_runs::Format;
use strt_runs::folder::{Kind, Planned, SUMMARY};
use strt_runs::results::summary::source_names;
use strt_runs::results::write_json;
use strt_score::{
    DEFAULT_ORDER, Matching, Reference, ResidualDependence, match_sources, temporal_predictability,
};
use strtransformer::Recording;

#[derive(Args)]
pub struct Compare {
    /// The recording, in any format that `strt separate` reads
    input: PathBuf,
    /// Number of sources
    #[arg(long, short = 'k', value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    sources: u32,
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        value_parser = MethodName::parse,
        help = MethodName::help()
    )]
    methods: Vec<MethodName>,
    /// True sources (samples × sources), for scores only
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// Folder for the page, the table and the sources [default: name of the input with the ending
    /// .compare, in the current folder]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Further formats of the sources; npy and csv are always written
    #[arg(long, value_parser = formats(), value_delimiter = ',', value_name = "LIST")]
    format: Vec<Format>,
    /// Replace the folder of an earlier comparison
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    ending: Ending,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reading: ReadOptions,
    #[command(flatten)]
    preparing: Prepare,
}

/// The scores of one method.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Scores {
    method: String,
    /// Against the reference; null without one.
    mac: Option<f64>,
    worst: Option<f64>,
    /// Share of a source's variance that its own past predicts linearly, mean over the sources.
    predictability: Option<f64>,
    /// Mean residual dependence of the pairs of sources.
    dependence: Option<f64>,
    /// Mean |correlation| of the matched sources of two starts; null for methods without chance.
    stability: Option<f64>,
    converged: bool,
    seconds: f64,
}

/// `summary.json` of a comparison.
#[derive(Serialize, Deserialize)]
pub struct Summary {
    command: Vec<String>,
    pub input: String,
    pub samples: usize,
    pub channels: usize,
    pub sources: usize,
    methods: Vec<Scores>,
    /// Mean |correlation| of the matched sources of every two methods.
    agreement: Vec<Vec<f64>>,
    /// Methods that could not be run, and why.
    failed: Vec<Failed>,
}

impl Summary {
    /// A table of the scores, and what failed.
    pub fn text(&self) -> String {
        let (header, rows) = columns(self);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut text = table(&header, &rows);
        for Failed { method, why } in &self.failed {
            text.push_str(&format!("warning: {method} failed: {why}\n"));
        }
        text
    }
}

/// The page of a comparison.
const PAGE: &str = "compare.html";

/// A method with what it found.
type FoundBy = (MethodName, Found);

/// A method that could not be run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Failed {
    method: String,
    why: String,
}

impl Compare {
    /// Runs the methods; `typed` is the command line.
    pub fn run(self, typed: &[String]) -> Outcome {
        reference_is_file(self.reference.as_deref())?;
        let target = self.out.clone().unwrap_or_else(|| {
            let name = self.input.file_name().unwrap_or(self.input.as_os_str());
            Path::new(name).with_extension("compare")
        });
        let planned = Planned::new(&target, Kind::Comparison, self.overwrite.into())?;
        planned.must_not_hold([&*self.input].into_iter().chain(self.reference.as_deref()))?;
        planned.must_be_writable()?;
        let reading = ReadOptions {
            prepare: self.preparing.clone().with_files_read()?,
            ..self.reading.clone()
        };
        let opened = open(&self.input, &reading, self.ending.quiet)?;
        let recording = &opened.recording;
        let reference = match &self.reference {
            Some(path) => {
                let quiet = self.ending.quiet;
                Some(open_reference(path, recording, &self.reading, quiet)?)
            }
            None => None,
        };
        self.check_formats(&target, recording)?;
        let (found, failed) = self.run_methods(recording)?;
        let mut scores = Vec::new();
        for (method, found) in &found {
            scores.push(self.score(*method, found, recording, reference.as_ref())?);
        }
        let agreement = agreement(&found)?;
        let summary = Summary {
            command: typed.to_vec(),
            input: self.input.display().to_string(),
            samples: recording.n_samples(),
            channels: recording.n_channels(),
            sources: self.sources as usize,
            methods: scores,
            agreement,
            failed,
        };
        planned.fill(|folder| self.write(folder, recording, &found, &summary))?;
        if self.ending.json {
            output::print_line(&serde_json::to_string_pretty(&summary)?);
        } else if !self.ending.quiet {
            output::print(&format!(
                "\n{}\nresults  {}\npage     {}\n",
                summary.text(),
                target.display(),
                target.join(PAGE).display()
            ));
        }
        Ok(())
    }

    fn task(&self, start: u64) -> Task {
        Task {
            n_sources: self.sources as usize,
            settings: self.settings.clone(),
            start,
        }
    }

    /// What every method finds, and which ones found nothing. All failing is a failure.
    fn run_methods(&self, recording: &Recording) -> Outcome<(Vec<FoundBy>, Vec<Failed>)> {
        let methods = MethodName::chosen(&self.methods);
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        for method in methods {
            let what = format!("running {method}");
            let quiet = self.ending.quiet;
            match under_way(quiet, &what, || method.run(recording, &self.task(0))) {
                Ok(result) => found.push((method, result)),
                Err(error) => failed.push(Failed {
                    method: method.to_string(),
                    why: error.to_string(),
                }),
            }
        }
        match (found.is_empty(), failed.first()) {
            (true, Some(Failed { method, why })) => Err(Failure::Failed(format!(
                "{}: {method}: {why}",
                self.input.display()
            ))),
            _ => Ok((found, failed)),
        }
    }

    fn score(
        &self,
        method: MethodName,
        found: &Found,
        recording: &Recording,
        reference: Option<&Reference>,
    ) -> Outcome<Scores> {
        let sources = found.sources.as_ref();
        let matching = match reference {
            Some(reference) => Some(match_sources(sources, reference)?),
            None => None,
        };
        let predicted: Result<Vec<f64>, _> = sources
            .col_iter()
            .map(|source| {
                temporal_predictability(&source.iter().copied().collect::<Vec<_>>(), DEFAULT_ORDER)
            })
            .collect();
        let stability = if method.is_random() {
            let what = format!("running {method} again, for its stability");
            let quiet = self.ending.quiet;
            let again = under_way(quiet, &what, || method.run(recording, &self.task(1)))?;
            Some(matched(again.sources.as_ref(), sources)?.mac())
        } else {
            None
        };
        Ok(Scores {
            method: method.to_string(),
            mac: matching.as_ref().map(Matching::mac),
            worst: matching.as_ref().map(Matching::worst),
            predictability: predicted
                .ok()
                .map(|shares| shares.iter().sum::<f64>() / shares.len() as f64),
            dependence: ResidualDependence::of(sources)
                .ok()
                .map(|dependence| dependence.mean()),
            stability,
            converged: found.converged,
            seconds: found.seconds,
        })
    }

    /// What `strt separate` writes of the sources, for every method: in all formats, denoised where
    /// the method can do that, and the mixing where it has one.
    fn write_method(
        &self,
        folder: &Path,
        method: &str,
        found: &Found,
        sources: &Signals<'_>,
        recording: &Recording,
    ) -> Outcome {
        for format in Format::with_defaults(&self.format) {
            format.write(folder, method, sources)?;
            if let Some(denoised) = &found.denoised {
                let values = denoised.as_ref();
                let stem = format!("{method}_denoised");
                format.write(folder, &stem, &Signals { values, ..*sources })?;
            }
        }
        if let Some(mixing) = &found.mixing {
            let text = mixing_csv(recording.channel_names(), sources.names, mixing.as_ref());
            write_text(folder.join(format!("{method}_mixing.csv")), &text)?;
        }
        Ok(())
    }

    /// Whether the sources will fit into the files that were asked for: better now than after all
    /// methods have run.
    fn check_formats(&self, folder: &Path, recording: &Recording) -> Outcome {
        let observations = recording.observations();
        let names = source_names(observations.ncols());
        for format in &self.format {
            // A gap in any channel is one in all sources.
            let values = match format {
                Format::Flac => observations.subcols(0, names.len().min(self.sources as usize)),
                _ => observations,
            };
            let signals = Signals {
                values,
                names: &names[..values.ncols()],
                rate: recording.sampling_rate(),
            };
            format.check(folder, "sources", &signals)?;
        }
        Ok(())
    }

    fn write(
        &self,
        folder: &Path,
        recording: &Recording,
        found: &[FoundBy],
        summary: &Summary,
    ) -> Outcome {
        let names = source_names(self.sources as usize);
        let mut compared = Vec::new();
        let first = found[0].1.sources.as_ref();
        for (method, result) in found {
            let values = result.sources.as_ref();
            let signals = Signals {
                values,
                names: &names,
                rate: recording.sampling_rate(),
            };
            self.write_method(folder, &method.to_string(), result, &signals, recording)?;
            let matching = matched(values, first)?;
            let order: Vec<Option<usize>> = (0..first.ncols())
                .map(|k| matching.matched().iter().position(|&j| j == Some(k)))
                .collect();
            compared.push(ComparedMethod {
                name: method.to_string(),
                sources: values,
                sign: order
                    .iter()
                    .map(|j| j.map_or(1.0, |j| matching.sign()[j]))
                    .collect(),
                order,
            });
        }
        let page = ComparisonPage {
            input: self
                .input
                .file_name()
                .unwrap_or(self.input.as_os_str())
                .to_string_lossy()
                .into_owned(),
            about: vec![format!(
                "{} samples of {} channels, {} sources, strt {}. MAC is the mean absolute \
                 correlation with the reference. Predictability: share of a source's variance that \
                 its own past predicts. Dependence: what the sources still share, pair by pair (0: \
                 nothing). Stability: agreement of two starts, for methods that depend on chance.",
                summary.samples,
                summary.channels,
                summary.sources,
                env!("CARGO_PKG_VERSION")
            )],
            methods: compared,
            sampling_rate: recording.sampling_rate(),
            scores: columns(summary),
            agreement: summary.agreement.clone(),
        };
        write_text(folder.join(PAGE), &page.to_html()?)?;
        let (header, rows) = columns(summary);
        let line = |cells: &[String]| format!("{}\n", cells.join(","));
        let csv: String = std::iter::once(&header)
            .chain(&rows)
            .map(|cells| line(cells))
            .collect();
        write_text(folder.join("compare.csv"), &csv)?;
        Ok(write_json(&folder.join(SUMMARY), summary)?)
    }
}

/// A mixing matrix: a line a channel, a column a source.
fn mixing_csv(channels: &[String], sources: &[String], mixing: MatRef<'_, f64>) -> String {
    let mut text = format!("channel,{}\n", sources.join(","));
    for (channel, row) in channels.iter().zip(mixing.row_iter()) {
        let quoted = channel.replace('"', "\"\"");
        text.push_str(&format!("\"{quoted}\""));
        row.iter()
            .for_each(|value| text.push_str(&format!(",{value}")));
        text.push('\n');
    }
    text
}

/// The sources of one method matched with those of another.
fn matched(estimated: MatRef<'_, f64>, other: MatRef<'_, f64>) -> Outcome<Matching> {
    // A reference has no gaps; where one method has them, all have, and what is there does not
    // count.
    let whole = faer::Mat::from_fn(other.nrows(), other.ncols(), |t, k| match other[(t, k)] {
        value if value.is_nan() => 0.0,
        value => value,
    });
    Ok(match_sources(estimated, &Reference::new(whole)?)?)
}

fn agreement(found: &[FoundBy]) -> Outcome<Vec<Vec<f64>>> {
    let pair = |a: &Found, b: &Found| Ok(matched(a.sources.as_ref(), b.sources.as_ref())?.mac());
    found
        .iter()
        .map(|(_, a)| found.iter().map(|(_, b)| pair(a, b)).collect())
        .collect()
}

/// Header and rows of the scores; a score that no method has is left out.
fn columns(summary: &Summary) -> (Vec<String>, Vec<Vec<String>>) {
    type Column = (&'static str, fn(&Scores) -> Option<f64>, usize);
    let all: [Column; 6] = [
        ("MAC", |scores| scores.mac, 4),
        ("worst source", |scores| scores.worst, 4),
        ("predictability", |scores| scores.predictability, 3),
        ("dependence", |scores| scores.dependence, 4),
        ("stability", |scores| scores.stability, 4),
        ("seconds", |scores| Some(scores.seconds), 2),
    ];
    let kept: Vec<&Column> = all
        .iter()
        .filter(|(_, value, _)| summary.methods.iter().any(|scores| value(scores).is_some()))
        .collect();
    let mut header = vec!["method".to_string()];
    header.extend(kept.iter().map(|(name, _, _)| name.to_string()));
    header.push("converged".into());
    let row = |scores: &Scores| {
        let mut row = vec![scores.method.clone()];
        row.extend(kept.iter().map(|(_, value, digits)| match value(scores) {
            Some(value) => format!("{value:.digits$}"),
            None => "-".into(),
        }));
        row.push(if scores.converged { "yes" } else { "no" }.into());
        row
    };
    (header, summary.methods.iter().map(row).collect())
}
