//! From a recording to what the model sees, and back: channel scaling, then whitening.
//!
//! In: observations Y (T × m) with missing samples marked NaN. Out: scaled channels
//! ([`ChannelScaling`]) and the whitened top-K principal components Zw (T × K, [`Whitening`]). Both
//! are fitted once, immutable, invertible and saved with the model. This module does not filter,
//! resample, detrend or fill gaps, and it never reduces the requested number of sources by itself:
//! when the data do not support it, it says so.

mod channels;
pub mod observations;
mod rank;
mod source_count;
mod whitening;

pub use channels::{ChannelScaling, ChannelScalingOptions};
pub use rank::LowRank;
pub use source_count::{
    CountMethod, DescriptionLength, Share, SourceCount, Step, Structure, Witness,
};
pub use whitening::{DEFAULT_RANK_TOLERANCE, Values, Whitening};
