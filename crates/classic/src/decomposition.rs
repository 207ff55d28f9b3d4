//! The result that all methods share, and how it is brought into the library's order, sign and
//! scale.
//!
//! In: the unmixing A of whitened components as a method found it. Out: a [`Decomposition`]:
//!
//! ```text
//! S = Zw·A
//! Y = mean + S·Mᵀ      M = D·(V·Λ^(1/2))·A⁻ᵀ
//! S = (Y − mean)·U     U = D⁻¹·(V·Λ^(−1/2))·A
//! ```
//!
//! with D the scales of the channels and V, Λ of the whitening. Sources have variance 1; branch
//! order is ascending correlation time; the largest entry of every column of A is positive.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};

use super::components::Components;
use super::convergence::Convergence;
use crate::error::{Error, Result};
use strt_signal::Recording;
use strt_signal::correlation_time::correlation_time_in;
use strt_signal::preprocess::{ChannelScaling, ChannelScalingOptions, Whitening};
use strt_signal::rows::Rows;

/// Entries this close to the largest one tie with it; the first of them decides the sign.
const SIGN_TIE: f64 = 1e-9;

/// What a method finds: A (K×K), any order, sign and scale of its columns, and how the search
/// ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmixing {
    /// A.
    pub matrix: Mat<f64>,
    /// How the search ended.
    pub convergence: Convergence,
}

impl Unmixing {
    /// Columns of norm 1 (sources of variance 1), signs settled, ascending correlation time. Also S
    /// = Zw·A.
    ///
    /// # Errors
    /// When an entry is not finite or a column is zero: the method diverged.
    pub fn ordered(self, components: &Components<'_>) -> Result<(Unmixing, Mat<f64>)> {
        let k = components.n_components();
        let mut matrix = self.matrix;
        for j in 0..k {
            let column = matrix.col(j);
            let norm = column.norm_l2();
            if !(norm.is_finite() && norm > 0.0) {
                return Err(Error::Diverged {
                    source_index: j,
                    norm,
                });
            }
            let deciding =
                (0..k).find(|&i| column[i].abs() >= (1.0 - SIGN_TIE) * column.norm_max());
            let factor = if deciding.is_some_and(|i| column[i] < 0.0) {
                -norm
            } else {
                norm
            };
            (0..k).for_each(|i| matrix[(i, j)] /= factor);
        }
        let sources = components.sources(matrix.as_ref());
        let pieces = components.pieces();
        let times: Vec<usize> = (0..k)
            .map(|j| correlation_time_in(sources.col_as_slice(j), &pieces))
            .collect();
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by_key(|&j| times[j]);
        let reordered =
            |values: &Mat<f64>| Mat::from_fn(values.nrows(), k, |row, j| values[(row, order[j])]);
        let unmixing = Unmixing {
            matrix: reordered(&matrix),
            convergence: self.convergence,
        };
        Ok((unmixing, reordered(&sources)))
    }
}

/// Sources of a recording with the linear maps to and from its channels, immutable.
#[derive(Clone, Debug, PartialEq)]
pub struct Decomposition {
    method: &'static str,
    sources: Mat<f64>,
    unmixing: Mat<f64>,
    mixing: Mat<f64>,
    channel_unmixing: Mat<f64>,
    channel_whitening: Mat<f64>,
    mean: Vec<f64>,
    convergence: Convergence,
}

