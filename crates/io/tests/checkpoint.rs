//! A run that goes through a file continues with the same bits.

mod common;

use common::*;
use std::fs;
use std::ops::ControlFlow;
use strt_io::{load_checkpoint, load_restarts, save_checkpoint, save_restarts};
use strtransformer::config::{Coordinates, Init};
use strtransformer::tensors::Tensors;
use strtransformer::train::{Session, SessionState, Start, StepReport};
use strtransformer::{Config, Trainer};

/// Stops after `step` steps, goes through a file, runs on; the result must be that of a run without
/// the stop.
fn check_resume(config: &Config, start: Start, missing: &[usize], step: usize) {
    let recording = recording(1, missing);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint.safetensors");
    let mut trainer = Trainer::start(&recording, config, start.clone()).unwrap();
    if step > 0 {
        trainer.run(&mut stop_at(step));
    }
    let checkpoint = trainer.checkpoint();
    save_checkpoint(&checkpoint, &path).unwrap();
    let loaded = load_checkpoint(&path).unwrap();
    assert_eq!(loaded, checkpoint);
    let mut trainer = Trainer::resume(&recording, &loaded, start.clone()).unwrap();
    assert_eq!(trainer.step(), step);
    trainer.run(&mut ());
    assert_same(&trainer.finish(), &train(&recording, config, start));
    let bytes = fs::read(&path).unwrap();
    save_checkpoint(&loaded, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn affine_run() {
    let config = small(Config::new(SOURCES));
    // Assignment moves are due at steps 1 to 4: stop before, between and after them.
    for step in [0, 1, 3, 7, 10] {
        check_resume(&config, Start::default(), &[], step);
    }
    check_resume(&config, Start::default(), &[0, 5, 6, 119], 4);
}

#[test]
fn nonlinear_run_before_and_after_the_sources_are_free() {
    for coordinates in [Coordinates::Fiber, Coordinates::Neural] {
        let mut config = small(Config::nonlinear(SOURCES));
        config.sources.coordinates = Some(coordinates);
        check_resume(&config, Start::default(), &[], 1);
        check_resume(&config, Start::default(), &[30], 6);
        config.sources.unlock = Some(1.0); // what never moves has no moments
        check_resume(&config, Start::default(), &[], 5);
    }
}

#[test]
fn paper_preset_in_direct_coordinates() {
    check_resume(&small(Config::paper(SOURCES)), Start::default(), &[], 5);
    check_resume(
        &small(Config::paper(SOURCES)),
        Start::default(),
        &[30, 31],
        5,
    );
}

#[test]
fn custom_mixer_and_given_sources() {
    let (mut config, mut start) = custom();
    check_resume(&config, start.clone(), &[], 5);
    config.sources.init = Some(Init::Given);
    start.sources = Some(faer::Mat::from_fn(SAMPLES, SOURCES, |t, k| {
        ((k + 1) as f64 * 0.1 * t as f64).sin()
    }));
    check_resume(&config, start.clone(), &[], 5);
    // E exists, but never moves: it has no moments.
    config.sources.unlock = Some(1.0);
    check_resume(&config, start, &[], 5);
}

#[test]
fn reference_engine_and_early_stopping() {
    let mut config = small(Config::new(SOURCES));
    config.engine = strtransformer::config::EngineKind::Reference;
    config.optimizer.early_stopping.enabled = true;
    config.optimizer.early_stopping.patience = 2;
    config.optimizer.early_stopping.tolerance = 10.0;
    check_resume(&config, Start::default(), &[], 2);
}

#[test]
fn a_checkpoint_that_does_not_hold_together_is_refused_and_the_old_file_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let mut trainer = Trainer::new(&recording(1, &[]), &small(Config::new(SOURCES))).unwrap();
    trainer.run(&mut stop_at(2));
    let good = trainer.checkpoint();
    save_checkpoint(&good, &path).unwrap();
    let spoil = |change: fn(&mut strtransformer::train::Checkpoint), words: &[&str]| {
        let mut bad = good.clone();
        change(&mut bad);
        refused(save_checkpoint(&bad, &path), words);
        assert_eq!(load_checkpoint(&path).unwrap(), good);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    };
    spoil(
        |c| {
            c.tensors
                .put_vector("controller.raw_gaps", &[0.0, f64::NAN])
        },
        &[
            "controller.raw_gaps",
            "element 1",
            "NaN",
            "nothing was written",
        ],
    );
    spoil(
        |c| c.config.n_sources = usize::MAX,
        &["n_sources = 18446744073709551615"],
    );
    spoil(
        |c| c.config.branches.patch_sizes.clear(),
        &["branches.patch_sizes"],
    );
}

/// Which tensors there must be is known to the parts of a run: they refuse what does not fit.
#[test]
fn tensors_that_do_not_fit_are_refused_when_the_run_is_resumed() {
    let recording = recording(1, &[]);
    let good = Trainer::new(&recording, &small(Config::new(SOURCES)))
        .unwrap()
        .checkpoint();
    let refused_with = |change: &dyn Fn(&mut Tensors), words: &[&str]| {
        let mut bad = good.clone();
        change(&mut bad.tensors);
        refused(
            Trainer::resume(&recording, &bad, Start::default()).map(|_| ()),
            words,
        );
    };
    let without = |name: &'static str| {
        move |tensors: &mut Tensors| {
            let mut rest = Tensors::default();
            for (other, value) in tensors.iter().filter(|(other, _)| *other != name) {
                rest.put(other, value.to_owned());
            }
            *tensors = rest;
        }
    };
    refused_with(&without("space.a"), &["`space.a`", "no tensor"]);
    refused_with(&without("energy.network.3"), &["`energy.network.3`"]);
    refused_with(
        &|tensors| tensors.put_vector("energy.network.0.second", &[0.0; 3]),
        &["`energy.network.0.second`", "3 × 1"],
    );
    refused_with(
        &|tensors| tensors.put_vector("mixer.second", &[0.0; 3]),
        &["`mixer.second`", "3 × 1"],
    );
    refused_with(
        &|tensors| tensors.put_vector("space.a.updates", &[0.5]),
        &["`space.a.updates`", "0.5"],
    );
    refused_with(
        &|tensors| tensors.put_vector("space.b", &[0.5]),
        &["`space.b`", "no part of the run"],
    );
}

