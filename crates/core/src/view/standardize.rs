//! Column standardisation z = (s − μ)/(σ + ε), and its gradient. Rows that are missing take no part
//! and stay 0.

use crate::view::gauge::Gauge;
use faer::{Mat, MatMut, MatRef};
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::Rows;

/// Standardised sources with the statistics that produced them.
pub(crate) struct Standardize {
    /// Z (T×K).
    pub z: Mat<f64>,
    /// μ and σ.
    pub gauge: Gauge,
}

impl Standardize {
    pub fn new(n_samples: usize, n_sources: usize, epsilon: f64) -> Standardize {
        Standardize {
            z: Mat::zeros(n_samples, n_sources),
            gauge: Gauge::new(n_sources, epsilon),
        }
    }

    /// Fills `z` and the gauge from S (T×K).
    pub fn forward(&mut self, s: MatRef<'_, f64>, rows: &Rows) {
        let n = rows.n_valid() as f64;
        for k in 0..s.ncols() {
            let (column, z) = (col(s, k), col_mut(self.z.as_mut(), k));
            z.copy_from_slice(column);
            if self.gauge.fixed {
                let factor = 1.0 / self.gauge.divisor(k);
                let mean = self.gauge.mean[k];
                let z = col_mut(self.z.as_mut(), k);
                z.iter_mut().for_each(|v| *v = (*v - mean) * factor);
                rows.zero_missing(z);
                continue;
            }
            rows.zero_missing(z);
            let mean = z.iter().sum::<f64>() / n;
            z.iter_mut().for_each(|v| *v -= mean);
            rows.zero_missing(z);
            let deviation = (z.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
            (self.gauge.mean[k], self.gauge.deviation[k]) = (mean, deviation);
            let factor = 1.0 / self.gauge.divisor(k);
            z.iter_mut().for_each(|v| *v *= factor);
        }
    }

    /// d_s += ∂J/∂s. With v = s − μ: d_v = d_z/(σ+ε) − z·Σ(d_z z)/(T σ), then d_s = d_v −
    /// mean(d_v).
    pub fn backward(&self, d_z: MatRef<'_, f64>, rows: &Rows, mut d_s: MatMut<'_, f64>) {
        let n = rows.n_valid() as f64;
        for k in 0..d_z.ncols() {
            let (d_z, z) = (col(d_z, k), col(self.z.as_ref(), k));
            let d_s = col_mut(d_s.as_mut(), k);
            // Missing rows have z = 0, so only d_z needs care there.
            let (mut sum, mut dot) = (0.0, 0.0);
            rows.for_each_valid(|t| {
                sum += d_z[t];
                dot += d_z[t] * z[t];
            });
            let factor = 1.0 / self.gauge.divisor(k);
            if self.gauge.fixed {
                rows.for_each_valid(|t| d_s[t] += factor * d_z[t]);
                continue;
            }
            // A constant source has no direction in which its deviation changes.
            let pull = if self.gauge.deviation[k] > 0.0 {
                dot / (n * self.gauge.deviation[k])
            } else {
                0.0
            };
            let mean = factor * sum / n; // Σz = 0, so the second part of d_v has mean 0
            rows.for_each_valid(|t| d_s[t] += factor * d_z[t] - pull * z[t] - mean);
        }
    }
}
