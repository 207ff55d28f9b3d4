//! The one error type of this crate: each variant holds facts, and its text says what was expected,
//! what came and what to do.

use std::fmt;

use faer::linalg::solvers::SvdError;

/// Why something cannot be scored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The true sources have no sample or no column.
    #[error(
        "evaluation: the reference is {} × {}; expected at least one sample and one source",
        found.0, found.1
    )]
    EmptyReference {
        /// Rows and columns.
        found: (usize, usize),
    },
    /// A true source has a value that is not finite.
    #[error(
        "evaluation: reference source {}, sample {} (both counted from 1): expected a finite \
         number, found {found}; a reference has no gaps: leave these samples out of both files",
        source_index + 1, sample + 1
    )]
    ReferenceValue {
        /// The source, counted from 0.
        source_index: usize,
        /// The sample, counted from 0.
        sample: usize,
        /// The value.
        found: f64,
    },
    /// A true source does not vary.
    #[error(
        "evaluation: reference source {} (counted from 1) is constant and correlates with nothing; \
         drop it",
        source_index + 1
    )]
    ConstantReference {
        /// The source, counted from 0.
        source_index: usize,
    },
    /// The estimated sources have another length than the true ones.
    #[error(
        "matching of estimated and reference sources: expected {expected} samples, as in the \
         reference, found {found} samples"
    )]
    EstimateLength {
        /// Samples of the reference.
        expected: usize,
        /// Samples of the estimate.
        found: usize,
    },
    /// The recording has another length than the true sources.
    #[error(
        "reference sources of the recording: expected {expected} samples, as recorded, found \
         {found} samples"
    )]
    ReferenceLength {
        /// Samples of the recording.
        expected: usize,
        /// Samples of the reference.
        found: usize,
    },
    /// There is no estimated source.
    #[error("evaluation: found 0 estimated sources, expected at least 1")]
    NoEstimate,
    /// An estimated source has an infinite value.
    #[error(
        "evaluation: estimated source {source_index}, sample {sample} (both counted from 0) is \
         infinite; the separation diverged"
    )]
    InfiniteEstimate {
        /// The source, counted from 0.
        source_index: usize,
        /// The sample, counted from 0.
        sample: usize,
    },
    /// Fewer than two samples of the estimate can be used.
    #[error(
        "evaluation: {n_complete} of {n_samples} estimated samples are without NaN, expected at \
         least 2 to correlate"
    )]
    TooFewEstimates {
        /// Samples without NaN.
        n_complete: usize,
        /// All samples.
        n_samples: usize,
    },
    /// Fewer than two samples of the recording can be used.
    #[error(
        "evaluation: {n_complete} of {n_samples} samples are complete, expected at least 2 to \
         correlate"
    )]
    TooFewSamples {
        /// Complete samples.
        n_complete: usize,
        /// All samples.
        n_samples: usize,
    },
    /// Estimate, reference and matching do not belong together.
    #[error("alignment with the reference: expected {expected}, found {found}")]
    Alignment {
        /// As matched.
        expected: Sizes,
        /// As given.
        found: Sizes,
    },
    /// Estimate and matching do not belong together.
    #[error(
        "SI-SDR of matched sources: expected {} samples × {} estimates, as matched, found {} × {}",
        expected.0, expected.1, found.0, found.1
    )]
    SiSdrShape {
        /// Samples and estimates, as matched.
        expected: (usize, usize),
        /// Rows and columns of the estimate.
        found: (usize, usize),
    },
    /// The matching is with another reference.
    #[error(
        "order of matched branches: expected {expected} reference sources, as matched, found \
         {found} sources"
    )]
    OrderReference {
        /// Reference sources, as matched.
        expected: usize,
        /// Reference sources, as given.
        found: usize,
    },
    /// Runs that cannot be compared branch by branch.
    #[error(
        "evaluation: permutation stability needs at least 2 runs with the same number of branches, \
         found {n_runs} runs"
    )]
    Stability {
        /// Number of runs.
        n_runs: usize,
    },
    /// Two sequences of different length.
    #[error("{figure}: expected two sequences of {first} values, found {second} in the second")]
    SequenceLengths {
        /// What was to be computed.
        figure: &'static str,
        /// Length of the first.
        first: usize,
        /// Length of the second.
        second: usize,
    },
    /// Sequences without ranks.
    #[error("evaluation: Spearman's rho needs at least 2 values, none NaN and not all equal")]
    Spearman,
    /// Sequences that are too short to have an order.
    #[error("evaluation: Kendall's tau needs at least 2 values, found {found}")]
    KendallLength {
        /// Number of values.
        found: usize,
    },
    /// A value that cannot be compared.
    #[error("evaluation: Kendall's tau: value {index} (counted from 0) is NaN")]
    KendallNan {
        /// The value, counted from 0.
        index: usize,
    },
    /// A sequence of equal values.
    #[error("evaluation: Kendall's tau: all values of one sequence are equal and have no order")]
    KendallTies,
    /// Observed and reconstructed channels have different shapes.
    #[error(
        "reconstruction: expected {} × {}, as observed, found {} × {}",
        expected.0, expected.1, found.0, found.1
    )]
    Reconstruction {
        /// Rows and columns of the observations.
        expected: (usize, usize),
        /// Rows and columns of the reconstruction.
        found: (usize, usize),
    },
    /// There is no variance to explain.
    #[error(
        "evaluation: explained variance of {n_complete} complete samples of {n_channels} channels; \
         expected at least two samples and a channel that varies"
    )]
    NothingToExplain {
        /// Complete samples.
        n_complete: usize,
        /// Number of channels.
        n_channels: usize,
    },
    /// Sources whose dependence cannot be measured.
    #[error(
        "evaluation: residual dependence of {n_sources} sources over {n_complete} complete \
         samples; expected at least 1 source, {least} samples and finite values"
    )]
    Dependence {
        /// Number of sources.
        n_sources: usize,
        /// Complete samples.
        n_complete: usize,
        /// Complete samples that are needed.
        least: usize,
    },
    /// A prediction order that the samples do not support.
    #[error(
        "evaluation: predictability of order {order} from {n_complete} complete samples; expected \
         an order of at least 1 and more than {} samples",
        order.saturating_mul(2)
    )]
    PredictionOrder {
        /// The order.
        order: usize,
        /// Complete samples.
        n_complete: usize,
    },
    /// A source that has no variance to predict.
    #[error("evaluation: predictability of a source that is constant or infinite")]
    Unpredictable,
    /// The product of unmixing and mixing is not square.
    #[error(
        "Amari distance: expected the K × K product of unmixing and mixing, found {} × {}",
        found.0, found.1
    )]
    AmariShape {
        /// Rows and columns.
        found: (usize, usize),
    },
    /// The product of unmixing and mixing is not finite.
    #[error("evaluation: the product of unmixing and mixing has an entry that is not finite")]
    AmariValue,
    /// A source is lost between mixing and unmixing.
    #[error(
        "evaluation: {line} {index} (counted from 0) of the product of unmixing and mixing is \
         zero: a source is lost"
    )]
    LostSource {
        /// `row` or `column`.
        line: &'static str,
        /// Which, counted from 0.
        index: usize,
    },
    /// Two mixing matrices that cannot be compared.
    #[error(
        "Amari distance between mixing matrices: expected two m × K matrices with 1 ≤ K ≤ m (the \
         true one is {} × {}), found {} × {} as the estimate",
        truth.0, truth.1, found.0, found.1
    )]
    MixingShapes {
        /// Rows and columns of the true mixing.
        truth: (usize, usize),
        /// Rows and columns of the estimate.
        found: (usize, usize),
    },
    /// The estimated mixing is not finite.
    #[error("evaluation: the estimated mixing has an entry that is not finite")]
    MixingValue,
    /// The estimated mixing has no singular values.
    #[error(
        "evaluation: the singular value decomposition of the estimated mixing failed: {reason:?}"
    )]
    SingularValues {
        /// What the solver said.
        reason: SvdError,
    },
    /// The estimated mixing has no inverse.
    #[error(
        "evaluation: the estimated mixing has dependent columns (singular values from {largest:e} \
         to {smallest:e}), so it cannot be undone"
    )]
    DependentColumns {
        /// The largest singular value.
        largest: f64,
        /// The smallest.
        smallest: f64,
    },
}

/// How much there is of what is laid over each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Number of samples.
    pub n_samples: usize,
    /// Number of estimated sources.
    pub n_estimated: usize,
    /// Number of reference sources.
    pub n_reference: usize,
}

impl fmt::Display for Sizes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} samples, {} estimated and {} reference sources",
            self.n_samples, self.n_estimated, self.n_reference
        )
    }
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
