//! Numbers of sources of problems with known ones.

use super::*;
use crate::random::{Stream, rng};
use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use strt_synth::{MixingKind, ProblemSpec, SourceKind};

fn count(observations: Mat<f64>, method: CountMethod) -> SourceCount {
    let recording = Recording::from_mat(observations).unwrap();
    SourceCount::estimate(&recording, ChannelScalingOptions::default(), method).unwrap()
}

fn problem(
    kind: SourceKind,
    n_sources: usize,
    n_channels: usize,
    noise: f64,
    seed: u64,
) -> Mat<f64> {
    let spec = ProblemSpec {
        kind,
        mixing: MixingKind::Linear,
        n_samples: 1000,
        n_sources,
        n_channels,
        noise,
        seed,
    };
    spec.generate().unwrap().observations
}

fn white(n_samples: usize, n_channels: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Check);
    Mat::from_fn(n_samples, n_channels, |_, _| {
        StandardNormal.sample(&mut rng)
    })
}

/// At most `allowed` numbers are wrong by any, and none by more than 1.
fn check(method: CountMethod, kinds: &[SourceKind], sizes: &[(usize, usize)], allowed: usize) {
    let mut wrong = Vec::new();
    for &kind in kinds {
        for &(k, m) in sizes {
            for noise in [0.02, 0.1] {
                for seed in 0..3 {
                    let found = count(problem(kind, k, m, noise, seed), method).n_sources;
                    if found != k {
                        wrong.push((kind, k, m, noise, seed, found));
                    }
                }
            }
        }
    }
    assert!(wrong.len() <= allowed, "{wrong:?}");
    assert!(wrong.iter().all(|w| w.5.abs_diff(w.1) == 1), "{wrong:?}");
}

#[test]
fn structure_finds_sources_of_every_kind_in_any_number_of_channels() {
    use SourceKind::{Ar, Gp, NonSmooth, Nonstationary, SegmentLaplace};
    let kinds = [Ar, Gp, Nonstationary, NonSmooth, SegmentLaplace];
    check(CountMethod::Structure, &kinds, &[(2, 2), (3, 6), (6, 8)], 3);
}

#[test]
fn description_length_finds_them_below_the_number_of_channels() {
    let kinds = [SourceKind::Gp, SourceKind::Ar, SourceKind::NonSmooth];
    check(CountMethod::Mdl, &kinds, &[(2, 5), (3, 6), (3, 12)], 3);
}

#[test]
fn noise_of_unequal_strength_misleads_eigenvalues_only() {
    let mut observations = problem(SourceKind::Ar, 3, 8, 0.0, 4);
    let noise = white(1000, 8, 7);
    for channel in 0..8 {
        for t in 0..1000 {
            observations[(t, channel)] += 0.1 * (channel + 1) as f64 * noise[(t, channel)];
        }
    }
    assert_eq!(
        count(observations.clone(), CountMethod::Structure).n_sources,
        3
    );
    assert!(count(observations, CountMethod::Mdl).n_sources > 4);
}

#[test]
fn without_noise_all_are_found_and_copies_of_channels_add_none() {
    let square = problem(SourceKind::Ar, 5, 5, 0.0, 1);
    let found = count(square.clone(), CountMethod::Structure);
    assert_eq!(found.n_sources, 5);
    let copied = Mat::from_fn(1000, 7, |t, c| square[(t, c % 5)]);
    let found = count(copied, CountMethod::Structure);
    assert_eq!((found.n_sources, found.structure.unwrap().rank), (5, 5));
}

#[test]
fn noise_alone_has_one_source_and_says_that_it_is_none() {
    let found = count(white(2000, 6, 3), CountMethod::Structure);
    let structure = found.structure.unwrap();
    assert_eq!(structure.n_sources, 1);
    assert!(!structure.steps[0].kept && structure.steps[0].strength < structure.steps[0].limit);
}

#[test]
fn missing_samples_take_no_part() {
    let mut observations = problem(SourceKind::Ar, 3, 6, 0.1, 2);
    for t in (100..900).step_by(7) {
        observations[(t, 2)] = f64::NAN;
    }
    let found = count(observations, CountMethod::Structure);
    assert_eq!(found.n_sources, 3);
    assert_eq!(found.structure.unwrap().n_judged, 1000 - 115);
}

#[test]
fn what_is_too_short_to_judge_keeps_everything() {
    let found = count(white(40, 12, 1), CountMethod::Structure);
    let structure = found.structure.unwrap();
    assert_eq!((structure.n_sources, structure.sufficient), (12, false));
    assert!(structure.shares.is_empty());
}

#[test]
fn shares_add_up_and_a_weak_source_makes_the_number_less_sure() {
    let sure = count(
        problem(SourceKind::Ar, 3, 6, 0.02, 1),
        CountMethod::Structure,
    );
    let shares = sure.structure.unwrap().shares;
    assert!((shares.iter().map(|s| s.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(
        shares[0].n_sources == 3 && shares[0].share > 0.95,
        "{shares:?}"
    );
    // A fourth source, buried ever deeper: somewhere between found and lost it is in doubt.
    let mut rng = rng(5, Stream::Check);
    let mut value = 0.0;
    let faint: Vec<f64> = (0..1000)
        .map(|_| {
            let shock: f64 = StandardNormal.sample(&mut rng);
            value = 0.6 * value + shock;
            value
        })
        .collect();
    let doubts = [0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06].map(|gain| {
        let mut observations = problem(SourceKind::Ar, 3, 6, 0.2, 1);
        (0..1000).for_each(|t| observations[(t, 0)] += gain * faint[t]);
        let structure = count(observations, CountMethod::Structure)
            .structure
            .unwrap();
        (structure.n_sources, structure.shares[0].share)
    });
    assert_eq!((doubts[0].0, doubts[6].0), (4, 3), "{doubts:?}");
    assert!(doubts.iter().any(|&(_, share)| share < 0.9), "{doubts:?}");
}

#[test]
fn the_same_recording_has_the_same_answer() {
    let observations = problem(SourceKind::SegmentLaplace, 4, 7, 0.1, 5);
    let first = count(observations.clone(), CountMethod::Structure);
    assert_eq!(first, count(observations, CountMethod::Structure));
}

#[test]
fn a_source_that_both_halves_have_is_kept_though_the_whole_shows_none() {
    // x_t = e_t ± 0.6·e_{t−1}, with one sign in each half: over the whole its autocorrelation adds
    // up to 0. Beside it an autoregression that nobody could miss, and noise.
    let mut observations = white(1000, 5, 11);
    for t in 1..1000 {
        observations[(t, 0)] += 0.8 * observations[(t - 1, 0)];
    }
    for t in (1..1000).rev() {
        let sign = if t < 500 { 0.6 } else { -0.6 };
        observations[(t, 1)] += sign * observations[(t - 1, 1)];
    }
    let structure = count(observations, CountMethod::Structure).structure;
    let structure = structure.unwrap();
    // Which direction it is the whole cannot say, so that further ones may be kept with it.
    assert!(structure.n_sources >= 2, "{structure:#?}");
    let replicated: Vec<&Step> = structure.steps.iter().filter(|s| s.replicated).collect();
    assert!(!replicated.is_empty(), "{structure:#?}");
    for step in replicated {
        assert!(step.kept && step.strength < step.limit, "{step:?}");
    }
}
