//! The energy of trajectories under the branches of a trained model.

mod common;

use common::{affine, paper, problem, recording};
use faer::Mat;
use strt_synth::MixingKind;
use strtransformer::{Config, Error, Separation, separate};

/// Everything hidden, in one place: whatever is drawn, the networks read the same.
fn without_chance(mut config: Config) -> Config {
    config.branches.mask_ratio = 1.0;
    config.branches.random_start = false;
    config.branches.random_sign = false;
    config.branches.max_shift = 0;
    config
}

fn trained(config: &Config) -> Separation {
    separate(&recording(240), config).unwrap()
}

#[test]
fn under_its_own_branch_a_source_has_the_energy_of_the_run() {
    for config in [affine(), paper()] {
        let separation = trained(&without_chance(config));
        let energy = separation.source_energy(3).unwrap();
        for (b, expected) in separation.energy().iter().enumerate() {
            let found = energy.error(b / 3, b / 3, b % 3);
            let off = (found / expected - 1.0).abs();
            assert!(off < 1e-5, "branch {b}: {found} for {expected}");
        }
    }
}

#[test]
fn networks_stay_with_their_branches() {
    let separation = trained(&without_chance(affine()));
    let energy = separation.source_energy(1).unwrap();
    let (here, travelling) = (energy.cost(), separation.assignment_cost());
    for k in 0..3 {
        for j in 0..3 {
            let same = (here[(k, j)] / travelling[(k, j)] - 1.0).abs() < 1e-5;
            assert_eq!(same, k == j, "branch {k}, source {j}");
        }
    }
    let total = |order: [usize; 3]| (0..3).map(|k| here[(k, order[k])]).sum::<f64>();
    let others = [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let cheapest = others.map(total).into_iter().fold(f64::INFINITY, f64::min);
    let margin = energy.margin().unwrap();
    assert!((margin - (cheapest - total([0, 1, 2]))).abs() < 1e-12);
}

#[test]
fn any_number_of_trajectories_each_by_itself() {
    let separation = trained(&affine());
    let truth = problem(400, MixingKind::Linear).sources;
    let all = separation.trajectory_energy(truth.as_ref(), 4).unwrap();
    let two = Mat::from_fn(400, 2, |t, j| truth[(t, 2 - j)]);
    let some = separation.trajectory_energy(two.as_ref(), 4).unwrap();
    assert_eq!((some.cost().shape(), some.margin()), ((3, 2), None));
    for k in 0..3 {
        assert_eq!(some.cost()[(k, 0)], all.cost()[(k, 2)]);
        assert_eq!(some.cost()[(k, 1)], all.cost()[(k, 1)]);
    }
}

#[test]
fn units_matter_only_where_sources_are_not_standardised() {
    for (config, same) in [(affine(), true), (paper(), false)] {
        let separation = trained(&config);
        let truth = problem(240, MixingKind::Linear).sources;
        let scaled = Mat::from_fn(240, 3, |t, j| 5.0 * truth[(t, j)] + 2.0);
        let cost = |x: &Mat<f64>| separation.trajectory_energy(x.as_ref(), 2).unwrap().cost();
        let (plain, scaled) = (cost(&truth), cost(&scaled));
        for k in 0..3 {
            let equal = (scaled[(k, 0)] / plain[(k, 0)] - 1.0).abs() < 1e-4;
            assert_eq!(equal, same, "{} and {}", scaled[(k, 0)], plain[(k, 0)]);
        }
    }
}

#[test]
fn missing_samples_are_left_out() {
    let separation = trained(&affine());
    let mut x = problem(240, MixingKind::Linear).sources;
    x[(100, 1)] = f64::NAN;
    let energy = separation.trajectory_energy(x.as_ref(), 4).unwrap();
    assert!(energy.cost().norm_max().is_finite());
}

#[test]
fn refusals() {
    let networks = Config::fast(3);
    let refused = trained(&networks).source_energy(1).unwrap_err();
    assert!(matches!(refused, Error::EnergyWithoutNetworks), "{refused}");
    let separation = trained(&affine());
    let short = Mat::from_fn(31, 1, |t, _| (t as f64).sin());
    let refused = separation.trajectory_energy(short.as_ref(), 1).unwrap_err();
    assert!(
        matches!(
            refused,
            Error::TrajectoryShort {
                n_samples: 31,
                patch: 16,
                needed: 32
            }
        ),
        "{refused}"
    );
    let infinite = Mat::from_fn(240, 1, |_, _| f64::INFINITY);
    let refused = separation
        .trajectory_energy(infinite.as_ref(), 1)
        .unwrap_err();
    assert!(refused.to_string().contains("inf"), "{refused}");
}
