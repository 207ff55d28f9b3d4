//! The samples of one source that a step looks at, and nothing else of it.
//!
//! A step reads a source in the windows of its jobs and in the block. Windows overlap, so their
//! union is kept as disjoint *stretches* whose samples lie one after another in `s`, and their
//! gradient in `d`.

use super::basis::Basis;
use std::ops::Range;

/// A run of consecutive samples and where it lies in the buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// First sample.
    pub first: usize,
    /// Number of samples.
    pub len: usize,
    /// Its place in [`Column::s`] and [`Column::d`].
    pub at: usize,
}

impl Stretch {
    /// Its place in the buffers.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.len
    }
}

/// The touched part of one source.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Disjoint, ascending.
    pub stretches: Vec<Stretch>,
    /// S at the touched samples, 0 where missing.
    pub s: Vec<f64>,
    /// ∂J/∂S there.
    pub d: Vec<f64>,
    weights: Vec<f64>,   // V·a (m)
    products: Vec<f64>,  // Σ Y·d (m)
    projected: Vec<f64>, // Σ Zw·d (K)
    windows: Vec<(usize, usize)>,
}

impl Column {
    /// Room for windows of `capacity` samples in all.
    pub fn new(n_windows: usize, capacity: usize, basis: &Basis) -> Column {
        let (n_components, n_channels) = basis.zy.shape();
        Column {
            stretches: Vec::with_capacity(n_windows),
            s: Vec::with_capacity(capacity),
            d: Vec::with_capacity(capacity),
            weights: vec![0.0; n_channels],
            products: vec![0.0; n_channels],
            projected: vec![0.0; n_components],
            windows: Vec::with_capacity(n_windows),
        }
    }

    /// Covers these windows, given as (first sample, length), with the samples of S = Zw·a + e; the
    /// gradient is 0.
    pub fn cover(
        &mut self,
        windows: impl Iterator<Item = (usize, usize)>,
        basis: &Basis,
        a: Option<&[f64]>,
        e: Option<&[f64]>,
    ) {
        self.windows.clear();
        self.windows.extend(windows);
        self.windows.sort_unstable();
        self.stretches.clear();
        let mut at = 0;
        for &(first, len) in &self.windows {
            match self.stretches.last_mut() {
                Some(last) if first <= last.first + last.len => {
                    let longer = (first + len).saturating_sub(last.first + last.len);
                    last.len += longer;
                    at += longer;
                }
                _ => {
                    self.stretches.push(Stretch { first, len, at });
                    at += len;
                }
            }
        }
        self.s.clear();
        self.s.resize(at, 0.0);
        self.d.clear();
        self.d.resize(at, 0.0);
        let constant = a.map(|a| basis.weights(a, &mut self.weights));
        for stretch in &self.stretches {
            let s = &mut self.s[stretch.range()];
            if let Some(constant) = constant {
                basis
                    .observations
                    .combine(stretch.first, &self.weights, constant, s);
            }
            if let Some(e) = e {
                s.iter_mut()
                    .zip(&e[stretch.first..])
                    .for_each(|(s, e)| *s += e);
                basis.rows().zero_missing_from(stretch.first, s);
            }
        }
    }

    /// Where samples first..first + len, which a window covered, lie in the buffers.
    pub fn range(&self, first: usize, len: usize) -> Range<usize> {
        let after = self.stretches.partition_point(|s| s.first <= first);
        let stretch = self.stretches[after - 1];
        let at = stretch.at + first - stretch.first;
        at..at + len
    }

    /// Σ_t Y_tc·d_t (m) and Σ_t d_t over all touched samples.
    pub fn products(&mut self, basis: &Basis) -> (&[f64], f64) {
        self.products.fill(0.0);
        for stretch in &self.stretches {
            let d = &mut self.d[stretch.range()];
            basis.rows().zero_missing_from(stretch.first, d);
            basis
                .observations
                .add_products(stretch.first, d, &mut self.products);
        }
        (&self.products, self.d.iter().sum())
    }

    /// Computes Σ_t Zw_tj·d_t over all touched samples: what their gradient means for A.
    pub fn project(&mut self, basis: &Basis) {
        let mut projected = std::mem::take(&mut self.projected);
        projected.fill(0.0);
        let (products, total) = self.products(basis);
        basis.add_whitened(products, total, 1.0, &mut projected);
        self.projected = projected;
    }

    /// What [`Column::project`] computed (K).
    pub fn projected(&self) -> &[f64] {
        &self.projected
    }
}
