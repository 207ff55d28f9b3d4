//! The one error type of the library. A variant holds facts; its text says what was expected, what
//! came and what to do.

use crate::config::{ConfigError, Coordinates, MixerKind, Value};

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
    /// The recording does not hold two patches of a size.
    #[error(
        "recording: {n_samples} samples are too few for patches of {patch} with stride {stride}, \
         which need {}; use a longer recording or remove {patch} from branches.patch_sizes",
        patch + stride
    )]
    TooShort {
        /// T.
        n_samples: usize,
        /// P_r.
        patch: usize,
        /// q_r.
        stride: usize,
    },
    /// No piece of the recording holds two patches of a size.
    #[error(
        "recording: the longest of its {n_pieces} pieces has {longest} samples, too few for \
         patches of {patch} with stride {stride}, which need {}; use longer pieces, remove {patch} \
         from branches.patch_sizes, or leave that out and have patches chosen that fit",
        patch + stride
    )]
    ShortPieces {
        /// Samples of the longest piece.
        longest: usize,
        /// Number of pieces.
        n_pieces: usize,
        /// P_r.
        patch: usize,
        /// q_r.
        stride: usize,
    },
    /// Missing samples leave no window at some scale.
    #[error("recording: missing samples leave no {}", no_window(*patch, *block))]
    NoWindow {
        /// P_r.
        patch: usize,
        /// Samples of a block, where windows must lie in one.
        block: Option<usize>,
    },
    /// A value of the configuration cannot run.
    #[error(transparent)]
    Config(#[from] ConfigError),
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
    /// A value of the given initial sources is not a number.
    #[error(
        "initial sources: sample {sample} of source {source_index} is {found}; every value must be \
         finite"
    )]
    InitialValue {
        /// The sample, counted from 0.
        sample: usize,
        /// The source, counted from 0.
        source_index: usize,
        /// The value.
        found: f64,
    },
    /// Sources behind a nonlinear mixer cannot be denoised.
    #[error(
        "denoising: expected an affine mixer, found mixer.kind = {} with sources.coordinates = {}: \
         behind a nonlinear mixer the noise of the channels is another one in every sample; use \
         the sources as they are, or separate with mixer.kind = affine",
        spelled(mixer),
        spelled(coordinates)
    )]
    DenoiseBent {
        /// The mixer.
        mixer: MixerKind,
        /// The coordinates.
        coordinates: Coordinates,
    },
    /// Sources that are free in every sample cannot be denoised.
    #[error(
        "denoising: expected sources that are an affine map of the channels, found \
         sources.coordinates = {} with sources that are free in every sample: their noise is not \
         that of the channels; separate with sources.coordinates = fiber, sources.unlock = 1 and a \
         start that is not given",
        spelled(coordinates)
    )]
    DenoiseFree {
        /// The coordinates.
        coordinates: Coordinates,
    },
    /// The sources of a run that diverged cannot be denoised.
    #[error(
        "denoising: expected finite sources, found some that are not: the run has diverged; \
         separate again with smaller rates"
    )]
    DenoiseDiverged,
    /// The model mixes something that is no number.
    #[error(
        "cleaning: sample {sample} of channel {channel}: expected a finite number from the mixer, \
         found none: the run has diverged, or the recording is too different from the one of the \
         training; separate it anew"
    )]
    CleanNotFinite {
        /// The sample, counted from 0.
        sample: usize,
        /// The channel.
        channel: String,
    },
    /// The networks of a model are as they were drawn.
    #[error(
        "energy: expected networks that have learned, found a run without (weights.kernel = 1, \
         weights.structure = 0, optimizer.rates.networks = 0 or no steps); separate with the \
         preset default or paper"
    )]
    EnergyWithoutNetworks,
    /// A trajectory does not hold two patches of a size.
    #[error(
        "energy: expected at least {needed} samples, two patches of {patch}, found {n_samples}; \
         give longer trajectories"
    )]
    TrajectoryShort {
        /// T.
        n_samples: usize,
        /// The longest P_r.
        patch: usize,
        /// What is needed.
        needed: usize,
    },
    /// The networks of a model give no number.
    #[error(
        "energy: expected finite errors of the networks, found some that are not: the run has \
         diverged, or the values of the trajectories are too large; separate anew, or scale them"
    )]
    EnergyNotFinite,
    /// The sources of a run that diverged cannot be judged.
    #[error(
        "verdicts: expected finite sources, found some that are not: the run has diverged; \
         separate again with smaller rates"
    )]
    VerdictDiverged,
    /// More runs are asked for of one that was started with parts that are not kept.
    #[error(
        "verdicts: found reruns of a run with {what} of the caller's own, expected one that \
         its configuration alone describes; ask for 0 reruns"
    )]
    RerunsOfOwnParts {
        /// Which part.
        what: &'static str,
    },
    /// An energy of the caller's own names a tensor like that of another part.
    #[error("energy: found a tensor `{name}`, expected names that begin with `energy.`")]
    EnergyTensor {
        /// Name of the tensor.
        name: String,
    },
    /// A saved state lacks a tensor.
    #[error("saved state: it has no tensor `{name}`; it was written by another version or energy")]
    MissingTensor {
        /// Name of the tensor.
        name: String,
    },
    /// A saved state has a tensor that no part of the run knows.
    #[error(
        "saved state: no part of the run has a tensor `{name}`; it was written by another \
             version or energy"
    )]
    UnknownTensor {
        /// Name of the tensor.
        name: String,
    },
    /// A tensor of a saved state has another shape than the configuration asks for.
    #[error(
        "saved state: tensor `{name}`: expected {} × {}, found {} × {}",
        expected.0, expected.1, found.0, found.1
    )]
    TensorShape {
        /// Name of the tensor.
        name: String,
        /// Rows and columns that fit.
        expected: (usize, usize),
        /// Rows and columns that came.
        found: (usize, usize),
    },
    /// A number of a saved state cannot be one.
    #[error("saved state: tensor `{name}`: expected {expected}, found {found}")]
    TensorValue {
        /// Name of the tensor.
        name: String,
        /// What is allowed.
        expected: &'static str,
        /// The value.
        found: f64,
    },
    /// A checkpoint belongs to a recording of another shape.
    #[error(
        "saved state: the checkpoint belongs to a recording of {} samples × {} channels, this one \
         has {} × {}",
        expected.0, expected.1, found.0, found.1
    )]
    OtherShape {
        /// Samples and channels of the run.
        expected: (usize, usize),
        /// Samples and channels that came.
        found: (usize, usize),
    },
    /// A checkpoint belongs to another recording of the same shape.
    #[error(
        "saved state: the checkpoint belongs to another recording of the same shape (fingerprint \
         {expected:016x}, this one has {found:016x}); give the recording that the run was started \
         with"
    )]
    OtherRecording {
        /// Fingerprint of the run's recording.
        expected: u64,
        /// That of the one that came.
        found: u64,
    },
    /// The parts of an interrupted run do not fit together.
    #[error(
        "saved state: restarts {running:?} are in progress and {finished:?} have ended{}; every \
         restart must be there once, and those that have ended leave their best result",
        if *has_best { " with a result" } else { " without a result" }
    )]
    Session {
        /// Restarts in progress, counted from 0.
        running: Vec<usize>,
        /// Restarts that have ended.
        finished: Vec<usize>,
        /// Whether the best of them is there.
        has_best: bool,
    },
}

/// A setting as TOML has it.
fn spelled(value: &impl Value) -> String {
    value.spelled().unwrap_or_default()
}

fn no_window(patch: usize, block: Option<usize>) -> String {
    match block {
        None => format!(
            "stretch with two whole patches of {patch}; fill short gaps before the separation or \
             remove {patch} from branches.patch_sizes"
        ),
        Some(len) => format!(
            "block of {len} samples (optimizer.block, branches.crop) with two whole patches of \
             {patch}; fill short gaps before the separation, choose longer blocks or remove \
             {patch} from branches.patch_sizes"
        ),
    }
}

/// `Result` with this library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
