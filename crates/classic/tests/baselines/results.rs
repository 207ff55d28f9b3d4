//! What a result says of itself: maps, order, seeds, convergence; and components of the caller's
//! own.

use crate::independent;
use faer::Mat;
use strt_classic::{
    Baseline, Components, Decomposition, Efica, FastIca, Jade, Method, MultiCombi, Nss, Picard,
    Sobi, StopReason, Wasobi,
};
use strt_score::{Reference, match_sources};
use strt_signal::Recording;
use strt_signal::correlation_time::correlation_time;
use strt_signal::preprocess::Whitening;
use strt_synth::{MixingKind, ProblemSpec, SourceKind};

#[test]
fn maps_between_channels_and_sources_belong_together() {
    let (mut y, ..) = independent(900, 3, 1);
    for (c, (unit, offset)) in [(1.0, 5.0), (1e3, -20.0), (1e-4, 0.01)]
        .into_iter()
        .enumerate()
    {
        y.col_as_slice_mut(c)
            .iter_mut()
            .for_each(|v| *v = *v * unit + offset);
    }
    for t in [0, 100, 101, 102, 899] {
        y[(t, t % 3)] = f64::NAN;
    }
    let recording = Recording::from_mat(y.clone()).unwrap();
    let complete: Vec<usize> = (0..900).filter(|&t| !recording.is_missing(t)).collect();
    for name in Baseline::NAMES {
        let found = Baseline::parse(name)
            .unwrap()
            .separate(&recording, 3)
            .unwrap();
        assert_eq!(found.method(), name);
        let (s, again) = (found.sources(), found.apply(y.as_ref()).unwrap());
        for k in 0..3 {
            assert!(s[(100, k)].is_nan() && s[(899, k)].is_nan() && again[(101, k)].is_nan());
            let sum: f64 = complete.iter().map(|&t| s[(t, k)]).sum();
            let square: f64 = complete.iter().map(|&t| s[(t, k)] * s[(t, k)]).sum();
            assert!((sum / complete.len() as f64).abs() < 1e-9);
            assert!(
                (square / complete.len() as f64 - 1.0).abs() < 1e-9,
                "{name}"
            );
            assert!(
                complete
                    .iter()
                    .all(|&t| (s[(t, k)] - again[(t, k)]).abs() < 1e-9)
            );
        }
        // As many sources as channels: nothing of the recording is lost.
        for &t in &complete {
            for (c, unit) in [1.0, 1e3, 1e-4].into_iter().enumerate() {
                let back = found.mean()[c]
                    + (0..3)
                        .map(|k| s[(t, k)] * found.mixing()[(c, k)])
                        .sum::<f64>();
                assert!(
                    (back - y[(t, c)]).abs() < 1e-9 * unit,
                    "{name}: {back} against {}",
                    y[(t, c)]
                );
            }
        }
        assert!(found.apply(Mat::zeros(5, 2).as_ref()).is_err());
    }
}

#[test]
fn sources_come_in_the_order_of_their_correlation_times() {
    let recording = ProblemSpec {
        kind: SourceKind::NonSmooth,
        n_samples: 3000,
        n_sources: 4,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap()
    .recording()
    .unwrap();
    for name in Baseline::NAMES {
        let found = Baseline::parse(name)
            .unwrap()
            .separate(&recording, 4)
            .unwrap();
        let times: Vec<usize> = (0..4).map(|k| time_of(&found, k)).collect();
        assert!(
            times.is_sorted() && times[0] < times[3],
            "{name}: {times:?}"
        );
    }
}

fn time_of(found: &Decomposition, source: usize) -> usize {
    correlation_time(
        &found
            .sources()
            .col(source)
            .iter()
            .copied()
            .collect::<Vec<_>>(),
    )
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_the_same_sources() {
    let (y, ..) = independent(2000, 3, 9);
    let recording = Recording::from_mat(y).unwrap();
    for name in Baseline::NAMES {
        let run = |seed: u64| {
            Baseline::parse(name)
                .unwrap()
                .with_seed(seed)
                .separate(&recording, 3)
                .unwrap()
        };
        let in_pool = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| run(4))
        };
        assert_eq!(in_pool(1), in_pool(3), "{name}");
        let (first, other) = (run(4), run(5));
        let matching = match_sources(
            other.sources(),
            &Reference::new(first.sources().to_owned()).unwrap(),
        )
        .unwrap();
        assert!(matching.worst() > 0.999, "{name}: {}", matching.worst());
    }
}

#[test]
fn a_search_that_is_cut_short_says_so() {
    let (y, ..) = independent(1000, 4, 2);
    let recording = Recording::from_mat(y).unwrap();
    let cut: [Baseline; 4] = [
        Baseline::FastIca(FastIca {
            max_iterations: 1,
            ..FastIca::default()
        }),
        Baseline::Picard(Picard {
            max_iterations: 1,
            ..Picard::default()
        }),
        Baseline::Jade(Jade {
            max_sweeps: 1,
            ..Jade::default()
        }),
        Baseline::Nss(Nss {
            max_sweeps: 1,
            ..Nss::default()
        }),
    ];
    for method in cut {
        let found = method.separate(&recording, 4).unwrap();
        let report = found.convergence();
        assert!(
            !report.converged && report.reason == StopReason::IterationLimit,
            "{method}: {report}"
        );
        assert!(
            report.value > report.tolerance && report.iterations == 1,
            "{method}: {report}"
        );
    }
}

#[test]
fn the_methods_of_several_searches_say_so_too() {
    let (y, ..) = independent(1000, 4, 2);
    let recording = Recording::from_mat(y).unwrap();
    let efica = Efica {
        max_iterations: 1,
        ..Efica::default()
    };
    let wasobi = Wasobi {
        max_iterations: 1,
        ..Wasobi::default()
    };
    let multicombi = MultiCombi {
        efica: efica.clone(),
        wasobi: wasobi.clone(),
        ..MultiCombi::default()
    };
    for method in [
        Baseline::Efica(efica),
        Baseline::Wasobi(wasobi),
        Baseline::MultiCombi(multicombi),
    ] {
        let report = *method.separate(&recording, 4).unwrap().convergence();
        assert!(
            !report.converged && report.reason == StopReason::IterationLimit,
            "{method}: {report}"
        );
        assert!(report.value > report.tolerance, "{method}: {report}");
    }
}

#[test]
fn components_of_ones_own_can_be_unmixed() {
    let problem = ProblemSpec {
        kind: SourceKind::Ar,
        mixing: MixingKind::Linear,
        n_samples: 2000,
        ..ProblemSpec::default()
    }
    .generate()
    .unwrap();
    let recording = problem.recording().unwrap();
    let whitening = Whitening::fit(recording.observations(), 3, recording.channel_names()).unwrap();
    let whitened = whitening.transform(recording.observations()).unwrap();
    let found = Sobi::default()
        .unmix(&Components::new(whitened.as_ref(), None).unwrap())
        .unwrap();
    let mac = match_sources(
        (&whitened * found.matrix).as_ref(),
        &problem.reference().unwrap(),
    )
    .unwrap()
    .mac();
    assert!(mac > 0.98, "{mac}");
}
