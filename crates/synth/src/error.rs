//! The one error type of this crate: each variant holds facts, and its text says what was expected,
//! what came and what to do.

use crate::{MixingKind, SourceKind};

/// Why a problem cannot be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No kind of sources has this name.
    #[error(
        "configuration: kind = \"{name}\": expected one of {}",
        SourceKind::ALL.map(SourceKind::name).join(", ")
    )]
    UnknownKind {
        /// The name.
        name: String,
    },
    /// No mixing has this name.
    #[error(
        "configuration: mixing = \"{name}\": expected one of linear, pnl, asinh, mlp2, mlp3, \
         leakymlp<layers>, tanhmlp<layers>, conditioned<number> (such as leakymlp3)"
    )]
    UnknownMixing {
        /// The name.
        name: String,
    },
    /// A multilayer mixing has too many layers, or none.
    #[error("configuration: mixing = {mixing}: from 1 to {most} layers")]
    Layers {
        /// The mixing.
        mixing: MixingKind,
        /// Layers that are allowed.
        most: usize,
    },
    /// A condition number is out of range.
    #[error("configuration: mixing = {mixing}: a condition number from 1 to {largest}")]
    Condition {
        /// The mixing.
        mixing: MixingKind,
        /// The largest that is allowed.
        largest: usize,
    },
    /// Too few samples were asked for.
    #[error("configuration: n_samples = {found}: at least 2 samples")]
    TooFewSamples {
        /// Number of samples.
        found: usize,
    },
    /// No source was asked for.
    #[error("configuration: n_sources = 0: at least 1 source")]
    NoSources,
    /// There are fewer channels than sources.
    #[error(
        "configuration: n_channels = {n_channels}: at least as many channels as the {n_sources} \
         sources"
    )]
    TooFewChannels {
        /// Number of channels.
        n_channels: usize,
        /// Number of sources.
        n_sources: usize,
    },
    /// The noise is negative, not a number or drowns everything.
    #[error("configuration: noise = {found}: a standard deviation from 0 to {largest:e}")]
    Noise {
        /// The noise.
        found: f64,
        /// The largest that is allowed.
        largest: f64,
    },
    /// The observations would not fit into memory.
    #[error(
        "configuration: n_samples = {n_samples}: at most {most} values in {n_channels} channels"
    )]
    TooManyValues {
        /// Number of samples.
        n_samples: usize,
        /// Number of channels.
        n_channels: usize,
        /// Values that are allowed.
        most: usize,
    },
    /// A source is constant over so few samples.
    #[error(
        "configuration: n_samples = {n_samples}: source {source_index} (counted from 0) does not \
         vary; ask for more samples"
    )]
    ConstantSource {
        /// Number of samples.
        n_samples: usize,
        /// The source, counted from 0.
        source_index: usize,
    },
    /// A channel is constant over so few samples.
    #[error(
        "configuration: n_samples = {n_samples}: a channel does not vary; ask for more samples"
    )]
    ConstantChannel {
        /// Number of samples.
        n_samples: usize,
    },
    /// No matrix that was drawn is well enough conditioned.
    #[error(
        "configuration: n_channels = {n_channels}: no {n_channels} × {n_sources} mixing with \
         condition below {bound} in {n_draws} draws; ask for more channels"
    )]
    NoMixing {
        /// Number of channels.
        n_channels: usize,
        /// Number of sources.
        n_sources: usize,
        /// What the condition must be below.
        bound: f64,
        /// How many were drawn.
        n_draws: usize,
    },
    /// Given sources do not have the shape of the specification.
    #[error(
        "given sources: expected {} samples × {} sources, found {} × {}",
        expected.0, expected.1, found.0, found.1
    )]
    GivenShape {
        /// Samples and sources of the specification.
        expected: (usize, usize),
        /// Rows and columns.
        found: (usize, usize),
    },
    /// A given source has a value that is not finite.
    #[error(
        "recording: given source {source_index}, sample {sample} (both counted from 0) is \
         {found}; cut or fill what is not finite"
    )]
    GivenValue {
        /// The source, counted from 0.
        source_index: usize,
        /// The sample, counted from 0.
        sample: usize,
        /// The value.
        found: f64,
    },
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
