//! Weighted joint diagonalisation: least squares on the off-diagonal entries, with a weight matrix
//! of its own for every pair of sources.
//!
//! With the matrices already transformed, C_n ← AᵀC_nA, a small further mixing I + D is sought
//! with C_n ≈ (I + D)·Λ_n·(I + D)ᵀ and Λ_n the diagonal of C_n. To first order that is, for every
//! pair (i, j) on its own,
//!
//! ```text
//! y ≈ D_ij·λ_j + D_ji·λ_i      y = (C_n,ij)_n,  λ_i = (C_n,ii)_n
//! ```
//!
//! a 2×2 system of weighted least squares in the norm yᵀ·W_ij·y. All pairs are solved at once, A is
//! multiplied by (I + D)⁻ᵀ and scaled so that the first matrix keeps a unit diagonal; near the
//! solution convergence is quadratic. Rows of D are shortened to Σ_j |D_ij| ≤ ½, so that I + D can
//! be inverted however little tells two sources apart.
//!
//! P. Tichavský and A. Yeredor, *Fast approximate joint diagonalization incorporating weight
//! matrices*, IEEE Trans. Signal Processing 57(3), 2009. Identity weights make it U-WEDGE. What
//! good weights are, it does not know.

use faer::Mat;
use faer::linalg::solvers::Solve;

use super::{Diagonalized, check};
use crate::convergence::Convergence;
use crate::error::{Error, Result};

/// Σ_j |D_ij| is at most this.
const LONGEST_STEP: f64 = 0.5;
/// The determinant of a pair's system is at least this share of the product of its diagonal: it
/// vanishes when λ_i and λ_j are proportional, and the mixture of the two is then free.
const LEAST_DETERMINANT: f64 = 1e-12;

/// Where the weights of the pair i < j lie in the list that [`wedge`] takes: (0, 1), (0, 2),
/// (1, 2), (0, 3), …
pub fn pair_index(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}

