//! Orthogonal joint diagonalisation by Jacobi angles.
//!
//! Minimises Σ_n Σ_{i≠j} (AᵀC_nA)²_ij over rotations A, one pair (p, q) after the other. In the
//! plane of a pair the optimum is known: with g_n = (C_pp − C_qq, 2·C_pq) of matrix n and G = Σ_n
//! g_n·g_nᵀ, the diagonal gains most from the rotation by θ for which (cos 2θ, sin 2θ) is the
//! leading eigenvector of G,
//!
//! ```text
//! θ = ½·atan2(G_12 + G_21, G_11 − G_22 + √((G_11 − G_22)² + (G_12 + G_21)²))
//! ```
//!
//! which is the smaller of the equivalent angles, |θ| ≤ π/4. A sweep visits every pair; near the
//! solution convergence is quadratic.
//!
//! J.-F. Cardoso and A. Souloumiac, *Jacobi angles for simultaneous diagonalization*, SIAM J.
//! Matrix Analysis and Applications 17(1), 1996.

use faer::Mat;

use super::{Diagonalized, check, congruence, transform_columns};
use crate::convergence::Convergence;
use crate::error::Result;

/// The rotation A that makes all AᵀC_nA as diagonal as possible, by sweeps of plane rotations until
/// the sine of each in a sweep is below `tolerance`.
///
/// # Errors
/// Without matrices, or when they are not finite, symmetric and of one size.
pub fn orthogonal(
    mut matrices: Vec<Mat<f64>>,
    tolerance: f64,
    max_sweeps: usize,
) -> Result<Diagonalized> {
    let k = check(&matrices)?;
    let mut rotation = Mat::identity(k, k);
    let (mut sweeps, mut largest) = (0, f64::INFINITY);
    while sweeps < max_sweeps && largest >= tolerance {
        largest = 0.0;
        for p in 0..k {
            for q in p + 1..k {
                let angle = best_angle(&matrices, p, q);
                let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
                largest = largest.max(sine.abs());
                if sine != 0.0 {
                    let plane = [[cosine, -sine], [sine, cosine]];
                    matrices
                        .iter_mut()
                        .for_each(|c| congruence(c, (p, q), plane));
                    transform_columns(&mut rotation, (p, q), plane);
                }
            }
        }
        sweeps += 1;
    }
    Ok(Diagonalized {
        matrix: rotation,
        convergence: Convergence::of_search(sweeps, largest, tolerance),
    })
}

fn best_angle(matrices: &[Mat<f64>], p: usize, q: usize) -> f64 {
    let (mut on, mut off) = (0.0, 0.0);
    for c in matrices {
        let (difference, sum) = (c[(p, p)] - c[(q, q)], c[(p, q)] + c[(q, p)]);
        on += difference * difference - sum * sum;
        off += 2.0 * difference * sum;
    }
    0.5 * libm::atan2(off, on + libm::hypot(on, off))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation;

    /// R·D_n·Rᵀ plus a symmetric disturbance.
    fn set(rotation: &Mat<f64>, n_matrices: usize, disturbance: f64) -> Vec<Mat<f64>> {
        let k = rotation.nrows();
        (0..n_matrices)
            .map(|n| {
                let diagonal = Mat::from_fn(k, k, |i, j| {
                    if i == j {
                        ((i + 1) as f64 * (n + 1) as f64 * 0.9).cos()
                    } else {
                        disturbance * ((i + j) as f64 + n as f64 * 1.7).sin()
                    }
                });
                rotation * diagonal * rotation.transpose()
            })
            .collect()
    }

    fn off_diagonal(matrices: &[Mat<f64>], a: &Mat<f64>) -> f64 {
        let k = a.nrows();
        let turned = matrices.iter().map(|c| a.transpose() * c * a);
        turned
            .map(|c| {
                (0..k)
                    .flat_map(|i| (0..k).filter(move |&j| j != i).map(move |j| (i, j)))
                    .map(|(i, j)| c[(i, j)] * c[(i, j)])
                    .sum::<f64>()
            })
            .sum()
    }

    #[test]
    fn a_known_rotation_is_recovered() {
        for (k, n_matrices) in [(1, 1), (2, 1), (2, 5), (5, 8), (9, 12)] {
            let truth = rotation::random(k, 11);
            let found = orthogonal(set(&truth, n_matrices, 0.0), 1e-10, 100).unwrap();
            // One rotation is exact for K = 2; beyond, convergence is quadratic.
            let most = if k <= 2 { 2 } else { 8 };
            assert!(
                found.convergence.converged && found.convergence.iterations <= most,
                "K = {k}: {}",
                found.convergence
            );
            // AᵀR is a signed permutation.
            let product = found.matrix.transpose() * &truth;
            for i in 0..k {
                let largest = (0..k).map(|j| product[(i, j)].abs()).fold(0.0, f64::max);
                assert!((largest - 1.0).abs() < 1e-12, "K = {k}: {product:?}");
            }
        }
    }

    #[test]
    fn the_result_is_a_minimum_when_no_exact_diagonaliser_exists() {
        let matrices = set(&rotation::random(4, 2), 6, 0.2);
        let found = orthogonal(matrices.clone(), 1e-10, 100).unwrap();
        let least = off_diagonal(&matrices, &found.matrix);
        assert!(least > 0.1 && found.convergence.converged);
        for p in 0..4 {
            for q in p + 1..4 {
                for angle in [-0.3f64, -0.01, 0.01, 0.3] {
                    let mut other = found.matrix.clone();
                    let (sine, cosine) = angle.sin_cos();
                    transform_columns(&mut other, (p, q), [[cosine, -sine], [sine, cosine]]);
                    assert!(off_diagonal(&matrices, &other) > least);
                }
            }
        }
    }

    #[test]
    fn too_few_sweeps_are_said() {
        let found = orthogonal(set(&rotation::random(6, 1), 4, 0.1), 1e-12, 1).unwrap();
        assert!(!found.convergence.converged && found.convergence.value > 1e-3);
    }
}
