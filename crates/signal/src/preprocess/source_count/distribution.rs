//! The direction whose values are least those of a Gaussian, and how far off noise is there.
//!
//! In: samples (n × d) of variance 1 in every direction. Out: the unit vector w along which E
//! exp(−x²/2) of x = wᵀz is furthest from 1/√2, which it is for a Gaussian, in standard errors. The
//! function is bounded, so that a few outliers decide nothing and the normal law holds for short
//! recordings. The search is the fixed point of FastICA (A. Hyvärinen, IEEE Trans. Neural Netw. 10,
//! 1999) with that function.
//!
//! Over all directions of d-dimensional noise the deviation is a Gaussian field on the sphere with
//! correlation Σ_k a_k·cosᵏ θ, a_k the shares of Hermite polynomials of degree k ≥ 3 in the
//! function. Its maximum is below √(d·Σ k·a_k) in the mean; how much below was measured.

use super::directions::{Found, NoiseLevel};
use crate::columns::{col, col_mut};
use crate::elementary::exp_negative;
use crate::random::{Stream, rng};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use rand::RngExt;

/// Σ k·a_k of exp(−x²/2).
const TURNING: f64 = 4.542;
/// Variance of exp(−x²/2) of a standard normal x less what x² explains: 1/√3 − 1/2 − 1/16.
const VARIANCE: f64 = 0.014_850_269_189_625_8;
/// Rows that are looked at, evenly spread over all.
const MOST_ROWS: usize = 1 << 16;
/// Starts of the search: directions of few and of many outliers together, and random ones.
const EXTREMES: usize = 2;
const RANDOM: usize = 2;
const MOST_ITERATIONS: usize = 40;
/// The search ends when 1 − |cosine| to the direction before is below this.
const SETTLED: f64 = 1e-5;

/// What noise has along its strongest direction of d.
pub(super) fn noise_level(d: usize) -> NoiseLevel {
    NoiseLevel {
        mean: (TURNING * d as f64).sqrt() - 1.4,
        deviation: 0.65,
    }
}

/// Σ exp(−x²/2).
pub(super) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| exp_negative(-0.5 * x * x)).sum()
}

/// Standard errors by which the mean of exp(−x²/2) of n values is off.
pub(super) fn strength(sum: f64, n: f64) -> f64 {
    (sum / n - 0.5f64.sqrt()).abs() * (n / VARIANCE).sqrt()
}