/// The invertible A that makes all AᵀC_nA as diagonal as possible in the weighted norm, from
/// `start`, by steps until every entry of D is below `tolerance`. `weights` has one symmetric
/// positive definite N×N matrix a pair of sources, in the order of [`pair_index`], N the number of
/// matrices.
///
/// # Errors
/// Without matrices, or when they are not finite, symmetric and of one size, when the first is not
/// positive on the sources, or when start and weights do not belong to the matrices.
pub fn wedge(
    matrices: &[Mat<f64>],
    weights: &[Mat<f64>],
    start: &Mat<f64>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Diagonalized> {
    let (matrix, iterations, changes) =
        search(matrices, weights, start, tolerance, max_iterations)?;
    let largest = changes.into_iter().fold(0.0, f64::max);
    Ok(Diagonalized {
        matrix,
        convergence: Convergence::of_search(iterations, largest, tolerance),
    })
}

/// [`wedge`] with the number of steps and, for every source, the largest entry of its row of D in
/// the last one.
pub(crate) fn search(
    matrices: &[Mat<f64>],
    weights: &[Mat<f64>],
    start: &Mat<f64>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<(Mat<f64>, usize, Vec<f64>)> {
    let k = check(matrices)?;
    if start.shape() != (k, k) {
        return Err(Error::StartShape {
            expected: k,
            found: start.shape(),
        });
    }
    let (n, n_pairs) = (matrices.len(), k * (k - 1) / 2);
    if weights.len() != n_pairs || weights.iter().any(|weight| weight.shape() != (n, n)) {
        return Err(Error::Weights {
            n_pairs,
            n_matrices: n,
            found: weights.len(),
        });
    }
    let mut unmixing = normalized(start.clone(), &matrices[0])?;
    let (mut iterations, mut changes) = (0, vec![f64::INFINITY; k]);
    while iterations < max_iterations && changes.iter().any(|change| *change >= tolerance) {
        let turned: Vec<Mat<f64>> = matrices
            .iter()
            .map(|c| unmixing.transpose() * c * &unmixing)
            .collect();
        let step = step(&turned, weights);
        changes = (0..k)
            .map(|i| step.row(i).iter().fold(0.0, |most, d| d.abs().max(most)))
            .collect();
        let mixing = Mat::<f64>::identity(k, k) + step;
        let next = mixing.partial_piv_lu().solve(unmixing.transpose());
        unmixing = normalized(next.transpose().to_owned(), &matrices[0])?;
        iterations += 1;
    }
    Ok((unmixing, iterations, changes))
}

/// D of all pairs, rows shortened where they are too long.
fn step(turned: &[Mat<f64>], weights: &[Mat<f64>]) -> Mat<f64> {
    let (n, k) = (turned.len(), turned[0].nrows());
    let along = |i: usize, j: usize| Mat::from_fn(n, 1, |n, _| turned[n][(i, j)]);
    let diagonals: Vec<Mat<f64>> = (0..k).map(|i| along(i, i)).collect();
    let mut step = Mat::<f64>::zeros(k, k);
    for j in 1..k {
        for i in 0..j {
            let (y, weight) = (along(i, j), &weights[pair_index(i, j)]);
            let (for_i, for_j) = (weight * &diagonals[i], weight * &diagonals[j]);
            let dot = |a: &Mat<f64>, b: &Mat<f64>| (a.transpose() * b)[(0, 0)];
            let (ii, jj) = (dot(&for_i, &diagonals[i]), dot(&for_j, &diagonals[j]));
            let ij = dot(&for_i, &diagonals[j]);
            let (y_i, y_j) = (dot(&for_i, &y), dot(&for_j, &y));
            let determinant = (ii * jj - ij * ij).max(LEAST_DETERMINANT * ii * jj);
            step[(i, j)] = (ii * y_j - ij * y_i) / determinant;
            step[(j, i)] = (jj * y_i - ij * y_j) / determinant;
        }
    }
    for i in 0..k {
        let length: f64 = step.row(i).iter().map(|d| d.abs()).sum();
        if length > LONGEST_STEP {
            (0..k).for_each(|j| step[(i, j)] *= LONGEST_STEP / length);
        }
    }
    step
}

/// Columns scaled so that AᵀC_0A has a unit diagonal.
fn normalized(mut unmixing: Mat<f64>, first: &Mat<f64>) -> Result<Mat<f64>> {
    let turned = unmixing.transpose() * first * &unmixing;
    for j in 0..unmixing.ncols() {
        let power = turned[(j, j)];
        if !(power.is_finite() && power > 0.0) {
            return Err(Error::Diverged {
                source_index: j,
                norm: power,
            });
        }
        (0..unmixing.nrows()).for_each(|i| unmixing[(i, j)] /= power.sqrt());
    }
    Ok(unmixing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation;

    /// M·D_n·Mᵀ, the first with D = I, plus a disturbance.
    fn set(mixing: &Mat<f64>, n_matrices: usize, disturbance: f64) -> Vec<Mat<f64>> {
        let k = mixing.nrows();
        (0..n_matrices)
            .map(|n| {
                let diagonal = Mat::from_fn(k, k, |i, j| match (i == j, n) {
                    (true, 0) => 1.0,
                    (true, _) => ((i + 1) as f64 * n as f64 * 0.7).cos(),
                    _ => disturbance * ((i + j) as f64 + n as f64 * 1.7).sin(),
                });
                mixing * diagonal * mixing.transpose()
            })
            .collect()
    }

    fn uniform(k: usize, n_matrices: usize) -> Vec<Mat<f64>> {
        vec![Mat::identity(n_matrices, n_matrices); k * (k - 1) / 2]
    }

    #[test]
    fn a_known_mixing_is_undone_from_nearby() {
        for (k, n_matrices) in [(1, 3), (2, 3), (4, 6), (7, 15)] {
            let rotation = rotation::random(k, 4);
            let mixing = Mat::from_fn(k, k, |i, j| rotation[(i, j)] * (1.0 + j as f64));
            let off = Mat::from_fn(k, k, |i, j| {
                rotation[(i, j)] + 0.03 * ((3 * i + j) as f64).sin()
            });
            let matrices = set(&mixing, n_matrices, 0.0);
            let found = wedge(&matrices, &uniform(k, n_matrices), &off, 1e-10, 100).unwrap();
            assert!(found.convergence.converged, "{}", found.convergence);
            let product = found.matrix.transpose() * &mixing;
            for i in 0..k {
                let row: Vec<f64> = (0..k).map(|j| product[(i, j)].abs()).collect();
                let largest = row.iter().copied().fold(0.0, f64::max);
                assert!(
                    row.iter().sum::<f64>() - largest < 1e-8 * largest,
                    "K = {k}"
                );
            }
        }
    }

    #[test]
    fn weights_decide_which_matrices_count() {
        let (mixing, other) = (rotation::random(2, 1), rotation::random(2, 2));
        let mut matrices = set(&mixing, 4, 0.0);
        matrices.extend(set(&other, 4, 0.0).split_off(1));
        let only_first = Mat::from_fn(7, 7, |i, j| {
            f64::from(u8::from(i == j)) * if i < 4 { 1.0 } else { 1e-12 }
        });
        let found = wedge(&matrices, &[only_first], &mixing, 1e-10, 100).unwrap();
        let product = found.matrix.transpose() * &mixing;
        assert!((&product - Mat::<f64>::identity(2, 2)).norm_max() < 1e-6);
        let found = wedge(&matrices, &uniform(2, 7), &mixing, 1e-10, 100).unwrap();
        let product = found.matrix.transpose() * &mixing;
        assert!((&product - Mat::<f64>::identity(2, 2)).norm_max() > 1e-2);
    }

    #[test]
    fn what_tells_nothing_apart_does_not_diverge() {
        let matrices = vec![Mat::identity(3, 3), Mat::full(3, 3, 1e-9)];
        let found = wedge(&matrices, &uniform(3, 2), &Mat::identity(3, 3), 1e-8, 50).unwrap();
        assert!(found.matrix.norm_max().is_finite());
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let matrices = set(&Mat::identity(2, 2), 3, 0.0);
        let start = Mat::identity(2, 2);
        let refused = |matrices: &[Mat<f64>], weights: &[Mat<f64>], start: &Mat<f64>| {
            let result = wedge(matrices, weights, start, 1e-8, 10);
            result.unwrap_err().to_string()
        };
        assert!(refused(&[], &[], &start).contains("no matrix"));
        let message = refused(&matrices, &uniform(2, 2), &start);
        assert!(
            message.contains("1 weight") && message.contains("3 × 3"),
            "{message}"
        );
        assert!(refused(&matrices, &[], &start).contains("found 0"));
        assert!(refused(&matrices, &uniform(2, 3), &Mat::identity(3, 3)).contains("2 × 2"));
        let negative = vec![-Mat::<f64>::identity(2, 2); 3];
        assert!(refused(&negative, &uniform(2, 3), &start).contains("norm -1"));
    }
}
