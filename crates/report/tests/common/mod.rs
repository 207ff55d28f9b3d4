//! Small runs for the tests of this crate.

use faer::Mat;
use strt_report::{Report, RunFacts, ScoredStep, SourceCountEstimate};
use strt_score::{Matching, Reference, match_sources};
use strtransformer::train::{History, HistoryRow, Start, separate_observed};
use strtransformer::{Config, Recording, Separation};

/// Everything that a report borrows.
pub struct Run {
    pub recording: Recording,
    pub separation: Separation,
    pub history: Vec<HistoryRow>,
    pub reference: Reference,
    pub matching: Matching,
    pub scores: Vec<ScoredStep>,
}

impl Run {
    /// A report with every section.
    pub fn report(&self) -> Report<'_> {
        Report {
            recording: &self.recording,
            separation: &self.separation,
            history: &self.history,
            reference: Some((&self.reference, &self.matching)),
            scores: &self.scores,
            run: RunFacts {
                command: "strt separate recording.csv --sources 3".into(),
                input: "recording.csv".into(),
                versions: vec!["strt 0.1.0".into()],
                source_count: Some(SourceCountEstimate {
                    n_sources: self.separation.config().n_sources,
                    eigenvalues: vec![3.0, 2.0, 1.0, 0.01, 0.005],
                    method: "Largest drop".into(),
                    reasoning: "The spectrum falls behind the third eigenvalue.".into(),
                }),
                config_toml: "seed = 4".into(),
                ..RunFacts::default()
            },
        }
    }
}

/// Sources that are waves of different periods, and channels that are sums of them with arbitrary
/// weights.
pub fn waves(n_samples: usize, n_sources: usize, n_channels: usize) -> (Mat<f64>, Mat<f64>) {
    let sources = Mat::from_fn(n_samples, n_sources, |t, k| {
        (t as f64 * (0.07 + 0.043 * k as f64)).sin()
    });
    let weights = Mat::from_fn(n_sources, n_channels, |k, c| {
        (1e4 * (1.3 * k as f64 + 7.7 * c as f64).sin()).sin()
    });
    let channels = &sources * &weights;
    (sources, channels)
}

/// A few steps on a short recording; `names` are the channels'.
pub fn small(config: Config, names: &[&str], n_missing: usize) -> Run {
    let (sources, mut channels) = waves(400, config.n_sources, names.len());
    for t in 100..100 + n_missing {
        channels[(t, 0)] = f64::NAN;
    }
    let recording = Recording::from_mat(channels)
        .and_then(|recording| {
            recording.with_channel_names(names.iter().map(|name| name.to_string()).collect())
        })
        .and_then(|recording| recording.with_sampling_rate(250.0))
        .unwrap();
    let mut config = config;
    config.optimizer.steps = Some(12);
    config.branches.patch_sizes = vec![4, 8, 16, 32];
    let mut history = History::every(2);
    let separation =
        separate_observed(&recording, &config, Start::default(), &mut history).unwrap();
    let reference = Reference::new(sources).unwrap();
    let matching = match_sources(separation.sources(), &reference).unwrap();
    let scores = [1, 6, 12]
        .map(|step| ScoredStep::new(step, &matching))
        .into();
    Run {
        history: history.rows().to_vec(),
        recording,
        separation,
        reference,
        matching,
        scores,
    }
}
