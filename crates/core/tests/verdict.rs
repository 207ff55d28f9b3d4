//! Verdicts on sources that can be told apart, on some that cannot, and on noise.

use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use strt_signal::random::{Stream, rng};
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::config::Init;
use strtransformer::train::RestartSummary;
use strtransformer::verdict::{Finding, Recurrence, Verdict, VerdictOptions};
use strtransformer::{Config, Recording, Separation, separate};

/// Resonances at these angles; an angle of NaN is white noise.
fn resonances(angles: &[f64], n_samples: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Sources);
    let mut sources = Mat::zeros(n_samples, angles.len());
    for (source, &angle) in angles.iter().enumerate() {
        let mut before = [0.0, 0.0];
        for value in sources.col_as_slice_mut(source) {
            let shock: f64 = StandardNormal.sample(&mut rng);
            *value = match angle.is_nan() {
                true => shock,
                false => 1.9 * angle.cos() * before[0] - 0.9025 * before[1] + shock,
            };
            before = [*value, before[0]];
        }
    }
    sources
}

fn problem(angles: &[f64], n_samples: usize, seed: u64) -> Problem {
    let spec = ProblemSpec {
        kind: SourceKind::Ar,
        mixing: MixingKind::Linear,
        n_sources: angles.len(),
        n_samples,
        noise: 0.01,
        seed,
        ..ProblemSpec::default()
    };
    spec.generate_from(&resonances(angles, n_samples, seed))
        .unwrap()
}

fn judge(separation: &Separation, recording: &Recording) -> Vec<Verdict> {
    separation
        .verdicts(recording, VerdictOptions::default())
        .unwrap()
}

/// The verdicts of a run of the kernel energy alone.
fn fast(problem: &Problem) -> (Separation, Vec<Verdict>) {
    let recording = problem.recording().unwrap();
    let separation = separate(&recording, &Config::fast(problem.sources.ncols())).unwrap();
    let verdicts = judge(&separation, &recording);
    (separation, verdicts)
}

