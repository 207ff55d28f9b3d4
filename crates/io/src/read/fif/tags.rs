//! A FIF file as a sequence of tags: kind, type, size, and bytes; some open and close blocks.
//!
//! In: a file. Out: its tags in order, each with the blocks that it lies in. Tags point to the next
//! one, sometimes backwards, in files that were edited; no tag comes twice, so that a damaged file
//! has an end. What the tags mean is not known here.

use crate::error::Result;
use crate::read::source::{Source, damaged};
use std::collections::HashSet;

const BLOCK_START: i32 = 104;
const BLOCK_END: i32 = 105;
/// Blocks inside each other; MNE's files have at most six.
const DEEPEST: usize = 64;
/// Bytes of a tag before its contents.
const HEAD: u64 = 16;

/// Types of contents.
pub(super) mod of_type {
    pub const INT: i32 = 3;
    pub const FLOAT: i32 = 4;
    pub const DOUBLE: i32 = 5;
}

/// One tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub kind: i32,
    pub kind_of_data: i32,
    /// Bytes of its contents, all of them inside the file.
    pub size: u64,
    /// Where its contents begin.
    pub at: u64,
}

/// What comes next in a file.
#[derive(Debug)]
pub(super) enum Item {
    Tag(Tag),
    Start,
    End(i32),
}

/// A walk through a file.
#[derive(Debug, Default)]
pub(super) struct Tags {
    at: u64,
    ended: bool,
    blocks: Vec<i32>,
    /// Where tags were found.
    seen: HashSet<u64>,
}

impl Tags {
    /// The innermost block.
    pub fn block(&self) -> i32 {
        self.blocks.last().copied().unwrap_or(0)
    }

    pub fn next(&mut self, source: &mut Source) -> Result<Option<Item>> {
        // Some files end with a tag that only says so, others with their last byte.
        if self.ended || self.at >= source.length() {
            return Ok(None);
        }
        let place = format!("tag at byte {}", self.at);
        let head = source.bytes(self.at, HEAD, &place)?;
        let field =
            |at: usize| i32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let path = source.path();
        let Ok(size) = u64::try_from(field(8)) else {
            return Err(damaged(path, place, "a size from 0", field(8).to_string()));
        };
        let tag = Tag {
            kind: field(0),
            kind_of_data: field(4),
            size,
            at: self.at + HEAD,
        };
        source.require(tag.at, size, &place)?;
        match field(12) {
            -1 => self.ended = true,
            0 => self.at = tag.at + size,
            next if next > 0 => self.at = next as u64,
            next => {
                let expected = "the place of the next tag";
                return Err(damaged(path, place, expected, next.to_string()));
            }
        }
        if !self.seen.insert(tag.at) {
            return Err(damaged(
                path,
                place,
                "another tag than before",
                "one that came before",
            ));
        }
        match tag.kind {
            BLOCK_START => {
                if self.blocks.len() == DEEPEST {
                    let expected = format!("at most {DEEPEST} blocks inside each other");
                    return Err(damaged(path, place, expected, "more"));
                }
                let block = source.integer(&tag)?;
                self.blocks.push(block);
                Ok(Some(Item::Start))
            }
            BLOCK_END => Ok(Some(Item::End(self.blocks.pop().unwrap_or(0)))),
            _ => Ok(Some(Item::Tag(tag))),
        }
    }
}

impl Source {
    /// The contents of a tag.
    pub(super) fn contents_of(&mut self, tag: &Tag) -> Result<Vec<u8>> {
        self.bytes(
            tag.at,
            tag.size,
            &format!("tag {} at byte {}", tag.kind, tag.at - HEAD),
        )
    }

    /// The numbers of a tag.
    pub(super) fn numbers(&mut self, tag: &Tag) -> Result<Vec<f64>> {
        let bytes = self.contents_of(tag)?;
        let read =
            |size: usize, decode: fn(&[u8]) -> f64| bytes.chunks_exact(size).map(decode).collect();
        use crate::read::numbers::{Endian::Big, Number};
        match tag.kind_of_data {
            of_type::INT => Ok(read(4, Number::I32.decoder(Big))),
            of_type::FLOAT => Ok(read(4, Number::F32.decoder(Big))),
            of_type::DOUBLE => Ok(read(8, Number::F64.decoder(Big))),
            other => Err(damaged(
                self.path(),
                format!("tag {} at byte {}", tag.kind, tag.at - HEAD),
                "whole or real numbers (type 3, 4 or 5)",
                format!("type {other}"),
            )),
        }
    }

    /// The first number of a tag.
    pub(super) fn number(&mut self, tag: &Tag) -> Result<f64> {
        let numbers = self.numbers(tag)?;
        let place = || format!("tag {} at byte {}", tag.kind, tag.at - HEAD);
        match numbers.first() {
            Some(number) if number.is_finite() => Ok(*number),
            Some(number) => Err(damaged(
                self.path(),
                place(),
                "a number",
                number.to_string(),
            )),
            None => Err(damaged(self.path(), place(), "a number", "none")),
        }
    }

    pub(super) fn integer(&mut self, tag: &Tag) -> Result<i32> {
        Ok(self.number(tag)? as i32)
    }

    /// A text, in Latin-1.
    pub(super) fn text(&mut self, tag: &Tag) -> Result<String> {
        let bytes = self.contents_of(tag)?;
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        Ok(text.trim_end_matches('\0').to_string())
    }
}
