//! One file of a FIF recording: what its tags say.
//!
//! In: a file. Out: channels, where its buffers of numbers are, annotations, and the name of the
//! file that goes on where this one ends. Numbers are not decoded. Refused: files without raw data,
//! and buffers of complex numbers.

use super::annotations::Annotations;
use super::channels::Described;
use super::tags::{Item, Tag, Tags};
use crate::error::{Error, Result};
use crate::read::numbers::Number;
use crate::read::source::{Source, damaged};
use std::path::PathBuf;

/// Kinds of blocks.
mod block {
    pub const INFO: i32 = 101;
    pub const RAW: i32 = 102;
    pub const CONTINUOUS: i32 = 112;
    pub const CHANNEL: i32 = 113;
    pub const REFERENCE: i32 = 118;
    /// Raw data with internal active shielding.
    pub const SHIELDED: i32 = 119;
    pub const BAD_CHANNELS: i32 = 359;
    pub const ANNOTATIONS: i32 = 3810;
}

/// Kinds of tags.
mod kind {
    pub const ROLE: i32 = 115;
    pub const FILE_NUMBER: i32 = 117;
    pub const FILE_NAME: i32 = 118;
    pub const N_CHANNELS: i32 = 200;
    pub const RATE: i32 = 201;
    pub const CHANNEL: i32 = 203;
    pub const DATE: i32 = 204;
    pub const FIRST_SAMPLE: i32 = 208;
    pub const LONG_NAME: i32 = 258;
    pub const BUFFER: i32 = 300;
    pub const SKIPPED_BUFFERS: i32 = 301;
    pub const SKIPPED_SAMPLES: i32 = 303;
    pub const NAMES: i32 = 3507;
}

/// Blocks of files that hold something else, in words.
const OTHERS: [(i32, &str); 10] = [
    (373, "epochs"),
    (374, "an ICA solution"),
    (104, "averages (evoked responses)"),
    (352, "a forward solution"),
    (356, "an inverse operator"),
    (355, "a covariance"),
    (351, "a source space"),
    (310, "a head model"),
    (361, "events"),
    (block::ANNOTATIONS, "annotations"),
];

/// Numbers of all channels, sample by sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub at: u64,
    pub number: Number,
    pub n_samples: usize,
    /// The first sample, counted from the first one of the file, skipped ones included.
    pub first: usize,
}

/// What a file says.
pub(super) struct Part {
    pub source: Source,
    pub rate: f64,
    pub channels: Vec<Described>,
    /// Names of more than 15 letters, in the order of the channels.
    pub long_names: Vec<String>,
    pub bad: Vec<String>,
    pub buffers: Vec<Buffer>,
    pub n_samples: usize,
    /// Samples before the first of the file, from the beginning of the measurement.
    pub first_sample: f64,
    pub is_shielded: bool,
    pub is_later: bool,
    /// Seconds since 1970.
    pub date: Option<f64>,
    pub annotations: Annotations,
    pub next: Option<PathBuf>,
}

/// What a walk has found so far.
#[derive(Default)]
struct Found {
    n_channels: Option<usize>,
    rate: Option<f64>,
    channels: Vec<Described>,
    long_names: Vec<String>,
    bad: Vec<String>,
    buffers: Vec<Tag>,
    /// Before which buffer how many buffers and samples are skipped.
    skips: Vec<(usize, f64, f64)>,
    first_sample: f64,
    is_shielded: bool,
    date: Option<f64>,
    annotations: Annotations,
    other: Option<&'static str>,
    reference: Reference,
    is_later: bool,
    next: Option<PathBuf>,
}

/// A block that names another file.
#[derive(Default)]
struct Reference {
    role: i32,
    name: Option<String>,
    number: Option<i32>,
}

pub(super) fn read(mut source: Source) -> Result<Part> {
    let mut found = Found::default();
    let mut tags = Tags::default();
    while let Some(item) = tags.next(&mut source)? {
        match item {
            Item::Start => {
                let other = OTHERS.iter().find(|(block, _)| *block == tags.block());
                found.other = found.other.or(other.map(|(_, name)| *name));
            }
            Item::End(block::REFERENCE) => found.close_reference(&source),
            Item::End(_) => {}
            Item::Tag(tag) => found.take(&mut source, tags.block(), &tag)?,
        }
    }
    found.into_part(source)
}

