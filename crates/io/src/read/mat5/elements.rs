//! The elements of one MATLAB variable: tags, sizes, nested arrays.
//!
//! Read once from front to back. Numbers of arrays are passed over; where they start is kept in
//! [`Numeric::id`] until the file knows the array.

use crate::error::{Error, Result};
use crate::read::array::Array;
use crate::read::matlab::{Numeric, Value};
use crate::read::numbers::{Endian, Number, skip};
use crate::read::source::{damaged, failed};
use crate::read::trials::Keeper;
use std::io::Read;
use std::path::Path;

/// Structures in structures; deeper ones are not for reading.
const DEEPEST: usize = 12;
/// Elements of an array of structures; longer ones are passed over.
const MOST_ELEMENTS: usize = 4096;
/// Bytes of a text or of a list of names.
const LONGEST_TEXT: u64 = 1 << 20;

/// What an element holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Numbers(Number),
    Utf8,
    Utf16,
    Utf32,
    Matrix,
    Compressed,
}

impl Kind {
    pub fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            1 => Kind::Numbers(Number::I8),
            2 => Kind::Numbers(Number::U8),
            3 => Kind::Numbers(Number::I16),
            4 => Kind::Numbers(Number::U16),
            5 => Kind::Numbers(Number::I32),
            6 => Kind::Numbers(Number::U32),
            7 => Kind::Numbers(Number::F32),
            9 => Kind::Numbers(Number::F64),
            12 => Kind::Numbers(Number::I64),
            13 => Kind::Numbers(Number::U64),
            14 => Kind::Matrix,
            15 => Kind::Compressed,
            16 => Kind::Utf8,
            17 => Kind::Utf16,
            18 => Kind::Utf32,
            _ => return None,
        })
    }
}

/// A tag: what follows, and how many bytes.
struct Tag {
    kind: Kind,
    size: u64,
    /// Bytes to pass over behind them.
    padding: u64,
}

/// Reads the elements of one variable.
pub(super) struct Elements<'a> {
    path: &'a Path,
    place: String,
    input: Box<dyn Read + 'a>,
    endian: Endian,
    /// Bytes read so far.
    position: u64,
}

impl<'a> Elements<'a> {
    pub fn new(path: &'a Path, place: String, input: Box<dyn Read + 'a>, endian: Endian) -> Self {
        Self {
            path,
            place,
            input,
            endian,
            position: 0,
        }
    }

    /// Name and value of an array with its tag.
    pub fn tagged_array(&mut self) -> Result<(String, Value)> {
        let tag = self.tag()?;
        match tag.kind {
            Kind::Matrix => self.array(tag.size),
            other => Err(self.damaged("an array", format!("an element of kind {other:?}"))),
        }
    }

    /// Name and value of an array of `size` bytes.
    pub fn array(&mut self, size: u64) -> Result<(String, Value)> {
        self.nested(size, 0)
    }

    fn nested(&mut self, size: u64, depth: usize) -> Result<(String, Value)> {
        if size == 0 {
            return Ok((String::new(), Value::Other("an empty field")));
        }
        let end = self.position + size;
        let flags = self.numbers(2)?;
        let (class, is_complex) = (flags[0] as u32 & 0xff, flags[0] as u32 & 0x0800 != 0);
        // Objects of newer classes have no dimensions.
        if class == 17 {
            self.pass(end)?;
            return Ok((String::new(), Value::Other("an object")));
        }
        let shape: Vec<usize> = self
            .numbers(32)?
            .iter()
            .map(|&n| n.max(0.0) as usize)
            .collect();
        let name = self.text()?;
        self.place = match (depth, name.is_empty()) {
            (0, false) => format!("variable `{name}`"),
            _ => std::mem::take(&mut self.place),
        };
        let value = match class {
            2 if depth < DEEPEST => self.structure(&shape, end, depth)?,
            4 => Value::Text(self.text()?),
            6..=15 if !is_complex => self.numeric(shape, end)?,
            1 if depth < DEEPEST => self.cell(&shape, depth)?,
            1 => Value::Other("a cell array"),
            2 => Value::Other("a structure inside many others"),
            5 => Value::Other("a sparse array"),
            6..=15 => Value::Other("complex numbers"),
            _ => Value::Other("an object or a function"),
        };
        // Nobody asks for what follows a variable; in a packed file passing over it would unpack
        // it.
        if depth > 0 {
            self.pass(end)?;
        }
        Ok((name, value))
    }

