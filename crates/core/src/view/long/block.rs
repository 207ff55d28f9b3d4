//! The block: one random run of consecutive samples of all sources, which stands for the whole
//! recording.

use super::basis::Basis;
use super::column::Column;
use super::moments::SourceMoments;
use crate::preprocess::observations::Stretch;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use strt_signal::columns::{col, col_mut};

/// Samples of all sources, and a gradient in them.
pub(super) struct Block {
    /// First sample.
    pub start: usize,
    /// S or Z there (B×K).
    pub values: Mat<f64>,
    /// J's gradient in `values` (B×K).
    pub gradient: Mat<f64>,
    y: Mat<f64>, // Y there (B×m)
}

impl Block {
    pub fn new(len: usize, n_sources: usize, n_channels: usize) -> Block {
        Block {
            start: 0,
            values: Mat::zeros(len, n_sources),
            gradient: Mat::zeros(len, n_sources),
            y: Mat::zeros(len, n_channels),
        }
    }

    /// B.
    pub fn len(&self) -> usize {
        self.values.nrows()
    }

    /// Y there, on demand.
    pub fn observations<'a>(&self, basis: &'a Basis) -> Stretch<'a> {
        Stretch {
            observations: &basis.observations,
            samples: self.start..self.start + self.len(),
        }
    }

    /// S or Z of the block → `values`, with the gradient 0.
    pub fn fill(
        &mut self,
        columns: &[Column],
        moments: &SourceMoments,
        standardized: bool,
        basis: &Basis,
    ) {
        let len = self.len();
        self.gradient.fill(0.0);
        for (k, column) in columns.iter().enumerate() {
            let values = col_mut(self.values.as_mut(), k);
            values.copy_from_slice(&column.s[column.range(self.start, len)]);
            if standardized {
                let (mean, divisor) = moments.gauge.of(k);
                values.iter_mut().for_each(|v| *v = (*v - mean) / divisor);
                basis.rows().zero_missing_from(self.start, values);
            }
        }
    }

    /// The adjoint of [`Block::fill`]: `gradient` → columns and gauge.
    pub fn give_back(
        &mut self,
        columns: &mut [Column],
        moments: &mut SourceMoments,
        standardized: bool,
        basis: &Basis,
    ) {
        let len = self.len();
        for (k, column) in columns.iter_mut().enumerate() {
            let gradient = col_mut(self.gradient.as_mut(), k);
            basis.rows().zero_missing_from(self.start, gradient);
            let values = col(self.values.as_ref(), k);
            let divisor = if standardized {
                moments.gauge.divisor(k)
            } else {
                1.0
            };
            let range = column.range(self.start, len);
            let (mut sum, mut dot) = (0.0, 0.0);
            for ((slot, &d), &z) in column.d[range].iter_mut().zip(&*gradient).zip(values) {
                *slot += d / divisor;
                sum += d;
                dot += d * z;
            }
            if standardized {
                moments.add_gauge_gradient(k, sum, dot);
            }
        }
    }

    /// The gradient of the moments in E, (S·d_Q + d_s̄ + Y·d_C_syᵀ)/T, in the block and T/B times
    /// as large; after [`SourceMoments::close`].
    pub fn add_moments(&mut self, columns: &mut [Column], moments: &SourceMoments, basis: &Basis) {
        self.fill(columns, moments, false, basis);
        let (rows, len, d) = (basis.rows(), self.len(), &moments.d_s);
        let weight = rows.n_samples() as f64 / (rows.n_valid() as f64 * len as f64);
        let gradient = &mut self.gradient;
        basis.observations.read(self.start, self.y.as_mut());
        matmul(
            gradient.as_mut(),
            Accum::Replace,
            &self.values,
            &d.uu,
            weight,
            Par::Seq,
        );
        matmul(
            gradient.as_mut(),
            Accum::Add,
            &self.y,
            d.uy.transpose(),
            weight,
            Par::Seq,
        );
        for (k, column) in columns.iter_mut().enumerate() {
            let gradient = col_mut(gradient.as_mut(), k);
            gradient.iter_mut().for_each(|g| *g += weight * d.mean[k]);
            rows.zero_missing_from(self.start, gradient);
            let range = column.range(self.start, len);
            column.d[range]
                .iter_mut()
                .zip(&*gradient)
                .for_each(|(d, g)| *d += g);
        }
    }
}
