//! Recordings that are trained through moments and blocks, against the same recordings evaluated
//! whole.
//!
//! Where the moments suffice, J and its gradient must be the same; where a block stands for the
//! recording, the gradient in E must be right on average over the blocks. The gradient in
//! everything else is in `gradients.rs`.

mod common;

use common::{affine, in_pieces, nonlinear, recording, scatter, with_gaps};
use faer::Mat;
use std::ops::ControlFlow;
use strt_kernels::gradcheck::relative_error;
use strtransformer::config::{
    Coordinates, Elimination, EngineKind, MixerKind, SeparationForm, Smoothness,
};
use strtransformer::internals::Inspect;
use strtransformer::train::StepReport;
use strtransformer::{Config, Recording, Trainer};

/// Long enough for three blocks of [`BLOCK`] samples.
const SAMPLES: usize = 240;
const BLOCK: usize = 80;

/// `config` on crops, whole or in blocks, in f64.
fn trainer(recording: &Recording, config: &Config, block: usize) -> Trainer {
    let mut config = config.clone();
    config.engine = EngineKind::Reference;
    (config.branches.crop, config.optimizer.block) = (64, block);
    Trainer::new(recording, &config).unwrap()
}

fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols())
        .flat_map(|k| (0..matrix.nrows()).map(move |t| matrix[(t, k)]))
        .collect()
}

#[track_caller]
fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let error = relative_error(found, expected, 1e-6);
    assert!(error < tolerance, "{what}: relative error {error:.2e}");
}

#[track_caller]
fn same_objective(what: &str, recording: &Recording, config: &Config) {
    let (mut whole, mut long) = (
        trainer(recording, config, 0),
        trainer(recording, config, BLOCK),
    );
    scatter(&mut whole);
    scatter(&mut long);
    let (expected, found) = (whole.evaluate_at(3), long.evaluate_at(3));
    assert!(long.observations().is_none(), "{what} is not long");
    for (name, found, expected) in [
        (
            "reconstruction",
            found.reconstruction,
            expected.reconstruction,
        ),
        ("separation", found.separation, expected.separation),
        ("smoothness", found.smoothness, expected.smoothness),
        ("structure", found.structure, expected.structure),
        ("total", found.total, expected.total),
    ] {
        close(&format!("{what}: {name}"), &[found], &[expected], 1e-9);
    }
    for name in ["space.a", "mixer", "controller.raw_gaps"] {
        let of = |trainer: &Trainer| flat(&trainer.gradient().get(name).unwrap().to_owned());
        close(&format!("{what}: {name}"), &of(&long), &of(&whole), 1e-8);
    }
    let fitted = |trainer: &Trainer| flat(&trainer.parameter("mixer").unwrap());
    close(
        &format!("{what}: fitted mixer"),
        &fitted(&long),
        &fitted(&whole),
        1e-8,
    );
}

/// An affine mixer and locked sources need no samples beyond the crops, whatever the switches say.
#[test]
fn moments_give_the_objective_of_the_whole_recording() {
    for bits in 0..64u32 {
        let on = |i: u32| bits >> i & 1 == 1;
        let mut config = affine();
        config.sources.standardize = on(0);
        config.mixer.decoder_standardization = on(1);
        if on(2) {
            config.mixer.elimination = Elimination::Gradient;
        }
        if on(3) {
            config.weights.separation_form = SeparationForm::Decorrelation;
        }
        if on(4) {
            config.weights.smoothness_order = Smoothness::First;
        }
        config.preprocess.center = !on(5);
        config.weights.smoothness = 3.0;
        let what = format!("switches {bits:06b}");
        same_objective(&what, &recording(SAMPLES), &config);
        same_objective(&format!("{what}, gaps"), &with_gaps(SAMPLES), &config);
        same_objective(&format!("{what}, pieces"), &in_pieces(SAMPLES), &config);
    }
}

/// The gradient in E, averaged over all blocks, is that of the whole recording.
#[test]
fn blocks_give_the_gradient_of_free_sources_on_average() {
    let mut direct = nonlinear();
    direct.sources.coordinates = Some(Coordinates::Direct);
    let mut free_affine = nonlinear();
    free_affine.mixer.kind = MixerKind::Affine;
    let mut raw = free_affine.clone();
    (raw.sources.standardize, raw.mixer.decoder_standardization) = (false, false);
    let cases = [
        ("nonlinear", nonlinear()),
        ("direct", direct),
        ("affine", free_affine),
        ("nothing standardised", raw),
    ];
    for (what, mut config) in cases {
        // A layer fitted to a block is another layer, and differences across its border are
        // nobody's.
        config.mixer.elimination = Elimination::Gradient;
        config.weights.smoothness = 0.0;
        // Nor has the kernel energy moments of free sources to follow.
        config.weights.kernel = Some(0.0);
        for recording in [recording(SAMPLES), with_gaps(SAMPLES)] {
            let (mut whole, mut long) = (
                trainer(&recording, &config, 0),
                trainer(&recording, &config, BLOCK),
            );
            scatter(&mut whole);
            scatter(&mut long);
            whole.evaluate_at(5);
            long.evaluate_at(5);
            let mut mean = Mat::<f64>::zeros(SAMPLES, 3);
            let blocks: Vec<usize> = (0..SAMPLES).step_by(BLOCK).collect();
            for pair in 0..blocks.len() * blocks.len() {
                let pair = [blocks[pair % blocks.len()], blocks[pair / blocks.len()]];
                long.evaluate_in_blocks(pair);
                for (k, first, values) in long.touched() {
                    for (i, d) in values.iter().enumerate() {
                        mean[(first + i, k)] += d / (blocks.len() * blocks.len()) as f64;
                    }
                }
            }
            let gradient = whole.gradient();
            let free = ["space.s", "space.e"];
            let expected = free.iter().find_map(|name| gradient.get(name)).unwrap();
            close(what, &flat(&mean), &flat(&expected.to_owned()), 1e-8);
        }
    }
}

