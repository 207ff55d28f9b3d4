//! Equal seeds give equal bits: whatever the number of threads, and wherever the run was
//! stopped and resumed.
//!
//! A run is reduced to a [`Fingerprint`]: the bits of everything that it leaves behind, by name.

mod common;

use common::{STEPS, affine, in_pieces, neural, nonlinear, paper, recording, settling, with_gaps};
use faer::MatRef;
use std::ops::ControlFlow;
use strt_synth::{ProblemSpec, SourceKind};
use strtransformer::config::{AssignmentRule, EngineKind, MixerKind};
use strtransformer::controller::ControllerState;
use strtransformer::objective::Terms;
use strtransformer::separation::Record;
use strtransformer::train::{
    Checkpoint, Observer, Session, SessionEnd, SessionState, Start, StepReport, StopReason,
    separate_observed,
};
use strtransformer::{Config, Recording, Separation, Trainer};

/// What bent sources were found to be told apart by, in a checkpoint.
const NOVEL: &str = "turning.novel";

type Fingerprint = Vec<(&'static str, Vec<u64>)>;

fn bits(values: impl IntoIterator<Item = f64>) -> Vec<u64> {
    values.into_iter().map(f64::to_bits).collect()
}

fn of_matrix(matrix: MatRef<'_, f64>) -> Vec<u64> {
    bits(
        matrix
            .col_iter()
            .flat_map(|column| column.iter().copied().collect::<Vec<_>>()),
    )
}

fn of_terms(terms: Terms) -> [f64; 7] {
    let Terms {
        total,
        reconstruction,
        structure,
        separation,
        smoothness,
        entropy,
        gap,
    } = terms;
    [
        total,
        reconstruction,
        structure,
        separation,
        smoothness,
        entropy,
        gap,
    ]
}

/// Every number of a result. The record is taken apart field by field, so that a field that is
/// added to it does not compile until it is here too.
fn fingerprint(separation: &Separation) -> Fingerprint {
    let Record {
        config: _, // compared by those who make it
        sources,
        scales,
        mixer,
        raw_gaps,
        controller,
        networks,
        energy,
        scaling,
        whitening,
        unmixing,
        gauge,
        terms,
        smoothed_objective,
        stop,
        converged,
        turned,
        steps,
        seed,
        restart,
        restarts,
        channel_names: _,
        sampling_rate: _,
        pieces,
    } = separation.record();
    let ControllerState {
        order,
        centers,
        slopes,
        scale_weights,
        expected_patch,
    } = controller;
    let says = [order, centers, slopes, scale_weights, expected_patch];
    let of_scales = scales
        .iter()
        .flat_map(|f| f.knots().iter().chain(f.values()));
    let of_network = |(_, network)| of_matrix(network);
    vec![
        ("sources", of_matrix(sources.as_ref())),
        ("scales of sources", bits(of_scales.copied())),
        ("mixer", bits(mixer.parameters().iter().copied())),
        ("raw gaps", bits(raw_gaps.iter().copied())),
        ("controller", bits(says.into_iter().flatten().copied())),
        ("networks", networks.iter().flat_map(of_network).collect()),
        ("energy", bits(energy.iter().copied())),
        ("offsets", bits(scaling.offset().iter().copied())),
        ("scales", bits(scaling.scale().iter().copied())),
        ("means", bits(whitening.mean().iter().copied())),
        ("whitening", of_matrix(whitening.matrix())),
        ("eigenvalues", bits(whitening.eigenvalues().iter().copied())),
        ("unmixing", of_matrix(unmixing.linear().as_ref())),
        (
            "bends",
            unmixing
                .bends()
                .iter()
                .flat_map(|bend| of_matrix(bend.as_ref()))
                .collect(),
        ),
        (
            "gauge",
            bits(gauge.iter().flat_map(|&(mean, divisor)| [mean, divisor])),
        ),
        ("pieces", pieces.lengths().map(|n| n as u64).collect()),
        ("terms", bits(of_terms(*terms))),
        ("smoothed objective", bits([*smoothed_objective])),
        ("turned", bits(*turned)),
        ("restarts", bits(restarts.iter().map(|r| r.objective))),
        (
            "agreement",
            bits(restarts.iter().map(|r| r.agreement.unwrap_or(2.0))),
        ),
        (
            "end",
            vec![
                *steps as u64,
                *stop as u64,
                u64::from(*converged),
                *restart as u64,
                *seed,
            ],
        ),
    ]
}

#[track_caller]
fn same(what: &str, expected: &Fingerprint, found: &Fingerprint) {
    assert_eq!(expected.len(), found.len(), "{what}");
    for ((name, expected), (_, found)) in expected.iter().zip(found) {
        assert!(expected == found, "{what}: {name} has other bits");
    }
}

/// The last checkpoint, with the moments that a separation has not, compared field by field.
#[track_caller]
fn same_checkpoint(what: &str, expected: &Checkpoint, found: &Checkpoint) {
    let mut found = found.clone();
    found.config = expected.config.clone(); // but for the number of threads
    assert!(*expected == found, "{what}: the last checkpoint differs");
}

/// Terms and gradient norm of every step, in order of restart and step.
#[derive(Default)]
struct Trajectory(Vec<(usize, usize, Vec<u64>)>);

impl Observer for Trajectory {
    fn observe(&mut self, report: &StepReport<'_>) -> ControlFlow<()> {
        let values = of_terms(report.terms)
            .into_iter()
            .chain([report.gradient_norm]);
        self.0.push((report.restart, report.step, bits(values)));
        ControlFlow::Continue(())
    }
}

/// What a run of one restart leaves in its last checkpoint.
fn last_checkpoint(recording: &Recording, config: &Config) -> Checkpoint {
    let mut trainer = Trainer::new(recording, config).unwrap();
    trainer.run(&mut ());
    trainer.checkpoint()
}

fn run(recording: &Recording, config: &Config) -> (Fingerprint, Trajectory) {
    let mut trajectory = Trajectory::default();
    let separation =
        separate_observed(recording, config, Start::default(), &mut trajectory).unwrap();
    trajectory.0.sort();
    (fingerprint(&separation), trajectory)
}

struct Case {
    what: &'static str,
    config: Config,
    recording: Recording,
}

fn cases() -> Vec<Case> {
    let case = |what, config, recording| Case {
        what,
        config,
        recording,
    };
    let mut cheapest = affine();
    cheapest.assignment.rule = AssignmentRule::MinimalCost;
    let mut clipped = nonlinear();
    clipped.optimizer.clip = 0.5;
    clipped.optimizer.weight_decay = 0.01;
    let in_blocks = |mut config: Config| {
        (config.branches.crop, config.optimizer.block) = (64, 60);
        config
    };
    vec![
        case("affine, in blocks", in_blocks(affine()), recording(240)),
        case(
            "nonlinear, in blocks",
            in_blocks(nonlinear()),
            recording(240),
        ),
        case(
            "nonlinear, in blocks, missing samples",
            in_blocks(nonlinear()),
            with_gaps(240),
        ),
        case("neural, in blocks", in_blocks(neural()), recording(240)),
        case(
            "neural, in blocks, missing samples",
            in_blocks(neural()),
            with_gaps(240),
        ),
        case("affine, pieces", affine(), in_pieces(240)),
        case("nonlinear, pieces", nonlinear(), in_pieces(240)),
        case(
            "affine, in blocks, pieces",
            in_blocks(affine()),
            in_pieces(240),
        ),
        case(
            "nonlinear, in blocks, pieces",
            in_blocks(nonlinear()),
            in_pieces(240),
        ),
        case(
            "neural, in blocks, pieces",
            in_blocks(neural()),
            in_pieces(240),
        ),
        case("neural", neural(), recording(240)),
        case("neural, missing samples", neural(), with_gaps(240)),
        case("affine", affine(), recording(240)),
        case("affine, moves by cost", cheapest, recording(240)),
        case("nonlinear", nonlinear(), recording(240)),
        case("nonlinear, clipped, two masks", clipped, recording(200)),
        case("paper", paper(), recording(240)),
        case("affine, missing samples", affine(), with_gaps(240)),
        case("nonlinear, missing samples", nonlinear(), with_gaps(240)),
    ]
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for Case {
        what,
        mut config,
        recording,
    } in cases()
    {
        for engine in [EngineKind::Cpu, EngineKind::Reference] {
            (config.engine, config.threads) = (engine, 1);
            let (expected, steps) = run(&recording, &config);
            let last = last_checkpoint(&recording, &config);
            for threads in [1, 2, 4] {
                config.threads = threads;
                let (found, other) = run(&recording, &config);
                let what = format!("{what}, {engine:?}, {threads} threads");
                same(&what, &expected, &found);
                same_checkpoint(&what, &last, &last_checkpoint(&recording, &config));
                assert!(steps.0 == other.0, "{what}: steps differ");
            }
        }
    }
}

#[test]
fn restarts_side_by_side_change_nothing() {
    for (mut config, engine) in [
        (affine(), EngineKind::Cpu),
        (nonlinear(), EngineKind::Cpu),
        (affine(), EngineKind::Reference),
    ] {
        (config.restarts, config.engine) = (Some(3), engine);
        let recording = recording(200);
        let (expected, steps) = run(&recording, &config);
        for threads in [2, 4] {
            config.threads = threads;
            let (found, other) = run(&recording, &config);
            same(&format!("{engine:?}, {threads} threads"), &expected, &found);
            assert!(steps.0 == other.0, "steps differ");
        }
        // Restart i can be reproduced alone from its seed.
        let whole = strtransformer::separate(&recording, &config).unwrap();
        let kept = whole.restart();
        (config.restarts, config.seed) = (Some(1), strtransformer::restart_seed(config.seed, kept));
        let alone = strtransformer::separate(&recording, &config).unwrap();
        assert_eq!(of_matrix(alone.sources()), of_matrix(whole.sources()));
    }
}

#[test]
fn other_seeds_give_other_bits() {
    for Case {
        what,
        mut config,
        recording,
    } in cases()
    {
        let (first, _) = run(&recording, &config);
        config.seed += 1;
        let (second, _) = run(&recording, &config);
        for (name, values) in &first {
            if ["sources", "networks", "terms"].contains(name) {
                let other = second
                    .iter()
                    .find(|(other, _)| other == name)
                    .map(|(_, values)| values);
                assert!(Some(values) != other, "{what}: seed does not change {name}");
            }
        }
    }
}

/// The cases must really contain what they are named for.
#[test]
fn moves_and_the_unlocked_part_take_place() {
    let recording = recording(240);
    for (config, rule) in [
        (affine(), AssignmentRule::CorrelationTime),
        (affine(), AssignmentRule::MinimalCost),
        (nonlinear(), AssignmentRule::CorrelationTime),
        (neural(), AssignmentRule::CorrelationTime),
    ] {
        let sources = |rule| {
            let mut config = config.clone();
            config.assignment.rule = rule;
            of_matrix(
                strtransformer::separate(&recording, &config)
                    .unwrap()
                    .sources(),
            )
        };
        assert!(
            sources(rule) != sources(AssignmentRule::None),
            "{rule:?} moved nothing"
        );
    }
    for config in [nonlinear(), neural()] {
        let mut locked = config.clone();
        locked.sources.unlock = Some(1.0);
        let unlocked = run(&recording, &config).0;
        assert!(
            run(&recording, &locked).0 != unlocked,
            "nothing but A was ever free"
        );
    }
}

/// Ends the run after every step.
fn one_step(_: &StepReport<'_>) -> ControlFlow<()> {
    ControlFlow::Break(())
}

/// Resumes from the checkpoint of every step, the one before the first and the one after the last
/// included.
#[track_caller]
fn check_every_checkpoint(what: &str, recording: &Recording, config: &Config) -> StopReason {
    let mut whole = Trainer::new(recording, config).unwrap();
    let end = whole.run(&mut ());
    let last = whole.checkpoint();
    let expected = fingerprint(&whole.finish());

    let mut stopped = Trainer::new(recording, config).unwrap();
    let mut checkpoints = vec![stopped.checkpoint()];
    while stopped.run(&mut one_step) == StopReason::Interrupted {
        checkpoints.push(stopped.checkpoint());
    }
    checkpoints.push(stopped.checkpoint());
    same(
        &format!("{what}, interrupted in every step"),
        &expected,
        &fingerprint(&stopped.finish()),
    );

    for checkpoint in &checkpoints {
        let what = format!("{what}, resumed after step {}", checkpoint.step);
        let mut resumed = Trainer::resume(recording, checkpoint, Start::default()).unwrap();
        assert_eq!(
            &resumed.checkpoint(),
            checkpoint,
            "{what}: the checkpoint itself"
        );
        assert_eq!(resumed.run(&mut ()), end, "{what}: reason of the end");
        assert!(resumed.checkpoint() == last, "{what}: last state");
        same(&what, &expected, &fingerprint(&resumed.finish()));
    }
    end
}

#[test]
fn a_resumed_run_has_the_bits_of_an_unbroken_one() {
    for Case {
        what,
        config,
        recording,
    } in cases()
    {
        assert_eq!(
            check_every_checkpoint(what, &recording, &config),
            StopReason::StepLimit
        );
    }
    let mut config = nonlinear();
    config.engine = EngineKind::Reference;
    check_every_checkpoint("reference engine", &with_gaps(200), &config);
}

#[test]
fn a_run_that_has_settled_stays_so_when_resumed_at_any_step() {
    let recording = recording(200);
    let end = check_every_checkpoint("settling", &recording, &settling());
    assert_eq!(end, StopReason::Settled);
    // Both stages are inside: the rate is lowered three times in each.
    let mut trainer = Trainer::new(&recording, &settling()).unwrap();
    let mut bent = Vec::new();
    trainer.run(&mut |report: &StepReport<'_>| {
        bent.push(report.bent);
        ControlFlow::Continue(())
    });
    assert!(!bent[0] && bent[bent.len() - 1], "{bent:?}");
    assert!(bent.len() < STEPS);
    let separation = trainer.finish();
    assert!(separation.converged() && separation.turned().is_some());
}