    fn numeric(&mut self, shape: Vec<usize>, end: u64) -> Result<Value> {
        let tag = self.tag()?;
        let Kind::Numbers(number) = tag.kind else {
            return Err(self.damaged("numbers", format!("an element of kind {:?}", tag.kind)));
        };
        let array = Array {
            number,
            endian: self.endian,
            shape,
            column_major: true,
            keeper: Keeper::Matlab,
        };
        let expected = array
            .n_values()
            .and_then(|n_values| n_values.checked_mul(number.size()));
        if expected.is_none_or(|expected| expected as u64 != tag.size) {
            let expected = format!("data for shape {:?} of {number:?}", array.shape);
            return Err(self.damaged(expected, format!("{} bytes", tag.size)));
        }
        if self.position.saturating_add(tag.size) > end {
            return Err(self.damaged("numbers inside their array", "more of them"));
        }
        let before = self.position;
        let scalar = match array.n_values() {
            Some(1) => Some(number.decoder(self.endian)(&self.bytes(tag.size)?)),
            _ => None,
        };
        let id = before as usize;
        Ok(Value::Numeric(Numeric { array, scalar, id }))
    }

    /// A cell array, where it holds nothing but texts. Of any other only the first element that
    /// is none is looked at: the rest may be large.
    fn cell(&mut self, shape: &[usize], depth: usize) -> Result<Value> {
        let n_elements = shape
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n));
        let mut texts = Vec::new();
        for _ in 0..n_elements.filter(|&n| n <= MOST_ELEMENTS).unwrap_or(0) {
            let tag = self.tag()?;
            let element = match tag.kind {
                Kind::Matrix => self.nested(tag.size, depth + 1)?.1,
                _ => Value::Other("no array"),
            };
            let Value::Text(text) = element else {
                texts.clear();
                break;
            };
            texts.push(text);
        }
        if texts.is_empty() {
            return Ok(Value::Other("a cell array"));
        }
        Ok(Value::Texts(texts))
    }

    fn structure(&mut self, shape: &[usize], end: u64, depth: usize) -> Result<Value> {
        let n_elements = shape
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n));
        let n_elements = match n_elements {
            Some(n_elements) if n_elements <= MOST_ELEMENTS => n_elements,
            _ => return Ok(Value::Other("a long array of structures")),
        };
        let length = self.numbers(1)?[0];
        if !(1.0..=4096.0).contains(&length) {
            return Err(self.damaged("field names of 1 to 4096 bytes", length.to_string()));
        }
        let tag = self.tag()?;
        let names = self.contents(&tag)?;
        let names: Vec<String> = names
            .chunks_exact(length as usize)
            .map(until_zero)
            .collect();
        let mut elements = Vec::new();
        for _ in 0..n_elements {
            let mut fields = Vec::new();
            for name in &names {
                if self.position >= end {
                    return Err(
                        self.damaged(format!("a field `{name}`"), "the end of the structure")
                    );
                }
                let tag = self.tag()?;
                if tag.kind != Kind::Matrix {
                    return Err(
                        self.damaged("an array", format!("an element of kind {:?}", tag.kind))
                    );
                }
                let (_, value) = self.nested(tag.size, depth + 1)?;
                fields.push((name.clone(), value));
            }
            elements.push(fields);
        }
        Ok(Value::Struct(elements))
    }

    /// Up to `most` numbers of a small element, at least one.
    fn numbers(&mut self, most: usize) -> Result<Vec<f64>> {
        let tag = self.tag()?;
        let Kind::Numbers(number) = tag.kind else {
            return Err(self.damaged("numbers", format!("an element of kind {:?}", tag.kind)));
        };
        if tag.size > (most * number.size()) as u64 || tag.size < number.size() as u64 {
            let expected = format!("1 to {most} numbers");
            return Err(self.damaged(expected, format!("{} bytes", tag.size)));
        }
        let decode = number.decoder(self.endian);
        let bytes = self.contents(&tag)?;
        Ok(bytes.chunks_exact(number.size()).map(decode).collect())
    }

    /// A text, whatever its encoding.
    fn text(&mut self) -> Result<String> {
        let tag = self.tag()?;
        if tag.size > LONGEST_TEXT {
            return Err(self.damaged(
                "a text of at most a megabyte",
                format!("{} bytes", tag.size),
            ));
        }
        let bytes = self.contents(&tag)?;
        Ok(match tag.kind {
            Kind::Utf16 | Kind::Numbers(Number::U16 | Number::I16) => {
                let units = bytes.chunks_exact(2).map(|unit| match self.endian {
                    Endian::Little => u16::from_le_bytes([unit[0], unit[1]]),
                    Endian::Big => u16::from_be_bytes([unit[0], unit[1]]),
                });
                let letters = char::decode_utf16(units);
                letters
                    .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            Kind::Utf32 | Kind::Numbers(Number::U32 | Number::I32) => {
                let letters = bytes
                    .chunks_exact(4)
                    .map(|letter| word(letter, self.endian));
                letters
                    .map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            _ => until_zero(&bytes),
        })
    }

    fn tag(&mut self) -> Result<Tag> {
        let first = self.word()?;
        let (code, small) = match first >> 16 {
            0 => (first, None),
            size => (first & 0xffff, Some(u64::from(size))),
        };
        let Some(kind) = Kind::from_code(code) else {
            return Err(self.damaged("an element of a known type", format!("type {code}")));
        };
        match small {
            Some(size) if size > 4 => {
                Err(self.damaged("a short element of at most 4 bytes", format!("{size}")))
            }
            Some(size) => Ok(Tag {
                kind,
                size,
                padding: 4 - size,
            }),
            None => {
                let size = u64::from(self.word()?);
                // Arrays are multiples of 8 bytes by themselves.
                let padding = if kind == Kind::Matrix {
                    0
                } else {
                    (8 - size % 8) % 8
                };
                Ok(Tag {
                    kind,
                    size,
                    padding,
                })
            }
        }
    }

    fn word(&mut self) -> Result<u32> {
        Ok(word(&self.bytes(4)?, self.endian))
    }

    /// The bytes of an element that is short enough, and its padding.
    fn contents(&mut self, tag: &Tag) -> Result<Vec<u8>> {
        if tag.size > LONGEST_TEXT {
            return Err(self.damaged(
                "an element of at most a megabyte",
                format!("{} bytes", tag.size),
            ));
        }
        let bytes = self.bytes(tag.size)?;
        let end = self.position + tag.padding;
        self.pass(end)?;
        Ok(bytes)
    }

    fn bytes(&mut self, size: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; size as usize];
        self.input
            .read_exact(&mut bytes)
            .map_err(|error| failed(self.path, error, &self.place))?;
        self.position += size;
        Ok(bytes)
    }

    /// Goes on to `end`.
    fn pass(&mut self, end: u64) -> Result<()> {
        let Some(count) = end.checked_sub(self.position) else {
            return Err(self.damaged("elements inside their array", "one that is longer"));
        };
        skip(&mut self.input, count).map_err(|error| failed(self.path, error, &self.place))?;
        self.position = end;
        Ok(())
    }

    fn damaged(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        damaged(self.path, self.place.clone(), expected, found)
    }
}

