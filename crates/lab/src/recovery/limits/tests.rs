//! Tests of the limits as the tables show them: against methods, and at both ends.

use super::*;
use strt_classic::{Baseline, Method};
use strt_score::match_sources;
use strt_synth::{MixingKind, SourceKind};

fn spec(kind: SourceKind, n_samples: usize, noise: f64, seed: u64) -> ProblemSpec {
    ProblemSpec {
        kind,
        n_samples,
        noise,
        seed,
        ..ProblemSpec::default()
    }
}

/// Bound and linear-with-truth.
fn limits(spec: &ProblemSpec) -> (Option<f64>, f64) {
    let problem = spec.generate().unwrap();
    let correlations = linear::best_correlations(&problem);
    (
        expected_mac(spec, &problem, &correlations),
        mean(&correlations),
    )
}

#[test]
fn without_noise_the_truth_is_linear_and_noise_costs_what_it_should() {
    for kind in [SourceKind::Ar, SourceKind::Sines, SourceKind::Lorenz] {
        let (_, linear) = limits(&spec(kind, 1000, 0.0, 1));
        assert!((linear - 1.0).abs() < 1e-9, "{kind}: {linear}");
    }
    // Noise of variance r in an unmixed source leaves a correlation of 1/√(1 + r), or a little
    // more: least squares also weighs noise against the other sources.
    let noisy = spec(SourceKind::Ar, 20_000, 0.2, 1);
    let problem = noisy.generate().unwrap();
    let noise = unmixed_noise(problem.mixing.as_ref().unwrap(), 0.2);
    for (correlation, r) in linear::best_correlations(&problem).iter().zip(noise) {
        let plain = 1.0 / (1.0 + r).sqrt();
        assert!(
            *correlation > plain - 2e-3 && *correlation < plain + 2e-2,
            "{correlation}, {plain}"
        );
    }
    let bent = ProblemSpec {
        mixing: MixingKind::Asinh,
        ..spec(SourceKind::Lorenz, 2000, 0.01, 1)
    };
    let (bound, linear) = limits(&bent);
    assert!(
        bound.is_none() && linear > 0.9 && linear < 0.999,
        "{bound:?}, {linear}"
    );
}

#[test]
fn the_bound_is_there_for_gaussian_processes_and_grows_with_the_recording() {
    for kind in [SourceKind::Gp, SourceKind::GpClose, SourceKind::Ar] {
        let bound = |n: usize| limits(&spec(kind, n, 0.02, 3)).0;
        let (short, long) = (bound(500).unwrap(), bound(4000).unwrap());
        assert!(
            short < long && long < limits(&spec(kind, 4000, 0.02, 3)).1,
            "{kind}"
        );
        assert!(short > 0.9 && long < 1.0, "{kind}: {short}, {long}");
    }
    for kind in [
        SourceKind::Sines,
        SourceKind::Lorenz,
        SourceKind::Nonstationary,
    ] {
        assert!(limits(&spec(kind, 500, 0.02, 3)).0.is_none(), "{kind}");
    }
    // Twelve autoregressive sources in 60 samples: no small errors.
    let crowded = ProblemSpec {
        n_sources: 12,
        n_channels: 12,
        ..spec(SourceKind::Ar, 60, 0.0, 3)
    };
    assert!(limits(&crowded).0.is_none());
}

#[test]
fn no_method_exceeds_the_bound_on_average_and_one_reaches_it() {
    let n_problems = 40;
    // For every problem the MAC of both methods and the bound.
    let found: Vec<[f64; 3]> = (0..n_problems)
        .map(|seed| {
            let spec = spec(SourceKind::Ar, 1000, 0.0, seed);
            let problem = spec.generate().unwrap();
            let recording = problem.recording().unwrap();
            let reference = problem.reference().unwrap();
            let mac = |name: &str| {
                let method = Baseline::parse(name).unwrap();
                let found = method.separate(&recording, 3).unwrap();
                match_sources(found.sources(), &reference).unwrap().mac()
            };
            [mac("sobi"), mac("amuse"), limits(&spec).0.unwrap()]
        })
        .collect();
    let n = found.len() as f64;
    let mean = |i: usize| found.iter().map(|row| row[i]).sum::<f64>() / n;
    let error = |i: usize| {
        let squares = found.iter().map(|row| (row[i] - mean(i)).powi(2));
        (squares.sum::<f64>() / (n * (n - 1.0))).sqrt()
    };
    let bound = mean(2);
    for i in [0, 1] {
        let message = format!("{} ± {} against {bound}", mean(i), error(i));
        assert!(mean(i) < bound + 3.0 * error(i), "{message}");
    }
    // Covariances at lags 0 and 1 are all that matters in AR(1) sources, and all that AMUSE uses.
    assert!(
        mean(1) > bound - 3.0 * error(1) && error(1) < 0.002,
        "{} ± {}",
        mean(1),
        error(1)
    );
}
