//! Tests of sources of one law: that nothing simple tells them apart, and that something does.

use super::*;
use crate::{MixingKind, ProblemSpec, Purpose, SourceKind};
use fourier::Transform;
use strt_signal::moments::standardize_columns;

const ONE_LAW: [SourceKind; 10] = [
    SourceKind::Lorenz,
    SourceKind::LorenzZ,
    SourceKind::Rossler,
    SourceKind::MackeyGlass,
    SourceKind::VanDerPol,
    SourceKind::Coupled,
    SourceKind::Henon,
    SourceKind::Logistic,
    SourceKind::Tar,
    SourceKind::Garch,
];

/// The standardised sources of a problem, one vector each.
fn sources(kind: SourceKind, n_samples: usize, n_sources: usize, seed: u64) -> Vec<Vec<f64>> {
    let spec = ProblemSpec {
        kind,
        mixing: MixingKind::Linear,
        n_samples,
        n_sources,
        n_channels: n_sources,
        seed,
        ..ProblemSpec::default()
    };
    let raw = crate::sources::generate(&spec);
    let standardized = standardize_columns(raw.as_ref());
    (0..n_sources)
        .map(|source| standardized.col_as_slice(source).to_vec())
        .collect()
}

fn correlation(first: &[f64], second: &[f64]) -> f64 {
    first.iter().zip(second).map(|(a, b)| a * b).sum::<f64>() / first.len() as f64
}

/// Correlations of x_t and x_{t+l} for l = 1 … 30.
fn autocorrelations(series: &[f64]) -> Vec<f64> {
    (1..=30)
        .map(|lag| {
            let pairs = series.iter().zip(&series[lag..]);
            pairs.map(|(early, late)| early * late).sum::<f64>() / (series.len() - lag) as f64
        })
        .collect()
}

fn furthest(first: &[f64], second: &[f64]) -> f64 {
    let differences = first.iter().zip(second).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// ⟨(x_{t+1} − x_t)³⟩/⟨(x_{t+1} − x_t)²⟩^{3/2}: 0 for every series that looks the same backwards.
fn irreversibility(series: &[f64]) -> f64 {
    let moment = |power: i32| {
        let steps = series
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).powi(power));
        steps.sum::<f64>() / (series.len() - 1) as f64
    };
    moment(3) / moment(2).powf(1.5)
}

#[test]
fn runs_of_one_system_share_spectrum_and_marginal_and_are_uncorrelated() {
    for kind in ONE_LAW {
        let runs = sources(kind, 20_000, 3, 7);
        for run in &runs {
            let moment = |power: i32| {
                run.iter().map(|value| value.powi(power)).sum::<f64>() / run.len() as f64
            };
            assert!(
                (moment(4) - 3.0).abs() < 0.02 && moment(3).abs() < 1e-9,
                "{kind}"
            );
        }
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let lags = furthest(&autocorrelations(&runs[a]), &autocorrelations(&runs[b]));
            assert!(lags < 0.08, "{kind}: spectra differ by {lags}");
            let shared = correlation(&runs[a], &runs[b]);
            assert!(shared.abs() < 0.08, "{kind}: correlation {shared}");
        }
    }
    // The bound is one that other laws exceed.
    let (a, b) = (
        sources(SourceKind::Lorenz, 20_000, 1, 7),
        sources(SourceKind::Tar, 20_000, 1, 7),
    );
    assert!(furthest(&autocorrelations(&a[0]), &autocorrelations(&b[0])) > 0.3);
}

#[test]
fn runs_have_structure_that_their_surrogates_lack() {
    // The part of x_{t+1} that is a function of its two predecessors, by nearest neighbours.
    let unpredictable = |series: &[f64]| {
        let n = series.len() / 2;
        let error = |t: usize| {
            let distance = |s: usize| {
                let (a, b) = (series[s] - series[t], series[s - 1] - series[t - 1]);
                a * a + b * b
            };
            let near = (1..n - 1).min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            let difference = series[t + 1] - series[near.unwrap() + 1];
            difference * difference
        };
        (n..series.len() - 1).map(error).sum::<f64>() / (series.len() - 1 - n) as f64
    };
    for kind in [SourceKind::Lorenz, SourceKind::Henon, SourceKind::Logistic] {
        let run = sources(kind, 2000, 1, 3).remove(0);
        let spec = ProblemSpec::default();
        let other = surrogate::surrogate(&run, &mut spec.stream(Purpose::Source(0)));
        let (chaotic, random) = (unpredictable(&run), unpredictable(&other));
        assert!(chaotic < 0.3 * random, "{kind}: {chaotic} against {random}");
    }
}