/// Which true source a found one is most like.
fn likeness(separation: &Separation, problem: &Problem, k: usize) -> (usize, f64) {
    let t = problem.sources.nrows() as f64;
    let correlation = |j: usize| {
        let product = separation.sources().col(k).transpose() * problem.sources.col(j);
        (product / t).abs()
    };
    let all = (0..problem.sources.ncols()).map(|j| (j, correlation(j)));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

fn findings(verdicts: &[Verdict]) -> Vec<Finding> {
    verdicts.iter().map(|verdict| verdict.finding).collect()
}

/// Independent samples have no spectrum to go by, and are told by their distributions.
#[test]
fn independent_samples_that_are_not_gaussian_are_resolved() {
    let spec = ProblemSpec {
        kind: SourceKind::Independent,
        ..ProblemSpec::default()
    };
    let (_, verdicts) = fast(&spec.generate().unwrap());
    assert_eq!(findings(&verdicts), [Finding::Resolved; 3], "{verdicts:#?}");
}

#[test]
fn sources_of_different_spectra_are_resolved_and_their_error_bars_hold() {
    for seed in 1..4 {
        let problem = problem(&[0.2, 0.6, 1.2], 1000, seed);
        let (separation, verdicts) = fast(&problem);
        assert_eq!(findings(&verdicts), [Finding::Resolved; 3], "{verdicts:#?}");
        for (k, verdict) in verdicts.iter().enumerate() {
            let (_, correlation) = likeness(&separation, &problem, k);
            let error = (1.0 - correlation * correlation).max(0.0).sqrt();
            assert!(verdict.interference < 0.2, "{verdict:?}");
            assert!(error < 3.0 * verdict.interference, "{error}: {verdict:?}");
            assert!(verdict.replication.unwrap() > 0.9, "{verdict:?}");
            assert!(verdict.found_again.unwrap() > 0.9, "{verdict:?}");
            assert!(verdict.mixed_with.is_empty() && verdict.reruns.is_none());
        }
    }
}

#[test]
fn twins_are_mixed_with_each_other_and_the_third_is_not() {
    let mut wrong = 0;
    for seed in 1..7 {
        let problem = problem(&[0.5, 0.5, 1.2], 1000, seed);
        let (separation, verdicts) = fast(&problem);
        for (k, verdict) in verdicts.iter().enumerate() {
            if likeness(&separation, &problem, k).0 == 2 {
                assert_eq!(verdict.finding, Finding::Resolved, "{verdict:?}");
            } else if verdict.finding == Finding::Mixed {
                let twin = verdict.mixed_with[0];
                assert_ne!(likeness(&separation, &problem, twin).0, 2);
                assert_eq!(verdicts[twin].mixed_with, [k]);
                assert!(verdict.interference > 0.11, "{verdict:?}");
            } else {
                wrong += 1;
            }
        }
    }
    assert!(wrong <= 2, "{wrong} of 12 twins were not seen");
}

#[test]
fn white_noise_is_noise_and_not_mixed() {
    let problem = problem(&[0.5, f64::NAN, f64::NAN], 1000, 3);
    let (separation, verdicts) = fast(&problem);
    for (k, verdict) in verdicts.iter().enumerate() {
        let expected = match likeness(&separation, &problem, k).0 {
            0 => Finding::Resolved,
            _ => Finding::Noise,
        };
        assert_eq!(verdict.finding, expected, "{verdict:?}");
    }
}

/// Three runs of one chaotic map, which have one spectrum: what tells them apart is how samples
/// follow on each other. Surrogates of one have nothing of that, and stay mixed.
#[test]
fn sources_of_one_law_are_resolved_where_they_were_separated() {
    let spec = ProblemSpec {
        kind: SourceKind::Henon,
        n_samples: 1000,
        noise: 0.01,
        seed: 1,
        ..ProblemSpec::default()
    };
    let problem = spec.generate().unwrap();
    let recording = problem.recording().unwrap();
    let config = Config {
        seed: 1001,
        ..Config::new(3)
    };
    let of_networks = separate(&recording, &config).unwrap();
    let (of_fast, _) = fast(&problem);
    for separation in [of_networks, of_fast] {
        for (k, verdict) in judge(&separation, &recording).iter().enumerate() {
            assert!(likeness(&separation, &problem, k).1 > 0.99);
            assert_eq!(verdict.finding, Finding::Resolved, "{verdict:?}");
            assert!(verdict.interference < 0.1, "{verdict:?}");
            assert!(verdict.replication.unwrap() > 0.9, "{verdict:?}");
        }
    }
    // Two surrogates of one run, which nothing tells apart.
    let config = Config {
        seed: 1,
        ..Config::fast(3)
    };
    let other = ProblemSpec {
        kind: SourceKind::LorenzSurrogates,
        ..spec
    };
    let problem = other.generate().unwrap();
    let recording = problem.recording().unwrap();
    let separation = separate(&recording, &config).unwrap();
    let verdicts = judge(&separation, &recording);
    for (k, verdict) in verdicts.iter().enumerate() {
        if likeness(&separation, &problem, k).1 < 0.95 {
            assert_ne!(verdict.finding, Finding::Resolved, "{verdict:?}");
        }
    }
}

/// A run with small networks, which twins bring before them.
fn small_run(threads: usize, recording: &Recording) -> Separation {
    let mut config = Config::new(2);
    config.branches.patch_sizes = vec![4, 8];
    (config.branches.d_model, config.branches.n_heads) = (8, 2);
    config.optimizer.steps = Some(120);
    config.threads = threads;
    separate(recording, &config).unwrap()
}

#[test]
fn verdicts_of_networks_depend_on_nothing_but_the_seed() {
    let recording = problem(&[0.5, 0.5], 400, 5).recording().unwrap();
    let first = judge(&small_run(1, &recording), &recording);
    assert_eq!(first, judge(&small_run(1, &recording), &recording));
    assert_eq!(first, judge(&small_run(3, &recording), &recording));
}

#[test]
fn missing_samples_take_no_part() {
    let whole = problem(&[0.2, 1.2], 1000, 2);
    let mut gappy = whole.observations.clone();
    for t in 300..420 {
        gappy[(t, 1)] = f64::NAN;
    }
    let recording = Recording::from_mat(gappy).unwrap();
    let separation = separate(&recording, &Config::fast(2)).unwrap();
    let verdicts = judge(&separation, &recording);
    assert_eq!(findings(&verdicts), [Finding::Resolved; 2], "{verdicts:?}");
}

#[test]
fn one_source_is_mixed_with_nothing() {
    let (_, verdicts) = fast(&problem(&[0.4], 300, 1));
    assert_eq!(findings(&verdicts), [Finding::Resolved]);
    assert_eq!(
        (verdicts[0].interference, verdicts[0].evidence),
        (0.0, None)
    );
}

#[test]
fn further_runs_say_in_how_many_of_them_a_source_is_found() {
    let problem = problem(&[0.2, 1.2], 600, 2);
    let recording = problem.recording().unwrap();
    let separation = separate(&recording, &Config::fast(2)).unwrap();
    let options = VerdictOptions {
        replicates: 0,
        reruns: 2,
    };
    let verdicts = separation.verdicts(&recording, options).unwrap();
    for verdict in verdicts {
        assert_eq!((verdict.reruns, verdict.found_again), (Some(1.0), None));
    }
}

#[test]
fn every_source_says_in_how_many_restarts_it_was() {
    // Twins, which each restart turns as it likes, and a third that all of them have.
    let problem = problem(&[0.5, 0.5, 1.2], 600, 4);
    let recording = problem.recording().unwrap();
    let mut config = Config::new(3);
    config.branches.patch_sizes = vec![4, 8];
    (config.branches.d_model, config.branches.n_heads) = (8, 2);
    config.optimizer.steps = Some(30);
    config.restarts = Some(3);
    config.sources.init = Some(Init::Random);
    let separation = separate(&recording, &config).unwrap();
    let verdicts = judge(&separation, &recording);
    let compared: Vec<&RestartSummary> = separation
        .restarts()
        .iter()
        .filter(|restart| restart.agreement.is_some())
        .collect();
    assert!(!compared.is_empty());
    for (k, verdict) in verdicts.iter().enumerate() {
        let by_source = compared.iter().map(|r| r.agreement_by_source[k]);
        let recurrence = Recurrence {
            found: by_source.filter(|likeness| *likeness >= 0.9).count(),
            compared: compared.len(),
        };
        assert_eq!(verdict.restarts, Some(recurrence), "{verdict:?}");
    }
    for restart in compared {
        let least = restart.agreement_by_source.iter().copied();
        assert_eq!(restart.agreement, least.min_by(f64::total_cmp));
    }
}

#[test]
fn another_recording_is_refused() {
    let (first, shorter) = (problem(&[0.2, 1.2], 600, 2), problem(&[0.2, 1.2], 500, 2));
    let separation = separate(&first.recording().unwrap(), &Config::fast(2)).unwrap();
    let refused = |recording: &Recording| {
        let verdicts = separation.verdicts(recording, VerdictOptions::default());
        verdicts.unwrap_err().to_string()
    };
    let text = refused(&shorter.recording().unwrap());
    assert!(text.contains("expected 600, found 500"), "{text}");
    let narrow = first.observations.subcols(0, 3).to_owned();
    let text = refused(&Recording::from_mat(narrow).unwrap());
    assert!(text.contains("channels of the new recording"), "{text}");
}
