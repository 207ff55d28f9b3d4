//! Whitening: principal components with unit variance, the fiber coordinates of the sources.
//!
//! In: prepared observations (T × m), of which rows with a NaN are missing. Out: Zw = (Y −
//! mean)·V·Λ^(−1/2) (T × K) with ZwᵀZw/T = I over the T complete rows, from the covariance V·Λ·Vᵀ
//! of the channels. Work is done in blocks of rows, so that no second T × m copy exists. It never
//! returns fewer components than asked for.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};

use super::rank::RankReport;
use crate::error::{Error, Result};
use crate::recording::missing_samples;

/// Eigenvalues above this share of the largest count towards the rank of the recording.
pub const DEFAULT_RANK_TOLERANCE: f64 = 1e-10;

/// Rows per block: large enough for a fast product, small enough to stay in cache for tens of
/// channels.
const BLOCK_ROWS: usize = 1024;

/// Loadings this close to the largest one tie with it; the first of them decides the sign.
const SIGN_TIE: f64 = 1e-9;

/// Prepared values by sample and channel, NaN where missing, whether they lie in memory or are made
/// on the way.
pub trait Values {
    /// (T, m).
    fn shape(&self) -> (usize, usize);
    /// Value of channel c at sample t.
    fn at(&self, t: usize, c: usize) -> f64;
}

impl Values for MatRef<'_, f64> {
    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.ncols())
    }

    #[inline]
    fn at(&self, t: usize, c: usize) -> f64 {
        self[(t, c)]
    }
}

/// A fitted map from m channels to K uncorrelated components of unit variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Whitening {
    mean: Vec<f64>,
    /// V·Λ^(−1/2), m × K.
    matrix: Mat<f64>,
    /// All m eigenvalues of the covariance, descending.
    eigenvalues: Vec<f64>,
}

impl Whitening {
    /// Fits on the complete rows of `prepared` with [`DEFAULT_RANK_TOLERANCE`].
    ///
    /// `channel_names` (one per column) are used in messages only.
    ///
    /// # Errors
    /// [`Error::NoSources`] and [`Error::LowRank`] when `n_components` is 0, above the number of
    /// channels or above the numerical rank; the message names the channels that are constant or
    /// copies of others.
    pub fn fit(
        prepared: MatRef<'_, f64>,
        n_components: usize,
        channel_names: &[String],
    ) -> Result<Self> {
        Self::fit_with_tolerance(
            prepared,
            n_components,
            channel_names,
            DEFAULT_RANK_TOLERANCE,
        )
    }

    /// [`Whitening::fit`] with another `rank_tolerance`, a share of the largest eigenvalue.
    ///
    /// # Errors
    /// As [`Whitening::fit`], and when the tolerance is not in [0, 1).
    pub fn fit_with_tolerance(
        prepared: MatRef<'_, f64>,
        n_components: usize,
        channel_names: &[String],
        rank_tolerance: f64,
    ) -> Result<Self> {
        let missing = missing_samples(prepared);
        Self::fit_values(
            &prepared,
            &missing,
            n_components,
            channel_names,
            rank_tolerance,
        )
    }

