//! Approximate joint diagonalisation of positive definite matrices by maximum likelihood.
//!
//! Minimises over invertible B, one row a source (A = Bᵀ),
//!
//! ```text
//! J(B) = 1/N Σ_n ½·ln( det diag(B·C_n·Bᵀ) / det(B·C_n·Bᵀ) )
//! ```
//!
//! which is 0 exactly when all B·C_n·Bᵀ are diagonal. For a pair (i, j) the rows b_i, b_j are
//! replaced by b_i + e_ij·b_j and b_j + e_ji·b_i. With C_n already transformed, the gradient is
//! g_ij = mean C_ij/C_ii, g_ji = mean C_ij/C_jj, and the second derivatives at a diagonal solution
//! are ω_ij = mean C_jj/C_ii, ω_ji = mean C_ii/C_jj and 1 across, so that the Newton step e = −h is
//!
//! ```text
//! ( ω_ij   1   ) (h_ij)   (g_ij)
//! (  1    ω_ji ) (h_ji) = (g_ji)
//! ```
//!
//! and e = −2h/(1 + √(1 − 4·h_ij·h_ji)) in place of −h makes J decrease in every step.
//!
//! D.-T. Pham, *Joint approximate diagonalization of positive definite Hermitian matrices*, SIAM J.
//! Matrix Analysis and Applications 22(4), 2001.

use faer::{Mat, Side};

use super::{Diagonalized, check, congruence, transform_columns};
use crate::convergence::Convergence;
use crate::error::{Error, Result};

/// ω_ij·ω_ji − 1 is at least this: it vanishes when two sources change in proportion, and their
/// mixture is then free.
const LEAST_DETERMINANT: f64 = 1e-9;

/// The invertible A that makes all AᵀC_nA as diagonal as possible in the likelihood sense, by
/// sweeps over the pairs until every change in a sweep, relative to rows of variance 1, is below
/// `tolerance`.
///
/// # Errors
/// Without matrices, or when they are not finite, symmetric, positive definite and of one size.
pub fn pham(
    mut matrices: Vec<Mat<f64>>,
    tolerance: f64,
    max_sweeps: usize,
) -> Result<Diagonalized> {
    let k = check(&matrices)?;
    if let Some(n) = matrices.iter().position(|c| c.llt(Side::Lower).is_err()) {
        return Err(Error::NotDefinite { index: n });
    }
    let mut unmixing = Mat::identity(k, k);
    let (mut sweeps, mut largest) = (0, f64::INFINITY);
    while sweeps < max_sweeps && largest >= tolerance {
        largest = 0.0;
        for i in 0..k {
            for j in i + 1..k {
                let (e_ij, e_ji) = step(&matrices, i, j);
                // Columns of A are the rows of B: a_i ← a_i + e_ij·a_j.
                let pair = [[1.0, e_ji], [e_ij, 1.0]];
                matrices
                    .iter_mut()
                    .for_each(|c| congruence(c, (i, j), pair));
                transform_columns(&mut unmixing, (i, j), pair);
                largest = largest.max(e_ij.abs()).max(e_ji.abs());
            }
        }
        normalize(&mut matrices, &mut unmixing);
        sweeps += 1;
    }
    Ok(Diagonalized {
        matrix: unmixing,
        convergence: Convergence::of_search(sweeps, largest, tolerance),
    })
}

/// (e_ij, e_ji).
fn step(matrices: &[Mat<f64>], i: usize, j: usize) -> (f64, f64) {
    let n = matrices.len() as f64;
    let mean = |ratio: &dyn Fn(&Mat<f64>) -> f64| matrices.iter().map(ratio).sum::<f64>() / n;
    let g_ij = mean(&|c| c[(i, j)] / c[(i, i)]);
    let g_ji = mean(&|c| c[(i, j)] / c[(j, j)]);
    let w_ij = mean(&|c| c[(j, j)] / c[(i, i)]);
    let w_ji = mean(&|c| c[(i, i)] / c[(j, j)]);
    let determinant = (w_ij * w_ji - 1.0).max(LEAST_DETERMINANT);
    let h_ij = (w_ji * g_ij - g_ji) / determinant;
    let h_ji = (w_ij * g_ji - g_ij) / determinant;
    let damping = 2.0 / (1.0 + (1.0 - 4.0 * h_ij * h_ji).max(0.0).sqrt());
    (-damping * h_ij, -damping * h_ji)
}

