//! Scores beside a run: what [`Scored`] hands on is what [`match_sources`] says, and the run is
//! none the wiser.

use faer::Mat;
use std::ops::ControlFlow;
use strt_runs::Scored;
use strt_score::{Matching, Reference, match_sources};
use strt_synth::{Problem, ProblemSpec, SourceKind};
use strtransformer::config::{Coordinates, Freedom, ScheduleKind};
use strtransformer::train::{Start, StepReport, StopReason, separate_observed};
use strtransformer::{Config, Recording, Trainer, separate};

const T: usize = 240;
const STEPS: usize = 24;

fn problem(n_samples: usize) -> Problem {
    let spec = ProblemSpec {
        kind: SourceKind::Ar,
        n_samples,
        n_channels: 4,
        seed: 5,
        ..ProblemSpec::default()
    };
    spec.generate().unwrap()
}

fn reference() -> Reference {
    problem(T).reference().unwrap()
}

/// With a gap, a single missing value and a missing last sample.
fn with_gaps() -> Recording {
    let mut values = problem(T).observations;
    (60..75).for_each(|t| values[(t, 0)] = f64::NAN);
    (values[(20, 1)], values[(T - 1, 2)]) = (f64::NAN, f64::NAN);
    Recording::from_mat(values).unwrap()
}

/// Steps of about a millisecond.
fn small(mut config: Config) -> Config {
    config.threads = 1;
    config.branches.patch_sizes = vec![4, 8, 16];
    (config.branches.d_model, config.branches.n_heads) = (8, 2);
    config.mixer.hidden = vec![6];
    config.optimizer.steps = Some(STEPS);
    config.optimizer.early_stopping.enabled = false;
    config.optimizer.schedule.kind = ScheduleKind::Cosine;
    config
}

fn affine() -> Config {
    small(Config::new(3))
}

/// Sources that become free in every sample at step 8.
fn nonlinear() -> Config {
    let mut config = small(Config::nonlinear(3));
    config.sources.coordinates = Some(Coordinates::Fiber);
    config.sources.unlock = Some(8.5 / STEPS as f64);
    config.sources.freedom = Freedom::Full;
    config
}

#[test]
fn every_step_is_scored_as_match_sources_would() {
    // Missing samples: the trainer's sources hold numbers there, which must not count.
    let (recording, reference) = (with_gaps(), reference());
    let mut steps = Vec::new();
    let check = |report: &StepReport<'_>, score: Option<&Matching>| {
        let score = score.expect("every step is scored");
        let fed = report.sources();
        let sources = Mat::from_fn(T, 3, |t, k| {
            if recording.is_missing(t) {
                f64::NAN
            } else {
                fed[(t, k)]
            }
        });
        let expected = match_sources(sources.as_ref(), &reference).unwrap();
        assert_eq!(score.matched(), expected.matched());
        assert!((score.mac() - expected.mac()).abs() < 1e-12);
        for (found, expected) in score.per_source().iter().zip(expected.per_source()) {
            assert!((found - expected).abs() < 1e-12);
        }
        steps.push(report.step);
        ControlFlow::Continue(())
    };
    let mut scored = Scored::new(&reference, &recording, check).unwrap();
    Trainer::new(&recording, &nonlinear())
        .unwrap()
        .run(&mut scored);
    drop(scored);
    assert_eq!(steps, (1..=STEPS).collect::<Vec<_>>());
}

#[test]
fn every_nth_step_and_the_last_are_scored_and_all_are_passed_on() {
    let recording = problem(T).recording().unwrap();
    let mut seen = Vec::new();
    let keep = |report: &StepReport<'_>, score: Option<&Matching>| {
        seen.push((report.restart, report.step, score.is_some()));
        ControlFlow::Continue(())
    };
    let mut config = affine();
    config.restarts = Some(2);
    let mut scored = Scored::new(&reference(), &recording, keep)
        .unwrap()
        .every(10);
    separate_observed(&recording, &config, Start::default(), &mut scored).unwrap();
    drop(scored);
    seen.sort_unstable();
    let expected = (0..2)
        .flat_map(|restart| (1..=STEPS).map(move |n| (restart, n, [10, 20, STEPS].contains(&n))));
    assert_eq!(seen, expected.collect::<Vec<_>>());
}

#[test]
fn scoring_changes_nothing_and_may_end_the_run() {
    let recording = problem(T).recording().unwrap();
    let mut scored = Scored::new(
        &reference(),
        &recording,
        |_: &StepReport<'_>, _: Option<&Matching>| ControlFlow::Continue(()),
    )
    .unwrap();
    let watched = separate_observed(&recording, &affine(), Start::default(), &mut scored).unwrap();
    let alone = separate(&recording, &affine()).unwrap();
    assert_eq!(watched.sources(), alone.sources());

    let stop = |report: &StepReport<'_>, _: Option<&Matching>| match report.step {
        7 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let mut trainer = Trainer::new(&recording, &affine()).unwrap();
    let mut scored = Scored::new(&reference(), &recording, stop).unwrap();
    assert_eq!(trainer.run(&mut scored), StopReason::Interrupted);
    assert_eq!(trainer.step(), 7);
}

#[test]
fn a_reference_of_another_recording_is_refused() {
    let recording = problem(T).recording().unwrap();
    let other = problem(T - 1).reference().unwrap();
    let ignore = |_: &StepReport<'_>, _: Option<&Matching>| ControlFlow::Continue(());
    let message = match Scored::new(&other, &recording, ignore) {
        Ok(_) => panic!("should be refused"),
        Err(error) => error.to_string(),
    };
    assert!(
        message.contains("240 samples") && message.contains("239 samples"),
        "{message}"
    );
}
