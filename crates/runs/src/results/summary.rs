//! `summary.json`: what a run was and how it ended, for scripts. Every field is part of the
//! program's contract; numbers that are not finite are null.

use crate::input::Reading;
use crate::words::Words;
use serde::{Deserialize, Serialize};
use std::path::Path;
use strt_io::Opened;
use strt_kernels::cpu::SimdPath;
use strt_report::{Mixture, SourceCountEstimate};
use strt_score::Matching;
use strtransformer::model::objective::Terms;
use strtransformer::preprocess::SourceCount;
use strtransformer::train::{RestartSummary, StopReason};
use strtransformer::{Recording, Separation};

/// The summary of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What computed the result.
    pub versions: Versions,
    /// The command line that gives this result again.
    pub command: String,
    /// What was read.
    pub input: Input,
    /// T.
    pub samples: usize,
    /// m.
    pub channels: usize,
    /// K.
    pub sources: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Seed of the restart that was kept.
    pub kept_seed: u64,
    /// Index of the restart that was kept.
    pub kept_restart: usize,
    /// How all of them ended.
    pub restarts: Vec<RestartSummary>,
    /// Steps of the kept restart.
    pub steps: usize,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Whether it had converged.
    pub converged: bool,
    /// What to look at, and what to do about it.
    pub warnings: Vec<String>,
    /// J (`total`) and its terms at the end.
    pub objective: Terms,
    /// Its average over the last steps.
    pub smoothed_objective: f64,
    /// Share of the variance of the scaled channels that sources and mixer explain.
    pub explained_variance: f64,
    /// Δ, the margin of the assignment of sources to branches; null for one source.
    pub assignment_margin: Option<f64>,
    /// One a source, in branch order.
    pub branches: Vec<BranchSummary>,
    /// How the number of sources was found; null when it was given.
    pub source_count: Option<CountSummary>,
    /// Scores against the reference; null without one.
    pub scores: Option<Scores>,
    /// Time of the training, all restarts together; interruptions are not counted.
    pub wall_seconds: f64,
    /// Steps of all restarts by that time.
    pub steps_per_second: f64,
    /// The files of the folder.
    pub files: Vec<String>,
}

/// What computed the result.
#[derive(Clone, Debug, Serialize)]
pub struct Versions {
    /// Version of the program.
    pub strt: &'static str,
    /// Operating system and processor.
    pub system: String,
    /// Instruction set of the branch networks: results have the same bits only where it is the
    /// same.
    pub instruction_set: String,
    /// Worker threads.
    pub threads: usize,
}

impl Versions {
    /// Of this build on this machine; 0 threads are all cores.
    pub fn new(threads: usize) -> Versions {
        let cores = || std::thread::available_parallelism().map_or(1, Into::into);
        Versions {
            strt: env!("CARGO_PKG_VERSION"),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            instruction_set: format!("{:?}", SimdPath::detect()).to_lowercase(),
            threads: if threads == 0 { cores() } else { threads },
        }
    }

    /// One line each.
    pub fn lines(&self) -> Vec<String> {
        vec![
            format!("strt {}", self.strt),
            self.system.clone(),
            format!("instruction set {}", self.instruction_set),
            format!("{} threads", self.threads),
        ]
    }
}

/// What was read.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// The file as it was given, or a name for data in memory.
    pub path: String,
    /// Its format.
    pub format: String,
    /// What of the file was taken, and how.
    pub options: Reading,
    /// Names of the channels.
    pub channel_names: Vec<String>,
    /// Their physical units, where known.
    pub units: Vec<Option<String>>,
    /// Samples per second, where known.
    pub sampling_rate: Option<f64>,
    /// Samples with a missing value, which take no part.
    pub missing_samples: usize,
    /// All that was detected.
    pub notes: Vec<String>,
}

impl Input {
    /// A file and what was found in it.
    pub fn of_file(path: &Path, reading: &Reading, opened: &Opened) -> Input {
        Input {
            path: path.display().to_string(),
            format: opened.format.to_string(),
            options: reading.clone(),
            units: opened.units.clone(),
            notes: opened.notes.iter().map(ToString::to_string).collect(),
            ..Input::in_memory("", &opened.recording)
        }
    }

    /// A recording that came from no file, under a name for messages.
    pub fn in_memory(name: &str, recording: &Recording) -> Input {
        Input {
            path: name.into(),
            format: "memory".into(),
            options: Reading::default(),
            channel_names: recording.channel_names().to_vec(),
            units: vec![None; recording.n_channels()],
            sampling_rate: recording.sampling_rate(),
            missing_samples: recording.n_missing(),
            notes: Vec::new(),
        }
    }
}

/// One source with its branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchSummary {
    /// Its name.
    pub source: String,
    /// P̄ in samples.
    pub expected_patch: f64,
    /// c.
    pub center: f64,
    /// α.
    pub slope: f64,
    /// π by patch size.
    pub scale_weights: Vec<f64>,
    /// Share of the variance of the scaled channels that this source contributes.
    pub explained_variance: f64,
}

