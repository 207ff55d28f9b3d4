//! The direction along which matrices are largest together, and how large noise makes them there.
//!
//! In: J symmetric d × d matrices scaled as `moments.rs` scales them. Out: the unit vector w that
//! maximises Σ_j (wᵀM_j w)², and the root of that maximum, its strength. Of noise alone the
//! strength is below √J + √(2d) in the mean (Chevet's inequality: the diagonal entries along one
//! direction are J standard normal numbers, and turning the direction gains √(2d) at most), with a
//! spread that does not grow with d. How much below was measured, and a test measures it again.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};

/// Starts of the search: the directions of the largest rows together.
const STARTS: usize = 3;
const MOST_ITERATIONS: usize = 30;
/// The search ends when no strength grows by more than this share.
const SETTLED: f64 = 1e-4;

/// What noise alone has: mean and standard deviation of a strength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NoiseLevel {
    pub mean: f64,
    pub deviation: f64,
}

impl NoiseLevel {
    /// Of the strongest of all directions of noise in d dimensions, by J matrices.
    pub fn of_matrices(freedom: usize, d: usize) -> NoiseLevel {
        NoiseLevel {
            mean: (freedom as f64).sqrt() + (2.0 * d as f64).sqrt() - 1.25,
            deviation: 0.35 + 0.35 / d as f64,
        }
    }

    /// Of one direction that was found elsewhere: the root of a χ² number.
    pub fn of_given_direction(freedom: usize) -> NoiseLevel {
        // Fisher: √(2χ²) is nearly normal around √(2J − 1) with variance 1.
        NoiseLevel {
            mean: (freedom as f64 - 0.5).max(0.0).sqrt(),
            deviation: 0.5f64.sqrt(),
        }
    }

    /// By how many standard deviations a strength exceeds it.
    pub fn excess(self, strength: f64) -> f64 {
        (strength - self.mean) / self.deviation
    }

    /// The strength of this excess.
    pub fn strength(self, excess: f64) -> f64 {
        self.mean + excess * self.deviation
    }
}

/// A direction (d × 1, norm 1) with its strength.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub direction: Mat<f64>,
    pub strength: f64,
}

/// √Σ_j (wᵀM_j w)².
pub(super) fn strength(matrices: &[Mat<f64>], direction: MatRef<'_, f64>) -> f64 {
    let along = |matrix: &Mat<f64>| (direction.transpose() * (matrix * direction))[(0, 0)];
    let sum: f64 = matrices.iter().map(|matrix| along(matrix).powi(2)).sum();
    sum.sqrt()
}

/// The strongest direction; `None` where the matrices are not finite.
pub(super) fn strongest(matrices: &[Mat<f64>]) -> Option<Found> {
    let d = matrices.first()?.nrows();
    let rows = squares(matrices, Mat::<f64>::identity(d, d).as_ref());
    let eigen = rows.self_adjoint_eigen(Side::Lower).ok()?;
    let starts = STARTS.min(d);
    let mut directions = eigen.U().subcols(d - starts, starts).to_owned();
    let mut product = Mat::zeros(d, starts);
    let mut best = vec![0.0; starts];
    for _ in 0..MOST_ITERATIONS {
        let mut next = Mat::<f64>::zeros(d, starts);
        let mut sums = vec![0.0; starts];
        for matrix in matrices {
            matmul(
                &mut product,
                Accum::Replace,
                matrix,
                &directions,
                1.0,
                Par::Seq,
            );
            for s in 0..starts {
                let along: f64 = (0..d).map(|i| directions[(i, s)] * product[(i, s)]).sum();
                sums[s] += along * along;
                for i in 0..d {
                    next[(i, s)] += along * product[(i, s)];
                }
            }
        }
        // A part of the old direction keeps matrices with negative eigenvalues from alternating.
        for s in 0..starts {
            let norm = (0..d)
                .map(|i| {
                    next[(i, s)] += 0.5 * sums[s] * directions[(i, s)];
                    next[(i, s)] * next[(i, s)]
                })
                .sum::<f64>()
                .sqrt();
            if norm > 0.0 {
                (0..d).for_each(|i| directions[(i, s)] = next[(i, s)] / norm);
            }
        }
        let settled = sums
            .iter()
            .zip(&best)
            .all(|(new, old)| *new <= old * (1.0 + SETTLED));
        best = sums;
        if settled {
            break;
        }
    }
    let found = (0..starts).map(|s| {
        let direction = directions.subcols(s, 1).to_owned();
        let strength = strength(matrices, direction.as_ref());
        Found {
            direction,
            strength,
        }
    });
    found.max_by(|a, b| a.strength.total_cmp(&b.strength))
}

/// Σ_j M_j·W·Wᵀ·M_j, d × d.
pub(super) fn squares(matrices: &[Mat<f64>], inside: MatRef<'_, f64>) -> Mat<f64> {
    let d = inside.nrows();
    let mut sum = Mat::zeros(d, d);
    let mut product = Mat::zeros(d, inside.ncols());
    for matrix in matrices {
        matmul(&mut product, Accum::Replace, matrix, inside, 1.0, Par::Seq);
        matmul(
            &mut sum,
            Accum::Add,
            &product,
            product.transpose(),
            1.0,
            Par::Seq,
        );
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Stream, rng};
    use rand_distr::{Distribution, StandardNormal};

    fn noise(n_matrices: usize, d: usize, seed: u64) -> Vec<Mat<f64>> {
        let mut rng = rng(seed, Stream::Check);
        (0..n_matrices)
            .map(|_| {
                let full: Mat<f64> = Mat::from_fn(d, d, |_, _| StandardNormal.sample(&mut rng));
                Mat::from_fn(d, d, |i, j| 0.5 * (full[(i, j)] + full[(j, i)]))
            })
            .collect()
    }

    #[test]
    fn the_level_of_noise_is_the_measured_one() {
        let mut beyond = 0;
        for n_matrices in [3, 7, 12] {
            for d in [1, 2, 5, 10, 20, 40] {
                let level = NoiseLevel::of_matrices(n_matrices, d);
                let found: Vec<f64> = (0..60)
                    .map(|seed| strongest(&noise(n_matrices, d, seed)).unwrap().strength)
                    .map(|strength| level.excess(strength))
                    .collect();
                let mean = found.iter().sum::<f64>() / 60.0;
                assert!(mean.abs() < 1.0, "{n_matrices} {d}: {mean}");
                beyond += found.iter().filter(|&&excess| excess > 4.0).count();
            }
        }
        assert!(beyond <= 4, "{beyond} of 1080 beyond four deviations");
    }

    #[test]
    fn a_direction_with_structure_is_found_among_noise() {
        let (d, strength) = (20, 14.0);
        let mut matrices = noise(12, d, 5);
        for matrix in &mut matrices {
            matrix[(3, 3)] += strength / 12f64.sqrt();
        }
        let found = strongest(&matrices).unwrap();
        assert!(found.direction[(3, 0)].abs() > 0.8, "{found:?}");
        let excess = NoiseLevel::of_matrices(12, d).excess(found.strength);
        assert!(excess > 4.0, "{excess}");
    }
}
