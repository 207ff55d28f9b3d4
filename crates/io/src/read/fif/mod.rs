//! MNE's FIF (also Neuromag's, Elekta's and MEGIN's): raw data in one file or several.
//!
//! In: a file. Out: numbers times calibration and range, in the units of the header; parts that
//! were not recorded are missing; annotations and triggers are events. Files that go on in others
//! (`a.fif`, `a-1.fif`) are read to their end. Channels of triggers and of the device's states, and
//! those that are marked as bad, are read only when they are asked for. Neither projections nor
//! compensations are applied. Refused: everything but raw data, such as epochs.
//!
//! Written by hand: `exg` (0.0.6), which can read it, is under the GPL.

mod annotations;
mod channels;
mod part;
mod rewrite;
mod tags;
mod triggers;

use super::Note;
use super::numbers::Endian;
use super::rewrite::Replacement;
use super::source::{Source, damaged};
use super::table::{Channel, Contents, Reader, Table};
use crate::error::{Error, Result};
use channels::Described;
use part::{Buffer, Part};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that are decoded at once.
const BUFFER: usize = 1 << 20;
/// Files of one recording; each holds up to 2 GB.
const MOST_PARTS: usize = 1000;

/// A FIF recording.
pub(crate) struct FifReader {
    parts: Vec<Part>,
    /// The first sample of every part.
    firsts: Vec<usize>,
    contents: Contents,
}

impl FifReader {
    pub fn open(source: Source) -> Result<Self> {
        let mut parts = vec![part::read(source)?];
        let mut next = parts[0].next.clone();
        while let Some(path) = next {
            let last = &parts[parts.len() - 1];
            let part = follow(&path, last, &parts)?;
            next = part.next.clone();
            parts.push(part);
        }
        let mut firsts = Vec::new();
        let mut n_samples = 0;
        for part in &parts {
            firsts.push(n_samples);
            n_samples += part.n_samples;
        }
        let contents = contents(&parts, n_samples)?;
        let mut reader = Self {
            parts,
            firsts,
            contents,
        };
        triggers::add(&mut reader)?;
        Ok(reader)
    }

    fn channels(&self) -> &[Described] {
        &self.parts[0].channels
    }

    fn n_samples(&self) -> usize {
        self.contents
            .channels
            .first()
            .map_or(0, |channel| channel.n_samples)
    }
}

/// The file that goes on where `last` ends.
fn follow(path: &Path, last: &Part, parts: &[Part]) -> Result<Part> {
    let name = path.file_name().unwrap_or_default().display().to_string();
    let trouble = |found: &str| {
        Error::content(
            last.source.path(),
            "next file",
            format!("`{name}` beside it, in which the recording goes on"),
            found,
            "copy all files of the recording to one directory, under their own names",
        )
    };
    if !path.is_file() {
        return Err(trouble("no such file"));
    }
    if parts.len() == MOST_PARTS || parts.iter().any(|part| part.source.path() == path) {
        return Err(trouble("one that was read before"));
    }
    let part = part::read(Source::open(path)?)?;
    let first = &parts[0];
    let alike = part.rate == first.rate
        && part.channels.len() == first.channels.len()
        && part
            .channels
            .iter()
            .zip(&first.channels)
            .all(|(a, b)| a.name == b.name);
    if !alike {
        return Err(damaged(
            path,
            "channels",
            format!(
                "those of `{}`, at {} Hz",
                first.source.path().display(),
                first.rate
            ),
            format!("{} channels at {} Hz", part.channels.len(), part.rate),
        ));
    }
    Ok(part)
}

/// Channels, annotations and what is to be said about them.
fn contents(parts: &[Part], n_samples: usize) -> Result<Contents> {
    let first = &parts[0];
    let mut contents = Contents::default();
    let has_long_names = first.long_names.len() == first.channels.len();
    for (at, channel) in first.channels.iter().enumerate() {
        let is_bad = first.bad.contains(&channel.name);
        let bad = is_bad.then_some("it is marked as bad in the file");
        contents.channels.push(Channel {
            name: if has_long_names {
                first.long_names[at].clone()
            } else {
                channel.name.clone()
            },
            unit: channel.unit.clone(),
            rate: Some(first.rate),
            n_samples,
            left_out: channel.left_out().or(bad),
            position: channel.position,
        });
    }
    contents.detected("scaled to physical units; no projection is applied");
    if parts.len() > 1 {
        let paths: Vec<PathBuf> = parts.iter().map(|part| part.source.path().into()).collect();
        let names = paths
            .iter()
            .map(|path| path.file_name().unwrap_or_default().to_string_lossy());
        let names: Vec<_> = names.collect();
        contents.detected(format!(
            "{} files: {}",
            parts.len(),
            super::assemble::shortened(&names)
        ));
    }
    if first.is_later {
        contents.warn("this is a later file of a recording: what comes before it is not read");
    }
    if parts.iter().any(|part| part.is_shielded) {
        contents.warn("recorded with internal active shielding: clean it with MaxFilter first");
    }
    let held: usize = parts
        .iter()
        .flat_map(|part| &part.buffers)
        .map(|buffer| buffer.n_samples)
        .sum();
    if held < n_samples {
        contents.warn(format!(
            "{} samples were not recorded and are missing",
            n_samples - held
        ));
    }
    let seconds = first.first_sample / first.rate;
    contents.events = first
        .annotations
        .events(&first.source, seconds, first.date)?;
    if !contents.events.is_empty() {
        contents.detected(format!("{} annotations are events", contents.events.len()));
    }
    Ok(contents)
}

impl FifReader {
    /// Decodes the samples `rows` of the recording, those of a buffer at a time: calls `visit` with
    /// the first sample and the bytes of whole samples.
    fn each_run(
        &mut self,
        rows: Range<usize>,
        mut visit: impl FnMut(&[Described], &Buffer, usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for (part, &first) in self.parts.iter_mut().zip(&self.firsts) {
            let (source, channels) = (&mut part.source, &part.channels);
            for buffer in &part.buffers {
                let start = first + buffer.first;
                let from = rows.start.max(start);
                let to = rows.end.min(start + buffer.n_samples);
                let frame = buffer.number.size() * channels.len();
                let at_once = (BUFFER / frame).max(1);
                for row in (from..to).step_by(at_once) {
                    let count = at_once.min(to - row);
                    let at = buffer.at + ((row - start) * frame) as u64;
                    let place = format!("buffer at byte {}", buffer.at);
                    let bytes = source.bytes(at, (count * frame) as u64, &place)?;
                    visit(channels, buffer, row, &bytes)?;
                }
            }
        }
        Ok(())
    }
}

impl Reader for FifReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        for (channel, described) in self.channels().iter().enumerate() {
            if table.wants(channel) && !described.factor.is_finite() {
                return Err(damaged(
                    self.parts[0].source.path(),
                    format!("channel `{}`, calibration and range", described.name),
                    "finite numbers",
                    described.factor.to_string(),
                ));
            }
        }
        let rows = table.rows();
        self.each_run(rows.clone(), |channels, buffer, row, bytes| {
            let (size, decode) = (buffer.number.size(), buffer.number.decoder(Endian::Big));
            let frame = size * channels.len();
            for (channel, described) in channels.iter().enumerate() {
                let Some(column) = table.column(channel) else {
                    continue;
                };
                let column = &mut column[row - rows.start..];
                for (value, frame) in column.iter_mut().zip(bytes.chunks_exact(frame)) {
                    *value = decode(&frame[channel * size..]) * described.factor;
                }
            }
            Ok(())
        })
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        rewrite::rewrite(self, new, out).map(Some)
    }
}
