//! The one error type of this crate: each variant holds facts, and its text says what was expected,
//! what came and what to do.

use faer::linalg::solvers::EvdError;

use crate::Baseline;

/// Why a method cannot separate a recording.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recording cannot be scaled or whitened.
    #[error(transparent)]
    Signal(#[from] strt_signal::Error),
    /// No method has this name.
    #[error(
        "configuration: baseline = \"{name}\": expected one of {}", Baseline::NAMES.join(", ")
    )]
    UnknownMethod {
        /// The name.
        name: String,
    },
    /// An option of a method is out of range.
    #[error("configuration: {option} = {found}: {expected}")]
    Option {
        /// The method and its option, such as `sobi.lags`.
        option: &'static str,
        /// The value that came, as Rust writes it.
        found: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// There are fewer complete samples than the method needs.
    #[error(
        "recording: {found} complete samples are too few for {method} with {n_sources} sources, \
         which needs {needed}; use a longer recording, fewer sources or another method"
    )]
    TooFewSamples {
        /// Name of the method.
        method: &'static str,
        /// Number of sources.
        n_sources: usize,
        /// Complete samples that it needs.
        needed: usize,
        /// Complete samples that there are.
        found: usize,
    },
    /// Too few samples have a complete one at the lag.
    #[error(
        "recording: lag {lag}: {n_pairs} pairs of complete samples, expected more than the \
         {n_sources} sources; use a longer recording or shorter lags"
    )]
    TooFewPairs {
        /// The lag, in samples.
        lag: usize,
        /// Pairs that there are.
        n_pairs: usize,
        /// Number of sources.
        n_sources: usize,
    },
    /// Components without samples or columns, or flags that do not belong to them.
    #[error(
        "recording: found {n_samples} whitened samples of {n_components} components, {n_missing} \
         of them missing; expected at least 1 complete sample of 1 component, and one flag a sample"
    )]
    NoComponents {
        /// Number of samples.
        n_samples: usize,
        /// Number of components.
        n_components: usize,
        /// Number of samples marked as missing.
        n_missing: usize,
    },
    /// Components of which a column does not lie in one piece.
    #[error("recording: whitened components lie row by row; expected them column by column")]
    RowMajor,
    /// A component has a value that is not finite, or not 0 where it is missing.
    #[error(
        "recording: sample {sample} of whitened component {component} (both counted from 0) is \
         {found}; expected a finite number, and 0 where the sample is missing"
    )]
    ComponentValue {
        /// The sample, counted from 0.
        sample: usize,
        /// The component, counted from 0.
        component: usize,
        /// The value.
        found: f64,
    },
    /// The covariance of the components is not the identity.
    #[error(
        "recording: the covariance of the components differs from I by {furthest:.2e}, expected at \
         most {allowed:e}; whiten them first"
    )]
    NotWhite {
        /// The largest difference of an entry.
        furthest: f64,
        /// How large it may be.
        allowed: f64,
    },
    /// A start that is not K × K.
    #[error(
        "start of the unmixing: expected {expected} × {expected}, found {} × {}",
        found.0, found.1
    )]
    StartShape {
        /// K.
        expected: usize,
        /// Rows and columns.
        found: (usize, usize),
    },
    /// The columns of an unmixing cannot be made orthogonal.
    #[error(
        "evaluation: the columns of the unmixing cannot be made orthogonal ({why}); try another \
         seed or method"
    )]
    NotOrthogonal {
        /// The reason.
        why: NotOrthogonal,
    },
    /// A column of the unmixing is zero or not finite.
    #[error(
        "evaluation: the unmixing of source {source_index} (counted from 0) has norm {norm}; the \
         search diverged, so scale the channels or try another seed"
    )]
    Diverged {
        /// The source, counted from 0.
        source_index: usize,
        /// Norm of its column.
        norm: f64,
    },
    /// Nothing is left of a source after those before it.
    #[error(
        "evaluation: source {source_index} (counted from 0) of a deflation vanished; try another \
         seed or parallel extraction"
    )]
    Vanished {
        /// The source, counted from 0.
        source_index: usize,
    },
    /// A lagged covariance has no eigendecomposition.
    #[error("evaluation: the eigendecomposition of the lagged covariance failed: {reason:?}")]
    Eigendecomposition {
        /// What the solver said.
        reason: EvdError,
    },
    /// There is nothing to diagonalise.
    #[error("evaluation: joint diagonalisation: found no matrix, expected at least one")]
    NoMatrix,
    /// A matrix to be diagonalised is not of the size of the first, or not square.
    #[error(
        "evaluation: joint diagonalisation: matrix {index} (counted from 0) is {} × {}, expected \
         all K × K alike",
        found.0, found.1
    )]
    MatrixShape {
        /// The matrix, counted from 0.
        index: usize,
        /// Rows and columns.
        found: (usize, usize),
    },
    /// A matrix to be diagonalised is not finite and symmetric.
    #[error(
        "evaluation: joint diagonalisation: matrix {index} (counted from 0) is not finite and \
         symmetric"
    )]
    NotSymmetric {
        /// The matrix, counted from 0.
        index: usize,
    },
    /// A matrix to be diagonalised is not positive definite.
    #[error(
        "evaluation: joint diagonalisation: matrix {index} (counted from 0) is not positive \
         definite; use fewer, longer blocks or the orthogonal diagonaliser"
    )]
    NotDefinite {
        /// The matrix, counted from 0.
        index: usize,
    },
    /// Weights do not belong to the matrices that are to be diagonalised.
    #[error(
        "evaluation: weighted joint diagonalisation: expected {n_pairs} weights, one a pair of \
         sources, each {n_matrices} × {n_matrices}, found {found}, or others in size"
    )]
    Weights {
        /// Pairs of sources.
        n_pairs: usize,
        /// Number of matrices.
        n_matrices: usize,
        /// Number of weights.
        found: usize,
    },
    /// Rows to be unmixed have other channels than those that were separated.
    #[error(
        "unmixing of other rows: expected {n_channels} channels, as separated, found {n_columns} \
         columns and an unmixing of {n_unmixed} channels"
    )]
    UnmixedRows {
        /// Number of channels that were separated.
        n_channels: usize,
        /// Number of columns of the rows.
        n_columns: usize,
        /// Number of channels of the unmixing.
        n_unmixed: usize,
    },
    /// Sources to be mixed, their mixing and its means do not belong together.
    #[error(
        "sources to be mixed: expected {n_sources} columns, one a source, and {n_channels} means, \
         found {n_columns} columns and {n_means} means"
    )]
    MixedRows {
        /// Number of sources of the mixing.
        n_sources: usize,
        /// Number of channels of the mixing.
        n_channels: usize,
        /// Number of columns of the sources.
        n_columns: usize,
        /// Number of means.
        n_means: usize,
    },
}

/// Why the columns of a matrix cannot be made orthogonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOrthogonal {
    /// An entry is not finite.
    #[error("the search diverged")]
    Diverged,
    /// Columns depend on each other.
    #[error("two of them are the same")]
    Dependent,
    /// Their products have no eigendecomposition.
    #[error("{0:?}")]
    Eigendecomposition(EvdError),
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
