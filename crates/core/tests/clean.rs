//! A recording without some sources: what stays, what goes, missing samples, nonlinear mixers,
//! other recordings, refusals.

use faer::{Mat, MatRef};
use strt_synth::{MixingKind, Problem, ProblemSpec};
use strtransformer::config::Coordinates;
use strtransformer::{Config, Recording, Separation, separate};

fn problem(mixing: MixingKind) -> Problem {
    let spec = ProblemSpec {
        mixing,
        n_samples: 300,
        n_channels: 5,
        noise: 0.1,
        ..ProblemSpec::default()
    };
    spec.generate().unwrap()
}

/// In units far from 1, with an offset: what is forgotten in the way back shows.
fn recording(mixing: MixingKind) -> Recording {
    let plain = problem(mixing).recording().unwrap();
    let plain = plain.observations();
    let values = Mat::from_fn(plain.nrows(), plain.ncols(), |t, c| {
        (c as f64 + 1.0) * 40.0 * plain[(t, c)] + 500.0 * c as f64
    });
    Recording::from_mat(values).unwrap()
}

fn affine() -> (Recording, Separation) {
    let recording = recording(MixingKind::Linear);
    let separation = separate(&recording, &Config::fast(3)).unwrap();
    (recording, separation)
}

fn nonlinear() -> (Recording, Separation) {
    let recording = recording(MixingKind::Pnl);
    let mut config = Config::nonlinear(3);
    config.branches.patch_sizes = vec![4, 8];
    config.mixer.hidden = vec![5];
    config.optimizer.steps = Some(40);
    config.threads = 1;
    let separation = separate(&recording, &config).unwrap();
    (recording, separation)
}