/// Four bytes as a number.
pub(super) fn word(bytes: &[u8], endian: Endian) -> u32 {
    let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
    match endian {
        Endian::Little => u32::from_le_bytes(bytes),
        Endian::Big => u32::from_be_bytes(bytes),
    }
}

/// Text that ends with its first zero byte, if it has one.
fn until_zero(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text under its tag, in either byte order.
    fn check(code: u32, width: usize, letters: &[u32], expected: &str) {
        for endian in [Endian::Little, Endian::Big] {
            let number = |value: u32, width: usize| match endian {
                Endian::Little => value.to_le_bytes()[..width].to_vec(),
                Endian::Big => value.to_be_bytes()[4 - width..].to_vec(),
            };
            let mut bytes = number(code, 4);
            bytes.extend(number((letters.len() * width) as u32, 4));
            letters
                .iter()
                .for_each(|&letter| bytes.extend(number(letter, width)));
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            let input = Box::new(&bytes[..]);
            let mut elements = Elements::new(Path::new("x.mat"), "text".into(), input, endian);
            assert_eq!(elements.text().unwrap(), expected, "{code} {endian:?}");
        }
    }

    #[test]
    fn texts_of_every_encoding() {
        check(16, 1, &[0x46, 0x7a, 0xc2, 0xb5], "Fzµ");
        check(17, 2, &[0x46, 0xb5, 0xd83e, 0xdde0], "Fµ\u{1f9e0}");
        check(4, 2, &[0x46, 0x7a], "Fz");
        check(18, 4, &[0x46, 0xb5, 0x1f9e0], "Fµ\u{1f9e0}");
        check(18, 4, &[0x46, 0x11_0000], "F\u{fffd}");
    }
}
