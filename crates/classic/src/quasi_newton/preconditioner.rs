//! An approximate Hessian of relative steps that acts on one pair of sources at a time.
//!
//! With W ← (I + E)·W, the Hessian of a likelihood at independent sources maps E_ij to
//! h_ij·E_ij + E_ji: the second part is that of ln |det W|. It is solved in 2×2 blocks.

use faer::Mat;

/// E_ij ↦ h_ij·E_ij + coupling·E_ji.
pub(crate) struct Preconditioner {
    pub h: Mat<f64>,
    pub coupling: f64,
}

impl Preconditioner {
    /// Of second derivatives h alone, where E is skew-symmetric and has no determinant.
    pub fn uncoupled(h: Mat<f64>) -> Preconditioner {
        Preconditioner { h, coupling: 0.0 }
    }

    /// Of h and the determinant, with h raised until every block has eigenvalues of at least
    /// `least`.
    pub fn coupled(h: Mat<f64>, least: f64) -> Preconditioner {
        // The smaller eigenvalue of [[h_ij, 1], [1, h_ji]].
        let shift = |i: usize, j: usize| {
            let (a, b) = (h[(i, j)], h[(j, i)]);
            let smaller = 0.5 * (a + b - ((a - b) * (a - b) + 4.0).sqrt());
            (least - smaller).max(0.0)
        };
        Preconditioner {
            h: Mat::from_fn(h.nrows(), h.ncols(), |i, j| h[(i, j)] + shift(i, j)),
            coupling: 1.0,
        }
    }

    /// H̃⁻¹·G.
    pub fn solve(&self, g: &Mat<f64>) -> Mat<f64> {
        let (h, c) = (&self.h, self.coupling);
        Mat::from_fn(g.nrows(), g.ncols(), |i, j| {
            if i == j {
                g[(i, i)] / (h[(i, i)] + c)
            } else {
                let determinant = h[(i, j)] * h[(j, i)] - c * c;
                (h[(j, i)] * g[(i, j)] - c * g[(j, i)]) / determinant
            }
        })
    }
}
