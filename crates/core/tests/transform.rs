//! Sources of new data under a trained model.

mod common;

use common::{affine, neural, nonlinear, problem, recording, with_gaps};
use faer::{Mat, MatRef};
use std::ops::ControlFlow;
use strt_score::{Reference, match_sources};
use strt_synth::{MixingKind, ProblemSpec, SourceKind};
use strtransformer::config::{Coordinates, Elimination, Init, Rates};
use strtransformer::train::{StepReport, StopReason};
use strtransformer::{Config, Error, Recording, separate};

/// Steps of a transform where they should not matter.
const ANY: usize = 1;

#[track_caller]
fn close(what: &str, expected: MatRef<'_, f64>, found: MatRef<'_, f64>, tolerance: f64) {
    assert_eq!(expected.shape(), found.shape(), "{what}");
    for k in 0..expected.ncols() {
        for t in 0..expected.nrows() {
            let (expected, found) = (expected[(t, k)], found[(t, k)]);
            let same =
                (expected.is_nan() && found.is_nan()) || (expected - found).abs() < tolerance;
            assert!(
                same,
                "{what}: sample {t} of source {k}: {found}, expected {expected}"
            );
        }
    }
}

/// Rows `first..first + n` of a recording.
fn stretch(recording: &Recording, first: usize, n: usize) -> Recording {
    Recording::from_mat(recording.observations().subrows(first, n).to_owned()).unwrap()
}

/// The model applied to its own recording, and to a part of it, gives back its sources.
#[track_caller]
fn gives_its_sources_back(what: &str, recording: &Recording, config: &Config) {
    let separation = separate(recording, config).unwrap();
    let transformed = separation.transform(recording, ANY, &mut ()).unwrap();
    close(
        what,
        separation.sources(),
        transformed.sources.as_ref(),
        1e-9,
    );
    assert!(
        transformed.converged && transformed.stop.is_none(),
        "{what}"
    );
    // Row by row: one sample at a time is as good as all of them.
    let part = separation
        .transform(&stretch(recording, 30, 5), ANY, &mut ())
        .unwrap();
    close(
        what,
        separation.sources().subrows(30, 5),
        part.sources.as_ref(),
        1e-9,
    );
}

#[test]
fn an_affine_model_gives_its_own_sources_back() {
    gives_its_sources_back("fiber", &recording(240), &affine());
    gives_its_sources_back("fiber, missing samples", &with_gaps(240), &affine());
    let mut raw = affine();
    (raw.mixer.decoder_standardization, raw.sources.standardize) = (false, false);
    gives_its_sources_back("fiber, sources as they are", &recording(240), &raw);
    let mut uncentered = affine();
    (uncentered.preprocess.center, uncentered.preprocess.scale) = (false, false);
    gives_its_sources_back("fiber, channels as they are", &recording(240), &uncentered);
}

#[test]
fn a_model_in_neural_coordinates_gives_its_own_sources_back() {
    gives_its_sources_back("neural", &recording(240), &neural());
    gives_its_sources_back("neural, missing samples", &with_gaps(240), &neural());
    let mut raw = neural();
    (raw.mixer.decoder_standardization, raw.sources.standardize) = (false, false);
    gives_its_sources_back("neural, sources as they are", &recording(240), &raw);
    // Trained on one block after the other, the gauge at the end is that of all samples.
    let mut in_blocks = neural();
    (in_blocks.branches.crop, in_blocks.optimizer.block) = (64, 60);
    gives_its_sources_back("neural, in blocks", &recording(240), &in_blocks);
    gives_its_sources_back(
        "neural, in blocks, missing samples",
        &with_gaps(240),
        &in_blocks,
    );
    let separation = separate(&recording(240), &in_blocks).unwrap();
    for k in 0..3 {
        let source = separation.sources().col(k);
        let (mean, square) = (source.sum() / 240.0, source.squared_norm_l2() / 240.0);
        assert!(
            mean.abs() < 1e-9 && (square - 1.0).abs() < 1e-4,
            "{mean} {square}"
        );
    }
}

/// In direct coordinates sources need not be a function of the channels. They are while they stay
/// at the principal components, and there the pseudo-inverse of the (barely regularised) mixer
/// finds them.
#[test]
fn an_affine_model_in_direct_coordinates_gives_its_own_sources_back() {
    for decoder_standardization in [true, false] {
        let mut config = affine();
        config.sources.coordinates = Some(Coordinates::Direct);
        config.sources.init = Some(Init::Pca);
        config.mixer.elimination = Elimination::LeastSquares;
        config.mixer.ridge = Some(1e-14);
        config.mixer.decoder_standardization = decoder_standardization;
        config.optimizer.rates.sources = Some(0.0);
        gives_its_sources_back("direct", &recording(240), &config);
        gives_its_sources_back("direct, missing samples", &with_gaps(240), &config);
    }
}

#[test]
fn missing_samples_stay_missing() {
    for config in [affine(), nonlinear(), neural()] {
        let separation = separate(&recording(240), &config).unwrap();
        let gappy = with_gaps(240);
        let transformed = separation.transform(&gappy, 3, &mut ()).unwrap();
        for t in 0..240 {
            let expected = gappy.is_missing(t);
            let row = transformed.sources.row(t);
            assert!(
                row.iter().all(|value| value.is_nan() == expected),
                "sample {t}: {row:?}"
            );
        }
    }
}

