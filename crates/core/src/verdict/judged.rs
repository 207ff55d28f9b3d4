//! The sources as verdicts see them: mean 0, variance 1, 0 in missing samples.

use crate::{Error, Recording, Result};
use faer::{Mat, MatRef};
use std::ops::Range;
use strt_signal::columns::{col, col_mut};
use strt_signal::moments::Moments;
use strt_signal::pieces::Pieces;
use strt_signal::rows::Rows;

/// Standardised sources (T×K), and which of their samples are there.
pub(super) struct Judged {
    pub values: Mat<f64>,
    pub rows: Rows,
}

impl Judged {
    /// Refuses a recording of another length, and sources that are not finite where the recording
    /// is.
    pub fn new(sources: MatRef<'_, f64>, recording: &Recording) -> Result<Judged> {
        let (t, k) = sources.shape();
        if recording.n_samples() != t {
            return Err(Error::Shape {
                what: "samples of the recording whose sources are judged",
                expected: t.to_string(),
                found: recording.n_samples().to_string(),
            });
        }
        let rows = Rows::of(recording);
        let mut values = Mat::zeros(t, k);
        for source in 0..k {
            let column = col(sources, source);
            let there = || (0..t).filter(|&t| rows.is_valid(t)).map(|t| column[t]);
            if there().any(|value| !value.is_finite()) {
                return Err(Error::VerdictDiverged);
            }
            let moments = Moments::of(there());
            if !moments.constant {
                let slot = col_mut(values.as_mut(), source);
                rows.for_each_valid(|t| slot[t] = moments.standardize(column[t]));
            }
        }
        Ok(Judged { values, rows })
    }

    /// T.
    pub fn n_samples(&self) -> usize {
        self.values.nrows()
    }

    /// K.
    pub fn n_sources(&self) -> usize {
        self.values.ncols()
    }

    /// Which samples are contiguous.
    pub fn pieces(&self) -> Pieces {
        self.rows.to_pieces()
    }

    /// Whether sample t is missing.
    pub fn is_missing(&self, t: usize) -> bool {
        !self.rows.is_valid(t)
    }

    /// These samples of these sources.
    pub fn part(&self, samples: Range<usize>, sources: &[usize]) -> Judged {
        let (first, n) = (samples.start, samples.len());
        let pieces = self.pieces().cut(samples.clone());
        let missing: Vec<bool> = samples.map(|t| self.is_missing(t)).collect();
        Judged {
            values: Mat::from_fn(n, sources.len(), |t, k| {
                self.values[(first + t, sources[k])]
            }),
            rows: Rows::new(&missing).with_pieces(&pieces),
        }
    }

    /// These sources with correlations of 0 between any two of them, each as near as can be to what
    /// it was; `None` where one is a combination of others.
    pub fn whitened(&self) -> Option<Mat<f64>> {
        let n = self.rows.n_valid() as f64;
        let covariance = faer::Scale(1.0 / n) * (self.values.transpose() * &self.values);
        let eigen = covariance.self_adjoint_eigen(faer::Side::Lower).ok()?;
        let (u, values) = (eigen.U(), eigen.S());
        let k = self.n_sources();
        let least = (0..k).map(|i| values[i]).fold(f64::INFINITY, f64::min);
        if least.is_nan() || least < 1e-6 {
            return None;
        }
        let scaled = Mat::from_fn(k, k, |i, j| u[(i, j)] / values[j].sqrt());
        Some(&self.values * (scaled * u.transpose()))
    }
}
