//! The posterior against the formula with dense matrices.

use super::*;
use faer::Side;
use faer::linalg::solvers::Solve;

/// A model of two sources with correlated noise.
fn model(n_lags: usize) -> NoiseModel {
    let lags = |rate: f64, period: f64| -> Vec<f64> {
        (0..=n_lags)
            .map(|h| {
                let u = h as f64 / (n_lags + 1) as f64;
                let window = (1.0 - u).powi(3);
                window * (-rate * h as f64).exp() * (h as f64 * period).cos()
            })
            .collect()
    };
    NoiseModel {
        noise: Mat::from_fn(2, 2, |i, j| [[0.2, -0.12], [-0.12, 0.3]][i][j]),
        covariances: Covariances {
            mean: vec![0.3, -0.1],
            lags: vec![lags(0.05, 0.0), lags(0.02, 0.4)],
            variance: vec![1.2, 1.3],
        },
        of_channels: ChannelNoise {
            share: Some(0.1),
            of_sources: vec![0.2, 0.3],
        },
    }
}

/// Rows of any numbers with a short gap, single missing rows and a missing end.
fn gappy(t: usize) -> Mat<f64> {
    Mat::from_fn(t, 2, |t, k| {
        if (20..29).contains(&t) || t == 33 || t == 50 || t >= 57 {
            f64::NAN
        } else {
            ((3 * t + k) as f64).sin() + (0.1 * t as f64).cos()
        }
    })
}

/// C of source k between samples: its lags, of which the power of the circle is the transform.
fn covariance(model: &NoiseModel, k: usize, h: usize) -> f64 {
    model.covariances.lags[k].get(h).copied().unwrap_or(0.0)
}

#[test]
fn mean_and_spread_are_those_of_the_dense_gaussian() {
    let t = 60;
    let model = model(14);
    let circle = Circle::new(
        fast_length(t + 14),
        &model.covariances,
        model.noise.as_ref(),
    );
    for k in 0..2 {
        assert!((circle.variance(k) - model.covariances.lags[k][0]).abs() < 1e-12);
    }
    let x = gappy(t);
    let seen: Vec<(usize, usize)> = (0..t)
        .filter(|&t| !x[(t, 0)].is_nan())
        .flat_map(|t| [(t, 0), (t, 1)])
        .collect();
    // Cov(x_tk, x_uj) over what was observed, and Cov(s_tk, x_uj).
    let prior = |(t, k): (usize, usize), (u, j): (usize, usize)| {
        if k == j {
            covariance(&model, k, t.abs_diff(u))
        } else {
            0.0
        }
    };
    let noise = |(t, k): (usize, usize), (u, j): (usize, usize)| {
        let least = circle::LEAST_NOISE * model.covariances.variance[k];
        let least = if k == j { least } else { 0.0 };
        if t == u {
            model.noise[(k, j)] + least
        } else {
            0.0
        }
    };
    let total = Mat::from_fn(seen.len(), seen.len(), |a, b| {
        prior(seen[a], seen[b]) + noise(seen[a], seen[b])
    });
    let factor = total.llt(Side::Lower).unwrap();
    let values = Mat::from_fn(seen.len(), 1, |a, _| {
        let (t, k) = seen[a];
        x[(t, k)] - model.mean(k)
    });
    let weights = factor.solve(&values);

    let kernels: Vec<Vec<f64>> = (0..2).map(|k| circle.kernels(k).0).collect();
    let found = model.conditional_mean(&circle, &kernels, x.as_ref(), Wanted::Sources);
    let missing: Vec<bool> = (0..t).map(|t| x[(t, 0)].is_nan()).collect();
    let spread = spread::deviation(&circle, &Rows::new(&missing));
    for t in 0..t {
        for k in 0..2 {
            let mean: f64 = (0..seen.len())
                .map(|a| prior((t, k), seen[a]) * weights[(a, 0)])
                .sum::<f64>()
                + model.mean(k);
            assert!(
                (found[k][t] - mean).abs() < 1e-6,
                "sample {t} of source {k}"
            );
            let shared = Mat::from_fn(seen.len(), 1, |a, _| prior((t, k), seen[a]));
            let solved = factor.solve(&shared);
            let gained: f64 = (0..seen.len())
                .map(|a| shared[(a, 0)] * solved[(a, 0)])
                .sum();
            let deviation = (covariance(&model, k, 0) - gained).sqrt();
            // The spread takes every source alone in a gap.
            let ratio = spread[(t, k)] / deviation;
            assert!(
                (0.93..1.07).contains(&ratio),
                "sample {t} of source {k}: {ratio}"
            );
        }
    }
}

#[test]
fn gaps_are_filled_in_a_handful_of_iterations() {
    let model = model(14);
    let circle = Circle::new(2048, &model.covariances, model.noise.as_ref());
    let kernels: Vec<Vec<f64>> = (0..2).map(|k| circle.kernels(k).0).collect();
    let missing: Vec<bool> = (0..2048).map(|t| t % 97 < 11 || t > 1900).collect();
    let mut columns: Vec<Vec<f64>> = (0..2)
        .map(|k| {
            let value = |t: usize| ((t + k) as f64 * 0.2).sin();
            (0..2048)
                .map(|t| if missing[t] { 0.0 } else { value(t) })
                .collect()
        })
        .collect();
    let iterations = gaps::fill(
        &circle,
        &kernels,
        &missing,
        &mut columns,
        &mut circle.work(),
    );
    assert!((2..60).contains(&iterations), "{iterations}");
    // Q·x is 0 at the missing samples.
    let mut whitened = columns.clone();
    circle.whiten(&mut whitened, &mut circle.work());
    for t in (0..2048).filter(|&t| missing[t]) {
        assert!(whitened.iter().all(|column| column[t].abs() < 1e-7), "{t}");
    }
}

#[test]
fn what_is_left_over_is_noise() {
    assert_eq!(left_over(&[3.0, 1.0, 0.2, 0.1], 2), Some((0.2 + 0.1) / 2.0));
    assert_eq!(left_over(&[3.0, 1.0, 0.2, 1e-15], 2), Some(0.2));
    assert_eq!(left_over(&[3.0, 1.0], 2), None);
    assert_eq!(left_over(&[3.0, 1.0, 1e-15], 2), None);
}

#[test]
fn circles_of_many_sources_are_shorter() {
    assert_eq!((circle_length(1), circle_length(32)), (16_384, 16_384));
    assert_eq!((circle_length(64), circle_length(4000)), (4096, 2048));
}