    /// [`Whitening::fit_with_tolerance`] on values that need not lie in memory; `missing` marks the
    /// samples that take no part.
    ///
    /// # Errors
    /// As [`Whitening::fit_with_tolerance`].
    pub fn fit_values(
        prepared: &impl Values,
        missing: &[bool],
        n_components: usize,
        channel_names: &[String],
        rank_tolerance: f64,
    ) -> Result<Self> {
        if !(0.0..1.0).contains(&rank_tolerance) {
            return Err(Error::RankTolerance {
                found: rank_tolerance,
            });
        }
        let n_channels = prepared.shape().1;
        if channel_names.len() != n_channels {
            return Err(Error::WhiteningNames {
                n_channels,
                n_names: channel_names.len(),
            });
        }
        if n_components == 0 {
            return Err(Error::NoSources);
        }
        let n_complete = missing.iter().filter(|&&is_missing| !is_missing).count();
        if n_complete == 0 || n_channels == 0 {
            return Err(Error::NothingToWhiten {
                n_complete,
                n_channels,
            });
        }
        let mean = column_means(prepared, missing, n_complete);
        let covariance = covariance(prepared, missing, n_complete, &mean);
        if !(0..n_channels).all(|channel| covariance[(channel, channel)].is_finite()) {
            return Err(Error::TooLargeForCovariance);
        }
        let decomposition = covariance
            .self_adjoint_eigen(Side::Lower)
            .map_err(|reason| Error::Eigendecomposition { reason })?;
        // faer sorts ascending. Rounding leaves small negative values where the covariance is
        // singular.
        let ascending = decomposition.S().column_vector();
        let eigenvalues: Vec<f64> = (0..n_channels)
            .map(|index| ascending[n_channels - 1 - index].max(0.0))
            .collect();
        let threshold = rank_tolerance * eigenvalues[0];
        let rank = eigenvalues
            .iter()
            .filter(|&&eigenvalue| eigenvalue > threshold)
            .count();
        if n_components > rank {
            let report = RankReport {
                n_components,
                rank,
                rank_tolerance,
                n_complete,
                covariance: covariance.as_ref(),
                mean: &mean,
                channel_names,
            };
            return Err(Error::LowRank(Box::new(report.low_rank())));
        }
        let vectors = decomposition.U();
        let mut matrix = Mat::zeros(n_channels, n_components);
        for component in 0..n_components {
            let vector = vectors.col(n_channels - 1 - component);
            let factor = sign_of((0..n_channels).map(|channel| vector[channel]))
                / eigenvalues[component].sqrt();
            for channel in 0..n_channels {
                matrix[(channel, component)] = factor * vector[channel];
            }
        }
        Ok(Self {
            mean,
            matrix,
            eigenvalues,
        })
    }

    /// Rebuilds a saved whitening from [`mean`](Self::mean), [`matrix`](Self::matrix) and
    /// [`eigenvalues`](Self::eigenvalues).
    ///
    /// # Errors
    /// When the shapes do not fit each other, a number is not finite or a used eigenvalue is not
    /// above 0.
    pub fn from_parts(mean: Vec<f64>, matrix: Mat<f64>, eigenvalues: Vec<f64>) -> Result<Self> {
        let (n_channels, n_components) = (matrix.nrows(), matrix.ncols());
        if mean.len() != n_channels || eigenvalues.len() != n_channels || n_components > n_channels
        {
            return Err(Error::SavedWhiteningShapes {
                matrix: (n_channels, n_components),
                n_means: mean.len(),
                n_eigenvalues: eigenvalues.len(),
            });
        }
        let finite = mean
            .iter()
            .chain(&eigenvalues)
            .all(|value| value.is_finite())
            && matrix
                .col_iter()
                .all(|column| column.iter().all(|value| value.is_finite()));
        if !finite || !eigenvalues[..n_components].iter().all(|&value| value > 0.0) {
            return Err(Error::SavedWhiteningValue);
        }
        Ok(Self {
            mean,
            matrix,
            eigenvalues,
        })
    }

    /// Number of channels m.
    pub fn n_channels(&self) -> usize {
        self.matrix.nrows()
    }

    /// Number of components K.
    pub fn n_components(&self) -> usize {
        self.matrix.ncols()
    }