fn free(trainer: &Trainer) -> Mat<f64> {
    trainer.parameter("space.e").expect("E is free")
}

/// The running moments of E.
fn running(trainer: &Trainer) -> Vec<f64> {
    let tensors = trainer.checkpoint().tensors;
    ["with_components", "with_channels", "with_itself", "mean"]
        .iter()
        .flat_map(|part| flat(&tensors.get(&format!("space.e.{part}")).unwrap().to_owned()))
        .collect()
}

/// A step moves E where it looked and nowhere else, and keeps the running moments true.
#[test]
fn a_step_moves_only_what_it_touches() {
    for recording in [recording(SAMPLES), with_gaps(SAMPLES)] {
        let mut config = nonlinear();
        config.optimizer.steps = Some(60);
        config.sources.unlock = Some(0.0);
        let mut trainer = trainer(&recording, &config, 40);
        let mut moved = 0;
        loop {
            let before = free(&trainer);
            trainer.run(&mut |_: &StepReport<'_>| ControlFlow::Break(()));
            if trainer.step() == 60 {
                break;
            }
            if [3, 6, 12].contains(&trainer.step()) {
                continue; // assignment moves exchange whole columns
            }
            let after = free(&trainer);
            let touched = trainer.touched();
            for k in 0..3 {
                for t in 0..SAMPLES {
                    let reached = touched
                        .iter()
                        .any(|(j, first, d)| *j == k && (*first..first + d.len()).contains(&t));
                    assert!(
                        reached || before[(t, k)] == after[(t, k)],
                        "sample {t} of source {k}"
                    );
                    moved += usize::from(before[(t, k)] != after[(t, k)]);
                }
            }
        }
        assert!(moved > 60 * 100, "E hardly moved: {moved} changes");
        let kept = running(&trainer);
        let e = free(&trainer);
        trainer.set_parameter("space.e", &e); // computes the moments anew
        let fresh = running(&trainer);
        assert!(kept != fresh, "moments were not kept but recomputed");
        close("running moments", &kept, &fresh, 1e-10);
    }
}

/// Short runs in f64 end with the same sources, to rounding.
#[test]
fn linear_runs_end_with_the_sources_of_the_whole_recording() {
    let recording = with_gaps(SAMPLES);
    let finish = |block: usize| {
        let mut trainer = trainer(&recording, &affine(), block);
        trainer.run(&mut ());
        let separation = trainer.finish();
        let sources = separation.sources();
        (0..SAMPLES)
            .filter(|&t| !recording.is_missing(t))
            .flat_map(|t| (0..3).map(move |k| sources[(t, k)]))
            .collect::<Vec<f64>>()
    };
    close("sources", &finish(BLOCK), &finish(0), 1e-7);
}

/// What a nonlinear run reports at its end is about the whole recording, not about the last block.
#[test]
fn the_mixer_is_fitted_to_the_whole_recording_at_the_end() {
    let recording = recording(SAMPLES);
    let mut trainer = trainer(&recording, &nonlinear(), BLOCK);
    trainer.run(&mut ());
    let separation = trainer.finish();
    let scaled = separation
        .scaling()
        .apply(recording.observations())
        .unwrap();
    let mut predicted = Mat::zeros(SAMPLES, 4);
    separation
        .mixer()
        .forward(separation.sources(), predicted.as_mut(), &mut Vec::new());
    let head: f64 = {
        let linear = separation.mixer().linear_head().unwrap().head();
        separation.mixer().parameters()[linear]
            .iter()
            .map(|w| w * w)
            .sum()
    };
    let config = separation.config();
    let penalty = SAMPLES as f64 * config.mixer.ridge.unwrap() * head;
    let square = (&scaled - &predicted).squared_norm_l2();
    let variance = config.weights.observation_variance.unwrap();
    let expected = (square + penalty) / (2.0 * variance);
    close(
        "reconstruction",
        &[separation.terms().reconstruction],
        &[expected],
        1e-10,
    );
}