/// Scales the columns of A so that the mean of the matrices has a unit diagonal; J does not change.
fn normalize(matrices: &mut [Mat<f64>], unmixing: &mut Mat<f64>) {
    let (k, n) = (unmixing.nrows(), matrices.len() as f64);
    let factor: Vec<f64> = (0..k)
        .map(|i| {
            (matrices.iter().map(|c| c[(i, i)]).sum::<f64>() / n)
                .sqrt()
                .recip()
        })
        .collect();
    for c in matrices {
        *c = Mat::from_fn(k, k, |i, j| c[(i, j)] * factor[i] * factor[j]);
    }
    *unmixing = Mat::from_fn(k, k, |i, j| unmixing[(i, j)] * factor[j]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation;

    /// M·D_n·Mᵀ with positive D_n, plus a disturbance.
    fn set(mixing: &Mat<f64>, n_matrices: usize, disturbance: f64) -> Vec<Mat<f64>> {
        let k = mixing.nrows();
        (0..n_matrices)
            .map(|n| {
                let diagonal = Mat::from_fn(k, k, |i, j| {
                    if i == j {
                        1.0 + 0.8 * ((i + 1) as f64 * (n + 1) as f64 * 0.9).cos()
                    } else {
                        disturbance * ((i + j) as f64 + n as f64 * 1.7).sin()
                    }
                });
                mixing * diagonal * mixing.transpose()
            })
            .collect()
    }

    fn criterion(matrices: &[Mat<f64>], a: &Mat<f64>) -> f64 {
        let turned = matrices.iter().map(|c| a.transpose() * c * a);
        let terms = turned
            .map(|c| (0..a.nrows()).map(|i| c[(i, i)].ln()).sum::<f64>() - c.determinant().ln());
        0.5 * terms.sum::<f64>() / matrices.len() as f64
    }

    #[test]
    fn a_known_mixing_that_is_not_orthogonal_is_undone() {
        for (k, n_matrices) in [(1, 3), (2, 2), (4, 6), (7, 15)] {
            let rotation = rotation::random(k, 4);
            let mixing = Mat::from_fn(k, k, |i, j| {
                rotation[(i, j)] * (1.0 + j as f64) + f64::from(u8::from(i == 0))
            });
            let found = pham(set(&mixing, n_matrices, 0.0), 1e-10, 100).unwrap();
            assert!(found.convergence.converged, "{}", found.convergence);
            let product = found.matrix.transpose() * &mixing;
            for i in 0..k {
                let row: Vec<f64> = (0..k).map(|j| product[(i, j)].abs()).collect();
                let largest = row.iter().copied().fold(0.0, f64::max);
                let rest = row.iter().sum::<f64>() - largest;
                assert!(rest < 1e-8 * largest, "K = {k}: {product:?}");
            }
        }
    }

    #[test]
    fn the_result_is_a_minimum_of_the_likelihood_criterion() {
        let matrices = set(&rotation::random(4, 2), 9, 0.05);
        let found = pham(matrices.clone(), 1e-10, 200).unwrap();
        let least = criterion(&matrices, &found.matrix);
        assert!(found.convergence.converged && least > 1e-4, "{least}");
        for i in 0..4 {
            for j in (0..4).filter(|&j| j != i) {
                for size in [-0.1, -0.003, 0.003, 0.1] {
                    let mut other = found.matrix.clone();
                    (0..4).for_each(|row| other[(row, i)] += size * found.matrix[(row, j)]);
                    assert!(criterion(&matrices, &other) > least, "({i}, {j}) by {size}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        let matrices = vec![
            Mat::identity(2, 2),
            Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 }),
        ];
        let message = pham(matrices, 1e-8, 10).unwrap_err().to_string();
        assert!(
            message.contains("matrix 1") && message.contains("longer blocks"),
            "{message}"
        );
    }
}