fn with_gaps(recording: &Recording) -> Recording {
    let mut values = recording.observations().to_owned();
    for t in 100..104 {
        values.row_mut(t).fill(f64::NAN);
    }
    values[(200, 2)] = f64::NAN;
    Recording::from_mat(values).unwrap()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Largest difference, a share of the spread of each channel (NaN beside NaN is none).
fn apart(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!(a.shape(), b.shape());
    let mut worst: f64 = 0.0;
    for c in 0..a.ncols() {
        let middle = mean(b.col(c).iter().copied());
        let spread = mean(b.col(c).iter().map(|v| (v - middle).abs()));
        for t in 0..a.nrows() {
            let (a, b) = (a[(t, c)], b[(t, c)]);
            assert_eq!(a.is_nan(), b.is_nan(), "[{t}, {c}]");
            if !a.is_nan() {
                worst = worst.max((a - b).abs() / spread);
            }
        }
    }
    worst
}

#[test]
fn removing_nothing_changes_no_bit() {
    for (recording, separation) in [affine(), nonlinear()] {
        let cleaned = separation.clean(&recording, separation.sources(), &[]);
        assert_eq!(cleaned.unwrap(), recording.observations());
    }
}

#[test]
fn removing_a_source_takes_its_column_of_the_mixing() {
    let (recording, separation) = affine();
    let (mixing, _) = separation.mixing().unwrap();
    let s = separation.sources();
    let middle = mean(s.col(1).iter().copied());
    let expected = Mat::from_fn(300, 5, |t, c| {
        recording.observations()[(t, c)] - mixing[(c, 1)] * (s[(t, 1)] - middle)
    });
    let cleaned = separation.clean(&recording, s, &[1]).unwrap();
    assert!(apart(cleaned.as_ref(), expected.as_ref()) < 1e-10);
    // Mixing and unmixing are inverse to each other up to the ridge of the former.
    let left = separation.unmix(cleaned.as_ref()).unwrap().unwrap();
    let worst = |k: usize, expected: &dyn Fn(usize) -> f64| {
        (0..300).fold(0f64, |worst, t| {
            worst.max((left[(t, k)] - expected(t)).abs())
        })
    };
    let (gone, kept) = (worst(1, &|_| middle), worst(0, &|t| s[(t, 0)]));
    assert!(gone < 1e-3 && kept < 1e-3, "{gone} {kept}");
}

#[test]
fn removing_all_leaves_the_residual_and_the_mean() {
    for (recording, separation) in [affine(), nonlinear()] {
        let s = separation.sources();
        let still = Mat::from_fn(300, 3, |_, k| mean(s.col(k).iter().copied()));
        let at_rest = separation.mix(still.as_ref()).unwrap();
        let explained = separation.reconstruction().unwrap();
        let expected = recording.observations() - &explained + &at_rest;
        let cleaned = separation.clean(&recording, s, &[2, 0, 1]).unwrap();
        assert!(apart(cleaned.as_ref(), expected.as_ref()) < 1e-10);
    }
}

/// Behind a bend the share of one source depends on the others: both orders of removing two give
/// what removing them at once gives only when the sources of the first result are not asked anew.
#[test]
fn a_nonlinear_mixer_is_asked_with_and_without() {
    let (recording, separation) = nonlinear();
    let s = separation.sources();
    let middle = mean(s.col(0).iter().copied());
    let mut without = s.to_owned();
    without.col_mut(0).fill(middle);
    let kept = separation.mix(without.as_ref()).unwrap();
    let expected = recording.observations() - separation.reconstruction().unwrap() + kept;
    let cleaned = separation.clean(&recording, s, &[0]).unwrap();
    assert!(apart(cleaned.as_ref(), expected.as_ref()) < 1e-10);
    assert!(apart(cleaned.as_ref(), recording.observations()) > 0.1);
}

#[test]
fn missing_samples_stay_missing_or_are_filled() {
    let (whole, _) = affine();
    let gappy = with_gaps(&whole);
    let separation = separate(&gappy, &Config::fast(3)).unwrap();
    let s = separation.sources();
    let untouched = separation.clean(&gappy, s, &[]).unwrap();
    assert!(apart(untouched.as_ref(), gappy.observations()) == 0.0);
    let cleaned = separation.clean(&gappy, s, &[0]).unwrap();
    for t in 0..300 {
        let missing = gappy.is_missing(t);
        assert!(cleaned.row(t).iter().all(|v| v.is_nan() == missing), "{t}");
    }
    let filled = separation.clean_filled(&gappy, s, &[0]).unwrap();
    assert!(filled.col_iter().all(|c| c.iter().all(|v| v.is_finite())));
    for t in (0..300).filter(|&t| !gappy.is_missing(t)) {
        assert!((0..5).all(|c| filled[(t, c)] == cleaned[(t, c)]), "{t}");
    }
    // The filled values are near those that were taken away, and a value that is there counts.
    let complete = separation.transform(&whole, 1, &mut ()).unwrap();
    let expected = separation.clean(&whole, complete.sources.as_ref(), &[0]);
    assert!(apart(filled.as_ref(), expected.unwrap().as_ref()) < 2.0);
    let denoised = separation.denoise(&gappy).unwrap();
    let (mixing, _) = separation.mixing().unwrap();
    let middle = mean(s.col(0).iter().copied());
    let gone = mixing[(1, 0)] * (denoised.sources()[(200, 0)] - middle);
    let present = gappy.observations()[(200, 1)];
    assert!((filled[(200, 1)] - (present - gone)).abs() < 1e-9 * present.abs());
}

#[test]
fn a_part_is_cleaned_as_it_is_in_the_whole() {
    let (recording, separation) = affine();
    let part = Recording::from_mat(recording.observations().subrows(50, 60).to_owned()).unwrap();
    let sources = separation.transform(&part, 1, &mut ()).unwrap().sources;
    let of_part = separation.clean(&part, sources.as_ref(), &[1]).unwrap();
    let whole = separation.clean(&recording, separation.sources(), &[1]);
    assert!(apart(of_part.as_ref(), whole.unwrap().subrows(50, 60)) < 1e-8);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (recording, separation) = affine();
    let s = separation.sources();
    let refused = |result: strtransformer::Result<Mat<f64>>, expected: &str| {
        assert_eq!(result.unwrap_err().to_string(), expected);
    };
    refused(
        separation.clean(&recording, s, &[0, 3]),
        "sources to be removed: expected numbers below 3, counted from 0, found 3",
    );
    refused(
        separation.clean(&recording, s.subrows(0, 200), &[0]),
        "sources of the recording to be cleaned: expected 300 × 3, found 200 × 3",
    );
    let narrow = recording.observations().subcols(0, 4).to_owned();
    let narrow = Recording::from_mat(narrow).unwrap();
    let message = separation.clean(&narrow, s, &[0]).unwrap_err().to_string();
    assert!(message.starts_with("channels of the new recording: expected 5 ("));
    let (recording, bent) = nonlinear();
    let gappy = with_gaps(&recording);
    let message = bent.clean_filled(&gappy, bent.sources(), &[0]).unwrap_err();
    assert!(
        message.to_string().contains("expected an affine mixer"),
        "{message}"
    );
    let infinite = Mat::from_fn(
        300,
        3,
        |t, k| if t == 7 { f64::INFINITY } else { s[(t, k)] },
    );
    let message = separation
        .clean(&recording, infinite.as_ref(), &[1])
        .unwrap_err();
    assert!(
        message
            .to_string()
            .starts_with("cleaning: sample 7 of channel "),
        "{message}"
    );
}

/// Sources that are free in every sample are those of the run, not a map of the channels.
#[test]
fn free_sources_are_cleaned_by_their_own_mixture() {
    let recording = recording(MixingKind::Pnl);
    let mut config = Config::nonlinear(3);
    config.sources.coordinates = Some(Coordinates::Fiber);
    config.branches.patch_sizes = vec![4];
    config.mixer.hidden = vec![5];
    config.optimizer.steps = Some(10);
    let separation = separate(&recording, &config).unwrap();
    assert!(!separation.is_a_map());
    let cleaned = separation
        .clean(&recording, separation.sources(), &[0])
        .unwrap();
    assert!(apart(cleaned.as_ref(), recording.observations()) > 0.01);
}
