//! Files packed with gzip or zstd: unpacked into a temporary file, which the readers then read as
//! if it were the file itself, and packed again where a copy is to be named so.
//!
//! In: a file, told by its first bytes. Out: the unpacked bytes in the folder of the system for
//! temporary files, removed with their last user. Memory stays small whatever the file holds; what
//! it unpacks to may be at most [`MOST`] times its size. A file that is cut short is refused by the
//! checksum or the end mark that both formats have. Nothing here knows what the bytes mean.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// How many times its size a file may unpack to. Deflate cannot reach it; zstd can, where one
/// number is repeated for gigabytes.
const MOST: u64 = 1100;
/// Files below this may unpack to as much as this many bytes would.
const SMALL: u64 = 1 << 12;
/// Windows of zstd up to 128 MiB, as its own program takes them without being told.
const LARGEST_WINDOW: u64 = 1 << 27;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// By the first bytes.
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x1f\x8b") {
            Some(Packing::Gzip)
        } else if head.starts_with(b"\x28\xb5\x2f\xfd") {
            Some(Packing::Zstd)
        } else {
            None
        }
    }

    /// By the ending of a name.
    pub fn named(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_string_lossy().to_lowercase();
        match ending.as_str() {
            "gz" => Some(Packing::Gzip),
            "zst" => Some(Packing::Zstd),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    /// Unpacks a file of `size` bytes; gives the unpacked one.
    pub fn unpack(self, file: &mut File, size: u64) -> io::Result<NamedTempFile> {
        let most = size.max(SMALL).saturating_mul(MOST);
        let input = BufReader::new(file);
        let temporary = tempfile::Builder::new().prefix("strt-").tempfile()?;
        let mut out = BufWriter::new(temporary.as_file());
        let length = match self {
            Packing::Gzip => {
                let unpacked = flate2::read::MultiGzDecoder::new(input);
                io::copy(&mut unpacked.take(most + 1), &mut out)?
            }
            Packing::Zstd => unpack_zstd(input, &mut out, most + 1)?,
        };
        if length > most {
            let what = format!("more than {MOST} times the size of the file");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        out.flush()?;
        drop(out);
        Ok(temporary)
    }

    /// Hands `fill` a writer whose bytes reach `out` packed.
    pub fn pack<T>(
        self,
        out: &mut (dyn Write + Send),
        fill: impl FnOnce(&mut (dyn Write + Send)) -> T,
    ) -> io::Result<T> {
        match self {
            Packing::Gzip => {
                let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                let value = fill(&mut packed);
                packed.finish()?;
                Ok(value)
            }
            Packing::Zstd => {
                // The encoder of the crate takes a failing disk for a mistake of its own: it packs
                // in memory.
                let mut plain = Vec::new();
                let value = fill(&mut plain);
                out.write_all(&compress_to_vec(&plain[..], CompressionLevel::Fastest))?;
                Ok(value)
            }
        }
    }
}

/// What the decoder says, whose own words are those of its code.
fn told(text: String) -> io::Error {
    if text.contains("UnexpectedEof") || text.contains("fill whole buffer") {
        return io::ErrorKind::UnexpectedEof.into();
    }
    io::Error::new(io::ErrorKind::InvalidData, "a frame that does not decode")
}

/// Unpacks one frame, up to `most` bytes and what one block has beyond them.
fn copy_frame(
    decoder: &mut FrameDecoder,
    input: &mut impl BufRead,
    out: &mut impl Write,
    most: u64,
) -> io::Result<u64> {
    let mut length = 0;
    loop {
        let is_finished = decoder.is_finished();
        while decoder.can_collect() > 0 {
            length += decoder.collect_to_writer(&mut *out)? as u64;
        }
        if is_finished || length > most {
            return Ok(length);
        }
        decoder
            .decode_blocks(&mut *input, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|error| told(error.to_string()))?;
    }
}

/// Unpacks all frames, up to `most` bytes; gives how many there were. Checksums are compared where
/// frames have one.
fn unpack_zstd(mut input: impl BufRead, out: &mut impl Write, most: u64) -> io::Result<u64> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(LARGEST_WINDOW);
    let mut length = 0;
    while !input.fill_buf()?.is_empty() && length < most {
        match decoder.reset(&mut input) {
            Ok(()) => {}
            // Some programs keep what they know of the file in frames of their own.
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                super::skip(&mut input, u64::from(length))?;
                continue;
            }
            Err(error) => return Err(told(error.to_string())),
        }
        length += copy_frame(&mut decoder, &mut input, out, most - length)?;
        let expected = decoder.get_checksum_from_data();
        if length < most && expected.is_some() && expected != decoder.get_calculated_checksum() {
            let text = "another checksum than was written";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
    }
    Ok(length)
}
