//! Separation of the sources through C = ZᵀZ/T, the correlation matrix of the standardised sources.
//!
//! ```text
//! decorrelation: L_sep = ‖C − I‖²_F            ∂L/∂C = 2(C − I)
//! log-det:       L_sep = −ln det(C + εI)       ∂L/∂C = −(C + εI)⁻¹
//! ```
//!
//! With ln ℓ as energy the second is the maximum-likelihood objective Σ_k ln ℓ_k − ln det C.

use crate::config::SeparationForm;
use crate::linalg::cholesky;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// ε that keeps ln det finite when two sources coincide.
const EPSILON: f64 = 1e-4;

/// The separation term and its workspace.
pub(crate) struct Separation {
    form: SeparationForm,
    /// C (K×K).
    pub correlation: Mat<f64>,
    /// ∂L_sep/∂C, symmetric, after [`Separation::value_and_gradient`].
    pub d_correlation: Mat<f64>,
    factor: Mat<f64>, // Cholesky factor of C + εI
}

impl Separation {
    pub fn new(form: SeparationForm, n_sources: usize) -> Separation {
        let square = || Mat::zeros(n_sources, n_sources);
        Separation {
            form,
            correlation: square(),
            d_correlation: square(),
            factor: square(),
        }
    }

    /// Value; adds weight · ∂L_sep/∂Z to `d_z`.
    pub fn evaluate(
        &mut self,
        z: MatRef<'_, f64>,
        n_valid: usize,
        weight: f64,
        d_z: MatMut<'_, f64>,
    ) -> f64 {
        let n = n_valid as f64;
        matmul(
            self.correlation.as_mut(),
            Accum::Replace,
            z.transpose(),
            z,
            1.0 / n,
            Par::Seq,
        );
        let value = self.value_and_gradient();
        // C is symmetric and so is ∂L/∂C: d_Z = Z·(G + Gᵀ)/T = 2/T·Z·G.
        matmul(
            d_z,
            Accum::Add,
            z,
            self.d_correlation.as_ref(),
            2.0 * weight / n,
            Par::Seq,
        );
        value
    }

    /// L_sep of the current C, with ∂L/∂C in `d_correlation`.
    pub fn value_and_gradient(&mut self) -> f64 {
        let k = self.correlation.nrows();
        match self.form {
            SeparationForm::Decorrelation => {
                let mut value = 0.0;
                for j in 0..k {
                    for i in 0..k {
                        let excess = self.correlation[(i, j)] - if i == j { 1.0 } else { 0.0 };
                        value += excess * excess;
                        self.d_correlation[(i, j)] = 2.0 * excess;
                    }
                }
                value
            }
            SeparationForm::LogDet => {
                self.factor.copy_from(&self.correlation);
                (0..k).for_each(|i| self.factor[(i, i)] += EPSILON);
                cholesky::factor_in_place(&mut self.factor);
                let log_det: f64 = (0..k).map(|i| 2.0 * self.factor[(i, i)].ln()).sum();
                self.d_correlation.fill(0.0);
                (0..k).for_each(|i| self.d_correlation[(i, i)] = -1.0);
                cholesky::solve_in_place(&self.factor, &mut self.d_correlation);
                -log_det
            }
        }
    }
}