/// Bent sources that are turned, and what is judged from then on.
#[test]
fn a_run_resumed_after_its_sources_were_turned_judges_what_it_judged() {
    let spec = ProblemSpec {
        kind: SourceKind::LaplaceAr,
        n_samples: 500,
        n_channels: 4,
        seed: 5,
        ..ProblemSpec::default()
    };
    let recording = spec.generate().unwrap().recording().unwrap();
    let mut config = settling();
    config.optimizer.steps = Some(2 * STEPS);
    check_every_checkpoint("turned", &recording, &config);
    let (one_thread, _) = run(&recording, &config);
    config.threads = 3;
    let (three_threads, _) = run(&recording, &config);
    same("three threads", &one_thread, &three_threads);
    let mut checkpoint = last_checkpoint(&recording, &config);
    assert_eq!(checkpoint.convergence.turns, 1);
    let judged = checkpoint.tensors.get(NOVEL).unwrap();
    assert_eq!(judged.shape(), (6, 1), "one number for every density");
    // What it says must be something that can be judged.
    for (numbers, expected) in [
        (
            vec![0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
            "0 or 1 for every density",
        ),
        (vec![3.0, 1.0, 0.1], "order, length and noise"),
        (vec![1.0], "three or six numbers"),
    ] {
        checkpoint.tensors.put_vector(NOVEL, &numbers);
        let resumed = Trainer::resume(&recording, &checkpoint, Start::default());
        let error = resumed.err().expect("should be refused").to_string();
        assert!(error.contains(NOVEL) && error.contains(expected), "{error}");
    }
}

#[test]
fn a_run_that_is_stopped_in_its_first_stage_has_what_the_second_would_begin_with() {
    let mut config = settling();
    config.optimizer.steps = Some(3);
    let (recording, mut affine) = (recording(200), config.clone());
    let sources = |config: &Config| {
        let mut trainer = Trainer::new(&recording, config).unwrap();
        trainer.run(&mut ());
        trainer.finish().sources().to_owned()
    };
    affine.mixer.kind = MixerKind::Affine;
    (affine.sources.coordinates, affine.sources.unlock) = (None, None);
    affine.weights.energy_block = None;
    assert!((sources(&config) - sources(&affine)).norm_max() < 1e-9);
}

#[test]
fn checkpoints_cover_the_unlocking_and_every_move() {
    // The steps at which something other than an update happens lie strictly inside the run.
    let mut trainer = Trainer::new(&recording(200), &nonlinear()).unwrap();
    trainer.run(&mut ());
    assert_eq!(trainer.step(), STEPS);
    let moves = nonlinear().assignment.at;
    let unlock = nonlinear()
        .sources
        .unlock
        .map(|share| (share * STEPS as f64) as usize);
    assert_eq!((moves, unlock), (vec![3, 6, 12], Some(8)));
}

/// A session of several restarts, stopped and continued in every step, has the bits of `separate`.
#[test]
fn a_session_may_be_stopped_anywhere() {
    // Restarts, what ends them, and how many there are then.
    let orders = [(3, 0.0, 3), (5, 1e-6, 2), (5, 1.0, 5)];
    for ((restarts, agreement, expected_restarts), mut config) in orders
        .into_iter()
        .flat_map(|order| [affine(), nonlinear(), neural()].map(|config| (order, config)))
    {
        (config.restarts, config.agreement) = (Some(restarts), Some(agreement));
        config.optimizer.steps = Some(9);
        let recording = recording(200);
        config.threads = 1; // one restart after the other
        let whole = strtransformer::separate(&recording, &config).unwrap();
        assert_eq!(whole.restarts().len(), expected_restarts);
        let expected = fingerprint(&whole);
        config.threads = 2; // two at a time

        let mut whole = Session::new(&recording, &config, Start::default()).unwrap();
        assert_eq!(whole.run(&mut ()).unwrap(), SessionEnd::Over);
        same("unbroken session", &expected, &fingerprint(&whole.finish()));

        let mut stopped = Session::new(&recording, &config, Start::default()).unwrap();
        while stopped.run(&mut one_step).unwrap() == SessionEnd::Interrupted {
            let state = stopped.state();
            stopped = Session::resume(&recording, state, Start::default()).unwrap();
        }
        same(
            "stopped session",
            &expected,
            &fingerprint(&stopped.finish()),
        );
    }
}

#[test]
fn a_session_needs_the_results_of_the_restarts_before() {
    let mut config = affine();
    (config.restarts, config.optimizer.steps) = (Some(2), Some(2));
    let recording = recording(200);
    config.threads = 1;
    let mut session = Session::new(&recording, &config, Start::default()).unwrap();
    while session.state().finished.is_empty() {
        session.run(&mut one_step).unwrap();
    }
    let refused = |state: SessionState| {
        let session = Session::resume(&recording, state, Start::default());
        session.err().expect("a refusal").to_string()
    };
    let good = session.state();
    let mut without_best = good.clone();
    without_best.best = None;
    assert!(refused(without_best).contains("without a result"));
    let mut twice = good.clone();
    twice.running.extend(good.running.clone());
    assert!(refused(twice).contains("[1, 1] are in progress"));
    let mut both = good;
    both.finished[0].restart = 1;
    assert!(refused(both).contains("[1] have ended"));
}
