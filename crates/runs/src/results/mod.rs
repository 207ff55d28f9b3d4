//! What a run leaves: the files of its folder.
//!
//! In: the recording, the ended run and how it came about. Out: a filled folder and its
//! [`Summary`]. When and where a folder is filled is not decided here, pages are drawn by the
//! [`Caller`], and nothing is printed.

pub mod count;
mod denoised;
pub(crate) mod events;
mod files;
pub mod history;
mod json;
pub mod labels;
mod mixture;
pub mod scores;
pub mod summary;
pub mod together;
pub mod verdicts;
pub mod warnings;

use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::folder::{MODEL, PARTIAL, SUMMARY};
use crate::format::Format;
use crate::training::Log;
use count::CountSummary;
use faer::MatRef;
use files::Files;
use labels::LabelSummary;
pub use mixture::Mixture;
use scores::ScoredStep;
use serde::Serialize;
use std::path::Path;
use strt_io::{Signals, save_config, save_model, write_bytes, write_signals, write_text};
use strt_score::{Matching, Reference, match_sources};
use strtransformer::denoise::Denoised;
use strtransformer::train::HistoryRow;
use strtransformer::verdict::VerdictOptions;
use strtransformer::{Recording, Separation};
use summary::{DenoisedSummary, Input, Scores, Summary, Versions, source_names};
use together::PIECES;

