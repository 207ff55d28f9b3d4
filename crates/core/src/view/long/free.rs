//! Second moments of the free part E (T×K) of long sources, kept up to date as single samples of it
//! change.
//!
//! ```text
//! C_ze = ZwᵀE/T    C_ye = YᵀE/T    C_ee = EᵀE/T    ē
//! ```
//!
//! A change δ of column k at a few samples changes them by sums over those samples only, so a step
//! never reads all of E. Rounding of the running sums stays near 1e-13 over any run; it is part of
//! a checkpoint, since recomputing the sums would round differently.

use super::basis::Basis;
use super::column::Column;
use crate::Result;
use crate::linalg::permute::permute_columns;
use crate::preprocess::observations::centred_product;
use crate::tensors::Tensors;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use strt_signal::columns::{col, col_mut};

/// Moments of E.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FreeMoments {
    /// C_ze (K×K).
    pub ze: Mat<f64>,
    /// C_ye (m×K).
    pub ye: Mat<f64>,
    /// C_ee (K×K).
    pub ee: Mat<f64>,
    /// ē (K×1).
    pub mean: Mat<f64>,
}

impl FreeMoments {
    /// Of a whole matrix E; missing rows take no part.
    pub fn of(e: MatRef<'_, f64>, basis: &Basis) -> FreeMoments {
        let (k, m) = (e.ncols(), basis.observations.n_channels());
        let n_components = basis.zz.nrows();
        let weight = 1.0 / basis.rows().n_valid() as f64;
        let mut moments = FreeMoments {
            ze: Mat::zeros(n_components, k),
            ye: Mat::zeros(m, k),
            ee: Mat::zeros(k, k),
            mean: Mat::zeros(k, 1),
        };
        basis.for_each_block(|first, y, z| {
            let mut part = e.subrows(first, y.nrows()).to_owned();
            for j in 0..k {
                basis
                    .rows()
                    .zero_missing_from(first, col_mut(part.as_mut(), j));
                moments.mean[(j, 0)] += weight * col(part.as_ref(), j).iter().sum::<f64>();
            }
            let sums = [
                (&mut moments.ze, z),
                (&mut moments.ye, y),
                (&mut moments.ee, part.as_ref()),
            ];
            for (sum, left) in sums {
                matmul(sum, Accum::Add, left.transpose(), &part, weight, Par::Seq);
            }
        });
        moments
    }

    /// Adds the changes `column.d` to column k of E and to the moments.
    pub(super) fn change(
        &mut self,
        e: &mut Mat<f64>,
        k: usize,
        column: &mut Column,
        basis: &Basis,
    ) {
        let weight = 1.0 / basis.rows().n_valid() as f64;
        let (products, total) = column.products(basis);
        self.mean[(k, 0)] += weight * total;
        basis.add_whitened(products, total, weight, col_mut(self.ze.as_mut(), k));
        for (slot, product) in col_mut(self.ye.as_mut(), k).iter_mut().zip(products) {
            *slot += weight * product;
        }
        for j in 0..e.ncols() {
            let other = col(e.as_ref(), j);
            let product: f64 = column
                .stretches
                .iter()
                .map(|s| {
                    centred_product(&column.d[s.range()], 0.0, &other[s.first..s.first + s.len])
                })
                .sum();
            self.ee[(k, j)] += weight * product;
            self.ee[(j, k)] += weight * product; // 2·⟨δ, e_k⟩ for j = k
        }
        self.ee[(k, k)] += weight * centred_product(&column.d, 0.0, &column.d);
        let own = col_mut(e.as_mut(), k);
        for stretch in &column.stretches {
            let changes = &column.d[stretch.range()];
            own[stretch.first..]
                .iter_mut()
                .zip(changes)
                .for_each(|(e, d)| *e += d);
        }
    }

    /// Source k becomes what source `order[k]` was.
    pub fn permute(&mut self, order: &[usize]) {
        permute_columns(&mut self.ze, order);
        permute_columns(&mut self.ye, order);
        self.ee = Mat::from_fn(order.len(), order.len(), |i, j| {
            self.ee[(order[i], order[j])]
        });
        self.mean = Mat::from_fn(order.len(), 1, |k, _| self.mean[(order[k], 0)]);
    }

    /// Puts the moments of E, called `name`, into a checkpoint.
    pub fn save(&self, name: &str, to: &mut Tensors) {
        for (part, matrix) in [
            ("with_components", &self.ze),
            ("with_channels", &self.ye),
            ("with_itself", &self.ee),
            ("mean", &self.mean),
        ] {
            to.put(format!("{name}.{part}"), matrix.clone());
        }
    }

    /// Takes back what [`FreeMoments::save`] has put.
    pub fn restore(&mut self, name: &str, from: &Tensors) -> Result<()> {
        for (part, matrix) in [
            ("with_components", &mut self.ze),
            ("with_channels", &mut self.ye),
            ("with_itself", &mut self.ee),
            ("mean", &mut self.mean),
        ] {
            from.read(&format!("{name}.{part}"), matrix)?;
        }
        Ok(())
    }
}
