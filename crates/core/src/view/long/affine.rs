//! Reconstruction by an affine mixer, from second moments alone: no sample is looked at.
//!
//! With features φ = [u, 1], G = mean φφᵀ, M = mean φyᵀ and the output layer W (F×m, F = K+1):
//!
//! ```text
//! ‖Y − ΦW‖² = T·(‖Y‖²/T − 2⟨W, M⟩ + ⟨W, GW⟩)        W* = (G + βI)⁻¹M when the layer is eliminated
//! ```
//!
//! The ridge belongs to the value, as in [`crate::view::terms::reconstruction`].

use super::basis::Basis;
use super::moments::InputMoments;
use crate::linalg::cholesky;
use crate::mixer::Mixer;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// The term and its workspace.
pub(super) struct AffineReconstruction {
    variance: f64,
    ridge: Option<f64>,
    gram: Mat<f64>,   // G (F×F)
    factor: Mat<f64>, // Cholesky factor of G + βI
    moment: Mat<f64>, // M (F×m)
    image: Mat<f64>,  // W*, then GW (F×m)
}

impl AffineReconstruction {
    pub fn new(n_sources: usize, n_channels: usize, variance: f64, ridge: Option<f64>) -> Self {
        let f = n_sources + 1;
        AffineReconstruction {
            variance,
            ridge,
            gram: Mat::zeros(f, f),
            factor: Mat::zeros(f, f),
            moment: Mat::zeros(f, n_channels),
            image: Mat::zeros(f, n_channels),
        }
    }

    /// Value; writes the gradient in the moments of the input to `d_input`. ∂L/∂W is added to
    /// `d_parameters`, unless W is eliminated: then it is written into θ.
    pub fn evaluate(
        &mut self,
        mixer: &mut dyn Mixer,
        basis: &Basis,
        input: &InputMoments,
        d_input: &mut InputMoments,
        d_parameters: &mut [f64],
    ) -> f64 {
        let (k, m) = input.uy.shape();
        let n = basis.rows().n_valid() as f64;
        self.gram
            .as_mut()
            .submatrix_mut(0, 0, k, k)
            .copy_from(&input.uu);
        self.moment.as_mut().subrows_mut(0, k).copy_from(&input.uy);
        for j in 0..k {
            (self.gram[(j, k)], self.gram[(k, j)]) = (input.mean[j], input.mean[j]);
        }
        self.gram[(k, k)] = 1.0;
        for c in 0..m {
            self.moment[(k, c)] = basis.y_mean[c];
        }
        let mut penalty = 0.0;
        if let Some(ridge) = self.ridge {
            self.factor.copy_from(&self.gram);
            (0..=k).for_each(|f| self.factor[(f, f)] += ridge);
            cholesky::factor_in_place(&mut self.factor);
            self.image.copy_from(&self.moment);
            cholesky::solve_in_place(&self.factor, &mut self.image);
            let square = self.image.squared_norm_l2();
            if !square.is_finite() {
                return f64::NAN; // divergence: J says so, and θ keeps its last good value
            }
            MatMut::from_column_major_slice_mut(mixer.parameters_mut(), k + 1, m)
                .copy_from(&self.image);
            penalty = ridge * square;
        }
        let w = MatRef::from_column_major_slice(mixer.parameters(), k + 1, m);
        matmul(
            self.image.as_mut(),
            Accum::Replace,
            &self.gram,
            w,
            1.0,
            Par::Seq,
        );
        let inner = |x: &Mat<f64>| -> f64 {
            (0..m)
                .map(|c| (0..=k).map(|f| w[(f, c)] * x[(f, c)]).sum::<f64>())
                .sum()
        };
        // Rounding may leave a residual of −1e-16 where the reconstruction is exact.
        let square = (basis.y_square - 2.0 * inner(&self.moment) + inner(&self.image)).max(0.0);

        let scale = n / self.variance;
        if self.ridge.is_none() {
            let mut d_w = MatMut::from_column_major_slice_mut(d_parameters, k + 1, m);
            for c in 0..m {
                for f in 0..=k {
                    d_w[(f, c)] += scale * (self.image[(f, c)] - self.moment[(f, c)]);
                }
            }
        }
        let weights = w.subrows(0, k);
        matmul(
            d_input.uu.as_mut(),
            Accum::Replace,
            weights,
            weights.transpose(),
            0.5 * scale,
            Par::Seq,
        );
        for j in 0..k {
            d_input.mean[j] = scale * (0..m).map(|c| w[(j, c)] * w[(k, c)]).sum::<f64>();
            for c in 0..m {
                d_input.uy[(j, c)] = -scale * w[(j, c)];
            }
        }
        0.5 * scale * (square + penalty)
    }
}
