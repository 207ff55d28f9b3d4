//! What a long recording is reduced to before its training: the second moments of its whitened
//! components.
//!
//! In: the scaled channels Y and their whitening Zw = (Y − ȳ)·V. Out, in one pass over the samples:
//!
//! ```text
//! C_zz = ZwᵀZw/T   C_zy = ZwᵀY/T   D_zz = (D_o Zw)ᵀ(D_o Zw)/(T−o)   means of Zw and Y   ‖Y‖²/T
//! ```
//!
//! Zw itself is never stored: a stretch of Zw·a is a stretch of Y combined with the m weights V·a.

use crate::preprocess::Whitening;
use crate::preprocess::observations::Observations;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::Rows;

/// Samples handled at once.
const BLOCK: usize = 4096;

/// The whitened components of a long recording and their moments.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    /// Y.
    pub observations: Observations,
    matrix: Mat<f64>, // V (m×K)
    offset: Vec<f64>, // ȳ of the whitening (m)
    /// C_zz (K×K).
    pub zz: Mat<f64>,
    /// C_zy (K×m).
    pub zy: Mat<f64>,
    /// D_zz (K×K).
    pub differences: Mat<f64>,
    /// Mean of Zw (K).
    pub z_mean: Vec<f64>,
    /// Mean of Y (m).
    pub y_mean: Vec<f64>,
    /// ‖Y‖²/T.
    pub y_square: f64,
}

impl Basis {
    /// Reads the recording once; `order` is that of the smoothness term.
    pub fn new(observations: Observations, whitening: &Whitening, order: usize) -> Basis {
        let (m, k) = (whitening.n_channels(), whitening.n_components());
        let mut basis = Basis {
            observations,
            matrix: whitening.matrix().to_owned(),
            offset: whitening.mean().to_vec(),
            zz: Mat::zeros(k, k),
            zy: Mat::zeros(k, m),
            differences: Mat::zeros(k, k),
            z_mean: vec![0.0; k],
            y_mean: vec![0.0; m],
            y_square: 0.0,
        };
        let weight = 1.0 / basis.rows().n_valid() as f64;
        let (mut zz, mut zy) = (Mat::zeros(k, k), Mat::zeros(k, m));
        let (mut y_mean, mut z_mean, mut y_square) = (vec![0.0; m], vec![0.0; k], 0.0);
        basis.for_each_block(|_, y, z| {
            matmul(&mut zz, Accum::Add, z.transpose(), z, weight, Par::Seq);
            matmul(&mut zy, Accum::Add, z.transpose(), y, weight, Par::Seq);
            (0..m).for_each(|c| y_mean[c] += weight * col(y, c).iter().sum::<f64>());
            (0..k).for_each(|j| z_mean[j] += weight * col(z, j).iter().sum::<f64>());
            y_square += weight * y.squared_norm_l2();
        });
        (basis.zz, basis.zy) = (zz, zy);
        (basis.y_mean, basis.z_mean, basis.y_square) = (y_mean, z_mean, y_square);
        basis.differences = basis.difference_moments(order);
        basis
    }

    /// Which samples are there.
    pub fn rows(&self) -> &Rows {
        self.observations.rows()
    }

    /// Y[first.., :] → `y` and Zw[first.., :] → `z`, as many rows as they have, 0 in missing rows.
    pub fn read(&self, first: usize, mut y: MatMut<'_, f64>, mut z: MatMut<'_, f64>) {
        self.observations.read(first, y.as_mut());
        matmul(
            z.as_mut(),
            Accum::Replace,
            y.as_ref(),
            &self.matrix,
            1.0,
            Par::Seq,
        );
        for j in 0..z.ncols() {
            let mean: f64 = (0..self.offset.len())
                .map(|c| self.offset[c] * self.matrix[(c, j)])
                .sum();
            let column = col_mut(z.as_mut(), j);
            column.iter_mut().for_each(|v| *v -= mean);
            self.rows().zero_missing_from(first, column);
        }
    }

    /// Calls `visit(first sample, Y, Zw)` for consecutive stretches, 0 in missing rows.
    pub fn for_each_block(&self, visit: impl FnMut(usize, MatRef<'_, f64>, MatRef<'_, f64>)) {
        self.for_each_overlapping_block(0, visit);
    }

