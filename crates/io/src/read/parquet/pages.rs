//! The pages of one column → numbers, page by page.
//!
//! In: the chunk of a column. Out: calls with a row and a number; rows that are missing are passed
//! over. One page at a time is unpacked.

use super::encodings::{differences, plain, runs, split_bytes};
use super::footer::{Chunk, Codec, Column, Kind};
use super::thrift::{Input, Value};
use crate::error::{Error, Result};
use crate::read::source::{Source, damaged};
use std::io::Read;
use std::path::Path;

/// Writers fill pages up to a megabyte; one that is larger must not be packed more than deflate can
/// pack.
const USUAL_PAGE: u64 = 1 << 21;

/// Numbers of the kinds of pages.
const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_2: i64 = 3;

/// Reads the rows of a chunk; `put(row, number)`.
pub(super) fn read(
    source: &mut Source,
    column: &Column,
    kind: Kind,
    chunk: &Chunk,
    n_rows: usize,
    put: &mut dyn FnMut(usize, f64),
) -> Result<()> {
    let path = source.path().to_owned();
    let place = format!("column `{}`", column.name);
    let codec = chunk.codec.map_err(|code| {
        Error::content(
            &path,
            place.clone(),
            "pages that are not packed, or with snappy, gzip or zstd",
            format!("codec {code}"),
            "write it with another compression",
        )
    })?;
    let bytes = source.bytes(chunk.offset, chunk.size, &place)?;
    let pages = Pages {
        path: &path,
        place: &place,
        column,
        kind,
        codec,
    };
    let mut input = Input::new(&bytes);
    let (mut row, mut dictionary) = (0, Vec::new());
    while row < n_rows {
        let header = input
            .structure()
            .ok_or_else(|| pages.damaged("the header of a page"))?;
        let (Some(page), Some(unpacked), Some(packed)) =
            (header.int(1), size(&header, 2), size(&header, 3))
        else {
            return Err(pages.damaged("the header of a page"));
        };
        let body = input
            .take(packed)
            .ok_or_else(|| pages.damaged("a page inside its column"))?;
        match page {
            DICTIONARY => dictionary = pages.dictionary(&header, body, unpacked)?,
            DATA | DATA_2 => {
                row += pages.data(page, &header, body, unpacked, &dictionary, row, n_rows, put)?
            }
            _ => {}
        }
    }
    Ok(())
}

fn size(header: &Value, field: i16) -> Option<usize> {
    header
        .int(field)
        .and_then(|size| usize::try_from(size).ok())
}

/// What all pages of a column share.
struct Pages<'a> {
    path: &'a Path,
    place: &'a str,
    column: &'a Column,
    kind: Kind,
    codec: Codec,
}

