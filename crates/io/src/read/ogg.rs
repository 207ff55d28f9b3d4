//! Sound in Ogg Vorbis files, through `lewton`.
//!
//! The samples are what the decoder gives, about −1…1. A file is decoded once to count its samples
//! and once to take them: what its pages claim is not believed, and what its codebooks claim is
//! bounded before the decoder sees them ([`vorbis`]). Refused: Opus, FLAC and Speex in Ogg, and
//! files of several streams.
//!
//! A limit of `lewton` (0.10): random damage is noticed by the checksums of the pages, but a file
//! that was made on purpose, with right checksums, can still make the decoder ask for gigabytes
//! through its residues. Builds for files of strangers leave the feature `ogg` out.

use super::source::{Source, damaged, failed};
use super::table::{Contents, Reader, Table};
use super::vorbis;
use crate::error::{Error, Result};
use lewton::VorbisError;
use lewton::inside_ogg::OggStreamReader;
use std::io::{self, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// An Ogg Vorbis file.
pub(crate) struct OggReader {
    source: Source,
    contents: Contents,
}

impl OggReader {
    pub fn open(source: Source) -> Result<Self> {
        let file = BufReader::new(source.again()?.into_file());
        vorbis::check(file).map_err(|error| failed(source.path(), error, "pages"))?;
        let mut n_decoded = 0;
        let found = decode(&source, |block| {
            n_decoded += block[0].len();
            true
        })?;
        let Found {
            n_channels, rate, ..
        } = found;
        // A last packet is longer than what it ends; the page tells how long the sound is.
        let n_samples = found
            .end
            .map_or(n_decoded, |end| n_decoded.min(end as usize));
        if n_samples == 0 {
            return Err(damaged(
                source.path(),
                "sound",
                "at least one sample",
                "none",
            ));
        }
        let mut contents = Contents::plain(n_samples, n_channels, Some(f64::from(rate)));
        contents.detected(format!("Vorbis at {rate} Hz, decoded to about -1…1"));
        contents.warn("Vorbis leaves out what is hard to hear: small sources may be damaged");
        Ok(Self { source, contents })
    }
}

/// What a file holds.
struct Found {
    n_channels: usize,
    rate: u32,
    /// Samples up to the end of the last page, of a file with one stream.
    end: Option<u64>,
}

/// Hands the blocks of a file to `take`, one list a channel, until it says `false`. The decoder
/// panics on some damaged streams whose checksums are right; that is an error like any other here.
fn decode(source: &Source, take: impl FnMut(&[Vec<f32>]) -> bool) -> Result<Found> {
    catch_unwind(AssertUnwindSafe(|| decode_all(source, take))).unwrap_or_else(|_| {
        let expected = "a stream that can be decoded";
        Err(damaged(source.path(), "sound", expected, "other bytes"))
    })
}

fn decode_all(source: &Source, mut take: impl FnMut(&[Vec<f32>]) -> bool) -> Result<Found> {
    let path = source.path();
    let wrong = |error: VorbisError| failed(path, told(error), "sound");
    let file = BufReader::new(source.again()?.into_file());
    let mut stream = OggStreamReader::new(file).map_err(wrong)?;
    let n_channels = usize::from(stream.ident_hdr.audio_channels);
    let rate = stream.ident_hdr.audio_sample_rate;
    if n_channels == 0 || rate == 0 {
        let found = format!("{n_channels} channels at {rate} Hz");
        let expected = "at least one channel and a rate above 0";
        return Err(damaged(path, "header", expected, found));
    }
    let serial = stream.stream_serial();
    while let Some(block) = stream
        .read_dec_packet_generic::<Vec<Vec<f32>>>()
        .map_err(wrong)?
    {
        if stream.ident_hdr.audio_sample_rate != rate || block.len() != n_channels {
            return Err(another_stream(path));
        }
        if !take(&block) {
            break;
        }
    }
    let is_one = stream.stream_serial() == serial;
    let end = stream.get_last_absgp().filter(|_| is_one);
    Ok(Found {
        n_channels,
        rate,
        end,
    })
}

fn another_stream(path: &Path) -> Error {
    Error::content(
        path,
        "sound",
        "one stream",
        "several with other channels or rates",
        "save them as files of their own",
    )
}

fn told(error: VorbisError) -> io::Error {
    match error {
        VorbisError::OggError(lewton::OggReadError::ReadError(error)) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}

impl Reader for OggReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let rows = table.rows();
        let mut first = 0;
        decode(&self.source, |block| {
            for (channel, samples) in block.iter().enumerate() {
                if table.wants(channel) {
                    for (i, &sample) in samples.iter().enumerate() {
                        table.set(first + i, channel, f64::from(sample));
                    }
                }
            }
            first += block[0].len();
            first < rows.end
        })?;
        Ok(())
    }
}
