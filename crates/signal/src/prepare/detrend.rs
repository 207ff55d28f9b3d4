//! The straight line through every channel, by least squares over the samples that are there, taken
//! out of it.

use faer::Mat;
use std::ops::Range;

/// Takes the line through these samples out of them in every column; `missing` has one flag a row.
pub fn detrend(values: &mut Mat<f64>, missing: &[bool], samples: Range<usize>) {
    let all = missing.iter().enumerate();
    let rows = || {
        let within = all.clone().take(samples.end).skip(samples.start);
        within.filter(|(_, gone)| !**gone)
    };
    let count = rows().count() as f64;
    if count == 0.0 {
        return;
    }
    let middle = rows().map(|(t, _)| t as f64).sum::<f64>() / count;
    let spread: f64 = rows().map(|(t, _)| (t as f64 - middle).powi(2)).sum();
    for channel in 0..values.ncols() {
        let column = values.col_as_slice_mut(channel);
        let mean = rows().map(|(t, _)| column[t]).sum::<f64>() / count;
        let moved: f64 = rows()
            .map(|(t, _)| (t as f64 - middle) * (column[t] - mean))
            .sum();
        // A single sample has no slope.
        let slope = if spread > 0.0 { moved / spread } else { 0.0 };
        for t in samples.clone() {
            column[t] -= mean + slope * (t as f64 - middle);
        }
    }
}
