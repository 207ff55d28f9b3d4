//! The one error type of the library. Every message says what was expected, what came and what to
//! do.

/// What can go wrong between a recording and its separation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recording cannot be prepared.
    #[error(transparent)]
    Signal(#[from] strt_signal::Error),
    /// The classical method that a run starts from fails.
    #[error(transparent)]
    Classic(#[from] strt_classic::Error),
    /// The recording cannot be used as it is.
    #[error("recording: {0}")]
    Recording(String),
    /// A configuration field has a value that cannot run; `field` is its path in the configuration.
    #[error("configuration: {field} = {found}: {expected}")]
    Config {
        /// Path of the field, such as `branches.mask_ratio`.
        field: &'static str,
        /// The value that came.
        found: String,
        /// What is allowed, and what to do.
        expected: String,
    },
    /// Two things that must have the same shape do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What was being combined.
        what: &'static str,
        /// The shape that fits.
        expected: String,
        /// The shape that came.
        found: String,
    },
    /// A saved model or checkpoint does not fit its own description or the recording.
    #[error("saved state: {0}")]
    State(String),
}

/// `Result` with this library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
