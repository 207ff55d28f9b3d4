//! How runs end: the reason and the state they leave behind.

mod common;

use common::{affine, recording};
use strt_synth::ProblemSpec;
use strtransformer::train::{Start, StopReason};
use strtransformer::{Config, Recording, Trainer, separate};

#[test]
fn a_diverged_run_says_so_and_keeps_finite_parameters() {
    let mut config = affine();
    // Nothing is standardised, and the first update throws the sources to where their squares
    // overflow.
    config.sources.standardize = false;
    config.mixer.decoder_standardization = false;
    config.optimizer.rates.fiber = 1e200;
    let mut trainer = Trainer::new(&recording(300), &config).unwrap();
    assert_eq!(trainer.run(&mut ()), StopReason::Diverged);
    let separation = trainer.finish();
    assert_eq!(separation.stop_reason(), StopReason::Diverged);
    assert!(!separation.converged());
    assert!(separation.terms().total.is_finite());
    assert!(
        separation
            .mixer()
            .parameters()
            .iter()
            .all(|w| w.is_finite())
    );
    assert!(
        separation
            .record()
            .networks
            .iter()
            .all(|(_, network)| network.is_all_finite())
    );
}

/// Steps along the gradient may be so short that sources which still have far to go hardly turn.
#[test]
fn short_steps_are_not_called_convergence() {
    let mut config = Config::paper(3);
    config.branches.patch_sizes = vec![4, 8];
    config.optimizer.steps = Some(60);
    config.optimizer.rate = 1e-9;
    let separation = separate(&recording(300), &config).unwrap();
    assert_eq!(separation.stop_reason(), StopReason::StepLimit);
    assert!(separation.turned().unwrap() < config.optimizer.early_stopping.tolerance);
    assert!(!separation.converged());
}

#[test]
fn a_checkpoint_is_not_resumed_on_another_recording_of_the_same_shape() {
    let (first, config) = (recording(300), affine());
    let checkpoint = Trainer::new(&first, &config).unwrap().checkpoint();
    let mut values: Vec<f64> = first
        .observations()
        .row_iter()
        .flat_map(|row| row.iter().copied().collect::<Vec<_>>())
        .collect();
    values[7] += 1e-9;
    let other = Recording::from_rows(&values, first.n_channels()).unwrap();
    let message = Trainer::resume(&other, &checkpoint, Start::default())
        .err()
        .unwrap()
        .to_string();
    assert!(
        message.contains("another recording of the same shape"),
        "{message}"
    );
    assert!(Trainer::resume(&first, &checkpoint, Start::default()).is_ok());
}

#[test]
fn fingerprints_tell_recordings_apart_by_values_and_shape() {
    let of = |values: &[f64], channels| {
        Recording::from_rows(values, channels)
            .unwrap()
            .fingerprint()
    };
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(of(&values, 2), of(&values, 2));
    assert_ne!(of(&values, 2), of(&values, 3));
    assert_ne!(of(&values, 2), of(&[1.0, 2.0, 3.0, 4.0, 6.0, 5.0], 2));
    let problem = |seed| {
        ProblemSpec {
            seed,
            ..ProblemSpec::default()
        }
        .generate()
        .unwrap()
        .recording()
        .unwrap()
    };
    assert_ne!(problem(1).fingerprint(), problem(2).fingerprint());
}