/// The strength along a given direction, of values that need not have variance 1.
pub(super) fn along(rows: MatRef<'_, f64>, direction: MatRef<'_, f64>) -> f64 {
    let values = rows * direction;
    let values = col(values.as_ref(), 0);
    let n = values.len() as f64;
    let deviation = (values.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
    if deviation > 0.0 {
        strength(sum(values.iter().map(|x| x / deviation)), n)
    } else {
        0.0
    }
}

/// The complete ones of `rows` along `basis` (p × d), at most [`MOST_ROWS`] of them.
pub(super) fn rows_along(
    values: MatRef<'_, f64>,
    valid: &[bool],
    basis: MatRef<'_, f64>,
) -> Mat<f64> {
    let complete: Vec<usize> = (0..values.nrows()).filter(|&row| valid[row]).collect();
    let step = complete.len().div_ceil(MOST_ROWS).max(1);
    let taken: Vec<usize> = complete.into_iter().step_by(step).collect();
    let rows = Mat::from_fn(taken.len(), values.ncols(), |i, j| values[(taken[i], j)]);
    rows * basis
}

/// The strongest direction; `None` where there are no values, or no finite ones.
pub(super) fn strongest(rows: MatRef<'_, f64>) -> Option<Found> {
    let mut directions = starts(rows)?;
    let (n, d) = (rows.nrows() as f64, rows.ncols());
    for _ in 0..MOST_ITERATIONS {
        let mut slopes = rows * &directions;
        let mut curvature = Vec::with_capacity(directions.ncols());
        for s in 0..directions.ncols() {
            let mut sum = 0.0;
            for x in col_mut(slopes.as_mut(), s) {
                let value = exp_negative(-0.5 * *x * *x);
                sum += (*x * *x - 1.0) * value;
                *x *= -value;
            }
            curvature.push(sum / n);
        }
        let mut next = Mat::zeros(d, directions.ncols());
        matmul(
            &mut next,
            Accum::Replace,
            rows.transpose(),
            &slopes,
            1.0 / n,
            Par::Seq,
        );
        let mut turned = 0.0f64;
        for s in 0..directions.ncols() {
            let old = col_mut(directions.as_mut(), s);
            let new = col_mut(next.as_mut(), s);
            for (new, old) in new.iter_mut().zip(old.iter()) {
                *new -= curvature[s] * old;
            }
            if normalize(new) {
                let cosine: f64 = new.iter().zip(old.iter()).map(|(a, b)| a * b).sum();
                turned = turned.max(1.0 - cosine.abs());
                old.copy_from_slice(new);
            }
        }
        if turned < SETTLED {
            break;
        }
    }
    let found = (0..directions.ncols()).map(|s| {
        let direction = directions.subcols(s, 1).to_owned();
        let strength = along(rows, direction.as_ref());
        Found {
            direction,
            strength,
        }
    });
    found.max_by(|a, b| a.strength.total_cmp(&b.strength))
}

/// Extreme eigenvectors of a covariance in which samples count the less the longer they are, and
/// random directions.
fn starts(rows: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let (n, d) = (rows.nrows(), rows.ncols());
    if n == 0 || d == 0 {
        return None;
    }
    let mut squares = vec![0.0; n];
    for k in 0..d {
        let values = col(rows, k).iter();
        squares
            .iter_mut()
            .zip(values)
            .for_each(|(sum, x)| *sum += x * x);
    }
    let mut weighted = rows.to_owned();
    for k in 0..d {
        let values = col_mut(weighted.as_mut(), k).iter_mut();
        for (x, square) in values.zip(&squares) {
            *x *= exp_negative(-0.5 * square / d as f64);
        }
    }
    let covariance = weighted.transpose() * rows;
    let eigen = covariance.self_adjoint_eigen(Side::Lower).ok()?;
    if d <= 2 * EXTREMES + RANDOM {
        return Some(eigen.U().to_owned());
    }
    let mut rng = rng(d as u64, Stream::Count);
    let mut starts = Mat::from_fn(d, 2 * EXTREMES + RANDOM, |i, s| match s {
        _ if s < EXTREMES => eigen.U()[(i, s)],
        _ if s < 2 * EXTREMES => eigen.U()[(i, d - 1 - (s - EXTREMES))],
        _ => rng.random::<f64>() - 0.5,
    });
    (0..starts.ncols()).for_each(|s| {
        normalize(col_mut(starts.as_mut(), s));
    });
    Some(starts)
}

/// Scales a vector to norm 1; `false`, and no change, where it has none.
fn normalize(vector: &mut [f64]) -> bool {
    let norm = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    let possible = norm > 0.0 && norm.is_finite();
    if possible {
        vector.iter_mut().for_each(|v| *v /= norm);
    }
    possible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::Whitening;
    use rand_distr::{Distribution, StandardNormal};

    fn noise(n: usize, d: usize, seed: u64) -> Mat<f64> {
        let mut rng = rng(seed, Stream::Check);
        let rows = Mat::from_fn(n, d, |_, _| StandardNormal.sample(&mut rng));
        let names: Vec<String> = (0..d).map(|k| k.to_string()).collect();
        let whitening = Whitening::fit(rows.as_ref(), d, &names).unwrap();
        whitening.transform(rows.as_ref()).unwrap()
    }

    #[test]
    fn the_level_of_noise_is_the_measured_one() {
        for (n, d) in [(300, 4), (1000, 1), (1000, 8), (1000, 20), (5000, 8)] {
            let level = noise_level(d);
            let excess =
                |seed| level.excess(strongest(noise(n, d, seed).as_ref()).unwrap().strength);
            let found: Vec<f64> = (0..30).map(excess).collect();
            let mean = found.iter().sum::<f64>() / 30.0;
            assert!((-1.5..0.8).contains(&mean), "{n} {d}: {mean}");
            assert!(
                found.iter().all(|&excess| excess < 4.0),
                "{n} {d}: {found:?}"
            );
        }
    }

    #[test]
    fn values_that_are_not_gaussian_are_found_among_noise() {
        let mut rows = noise(2000, 8, 1);
        let mut rng = rng(9, Stream::Check);
        for x in col_mut(rows.as_mut(), 5) {
            *x = 12f64.sqrt() * (rng.random::<f64>() - 0.5);
        }
        let found = strongest(rows.as_ref()).unwrap();
        assert!(found.direction[(5, 0)].abs() > 0.9, "{found:?}");
        assert!(noise_level(8).excess(found.strength) > 4.0);
    }
}
