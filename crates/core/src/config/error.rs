//! Why a configuration cannot run: facts, and the one place where they become text.

use super::{Bounds, Config, Kind, settings};
use strt_kernels::cpu::MAX_D_HEAD;

/// A setting whose value cannot run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("configuration: {key} = {found}: {reason}")]
pub struct ConfigError {
    /// The setting, such as `branches.mask_ratio`.
    pub key: &'static str,
    /// Its value, as a user types it.
    pub found: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a value. The text says what is expected, or what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A number lies outside its bounds.
    #[error("expected {}", .bounds.expected(*.kind))]
    OutOfBounds {
        /// Which numbers are allowed.
        bounds: &'static Bounds,
        /// What the setting holds.
        kind: Kind,
    },
    /// An MLP without a hidden layer.
    #[error("expected at least one hidden layer, such as [32]")]
    NoHiddenLayer,
    /// Patch sizes that do not ascend, or none.
    #[error("expected ascending sizes, such as [4, 8, 16]")]
    NotAscending,
    /// Heads that cannot share the token width.
    #[error("expected an even multiple of n_heads = {n_heads}")]
    UnevenHeads {
        /// Number of heads.
        n_heads: usize,
    },
    /// A head that the fast engine has no memory for.
    #[error("expected at most {MAX_D_HEAD} per head of the cpu engine; use more heads")]
    WideHeads,
    /// Attention that is more local at long scales.
    #[error("expected a number above slope_min = {slope_min}")]
    SlopesCross {
        /// The slope at the longest scale.
        slope_min: f64,
    },
    /// Blocks of an energy that has no logarithm.
    #[error(
        "only the energy \"log\" is taken over blocks: set it to 0, or weights.energy to \"log\""
    )]
    BlocksOfRawEnergy,
    /// No steps where the start is no result.
    #[error(
        "expected at least 1; without steps there is only the preset \"fast\", with mixer.kind = \
         \"affine\""
    )]
    NoSteps,
    /// Freedom by a share that is not known.
    #[error(
        "without sources.standardize it is not known which share of a source is predicted: set it \
         to \"full\""
    )]
    UnknownShare,
    /// A crop that cannot hold two patches.
    #[error("a crop must hold two patches of {patch}: at least {needed} samples")]
    ShortCrop {
        /// The patch size.
        patch: usize,
        /// Samples of two patches.
        needed: usize,
    },
    /// A classical method that has too few samples to find a start.
    #[error(
        "this start needs {needed} complete samples for {n_sources} sources and {n_complete} are \
         there; use \"random\""
    )]
    TooFewSamplesToStart {
        /// Samples that the method needs.
        needed: usize,
        /// K.
        n_sources: usize,
        /// Samples without missing channels.
        n_complete: usize,
    },
    /// Sources were to be given, and were not.
    #[error("give the initial sources to Trainer::start")]
    SourcesNotGiven,
    /// Sources were given, and were not to be.
    #[error("given initial sources need the init \"given\"")]
    SourcesGiven,
    /// A mixer was to be given, and was not.
    #[error("give the mixer to Trainer::start")]
    MixerNotGiven,
    /// A mixer was given, and was not to be.
    #[error("a given mixer needs the kind \"custom\"")]
    MixerGiven,
    /// A mixer without a layer that can be eliminated.
    #[error("this mixer names no linear head to eliminate; set it to \"gradient\"")]
    NoLinearHead,
    /// A mixer whose inputs cannot be moved.
    #[error(
        "this mixer cannot reorder its inputs; implement permute_sources or set the rule to \
         \"none\""
    )]
    FixedInputs,
    /// The system gives no threads.
    #[error("could not start the worker threads ({cause}); ask for fewer")]
    NoThreads {
        /// What the system said.
        cause: String,
    },
}

impl Config {
    /// The error that names a setting, its value here and what is wrong with it.
    pub(crate) fn refused(&self, key: &'static str, reason: Reason) -> ConfigError {
        let setting = settings().find(|setting| setting.key == key);
        let found = setting.and_then(|setting| setting.value(self));
        ConfigError {
            key,
            found: found.unwrap_or_else(|| "automatic".into()),
            reason,
        }
    }
}
