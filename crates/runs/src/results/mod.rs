//! What a run leaves: the files of its folder.
//!
//! In: the recording, the ended run and how it came about. Out: a filled folder and its
//! [`Summary`]. When and where a folder is filled is not decided here, and nothing is printed.

pub mod history;
pub mod scores;
pub mod summary;

use crate::error::{Error, Result};
use crate::folder::SUMMARY;
use crate::format::Format;
use crate::run::Log;
use crate::words::Words;
use faer::MatRef;
use serde::Serialize;
use std::path::Path;
use strt_io::{Signals, config_to_toml, save_config, save_model, write_signals, write_text};
use strt_report::{Mixture, Report, RunFacts, ScoredStep};
use strt_score::{Matching, Reference, match_sources};
use strtransformer::{Recording, Separation};
use summary::{CountSummary, Input, Scores, Summary, Versions, source_names};

/// What every logged step reported.
pub const HISTORY: &str = "history.csv";
/// With a reference, how well the sources of each logged step match it.
pub const SCORES: &str = "scores.csv";
/// The page.
pub const REPORT: &str = "report.html";
/// All parameters and sources.
pub const MODEL: &str = "model.safetensors";

/// Everything there is to tell about a run.
pub struct Results<'a> {
    /// What was separated.
    pub recording: &'a Recording,
    /// The result.
    pub separation: &'a Separation,
    /// What was recorded on the way.
    pub log: &'a Log,
    /// Where the recording came from.
    pub input: Input,
    /// What to know about the input.
    pub input_warnings: Vec<String>,
    /// What gives this result again, such as a command line.
    pub command: String,
    /// True sources and where they came from.
    pub reference: Option<(String, &'a Reference)>,
    /// How the number of sources was found, when it was not given.
    pub source_count: Option<&'a CountSummary>,
    /// Formats of the sources besides NPY and CSV.
    pub formats: &'a [Format],
    /// Whether to write the figures as pictures too.
    pub figures: bool,
    /// What arguments are called in warnings.
    pub words: &'static Words,
}

