//! BrainVision: a header (`.vhdr`), markers (`.vmrk`) and numbers (`.eeg`), in three files.
//!
//! In: any of the three. Out: numbers in the units of the header, markers as events, coordinates as
//! positions. Binary numbers of 16, 32 and 64 bits and numbers in text, multiplexed or vectorized.
//! Segments are joined end to end, with a warning. Filters, impedances and comments are not read.
//!
//! Written by hand: the crate of that name (`brainvision` 0.0.1) receives streams from the
//! amplifier and reads no files.

mod ascii;
mod files;
mod header;
mod markers;
mod rewrite;
mod sections;

pub(super) use files::header_of;

use super::numbers::{Block, Order};
use super::rewrite::Replacement;
use super::source::{Source, damaged, failed};
use super::table::{Channel, Contents, Reader, Table};
use super::{Format, Note};
use crate::error::{Error, Result};
use ascii::{Part, scan};
use header::{Ascii, Coding, Header};
use std::path::{Path, PathBuf};

/// What the channel is called that a V-Amp recorder does not name.
const UNNAMED: &str = "V-Amp";

/// What to do about a text that is not as its header says.
const CHECK_HEADER: &str =
    "check SkipLines, SkipColumns and DecimalSymbol in the header, or use another copy of the text";

/// A BrainVision recording.
pub(crate) struct BrainVisionReader {
    /// The header file.
    path: PathBuf,
    /// The header, byte for byte.
    head: Vec<u8>,
    header: Header,
    /// The file of numbers.
    data: Source,
    markers: Option<PathBuf>,
    n_samples: usize,
    contents: Contents,
}

impl BrainVisionReader {
    pub fn open(mut source: Source) -> Result<Self> {
        let path = source.path().to_owned();
        let head = source.bytes(0, source.length(), "header")?;
        let header = header::parse(&path, &head)?;
        let mut contents = Contents::default();
        let mut data = files::data_file(&path, &header.data_file, &mut contents)?;
        let n_samples = match &header.coding {
            Coding::Binary { .. } => binary_samples(&path, &header, &data, &mut contents)?,
            Coding::Ascii(coding) => ascii_samples(&path, &header, *coding, &mut data)?,
        };
        let markers = match &header.marker_file {
            Some(name) => files::marker_file(&path, name, &mut contents),
            None => None,
        };
        let mut reader = Self {
            path,
            head,
            header,
            data,
            markers,
            n_samples,
            contents,
        };
        reader.describe()?;
        Ok(reader)
    }

    /// Channels, events and what is to be said about them.
    fn describe(&mut self) -> Result<()> {
        for signal in &self.header.signals {
            self.contents.channels.push(Channel {
                name: signal.name.clone(),
                unit: Some(signal.unit.clone()),
                rate: Some(self.header.rate),
                n_samples: self.n_samples,
                left_out: None,
                position: signal.position,
            });
        }
        if self.header.has_unnamed {
            self.contents.channels.push(Channel {
                name: UNNAMED.into(),
                rate: Some(self.header.rate),
                n_samples: self.n_samples,
                left_out: Some("the header does not say what it holds"),
                ..Channel::default()
            });
        }
        let n_positions = self
            .header
            .signals
            .iter()
            .filter(|signal| signal.position.is_some());
        let n_positions = n_positions.count();
        self.contents.detected("scaled to physical units");
        if n_positions > 0 {
            self.contents
                .detected(format!("{n_positions} electrodes have a position"));
        }
        if let Some(segment) = self.header.segment {
            self.contents.warn(format!(
                "segments of {segment} samples are joined end to end; time is not continuous \
                 between them"
            ));
        }
        let Some(markers) = &self.markers else {
            return Ok(());
        };
        let bytes = crate::atomic::read(markers)?;
        let (events, n_breaks) = markers::parse(markers, &bytes, self.header.rate)?;
        if n_breaks > 0 && self.header.segment.is_none() {
            self.contents.warn(format!(
                "the recording was interrupted {n_breaks} times (markers `New Segment`); time is \
                 not continuous there"
            ));
        }
        self.contents
            .detected(format!("{} markers are events", events.len()));
        self.contents.events = events;
        Ok(())
    }

    /// Binary numbers as one block, and where it begins.
    fn block(&self) -> Option<(u64, Block)> {
        let Coding::Binary {
            number,
            endian,
            offset,
        } = self.header.coding
        else {
            return None;
        };
        let block = Block {
            number,
            endian,
            order: self.header.order,
            n_samples: self.n_samples,
            n_channels: self.header.n_columns(),
        };
        Some((offset, block))
    }
}

impl Header {
    /// Channels of the file of numbers.
    fn n_columns(&self) -> usize {
        self.signals.len() + usize::from(self.has_unnamed)
    }

    /// Units of one step of a channel.
    fn step(&self, channel: usize) -> f64 {
        self.signals
            .get(channel)
            .map_or(1.0, |signal| signal.resolution)
    }

