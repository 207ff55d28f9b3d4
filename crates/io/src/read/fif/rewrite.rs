//! A FIF recording, copied with new numbers: all tags but the buffers of numbers stay.
//!
//! Deliberately absent: recordings in several files, whose names are written in each other, and
//! numbers where nothing was recorded, for which the file has no place.

use super::FifReader;
use crate::error::{Error, Result};
use crate::read::Note;
use crate::read::numbers::Endian;
use crate::read::rewrite::{ANOTHER_FORMAT, Replacement, Trouble, copy, is_same, write_file};
use std::io::Read;
use std::path::Path;

pub(super) fn rewrite(
    reader: &mut FifReader,
    new: &Replacement<'_>,
    out: &Path,
) -> Result<Vec<Note>> {
    let [part] = &mut reader.parts[..] else {
        return Err(Error::kind(
            out,
            "a recording in one file",
            format!("one in {} files", reader.parts.len()),
            ANOTHER_FORMAT,
        ));
    };
    let held = |row: usize| {
        let after = part.buffers.partition_point(|buffer| buffer.first <= row);
        let buffer = after.checked_sub(1).map(|at| &part.buffers[at]);
        buffer.is_some_and(|buffer| row < buffer.first + buffer.n_samples)
    };
    let gap = (0..part.n_samples).find(|&row| {
        let channels = 0..part.channels.len();
        !held(row)
            && channels
                .into_iter()
                .any(|c| new.get(row, c).is_some_and(|value| !value.is_nan()))
    });
    if let Some(row) = gap {
        return Err(Error::content(
            out,
            format!("sample {} (counted from 1)", row + 1),
            "missing values: the file holds no samples there",
            "numbers",
            "leave the gaps missing, or write another format, such as NPY or CSV",
        ));
    }
    let path = part.source.path().to_owned();
    let (channels, buffers) = (&part.channels, &part.buffers);
    let mut input = part.source.stream(0)?;
    let (mut at, mut n_rounded) = (0, 0);
    write_file(out, |file| {
        for buffer in buffers {
            let told = |trouble: Trouble| trouble.told(&path, out, new);
            copy(&mut input, file, Some(buffer.at - at)).map_err(told)?;
            let (size, decode) = (buffer.number.size(), buffer.number.decoder(Endian::Big));
            let mut frame = vec![0; size * channels.len()];
            for i in 0..buffer.n_samples {
                input
                    .read_exact(&mut frame)
                    .map_err(|error| told(Trouble::Reading(error)))?;
                let numbers = frame.chunks_exact_mut(size).zip(channels).enumerate();
                for (channel, (bytes, described)) in numbers {
                    let (row, factor) = (buffer.first + i, described.factor);
                    let Some(value) = new.get(row, channel) else {
                        continue;
                    };
                    if is_same(decode(bytes) * factor, value) {
                        continue;
                    }
                    if !buffer.number.encode(Endian::Big, value / factor, bytes) {
                        let expected = format!("a number that {:?} can hold", buffer.number);
                        return Err(told(Trouble::Beyond {
                            row,
                            channel,
                            value,
                            expected,
                        }));
                    }
                    n_rounded += usize::from(buffer.number.limits().is_some());
                }
                file.write_all(&frame).map_err(Error::writing(out))?;
            }
            at = buffer.at + (buffer.n_samples * size * channels.len()) as u64;
        }
        copy(&mut input, file, None).map_err(|trouble| trouble.told(&path, out, new))
    })?;
    Ok(match n_rounded {
        0 => Vec::new(),
        _ => vec![Note::detected(
            "new numbers are rounded to the steps of the file",
        )],
    })
}