impl Pages<'_> {
    fn dictionary(&self, header: &Value, body: &[u8], unpacked: usize) -> Result<Vec<f64>> {
        let count = header.field(7).and_then(|header| size(header, 1));
        let bytes = self.unpacked(body, unpacked)?;
        count
            .and_then(|count| plain(self.kind, &bytes, count))
            .ok_or_else(|| self.damaged("a dictionary of plain numbers"))
    }

    /// Gives the number of rows.
    fn data(
        &self,
        page: i64,
        header: &Value,
        body: &[u8],
        unpacked: usize,
        dictionary: &[f64],
        first: usize,
        n_rows: usize,
        put: &mut dyn FnMut(usize, f64),
    ) -> Result<usize> {
        let own = header.field(if page == DATA { 5 } else { 8 });
        let own = own.ok_or_else(|| self.damaged("the header of a page"))?;
        let encoding = own.int(if page == DATA { 2 } else { 4 });
        let count = size(own, 1).filter(|&count| count > 0 && count <= n_rows - first);
        let (Some(encoding), Some(count)) = (encoding, count) else {
            return Err(self.damaged("pages with as many rows as their group"));
        };
        let bytes;
        let (levels, values) = if page == DATA {
            bytes = self.unpacked(body, unpacked)?;
            match self.column.optional {
                true => prefixed(&bytes).ok_or_else(|| self.damaged("a page with levels"))?,
                false => (&[][..], &bytes[..]),
            }
        } else {
            // Levels come first and are never packed.
            let sizes = size(own, 5)
                .zip(size(own, 6))
                .filter(|(_, repetition)| *repetition == 0);
            let (levels, rest) = sizes
                .and_then(|(levels, _)| body.split_at_checked(levels))
                .ok_or_else(|| self.damaged("a page with levels"))?;
            let is_packed = own.field(7) != Some(&Value::Bool(false));
            bytes = match is_packed {
                true => self.unpacked(rest, unpacked.saturating_sub(levels.len()))?,
                false => rest.to_vec(),
            };
            (levels, &bytes[..])
        };
        let present: Option<Vec<u32>> = match self.column.optional {
            true => {
                Some(runs(levels, 1, count).ok_or_else(|| self.damaged("levels for every row"))?)
            }
            false => None,
        };
        let n_present = present.as_ref().map_or(count, |present| {
            present.iter().filter(|&&level| level == 1).count()
        });
        let numbers = self.numbers(encoding, values, n_present, dictionary)?;
        let mut numbers = numbers.into_iter();
        for row in 0..count {
            let is_present = present.as_ref().is_none_or(|present| present[row] == 1);
            if let Some(number) = is_present.then(|| numbers.next()).flatten() {
                put(first + row, number);
            }
        }
        Ok(count)
    }

    fn numbers(
        &self,
        encoding: i64,
        bytes: &[u8],
        count: usize,
        dictionary: &[f64],
    ) -> Result<Vec<f64>> {
        let found = match encoding {
            0 => plain(self.kind, bytes, count),
            2 | 8 => bytes.split_first().and_then(|(&width, rest)| {
                let keys = runs(rest, u32::from(width), count)?;
                keys.into_iter()
                    .map(|key| dictionary.get(key as usize).copied())
                    .collect()
            }),
            3 => prefixed(bytes).and_then(|(bits, _)| {
                let bits = runs(bits, 1, count)?;
                Some(bits.into_iter().map(f64::from).collect())
            }),
            5 => differences(self.kind, bytes, count),
            9 => split_bytes(self.kind, bytes, count),
            other => {
                return Err(Error::content(
                    self.path,
                    self.place,
                    "an encoding for numbers",
                    format!("encoding {other}"),
                    "write the file with another program",
                ));
            }
        };
        // A page without any value has no bytes either.
        match (found, count) {
            (_, 0) => Ok(Vec::new()),
            (Some(numbers), _) => Ok(numbers),
            (None, _) => Err(self.damaged("as many numbers as the header of the page says")),
        }
    }

    fn unpacked(&self, bytes: &[u8], size: usize) -> Result<Vec<u8>> {
        let most = (bytes.len() as u64).saturating_mul(1032).max(USUAL_PAGE);
        if size as u64 > most {
            return Err(self.damaged("a page that its packed bytes can hold"));
        }
        let unpacked = match self.codec {
            Codec::None => Some(bytes.to_vec()),
            Codec::Snappy => match snap::raw::decompress_len(bytes) {
                Ok(claimed) if claimed == size => {
                    snap::raw::Decoder::new().decompress_vec(bytes).ok()
                }
                _ => None,
            },
            Codec::Gzip => read_all(flate2::read::MultiGzDecoder::new(bytes), size),
            Codec::Zstd => unzstd(bytes, size),
        };
        unpacked
            .filter(|unpacked| unpacked.len() == size)
            .ok_or_else(|| self.damaged("a page that can be unpacked"))
    }

    fn damaged(&self, expected: &str) -> Error {
        damaged(self.path, self.place, expected, "other bytes")
    }
}

/// At most one byte more than `size`: a longer page is then noticed.
fn read_all(input: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn unzstd(bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut decoder = ruzstd::decoding::FrameDecoder::new();
    // The window is the decoder's memory. Writers that stream ask for more than a page needs.
    decoder.set_max_window_size((size as u64).max(1 << 23));
    let input = ruzstd::decoding::StreamingDecoder::new_with_decoder(bytes, decoder).ok()?;
    read_all(input, size)
}

/// Bytes with their length before them, and what follows.
fn prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