    /// Sample and channel of a number in a text that was counted before.
    fn counted(
        &self,
        path: &Path,
        n_samples: usize,
        (line, place): (usize, usize),
    ) -> Result<(usize, usize)> {
        let (sample, channel) = self.sample_and_channel(line, place);
        if sample < n_samples && channel < self.n_columns() {
            return Ok((sample, channel));
        }
        let found = "another one: the file has changed";
        Err(damaged(path, "text", "the text that was counted", found))
    }

    /// Sample and channel of a number in a text.
    fn sample_and_channel(&self, line: usize, place: usize) -> (usize, usize) {
        if self.order == Order::Interleaved {
            (line, place)
        } else {
            (place, line)
        }
    }
}

/// Samples of a binary file: what the header says, or else what fits into it. Recorders write a
/// wrong number of multiplexed samples when they are interrupted; MNE goes by the file, too.
fn binary_samples(
    path: &Path,
    header: &Header,
    data: &Source,
    contents: &mut Contents,
) -> Result<usize> {
    let Coding::Binary { number, offset, .. } = header.coding else {
        return Ok(0);
    };
    data.require(offset, 0, "bytes before the numbers")?;
    let frame = (number.size() * header.n_columns()) as u64;
    let available = (data.length() - offset) / frame;
    let n_samples = match header.n_samples {
        Some(claimed) if claimed as u64 > available => {
            let size = (claimed as u64).saturating_mul(frame);
            let what = format!("{claimed} samples of {} channels", header.n_columns());
            data.require(offset, size, &what)?;
            available
        }
        Some(claimed) if header.order == Order::Planar => claimed as u64,
        _ => available,
    };
    if n_samples == 0 {
        return Err(damaged(
            data.path(),
            "numbers",
            "at least one sample",
            "none",
        ));
    }
    if let Some(claimed) = header
        .n_samples
        .filter(|&claimed| claimed as u64 != n_samples)
    {
        contents.warn(format!(
            "`{}` says {claimed} samples: the {n_samples} samples of the file are read",
            path.file_name().unwrap_or_default().display()
        ));
    }
    let rest = data.length() - offset - n_samples * frame;
    if rest > 0 {
        contents.warn(format!("{rest} bytes after the last sample are not read"));
    }
    Ok(n_samples as usize)
}

/// Samples of a text, all of whose numbers are counted.
fn ascii_samples(path: &Path, header: &Header, coding: Ascii, data: &mut Source) -> Result<usize> {
    let data_path = data.path().to_owned();
    let mut input = data.stream(0)?;
    let size = scan(&data_path, &mut input, coding, &mut |_| Ok(()))?;
    let (n_samples, n_channels) = header.sample_and_channel(size.lines, size.places);
    if n_channels != header.n_columns() || n_samples == 0 {
        let (place, found) = if header.order == Order::Interleaved {
            ("lines", format!("{n_channels} numbers in each"))
        } else {
            ("text", format!("{n_channels} lines"))
        };
        let expected = format!("{} channels, as the header says", header.n_columns());
        return Err(Error::content(
            &data_path,
            place,
            expected,
            found,
            CHECK_HEADER,
        ));
    }
    if let Some(claimed) = header.n_samples.filter(|&claimed| claimed != n_samples) {
        let expected = format!("{claimed} samples, as `{}` says", path.display());
        return Err(damaged(&data_path, "text", expected, n_samples.to_string()));
    }
    Ok(n_samples)
}

/// A cell that holds no number.
fn no_number(path: &Path, header: &Header, at: (usize, usize), text: &[u8]) -> Error {
    let (sample, channel) = at;
    let name = header
        .signals
        .get(channel)
        .map_or(UNNAMED, |signal| &signal.name);
    Error::content(
        path,
        format!("channel `{name}`, sample {} (counted from 1)", sample + 1),
        "a number",
        format!("`{}`", sections::decode(&text[..text.len().min(40)])),
        CHECK_HEADER,
    )
}

impl Reader for BrainVisionReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.data.path().to_owned();
        let block = self.block();
        let header = &self.header;
        if let Some((offset, block)) = block {
            let mut input = self.data.stream(offset)?;
            return block
                .fill(&mut input, table, |channel, number| {
                    number * header.step(channel)
                })
                .map_err(|error| failed(&path, error, "numbers"));
        }
        let Coding::Ascii(coding) = header.coding else {
            return Ok(());
        };
        let mut input = self.data.stream(0)?;
        scan(&path, &mut input, coding, &mut |part| {
            let Part::Cell { line, place, text } = part else {
                return Ok(());
            };
            let (sample, channel) = header.counted(&path, self.n_samples, (line, place))?;
            let number = coding
                .value(text)
                .ok_or_else(|| no_number(&path, header, (sample, channel), text))?;
            table.set(sample, channel, number * header.step(channel));
            Ok(())
        })?;
        Ok(())
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        rewrite::rewrite(self, new, out).map(Some)
    }
}

impl Format {
    /// Whether the first bytes of a file are those of a BrainVision header or marker file.
    pub(super) fn is_brainvision(head: &[u8]) -> bool {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        head.starts_with(b"Brain Vision") || head.starts_with(b"BrainVision")
    }
}
