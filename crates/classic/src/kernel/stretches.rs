//! What is looked at of a recording where its samples are needed and not only their moments: all of
//! it, or of a long one some stretches, evenly spread.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::ops::Range;
use strt_signal::rows::RowsView;

use super::innovations::reach;

/// Stretches of a long recording.
const STRETCHES: usize = 8;

/// Samples of components, one stretch after the other.
#[derive(Clone, Debug)]
pub(super) struct Stretches {
    /// n×K.
    pub samples: Mat<f64>,
    /// How many samples that end with each one are contiguous and there.
    pub reach: Vec<u32>,
}

impl Stretches {
    /// At most `most` samples of components (T×K, 0 in missing rows).
    pub fn new(components: MatRef<'_, f64>, rows: RowsView<'_>, most: usize) -> Stretches {
        let (t, k) = components.shape();
        let stretches = stretches(t, most);
        let n = stretches.iter().map(|stretch| stretch.len()).sum();
        let mut samples = Mat::zeros(n, k);
        let mut all = Vec::with_capacity(n);
        for stretch in stretches {
            let mut own = samples.as_mut().subrows_mut(all.len(), stretch.len());
            all.extend(reach(rows.part(stretch.clone())));
            own.copy_from(components.subrows(stretch.start, stretch.len()));
        }
        Stretches {
            samples,
            reach: all,
        }
    }

    /// The sources of A in place of `s` (n×K).
    pub fn unmix(&self, a: &Mat<f64>, s: &mut Mat<f64>) {
        matmul(s.as_mut(), Accum::Replace, &self.samples, a, 1.0, Par::Seq);
    }

    /// Adds the gradient in A that a gradient in the sources has.
    pub fn pull_back(&self, d_s: &Mat<f64>, d_a: &mut Mat<f64>) {
        let samples = self.samples.transpose();
        matmul(d_a.as_mut(), Accum::Add, samples, d_s, 1.0, Par::Seq);
    }
}

/// What is looked at of T samples.
fn stretches(n_samples: usize, most: usize) -> Vec<Range<usize>> {
    let (n, length) = if n_samples <= most {
        (1, n_samples)
    } else {
        (STRETCHES, most / STRETCHES)
    };
    let step = (n_samples - length) / (n - 1).max(1);
    (0..n).map(|i| i * step..i * step + length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_apart_and_lie_in_the_recording() {
        let whole = stretches(8192, 8192);
        assert_eq!((whole.len(), &whole[0]), (1, &(0..8192)));
        for n in [8193, 10_000, 1_000_003] {
            let found = stretches(n, 8192);
            assert_eq!(found.len(), 8);
            assert!(found.windows(2).all(|pair| pair[0].end <= pair[1].start));
            assert!(found[7].end <= n);
        }
    }
}
