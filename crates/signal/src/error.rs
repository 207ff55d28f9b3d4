//! The one error type of this crate: each variant holds facts, and its text says what was expected,
//! what came and what to do.

use faer::linalg::solvers::EvdError;

use crate::preprocess::{DEFAULT_RANK_TOLERANCE, LowRank};

/// Why a recording cannot be used or prepared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no column.
    #[error("recording: found 0 channels, expected at least 1; check how columns are separated")]
    NoChannels,
    /// There is no row.
    #[error("recording: found 0 samples, expected at least 1; check that the file is not empty")]
    NoSamples,
    /// The values end within a sample.
    #[error(
        "recording: {n_values} values do not fill whole samples of {n_channels} channels ({} are \
         left over); check the number of channels and that the file is complete",
        n_values % n_channels
    )]
    PartialSample {
        /// Number of values.
        n_values: usize,
        /// Number of channels, above 0.
        n_channels: usize,
    },
    /// Every sample misses a channel.
    #[error(
        "recording: each of the {n_samples} samples misses at least one channel, and only complete \
         samples can be used; drop the channels with the most missing values"
    )]
    NoCompleteSample {
        /// Number of samples.
        n_samples: usize,
    },
    /// A value is infinite.
    #[error(
        "recording: channel {channel}, sample {sample} (counted from 0): found {found}, expected a \
         finite number or NaN for a missing value; repair the value or mark it as missing"
    )]
    InfiniteValue {
        /// Name of the channel.
        channel: String,
        /// The sample, counted from 0.
        sample: usize,
        /// The value.
        found: f64,
    },
    /// A channel has no value at all.
    #[error(
        "recording: channel {channel}: all {n_samples} values are missing (NaN), expected at least \
         one number; drop the channel"
    )]
    EmptyChannel {
        /// Name of the channel.
        channel: String,
        /// Number of samples.
        n_samples: usize,
    },
    /// The sampling rate is not a positive, finite number.
    #[error(
        "recording: sampling rate {found}: expected a finite number above 0; leave it out when it \
         is unknown"
    )]
    SamplingRate {
        /// The rate.
        found: f64,
    },
    /// There are more or fewer names than channels.
    #[error(
        "recording: found {n_names} channel names for {n_channels} channels; give exactly one name \
         per channel"
    )]
    ChannelNames {
        /// Number of names.
        n_names: usize,
        /// Number of channels.
        n_channels: usize,
    },
    /// Two channels have one name.
    #[error(
        "recording: channel name \"{name}\" is given to more than one channel; rename all but one"
    )]
    RepeatedName {
        /// The name.
        name: String,
    },
    /// A piece of a recording has no samples.
    #[error(
        "recording: piece {piece} (counted from 0) has 0 samples, expected at least 1; leave it out"
    )]
    EmptyPiece {
        /// The piece, counted from 0.
        piece: usize,
    },
    /// The pieces of a recording are not all of it.
    #[error(
        "recording: found {n_pieces} pieces of together {total} samples, expected pieces that add \
         up to its {n_samples} samples; give the length of every piece in samples"
    )]
    PieceLengths {
        /// Number of pieces.
        n_pieces: usize,
        /// The sum of their lengths.
        total: usize,
        /// Number of samples of the recording.
        n_samples: usize,
    },
    /// What a recording is to be prepared by does not go with it.
    #[error("{0}")]
    Preparation(Box<Unprepared>),
    /// The channel scaling has no complete sample to be fitted on.
    #[error(
        "recording: none of {n_samples} samples is complete, expected at least one to fit the \
         channel scaling on"
    )]
    NothingToScale {
        /// Number of samples.
        n_samples: usize,
    },
    /// A channel has no finite mean or deviation.
    #[error(
        "recording: channel {} has values too large to average; change its unit", channel + 1
    )]
    TooLargeToAverage {
        /// The channel, counted from 0.
        channel: usize,
    },
    /// The whitening has nothing to be fitted on.
    #[error(
        "recording: found {n_complete} complete samples of {n_channels} channels, expected at \
         least 1 of each to whiten"
    )]
    NothingToWhiten {
        /// Number of complete samples.
        n_complete: usize,
        /// Number of channels.
        n_channels: usize,
    },
    /// The covariance of the channels is not finite.
    #[error("recording: values are too large for a covariance; scale the channels")]
    TooLargeForCovariance,
    /// The covariance of the channels has no eigendecomposition.
    #[error("recording: the eigendecomposition of the channel covariance failed: {reason:?}")]
    Eigendecomposition {
        /// What the solver said.
        reason: EvdError,
    },
    /// No source was asked for.
    #[error("number of sources: 0 sources were asked for; ask for at least 1")]
    NoSources,
    /// More sources were asked for than the channels have independent directions.
    #[error("number of sources: {0}")]
    LowRank(Box<LowRank>),
    /// The share of the largest eigenvalue that counts as nothing is out of range.
    #[error(
        "configuration: rank_tolerance = {found}: a number from 0 to below 1; \
         {DEFAULT_RANK_TOLERANCE:e} suits most recordings"
    )]
    RankTolerance {
        /// The tolerance.
        found: f64,
    },
    /// The whitening got more or fewer names than channels.
    #[error(
        "channel names of the whitening: expected {n_channels} names, one per channel, found \
         {n_names} names"
    )]
    WhiteningNames {
        /// Number of channels.
        n_channels: usize,
        /// Number of names.
        n_names: usize,
    },
    /// A fitted map got a matrix with another number of columns.
    #[error("{map}: expected {expected} {of}, as fitted, found {found} columns")]
    Columns {
        /// The map, such as `whitening`.
        map: &'static str,
        /// Number of columns it was fitted for.
        expected: usize,
        /// What these columns are.
        of: &'static str,
        /// Number of columns that came.
        found: usize,
    },
    /// A saved channel scaling is incomplete.
    #[error(
        "saved state: channel scaling has {n_offsets} offsets and {n_scales} scales; expected one \
         of each per channel"
    )]
    SavedScalingLengths {
        /// Number of offsets.
        n_offsets: usize,
        /// Number of scales.
        n_scales: usize,
    },
    /// A saved channel scaling has an offset that cannot be subtracted.
    #[error("saved state: channel scaling has an offset that is not finite")]
    SavedOffset,
    /// A saved channel scaling has a scale that cannot be divided by.
    #[error("saved state: channel scaling has a scale that is not a finite number above 0")]
    SavedScale,
    /// The parts of a saved whitening do not fit each other.
    #[error(
        "saved state: whitening has a {} × {} matrix, {n_means} means and {n_eigenvalues} \
         eigenvalues; expected an m × K matrix with K ≤ m, m means and m eigenvalues",
        matrix.0, matrix.1
    )]
    SavedWhiteningShapes {
        /// Rows and columns of the matrix.
        matrix: (usize, usize),
        /// Number of means.
        n_means: usize,
        /// Number of eigenvalues.
        n_eigenvalues: usize,
    },
    /// A saved whitening has a number that cannot be used.
    #[error(
        "saved state: whitening has a number that is not finite, or an eigenvalue that is not \
         above 0"
    )]
    SavedWhiteningValue,
}

/// Why a recording cannot be prepared as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}: expected {expected}, found {found}; {remedy}")]
pub struct Unprepared {
    /// The operation, such as `band`.
    pub option: &'static str,
    /// What the recording allows.
    pub expected: String,
    /// What was asked for, or is there.
    pub found: String,
    /// What to do.
    pub remedy: String,
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An operation of [`crate::prepare`] that does not go with a recording.
    pub(crate) fn preparation(
        option: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::Preparation(Box::new(Unprepared {
            option,
            expected: expected.into(),
            found: found.into(),
            remedy: remedy.into(),
        }))
    }
}
