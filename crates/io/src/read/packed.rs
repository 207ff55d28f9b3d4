//! Files packed with gzip or zstd: unpacked into a temporary file, which the readers then read as
//! if it were the file itself, and packed again where a copy is to be named so.
//!
//! In: a file, told by its first bytes. Out: the unpacked bytes in the folder of the system for
//! temporary files, removed with their last user. Memory stays small whatever the file holds; what
//! it unpacks to may be at most [`MOST`] times its size. A file that is cut short is refused by the
//! checksum or the end mark that both formats have. Nothing here knows what the bytes mean.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// How many times its size a file may unpack to. Deflate cannot reach it; zstd can, where one
/// number is repeated for gigabytes.
const MOST: u64 = 1100;
/// Files below this may unpack to as much as this many bytes would.
const SMALL: u64 = 1 << 12;
/// Windows of zstd up to 128 MiB, as its own program takes them without being told.
const LARGEST_WINDOW: u32 = 27;

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
            Packing::Zstd => {
                let mut unpacked = zstd::stream::read::Decoder::new(input)?;
                unpacked.window_log_max(LARGEST_WINDOW)?;
                io::copy(&mut unpacked.take(most + 1), &mut out)?
            }
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
                let mut packed = zstd::stream::write::Encoder::new(out, 0)?;
                let value = fill(&mut packed);
                packed.finish()?;
                Ok(value)
            }
        }
    }
}
