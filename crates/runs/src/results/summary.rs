//! `summary.json`: what a run was and how it ended, for scripts. Every field is part of the
//! program's contract; numbers that are not finite are null, and read as NaN.

use super::count::CountSummary;
use super::json::{self, TermsRecord, number, numbers};
use super::labels::LabelSummary;
use super::mixture::Mixture;
use super::together::Together;
use super::verdicts::VerdictSummary;
use serde::{Deserialize, Serialize};
use std::path::Path;
use strt_io::{Event, Joined, Opened, ReadOptions};
use strt_kernels::cpu::SimdPath;
use strt_score::Matching;
use strtransformer::denoise::Denoised;
use strtransformer::train::{RestartSummary, StopReason, Terms};
use strtransformer::{Recording, Separation};

/// The summary of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Seed of the run; like those of its restarts a number, or its digits as text where it exceeds
    /// 2⁵³.
    #[serde(with = "json::seed")]
    pub seed: u64,
    /// Seed of the restart that was kept.
    #[serde(with = "json::seed")]
    pub kept_seed: u64,
    /// Index of the restart that was kept.
    pub kept_restart: usize,
    /// How all of them ended.
    #[serde(with = "json::restarts")]
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
    #[serde(with = "TermsRecord")]
    pub objective: Terms,
    /// Its average over the last steps.
    #[serde(deserialize_with = "number")]
    pub smoothed_objective: f64,
    /// Share of the variance of the scaled channels that sources and mixer explain.
    #[serde(deserialize_with = "number")]
    pub explained_variance: f64,
    /// Δ, the margin of the assignment of sources to branches; null for one source.
    pub assignment_margin: Option<f64>,
    /// One a source, in branch order.
    pub branches: Vec<BranchSummary>,
    /// What the denoised sources assume; null for a model that has none.
    #[serde(default)]
    pub denoised: Option<DenoisedSummary>,
    /// Which sources to trust, one a source; null where nobody asked, and for a run that diverged.
    #[serde(default)]
    pub verdicts: Option<Vec<VerdictSummary>>,
    /// What sources look like, as a proposal; a source that looks like nothing known is not there.
    #[serde(default)]
    pub labels: Vec<LabelSummary>,
    /// How the number of sources was found; null when it was given.
    pub source_count: Option<CountSummary>,
    /// Scores against the reference; null without one.
    pub scores: Option<Scores>,
    /// Time of the training, all restarts together; interruptions are not counted.
    #[serde(deserialize_with = "number")]
    pub wall_seconds: f64,
    /// Steps of all restarts by that time.
    #[serde(deserialize_with = "number")]
    pub steps_per_second: f64,
    /// The files of the folder.
    pub files: Vec<String>,
}

/// What computed the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Versions {
    /// Version of the program.
    pub strt: String,
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
            strt: env!("CARGO_PKG_VERSION").into(),
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The file as it was given, or a name for data in memory or several files.
    pub path: String,
    /// Its format.
    pub format: String,
    /// What of the file was taken, and how.
    pub options: ReadOptions,
    /// Names of the channels.
    pub channel_names: Vec<String>,
    /// Their physical units, where known.
    pub units: Vec<Option<String>>,
    /// Samples per second, where known.
    pub sampling_rate: Option<f64>,
    /// Samples with a missing value, which take no part.
    pub missing_samples: usize,
    /// Where their electrodes are: metres to the right, to the front and up. Not there where the
    /// file knows of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Option<[f64; 3]>>,
    /// The files, where there are several that were separated together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// What happened when; in the folder of a run a file of its own, `events.json`.
    #[serde(skip)]
    pub events: Vec<Event>,
    /// What was done to prepare the recording, one piece of a sentence each.
    #[serde(default)]
    pub prepared: Vec<String>,
    /// All that was detected.
    pub notes: Vec<String>,
}

impl Input {
    /// A file and what was found in it.
    pub fn of_file(path: &Path, reading: &ReadOptions, opened: &Opened) -> Input {
        Input {
            path: path.display().to_string(),
            format: opened.format.to_string(),
            options: ReadOptions {
                // As it was decided, so that whatever reads the file again reads the same.
                transpose: opened
                    .layout
                    .map_or(reading.transpose, |layout| Some(layout.transposed)),
                ..reading.clone()
            },
            units: opened.units.clone(),
            positions: match opened.positions.iter().any(Option::is_some) {
                true => opened.positions.clone(),
                false => Vec::new(),
            },
            events: opened.events.clone(),
            prepared: opened.prepared.clone(),
            notes: opened.notes.iter().map(ToString::to_string).collect(),
            ..Input::in_memory("", &opened.recording)
        }
    }

    /// Several files and what was found in them.
    pub fn of_files(reading: &ReadOptions, joined: &Joined) -> Input {
        let together = Together::of(joined);
        let name = together.name();
        Input {
            together: Some(together),
            ..Input::of_file(Path::new(&name), reading, &joined.opened)
        }
    }

    /// What to call it in a sentence: the name of the file without its folder.
    pub fn name(&self) -> String {
        let name = Path::new(&self.path).file_name();
        name.map_or_else(
            || self.path.clone(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// A recording that came from no file, under a name for messages.
    pub fn in_memory(name: &str, recording: &Recording) -> Input {
        Input {
            path: name.into(),
            format: "memory".into(),
            options: ReadOptions::default(),
            channel_names: recording.channel_names().to_vec(),
            units: vec![None; recording.n_channels()],
            sampling_rate: recording.sampling_rate(),
            missing_samples: recording.n_missing(),
            positions: Vec::new(),
            together: None,
            events: Vec::new(),
            prepared: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// One source with its branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchSummary {
    /// Its name.
    pub source: String,
    /// P̄ in samples.
    #[serde(deserialize_with = "number")]
    pub expected_patch: f64,
    /// c.
    #[serde(deserialize_with = "number")]
    pub center: f64,
    /// α.
    #[serde(deserialize_with = "number")]
    pub slope: f64,
    /// π by patch size.
    #[serde(deserialize_with = "numbers")]
    pub scale_weights: Vec<f64>,
    /// Share of the variance of the scaled channels that this source contributes.
    #[serde(deserialize_with = "number")]
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

/// What `denoised.npy` assumes about the channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DenoisedSummary {
    /// Share of the variance of the scaled channels that is noise; null where the sources leave
    /// nothing over to measure it by, and none is assumed.
    pub noise_share: Option<f64>,
    /// Share of the variance of each source in `sources.npy` that is noise.
    #[serde(deserialize_with = "numbers")]
    pub source_noise_shares: Vec<f64>,
}

impl From<&Denoised> for DenoisedSummary {
    fn from(denoised: &Denoised) -> DenoisedSummary {
        DenoisedSummary {
            noise_share: denoised.noise().share,
            source_noise_shares: denoised.noise().of_sources.clone(),
        }
    }
}

/// Names of the sources: s1, s2, …
pub fn source_names(n_sources: usize) -> Vec<String> {
    (1..=n_sources).map(|k| format!("s{k}")).collect()
}

/// Scores against known sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Where the true sources came from.
    pub reference: String,
    /// Mean absolute correlation of matched sources.
    #[serde(deserialize_with = "number")]
    pub mac: f64,
    /// The lowest of them.
    #[serde(deserialize_with = "number")]
    pub worst: f64,
    /// |correlation| of every source with the true one it was matched to.
    #[serde(deserialize_with = "numbers")]
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
