//! Why a report could not be made.

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused a computation.
    #[error(transparent)]
    Library(strtransformer::Error),
    /// Sources and reference cannot be compared.
    #[error(transparent)]
    Score(strt_score::Error),
    /// Notes of another run.
    #[error("{what}: expected one for each of the {expected} sources, or none, found {found}")]
    Notes {
        /// Verdicts or labels.
        what: &'static str,
        /// Sources of the run.
        expected: usize,
        /// Notes that were given.
        found: usize,
    },
    /// The page could not be put together.
    #[error("the page could not be written: {0}")]
    Page(String),
    /// A static figure could not be drawn.
    #[error("figure {figure} could not be drawn: {reason}")]
    Figure {
        /// Its name.
        figure: &'static str,
        /// What the drawing library says.
        reason: String,
    },
}

/// Short for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
