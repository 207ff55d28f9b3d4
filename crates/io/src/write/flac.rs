//! FLAC: 24-bit sound, one channel a signal, each scaled by a factor of its own that is noted as
//! the comment `SCALE_<name>`.

use super::{Signals, sound};
use crate::error::{Error, Result};
use crate::flac::{MOST_CHANNELS, StreamInfo, encode};
use std::io::{self, Write};
use std::path::Path;

/// What the stream will be.
pub(super) fn check(path: &Path, signals: &Signals<'_>) -> Result<StreamInfo> {
    let (n_samples, n_channels) = signals.values.shape();
    if !(1..=MOST_CHANNELS).contains(&n_channels) {
        return Err(Error::request(
            path,
            "output",
            format!("1 to {MOST_CHANNELS} signals in a FLAC file"),
            n_channels.to_string(),
            "write WAV, or one file a signal",
        ));
    }
    if n_samples as u64 >= 1 << 36 {
        let found = n_samples.to_string();
        let expected = "fewer than 2^36 samples in a FLAC file";
        return Err(Error::request(path, "output", expected, found, "write NPY"));
    }
    Ok(StreamInfo {
        rate: sound::rate(path, signals, (1 << 20) - 1)?,
        n_channels,
        width: sound::WIDTH,
        n_samples: Some(n_samples as u64),
    })
}

pub(super) fn write(
    file: &mut dyn Write,
    signals: &Signals<'_>,
    info: &StreamInfo,
) -> io::Result<()> {
    let factors = sound::factors(signals);
    let comments: Vec<String> = signals
        .names
        .iter()
        .zip(&factors)
        .map(|(name, factor)| format!("SCALE_{}={factor}", field(name)))
        .collect();
    encode(file, info, &comments, |t, channel| {
        sound::sample(signals.values[(t, channel)], factors[channel])
    })
}

/// Names of comments have letters of ASCII, but no `=`.
fn field(name: &str) -> String {
    let allowed = |letter: char| (' '..='}').contains(&letter) && letter != '=';
    name.chars()
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect()
}
