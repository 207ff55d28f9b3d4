//! Whether the values of a source, whatever their order, are those of a Gaussian.

use super::judged::Judged;
use strt_signal::columns::col;

/// Standard errors by which skewness and kurtosis of a Gaussian may be off.
const ERRORS: f64 = 4.0;

/// By skewness and kurtosis of independent samples: it is asked of sources that look white.
pub(super) fn is_gaussian(judged: &Judged, source: usize) -> bool {
    let values = col(judged.values.as_ref(), source);
    let n = judged.rows.n_valid() as f64;
    let mean = |power: i32| values.iter().map(|v| v.powi(power)).sum::<f64>() / n;
    let (skewness, kurtosis) = (mean(3), mean(4) - 3.0);
    skewness.abs() < ERRORS * (6.0 / n).sqrt() && kurtosis.abs() < ERRORS * (24.0 / n).sqrt()
}