#[test]
fn a_surrogate_keeps_spectrum_and_marginal_and_forgets_the_rest() {
    for n_samples in [1000, 1024] {
        let all = sources(SourceKind::LorenzSurrogates, n_samples, 3, 5);
        let periodogram = |series: &[f64]| {
            let (mut re, mut im) = (series.to_vec(), vec![0.0; n_samples]);
            Transform::new(n_samples).forward(&mut re, &mut im);
            let power = re.iter().zip(&im).map(|(a, b)| a * a + b * b);
            power.collect::<Vec<f64>>()
        };
        let sorted = |series: &[f64]| {
            let mut values = series.to_vec();
            values.sort_by(f64::total_cmp);
            values
        };
        let truth = periodogram(&all[0]);
        for surrogate in &all[1..] {
            // Standardising rounds sums in the order of the samples.
            assert!(furthest(&sorted(&all[0]), &sorted(surrogate)) < 1e-12);
            let found = periodogram(surrogate);
            let roots = truth.iter().zip(&found);
            let error: f64 = roots.map(|(a, b)| (a.sqrt() - b.sqrt()).powi(2)).sum();
            let share = error / truth.iter().sum::<f64>();
            assert!(share < 1e-3, "{share} of the power is at other frequencies");
            assert!(correlation(&all[0], surrogate).abs() < 0.3);
        }
        assert!(correlation(&all[1], &all[2]).abs() < 0.3);
    }
}

#[test]
fn the_run_that_is_cut_for_a_surrogate_closes() {
    let mut rng = ProblemSpec::default().stream(Purpose::Source(0));
    let run = flows::lorenz(500 + SPARE + 1, 0, &mut rng);
    let cut = closed(500, &run);
    assert_eq!(cut.len(), 500);
    let start = run.windows(2).position(|pair| pair == &cut[..2]).unwrap();
    // x lies between −20 and 20, and neighbours differ by several.
    assert!((run[start + 500] - run[start]).abs() < 0.5);
    assert!((run[start + 501] - run[start + 1]).abs() < 0.5);
}

#[test]
fn backwards_is_backwards_and_a_surrogate_has_no_direction() {
    let mut means = [0.0; 3];
    for seed in 0..4 {
        let all = sources(SourceKind::LorenzBackwards, 4000, 3, seed);
        for (mean, series) in means.iter_mut().zip(&all) {
            *mean += irreversibility(series) / 4.0;
        }
    }
    let [forwards, backwards, neither] = means;
    assert!(forwards.abs() > 0.3, "{means:?}");
    assert!(
        (forwards + backwards).abs() < 0.1 * forwards.abs(),
        "{means:?}"
    );
    assert!(neither.abs() < 0.1 * forwards.abs(), "{means:?}");
}

#[test]
fn one_seed_gives_one_series_and_every_source_another() {
    for kind in ONE_LAW
        .into_iter()
        .chain([SourceKind::LorenzBackwards, SourceKind::LorenzSurrogates])
    {
        let once = sources(kind, 300, 4, 2);
        assert_eq!(once, sources(kind, 300, 4, 2), "{kind}");
        assert_ne!(once, sources(kind, 300, 4, 3), "{kind}");
        for (a, b) in [(0, 1), (1, 2), (2, 3)] {
            assert!(correlation(&once[a], &once[b]).abs() < 0.95, "{kind}");
        }
        // Fewer sources are the first of more.
        assert_eq!(once[..2], sources(kind, 300, 2, 2)[..], "{kind}");
    }
}

#[test]
fn the_shortest_recordings_vary_too() {
    for kind in ONE_LAW
        .into_iter()
        .chain([SourceKind::LorenzBackwards, SourceKind::LorenzSurrogates])
    {
        for n_samples in [2, 3, 5] {
            for series in sources(kind, n_samples, 3, 1) {
                let power = correlation(&series, &series);
                assert!(
                    (power - 1.0).abs() < 1e-9,
                    "{kind}, {n_samples} samples: {power}"
                );
            }
        }
    }
}
