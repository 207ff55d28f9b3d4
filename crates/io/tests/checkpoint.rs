//! A run that goes through a file continues with the same bits.

mod common;

use common::*;
use std::fs;
use strt_io::{load_checkpoint, save_checkpoint};
use strtransformer::config::{Coordinates, Init};
use strtransformer::train::Start;
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
        config.sources.unlock = Some(1.0); // what never moves has moments of no rows
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
    config.sources.init = Init::Given;
    start.sources = Some(faer::Mat::from_fn(SAMPLES, SOURCES, |t, k| {
        ((k + 1) as f64 * 0.1 * t as f64).sin()
    }));
    check_resume(&config, start.clone(), &[], 5);
    // E exists, but never moves: its moments have no rows.
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
        |c| c.raw_gaps[1] = f64::NAN,
        &[
            "controller.raw_gaps",
            "element 1",
            "NaN",
            "nothing was written",
        ],
    );
    spoil(|c| c.fiber = None, &["`fiber`", "no such tensor"]);
    spoil(
        |c| drop(c.branches.pop()),
        &["branches.1.1.embed.w_in", "no such tensor"],
    );
    spoil(
        |c| c.branches[0].second.truncate(3),
        &["adam.second.branches.0.0.embed.w_in"],
    );
    spoil(
        |c| c.moments[2].second = faer::Mat::zeros(3, 1),
        &["adam.second.mixer.parameters", "[3]"],
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
