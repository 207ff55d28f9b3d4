//! Denoised sources: what they gain, that they harm nothing, gaps, spread, blocks, threads,
//! refusals.

use faer::{Mat, MatRef};
use strt_score::match_sources;
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::config::{Coordinates, Init};
use strtransformer::denoise::Denoised;
use strtransformer::{Config, Recording, Separation, separate};

fn spec(kind: SourceKind, noise: f64, seed: u64) -> ProblemSpec {
    ProblemSpec {
        kind,
        noise,
        seed,
        ..ProblemSpec::default()
    }
}

/// What SOBI finds, as an affine model: the unmixing does not move.
fn config(n_sources: usize) -> Config {
    let mut config = Config::new(n_sources);
    config.sources.init = Some(Init::Sobi);
    config.optimizer.steps = Some(1);
    config.optimizer.rates.fiber = 0.0;
    config.branches.patch_sizes = vec![4];
    config.threads = 1;
    config
}

fn mac(problem: &Problem, sources: MatRef<'_, f64>) -> f64 {
    let matching = match_sources(sources, &problem.reference().unwrap()).unwrap();
    matching.mac()
}

/// MAC of the sources and of the denoised ones.
fn scores(spec: &ProblemSpec) -> (f64, f64) {
    let problem = spec.generate().unwrap();
    let recording = problem.recording().unwrap();
    let separation = separate(&recording, &config(spec.n_sources)).unwrap();
    let denoised = separation.denoise(&recording).unwrap();
    (
        mac(&problem, separation.sources()),
        mac(&problem, denoised.sources()),
    )
}

/// Mean MAC before and after over some seeds.
fn mean_scores(kind: SourceKind, noise: f64) -> (f64, f64) {
    let (seeds, mut sums) = (0..6, (0.0, 0.0));
    for seed in seeds.clone() {
        let (before, after) = scores(&spec(kind, noise, seed));
        sums = (sums.0 + before, sums.1 + after);
    }
    let n = seeds.count() as f64;
    println!("{kind} at {noise}: {:.4} -> {:.4}", sums.0 / n, sums.1 / n);
    (sums.0 / n, sums.1 / n)
}

#[test]
fn noisy_sources_come_closer_to_the_truth() {
    for kind in [SourceKind::Gp, SourceKind::Sines] {
        let (before, after) = mean_scores(kind, 0.2);
        assert!(after - before > 0.005, "{kind}: {before} -> {after}");
    }
}

#[test]
fn little_noise_and_none_are_left_alone() {
    let kinds = [
        SourceKind::Gp,
        SourceKind::Sines,
        SourceKind::Ar,
        SourceKind::NonSmooth,
    ];
    for kind in kinds {
        for noise in [0.0, 0.02] {
            let (before, after) = mean_scores(kind, noise);
            assert!(
                after - before > -0.001,
                "{kind} at {noise}: {before} -> {after}"
            );
        }
    }
}

/// Which true source each source is, and the factor by which it is larger.
fn scales(problem: &Problem, sources: MatRef<'_, f64>) -> Vec<(usize, f64)> {
    let matching = match_sources(sources, &problem.reference().unwrap()).unwrap();
    let matched = matching.matched().iter().enumerate();
    matched
        .map(|(k, truth)| {
            let truth = truth.unwrap();
            let rows = (0..sources.nrows()).filter(|&t| !sources[(t, k)].is_nan());
            let (mut product, mut square) = (0.0, 0.0);
            for t in rows {
                product += sources[(t, k)] * problem.sources[(t, truth)];
                square += problem.sources[(t, truth)].powi(2);
            }
            (truth, product / square)
        })
        .collect()
}

/// A recording with every value of some samples missing.
fn without(problem: &Problem, gone: impl Fn(usize) -> bool) -> Recording {
    let y = &problem.observations;
    let gappy = Mat::from_fn(y.nrows(), y.ncols(), |t, c| {
        if gone(t) { f64::NAN } else { y[(t, c)] }
    });
    Recording::from_mat(gappy).unwrap()
}

