//! The scaled channels Y (T×m) without a copy of the recording: every value is scaled where it is
//! read.
//!
//! In: a recording and its [`ChannelScaling`]. Out: rows of Y, or weighted sums of them over a
//! stretch of samples. Missing samples read as 0. This is what lets a long recording be trained in
//! the memory that it occupies anyway.

use super::ChannelScaling;
use super::whitening::Values;
use crate::Recording;
use crate::columns::{col, col_mut};
use crate::rows::Rows;
use faer::{Mat, MatMut, MatRef};
use std::ops::Range;
use std::sync::Arc;

/// Rows of Y on demand.
#[derive(Clone, Debug)]
pub struct Observations {
    raw: Arc<Mat<f64>>,
    scaling: ChannelScaling,
    rows: Rows,
}

impl Observations {
    /// The channels of `recording`, scaled.
    pub fn new(recording: &Recording, scaling: &ChannelScaling) -> Observations {
        Observations {
            raw: recording.shared(),
            scaling: scaling.clone(),
            rows: Rows::of(recording),
        }
    }

    /// Which samples are there.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// m.
    pub fn n_channels(&self) -> usize {
        self.raw.ncols()
    }

    /// Y[first.., :] → `out`, as many rows as it has.
    pub fn read(&self, first: usize, mut out: MatMut<'_, f64>) {
        let stretch = first..first + out.nrows();
        for c in 0..self.n_channels() {
            let (offset, scale) = (self.scaling.offset()[c], self.scaling.scale()[c]);
            let out = col_mut(out.as_mut(), c);
            for (slot, raw) in out.iter_mut().zip(&self.channel(c)[stretch.clone()]) {
                *slot = (raw - offset) / scale;
            }
            self.rows.zero_missing_from(first, out);
        }
    }

    /// out_t = Σ_c Y_tc·weights_c + constant over a stretch of samples.
    pub fn combine(&self, first: usize, weights: &[f64], constant: f64, out: &mut [f64]) {
        out.fill(constant);
        for c in 0..self.n_channels() {
            let (offset, weight) = (
                self.scaling.offset()[c],
                weights[c] / self.scaling.scale()[c],
            );
            for (slot, raw) in out.iter_mut().zip(&self.channel(c)[first..]) {
                *slot += (raw - offset) * weight;
            }
        }
        self.rows.zero_missing_from(first, out);
    }

    /// The adjoint of [`Observations::combine`]: sums_c += Σ_t Y_tc·values_t over a stretch of
    /// samples. `values` is 0 where a sample is missing.
    pub fn add_products(&self, first: usize, values: &[f64], sums: &mut [f64]) {
        let stretch = first..first + values.len();
        for (c, sum) in sums.iter_mut().enumerate() {
            let (offset, scale) = (self.scaling.offset()[c], self.scaling.scale()[c]);
            let raw = &self.channel(c)[stretch.clone()];
            *sum += if self.rows.missing().is_none() {
                centred_product(raw, offset, values)
            } else {
                // A missing sample is NaN in the recording, and NaN·0 is not 0.
                raw.iter()
                    .zip(values)
                    .filter(|&(_, &v)| v != 0.0)
                    .map(|(r, v)| (r - offset) * v)
                    .sum()
            } / scale;
        }
    }

    fn channel(&self, c: usize) -> &[f64] {
        col((*self.raw).as_ref(), c)
    }
}

/// Σ_t (raw_t − offset)·values_t in eight partial sums, so that it vectorises.
pub fn centred_product(raw: &[f64], offset: f64, values: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((raw, raw_rest), (values, values_rest)) = (raw.as_chunks::<8>(), values.as_chunks::<8>());
    for (raw, values) in raw.iter().zip(values) {
        for i in 0..8 {
            sums[i] += (raw[i] - offset) * values[i];
        }
    }
    let rest: f64 = raw_rest
        .iter()
        .zip(values_rest)
        .map(|(r, v)| (r - offset) * v)
        .sum();
    sums.iter().sum::<f64>() + rest
}

impl Values for Observations {
    fn shape(&self) -> (usize, usize) {
        self.raw.shape()
    }

    #[inline]
    fn at(&self, t: usize, c: usize) -> f64 {
        (self.raw[(t, c)] - self.scaling.offset()[c]) / self.scaling.scale()[c]
    }
}

/// Rows of Y, wherever they lie.
pub trait ReadRows {
    /// Rows first.. → `out`, as many as it has; 0 in missing rows.
    fn read_rows(&self, first: usize, out: MatMut<'_, f64>);
}

impl ReadRows for MatRef<'_, f64> {
    fn read_rows(&self, first: usize, mut out: MatMut<'_, f64>) {
        let n = out.nrows();
        out.copy_from(self.subrows(first, n));
    }
}

/// A stretch of the observations, counted from its beginning.
pub struct Stretch<'a> {
    /// All of them.
    pub observations: &'a Observations,
    /// Which of their samples.
    pub samples: Range<usize>,
}

impl ReadRows for Stretch<'_> {
    fn read_rows(&self, first: usize, out: MatMut<'_, f64>) {
        self.observations.read(self.samples.start + first, out);
    }
}
