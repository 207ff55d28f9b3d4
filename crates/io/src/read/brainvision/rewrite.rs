//! A BrainVision recording, copied with new numbers: three files again, whose header and markers
//! differ from those of the input in the names of the files only.
//!
//! The numbers go first and the header last, so that a header that is there has its numbers. A
//! number that lies beyond what the file can hold is refused: to widen the resolution would change
//! every other number.

use super::ascii::{Part, scan};
use super::header::{Ascii, Coding};
use super::sections::section_name;
use super::{BrainVisionReader, no_number};
use crate::error::{Error, Result};
use crate::read::Note;
use crate::read::rewrite::{Replacement, Units, in_place, is_same, same_file, write_file};
use crate::read::source::Source;
use crate::read::text::Precision;
use std::path::{Path, PathBuf};

/// The files that are written.
struct Files {
    header: PathBuf,
    data: PathBuf,
    markers: Option<PathBuf>,
}

impl Files {
    /// As the input has them, under the name of `out`, which may be any of the three.
    fn new(reader: &BrainVisionReader, out: &Path) -> Self {
        let like = |path: &Path| out.with_extension(path.extension().unwrap_or_default());
        Self {
            header: like(&reader.path),
            data: like(reader.data.path()),
            markers: reader.markers.as_deref().map(like),
        }
    }

    /// Refuses to write over the input.
    fn check(&self, reader: &BrainVisionReader) -> Result<()> {
        let inputs = [
            Some(&*reader.path),
            Some(reader.data.path()),
            reader.markers.as_deref(),
        ];
        for file in [Some(&self.header), Some(&self.data), self.markers.as_ref()] {
            let Some(file) = file else { continue };
            if inputs.iter().flatten().any(|input| same_file(input, file)) {
                return Err(Error::kind(
                    file,
                    "another file than the recording",
                    "one of its own",
                    "choose another name",
                ));
            }
        }
        Ok(())
    }
}

pub(super) fn rewrite(
    reader: &mut BrainVisionReader,
    new: &Replacement<'_>,
    out: &Path,
) -> Result<Vec<Note>> {
    let files = Files::new(reader, out);
    files.check(reader)?;
    let data_name = name(&files.data);
    let marker_name = files.markers.as_deref().map(name);
    let mut names = vec![("datafile", data_name.as_str())];
    if let Some(name) = &marker_name {
        names.push(("markerfile", name));
    }
    let header = with_names(&files.header, &reader.head, &names)?;
    let markers = match (&reader.markers, &files.markers) {
        (Some(from), Some(to)) => {
            let bytes = crate::atomic::read(from)?;
            Some((to, with_names(to, &bytes, &names[..1])?))
        }
        _ => None,
    };
    let mut notes = numbers(reader, new, &files.data)?;
    let mut written = vec![files.data.clone()];
    let texts = markers.into_iter().chain([(&files.header, header)]);
    for (file, bytes) in texts {
        let result = write_file(file, |out| {
            out.write_all(&bytes).map_err(Error::writing(file))
        });
        if let Err(error) = result {
            // Numbers without their header are a third of a recording.
            for file in written {
                let _ = std::fs::remove_file(file);
            }
            return Err(error);
        }
        written.push(file.clone());
    }
    notes.push(Note::detected(format!(
        "{} names its numbers and markers, which are beside it",
        files.header.display()
    )));
    Ok(notes)
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// A header or a marker file with other names of files in its common section.
fn with_names(path: &Path, bytes: &[u8], names: &[(&str, &str)]) -> Result<Vec<u8>> {
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    let (mut out, mut section) = (Vec::with_capacity(bytes.len() + 64), String::new());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        if let Some(name) = section_name(&text).filter(|_| section != "comment") {
            section = name;
        }
        let key = text
            .split_once('=')
            .map(|(key, _)| key.trim().to_lowercase());
        let new = names.iter().find(|(own, _)| key.as_deref() == Some(own));
        match new.filter(|_| section == "common infos") {
            None => out.extend(line),
            Some((_, name)) => {
                let at = line
                    .iter()
                    .position(|&byte| byte == b'=')
                    .map_or(0, |at| at + 1);
                out.extend(&line[..at]);
                out.extend(encoded(path, name, is_utf8)?);
                let end = line.trim_ascii_end().len().max(at);
                out.extend(&line[end..]);
            }
        }
    }
    Ok(out)
}

/// A name in the letters of the file that it is written into.
fn encoded(path: &Path, name: &str, is_utf8: bool) -> Result<Vec<u8>> {
    if is_utf8 {
        return Ok(name.as_bytes().to_vec());
    }
    let letters: Option<Vec<u8>> = name
        .chars()
        .map(|letter| u8::try_from(letter).ok())
        .collect();
    letters.ok_or_else(|| {
        Error::kind(
            path,
            "a name in letters of Latin-1, which the header is written in",
            format!("`{name}`"),
            "choose another name",
        )
    })
}

fn numbers(reader: &mut BrainVisionReader, new: &Replacement<'_>, out: &Path) -> Result<Vec<Note>> {
    if let Some((offset, block)) = reader.block() {
        let header = &reader.header;
        let units = |channel| Units {
            offset: 0.0,
            step: header.step(channel),
        };
        return in_place(&mut reader.data, (offset, &block), new, &units, out);
    }
    let Coding::Ascii(coding) = reader.header.coding else {
        return Ok(Vec::new());
    };
    let precision = precision(reader, coding, new)?;
    let (path, header) = (reader.data.path().to_owned(), &reader.header);
    let n_samples = reader.n_samples;
    let mut source = Source::open(&path)?;
    let mut input = source.stream(0)?;
    write_file(out, |file| {
        scan(&path, &mut input, coding, &mut |part| {
            let (line, place, text) = match part {
                Part::Other(bytes) => return file.write_all(bytes).map_err(Error::writing(out)),
                Part::Cell { line, place, text } => (line, place, text),
            };
            let (sample, channel) = header.counted(&path, n_samples, (line, place))?;
            let replaced = new.get(sample, channel).filter(|&value| {
                let old = coding.value(text).unwrap_or(f64::NAN);
                !is_same(old * header.step(channel), value)
            });
            let written = match replaced {
                None => file.write_all(text),
                Some(value) if value.is_nan() => file.write_all(b"NaN"),
                Some(value) => {
                    let number = value / header.step(channel);
                    let text = precision[channel].text(number, coding.decimal_comma);
                    file.write_all(text.as_bytes())
                }
            };
            written.map_err(Error::writing(out))
        })?;
        Ok(Vec::new())
    })
}

/// How the numbers of every channel are written.
fn precision(
    reader: &mut BrainVisionReader,
    coding: Ascii,
    new: &Replacement<'_>,
) -> Result<Vec<Precision>> {
    let (path, header) = (reader.data.path().to_owned(), &reader.header);
    let n_samples = reader.n_samples;
    let mut found = vec![Precision::default(); header.n_columns()];
    let mut input = reader.data.stream(0)?;
    scan(&path, &mut input, coding, &mut |part| {
        if let Part::Cell { line, place, text } = part {
            let at = header.counted(&path, n_samples, (line, place))?;
            if new.wants(at.1) {
                coding
                    .value(text)
                    .ok_or_else(|| no_number(&path, header, at, text))?;
                found[at.1].see(text);
            }
        }
        Ok(())
    })?;
    Ok(found)
}
