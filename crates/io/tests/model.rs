//! Models come back from a file as they went in, and are replaced whole or not at all.

mod common;

use common::*;
use safetensors::SafeTensors;
use std::fs;
use strt_io::{load_model, load_model_with, model_from_bytes, model_to_bytes, save_model};
use strt_kernels::Layout;
use strtransformer::config::{Coordinates, SourceScale};
use strtransformer::train::{Start, StopReason, separate_observed};
use strtransformer::{Config, Separation, Trainer};

/// Saves, loads, and compares all parts and the sources of new data.
fn check_round_trip(config: &Config, start: Start, missing: &[usize]) {
    let custom = start.mixer.is_some();
    let separation = train(&recording(1, missing), config, start);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    save_model(&separation, &path).unwrap();
    let loaded = if custom {
        load_model_with(&path, PostNonlinear::boxed(SOURCES))
    } else {
        load_model(&path)
    };
    let loaded = loaded.unwrap();
    assert_same(&separation, &loaded);
    assert_eq!(separation.sources()[(5, 0)].is_nan(), missing.contains(&5));
    let transform = |separation: &Separation| {
        let transformed = separation
            .transform(&recording(2, &[9]), 4, &mut ())
            .unwrap();
        mat_bits(transformed.sources.as_ref())
    };
    assert_eq!(transform(&separation), transform(&loaded));
    // The same contents give the same bytes.
    let bytes = fs::read(&path).unwrap();
    save_model(&loaded, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn affine_model() {
    check_round_trip(&small(Config::new(SOURCES)), Start::default(), &[]);
}

#[test]
fn affine_model_with_missing_samples() {
    check_round_trip(&small(Config::new(SOURCES)), Start::default(), &[5, 6, 70]);
}

#[test]
fn model_of_a_recording_in_pieces() {
    let whole = recording(1, &[5]);
    let lengths = [40, 1, whole.n_samples() - 41];
    let pieces = whole.clone().with_pieces(&lengths).unwrap();
    let config = small(Config::new(SOURCES));
    let separation = train(&pieces, &config, Start::default());
    let loaded = model_from_bytes("pieces", &model_to_bytes(&separation).unwrap()).unwrap();
    assert_same(&separation, &loaded);
    assert_eq!(loaded.pieces(), pieces.pieces());
    // One piece is what a model is about that says nothing.
    let bytes = model_to_bytes(&train(&whole, &config, Start::default())).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("pieces"));
    assert!(
        model_from_bytes("whole", &bytes)
            .unwrap()
            .pieces()
            .is_whole()
    );
}

#[test]
fn mlp_model() {
    check_round_trip(&small(Config::nonlinear(SOURCES)), Start::default(), &[]);
    let mut config = small(Config::nonlinear(SOURCES));
    config.sources.coordinates = Some(Coordinates::Fiber);
    check_round_trip(&config, Start::default(), &[5]);
    let mut config = small(Config::nonlinear(SOURCES));
    config.mixer.skip = false;
    check_round_trip(&config, Start::default(), &[5]);
}

#[test]
fn scales_of_sources() {
    for scale in [
        SourceScale::Objective,
        SourceScale::Linear,
        SourceScale::Half,
    ] {
        let mut config = small(Config::nonlinear(SOURCES));
        config.sources.scale = scale;
        check_round_trip(&config, Start::default(), &[5]);
        let separation = train(&recording(1, &[]), &config, Start::default());
        assert_eq!(
            separation.scales().is_empty(),
            scale == SourceScale::Objective
        );
    }
}

#[test]
fn paper_preset_in_direct_coordinates() {
    check_round_trip(&small(Config::paper(SOURCES)), Start::default(), &[5]);
}

#[test]
fn custom_mixer() {
    let (config, start) = custom();
    check_round_trip(&config, start, &[]);
}

#[test]
fn several_restarts_are_remembered() {
    let mut config = small(Config::new(SOURCES));
    config.restarts = Some(3);
    let separation =
        separate_observed(&recording(1, &[]), &config, Start::default(), &mut ()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    save_model(&separation, &path).unwrap();
    let loaded = load_model(&path).unwrap();
    assert_same(&separation, &loaded);
    assert_eq!(loaded.restarts().len(), 3);
}

#[test]
fn a_custom_mixer_must_be_given_and_must_fit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("custom.safetensors");
    let (config, start) = custom();
    save_model(&train(&recording(1, &[]), &config, start), &path).unwrap();
    refused(
        load_model(&path),
        &["custom.safetensors", "load_model_with", "same type"],
    );
    refused(
        load_model_with(&path, PostNonlinear::boxed(3)),
        &["2 sources → 4 channels with 8 parameters", "3 → 4 with 12"],
    );
    let affine = train(
        &recording(1, &[]),
        &small(Config::new(SOURCES)),
        Start::default(),
    );
    save_model(&affine, &path).unwrap();
    let given = PostNonlinear::boxed(SOURCES);
    refused(
        load_model_with(&path, given),
        &["built-in kind Affine", "load_model"],
    );
}

#[test]
fn a_run_without_steps_and_a_diverged_one_can_be_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    let config = small(Config::new(SOURCES));
    let unstarted = Trainer::new(&recording(1, &[]), &config).unwrap().finish();
    assert_eq!(unstarted.smoothed_objective(), unstarted.terms().total);
    save_model(&unstarted, &path).unwrap();
    let loaded = load_model(&path).unwrap();
    assert_eq!(loaded.stop_reason(), StopReason::Interrupted);
    assert_eq!(loaded.smoothed_objective(), unstarted.smoothed_objective());

    let mut parts = unstarted.record().clone();
    parts.mixer.parameters_mut()[0] = f64::NAN;
    parts.terms.total = f64::INFINITY;
    parts.stop = StopReason::Diverged;
    let diverged = Separation::from_record(parts).unwrap();
    save_model(&diverged, &path).unwrap();
    let loaded = load_model(&path).unwrap();
    assert!(loaded.mixer().parameters()[0].is_nan());
    assert_eq!(loaded.terms().total, f64::INFINITY);
}