impl Decomposition {
    /// Scales and whitens the recording, finds the unmixing and brings it back to the channels.
    pub(super) fn of(
        method: &'static str,
        recording: &Recording,
        n_sources: usize,
        options: ChannelScalingOptions,
        unmix: impl FnOnce(&Components<'_>) -> Result<Unmixing>,
    ) -> Result<Decomposition> {
        let scaling = ChannelScaling::fit(recording.observations(), options)?;
        let scaled = scaling.apply(recording.observations())?;
        let whitening = Whitening::fit(scaled.as_ref(), n_sources, recording.channel_names())?;
        let whitened = whitening.transform(scaled.as_ref())?;
        drop(scaled);
        let rows = Rows::of(recording);
        let components = Components::of_rows(whitened.as_ref(), rows.view())?
            .with_variances(whitening.eigenvalues());
        let (unmixing, sources) = unmix(&components)?.ordered(&components)?;
        let m = recording.n_channels();
        let (offset, scale) = (scaling.offset(), scaling.scale());
        let v = whitening.matrix();
        // (V·Λ^(1/2))ᵀ = Λ·(V·Λ^(−1/2))ᵀ, in units of the recording.
        let channels_of_components = Mat::from_fn(n_sources, m, |k, c| {
            whitening.eigenvalues()[k] * v[(c, k)] * scale[c]
        });
        let inverse = unmixing
            .matrix
            .partial_piv_lu()
            .solve(&channels_of_components);
        let into_components = Mat::from_fn(m, n_sources, |c, k| v[(c, k)] / scale[c]);
        Ok(Decomposition {
            method,
            sources,
            mixing: inverse.transpose().to_owned(),
            channel_unmixing: &into_components * &unmixing.matrix,
            channel_whitening: into_components,
            unmixing: unmixing.matrix,
            mean: (0..m)
                .map(|c| whitening.mean()[c] * scale[c] + offset[c])
                .collect(),
            convergence: unmixing.convergence,
        })
    }

    /// Name of the method.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// S (T×K): variance 1, ascending correlation time, NaN where a sample is missing.
    pub fn sources(&self) -> MatRef<'_, f64> {
        self.sources.as_ref()
    }

    /// A (K×K) of S = Zw·A, from whitened components to sources.
    pub fn unmixing(&self) -> MatRef<'_, f64> {
        self.unmixing.as_ref()
    }

    /// M (m×K) of Y ≈ mean + S·Mᵀ: what one unit of a source adds to every channel of the
    /// recording.
    pub fn mixing(&self) -> MatRef<'_, f64> {
        self.mixing.as_ref()
    }

    /// U (m×K) of S = (Y − mean)·U, from channels of the recording to sources.
    pub fn channel_unmixing(&self) -> MatRef<'_, f64> {
        self.channel_unmixing.as_ref()
    }

    /// D⁻¹·V·Λ^(−1/2) (m×K), from channels of the recording less their means to whitened
    /// components: U is this times A.
    pub fn channel_whitening(&self) -> MatRef<'_, f64> {
        self.channel_whitening.as_ref()
    }

    /// Mean of every channel over the complete samples.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// How the search ended.
    pub fn convergence(&self) -> &Convergence {
        &self.convergence
    }

    /// Sources of other rows of the same channels, (Y − mean)·U; a row with a NaN gives a row of
    /// NaN.
    ///
    /// # Errors
    /// When the number of columns is not the number of channels.
    pub fn apply(&self, observations: MatRef<'_, f64>) -> Result<Mat<f64>> {
        unmix_rows(observations, &self.mean, self.channel_unmixing())
    }
}

/// (Y − mean)·U: sources (T×K) of rows of m channels, with U (m×K). A row with a NaN gives a row of
/// NaN.
///
/// # Errors
/// When the numbers of channels differ.
pub fn unmix_rows(
    observations: MatRef<'_, f64>,
    mean: &[f64],
    channel_unmixing: MatRef<'_, f64>,
) -> Result<Mat<f64>> {
    if observations.ncols() != mean.len() || channel_unmixing.nrows() != mean.len() {
        return Err(Error::UnmixedRows {
            n_channels: mean.len(),
            n_columns: observations.ncols(),
            n_unmixed: channel_unmixing.nrows(),
        });
    }
    let centred = Mat::from_fn(observations.nrows(), observations.ncols(), |t, c| {
        observations[(t, c)] - mean[c]
    });
    Ok(centred * channel_unmixing)
}

/// S·Mᵀ + mean: channels (T×m) of sources (T×K), with M (m×K). A row with a NaN gives a row of NaN.
///
/// # Errors
/// When the numbers of sources or channels differ.
pub fn mix_rows(
    sources: MatRef<'_, f64>,
    mixing: MatRef<'_, f64>,
    mean: &[f64],
) -> Result<Mat<f64>> {
    if sources.ncols() != mixing.ncols() || mixing.nrows() != mean.len() {
        return Err(Error::MixedRows {
            n_sources: mixing.ncols(),
            n_channels: mixing.nrows(),
            n_columns: sources.ncols(),
            n_means: mean.len(),
        });
    }
    let mut channels = sources * mixing.transpose();
    for (c, mean) in mean.iter().enumerate() {
        for value in channels.col_as_slice_mut(c) {
            *value += mean;
        }
    }
    Ok(channels)
}
