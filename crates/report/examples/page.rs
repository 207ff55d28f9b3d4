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
use std::path::Path;
use std::time::Duration;
use strt_report::Report;
use strt_runs::Unwatched;
use strt_runs::results::Results;
use strt_runs::results::count::CountSummary;
use strt_runs::results::summary::Input;
use strt_runs::training::Training;
use strt_score::match_sources;
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::preprocess::{ChannelScalingOptions, CountMethod, SourceCount};
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
    // One of the demonstrations is without a reference, as real recordings are.
    let blind = case == "gaps";
    let truth = (!blind).then_some(&reference);
    let training = Training::new(&recording, truth, &config, 10)?;
    let trained = training.run(&mut Unwatched, Duration::MAX, |_, _| Ok(()))?;
    let matching = match_sources(trained.separation.sources(), &reference)?;
    let options = ChannelScalingOptions::default();
    let count = SourceCount::estimate(&recording, options, CountMethod::default())?;
    let count = CountSummary::from(&count);
    let input = Input {
        notes: vec!["Comma-separated values with a header line.".into()],
        ..Input::in_memory(&format!("{case}.csv"), &recording)
    };
    let results = Results {
        command: format!(
            "cargo run --release --workspace --example page -- page.html {case} {steps}"
        ),
        reference: truth.map(|reference| ("generated".into(), reference)),
        source_count: blind.then_some(&count),
        ..Results::new(&recording, &trained.separation, &trained.log, input)
    };
    let findings = results.findings()?;
    let report = Report::new(&results, &findings);
    std::fs::write(&path, report.to_html()?)?;
    for figure in report.figures()? {
        let beside = |extension: &str| {
            Path::new(&path).with_extension(format!("{}.{extension}", figure.name))
        };
        std::fs::write(beside("svg"), &figure.svg)?;
        std::fs::write(beside("png"), &figure.png)?;
    }
    println!(
        "{path}: MAC {:.4}, {:.1} s",
        matching.mac(),
        trained.log.seconds
    );
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
