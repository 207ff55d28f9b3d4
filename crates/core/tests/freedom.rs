//! `sources.freedom = predictable`: E of a source moves at the pace at which its networks predict
//! the source.

use std::ops::ControlFlow;
use strtransformer::config::{Config, Coordinates, Freedom};
use strtransformer::internals::Inspect;
use strtransformer::train::StepReport;
use strtransformer::{Recording, Trainer};

const SAMPLES: usize = 600;
const STEPS: usize = 1000;

/// A slow sine and white noise, bent a little and mixed into three channels.
fn recording() -> Recording {
    let mut state = 7u64;
    let mut noise = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        3.4 * ((state >> 33) as f64 / (1u64 << 31) as f64 - 0.5)
    };
    let values: Vec<f64> = (0..SAMPLES)
        .flat_map(|t| {
            let (a, b) = ((t as f64 * 0.21).sin() * 1.4, noise());
            [a + 0.5 * b, (a - 0.6 * b).tanh(), 0.3 * a + b]
        })
        .collect();
    Recording::from_rows(&values, 3).unwrap()
}

/// Root mean square of E: of the source that resembles the sine, and of the other.
fn moved(freedom: Freedom, block: usize) -> (f64, f64) {
    let recording = recording();
    let mut config = Config::nonlinear(2);
    config.threads = 1;
    config.sources.coordinates = Some(Coordinates::Fiber);
    config.sources.freedom = freedom;
    config.branches.patch_sizes = vec![4, 8];
    config.branches.d_model = 8;
    config.branches.n_heads = 2;
    config.branches.crop = if block > 0 { 200 } else { 1024 };
    config.optimizer.block = block;
    config.mixer.hidden = vec![6];
    config.optimizer.steps = Some(STEPS);
    let mut trainer = Trainer::new(&recording, &config).unwrap();
    let mut sources = None;
    trainer.run(&mut |report: &StepReport<'_>| {
        sources = Some(report.sources());
        ControlFlow::Continue(())
    });
    let sources = sources.unwrap();
    let e = trainer.parameter("space.e").expect("E is free");
    let rms = |k: usize| (e.col(k).squared_norm_l2() / SAMPLES as f64).sqrt();
    let likeness = |k: usize| {
        let product: f64 = (0..SAMPLES)
            .map(|t| (t as f64 * 0.21).sin() * sources[(t, k)])
            .sum();
        product.abs() / sources.col(k).norm_l2()
    };
    if likeness(0) > likeness(1) {
        (rms(0), rms(1))
    } else {
        (rms(1), rms(0))
    }
}

/// White noise is left alone, a sine is not; short recordings as whole, long ones in blocks.
#[test]
fn what_cannot_be_predicted_hardly_moves() {
    for block in [0, 100] {
        let (full_sine, full_noise) = moved(Freedom::Full, block);
        let (sine, noise) = moved(Freedom::Predictable, block);
        assert!(
            full_noise > 0.01 && full_sine > 0.01,
            "E never moved: {full_sine}, {full_noise}"
        );
        assert!(
            noise < 0.2 * full_noise,
            "block {block}: noise moved by {noise} of {full_noise}"
        );
        assert!(
            sine > 0.4 * full_sine,
            "block {block}: the sine moved by {sine} of {full_sine}"
        );
    }
}
