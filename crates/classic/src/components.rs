//! What every method starts from: the whitened components Zw (T×K) and which of their samples are
//! missing.
//!
//! In: a matrix with ZwᵀZw/T = I over the complete rows and rows of zeros where a sample is
//! missing, as [`Whitening::transform`](strt_signal::preprocess::Whitening::transform) gives it.
//! Out: moments of it. Missing samples take no part: not in a block, and not in a lagged product
//! that touches one.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::error::{Error, Result};
use strt_signal::columns::col;

/// How far ZwᵀZw/T may be from I. Whitening loses up to eight digits where channels are nearly
/// dependent.
const WHITENESS: f64 = 1e-3;

/// Whitened components of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Components<'a> {
    /// Zw (T×K), 0 in missing rows.
    whitened: MatRef<'a, f64>,
    missing: Option<&'a [bool]>,
    n_complete: usize,
}

impl<'a> Components<'a> {
    /// Takes whitened components (T×K, stored by column) and one flag a sample, true where it is
    /// missing.
    ///
    /// # Errors
    /// When there are no components, a value is not finite, a missing row is not zero, or the
    /// components are not white.
    pub fn new(whitened: MatRef<'a, f64>, missing: Option<&'a [bool]>) -> Result<Components<'a>> {
        let (t, k) = whitened.shape();
        let n_missing = missing.map_or(0, |missing| missing.iter().filter(|&&gone| gone).count());
        if missing.is_some_and(|missing| missing.len() != t) || k == 0 || n_missing == t {
            return Err(Error::NoComponents {
                n_samples: t,
                n_components: k,
                n_missing,
            });
        }
        if whitened.row_stride() != 1 {
            return Err(Error::RowMajor);
        }
        let components = Components {
            whitened,
            missing,
            n_complete: t - n_missing,
        };
        for j in 0..k {
            let unusable = |&t: &usize| {
                !whitened[(t, j)].is_finite() || components.is_missing(t) && whitened[(t, j)] != 0.0
            };
            if let Some(t) = (0..t).find(unusable) {
                return Err(Error::ComponentValue {
                    sample: t,
                    component: j,
                    found: whitened[(t, j)],
                });
            }
        }
        components.check_white()?;
        Ok(components)
    }

    fn check_white(&self) -> Result<()> {
        let covariance = products(self.whitened, self.whitened, self.n_complete);
        let k = self.n_components();
        let furthest = (0..k)
            .flat_map(|i| (0..k).map(move |j| (i, j)))
            .map(|(i, j)| (covariance[(i, j)] - f64::from(i == j)).abs())
            .fold(0.0, f64::max);
        if furthest <= WHITENESS {
            return Ok(());
        }
        Err(Error::NotWhite {
            furthest,
            allowed: WHITENESS,
        })
    }

    /// Zw (T×K).
    pub fn whitened(&self) -> MatRef<'a, f64> {
        self.whitened
    }

    /// Number of samples T, missing ones included.
    pub fn n_samples(&self) -> usize {
        self.whitened.nrows()
    }

    /// Number of components K.
    pub fn n_components(&self) -> usize {
        self.whitened.ncols()
    }

    /// Number of samples that are there.
    pub fn n_complete(&self) -> usize {
        self.n_complete
    }

    /// Whether sample t is missing.
    pub fn is_missing(&self, t: usize) -> bool {
        self.missing.is_some_and(|missing| missing[t])
    }

    /// The complete rows, one after the other.
    pub(super) fn complete(&self) -> Mat<f64> {
        let Some(missing) = self.missing else {
            return self.whitened.to_owned();
        };
        let mut complete = Mat::zeros(self.n_complete, self.n_components());
        for j in 0..self.n_components() {
            let kept = col(self.whitened, j)
                .iter()
                .zip(missing)
                .filter(|(_, gone)| !**gone);
            for (slot, (value, _)) in complete.col_as_slice_mut(j).iter_mut().zip(kept) {
                *slot = *value;
            }
        }
        complete
    }

    /// S = Zw·A (T×K), NaN in missing rows.
    pub(super) fn sources(&self, unmixing: MatRef<'_, f64>) -> Mat<f64> {
        let mut sources = Mat::zeros(self.n_samples(), unmixing.ncols());
        matmul(
            &mut sources,
            Accum::Replace,
            self.whitened,
            unmixing,
            1.0,
            Par::Seq,
        );
        for t in (0..self.n_samples()).filter(|&t| self.is_missing(t)) {
            for k in 0..unmixing.ncols() {
                sources[(t, k)] = f64::NAN;
            }
        }
        sources
    }

    /// The number of pairs of samples at this distance of which neither is missing.
    ///
    /// # Errors
    /// When there are no more such pairs than components.
    pub(super) fn pairs(&self, lag: usize) -> Result<usize> {
        let (t, k) = self.whitened.shape();
        let n_pairs = (0..t.saturating_sub(lag))
            .filter(|&early| !self.is_missing(early) && !self.is_missing(early + lag))
            .count();
        if n_pairs > k {
            return Ok(n_pairs);
        }
        Err(Error::TooFewPairs {
            lag,
            n_pairs,
            n_sources: k,
        })
    }

    /// The symmetrised covariance at a lag, over the pairs of which neither sample is missing:
    /// R_h = ½(C_h + C_hᵀ), C_h = mean of z_t·z_{t+h}ᵀ.
    ///
    /// # Errors
    /// When there are no more such pairs than components.
    pub fn lagged_covariance(&self, lag: usize) -> Result<Mat<f64>> {
        let (t, k) = self.whitened.shape();
        let n_pairs = self.pairs(lag)?;
        // Missing rows are 0 and add nothing.
        let (early, late) = (
            self.whitened.subrows(0, t - lag),
            self.whitened.subrows(lag, t - lag),
        );
        let covariance = products(early, late, n_pairs);
        Ok(Mat::from_fn(k, k, |i, j| {
            0.5 * (covariance[(i, j)] + covariance[(j, i)])
        }))
    }

    /// Second moments of `n_blocks` successive stretches with equal numbers of complete samples,
    /// about the mean of the whole recording.
    pub(super) fn block_covariances(&self, n_blocks: usize) -> Vec<Mat<f64>> {
        let complete = self.complete();
        let start = |block: usize| block * self.n_complete / n_blocks;
        (0..n_blocks)
            .map(|block| {
                let n = start(block + 1) - start(block);
                let rows = complete.as_ref().subrows(start(block), n);
                products(rows, rows, n)
            })
            .collect()
    }
}

