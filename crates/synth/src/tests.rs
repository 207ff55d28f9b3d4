//! Tests of the generators: shapes, units, determinism and the statistics that their names promise.

use super::*;
use strt_score::match_sources;
use strt_signal::correlation_time::correlation_time;

const MIXINGS: [MixingKind; 8] = [
    MixingKind::Linear,
    MixingKind::Conditioned { condition: 30 },
    MixingKind::Pnl,
    MixingKind::Asinh,
    MixingKind::Mlp2,
    MixingKind::Mlp3,
    MixingKind::LeakyMlp { layers: 4 },
    MixingKind::TanhMlp { layers: 3 },
];

fn assert_standardized(values: &Mat<f64>) {
    for column in values.col_iter() {
        let moments = Moments::of_column(column);
        assert!(
            moments.mean.abs() < 1e-12 && (moments.deviation - 1.0).abs() < 1e-12,
            "{moments:?}"
        );
    }
}

#[test]
fn every_kind_and_mixing_is_standardised_for_awkward_sizes() {
    for kind in SourceKind::ALL {
        for mixing in MIXINGS {
            for (n_samples, n_sources, n_channels) in
                [(30, 1, 1), (101, 2, 2), (64, 3, 6), (200, 7, 9)]
            {
                let spec = ProblemSpec {
                    kind,
                    mixing,
                    n_samples,
                    n_sources,
                    n_channels,
                    noise: 0.0,
                    seed: 5,
                };
                let problem = spec.generate().unwrap();
                assert_eq!(
                    (problem.sources.nrows(), problem.sources.ncols()),
                    (n_samples, n_sources)
                );
                assert_eq!(
                    (problem.observations.nrows(), problem.observations.ncols()),
                    (n_samples, n_channels)
                );
                assert_standardized(&problem.sources);
                assert_standardized(&problem.observations);
                assert_eq!(problem.mixing.is_some(), mixing.is_linear());
                assert_eq!(problem.recording().unwrap().n_channels(), n_channels);
                assert_eq!(problem.reference().unwrap().n_sources(), n_sources);
            }
        }
    }
}

#[test]
fn one_seed_gives_one_problem_and_every_choice_another() {
    let base = ProblemSpec {
        n_samples: 50,
        ..ProblemSpec::default()
    };
    let problem = base.generate().unwrap();
    let again = base.generate().unwrap();
    assert_eq!(problem.observations, again.observations);
    assert_eq!(problem.sources, again.sources);
    assert_ne!(
        problem.sources,
        ProblemSpec {
            seed: 1,
            ..base.clone()
        }
        .generate()
        .unwrap()
        .sources
    );
    // Another mixing is another problem altogether, sources included.
    let other = ProblemSpec {
        mixing: MixingKind::Pnl,
        ..base.clone()
    }
    .generate()
    .unwrap();
    assert_ne!(problem.sources, other.sources);
    let first_normal =
        |spec: &ProblemSpec| -> f64 { StandardNormal.sample(&mut spec.stream(Purpose::Source(0))) };
    let close = ProblemSpec {
        kind: SourceKind::GpClose,
        ..base.clone()
    };
    assert_ne!(first_normal(&base), first_normal(&close));
    // Noise has a stream of its own and leaves the rest alone.
    let quiet = ProblemSpec {
        noise: 0.0,
        ..base.clone()
    }
    .generate()
    .unwrap();
    assert_eq!(problem.sources, quiet.sources);
    assert_eq!(problem.mixing, quiet.mixing);
    assert_ne!(problem.observations, quiet.observations);
}

