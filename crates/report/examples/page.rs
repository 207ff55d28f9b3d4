//! Writes a demonstration page and its static figures:
//!
//! ```sh
//! cargo run --release --workspace --example page -- page.html case-study 2000
//! ```
//!
//! The second argument chooses the problem: `case-study` (the paper's), `nonlinear`, `gaps`
//! (missing samples, named channels, a sampling rate), `many` (16 sources), `crowd` (64 sources in
//! 256 channels); the third the number of steps.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use strt_report::{Report, RunFacts, ScoredStep, SourceCountEstimate};
use strt_runs::Scored;
use strt_score::{Matching, match_sources};
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::train::{History, Observer, Start, StepReport, separate_observed};
use strtransformer::{Config, Recording};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or("page.html".into());
    let case = arguments.next().unwrap_or("case-study".into());
    let steps = arguments
        .next()
        .map(|steps| steps.parse())
        .transpose()?
        .unwrap_or(300);

    let problem = problem(&case)?;
    let recording = recording(&case, &problem)?;
    let mut config = match case.as_str() {
        "nonlinear" => Config::nonlinear(problem.sources.ncols()),
        _ => Config::new(problem.sources.ncols()),
    };
    (config.seed, config.optimizer.steps) = (4, Some(steps));

    let reference = problem.reference()?;
    let (mut history, mut scores) = (History::every(10), Vec::new());
    let keep = |report: &StepReport<'_>, score: Option<&Matching>| {
        scores.extend(score.map(|score| ScoredStep::new(report.step, score)));
        let _: ControlFlow<()> = history.observe(report);
        ControlFlow::Continue(())
    };
    let mut scored = Scored::new(&reference, &recording, keep)?.every(10);
    let began = Instant::now();
    let separation = separate_observed(&recording, &config, Start::default(), &mut scored)?;
    drop(scored);
    let seconds = began.elapsed().as_secs_f64();
    let matching = match_sources(separation.sources(), &reference)?;

    let report = Report {
        recording: &recording,
        separation: &separation,
        history: history.rows(),
        // One of the demonstrations is without a reference, as real recordings are.
        reference: (case != "gaps").then_some((&reference, &matching)),
        scores: if case == "gaps" { &[] } else { &scores },
        run: RunFacts {
            command: format!(
                "cargo run --release --workspace --example page -- page.html {case} {steps}"
            ),
            input: format!("{case}.csv"),
            input_notes: vec!["Comma-separated values with a header line.".into()],
            versions: vec![format!("strt-report {}", env!("CARGO_PKG_VERSION"))],
            wall_seconds: Some(seconds),
            steps_per_second: Some(separation.steps() as f64 / seconds),
            warnings: match recording.n_missing() {
                0 => Vec::new(),
                n => vec![format!(
                    "{n} samples are missing; patches that touch them were left out."
                )],
            },
            source_count: (case == "gaps").then(|| estimate(separation.sources().ncols())),
            config_toml: toml::to_string(separation.config())?,
        },
    };
    std::fs::write(&path, report.to_html()?)?;
    for figure in report.figures()? {
        let beside = |extension: &str| {
            Path::new(&path).with_extension(format!("{}.{extension}", figure.name))
        };
        std::fs::write(beside("svg"), &figure.svg)?;
        std::fs::write(beside("png"), &figure.png)?;
    }
    println!("{path}: MAC {:.4}, {seconds:.1} s", matching.mac());
    Ok(())
}

fn problem(case: &str) -> strt_synth::Result<Problem> {
    let spec = match case {
        "nonlinear" => ProblemSpec {
            kind: SourceKind::Sines,
            mixing: MixingKind::Pnl,
            noise: 0.01,
            ..ProblemSpec::default()
        },
        "gaps" => ProblemSpec {
            kind: SourceKind::NonSmooth,
            n_samples: 5000,
            n_channels: 8,
            ..ProblemSpec::default()
        },
        "many" => ProblemSpec {
            kind: SourceKind::SwitchingAr,
            n_samples: 4000,
            n_sources: 16,
            n_channels: 32,
            ..ProblemSpec::default()
        },
        "crowd" => ProblemSpec {
            kind: SourceKind::SwitchingAr,
            n_samples: 6000,
            n_sources: 64,
            n_channels: 256,
            ..ProblemSpec::default()
        },
        _ => ProblemSpec {
            seed: 4,
            ..ProblemSpec::default()
        },
    };
    spec.generate()
}

fn recording(case: &str, problem: &Problem) -> strt_signal::Result<Recording> {
    if case != "gaps" {
        return problem.recording();
    }
    let mut values = problem.observations.clone();
    for t in (1200..1500).chain(3600..3680) {
        values[(t, 2)] = f64::NAN;
    }
    let names = [
        "Fp1",
        "Fp2",
        "F7",
        "F8",
        "C3 <left>",
        "C4 & right",
        "O1",
        "O2",
    ];
    Recording::from_mat(values)?
        .with_channel_names(names.map(String::from).into())?
        .with_sampling_rate(250.0)
}

fn estimate(n_sources: usize) -> SourceCountEstimate {
    SourceCountEstimate {
        n_sources,
        eigenvalues: vec![4.1, 2.4, 1.3, 0.0052, 0.0049, 0.0046, 0.0043, 0.0041],
        method: "Largest drop".into(),
        reasoning:
            "Behind the third eigenvalue the spectrum falls by a factor of 250, to the level of the noise."
                .into(),
    }
}
