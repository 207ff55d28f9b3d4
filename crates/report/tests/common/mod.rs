//! Small runs for the tests of this crate.

use faer::Mat;
use strt_report::notes::{Event, Label, Notes, Verdict};
use strt_report::{Figure, Report};
use strt_runs::results::Results;
use strt_runs::results::count::{ComponentSummary, CountSummary, ShareSummary};
use strt_runs::results::scores::ScoredStep;
use strt_runs::results::summary::Input;
use strt_runs::training::Log;
use strt_score::{Reference, match_sources};
use strtransformer::train::{History, Start, separate_observed};
use strtransformer::{Config, Pieces, Recording, Separation};

/// Everything that a report borrows.
pub struct Run {
    pub recording: Recording,
    pub separation: Separation,
    pub log: Log,
    pub reference: Reference,
    pub count: CountSummary,
}

impl Run {
    /// Results with everything that a page can show.
    pub fn results(&self) -> Results<'_> {
        let input = Input::in_memory("recording.csv", &self.recording);
        Results {
            command: "strt separate recording.csv --sources 3".into(),
            reference: Some(("truth.csv".into(), &self.reference)),
            source_count: Some(&self.count),
            ..Results::new(&self.recording, &self.separation, &self.log, input)
        }
    }

    /// Its page.
    pub fn html(&self) -> String {
        html(&self.results())
    }
}

/// The page of results.
pub fn html(results: &Results<'_>) -> String {
    let findings = results.findings().unwrap();
    Report::new(results, &findings).to_html().unwrap()
}

/// The figures of results.
#[allow(dead_code)] // every test file uses its own part
pub fn figures(results: &Results<'_>) -> Vec<Figure> {
    let findings = results.findings().unwrap();
    Report::new(results, &findings).figures().unwrap()
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
    let n_waves = config.n_sources;
    few(config, names, n_missing, n_waves)
}

/// A few steps on a short recording of so many waves, of which more than are looked for leave
/// something over.
pub fn few(config: Config, names: &[&str], n_missing: usize, n_waves: usize) -> Run {
    let (sources, mut channels) = waves(400, n_waves, names.len());
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
    let mut log = Log::of_rows(history.rows().to_vec());
    log.scores = [1, 6, 12]
        .map(|step| ScoredStep::new(0, step, &matching))
        .into();
    let count = CountSummary {
        method: "Largest drop".into(),
        reasoning: "The spectrum falls behind the third eigenvalue.".into(),
        n_sources: config.n_sources,
        shares: vec![ShareSummary {
            n_sources: config.n_sources,
            share: 0.97,
        }],
        components: [(30.0, true), (12.0, true), (9.0, true), (4.0, false)]
            .map(|(strength, kept)| ComponentSummary {
                witness: "spectrum".into(),
                strength,
                limit: 6.0,
                kept,
                replicated: false,
            })
            .into(),
        by_eigenvalues: Some(2),
        eigenvalues: vec![3.0, 2.0, 1.0, 0.01, 0.005],
        description_length: Vec::new(),
        effective_samples: 400.0,
    };
    Run {
        recording,
        separation,
        log,
        reference,
        count,
    }
}

/// A run as if `n_samples` had been separated for 30,000 steps: a short one, stretched.
#[allow(dead_code)] // every test file uses its own part
pub fn long(n_samples: usize, n_sources: usize, n_channels: usize) -> Run {
    let names: Vec<String> = (0..n_channels)
        .map(|c| format!("electrode number {c} of the left hemisphere"))
        .collect();
    let short: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = small(Config::new(n_sources), &short, 0);
    let (sources, channels) = waves(n_samples, n_sources, n_channels);
    let mut parts = run.separation.record().clone();
    // Unlike a wave of few digits, a source has all of them.
    parts.sources = Mat::from_fn(n_samples, n_sources, |t, k| {
        -1.234567 * sources[(t, k)] + 0.01 * ((t * t + k) as f64).sin()
    });
    parts.pieces = Pieces::whole(n_samples);
    let separation = Separation::from_record(parts).unwrap();
    let reference = Reference::new(sources).unwrap();
    let matching = match_sources(separation.sources(), &reference).unwrap();
    let rows = (0..3000).map(|i| {
        let mut row = run.log.rows()[i % run.log.rows().len()].clone();
        (row.step, row.smoothed_objective) = (10 * i + 1, -27.123456 / (i + 1) as f64);
        row
    });
    let mut log = Log::of_rows(rows.collect());
    log.scores = (0..3000)
        .map(|i| ScoredStep::new(0, 10 * i + 1, &matching))
        .collect();
    Run {
        recording: Recording::from_mat(channels)
            .unwrap()
            .with_channel_names(names)
            .unwrap(),
        separation,
        log,
        reference,
        count: run.count.clone(),
    }
}

/// A complete recording of `n_samples` without a rate.
#[allow(dead_code)] // every test file uses its own part
pub fn plain(n_samples: usize, n_sources: usize) -> Run {
    let run = small(Config::new(n_sources), &["a", "b", "c", "d"], 0);
    let (sources, channels) = waves(n_samples, n_sources, 4);
    let mut record = run.separation.record().clone();
    record.sources = sources.clone();
    record.pieces = Pieces::whole(n_samples);
    Run {
        recording: Recording::from_mat(channels).unwrap(),
        separation: Separation::from_record(record).unwrap(),
        reference: Reference::new(sources).unwrap(),
        ..run
    }
}

/// The page of a run about whose first source others found something, in these words.
#[allow(dead_code)] // every test file uses its own part
pub fn noted(run: &Run, words: &str) -> String {
    let verdict = Verdict {
        finding: "mixed with s2".into(),
        interference: 0.2,
        replication: Some(0.75),
        found_again: Some(0.6),
        restarts: Some((1, 3)),
        reruns: None,
        words: words.into(),
    };
    let label = Label {
        name: words.into(),
        confidence: 0.87,
        reason: words.into(),
    };
    let notes = Notes {
        verdicts: vec![Some(verdict), None],
        labels: vec![Some(label), None],
        events: vec![Event {
            sample: 40,
            name: words.into(),
        }],
    };
    let results = run.results();
    let findings = results.findings().unwrap();
    let report = Report::new(&results, &findings).with_notes(notes).unwrap();
    report.to_html().unwrap()
}
