//! Joint diagonalisation: one matrix A that makes every matrix C_n of a set as diagonal as
//! possible, AᵀC_nA ≈ D_n.
//!
//! In: symmetric K×K matrices. Out: A with one column a source, and a convergence report.
//! [`orthogonal`] finds a rotation by least squares (Jacobi angles); [`pham`] finds any invertible
//! A by maximum likelihood, for positive definite matrices; [`wedge`] any invertible A by least
//! squares with weights. None knows where the matrices come from.

mod jacobi;
mod pham;
pub(crate) mod wedge;

pub use jacobi::orthogonal;
pub use pham::pham;
pub use wedge::{pair_index, wedge};

use faer::Mat;

use super::convergence::Convergence;
use crate::error::{Error, Result};

/// Default tolerance on the change of a sweep.
pub const TOLERANCE: f64 = 1e-8;
/// Default number of sweeps at most.
pub const MAX_SWEEPS: usize = 200;

/// A joint diagonaliser.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagonalized {
    /// A (K×K): AᵀC_nA is nearly diagonal for every n.
    pub matrix: Mat<f64>,
    /// How the sweeps ended; the criterion is the largest change in the last one.
    pub convergence: Convergence,
}

/// K, once all matrices are finite, K×K and symmetric.
fn check(matrices: &[Mat<f64>]) -> Result<usize> {
    let Some(first) = matrices.first() else {
        return Err(Error::NoMatrix);
    };
    let k = first.nrows();
    for (n, matrix) in matrices.iter().enumerate() {
        if k == 0 || matrix.shape() != (k, k) {
            return Err(Error::MatrixShape {
                index: n,
                found: matrix.shape(),
            });
        }
        let largest = matrix.norm_max();
        let symmetric =
            |i: usize, j: usize| (matrix[(i, j)] - matrix[(j, i)]).abs() <= 1e-9 * largest;
        if !largest.is_finite() || !(0..k).all(|i| (0..i).all(|j| symmetric(i, j))) {
            return Err(Error::NotSymmetric { index: n });
        }
    }
    Ok(k)
}

/// A ← A·T for the 2×2 transformation T = [[pp, pq], [qp, qq]] of columns p and q.
fn transform_columns(matrix: &mut Mat<f64>, (p, q): (usize, usize), t: [[f64; 2]; 2]) {
    for i in 0..matrix.nrows() {
        let (a, b) = (matrix[(i, p)], matrix[(i, q)]);
        matrix[(i, p)] = a * t[0][0] + b * t[1][0];
        matrix[(i, q)] = a * t[0][1] + b * t[1][1];
    }
}

/// C ← TᵀC T.
fn congruence(matrix: &mut Mat<f64>, (p, q): (usize, usize), t: [[f64; 2]; 2]) {
    transform_columns(matrix, (p, q), t);
    for j in 0..matrix.ncols() {
        let (a, b) = (matrix[(p, j)], matrix[(q, j)]);
        matrix[(p, j)] = a * t[0][0] + b * t[1][0];
        matrix[(q, j)] = a * t[0][1] + b * t[1][1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_cannot_be_diagonalised_are_refused() {
        let refused = |matrices: Vec<Mat<f64>>| {
            let message = orthogonal(matrices.clone(), 1e-8, 10)
                .unwrap_err()
                .to_string();
            assert_eq!(pham(matrices, 1e-8, 10).unwrap_err().to_string(), message);
            message
        };
        assert!(refused(vec![]).contains("no matrix"));
        assert!(refused(vec![Mat::identity(2, 2), Mat::identity(3, 3)]).contains("matrix 1"));
        assert!(refused(vec![Mat::zeros(2, 3)]).contains("2 × 3"));
        assert!(refused(vec![Mat::full(2, 2, f64::NAN)]).contains("finite"));
        let lopsided = Mat::from_fn(2, 2, |i, j| (i + 2 * j) as f64);
        assert!(refused(vec![lopsided]).contains("symmetric"));
    }
}
