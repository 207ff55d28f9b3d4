//! FLAC streams (RFC 9639): whole numbers of 4 to 32 bits, up to 8 channels.
//!
//! [`Decoder`] gives the samples block by block, as the numbers that the stream holds; every frame
//! is compared with its checksums. [`encode`] writes a stream with fixed predictors. Neither knows
//! what the numbers mean: sound and signals of WFDB records are read through the same decoder.
//!
//! Deliberately absent: seeking, tags, pictures, and streams inside Ogg.
//!
//! Written by hand: `claxon` (0.4.3, of 2020) refuses streams of 32 bits and those that give their
//! width only at the beginning, as encoders do for odd widths; `symphonia` is under the MPL.

mod bits;
mod checksum;
mod decode;
mod encode;
mod subframe;

pub(crate) use decode::{Decoder, StreamInfo};
pub(crate) use encode::encode;

/// The first bytes of a stream.
pub(crate) const MAGIC: &[u8] = b"fLaC";
/// Channels that a stream can hold.
pub(crate) const MOST_CHANNELS: usize = 8;

#[cfg(test)]
mod tests;
