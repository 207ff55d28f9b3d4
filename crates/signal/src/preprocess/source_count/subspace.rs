//! Subspaces: what is orthogonal to a direction, and the subspace that holds most of the structure.
//!
//! In: orthonormal columns and matrices of second moments. Out: orthonormal columns.

use super::directions::squares;
use faer::{Mat, MatRef, Side};

/// Rounds of the refinement; the first one or two do nearly all of it.
const ROUNDS: usize = 4;

/// An orthonormal basis of all space (p) as what is kept and what is left.
pub(super) struct Split {
    /// p × q.
    pub kept: Mat<f64>,
    /// p × (p − q).
    pub rest: Mat<f64>,
}

impl Split {
    /// Nothing is kept.
    pub fn new(p: usize) -> Split {
        Split {
            kept: Mat::zeros(p, 0),
            rest: Mat::identity(p, p),
        }
    }

    /// Wᵀ·M·W of every matrix, for the rest W.
    pub fn project(&self, matrices: &[Mat<f64>]) -> Vec<Mat<f64>> {
        let project = |matrix| self.rest.transpose() * (matrix * &self.rest);
        matrices.iter().map(project).collect()
    }

    /// Moves a direction, given in the coordinates of the rest, from the rest to what is kept.
    pub fn keep(&mut self, direction: MatRef<'_, f64>) {
        let (p, q, d) = (self.rest.nrows(), self.kept.ncols(), self.rest.ncols());
        // The reflection that takes the direction to ± the first axis; the sign is that of the
        // longer vector, so that nothing cancels.
        let sign = 1f64.copysign(direction[(0, 0)]);
        let vector = Mat::from_fn(d, 1, |i, _| {
            direction[(i, 0)] + if i == 0 { sign } else { 0.0 }
        });
        let square = (0..d).map(|i| vector[(i, 0)].powi(2)).sum::<f64>();
        let product = &self.rest * &vector;
        let turned = |i: usize, j: usize| {
            self.rest[(i, j)] - 2.0 / square * product[(i, 0)] * vector[(j, 0)]
        };
        let kept = Mat::from_fn(p, q + 1, |i, j| {
            if j < q {
                self.kept[(i, j)]
            } else {
                turned(i, 0)
            }
        });
        self.rest = Mat::from_fn(p, d - 1, |i, j| turned(i, j + 1));
        self.kept = kept;
    }

    /// The subspace of the same dimension that holds the most of Σ_j ‖WᵀM_j W‖², from this one on:
    /// orthogonal iteration, as for a Tucker decomposition (L. De Lathauwer, B. De Moor and J.
    /// Vandewalle, SIAM J. Matrix Anal. Appl. 21, 2000). Directions that were found one after the
    /// other each carry an error into the rest, which would look like a further source there.
    pub fn refine(&mut self, matrices: &[Mat<f64>]) {
        let (p, q) = (self.kept.nrows(), self.kept.ncols());
        if q == 0 || q == p {
            return;
        }
        for _ in 0..ROUNDS {
            let sum = squares(matrices, self.kept.as_ref());
            let Ok(eigen) = sum.self_adjoint_eigen(Side::Lower) else {
                return;
            };
            self.rest = eigen.U().subcols(0, p - q).to_owned();
            self.kept = eigen.U().subcols(p - q, q).to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance_from_identity(matrix: &Mat<f64>) -> f64 {
        let d = matrix.ncols();
        (matrix.transpose() * matrix - Mat::<f64>::identity(d, d)).norm_max()
    }

    #[test]
    fn what_is_kept_leaves_the_rest() {
        let mut split = Split::new(4);
        for direction in [vec![0.5, -0.5, 0.5, 0.5], vec![-0.6, 0.0, 0.8]] {
            let d = direction.len();
            let direction = Mat::from_fn(d, 1, |i, _| direction[i]);
            let whole = &split.rest * &direction;
            split.keep(direction.as_ref());
            assert!((split.rest.transpose() * &whole).norm_max() < 1e-14);
        }
        let both = Mat::from_fn(4, 4, |i, j| match j {
            0 | 1 => split.kept[(i, j)],
            _ => split.rest[(i, j - 2)],
        });
        assert!(distance_from_identity(&both) < 1e-14);
    }

    #[test]
    fn refining_finds_the_subspace_of_the_structure() {
        let matrix = Mat::from_fn(3, 3, |i, j| if i == 0 && j == 0 { 5.0 } else { 0.0 });
        let matrices = [matrix];
        let mut split = Split::new(3);
        split.keep(Mat::from_fn(3, 1, |i, _| [0.8, 0.6, 0.0][i]).as_ref());
        assert!(split.project(&matrices)[0].norm_max() > 0.1);
        split.refine(&matrices);
        assert!(split.project(&matrices)[0].norm_max() < 1e-12);
    }
}
