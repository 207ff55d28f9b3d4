//! An XDF file as a sequence of chunks: length, tag, contents.
//!
//! In: a file. Out: its chunks in order, each inside the file. A file that ends inside a chunk, as
//! after a crash of the recorder, is read up to there; the caller is told. What the chunks mean is
//! not known here.

use crate::error::Result;
use crate::read::source::{Source, damaged};

/// Bytes of the file before its first chunk: `XDF:`.
const MAGIC: u64 = 4;

/// One chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub tag: u16,
    /// Where its contents begin, and how long they are.
    pub at: u64,
    pub size: u64,
}

/// A walk through a file.
pub(super) struct Chunks {
    at: u64,
    /// Where the file ends inside a chunk, if it does.
    pub broken_off: Option<u64>,
}

impl Chunks {
    pub fn new() -> Self {
        Self {
            at: MAGIC,
            broken_off: None,
        }
    }

    pub fn next(&mut self, source: &mut Source) -> Result<Option<Chunk>> {
        let left = source.length().saturating_sub(self.at);
        if left == 0 {
            return Ok(None);
        }
        let place = format!("chunk at byte {}", self.at);
        let head = source.bytes(self.at, left.min(11), &place)?;
        let mut fields = &head[..];
        let length = match length(&mut fields) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(self.breaks_off()),
            Err(width) => {
                let expected = "a length of 1, 4 or 8 bytes";
                return Err(damaged(
                    source.path(),
                    place,
                    expected,
                    format!("of {width}"),
                ));
            }
        };
        let start = self.at + (head.len() - fields.len()) as u64;
        if length < 2 {
            let found = length.to_string();
            return Err(damaged(
                source.path(),
                place,
                "a length of 2 or more",
                found,
            ));
        }
        match start.checked_add(length) {
            Some(end) if end <= source.length() => {
                let tag = u16::from_le_bytes([fields[0], fields[1]]);
                self.at = end;
                Ok(Some(Chunk {
                    tag,
                    at: start + 2,
                    size: length - 2,
                }))
            }
            _ => Ok(self.breaks_off()),
        }
    }

    fn breaks_off(&mut self) -> Option<Chunk> {
        self.broken_off = Some(self.at);
        self.at = u64::MAX;
        None
    }
}

/// A length: how many bytes it is written in, then these. `None` where the bytes end before it
/// does; an error where it is written in another number of bytes than 1, 4 or 8.
pub(super) fn length(bytes: &mut &[u8]) -> std::result::Result<Option<u64>, u8> {
    let Some((&width, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    if ![1, 4, 8].contains(&width) {
        return Err(width);
    }
    let Some((number, rest)) = rest.split_at_checked(usize::from(width)) else {
        return Ok(None);
    };
    let mut little = [0; 8];
    little[..number.len()].copy_from_slice(number);
    *bytes = rest;
    Ok(Some(u64::from_le_bytes(little)))
}