#[test]
fn gaps_are_filled_better_than_by_zero_or_a_line() {
    const PERIOD: usize = 90;
    const GAP: usize = 14;
    let problem = ProblemSpec {
        n_samples: 3000,
        ..spec(SourceKind::Gp, 0.02, 1)
    }
    .generate()
    .unwrap();
    let gone = |t: usize| t % PERIOD >= PERIOD - GAP && t < 2900;
    let recording = without(&problem, gone);
    let separation = separate(&recording, &config(3)).unwrap();
    let sources = separation.sources();
    let denoised = separation.denoise(&recording).unwrap();
    for (k, (truth, scale)) in scales(&problem, sources).into_iter().enumerate() {
        let [mut filled, mut zero, mut line] = [0.0; 3];
        for t in (0..2900).filter(|&t| gone(t)) {
            let expected = scale * problem.sources[(t, truth)];
            let (before, after) = (t - t % PERIOD + PERIOD - GAP - 1, t - t % PERIOD + PERIOD);
            let share = (t - before) as f64 / (after - before) as f64;
            let straight = sources[(before, k)] * (1.0 - share) + sources[(after, k)] * share;
            filled += (denoised.sources()[(t, k)] - expected).powi(2);
            zero += expected.powi(2);
            line += (straight - expected).powi(2);
        }
        println!("source {k}: filled {filled:.3}, by 0 {zero:.3}, by a line {line:.3}");
        assert!(filled < 0.9 * line && filled < 0.7 * zero, "source {k}");
    }
    assert!(
        denoised
            .sources()
            .col_iter()
            .all(|column| column.iter().all(|v| v.is_finite()))
    );
}

#[test]
fn a_long_gap_returns_to_the_mean_and_to_the_spread_of_the_source() {
    let problem = ProblemSpec {
        n_samples: 4000,
        ..spec(SourceKind::Ar, 0.1, 2)
    }
    .generate()
    .unwrap();
    let recording = without(&problem, |t| (1000..2600).contains(&t));
    let separation = separate(&recording, &config(3)).unwrap();
    let denoised = separation.denoise(&recording).unwrap();
    for k in 0..3 {
        assert!(denoised.sources()[(1800, k)].abs() < 0.02);
        let (inside, outside) = (
            denoised.deviation()[(1800, k)],
            denoised.deviation()[(500, k)],
        );
        assert!((0.9..1.05).contains(&inside), "source {k}: {inside}");
        assert!(outside < 0.5 * inside, "source {k}: {outside}");
        // It grows towards the middle.
        let into: Vec<f64> = (1000..1008).map(|t| denoised.deviation()[(t, k)]).collect();
        assert!(
            into.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9),
            "source {k}: {into:?}"
        );
    }
}

/// Share of samples (of those where `of`) that are within one standard deviation of the truth.
fn within_one(
    problem: &Problem,
    separation: &Separation,
    denoised: &Denoised,
    of: impl Fn(usize) -> bool,
) -> f64 {
    let (mut within, mut count) = (0, 0);
    let scales = scales(problem, separation.sources());
    for (k, (truth, scale)) in scales.into_iter().enumerate() {
        for t in (0..problem.sources.nrows()).filter(|&t| of(t)) {
            let error = denoised.sources()[(t, k)] - scale * problem.sources[(t, truth)];
            within += usize::from(error.abs() < denoised.deviation()[(t, k)]);
            count += 1;
        }
    }
    within as f64 / count as f64
}

#[test]
fn two_thirds_of_the_truth_are_within_one_standard_deviation() {
    for kind in [SourceKind::Gp, SourceKind::Ar] {
        let problem = ProblemSpec {
            n_samples: 4000,
            ..spec(kind, 0.2, 3)
        }
        .generate()
        .unwrap();
        let gone = |t: usize| t % 100 >= 85;
        let recording = without(&problem, gone);
        let separation = separate(&recording, &config(3)).unwrap();
        let denoised = separation.denoise(&recording).unwrap();
        let seen = within_one(&problem, &separation, &denoised, |t| !gone(t));
        let filled = within_one(&problem, &separation, &denoised, gone);
        println!("{kind}: {seen:.3} of what was seen, {filled:.3} of what was not");
        assert!((0.5..0.85).contains(&seen), "{kind}: {seen}");
        assert!((0.5..0.85).contains(&filled), "{kind}: {filled}");
    }
}

#[test]
fn the_noise_is_that_of_the_channels() {
    for noise in [0.02, 0.1, 0.2] {
        let problem = spec(SourceKind::Gp, noise, 4).generate().unwrap();
        let recording = problem.recording().unwrap();
        let separation = separate(&recording, &config(3)).unwrap();
        let denoised = separation.denoise(&recording).unwrap();
        let expected = noise * noise / (1.0 + noise * noise);
        let share = denoised.noise().share.unwrap();
        assert!(
            (share / expected - 1.0).abs() < 0.15,
            "{share} for {expected}"
        );
        for &of_source in &denoised.noise().of_sources {
            assert!(of_source > 0.05 * share && of_source < 0.6, "{of_source}");
        }
    }
}