#[test]
fn another_number_of_channels_is_refused() {
    for config in [affine(), nonlinear(), neural()] {
        let separation = separate(&recording(240), &config).unwrap();
        let other = Recording::from_mat(Mat::from_fn(50, 3, |t, c| (t * (c + 1)) as f64)).unwrap();
        let Err(error) = separation.transform(&other, ANY, &mut ()) else {
            panic!("should be refused");
        };
        assert!(matches!(error, Error::Shape { .. }));
        let message = error.to_string();
        assert!(
            message.contains("4 (ch1, ch2, ch3, ch4)") && message.contains("found 3"),
            "{message}"
        );
    }
}

#[test]
fn an_interrupted_transform_says_so() {
    let separation = separate(&recording(240), &nonlinear()).unwrap();
    let mut stop = |report: &StepReport<'_>| match report.step {
        4 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let transformed = separation
        .transform(&recording(240), 50, &mut stop)
        .unwrap();
    assert_eq!(transformed.stop, Some(StopReason::Interrupted));
    assert!(transformed.sources.is_all_finite());
}

/// A longer nonlinear run whose outcome does not hang on defaults.
fn trained() -> Config {
    let mut config = nonlinear();
    config.mixer.hidden = vec![16];
    config.weights.observation_variance = Some(0.5);
    config.weights.kappa = Some(0.3);
    config.optimizer.steps = Some(300);
    config.optimizer.rates = Rates {
        fiber: 0.03,
        sources: Some(0.001),
        networks: 0.003,
        controller: 0.01,
        mixer: 0.01,
    };
    config.optimizer.schedule.warmup = 20;
    config
}

/// Half of a post-nonlinear mixture is for training, the other half is new.
#[test]
fn a_nonlinear_model_finds_the_sources_of_held_out_samples() {
    const T: usize = 500;
    let problem = ProblemSpec {
        kind: SourceKind::Sines,
        mixing: MixingKind::Pnl,
        n_samples: 2 * T,
        n_sources: 3,
        n_channels: 6,
        noise: 0.01,
        seed: 2,
    }
    .generate()
    .unwrap();
    let whole = problem.recording().unwrap();
    let (seen, held_out) = (stretch(&whole, 0, T), stretch(&whole, T, T));
    let mac = |sources: MatRef<'_, f64>, first: usize| {
        let truth = Reference::new(problem.sources.subrows(first, T).to_owned()).unwrap();
        match_sources(sources, &truth).unwrap().mac()
    };
    let separation = separate(&seen, &trained()).unwrap();

    let mut errors = Vec::new();
    let mut watch = |report: &StepReport<'_>| {
        errors.push(report.terms.reconstruction);
        // The mixer is the trained one, in every step: its own error at the step's sources is the
        // reported one.
        let mut channels = Mat::zeros(T, 6);
        separation.mixer().forward(
            report.sources().as_ref(),
            channels.as_mut(),
            &mut Vec::new(),
        );
        let scaled = separation.scaling().apply(held_out.observations()).unwrap();
        let variance = separation.config().weights.observation_variance.unwrap();
        let expected = (&scaled - &channels).squared_norm_l2() / (2.0 * variance);
        assert!((report.terms.reconstruction / expected - 1.0).abs() < 1e-9);
        assert_eq!(report.controller, separation.controller());
        ControlFlow::Continue(())
    };
    let transformed = separation.transform(&held_out, 150, &mut watch).unwrap();
    assert_eq!(transformed.stop, Some(StopReason::StepLimit));
    let (trained, found) = (
        mac(separation.sources(), 0),
        mac(transformed.sources.as_ref(), T),
    );
    assert!(
        trained > 0.7,
        "the model itself is too poor to judge: MAC {trained:.3}"
    );
    assert!(
        found > trained - 0.15,
        "held out {found:.3}, training {trained:.3}"
    );
    assert!(
        errors[149] < 0.9 * errors[0],
        "reconstruction {:.4} → {:.4}",
        errors[0],
        errors[149]
    );
    // The optimisation must not lose to the linear guess that it starts from.
    let guess = separation.transform(&held_out, 1, &mut ()).unwrap();
    let guess = mac(guess.sources.as_ref(), T);
    assert!(
        found > guess - 0.02,
        "optimised {found:.3}, linear guess {guess:.3}"
    );
}

/// Training data through the optimisation: it starts elsewhere and ends near the sources of the
/// run, whether it is looked at whole or in blocks.
#[test]
fn a_nonlinear_model_comes_back_to_its_own_sources() {
    let recording = problem(300, MixingKind::Pnl).recording().unwrap();
    for (crop, block) in [(1024, 4096), (128, 100)] {
        let mut config = trained();
        (config.branches.crop, config.optimizer.block) = (crop, block);
        let separation = separate(&recording, &config).unwrap();
        let transformed = separation.transform(&recording, 200, &mut ()).unwrap();
        let own = Reference::new(separation.sources().to_owned()).unwrap();
        let matching = match_sources(transformed.sources.as_ref(), &own).unwrap();
        assert!(matching.worst() > 0.95, "{:?}", matching.per_source());
        assert_eq!(matching.matched(), [Some(0), Some(1), Some(2)]);
        assert_eq!(matching.sign(), [1.0; 3]);
    }
}
