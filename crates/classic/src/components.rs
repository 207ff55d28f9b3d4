//! What every method starts from: the whitened components Zw (T×K), which of their samples are
//! missing and which are contiguous.
//!
//! In: a matrix with ZwᵀZw/T = I over the complete rows and rows of zeros where a sample is
//! missing, as [`Whitening::transform`](strt_signal::preprocess::Whitening::transform) gives it.
//! Out: moments of it. Missing samples take no part: not in a block, and not in a lagged product
//! that touches one. Both samples of a lagged product are of one piece of the recording.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::error::{Error, Result};
use std::ops::Range;
use strt_signal::columns::col;
use strt_signal::pieces::Pieces;
use strt_signal::rows::RowsView;

/// How far ZwᵀZw/T may be from I. Whitening loses up to eight digits where channels are nearly
/// dependent.
const WHITENESS: f64 = 1e-3;

/// Whitened components of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Components<'a> {
    /// Zw (T×K), 0 in missing rows.
    whitened: MatRef<'a, f64>,
    rows: RowsView<'a>,
    n_complete: usize,
    variances: Option<&'a [f64]>,
}

impl<'a> Components<'a> {
    /// Takes whitened components (T×K, stored by column) of one piece and one flag a sample, true
    /// where it is missing.
    ///
    /// # Errors
    /// When there are no components, a value is not finite, a missing row is not zero, or the
    /// components are not white.
    pub fn new(whitened: MatRef<'a, f64>, missing: Option<&'a [bool]>) -> Result<Components<'a>> {
        let (t, k) = whitened.shape();
        if let Some(missing) = missing.filter(|missing| missing.len() != t) {
            return Err(Error::NoComponents {
                n_samples: t,
                n_components: k,
                n_missing: missing.iter().filter(|&&gone| gone).count(),
            });
        }
        Components::of_rows(whitened, RowsView::new(t, missing))
    }

    /// Takes whitened components (T×K, stored by column) with T rows, which say what is missing and
    /// what is contiguous.
    ///
    /// # Errors
    /// As [`Components::new`].
    pub fn of_rows(whitened: MatRef<'a, f64>, rows: RowsView<'a>) -> Result<Components<'a>> {
        let (t, k) = whitened.shape();
        let n_complete = rows.n_valid();
        if rows.n_samples() != t || k == 0 || n_complete == 0 {
            return Err(Error::NoComponents {
                n_samples: t,
                n_components: k,
                n_missing: rows.n_samples() - n_complete,
            });
        }
        if whitened.row_stride() != 1 {
            return Err(Error::RowMajor);
        }
        let components = Components {
            whitened,
            rows,
            n_complete,
            variances: None,
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

    /// These components with the variances that they had before they were made white, the first K of
    /// those of all components, which say in which of them noise of the channels is strong.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn with_variances(self, variances: &'a [f64]) -> Components<'a> {
        Components {
            variances: Some(&variances[..self.n_components()]),
            ..self
        }
    }

    /// The variance of component k before it was made white, where that is known; else 1.
    pub fn variance(&self, k: usize) -> f64 {
        self.variances.map_or(1.0, |variances| variances[k])
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
        !self.rows.is_valid(t)
    }

    /// Which samples are there, and which of them are contiguous.
    pub fn rows(&self) -> RowsView<'a> {
        self.rows
    }

    /// The pieces that the samples are.
    pub fn pieces(&self) -> Pieces {
        self.rows.to_pieces()
    }

    /// The complete rows, one after the other.
    pub(super) fn complete(&self) -> Mat<f64> {
        let Some(missing) = self.rows.missing() else {
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

    /// Of these lags those that the pieces of the recording have pairs for; all of them where it is
    /// one piece, which is then refused by [`Components::pairs`].
    ///
    /// # Errors
    /// When no lag is left.
    pub(super) fn lags_in_pieces(&self, lags: &[usize]) -> Result<Vec<usize>> {
        if self.rows.pieces().nth(1).is_none() {
            return Ok(lags.to_vec());
        }
        let has_pairs = |lag: &usize| self.pairs(*lag).is_ok();
        let left: Vec<usize> = lags.iter().copied().filter(has_pairs).collect();
        if let (true, Some(&shortest)) = (left.is_empty(), lags.iter().min()) {
            self.pairs(shortest)?;
        }
        Ok(left)
    }

    /// The number of pairs of samples of one piece at this distance of which neither is missing.
    ///
    /// # Errors
    /// When there are no more such pairs than components.
    pub(super) fn pairs(&self, lag: usize) -> Result<usize> {
        let k = self.n_components();
        let early = self.rows.pieces().flat_map(|piece| {
            let end = piece.end.saturating_sub(lag);
            piece.start..end.max(piece.start)
        });
        let n_pairs = early
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
        let k = self.n_components();
        let factor = 1.0 / self.pairs(lag)? as f64;
        let mut covariance = Mat::zeros(k, k);
        // Missing rows are 0 and add nothing.
        lagged_products(
            self.whitened,
            self.rows.pieces(),
            lag,
            factor,
            &mut covariance,
        );
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

/// factor·Σ x_t·x_{t+lag}ᵀ, both samples in one of these pieces, in place of `product`.
pub(super) fn lagged_products(
    x: MatRef<'_, f64>,
    pieces: impl Iterator<Item = Range<usize>>,
    lag: usize,
    factor: f64,
    product: &mut Mat<f64>,
) {
    let mut accum = Accum::Replace;
    for piece in pieces.filter(|piece| piece.len() > lag) {
        let pairs = piece.len() - lag;
        let early = x.subrows(piece.start, pairs);
        let late = x.subrows(piece.start + lag, pairs);
        matmul(
            product.as_mut(),
            accum,
            early.transpose(),
            late,
            factor,
            Par::Seq,
        );
        accum = Accum::Add;
    }
    if matches!(accum, Accum::Replace) {
        product.fill(0.0);
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
    use strt_signal::Recording;
    use strt_signal::preprocess::Whitening;
    use strt_signal::rows::Rows;

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
    fn lagged_products_are_those_of_every_piece_by_itself() {
        let (n, lengths) = (400, [90, 3, 150, 1, 156]);
        let wave = |t: usize, k: usize| ((t * (5 * k + 2)) as f64 * 0.37).sin();
        let raw = Mat::from_fn(n, 2, wave);
        let recording = Recording::from_mat(raw).unwrap();
        let whitening = Whitening::fit(recording.observations(), 2, recording.channel_names());
        let white = whitening
            .unwrap()
            .transform(recording.observations())
            .unwrap();
        let pieces = Pieces::new(&lengths, n).unwrap();
        let rows = Rows::all(n).with_pieces(&pieces);
        let components = Components::of_rows(white.as_ref(), rows.view()).unwrap();
        for lag in [1, 2, 5, 100] {
            let alone = pieces
                .ranges()
                .filter(|piece| piece.len() > lag)
                .map(|piece| {
                    let part = white.as_ref().subrows(piece.start, piece.len());
                    let pairs = part.nrows() - lag;
                    part.subrows(0, pairs).transpose() * part.subrows(lag, pairs)
                });
            let sum = alone.reduce(|sum, next| sum + next).unwrap();
            let n_pairs: usize = lengths.iter().map(|n| n.saturating_sub(lag)).sum();
            assert_eq!(components.pairs(lag).unwrap(), n_pairs);
            let found = components.lagged_covariance(lag).unwrap();
            let expected = (&sum + sum.transpose()) * faer::Scale(0.5 / n_pairs as f64);
            assert!((found - expected).norm_max() < 1e-12, "lag {lag}");
        }
        assert!(components.lagged_covariance(156).is_err());
        assert_eq!(components.lags_in_pieces(&[1, 200, 3]).unwrap(), [1, 3]);
        let message = components.lags_in_pieces(&[200, 300]).unwrap_err();
        assert!(message.to_string().contains("lag 200"), "{message}");
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
