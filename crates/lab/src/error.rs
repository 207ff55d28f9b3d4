//! Why an experiment could not be made: whatever the parts that it uses say.

/// What a part of the library refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The method.
    #[error(transparent)]
    Method(#[from] strtransformer::Error),
    /// A recording.
    #[error(transparent)]
    Signal(#[from] strt_signal::Error),
    /// A classical method.
    #[error(transparent)]
    Classic(#[from] strt_classic::Error),
    /// A score.
    #[error(transparent)]
    Score(#[from] strt_score::Error),
    /// A problem.
    #[error(transparent)]
    Synth(#[from] strt_synth::Error),
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