#[test]
fn with_as_many_channels_as_sources_only_gaps_are_filled() {
    let problem = ProblemSpec {
        n_channels: 3,
        ..spec(SourceKind::Gp, 0.1, 5)
    }
    .generate()
    .unwrap();
    let separation = separate(&problem.recording().unwrap(), &config(3)).unwrap();
    let same = separation.denoise(&problem.recording().unwrap()).unwrap();
    assert_eq!(same.noise().share, None);
    let gappy = without(&problem, |t| (500..510).contains(&t));
    let filled = separation.denoise(&gappy).unwrap();
    for k in 0..3 {
        for t in 0..1000 {
            let unmixed = separation.sources()[(t, k)];
            assert!((same.sources()[(t, k)] - unmixed).abs() < 1e-9);
            assert_eq!(same.deviation()[(t, k)], 0.0);
            let gone = (500..510).contains(&t);
            let found = filled.sources()[(t, k)];
            assert!(found.is_finite());
            assert!(
                gone || (found - unmixed).abs() < 1e-3,
                "{t}: {found} and {unmixed}"
            );
            assert!(gone == (filled.deviation()[(t, k)] > 1e-2) || !gone);
        }
    }
}

/// A long recording, which is cut into blocks, has the sources of its beginning alone.
#[test]
fn blocks_have_no_seams() {
    let problem = ProblemSpec {
        n_samples: 40_000,
        n_sources: 2,
        n_channels: 4,
        ..spec(SourceKind::GpClose, 0.2, 6)
    }
    .generate()
    .unwrap();
    let long = without(&problem, |t| t % 1000 > 980);
    let separation = separate(&long, &config(2)).unwrap();
    let first = Mat::from_fn(15_500, 4, |t, c| long.observations()[(t, c)]);
    let short = Recording::from_mat(first).unwrap();
    let (long, short) = (
        separation.denoise(&long).unwrap(),
        separation.denoise(&short).unwrap(),
    );
    for k in 0..2 {
        for t in 0..13_000 {
            let difference = long.sources()[(t, k)] - short.sources()[(t, k)];
            assert!(difference.abs() < 1e-3, "sample {t}: {difference}");
            let difference = long.deviation()[(t, k)] - short.deviation()[(t, k)];
            assert!(difference.abs() < 1e-6, "sample {t}: {difference}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let problem = spec(SourceKind::Ar, 0.1, 7).generate().unwrap();
    let recording = without(&problem, |t| t % 50 == 7 || (300..330).contains(&t));
    let denoised = |threads: usize| {
        let mut config = config(3);
        config.threads = threads;
        let separation = separate(&recording, &config).unwrap();
        separation.denoise(&recording).unwrap()
    };
    let (one, three) = (denoised(1), denoised(3));
    assert!(one.sources() == three.sources() && one.deviation() == three.deviation());
}

fn refused(separation: &Separation, recording: &Recording, parts: &[&str]) {
    let message = separation.denoise(recording).unwrap_err().to_string();
    for part in parts {
        assert!(
            message.contains(part),
            "\"{message}\" should contain \"{part}\""
        );
    }
}

#[test]
fn other_models_are_refused_with_what_to_do() {
    let problem = spec(SourceKind::Ar, 0.1, 8).generate().unwrap();
    let recording = problem.recording().unwrap();
    let mut bent = Config::nonlinear(3);
    bent.optimizer.steps = Some(1);
    bent.branches.patch_sizes = vec![4];
    let separation = separate(&recording, &bent).unwrap();
    refused(
        &separation,
        &recording,
        &["\"mlp\"", "\"neural\"", "mixer.kind = affine"],
    );
    let mut free = config(3);
    free.sources.coordinates = Some(Coordinates::Direct);
    free.sources.init = Some(Init::Random);
    let separation = separate(&recording, &free).unwrap();
    refused(
        &separation,
        &recording,
        &["\"direct\"", "free", "sources.coordinates = fiber"],
    );
    let mut unlocked = config(3);
    unlocked.sources.unlock = Some(0.0);
    let separation = separate(&recording, &unlocked).unwrap();
    refused(
        &separation,
        &recording,
        &["\"fiber\"", "sources.unlock = 1"],
    );
    let fewer = ProblemSpec {
        n_channels: 4,
        mixing: MixingKind::Linear,
        ..spec(SourceKind::Ar, 0.1, 8)
    };
    let fewer = fewer.generate().unwrap().recording().unwrap();
    let separation = separate(&recording, &config(3)).unwrap();
    refused(
        &separation,
        &fewer,
        &["channels of the new recording", "6", "4"],
    );
}