    /// Calls `visit` for stretches of which the last `overlap` samples are repeated at the start of
    /// the next.
    fn for_each_overlapping_block(
        &self,
        overlap: usize,
        mut visit: impl FnMut(usize, MatRef<'_, f64>, MatRef<'_, f64>),
    ) {
        let (n, m) = (self.rows().n_samples(), self.observations.n_channels());
        let mut y = Mat::zeros(BLOCK.min(n), m);
        let mut centred = Mat::zeros(BLOCK.min(n), m);
        let mut z = Mat::zeros(BLOCK.min(n), self.matrix.ncols());
        for first in (0..n - overlap).step_by(BLOCK - overlap) {
            let len = BLOCK.min(n - first);
            let mut y = y.as_mut().subrows_mut(0, len);
            self.observations.read(first, y.as_mut());
            let mut centred = centred.as_mut().subrows_mut(0, len);
            centred.copy_from(y.as_ref());
            for (c, &offset) in self.offset.iter().enumerate() {
                let column = col_mut(centred.as_mut(), c);
                column.iter_mut().for_each(|v| *v -= offset);
                self.rows().zero_missing_from(first, column);
            }
            let mut z = z.as_mut().subrows_mut(0, len);
            matmul(
                z.as_mut(),
                Accum::Replace,
                centred,
                &self.matrix,
                1.0,
                Par::Seq,
            );
            visit(first, y.as_ref(), z.as_ref());
        }
    }

    /// D_zz over the differences that touch no missing sample and lie in one piece.
    fn difference_moments(&self, order: usize) -> Mat<f64> {
        let k = self.matrix.ncols();
        let mut total = Mat::zeros(k, k);
        let mut count = 0usize;
        let mut differences: Mat<f64> = Mat::zeros(BLOCK, k);
        self.for_each_overlapping_block(order, |first, _, z| {
            let len = z.nrows() - order;
            let rows = self.rows().stretch(first, z.nrows());
            let mut usable = vec![false; len];
            for piece in rows.pieces() {
                for t in piece.start..piece.end.saturating_sub(order) {
                    usable[t] = (0..=order).all(|o| rows.is_valid(t + o));
                }
            }
            for j in 0..k {
                let z = col(z, j);
                for t in 0..len {
                    differences[(t, j)] = match order {
                        _ if !usable[t] => 0.0,
                        1 => z[t + 1] - z[t],
                        _ => z[t] - 2.0 * z[t + 1] + z[t + 2],
                    };
                }
            }
            count += usable.iter().filter(|&&usable| usable).count();
            let differences = differences.as_ref().subrows(0, len);
            matmul(
                &mut total,
                Accum::Add,
                differences.transpose(),
                differences,
                1.0,
                Par::Seq,
            );
        });
        faer::Scale(1.0 / count.max(1) as f64) * total
    }

    /// Weights of the channels in Zw·a: V·a (m); returns the constant that belongs to them.
    pub fn weights(&self, a: &[f64], weights: &mut [f64]) -> f64 {
        let mut constant = 0.0;
        for (c, weight) in weights.iter_mut().enumerate() {
            *weight = a
                .iter()
                .enumerate()
                .map(|(j, a)| self.matrix[(c, j)] * a)
                .sum();
            constant -= self.offset[c] * *weight;
        }
        constant
    }

    /// From Σ_t Y_tc·v_t and Σ_t v_t: sums_j += factor·Σ_t Zw_tj·v_t.
    pub fn add_whitened(&self, products: &[f64], total: f64, factor: f64, sums: &mut [f64]) {
        for (j, sum) in sums.iter_mut().enumerate() {
            let product: f64 = (0..products.len())
                .map(|c| self.matrix[(c, j)] * (products[c] - self.offset[c] * total))
                .sum();
            *sum += factor * product;
        }
    }

    /// S = Zw·A + E (T×K), in the storage of E, which is `out`; 0 in missing rows.
    pub fn assemble(&self, a: Option<&Mat<f64>>, mut out: MatMut<'_, f64>) {
        let mut weights = vec![0.0; self.observations.n_channels()];
        let mut stretch = vec![0.0; BLOCK];
        for k in 0..out.ncols() {
            let column = col_mut(out.as_mut(), k);
            if let Some(a) = a {
                let constant = self.weights(col(a.as_ref(), k), &mut weights);
                for (i, part) in column.chunks_mut(BLOCK).enumerate() {
                    let stretch = &mut stretch[..part.len()];
                    self.observations
                        .combine(i * BLOCK, &weights, constant, stretch);
                    part.iter_mut().zip(&*stretch).for_each(|(s, z)| *s += z);
                }
            }
            self.rows().zero_missing(column);
        }
    }
}