/// Several restarts in progress and some that have ended, in one file.
#[test]
fn restarts_of_a_session() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let mut config = small(Config::new(SOURCES));
    (config.restarts, config.threads) = (Some(3), 2);
    let recording = recording(1, &[]);
    let mut session = Session::new(&recording, &config, Start::default()).unwrap();
    let mut steps = 0;
    session
        .run(&mut |_: &StepReport<'_>| {
            steps += 1;
            if steps < 12 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .unwrap();
    let state = session.state();
    assert!(!state.running.is_empty());
    save_restarts(&state.running, &state.finished, &path).unwrap();
    let loaded = load_restarts(&path).unwrap();
    assert_eq!(loaded.running, state.running);
    assert_eq!(loaded.finished, state.finished);
    if state.running.len() > 1 {
        refused(load_checkpoint(&path), &["one restart", "2 of them"]);
    }
    let resumed = SessionState {
        running: loaded.running,
        finished: loaded.finished,
        best: state.best,
    };
    let mut resumed = Session::resume(&recording, resumed, Start::default()).unwrap();
    resumed.run(&mut ()).unwrap();
    assert_same(
        &resumed.finish(),
        &strtransformer::separate(&recording, &config).unwrap(),
    );
    let nothing = save_restarts(&[], &state.finished, &path);
    refused(nothing, &["n_sources"]);
}

#[test]
fn another_recording_is_refused_by_the_library() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let config = small(Config::new(SOURCES));
    save_checkpoint(
        &Trainer::new(&recording(1, &[]), &config)
            .unwrap()
            .checkpoint(),
        &path,
    )
    .unwrap();
    let short = strtransformer::Recording::from_rows(&[1.0, 2.0, 3.0, 5.0], 1).unwrap();
    let loaded = load_checkpoint(&path).unwrap();
    assert!(Trainer::resume(&short, &loaded, Start::default()).is_err());
}