#[test]
fn what_could_not_be_loaded_again_is_not_saved_and_the_old_file_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    let good = train(
        &recording(1, &[]),
        &small(Config::new(SOURCES)),
        Start::default(),
    );
    save_model(&good, &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let spoil = |change: fn(&mut strtransformer::separation::Record), words: &[&str]| {
        let mut parts = good.record().clone();
        change(&mut parts);
        let bad = Separation::from_record(parts).unwrap();
        refused(save_model(&bad, &path), words);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    };
    spoil(
        |parts| {
            let mut network = parts.networks.get("energy.network.1").unwrap().to_owned();
            network[(0, 0)] = f64::NAN;
            parts.networks.put("energy.network.1", network);
        },
        &[
            "energy.network.1",
            "element 0",
            "NaN",
            "nothing was written",
        ],
    );
    spoil(
        |parts| parts.networks.put_vector("energy.network.2", &[0.0; 3]),
        &["energy.network.2", "[3, 1]"],
    );
    spoil(
        |parts| parts.controller.order.truncate(1),
        &["controller.order", "[2]", "[1]"],
    );
    spoil(
        |parts| parts.mixer = PostNonlinear::boxed(SOURCES),
        &["mixer.parameters", "Affine", "8 numbers"],
    );
    spoil(
        |parts| parts.sampling_rate = Some(f64::NAN),
        &["sampling_rate", "NaN"],
    );
    spoil(
        |parts| parts.config.branches.d_model = 1 << 40,
        &["branches.d_model", "at most"],
    );
    refused(save_model(&good, directory.path()), &["found a directory"]);
    refused(
        save_model(&good, directory.path().join("no/model")),
        &["no/model", "cannot write"],
    );
}

#[test]
fn names_and_shapes_are_those_of_the_documentation() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model");
    let separation = train(
        &recording(1, &[]),
        &small(Config::new(SOURCES)),
        Start::default(),
    );
    save_model(&separation, &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let sources = file.tensor("sources").unwrap();
    assert_eq!(sources.shape(), [SAMPLES, SOURCES]);
    // Row-major: the second number is source 1 of sample 0.
    let second = f64::from_le_bytes(sources.data()[8..16].try_into().unwrap());
    assert_eq!(second, separation.sources()[(0, 1)]);
    let network = Layout::new(8, &separation.config().branches.network());
    assert_eq!(
        file.tensor("energy.network.3").unwrap().shape(),
        [network.len(), 1]
    );
    assert_eq!(
        file.tensor("unmixing").unwrap().shape(),
        [CHANNELS + 1, SOURCES]
    );
    assert_eq!((bytes.len() - sources.data().len()) % 8, 0);
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!(
        (&metadata["format"][..], &metadata["version"][..]),
        ("strtransformer-model", "2")
    );
    let state: serde_json::Value = serde_json::from_str(&metadata["state"]).unwrap();
    assert_eq!(state["stop"], "step_limit");
    assert_eq!(state["steps"], 10);
    assert_eq!(state["channel_names"][1], "Cz");
    assert_eq!(state["sampling_rate"], 250.1);
}

#[test]
fn bytes_are_those_of_the_file_and_come_back() {
    let separation = train(
        &recording(1, &[5]),
        &small(Config::nonlinear(SOURCES)),
        Start::default(),
    );
    let bytes = model_to_bytes(&separation).unwrap();
    assert_same(&separation, &model_from_bytes("pickle", &bytes).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    save_model(&separation, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn bytes_that_are_no_model_are_refused() {
    let separation = train(
        &recording(1, &[]),
        &small(Config::new(SOURCES)),
        Start::default(),
    );
    let bytes = model_to_bytes(&separation).unwrap();
    for garbage in [&b""[..], b"not a model at all", &bytes[..bytes.len() - 8]] {
        refused(
            model_from_bytes("pickle", garbage),
            &["pickle: expected a safetensors file"],
        );
    }
    let (config, start) = custom();
    let custom = model_to_bytes(&train(&recording(1, &[]), &config, start)).unwrap();
    refused(
        model_from_bytes("pickle", &custom),
        &["pickle: mixer", "found none"],
    );
}
