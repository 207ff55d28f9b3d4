//! `summary.json`: what a run was and how it ended, for scripts. Every field is part of the program's contract; numbers
//! that are not finite are null.

use crate::input::InputOptions;
use serde::{Deserialize, Serialize};
use strt_kernels::cpu::SimdPath;
use strt_report::{Mixture, SourceCountEstimate};
use strtransformer::evaluate::Matching;
use strtransformer::model::objective::Terms;
use strtransformer::preprocess::SourceCount;
use strtransformer::train::{RestartSummary, StopReason};
use strtransformer::{Recording, Separation};

/// The summary of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub versions: Versions,
    /// The command line that gives this result again.
    pub command: String,
    pub input: Input,
    /// T, m and K.
    pub samples: usize,
    pub channels: usize,
    pub sources: usize,
    /// Seed of the run, and of the restart that was kept.
    pub seed: u64,
    pub kept_seed: u64,
    /// Index of the restart that was kept, and how all of them ended.
    pub kept_restart: usize,
    pub restarts: Vec<RestartSummary>,
    /// Steps of the kept restart, why it ended, whether it had converged.
    pub steps: usize,
    pub stop_reason: StopReason,
    pub converged: bool,
    /// What to look at, and what to do about it.
    pub warnings: Vec<String>,
    /// J (`total`) and its terms at the end, and its average over the last steps.
    pub objective: Terms,
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
    pub steps_per_second: f64,
    /// The files of the folder.
    pub files: Vec<String>,
}

/// What computed the result.
#[derive(Clone, Debug, Serialize)]
pub struct Versions {
    pub strt: &'static str,
    pub system: String,
    /// Instruction set of the branch networks: results have the same bits only where it is the same.
    pub instruction_set: String,
    pub threads: usize,
}

impl Versions {
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
    pub path: String,
    pub format: String,
    pub options: InputOptions,
    pub channel_names: Vec<String>,
    pub units: Vec<Option<String>>,
    pub sampling_rate: Option<f64>,
    /// Samples with a missing value, which take no part.
    pub missing_samples: usize,
    /// All that was detected.
    pub notes: Vec<String>,
}

/// One source with its branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchSummary {
    pub source: String,
    /// P̄ in samples, c, α, π by patch size.
    pub expected_patch: f64,
    pub center: f64,
    pub slope: f64,
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
    pub method: String,
    pub reasoning: String,
    pub n_sources: usize,
    pub eigenvalues: Vec<f64>,
    pub description_length: Vec<f64>,
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
    pub reference: String,
    /// Mean absolute correlation of matched sources, and the lowest of them.
    pub mac: f64,
    pub worst: f64,
    /// |correlation| of every source with the true one it was matched to.
    pub per_source: Vec<f64>,
    /// Which one that is, counted from 1; null where there are more sources than true ones.
    pub matched: Vec<Option<usize>>,
}

impl Scores {
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
pub fn ending_warning(separation: &Separation) -> Option<String> {
    let steps = separation.steps();
    match separation.stop_reason() {
        StopReason::Diverged => Some(format!(
            "diverged: the objective was no longer finite after {steps} steps, and the last finite state is kept; try \
             smaller rates, such as --set optimizer.rates.fiber=0.02 --set optimizer.rates.networks=0.001"
        )),
        StopReason::Interrupted => Some(format!(
            "interrupted after {steps} steps: these are the sources of an unfinished run"
        )),
        StopReason::StepLimit if !separation.converged() => Some(format!(
            "not converged: the objective was still improving after {steps} steps; try --steps {}, and compare several \
             seeds",
            2 * steps
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
        1 => Some(format!("channel {} is constant and takes no part", names[0])),
        _ => Some(format!(
            "channels {} are constant and take no part",
            names.join(", ")
        )),
    }
}

/// Sources that leave most of the channels unexplained.
pub fn fit_warning(explained: f64) -> Option<String> {
    (explained < 0.5).then(|| {
        format!(
            "the sources explain only {:.0} % of the channels' variance; more of them (--sources) would explain more, and \
             --mixer mlp helps where channels are nonlinear in the sources",
            100.0 * explained
        )
    })
}