impl<'a> Results<'a> {
    /// A run about which nothing else is known.
    pub fn new(
        recording: &'a Recording,
        separation: &'a Separation,
        log: &'a Log,
        input: Input,
    ) -> Results<'a> {
        Results {
            recording,
            separation,
            log,
            input,
            input_warnings: Vec::new(),
            command: String::new(),
            reference: None,
            source_count: None,
            formats: &[],
            figures: false,
            words: &Words::LIBRARY,
        }
    }

    /// Writes every file into `folder`, the summary last.
    pub fn write(&self, folder: &Path) -> Result<Summary> {
        let separation = self.separation;
        let matching = self.matching()?;
        let mixture = Mixture::of(self.recording, separation)?;
        let mut summary = self.summary(&mixture, matching.as_ref());
        let mut files = Vec::new();
        let mut place = |name: String| {
            let path = folder.join(&name);
            files.push(name);
            path
        };

        let names = source_names(summary.sources);
        let signals = Signals {
            values: separation.sources(),
            names: &names,
            rate: self.recording.sampling_rate(),
        };
        for format in Format::with_defaults(self.formats) {
            write_signals(place(format!("sources.{}", format.ending())), &signals)?;
        }
        if let Some(mixer) = MixerFile::new(self.recording, separation) {
            write_json(&place("mixer.json".into()), &mixer)?;
        }
        save_model(separation, place(MODEL.into()))?;
        save_config(separation.config(), place("config.toml".into()))?;
        let log = self.log;
        let patch_sizes = &separation.config().branches.patch_sizes;
        write_text(
            place(HISTORY.into()),
            &history::to_csv(log.rows(), summary.sources, patch_sizes),
        )?;
        if self.reference.is_some() {
            write_text(
                place(SCORES.into()),
                &scores::to_csv(&log.scores, summary.sources),
            )?;
        }

        let kept_scores = self.kept_scores();
        let report = self.report(&summary, matching.as_ref(), &kept_scores);
        write_text(place(REPORT.into()), &report.to_html()?)?;
        if self.figures {
            for figure in report.figures()? {
                let mut write = |ending: &str, bytes: &[u8]| {
                    let path = place(format!("{}.{ending}", figure.name));
                    std::fs::write(&path, bytes).map_err(Error::file("write", &path))
                };
                write("svg", figure.svg.as_bytes())?;
                write("png", &figure.png)?;
            }
        }
        files.push(SUMMARY.into());
        summary.files = files;
        write_json(&folder.join(SUMMARY), &summary)?;
        Ok(summary)
    }

    /// The page that [`Results::write`] writes, alone.
    ///
    /// # Errors
    /// When the pieces do not belong together.
    pub fn to_html(&self) -> Result<String> {
        let matching = self.matching()?;
        let mixture = Mixture::of(self.recording, self.separation)?;
        let summary = self.summary(&mixture, matching.as_ref());
        let kept_scores = self.kept_scores();
        let report = self.report(&summary, matching.as_ref(), &kept_scores);
        Ok(report.to_html()?)
    }

    fn matching(&self) -> Result<Option<Matching>> {
        Ok(match &self.reference {
            Some((_, reference)) => Some(match_sources(self.separation.sources(), reference)?),
            None => None,
        })
    }

    fn report<'b>(
        &'b self,
        summary: &Summary,
        matching: Option<&'b Matching>,
        kept_scores: &'b [ScoredStep],
    ) -> Report<'b> {
        Report {
            recording: self.recording,
            separation: self.separation,
            history: self.log.rows(),
            reference: match (&self.reference, matching) {
                (Some((_, reference)), Some(matching)) => Some((reference, matching)),
                _ => None,
            },
            scores: kept_scores,
            run: self.facts(summary),
        }
    }

    fn kept_scores(&self) -> Vec<ScoredStep> {
        let kept = self.separation.restart();
        let rows = self.log.scores.iter();
        rows.filter(|row| row.restart == kept)
            .map(|row| row.score.clone())
            .collect()
    }

    fn summary(&self, mixture: &Mixture, matching: Option<&Matching>) -> Summary {
        let separation = self.separation;
        let log = self.log;
        let explained = mixture.explained();
        let warnings = summary::ending_warning(separation, self.words)
            .into_iter()
            .chain(self.content_warnings(explained))
            .collect();
        let margin = separation.assignment_margin();
        Summary {
            versions: Versions::new(separation.config().threads),
            command: self.command.clone(),
            input: self.input.clone(),
            samples: self.recording.n_samples(),
            channels: self.recording.n_channels(),
            sources: separation.sources().ncols(),
            seed: separation.config().seed,
            kept_seed: separation.seed(),
            kept_restart: separation.restart(),
            restarts: separation.restarts().to_vec(),
            steps: separation.steps(),
            stop_reason: separation.stop_reason(),
            converged: separation.converged(),
            warnings,
            objective: separation.terms(),
            smoothed_objective: separation.smoothed_objective(),
            explained_variance: explained,
            assignment_margin: margin.is_finite().then_some(margin),
            branches: summary::branches(separation, mixture),
            source_count: self.source_count.cloned(),
            scores: match (&self.reference, matching) {
                (Some((path, _)), Some(matching)) => Some(Scores::new(path, matching)),
                _ => None,
            },
            wall_seconds: log.seconds,
            steps_per_second: log.steps as f64 / log.seconds.max(1e-9),
            files: Vec::new(),
        }
    }

    /// What to know beyond how the run ended.
    fn content_warnings(&self, explained: f64) -> impl Iterator<Item = String> + '_ {
        summary::fit_warning(explained, self.words)
            .into_iter()
            .chain(self.input_warnings.iter().cloned())
            .chain(summary::constant_warning(self.recording))
    }

    fn facts(&self, summary: &Summary) -> RunFacts {
        let path = Path::new(&self.input.path);
        let name = path.file_name().map_or(self.input.path.clone(), |name| {
            name.to_string_lossy().into_owned()
        });
        RunFacts {
            command: summary.command.clone(),
            input: name,
            input_notes: self.input.notes.clone(),
            versions: summary.versions.lines(),
            wall_seconds: Some(summary.wall_seconds),
            steps_per_second: Some(summary.steps_per_second),
            // The page says itself how the run ended.
            warnings: self.content_warnings(summary.explained_variance).collect(),
            source_count: self.source_count.map(CountSummary::for_report),
            config_toml: config_to_toml(self.separation.config()),
        }
    }
}

/// `mixer.json`: an affine mixer in the units of the recording, channel = matrix · source + offset.
#[derive(Serialize)]
struct MixerFile<'a> {
    channels: &'a [String],
    sources: Vec<String>,
    matrix: Vec<Vec<f64>>,
    offset: Vec<f64>,
}

impl<'a> MixerFile<'a> {
    fn new(recording: &'a Recording, separation: &Separation) -> Option<MixerFile<'a>> {
        let (matrix, offset) = separation.mixing()?;
        Some(MixerFile {
            channels: recording.channel_names(),
            sources: source_names(matrix.ncols()),
            matrix: rows(matrix.as_ref()),
            offset,
        })
    }
}

/// A matrix as JSON has it.
pub fn rows(matrix: MatRef<'_, f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

/// Writes a value as indented JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result {
    let text = serde_json::to_string_pretty(value)?;
    write_text(path, &format!("{text}\n"))?;
    Ok(())
}
