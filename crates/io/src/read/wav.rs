//! Sound in WAV files: RIFF or RF64, whole numbers of 8 to 32 bits and floating point of 32 or 64.
//!
//! Whole numbers are scaled to −1…1 by their full range; floating-point numbers stay as they are.
//! Refused: compressed sound (ADPCM, MP3, A-law, …).
//!
//! Written by hand: `hound` (3.5) reads no floating point of 64 bits and no RF64, and decodes one
//! sample after the other, where a span of some channels is wanted.

use super::Note;
use super::numbers::{Block, Endian, Number, Order};
use super::rewrite::{Replacement, Units, in_place};
use super::source::{Source, damaged};
use super::table::{Contents, Reader, Table};
use crate::error::{Error, Result};
use std::path::Path;

const PCM: u16 = 1;
const FLOAT: u16 = 3;
const EXTENSIBLE: u16 = 0xfffe;

/// A WAV file.
pub(crate) struct WavReader {
    source: Source,
    block: Block,
    data_at: u64,
    contents: Contents,
}

/// The chunk `fmt `.
struct Sound {
    block: Block,
    rate: u32,
    bits: u16,
}

impl WavReader {
    pub fn open(mut source: Source) -> Result<Self> {
        let path = source.path().to_owned();
        let mut at = 12;
        let (mut sound, mut long_size) = (None, None);
        loop {
            let chunk = source.bytes(at, 8, "chunk header before the chunk `data`")?;
            let size = u64::from(u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]));
            let body = at + 8;
            match &chunk[..4] {
                b"fmt " => sound = Some(format(&mut source, body, size)?),
                b"ds64" => {
                    let sizes = source.bytes(body, 16, "chunk `ds64`")?;
                    long_size = Some(u64::from_le_bytes(
                        sizes[8..].try_into().unwrap_or_default(),
                    ));
                }
                b"data" => {
                    let Some(sound) = sound else {
                        return Err(damaged(
                            &path,
                            "chunk `fmt `",
                            "one before the data",
                            "none",
                        ));
                    };
                    return Self::with_data(source, sound, body, size, long_size);
                }
                _ => {}
            }
            // Chunks start at even places.
            at = body + size + size % 2;
        }
    }

    /// `size` is that of the chunk header, `long_size` that of RF64 where the other is too short.
    fn with_data(
        source: Source,
        sound: Sound,
        data_at: u64,
        size: u64,
        long_size: Option<u64>,
    ) -> Result<Self> {
        let Sound {
            mut block,
            rate,
            bits,
        } = sound;
        let to_the_end = source.length() - data_at;
        // Recorders that were switched off leave a size of 0, programs that stream the largest
        // there is.
        let is_unknown = match size {
            0 => to_the_end > 0,
            size => size == u64::from(u32::MAX) && long_size.is_none(),
        };
        let size = match (is_unknown, long_size) {
            (true, _) => to_the_end,
            (false, Some(long_size)) if size == u64::from(u32::MAX) => long_size,
            _ => size,
        };
        source.require(data_at, size, "chunk `data`")?;
        let frame = (block.number.size() * block.n_channels) as u64;
        if size < frame {
            // Before thousands of channels that are not there are given names.
            return Err(damaged(
                source.path(),
                "chunk `data`",
                format!(
                    "one sample of {} channels, {frame} bytes, or more",
                    block.n_channels
                ),
                format!("{size} bytes"),
            ));
        }
        block.n_samples = (size / frame) as usize;
        let mut contents =
            Contents::plain(block.n_samples, block.n_channels, Some(f64::from(rate)));
        contents.detected(match block.number {
            Number::F32 | Number::F64 => {
                format!("{bits}-bit floating point at {rate} Hz, as it is")
            }
            _ => format!("{bits}-bit whole numbers at {rate} Hz, scaled to -1…1"),
        });
        if is_unknown {
            contents
                .warn("the size of the data is not in the header: all bytes to the end are read");
        }
        if size % frame != 0 {
            let rest = size % frame;
            contents.warn(format!(
                "{rest} bytes of a last, incomplete sample are left out"
            ));
        }
        Ok(Self {
            source,
            block,
            data_at,
            contents,
        })
    }
}

fn format(source: &mut Source, at: u64, size: u64) -> Result<Sound> {
    let path = source.path().to_owned();
    if size < 16 {
        return Err(damaged(
            &path,
            "chunk `fmt `",
            "at least 16 bytes",
            format!("{size}"),
        ));
    }
    let bytes = source.bytes(at, size.min(40), "chunk `fmt `")?;
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let (mut code, n_channels, bits) = (word(0), word(2), word(14));
    let rate = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    if code == EXTENSIBLE && bytes.len() >= 26 {
        code = word(24);
    }
    let number = match (code, bits) {
        (PCM, 8) => Number::U8,
        (PCM, 16) => Number::I16,
        (PCM, 24) => Number::I24,
        (PCM, 32) => Number::I32,
        (FLOAT, 32) => Number::F32,
        (FLOAT, 64) => Number::F64,
        _ => {
            return Err(Error::content(
                &path,
                "chunk `fmt `",
                "PCM of 8, 16, 24 or 32 bits, or floating point of 32 or 64",
                format!("coding {code} of {bits} bits"),
                "convert it to 16-bit PCM",
            ));
        }
    };
    if n_channels == 0 || rate == 0 {
        let found = format!("{n_channels} channels at {rate} Hz");
        return Err(damaged(
            &path,
            "chunk `fmt `",
            "at least one channel and a rate above 0",
            found,
        ));
    }
    let frame = usize::from(n_channels) * number.size();
    if usize::from(word(12)) != frame {
        let (expected, found) = (
            format!("samples of {frame} bytes"),
            format!("{} bytes", word(12)),
        );
        return Err(damaged(&path, "chunk `fmt `", expected, found));
    }
    let block = Block {
        number,
        endian: Endian::Little,
        order: Order::Interleaved,
        n_samples: 0,
        n_channels: usize::from(n_channels),
    };
    Ok(Sound { block, rate, bits })
}

impl WavReader {
    fn units(&self) -> Units {
        let (offset, range) = match self.block.number {
            Number::U8 => (128.0, 128.0),
            Number::I16 => (0.0, f64::from(1 << 15)),
            Number::I24 => (0.0, f64::from(1 << 23)),
            Number::I32 => (0.0, 2f64.powi(31)),
            _ => (0.0, 1.0),
        };
        Units {
            offset,
            step: 1.0 / range,
        }
    }
}

impl Reader for WavReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let Units { offset, step } = self.units();
        let mut input = self.source.stream(self.data_at)?;
        self.block
            .fill(&mut input, table, |_, value| (value - offset) * step)
            .map_err(|error| super::source::failed(&path, error, "chunk `data`"))
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        let (units, place) = (self.units(), (self.data_at, &self.block));
        in_place(&mut self.source, place, new, &|_| units, out)?;
        // That sound has steps needs no saying.
        Ok(Some(Vec::new()))
    }
}