    /// Mean of every channel over the fitted rows.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// V·Λ^(−1/2), m × K.
    pub fn matrix(&self) -> MatRef<'_, f64> {
        self.matrix.as_ref()
    }

    /// All m eigenvalues of the channel covariance, descending: the variances of the principal
    /// components.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Share of the total variance that the K components keep.
    pub fn explained_variance_ratio(&self) -> f64 {
        self.eigenvalues[..self.n_components()].iter().sum::<f64>()
            / self.eigenvalues.iter().sum::<f64>()
    }

    /// Zw = (Y − mean)·V·Λ^(−1/2), T × K. Rows with a NaN become rows of zeros, the mean of the
    /// components.
    ///
    /// # Errors
    /// When the number of columns is not the number of channels fitted.
    pub fn transform(&self, prepared: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if prepared.ncols() != self.n_channels() {
            return Err(Error::Columns {
                map: "whitening",
                expected: self.n_channels(),
                of: "channels",
                found: prepared.ncols(),
            });
        }
        let missing = missing_samples(prepared);
        let mut whitened = Mat::zeros(prepared.nrows(), self.n_components());
        for_each_centered_block(&prepared, &missing, &self.mean, |start, block| {
            let target = whitened.as_mut().subrows_mut(start, block.nrows());
            matmul(target, Accum::Replace, block, &self.matrix, 1.0, Par::Seq);
        });
        Ok(whitened)
    }

    /// Zw·Λ^(1/2)·Vᵀ + mean, T × m: the channels as far as K components carry them.
    ///
    /// # Errors
    /// When the number of columns is not the number of components.
    pub fn invert(&self, whitened: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if whitened.ncols() != self.n_components() {
            return Err(Error::Columns {
                map: "inverse whitening",
                expected: self.n_components(),
                of: "components",
                found: whitened.ncols(),
            });
        }
        // Λ^(1/2)·Vᵀ = Λ·(V·Λ^(−1/2))ᵀ, so the matrix and the eigenvalues are all that is stored.
        let inverse = Mat::from_fn(
            self.n_components(),
            self.n_channels(),
            |component, channel| self.eigenvalues[component] * self.matrix[(channel, component)],
        );
        let mut channels = Mat::from_fn(whitened.nrows(), self.n_channels(), |_, channel| {
            self.mean[channel]
        });
        matmul(&mut channels, Accum::Add, whitened, &inverse, 1.0, Par::Seq);
        Ok(channels)
    }
}

fn column_means(values: &impl Values, missing: &[bool], n_complete: usize) -> Vec<f64> {
    let (n_samples, n_channels) = values.shape();
    (0..n_channels)
        .map(|channel| {
            let complete = || {
                (0..n_samples)
                    .filter(|&t| !missing[t])
                    .map(|t| values.at(t, channel))
            };
            let first = complete().sum::<f64>() / n_complete as f64;
            // A second pass removes the rounding of the first; a constant then has exactly its
            // value as mean.
            first + complete().map(|value| value - first).sum::<f64>() / n_complete as f64
        })
        .collect()
}

/// Σ (y − mean)(y − mean)ᵀ / T over the T complete rows, m × m.
fn covariance(values: &impl Values, missing: &[bool], n_complete: usize, mean: &[f64]) -> Mat<f64> {
    let n_channels = values.shape().1;
    let mut covariance = Mat::zeros(n_channels, n_channels);
    let weight = 1.0 / n_complete as f64;
    for_each_centered_block(values, missing, mean, |_, block| {
        matmul(
            &mut covariance,
            Accum::Add,
            block.transpose(),
            block,
            weight,
            Par::Seq,
        );
    });
    covariance
}

/// Calls `visit(first row, centered rows)` for consecutive blocks; missing rows are zero, which
/// adds nothing to a sum of products.
fn for_each_centered_block(
    values: &impl Values,
    missing: &[bool],
    mean: &[f64],
    mut visit: impl FnMut(usize, MatRef<'_, f64>),
) {
    let (n_samples, n_channels) = values.shape();
    let mut buffer = Mat::<f64>::zeros(BLOCK_ROWS.min(n_samples), n_channels);
    for start in (0..n_samples).step_by(BLOCK_ROWS) {
        let n_rows = BLOCK_ROWS.min(n_samples - start);
        for channel in 0..n_channels {
            for row in 0..n_rows {
                let t = start + row;
                buffer[(row, channel)] = if missing[t] {
                    0.0
                } else {
                    values.at(t, channel) - mean[channel]
                };
            }
        }
        visit(start, buffer.as_ref().subrows(0, n_rows));
    }
}

/// An eigenvector is known up to sign: make its largest loading positive, the first one among ties.
fn sign_of(mut loadings: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = loadings
        .clone()
        .fold(0.0f64, |largest, loading| largest.max(loading.abs()));
    let deciding = loadings.find(|loading| loading.abs() >= (1.0 - SIGN_TIE) * largest);
    if deciding.is_some_and(|loading| loading < 0.0) {
        -1.0
    } else {
        1.0
    }
}

#[cfg(test)]
#[path = "whitening_tests.rs"]
mod tests;
