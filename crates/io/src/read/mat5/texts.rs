//! A MATLAB 5 to 7 file with other words in some texts.
//!
//! In: the bytes of a file, names and a text. Out: the bytes with that text in every variable, and
//! in every field of a variable that is one structure, which has one of the names and holds text;
//! everything else is copied. Sizes of what holds a text follow its length, so that unlike numbers
//! (`rewrite.rs`) it cannot be replaced where it lies.

use super::elements::word;
use crate::read::numbers::Endian;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};
use std::ops::Range;

const HEADER: usize = 128;
/// Codes of elements.
const SIGNED_WORDS: u32 = 5;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Codes of texts of two bytes a letter.
const WIDE: [u32; 3] = [3, 4, 17];
/// Classes of arrays.
const STRUCTURE: u32 = 2;
const TEXT: u32 = 4;

/// The file with `text` under these names; `None` where there is no such text, or the file is not
/// one of these.
pub(in crate::read) fn with_text(file: &[u8], names: &[&str], text: &str) -> Option<Vec<u8>> {
    let endian = match file.get(126..HEADER)? {
        b"IM" => Endian::Little,
        b"MI" => Endian::Big,
        _ => return None,
    };
    let new = New {
        endian,
        names,
        text,
    };
    let mut out = file[..HEADER].to_vec();
    let (mut at, mut found) = (HEADER, false);
    while at + 8 <= file.len() {
        let variable = new.element(file, at)?;
        let replaced = match variable.code {
            COMPRESSED => {
                let mut unpacked = Vec::new();
                let mut packed = ZlibDecoder::new(&file[variable.contents]);
                packed.read_to_end(&mut unpacked).ok()?;
                let replaced = new.variable(&unpacked);
                replaced.map(|bytes| new.packed(&bytes)).transpose().ok()?
            }
            _ => new.variable(&file[variable.all.clone()]),
        };
        found |= replaced.is_some();
        match replaced {
            Some(bytes) => out.extend(bytes),
            None => out.extend_from_slice(&file[variable.all.clone()]),
        }
        at = variable.all.end;
    }
    out.extend_from_slice(&file[at..]);
    found.then_some(out)
}

/// Where an element is.
struct Element {
    code: u32,
    contents: Range<usize>,
    /// With its tag and what fills it up.
    all: Range<usize>,
}

/// What is put in.
struct New<'a> {
    endian: Endian,
    names: &'a [&'a str],
    text: &'a str,
}

impl New<'_> {
    /// The element at a byte; `None` where it is not all there.
    fn element(&self, bytes: &[u8], at: usize) -> Option<Element> {
        let first = word(bytes.get(at..at.checked_add(4)?)?, self.endian);
        let (code, contents, end) = match (first >> 16) as usize {
            0 => {
                let size = word(bytes.get(at + 4..at + 8)?, self.endian) as usize;
                let filled = match first {
                    MATRIX | COMPRESSED => size,
                    _ => size.checked_next_multiple_of(8)?,
                };
                (first, at + 8..at + 8 + size, at + 8 + filled)
            }
            size => (first & 0xffff, at + 4..at + 4 + size.min(4), at + 8),
        };
        (end <= bytes.len()).then_some(Element {
            code,
            contents,
            all: at..end,
        })
    }

    /// A variable under its tag, with the text in it; `None` where it has no place for it.
    fn variable(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let array = Array::of(self, bytes)?;
        match array.class {
            TEXT if self.names.contains(&array.name.as_str()) => self.text_array(bytes, &array),
            STRUCTURE if array.n_values == 1 => self.structure(bytes, &array),
            _ => None,
        }
    }

    fn structure(&self, bytes: &[u8], array: &Array) -> Option<Vec<u8>> {
        let length = self.element(bytes, array.values_at)?;
        let size = word(
            bytes.get(length.contents.start..length.contents.start + 4)?,
            self.endian,
        );
        let names = self.element(bytes, length.all.end)?;
        let mut out = bytes[8..names.all.end].to_vec();
        let (mut at, mut found) = (names.all.end, false);
        for name in bytes[names.contents].chunks_exact((size as usize).max(1)) {
            let field = self.element(bytes, at)?;
            let own = &bytes[field.all.clone()];
            let name = name.split(|&byte| byte == 0).next().unwrap_or(name);
            let wanted = self.names.iter().any(|wanted| wanted.as_bytes() == name);
            let array = Array::of(self, own).filter(|array| wanted && array.class == TEXT);
            match array.and_then(|array| self.text_array(own, &array)) {
                Some(text) => {
                    found = true;
                    out.extend(text);
                }
                None => out.extend_from_slice(own),
            }
            at = field.all.end;
        }
        out.extend_from_slice(bytes.get(at..)?);
        found.then(|| self.tagged(MATRIX, &out)).flatten()
    }

    /// An array of the text, in the letters of the one that it replaces.
    fn text_array(&self, bytes: &[u8], array: &Array) -> Option<Vec<u8>> {
        let code = self.element(bytes, array.values_at)?.code;
        let (letters, n) = if WIDE.contains(&code) {
            let units: Vec<u16> = self.text.encode_utf16().collect();
            let letters = units.iter().flat_map(|unit| match self.endian {
                Endian::Little => unit.to_le_bytes(),
                Endian::Big => unit.to_be_bytes(),
            });
            (letters.collect(), units.len())
        } else {
            (self.text.as_bytes().to_vec(), self.text.chars().count())
        };
        let shape = [1, u32::try_from(n).ok()?].map(|n| self.word(n)).concat();
        let mut out = bytes[8..array.shape.start].to_vec();
        out.extend(self.tagged(SIGNED_WORDS, &shape)?);
        out.extend_from_slice(&bytes[array.shape.end..array.values_at]);
        out.extend(self.tagged(code, &letters)?);
        self.tagged(MATRIX, &out)
    }

    fn word(&self, value: u32) -> [u8; 4] {
        match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        }
    }

    /// Contents under a tag, filled up; `None` where they are too long for one.
    fn tagged(&self, code: u32, contents: &[u8]) -> Option<Vec<u8>> {
        let size = u32::try_from(contents.len()).ok()?;
        let mut bytes = [self.word(code), self.word(size)].concat();
        bytes.extend_from_slice(contents);
        if code != COMPRESSED {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        Some(bytes)
    }

    fn packed(&self, variable: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(variable)?;
        let tagged = self.tagged(COMPRESSED, &packed.finish()?);
        tagged.ok_or_else(|| std::io::Error::other("a variable of more than 4 GB"))
    }
}

/// What an array says of itself.
struct Array {
    class: u32,
    n_values: u64,
    name: String,
    /// The element of its shape.
    shape: Range<usize>,
    /// Where its values begin.
    values_at: usize,
}

impl Array {
    /// Of an array under its tag.
    fn of(new: &New<'_>, bytes: &[u8]) -> Option<Array> {
        let array = new.element(bytes, 0).filter(|array| array.code == MATRIX)?;
        let flags = new.element(bytes, array.contents.start)?;
        let shape = new.element(bytes, flags.all.end)?;
        let name = new.element(bytes, shape.all.end)?;
        let class = word(
            bytes.get(flags.contents.start..flags.contents.start + 4)?,
            new.endian,
        );
        let sizes = bytes[shape.contents].chunks_exact(4);
        Some(Array {
            class: class & 0xff,
            n_values: sizes
                .map(|size| u64::from(word(size, new.endian)))
                .product(),
            name: String::from_utf8_lossy(&bytes[name.contents]).into_owned(),
            shape: shape.all,
            values_at: name.all.end,
        })
    }
}