impl Found {
    /// Takes a tag of a block into account.
    fn take(&mut self, source: &mut Source, block: i32, tag: &Tag) -> Result<()> {
        match (block, tag.kind) {
            (block::INFO, kind::N_CHANNELS) => {
                self.n_channels = usize::try_from(source.integer(tag)?).ok();
            }
            (block::INFO, kind::RATE) => self.rate = Some(source.number(tag)?),
            (block::INFO, kind::DATE) => {
                self.date = super::annotations::date(&source.numbers(tag)?);
            }
            (block::INFO, kind::CHANNEL) => {
                let bytes = source.contents_of(tag)?;
                let number = self.channels.len() + 1;
                self.channels
                    .push(Described::parse(source.path(), number, &bytes)?);
            }
            (block::CHANNEL, kind::LONG_NAME) => self.long_names.push(source.text(tag)?),
            (block::BAD_CHANNELS, kind::NAMES) => {
                self.bad = source.text(tag)?.split(':').map(String::from).collect();
            }
            (block::ANNOTATIONS, _) => self.annotations.take(source, tag)?,
            (block::REFERENCE, kind::ROLE) => self.reference.role = source.integer(tag)?,
            (block::REFERENCE, kind::FILE_NAME) => self.reference.name = Some(source.text(tag)?),
            (block::REFERENCE, kind::FILE_NUMBER) => {
                self.reference.number = Some(source.integer(tag)?);
            }
            (block::RAW | block::CONTINUOUS | block::SHIELDED, kind) => {
                self.is_shielded |= block == block::SHIELDED;
                match kind {
                    kind::BUFFER => self.buffers.push(*tag),
                    kind::FIRST_SAMPLE => self.first_sample = source.number(tag)?,
                    kind::SKIPPED_BUFFERS => {
                        let count = source.number(tag)?;
                        self.skips.push((self.buffers.len(), count, 0.0));
                    }
                    kind::SKIPPED_SAMPLES => {
                        let count = source.number(tag)?;
                        self.skips.push((self.buffers.len(), 0.0, count));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The end of a block that names the next file, or the one before.
    fn close_reference(&mut self, source: &Source) {
        let reference = std::mem::take(&mut self.reference);
        self.is_later |= reference.role == 1;
        if reference.role != 2 || self.next.is_some() {
            return;
        }
        let path = source.path();
        let numbered = || {
            // Some files have the number only: `a.fif`, `a-1.fif`, `a-2.fif`, …
            let stem = path.file_stem()?.to_string_lossy().into_owned();
            let base = match stem.rsplit_once('-') {
                Some((base, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => base,
                _ => &stem,
            };
            Some(format!("{base}-{}.fif", reference.number?))
        };
        let name = reference.name.clone().or_else(numbered);
        self.next = name
            .map(|name| path.with_file_name(name.rsplit(['/', '\\']).next().unwrap_or_default()));
    }

    fn into_part(self, source: Source) -> Result<Part> {
        let path = source.path().to_owned();
        if self.buffers.is_empty() {
            return Err(Error::content(
                &path,
                "contents",
                "raw data",
                self.other.unwrap_or("none"),
                "give the file that the raw recording is in",
            ));
        }
        let n_channels = self.channels.len();
        if n_channels == 0 || self.n_channels != Some(n_channels) {
            let expected = match self.n_channels {
                Some(claimed) => format!("{claimed} descriptions"),
                None => "their number".to_string(),
            };
            return Err(damaged(&path, "channels", expected, n_channels.to_string()));
        }
        let rate = match self.rate {
            Some(rate) if rate > 0.0 => rate,
            rate => {
                let found = rate.map_or("none".into(), |rate| rate.to_string());
                return Err(damaged(&path, "sampling rate", "a number above 0", found));
            }
        };
        let mut part = Part {
            source,
            rate,
            long_names: self.long_names,
            bad: self.bad,
            buffers: Vec::with_capacity(self.buffers.len()),
            n_samples: 0,
            first_sample: self.first_sample,
            is_shielded: self.is_shielded,
            is_later: self.is_later,
            date: self.date,
            annotations: self.annotations,
            next: self.next,
            channels: self.channels,
        };
        let size_of_all: u64 = self.buffers.iter().map(|tag| tag.size).sum();
        if size_of_all > part.source.length() {
            let found = format!("{size_of_all} bytes of them");
            return Err(damaged(
                &path,
                "buffers",
                "buffers beside each other",
                found,
            ));
        }
        for (position, tag) in self.buffers.iter().enumerate() {
            let (number, n_samples) = size(&path, tag, n_channels)?;
            for &(before, buffers, samples) in &self.skips {
                if before == position {
                    part.skip(buffers * n_samples as f64 + samples)?;
                }
            }
            part.buffers.push(Buffer {
                at: tag.at,
                number,
                n_samples,
                first: part.n_samples,
            });
            part.n_samples += n_samples;
        }
        let held: usize = part.buffers.iter().map(|buffer| buffer.n_samples).sum();
        if part.n_samples as f64 > MOST_GAPS * held as f64 {
            return Err(Error::content(
                &path,
                "samples that were skipped",
                format!("at most {MOST_GAPS} times what is recorded"),
                (part.n_samples - held).to_string(),
                "cut the file into its continuous parts",
            ));
        }
        Ok(part)
    }
}

/// A file may miss at most so many times what it holds.
const MOST_GAPS: f64 = 64.0;

impl Part {
    /// Leaves out samples that were not recorded. Those before the first buffer only say when the
    /// recording began.
    fn skip(&mut self, count: f64) -> Result<()> {
        let most = MOST_GAPS * self.source.length() as f64;
        if !(0.0..=most - self.n_samples as f64).contains(&count) {
            return Err(damaged(
                self.source.path(),
                "samples that were skipped",
                "a number that fits the recording",
                count.to_string(),
            ));
        }
        if self.buffers.is_empty() {
            self.first_sample += count;
        } else {
            self.n_samples += count as usize;
        }
        Ok(())
    }
}

/// How the numbers of a buffer are written, and its samples.
fn size(path: &std::path::Path, tag: &Tag, n_channels: usize) -> Result<(Number, usize)> {
    let place = format!("buffer at byte {}", tag.at);
    let number = match tag.kind_of_data {
        2 | 16 => Number::I16,
        3 => Number::I32,
        4 => Number::F32,
        5 => Number::F64,
        other => {
            if ![20, 21].contains(&other) {
                let expected = "numbers of type 2, 3, 4, 5 or 16";
                return Err(damaged(path, place, expected, format!("type {other}")));
            }
            let remedy = "save its real part as a recording of its own";
            return Err(Error::content(
                path,
                place,
                "real numbers",
                "complex ones",
                remedy,
            ));
        }
    };
    let frame = (number.size() * n_channels) as u64;
    if tag.size == 0 || !tag.size.is_multiple_of(frame) {
        let expected = format!("whole samples of {n_channels} channels, {frame} bytes each");
        return Err(damaged(
            path,
            place,
            expected,
            format!("{} bytes", tag.size),
        ));
    }
    Ok((number, (tag.size / frame) as usize))
}