/// leftᵀ·right / n.
pub(super) fn products(left: MatRef<'_, f64>, right: MatRef<'_, f64>, n: usize) -> Mat<f64> {
    let mut product = Mat::zeros(left.ncols(), right.ncols());
    matmul(
        &mut product,
        Accum::Replace,
        left.transpose(),
        right,
        1.0 / n as f64,
        Par::Seq,
    );
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of an 8×8 Hadamard matrix: white over every pair of rows that the tests keep.
    fn hadamard(t: usize, k: usize) -> f64 {
        if (t & (k + 1)).count_ones().is_multiple_of(2) {
            1.0
        } else {
            -1.0
        }
    }

    #[test]
    fn what_is_not_white_finite_or_zero_where_missing_is_refused() {
        let refused = |values: &Mat<f64>, missing: Option<&[bool]>| {
            Components::new(values.as_ref(), missing)
                .unwrap_err()
                .to_string()
        };
        let good = Mat::from_fn(8, 3, hadamard);
        assert!(Components::new(good.as_ref(), None).is_ok());
        assert!(
            refused(&Mat::from_fn(8, 3, |t, k| 2.0 * hadamard(t, k)), None)
                .contains("whiten them first")
        );
        let mut nan = good.clone();
        nan[(5, 1)] = f64::NAN;
        assert!(refused(&nan, None).contains("sample 5 of whitened component 1"));
        assert!(
            refused(
                &good,
                Some(&[true, false, false, false, false, false, false, false])
            )
            .contains("0 where")
        );
        assert!(refused(&good, Some(&[true; 8])).contains("8 of them missing"));
        assert!(refused(&good, Some(&[false])).contains("one flag a sample"));
        assert!(refused(&Mat::zeros(8, 0), None).contains("0 components"));
        let rows = Mat::from_fn(3, 8, |k, t| hadamard(t, k));
        assert!(Components::new(rows.transpose(), None).is_err());
    }

    #[test]
    fn lagged_products_that_touch_a_missing_sample_are_left_out() {
        let (n, lag) = (4000, 3);
        let wave = |t: usize| 2f64.sqrt() * (t as f64 * std::f64::consts::TAU / 40.0).sin();
        let gone: Vec<bool> = (0..n).map(|t| t % 40 < 20 && (t / 40) % 2 == 0).collect();
        let complete = Mat::from_fn(n, 1, |t, _| wave(t));
        // Half of every other period is missing: symmetric, so the rest is as white as before.
        let gappy = Mat::from_fn(n, 1, |t, _| if gone[t] { 0.0 } else { wave(t) });
        let components = Components::new(gappy.as_ref(), Some(&gone)).unwrap();
        let found = components.lagged_covariance(lag).unwrap()[(0, 0)];
        let pairs: Vec<f64> = (0..n - lag)
            .filter(|&t| !gone[t] && !gone[t + lag])
            .map(|t| complete[(t, 0)] * complete[(t + lag, 0)])
            .collect();
        let expected = pairs.iter().sum::<f64>() / pairs.len() as f64;
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} against {expected}"
        );
        assert_eq!(components.complete().nrows(), components.n_complete());
        assert_eq!(components.complete()[(0, 0)], wave(20));
    }

    #[test]
    fn too_few_pairs_are_refused() {
        let good = Mat::from_fn(8, 3, hadamard);
        let components = Components::new(good.as_ref(), None).unwrap();
        assert!(components.lagged_covariance(4).is_ok());
        for lag in [5, 8, 100] {
            let message = components.lagged_covariance(lag).unwrap_err().to_string();
            assert!(
                message.contains(&format!("lag {lag}")) && message.contains("longer"),
                "{message}"
            );
        }
    }

    #[test]
    fn blocks_share_out_the_complete_samples() {
        let good = Mat::from_fn(8, 3, hadamard);
        let components = Components::new(good.as_ref(), None).unwrap();
        let blocks = components.block_covariances(3);
        assert_eq!(blocks.len(), 3);
        // 2, 3 and 3 samples, which together are all of them.
        let sum = 2.0 * blocks[0][(0, 1)] + 3.0 * blocks[1][(0, 1)] + 3.0 * blocks[2][(0, 1)];
        assert!(sum.abs() < 1e-12 && (blocks[1][(2, 2)] - 1.0).abs() < 1e-12);
    }
}