/// The branches of a separation.
pub fn branches(separation: &Separation, mixture: &Mixture) -> Vec<BranchSummary> {
    let state = separation.controller();
    let n_scales = separation.config().branches.patch_sizes.len();
    // A constant channel has no variance to explain.
    let varying: Vec<usize> = (0..mixture.residual.len())
        .filter(|&c| !mixture.residual[c].is_nan())
        .collect();
    let n_varying = varying.len() as f64;
    let names = source_names(state.centers.len()).into_iter().enumerate();
    names
        .map(|(k, source)| BranchSummary {
            source,
            expected_patch: state.expected_patch[k],
            center: state.centers[k],
            slope: state.slopes[k],
            scale_weights: state.scale_weights[k * n_scales..][..n_scales].to_vec(),
            explained_variance: varying
                .iter()
                .map(|&c| mixture.weights[(c, k)].powi(2))
                .sum::<f64>()
                / n_varying,
        })
        .collect()
}

/// Names of the sources: s1, s2, …
pub fn source_names(n_sources: usize) -> Vec<String> {
    (1..=n_sources).map(|k| format!("s{k}")).collect()
}

/// The estimated number of sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CountSummary {
    /// How it was estimated.
    pub method: String,
    /// Why this number, in words.
    pub reasoning: String,
    /// The number.
    pub n_sources: usize,
    /// Variances of the principal components, descending.
    pub eigenvalues: Vec<f64>,
    /// Bits for each number of sources, from 0.
    pub description_length: Vec<f64>,
    /// Samples that count as independent.
    pub effective_samples: f64,
}

impl From<&SourceCount> for CountSummary {
    fn from(count: &SourceCount) -> CountSummary {
        let k = count.n_sources;
        CountSummary {
            method: "Minimum description length (Wax and Kailath)".into(),
            reasoning: format!(
                "{k} of {} components describe the channels in the fewest bits: they carry {:.1} % of the variance, and what is \
                 left looks like noise of equal strength in all directions. Successive samples resemble each other, so \
                 {} samples count as {:.0} independent ones. Where the noise of the channels differs in strength, this \
                 estimate is too high.",
                count.eigenvalues.len(),
                100.0 * count.explained,
                count.n_complete,
                count.effective_samples
            ),
            n_sources: k,
            eigenvalues: count.eigenvalues.clone(),
            description_length: count.description_length.clone(),
            effective_samples: count.effective_samples,
        }
    }
}

impl CountSummary {
    /// As the page shows it.
    pub fn for_report(&self) -> SourceCountEstimate {
        SourceCountEstimate {
            n_sources: self.n_sources,
            eigenvalues: self.eigenvalues.clone(),
            method: self.method.clone(),
            reasoning: self.reasoning.clone(),
        }
    }
}

/// Scores against known sources.
#[derive(Clone, Debug, Serialize)]
pub struct Scores {
    /// Where the true sources came from.
    pub reference: String,
    /// Mean absolute correlation of matched sources.
    pub mac: f64,
    /// The lowest of them.
    pub worst: f64,
    /// |correlation| of every source with the true one it was matched to.
    pub per_source: Vec<f64>,
    /// Which one that is, counted from 1; null where there are more sources than true ones.
    pub matched: Vec<Option<usize>>,
}

impl Scores {
    /// Of sources that were matched with those of `reference`.
    pub fn new(reference: &str, matching: &Matching) -> Scores {
        let from_one = |source: &Option<usize>| source.map(|s| s + 1);
        Scores {
            reference: reference.into(),
            mac: matching.mac(),
            worst: matching.worst(),
            per_source: matching.per_source().to_vec(),
            matched: matching.matched().iter().map(from_one).collect(),
        }
    }
}

/// How a run ended, where that is not as it should be, and what to do about it.
pub fn ending_warning(separation: &Separation, words: &Words) -> Option<String> {
    let steps = separation.steps();
    match separation.stop_reason() {
        StopReason::Diverged => Some(format!(
            "diverged: the objective was no longer finite after {steps} steps, and the last finite state is kept; try \
             smaller rates, such as {}",
            (words.settings)(&[
                ("optimizer.rates.fiber", "0.02"),
                ("optimizer.rates.networks", "0.001")
            ])
        )),
        StopReason::Interrupted => Some(format!(
            "interrupted after {steps} steps: these are the sources of an unfinished run"
        )),
        StopReason::StepLimit if !separation.converged() => Some(format!(
            "not converged: the objective was still improving after {steps} steps; try {}, and compare several \
             seeds",
            (words.settings)(&[("optimizer.steps", &(2 * steps).to_string())])
        )),
        StopReason::StepLimit | StopReason::Plateau => None,
    }
}

/// Channels that never change, which take no part.
pub fn constant_warning(recording: &Recording) -> Option<String> {
    let constant = |c: &usize| {
        let mut values = recording
            .observations()
            .col(*c)
            .iter()
            .filter(|value| !value.is_nan());
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    let names: Vec<&str> = (0..recording.n_channels())
        .filter(constant)
        .map(|c| recording.channel_names()[c].as_str())
        .collect();
    match names.len() {
        0 => None,
        1 => Some(format!(
            "channel {} is constant and takes no part",
            names[0]
        )),
        _ => Some(format!(
            "channels {} are constant and take no part",
            names.join(", ")
        )),
    }
}

/// Sources that leave most of the channels unexplained.
pub fn fit_warning(explained: f64, words: &Words) -> Option<String> {
    (explained < 0.5).then(|| {
        format!(
            "the sources explain only {:.0} % of the channels' variance; more of them ({}) would explain more, and \
             {} helps where channels are nonlinear in the sources",
            100.0 * explained,
            words.sources,
            (words.settings)(&[("mixer.kind", "mlp")])
        )
    })
}
