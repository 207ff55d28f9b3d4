//! On problems made for each kind of method.

use crate::independent;
use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use strt_classic::{
    Amuse, Baseline, Decomposition, Diagonalizer, Efica, Extraction, Fast, FastIca, Jade, Method,
    MultiCombi, Nonlinearity, Nss, Picard, Sobi, Wasobi,
};
use strt_score::{Reference, amari_from_mixing, match_sources};
use strt_signal::Recording;
use strt_synth::{ProblemSpec, SourceKind};

/// White Gaussian noise under envelopes that change slowly and differently.
fn modulated(n_samples: usize, k: usize) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let sources = Mat::from_fn(n_samples, k, |t, source| {
        let phase = (source + 1) as f64 * 1.7 * t as f64 / n_samples as f64 + 0.3 * source as f64;
        let noise: f64 = StandardNormal.sample(&mut rng);
        (1.2 * (std::f64::consts::TAU * phase).sin()).exp() * noise
    });
    let mixing = Mat::from_fn(k, k, |c, s| {
        ((2 + 3 * c + 2 * s + c * s) as f64).cos() + f64::from(c == s)
    });
    (&sources * mixing.transpose(), sources, mixing)
}

/// MAC of a method on observations with known sources; what it says about itself must hold.
#[track_caller]
fn recovers(
    method: &impl Method,
    (y, s, mixing): &(Mat<f64>, Mat<f64>, Mat<f64>),
) -> Decomposition {
    let found = method
        .separate(&Recording::from_mat(y.clone()).unwrap(), s.ncols())
        .unwrap();
    let mac = match_sources(found.sources(), &Reference::new(s.clone()).unwrap())
        .unwrap()
        .mac();
    let amari = amari_from_mixing(found.mixing(), mixing.as_ref()).unwrap();
    println!(
        "{}: MAC {mac:.4}, Amari {amari:.4}, {}",
        method.name(),
        found.convergence()
    );
    assert!(
        mac > 0.98 && amari < 0.1,
        "{}: {mac}, {amari}",
        method.name()
    );
    assert!(found.convergence().converged, "{}", found.convergence());
    found
}

#[test]
fn methods_of_higher_order_separate_laplace_and_uniform_sources() {
    let problem = independent(4000, 4, 3);
    for extraction in [Extraction::Parallel, Extraction::Deflation] {
        for nonlinearity in Nonlinearity::ALL {
            recovers(
                &FastIca {
                    extraction,
                    nonlinearity,
                    ..FastIca::default()
                },
                &problem,
            );
        }
    }
    recovers(&Picard::default(), &problem);
    recovers(
        &Picard {
            orthogonal: false,
            ..Picard::default()
        },
        &problem,
    );
    recovers(&Jade::default(), &problem);
    recovers(&Efica::default(), &problem);
    recovers(&MultiCombi::default(), &problem);
}

#[test]
fn methods_of_second_order_separate_autoregressive_sources() {
    let problem = ProblemSpec {
        kind: SourceKind::Ar,
        n_samples: 5000,
        n_sources: 4,
        n_channels: 4,
        noise: 0.0,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap();
    let problem = (
        problem.observations,
        problem.sources,
        problem.mixing.unwrap(),
    );
    recovers(&Amuse::default(), &problem);
    recovers(&Sobi::default(), &problem);
    let every_other = Sobi {
        lags: (1..20).step_by(2).collect(),
        ..Sobi::default()
    };
    recovers(&every_other, &problem);
    recovers(&Wasobi::default(), &problem);
    recovers(&MultiCombi::default(), &problem);
}

#[test]
fn block_covariances_separate_gaussian_sources_of_changing_variance() {
    let problem = modulated(4000, 4);
    recovers(&Nss::default(), &problem);
    recovers(
        &Nss {
            diagonalizer: Diagonalizer::Orthogonal,
            blocks: Some(30),
            ..Nss::default()
        },
        &problem,
    );
}

#[test]
fn every_number_of_sources_runs() {
    for k in [1, 2, 12] {
        for name in Baseline::NAMES {
            let (y, ..) = independent(1500, k, 5);
            let found = Baseline::parse(name)
                .unwrap()
                .separate(&Recording::from_mat(y).unwrap(), k)
                .unwrap();
            assert_eq!(found.sources().shape(), (1500, k), "{name}");
        }
    }
}

/// Independent samples, and autoregressions of one spectrum: what is not Gaussian in the
/// innovations tells them apart, also with gaps. With Gaussian innovations nothing does.
#[test]
fn innovations_that_are_not_gaussian_tell_sources_apart() {
    recovers(&Fast::default(), &independent(1000, 4, 3));
    for kind in [SourceKind::Independent, SourceKind::LaplaceAr] {
        let spec = ProblemSpec {
            kind,
            ..ProblemSpec::default()
        };
        let problem = spec.generate().unwrap();
        let reference = problem.reference().unwrap();
        let mac = |recording: &Recording| {
            let found = Fast::default().separate(recording, 3).unwrap();
            assert!(found.convergence().converged, "{}", found.convergence());
            match_sources(found.sources(), &reference).unwrap().mac()
        };
        let mut y = problem.observations.clone();
        let whole = mac(&problem.recording().unwrap());
        for t in (0..1000).filter(|t| t % 97 < 5) {
            y[(t, t % 6)] = f64::NAN;
        }
        let gaps = mac(&Recording::from_mat(y).unwrap());
        println!("{kind}: {whole:.4}, with gaps {gaps:.4}");
        assert!(whole > 0.99 && gaps > 0.99, "{kind}: {whole}, {gaps}");
    }
}

/// Independent runs of one chaotic map or system, which share spectrum and distribution: what
/// follows on what tells them apart, also with gaps.
#[test]
fn forecasts_that_are_not_linear_tell_sources_of_one_law_apart() {
    for kind in [SourceKind::Logistic, SourceKind::Henon, SourceKind::Lorenz] {
        let spec = ProblemSpec {
            kind,
            n_samples: 700,
            noise: 0.01,
            ..ProblemSpec::default()
        };
        let problem = spec.generate().unwrap();
        let reference = problem.reference().unwrap();
        let mac = |recording: &Recording, forecasts: bool| {
            let fast = Fast {
                forecasts,
                ..Fast::default()
            };
            let found = fast.separate(recording, 3).unwrap();
            assert!(found.convergence().converged, "{}", found.convergence());
            match_sources(found.sources(), &reference).unwrap().mac()
        };
        let recording = problem.recording().unwrap();
        let (whole, without) = (mac(&recording, true), mac(&recording, false));
        let mut y = problem.observations.clone();
        for t in (0..700).filter(|t| t % 97 < 5) {
            y[(t, t % 6)] = f64::NAN;
        }
        let gaps = mac(&Recording::from_mat(y).unwrap(), true);
        println!("{kind}: {whole:.4}, with gaps {gaps:.4}, without forecasts {without:.4}");
        assert!(whole > 0.998 && gaps > 0.998, "{kind}: {whole}, {gaps}");
        assert!(without < whole, "{kind}: {without}");
    }
}
