//! WAV: 32-bit floating point, one channel a signal. Values are not scaled, so players may clip
//! what exceeds −1…1.

use super::{Signals, check_size, sound};
use crate::error::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// The rate as this format writes it.
pub(super) fn check(path: &Path, signals: &Signals<'_>) -> Result<u32> {
    check_size(path, signals, 4, "WAV")?;
    if signals.values.ncols() > usize::from(u16::MAX) / 4 {
        return Err(Error::request(
            path,
            "output",
            "at most 16383 channels",
            signals.values.ncols().to_string(),
            "write another format",
        ));
    }
    sound::rate(path, signals, u32::MAX)
}

pub(super) fn write(file: &mut dyn Write, signals: &Signals<'_>, rate: u32) -> io::Result<()> {
    let (rows, columns) = signals.values.shape();
    let size = (rows * columns * 4) as u32;
    let frame = (4 * columns) as u16;
    file.write_all(b"RIFF")?;
    file.write_all(&(4 + 24 + 2 + 12 + 8 + size).to_le_bytes())?;
    file.write_all(b"WAVEfmt ")?;
    file.write_all(&18u32.to_le_bytes())?;
    file.write_all(&3u16.to_le_bytes())?;
    file.write_all(&(columns as u16).to_le_bytes())?;
    file.write_all(&rate.to_le_bytes())?;
    file.write_all(&rate.saturating_mul(u32::from(frame)).to_le_bytes())?;
    file.write_all(&frame.to_le_bytes())?;
    file.write_all(&32u16.to_le_bytes())?;
    file.write_all(&0u16.to_le_bytes())?;
    file.write_all(b"fact")?;
    file.write_all(&4u32.to_le_bytes())?;
    file.write_all(&(rows as u32).to_le_bytes())?;
    file.write_all(b"data")?;
    file.write_all(&size.to_le_bytes())?;
    for row in signals.values.row_iter() {
        for value in row.iter() {
            file.write_all(&(*value as f32).to_le_bytes())?;
        }
    }
    Ok(())
}
