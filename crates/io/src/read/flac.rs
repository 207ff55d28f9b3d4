//! Sound in FLAC files: whole numbers of 4 to 32 bits, scaled to −1…1 by their full range.
//!
//! A file is decoded from its beginning, whatever span is wanted, and every frame is compared with
//! its checksums.

use super::source::{Source, damaged, failed};
use super::table::{Contents, Reader, Table};
use crate::error::Result;
use crate::flac::{Decoder, StreamInfo};
use std::path::Path;

/// Samples of all channels that a byte may stand for before the file is decoded to count them.
const MOST_PER_BYTE: u64 = 64;

/// A FLAC file.
pub(crate) struct FlacReader {
    source: Source,
    info: StreamInfo,
    contents: Contents,
}

impl FlacReader {
    pub fn open(mut source: Source) -> Result<Self> {
        let (info, n_samples) = length(&mut source)?;
        let rate = Some(f64::from(info.rate)).filter(|&rate| rate > 0.0);
        let mut contents = Contents::plain(n_samples as usize, info.n_channels, rate);
        let at = rate.map_or("without a rate".into(), |rate| format!("at {rate} Hz"));
        contents.detected(format!(
            "{}-bit whole numbers {at}, scaled to -1…1",
            info.width
        ));
        if info.n_samples.is_none() {
            contents.detected(format!(
                "the file does not say how long it is: {n_samples} samples were counted"
            ));
        }
        Ok(Self {
            source,
            info,
            contents,
        })
    }
}

/// What a stream holds, and how many samples of each channel. Where it does not say, or claims more
/// than such a file usually holds, they are counted.
pub(super) fn length(source: &mut Source) -> Result<(StreamInfo, u64)> {
    let path = source.path().to_owned();
    let size = source.length();
    let mut decoder = decoder(source, &path)?;
    let info = decoder.info();
    let is_usual = |n: &u64| n.saturating_mul(info.n_channels as u64) / MOST_PER_BYTE <= size;
    if let Some(n_samples) = info.n_samples.filter(is_usual) {
        return Ok((info, n_samples));
    }
    let counted = decoder.count().map_err(wrong(&path))?;
    match info.n_samples {
        Some(claimed) if claimed > counted => Err(damaged(
            &path,
            "frames",
            format!("{claimed} samples, as the beginning says"),
            format!("{counted} samples"),
        )),
        Some(claimed) => Ok((info, claimed)),
        None if counted == 0 => Err(damaged(&path, "frames", "at least one", "none")),
        None => Ok((info, counted)),
    }
}

fn decoder<'a>(source: &'a mut Source, path: &Path) -> Result<Decoder<impl std::io::BufRead + 'a>> {
    Decoder::new(source.stream(0)?).map_err(|error| failed(path, error, "beginning of the stream"))
}

fn wrong(path: &Path) -> impl Fn(std::io::Error) -> crate::error::Error {
    move |error| failed(path, error, "frames")
}

impl Reader for FlacReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let mut decoder = decoder(&mut self.source, &path)?;
        let range = 2f64.powi(self.info.width as i32 - 1);
        let rows = table.rows();
        let mut first = 0;
        while first < rows.end {
            let Some(block) = decoder.next_block().map_err(wrong(&path))? else {
                return Err(wrong(&path)(std::io::ErrorKind::UnexpectedEof.into()));
            };
            let length = block[0].len();
            for (channel, samples) in block.iter().enumerate() {
                if !table.wants(channel) || first + length <= rows.start {
                    continue;
                }
                for (i, &sample) in samples.iter().enumerate() {
                    table.set(first + i, channel, sample as f64 / range);
                }
            }
            first += length;
        }
        Ok(())
    }
}
