//! What cannot be separated, and options out of range.

use crate::independent;
use faer::Mat;
use strt_classic::{
    Amuse, Baseline, Decomposition, Efica, Error, Fast, FastIca, Jade, Method, MultiCombi, Nss,
    Picard, Sobi, Wasobi,
};
use strt_signal::Recording;

#[track_caller]
fn refused(result: Result<Decomposition, Error>, parts: &[&str]) {
    let message = result.expect_err("should be refused").to_string();
    for part in parts {
        assert!(
            message.contains(part),
            "\"{message}\" should contain \"{part}\""
        );
    }
}

#[test]
fn channels_that_do_not_support_the_sources_are_refused_by_every_method() {
    let (y, ..) = independent(500, 3, 1);
    let constant = Mat::from_fn(500, 3, |t, c| if c == 1 { 2.5 } else { y[(t, c)] });
    let copied = Mat::from_fn(500, 3, |t, c| y[(t, if c == 2 { 0 } else { c })]);
    for name in Baseline::NAMES {
        let run = |y: &Mat<f64>, k: usize| {
            let recording = Recording::from_mat(y.clone()).unwrap();
            Baseline::parse(name).unwrap().separate(&recording, k)
        };
        refused(
            run(&constant, 3),
            &["3 sources", "rank 2", "constant: drop channel ch2"],
        );
        refused(run(&copied, 3), &["duplicated: drop channel ch3"]);
        refused(run(&y, 4), &["4 sources", "rank 3"]);
        refused(run(&y, 0), &["0 sources"]);
        assert!(run(&constant, 2).is_ok(), "{name}");
    }
}

#[test]
fn recordings_that_are_too_short_are_refused() {
    let short = |n: usize| Recording::from_mat(independent(n, 3, 1).0).unwrap();
    // 29 lags and 3 sources need 33 samples.
    let sobi = Sobi::default();
    refused(
        sobi.separate(&short(32), 3),
        &["32 complete samples", "sobi", "needs 33", "longer"],
    );
    assert!(sobi.separate(&short(33), 3).is_ok());
    refused(
        Amuse { lag: 40 }.separate(&short(43), 3),
        &["amuse", "needs 44"],
    );
    let blocks = Nss {
        blocks: Some(20),
        ..Nss::default()
    };
    refused(blocks.separate(&short(79), 3), &["nss", "needs 80"]);
    assert!(blocks.separate(&short(80), 3).is_ok());
    let fast = Fast::default();
    refused(fast.separate(&short(7), 2), &["fast", "needs 8"]);
    assert!(fast.separate(&short(8), 2).is_ok());
    // Long enough, but no two complete samples are an odd number of samples apart.
    let (y, ..) = independent(400, 3, 1);
    let gappy = Mat::from_fn(400, 3, |t, c| if t % 2 == 0 { f64::NAN } else { y[(t, c)] });
    refused(
        Amuse::default().separate(&Recording::from_mat(gappy).unwrap(), 3),
        &["lag 1", "0 pairs of complete samples"],
    );
}

#[test]
fn a_tolerance_of_0_takes_all_iterations() {
    let recording = Recording::from_mat(independent(400, 3, 1).0).unwrap();
    let all = FastIca {
        tolerance: 0.0,
        max_iterations: 30,
        ..FastIca::default()
    };
    let found = all.separate(&recording, 3).unwrap();
    let convergence = found.convergence();
    assert!(
        !convergence.converged && convergence.iterations == 30,
        "{convergence}"
    );
}