#[test]
fn effective_mixing_reproduces_the_channels_and_noise_has_its_size() {
    let quiet = ProblemSpec {
        noise: 0.0,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap();
    let noisy = ProblemSpec {
        noise: 0.1,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap();
    let product = &quiet.sources * quiet.mixing.as_ref().unwrap().transpose();
    let mut sum_of_squares = 0.0;
    for t in 0..1000 {
        for channel in 0..6 {
            assert!((product[(t, channel)] - quiet.observations[(t, channel)]).abs() < 1e-12);
            sum_of_squares +=
                (noisy.observations[(t, channel)] - quiet.observations[(t, channel)]).powi(2);
        }
    }
    assert!(((sum_of_squares / 6000.0).sqrt() - 0.1).abs() < 0.005);
}

#[test]
fn drawn_matrices_keep_the_condition_bound() {
    assert_eq!(
        (mixing::condition_bound(4), mixing::condition_bound(20)),
        (6.0, 40.0)
    );
    for (n_rows, n_columns) in [(1, 1), (2, 2), (4, 4), (6, 3), (8, 8), (20, 20)] {
        for seed in 0..10 {
            let matrix =
                mixing::well_conditioned(n_rows, n_columns, &mut ChaCha8Rng::seed_from_u64(seed))
                    .unwrap();
            assert!(
                mixing::condition(matrix.as_ref()).unwrap() < mixing::condition_bound(n_columns)
            );
        }
    }
}

#[test]
fn gaussian_processes_have_the_squared_exponential_covariance() {
    let spec = ProblemSpec {
        n_samples: 200_000,
        n_channels: 3,
        ..ProblemSpec::default()
    };
    let raw = sources::generate(&spec);
    let sources = standardize_columns(raw.as_ref());
    for (source, length_scale) in [6.0f64, 20.0, 70.0].into_iter().enumerate() {
        let column = sources.col_as_slice(source);
        for share in [0.5, 1.0, 2.0] {
            let lag = (share * length_scale) as usize;
            let n_pairs = column.len() - lag;
            let found: f64 = column
                .iter()
                .zip(&column[lag..])
                .map(|(early, late)| early * late)
                .sum::<f64>()
                / n_pairs as f64;
            let expected = (-(lag as f64 / length_scale).powi(2) / 2.0).exp();
            // The standard error is about √(2·√π·ℓ/T) ≈ 0.035 for ℓ = 70.
            assert!(
                (found - expected).abs() < 0.1,
                "ℓ = {length_scale}, lag {lag}: {found} against {expected}"
            );
        }
    }
}

#[test]
fn correlation_times_have_the_order_of_the_sources() {
    for kind in [
        SourceKind::Gp,
        SourceKind::GpClose,
        SourceKind::Sines,
        SourceKind::Ar,
    ] {
        let spec = ProblemSpec {
            kind,
            n_samples: 20_000,
            ..ProblemSpec::default()
        };
        let sources = spec.generate().unwrap().sources;
        let times = [0, 1, 2].map(|source| correlation_time(sources.col_as_slice(source)));
        assert!(
            times.is_sorted_by(|early, late| early < late),
            "{kind}: {times:?}"
        );
    }
}

#[test]
fn ar_and_segment_sources_have_their_statistics() {
    let generate = |kind| {
        ProblemSpec {
            kind,
            n_samples: 50_000,
            ..ProblemSpec::default()
        }
        .generate()
        .unwrap()
        .sources
    };
    let ar = generate(SourceKind::Ar);
    for (source, pole) in [0.5, 0.85, 0.98].into_iter().enumerate() {
        let column = ar.col_as_slice(source);
        let found: f64 = column
            .iter()
            .zip(&column[1..])
            .map(|(early, late)| early * late)
            .sum::<f64>()
            / 49_999.0;
        assert!((found - pole).abs() < 0.02, "pole {pole}: {found}");
    }
    // Kurtosis: 3 for Gaussian; 6 for Laplace, more with a changing scale.
    let kurtosis = |sources: &Mat<f64>| {
        sources
            .col(0)
            .iter()
            .map(|value| value.powi(4))
            .sum::<f64>()
            / 50_000.0
    };
    assert!(kurtosis(&generate(SourceKind::SegmentLaplace)) > 6.5);
    // Independent samples are uncorrelated; laplacear has a pole and heavy tails.
    let lagged = |sources: &Mat<f64>, source: usize| {
        let values = sources.col_as_slice(source);
        values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / 49_999.0
    };
    let (independent, same) = (
        generate(SourceKind::Independent),
        generate(SourceKind::LaplaceAr),
    );
    for source in 0..3 {
        assert!(lagged(&independent, source).abs() < 0.02);
        assert!((lagged(&same, source) - 0.9).abs() < 0.02);
    }
    assert!((5.0..7.0).contains(&kurtosis(&independent)));
    assert!((3.1..4.0).contains(&kurtosis(&same)));
    assert!((3.2..4.5).contains(&kurtosis(&generate(SourceKind::SegmentGaussian))));
    let switching = generate(SourceKind::SwitchingAr);
    let times = [0, 1, 2].map(|source| correlation_time(switching.col_as_slice(source)));
    assert!(times[0] < times[1] && times[1] < times[2], "{times:?}");
}

#[test]
fn nonlinear_mixings_are_not_linear() {
    // With as many channels as sources and no noise, a linear map of the channels would be exact.
    for mixing in MIXINGS.into_iter().filter(|mixing| !mixing.is_linear()) {
        let spec = ProblemSpec {
            mixing,
            n_sources: 1,
            n_channels: 1,
            noise: 0.0,
            ..ProblemSpec::default()
        };
        let problem = spec.generate().unwrap();
        let mac = match_sources(problem.observations.as_ref(), &problem.reference().unwrap())
            .unwrap()
            .mac();
        assert!(mac > 0.5 && mac < 0.9999, "{mixing}: {mac}");
    }
}

#[test]
fn impossible_specifications_are_refused_by_field() {
    let refused = |spec: ProblemSpec, field: &str| {
        let message = spec.generate().unwrap_err().to_string();
        let place = format!("configuration: {field} = ");
        assert!(message.starts_with(&place), "{spec:?} gave \"{message}\"");
    };
    let base = ProblemSpec::default;
    refused(
        ProblemSpec {
            n_samples: 1,
            ..base()
        },
        "n_samples",
    );
    refused(
        ProblemSpec {
            n_sources: 0,
            ..base()
        },
        "n_sources",
    );
    refused(
        ProblemSpec {
            n_channels: 2,
            ..base()
        },
        "n_channels",
    );
    refused(
        ProblemSpec {
            noise: f64::NAN,
            ..base()
        },
        "noise",
    );
    refused(
        ProblemSpec {
            noise: -0.1,
            ..base()
        },
        "noise",
    );
    refused(
        ProblemSpec {
            mixing: MixingKind::LeakyMlp { layers: 0 },
            ..base()
        },
        "mixing",
    );
    // With 7 samples the 7-cycle square wave is sampled once per cycle.
    let short = ProblemSpec {
        kind: SourceKind::NonSmooth,
        n_samples: 7,
        ..base()
    };
    let message = short.generate().unwrap_err().to_string();
    assert!(
        message.contains("source 1") && message.contains("more samples"),
        "{message}"
    );
}

#[test]
fn every_kind_can_be_had_for_two_to_twelve_sources() {
    for kind in SourceKind::ALL {
        for n_sources in 2..=12 {
            for n_channels in [n_sources, 2 * n_sources] {
                let spec = ProblemSpec {
                    kind,
                    n_samples: 300,
                    n_sources,
                    n_channels,
                    ..ProblemSpec::default()
                };
                assert_eq!(
                    spec.generate().unwrap().sources.ncols(),
                    n_sources,
                    "{kind}"
                );
            }
        }
    }
}

#[test]
fn conditioned_mixings_keep_their_condition_in_the_units_of_the_channels() {
    for (asked, n_sources, n_channels) in [(10, 3, 6), (100, 3, 3), (1000, 8, 8)] {
        let spec = ProblemSpec {
            kind: SourceKind::SegmentLaplace,
            mixing: MixingKind::Conditioned { condition: asked },
            n_samples: 100_000,
            n_sources,
            n_channels,
            ..ProblemSpec::default()
        };
        let found = mixing::condition(spec.generate().unwrap().mixing.unwrap().as_ref()).unwrap();
        assert!(
            (found / asked as f64 - 1.0).abs() < 0.05,
            "{asked}: {found}"
        );
    }
}

#[test]
fn nonstationary_sources_are_white_and_change_their_variance() {
    let sources = ProblemSpec {
        kind: SourceKind::Nonstationary,
        n_samples: 20_000,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap()
    .sources;
    for column in (0..3).map(|source| sources.col_as_slice(source)) {
        let product = |lag: usize, f: fn(f64) -> f64| -> f64 {
            let pairs = column.iter().zip(&column[lag..]);
            pairs.map(|(early, late)| f(*early) * f(*late)).sum::<f64>()
                / (column.len() - lag) as f64
        };
        assert!(product(1, f64::signum).abs() < 0.03);
        // Neighbours are loud together; samples that are many length-scales apart are not.
        let loudness = |value: f64| value.abs().sqrt();
        assert!(product(1, loudness) > 1.05 * product(1000, loudness));
    }
}

#[test]
fn varied_sources_have_colour_or_changing_strength_in_turn() {
    let sources = ProblemSpec {
        kind: SourceKind::Varied,
        n_samples: 20_000,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap()
    .sources;
    let found = (0..3).map(|source| {
        let column = sources.col_as_slice(source);
        let mean = |lag: usize, f: &dyn Fn(f64) -> f64| -> f64 {
            let pairs = column.iter().zip(&column[lag..]);
            pairs.map(|(early, late)| f(*early) * f(*late)).sum::<f64>()
                / (column.len() - lag) as f64
        };
        let coloured = mean(1, &|value| value).abs() > 0.3;
        // By lag 20 a resonance has forgotten itself; an envelope has not.
        let loudness = |value: f64| value.abs().sqrt();
        (coloured, mean(20, &loudness) > 1.05 * mean(1000, &loudness))
    });
    let found: Vec<(bool, bool)> = found.collect();
    assert_eq!(found, [(true, false), (false, true), (true, true)]);
}

#[test]
fn given_sources_are_mixed_as_specified() {
    let spec = ProblemSpec {
        n_samples: 500,
        ..ProblemSpec::default()
    };
    let generated = spec.generate().unwrap();
    // Units and offsets of given sources do not matter.
    let given = Mat::from_fn(500, 3, |t, k| 100.0 * generated.sources[(t, k)] - 7.0);
    let mixed = spec.generate_from(&given).unwrap();
    for t in 0..500 {
        for channel in 0..6 {
            let difference =
                mixed.observations[(t, channel)] - generated.observations[(t, channel)];
            assert!(difference.abs() < 1e-10);
        }
    }
    let refused = |sources: Mat<f64>| spec.generate_from(&sources).unwrap_err().to_string();
    assert!(refused(Mat::zeros(500, 2)).contains("500 samples × 3 sources"));
    let mut spoiled = given.clone();
    spoiled[(4, 1)] = f64::NAN;
    assert!(refused(spoiled).contains("source 1, sample 4"));
    assert!(refused(Mat::full(500, 3, 1.0)).contains("does not vary"));
}