/// What every logged step reported.
pub const HISTORY: &str = "history.csv";
/// With a reference, how well the sources of each logged step match it.
pub const SCORES: &str = "scores.csv";
/// What the sources look like.
pub const LABELS: &str = "labels.csv";
/// What happened when in the recording.
pub const EVENTS: &str = "events.json";
/// Which sources to trust.
pub const VERDICTS: &str = "verdicts.csv";

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
    /// How sources are judged; `None` where they are not.
    pub verdicts: Option<VerdictOptions>,
    /// Who asks: how warnings name arguments, and what draws the pages.
    pub caller: &'static Caller,
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
            verdicts: Some(VerdictOptions::default()),
            caller: &Caller::LIBRARY,
        }
    }

    /// Writes every file into `folder`: first what the run has recorded and the model, from which
    /// everything else follows, and the summary last. A file that cannot be written, on a full
    /// disk, does not keep the others from it.
    ///
    /// # Errors
    /// When the pieces do not belong together; [`Error::Incomplete`] when a page could not be drawn
    /// or a file not be written.
    pub fn write(&self, folder: &Path) -> Result<Summary> {
        self.check()?;
        let separation = self.separation;
        let n_sources = separation.sources().ncols();
        let mut files = Files::new(folder);
        let patch_sizes = &separation.config().branches.patch_sizes;
        let history = history::to_csv(self.log.rows(), n_sources, patch_sizes);
        files.add(HISTORY, |path| write_text(path, &history));
        if self.reference.is_some() {
            let scores = scores::to_csv(&self.log.scores, n_sources);
            files.add(SCORES, |path| write_text(path, &scores));
        }
        files.add(MODEL, |path| save_model(separation, path));
        files.add("config.toml", |path| save_config(separation.config(), path));
        if let Some(mixer) = MixerFile::new(self.recording, separation) {
            let mixer = json_text(&mixer)?;
            files.add("mixer.json", |path| write_text(path, &mixer));
        }

        let names = source_names(n_sources);
        let signals = Signals {
            values: separation.sources(),
            names: &names,
            rate: self.recording.sampling_rate(),
        };
        for format in Format::with_defaults(self.formats) {
            files.add_all(format.files("sources", &names), |folder| {
                format.write(folder, "sources", &signals)
            });
        }
        let mut findings = self.findings()?;
        findings.run = run_name(folder);
        if let Some(denoised) = &findings.denoised {
            let signals = |values| Signals { values, ..signals };
            let mean = signals(denoised.sources());
            for format in Format::with_defaults(self.formats) {
                files.add_all(format.files("denoised", &names), |folder| {
                    format.write(folder, "denoised", &mean)
                });
            }
            let deviation = signals(denoised.deviation());
            files.add("denoised_std.npy", |path| {
                write_signals(path, &deviation).map(drop)
            });
        }
        if let Some(verdicts) = &findings.summary.verdicts {
            let verdicts = verdicts::to_csv(verdicts);
            files.add(VERDICTS, |path| write_text(path, &verdicts));
        }
        let labels = labels::to_csv(&findings.summary.labels, n_sources);
        files.add(LABELS, |path| write_text(path, &labels));
        if !self.input.events.is_empty() {
            files.add(EVENTS, |path| events::write(path, &self.input.events));
        }
        if let Some(together) = &self.input.together {
            let pieces = together.to_csv();
            files.add(PIECES, |path| write_text(path, &pieces));
        }
        match (self.caller.pages)(self, &findings) {
            Ok(pages) => {
                for (name, bytes) in pages {
                    files.add(name, |path| write_bytes(path, &bytes));
                }
            }
            Err(error) => files.failed("the page", Error::Page(error)),
        }
        let mut summary = findings.summary;
        summary.warnings.extend(files.warning());
        summary.files = files.names_with(SUMMARY);
        let text = json_text(&summary)?;
        files.add(SUMMARY, |path| write_text(path, &text));
        files.finish()?;
        Ok(summary)
    }

    /// Works out what the files and the page say.
    ///
    /// # Errors
    /// When the pieces do not belong together.
    pub fn findings(&self) -> Result<Findings> {
        self.check()?;
        let matching = match &self.reference {
            Some((_, reference)) => Some(match_sources(self.separation.sources(), reference)?),
            None => None,
        };
        let mixture = Mixture::of(self.recording, self.separation)?;
        let denoised = denoised::of(self.recording, self.separation)?;
        let verdicts = match self.verdicts {
            Some(options) => verdicts::of(self.recording, self.separation, options)?,
            None => None,
        };
        let positions = &self.input.positions;
        let labels = labels::of(self.recording, self.separation, &mixture, positions);
        let warnings = self.warnings(mixture.explained());
        let summary = Summary {
            denoised: denoised.as_ref().map(DenoisedSummary::from),
            labels: LabelSummary::all(&labels),
            verdicts,
            ..self.summary(&mixture, matching.as_ref(), &warnings)
        };
        Ok(Findings {
            run: None,
            summary,
            mixture,
            denoised,
            matching,
            warnings,
        })
    }

    /// Scores of the restart that was kept.
    pub fn kept_scores(&self) -> Vec<&ScoredStep> {
        let kept = self.separation.restart();
        let rows = self.log.scores.iter();
        rows.filter(|row| row.restart == kept).collect()
    }

    /// Rows of the history of the restart that was kept.
    pub fn kept_history(&self) -> Vec<&HistoryRow> {
        let kept = self.separation.restart();
        let rows = self.log.rows().iter();
        rows.filter(|row| row.restart == kept).collect()
    }

    fn summary(
        &self,
        mixture: &Mixture,
        matching: Option<&Matching>,
        warnings: &[String],
    ) -> Summary {
        let separation = self.separation;
        let log = self.log;
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
            warnings: warnings::ending(separation, &self.caller.wording)
                .into_iter()
                .chain(warnings.iter().cloned())
                .collect(),
            objective: separation.terms(),
            smoothed_objective: separation.smoothed_objective(),
            explained_variance: mixture.explained(),
            assignment_margin: margin.is_finite().then_some(margin),
            branches: summary::branches(separation, mixture),
            denoised: None,
            labels: Vec::new(),
            verdicts: None,
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
    fn warnings(&self, explained: f64) -> Vec<String> {
        warnings::poor_fit(explained, &self.caller.wording)
            .into_iter()
            .chain(self.input_warnings.iter().cloned())
            .chain(warnings::constant_channels(self.recording))
            .collect()
    }

    /// Refuses pieces of different runs.
    fn check(&self) -> Result {
        let (t, k) = self.separation.sources().shape();
        let m = self.separation.mixer().n_channels();
        let scales = self.separation.config().branches.patch_sizes.len();
        let recording = self.recording;
        let mut sizes = vec![
            ("samples of the recording", t, recording.n_samples()),
            ("channels of the recording", m, recording.n_channels()),
        ];
        for row in self.kept_history() {
            let weights = row.scale_weights.len();
            sizes.extend([
                ("sources in the history", k, row.centers.len()),
                ("slopes in the history", k, row.slopes.len()),
                ("patch sizes in the history", k, row.expected_patch.len()),
                (
                    "branch energies in the history",
                    k,
                    row.branch_structure.len(),
                ),
                ("scale weights in the history", k * scales, weights),
            ]);
        }
        for step in self.kept_scores() {
            sizes.push(("sources in the scores", k, step.per_source.len()));
            sizes.push(("matches in the scores", k, step.matched.len()));
        }
        if let Some((_, reference)) = &self.reference {
            sizes.push(("samples of the reference", t, reference.n_samples()));
        }
        let wrong = sizes
            .into_iter()
            .find(|(_, expected, found)| expected != found);
        match wrong {
            None => Ok(()),
            Some((what, expected, found)) => Err(Error::Mismatch {
                what,
                expected,
                found,
            }),
        }
    }
}

/// What a run amounts to, worked out once for summary and page.
pub struct Findings {
    /// Name of the folder in which the run will be found, where it is written to one.
    pub run: Option<String>,
    /// `summary.json`, without the list of files.
    pub summary: Summary,
    /// How the sources make up the channels.
    pub mixture: Mixture,
    /// The sources without the noise of the channels, where the model is affine.
    pub denoised: Option<Denoised>,
    /// The sources matched with the true ones, where these are known.
    pub matching: Option<Matching>,
    /// What to know beyond how the run ended.
    pub warnings: Vec<String>,
}

/// The name that a folder will have: work happens in `DIR.partial`, which becomes `DIR`.
fn run_name(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_string_lossy();
    Some(name.strip_suffix(PARTIAL).unwrap_or(&name).into())
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
    write_text(path, &json_text(value)?)?;
    Ok(())
}

fn json_text(value: &impl Serialize) -> Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}