#[test]
fn options_out_of_range_are_refused_by_field() {
    let recording = Recording::from_mat(independent(400, 3, 1).0).unwrap();
    let fastica = FastIca::default;
    let cases: Vec<(Baseline, &str)> = vec![
        (
            Baseline::FastIca(FastIca {
                tolerance: -1e-9,
                ..fastica()
            }),
            "fastica.tolerance = -1e-9",
        ),
        (
            Baseline::FastIca(FastIca {
                max_iterations: 0,
                ..fastica()
            }),
            "fastica.max_iterations = 0",
        ),
        (
            Baseline::FastIca(FastIca {
                start: Some(Mat::identity(2, 2)),
                ..fastica()
            }),
            "expected 3 × 3",
        ),
        (
            Baseline::Picard(Picard {
                tolerance: f64::NAN,
                ..Picard::default()
            }),
            "picard.tolerance = NaN",
        ),
        (
            Baseline::Picard(Picard {
                max_iterations: 0,
                ..Picard::default()
            }),
            "picard.max_iterations = 0",
        ),
        (
            Baseline::Picard(Picard {
                least_curvature: -1.0,
                ..Picard::default()
            }),
            "picard.least_curvature = -1.0",
        ),
        (
            Baseline::Jade(Jade {
                tolerance: -1.0,
                ..Jade::default()
            }),
            "jade.tolerance = -1.0",
        ),
        (
            Baseline::Jade(Jade {
                max_sweeps: 0,
                ..Jade::default()
            }),
            "jade.max_sweeps = 0",
        ),
        (Baseline::Amuse(Amuse { lag: 0 }), "amuse.lag = 0"),
        (
            Baseline::Sobi(Sobi {
                lags: vec![],
                ..Sobi::default()
            }),
            "sobi.lags = []",
        ),
        (
            Baseline::Sobi(Sobi {
                lags: vec![3, 0],
                ..Sobi::default()
            }),
            "sobi.lags = [3, 0]",
        ),
        (
            Baseline::Sobi(Sobi {
                lags: vec![usize::MAX],
                ..Sobi::default()
            }),
            "too few for sobi",
        ),
        (
            Baseline::Sobi(Sobi {
                max_sweeps: 0,
                ..Sobi::default()
            }),
            "sobi.max_sweeps = 0",
        ),
        (
            Baseline::Wasobi(Wasobi {
                order: 0,
                ..Wasobi::default()
            }),
            "wasobi.order = 0",
        ),
        (
            Baseline::Wasobi(Wasobi {
                order: usize::MAX,
                ..Wasobi::default()
            }),
            "too few for wasobi",
        ),
        (
            Baseline::Wasobi(Wasobi {
                largest_pole: 1.0,
                ..Wasobi::default()
            }),
            "wasobi.largest_pole = 1.0",
        ),
        (
            Baseline::Wasobi(Wasobi {
                taper: 0.6,
                ..Wasobi::default()
            }),
            "wasobi.taper = 0.6",
        ),
        (
            Baseline::Wasobi(Wasobi {
                ridge: 0.0,
                ..Wasobi::default()
            }),
            "wasobi.ridge = 0.0",
        ),
        (
            Baseline::Wasobi(Wasobi {
                rounds: 0,
                ..Wasobi::default()
            }),
            "wasobi.rounds = 0",
        ),
        (
            Baseline::Efica(Efica {
                tolerance: f64::NAN,
                ..Efica::default()
            }),
            "efica.tolerance = NaN",
        ),
        (
            Baseline::Efica(Efica {
                start: Some(Mat::identity(2, 2)),
                ..Efica::default()
            }),
            "expected 3 × 3",
        ),
        (
            Baseline::MultiCombi(MultiCombi {
                threshold: 0.0,
                ..MultiCombi::default()
            }),
            "multicombi.threshold = 0.0",
        ),
        (
            Baseline::MultiCombi(MultiCombi {
                wasobi: Wasobi {
                    max_iterations: 0,
                    ..Wasobi::default()
                },
                ..MultiCombi::default()
            }),
            "wasobi.max_iterations = 0",
        ),
        (
            Baseline::Nss(Nss {
                blocks: Some(1),
                ..Nss::default()
            }),
            "nss.blocks = Some(1)",
        ),
        (
            Baseline::Nss(Nss {
                blocks: Some(usize::MAX),
                ..Nss::default()
            }),
            "too few for nss",
        ),
        (
            Baseline::Nss(Nss {
                tolerance: f64::INFINITY,
                ..Nss::default()
            }),
            "nss.tolerance = inf",
        ),
    ];
    for (method, part) in cases {
        refused(method.separate(&recording, 3), &[part]);
    }
}
