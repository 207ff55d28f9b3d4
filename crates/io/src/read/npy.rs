//! NumPy's NPY files: a header in Python's notation and the numbers of one array.
//!
//! All real numbers of up to 64 bits, either byte order, C or Fortran order, versions 1 to 3 of the
//! header. Refused: arrays of Python objects (they could run code), complex numbers, text, dates,
//! records, long doubles.
//!
//! Written by hand: `npyz` (0.9) parses the one line of the header with a grammar of Python that
//! takes 21 seconds of a processor to build, a twentieth of the whole program; the numbers are
//! decoded by what all formats share ([`Block`]).

use super::array::Array;
use super::numbers::{Block, Endian, Number};
use super::rewrite::{ANOTHER_FORMAT, Replacement, Units, in_place};
use super::source::{Source, damaged, failed};
use super::table::{Contents, Reader, Table};
use super::trials::Keeper;
use super::{Note, ReadOptions};
use crate::error::{Error, Result};
use std::io::Read;
use std::path::Path;

/// Headers are some hundred bytes long, those of records with many fields some thousand.
const LONGEST_HEADER: u32 = 1 << 20;

/// An NPY file.
pub(crate) struct NpyReader {
    source: Source,
    block: Block,
    data_at: u64,
    contents: Contents,
}

impl NpyReader {
    pub fn open(mut source: Source, options: &ReadOptions) -> Result<Self> {
        let path = source.path().to_owned();
        let (array, data_at) = header(&path, "header", &mut source.stream(0)?)?;
        let (block, mut contents) =
            array.recording(&path, "array", options.transpose, &[], None)?;
        let size = block.size().unwrap_or(u64::MAX);
        source.require(data_at, size, "data of the array")?;
        let rest = source.length() - data_at - size;
        if rest > 0 {
            contents.warn(format!("{rest} bytes after the array are not read"));
        }
        Ok(Self {
            source,
            block,
            data_at,
            contents,
        })
    }
}

impl Reader for NpyReader {
    fn contents(&self) -> &Contents {
        &self.contents
    }

    fn read(&mut self, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let mut input = self.source.stream(self.data_at)?;
        self.block
            .fill(&mut input, table, |_, value| value)
            .map_err(|error| failed(&path, error, "data of the array"))
    }

    fn rewrite(&mut self, new: &Replacement<'_>, out: &Path) -> Result<Option<Vec<Note>>> {
        let header = self.source.bytes(0, self.data_at, "header")?;
        if is_boolean(&header) {
            return Err(Error::content(
                out,
                "array",
                "numbers",
                "true and false",
                ANOTHER_FORMAT,
            ));
        }
        let place = (self.data_at, &self.block);
        in_place(&mut self.source, place, new, &|_| Units::PLAIN, out).map(Some)
    }
}

/// Whether the array holds nothing but true and false, which are read as 1 and 0.
fn is_boolean(header: &[u8]) -> bool {
    let text = String::from_utf8_lossy(header);
    ["'|b1'", "'b1'", "'?'", "'|?'"]
        .iter()
        .any(|kind| text.contains(kind))
}

/// Reads magic and header; gives the array and the number of bytes read.
pub(super) fn header(path: &Path, place: &str, input: &mut dyn Read) -> Result<(Array, u64)> {
    let (text, size) = header_text(path, place, input)?;
    Ok((parse(path, place, &text)?, size))
}

/// The texts of an array of fixed width (`<U4`, `|S4`); `None` where it is no list of those, or a
/// longer one than any list of channels.
#[cfg(feature = "npz")]
pub(super) fn texts(path: &Path, place: &str, input: &mut dyn Read) -> Result<Option<Vec<String>>> {
    const LONGEST: usize = 1 << 20;
    let (text, _) = header_text(path, place, input)?;
    let descr = text.split_once("'descr'").map(|(_, rest)| rest);
    let descr = descr.and_then(|rest| rest.split('\'').nth(1)).unwrap_or("");
    let Some((kind, width)) = descr.get(1..).and_then(|kind| kind.split_at_checked(1)) else {
        return Ok(None);
    };
    // The shape is parsed as that of numbers, which is the same notation.
    let as_numbers = text.replacen(descr, "<u1", 1);
    let shape = parse(path, place, &as_numbers)?.shape;
    let (Ok(width), [count]) = (width.parse::<usize>(), shape.as_slice()) else {
        return Ok(None);
    };
    let letter = if kind == "U" { 4 } else { 1 };
    let size = width
        .checked_mul(letter)
        .and_then(|width| width.checked_mul(*count));
    let size = match size {
        Some(1..=LONGEST) if ["U", "S"].contains(&kind) => size.unwrap_or(0),
        _ => return Ok(None),
    };
    let mut bytes = vec![0; size];
    input
        .read_exact(&mut bytes)
        .map_err(|error| failed(path, error, place))?;
    let text = |bytes: &[u8]| -> String {
        if letter == 1 {
            return String::from_utf8_lossy(bytes)
                .trim_end_matches('\0')
                .to_string();
        }
        let codes = bytes.chunks_exact(4).map(|code| match descr.as_bytes()[0] {
            b'>' => u32::from_be_bytes([code[0], code[1], code[2], code[3]]),
            _ => u32::from_le_bytes([code[0], code[1], code[2], code[3]]),
        });
        let letters = codes.take_while(|&code| code != 0);
        letters
            .map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    Ok(Some(bytes.chunks_exact(width * letter).map(text).collect()))
}

/// Reads magic and header; gives the text of the header and the number of bytes read.
fn header_text(path: &Path, place: &str, input: &mut dyn Read) -> Result<(String, u64)> {
    let mut read = |buffer: &mut [u8]| {
        input
            .read_exact(buffer)
            .map_err(|error| failed(path, error, place))
    };
    let mut start = [0; 8];
    read(&mut start)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err(damaged(path, place, "an NPY array", "other bytes"));
    }
    let (size, start_size) = match start[6] {
        1 => {
            let mut size = [0; 2];
            read(&mut size)?;
            (u32::from(u16::from_le_bytes(size)), 10)
        }
        2 | 3 => {
            let mut size = [0; 4];
            read(&mut size)?;
            (u32::from_le_bytes(size), 12)
        }
        version => {
            return Err(damaged(
                path,
                place,
                "NPY version 1, 2 or 3",
                format!("version {version}"),
            ));
        }
    };
    if size > LONGEST_HEADER {
        let expected = format!("a header of at most {LONGEST_HEADER} bytes");
        return Err(damaged(path, place, expected, format!("{size} bytes")));
    }
    let mut text = vec![0; size as usize];
    read(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok((text, start_size + u64::from(size)))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (100, 3), }`
fn parse(path: &Path, place: &str, text: &str) -> Result<Array> {
    let entry = |key: &str| {
        [format!("'{key}'"), format!("\"{key}\"")]
            .iter()
            .find_map(|quoted| text.split_once(quoted.as_str()))
            .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'))
            .map(str::trim_start)
            .ok_or_else(|| damaged(path, place, format!("an entry `{key}`"), "none"))
    };
    let (number, endian) = data_type(path, place, entry("descr")?)?;
    let order = entry("fortran_order")?;
    let column_major = match (order.starts_with("True"), order.starts_with("False")) {
        (true, _) => true,
        (_, true) => false,
        _ => {
            return Err(damaged(
                path,
                place,
                "`fortran_order` True or False",
                shown(order),
            ));
        }
    };
    let shape = entry("shape")?;
    let dimensions = shape
        .strip_prefix('(')
        .and_then(|shape| shape.split_once(')'))
        .and_then(|(shape, _)| {
            shape
                .split(',')
                .map(str::trim)
                .filter(|dimension| !dimension.is_empty())
                .map(|dimension| dimension.trim_end_matches('L').parse::<usize>().ok())
                .collect::<Option<Vec<usize>>>()
        })
        .ok_or_else(|| damaged(path, place, "`shape` as a tuple of numbers", shown(shape)))?;
    Ok(Array {
        number,
        endian,
        shape: dimensions,
        column_major,
        keeper: Keeper::NumPy,
    })
}

fn shown(text: &str) -> String {
    format!("`{}`", text.chars().take(30).collect::<String>())
}

fn data_type(path: &Path, place: &str, descr: &str) -> Result<(Number, Endian)> {
    let refused = |found: String, remedy: &'static str| {
        Err(Error::content(
            path,
            place,
            "an array of real numbers",
            found,
            remedy,
        ))
    };
    let quoted = descr
        .strip_prefix(['\'', '"'])
        .and_then(|descr| descr.split_once(['\'', '"']));
    let Some((descr, _)) = quoted else {
        return refused(
            "records (a structured data type)".into(),
            "save the fields as columns of one array",
        );
    };
    let (endian, code) = match descr.as_bytes().first() {
        Some(b'<' | b'|') => (Endian::Little, &descr[1..]),
        Some(b'>') => (Endian::Big, &descr[1..]),
        Some(b'=') => (Endian::Little, &descr[1..]),
        _ => (Endian::Little, descr),
    };
    let number = match code {
        "b1" | "u1" | "?" => Number::U8,
        "i1" => Number::I8,
        "i2" => Number::I16,
        "u2" => Number::U16,
        "i4" => Number::I32,
        "u4" => Number::U32,
        "i8" => Number::I64,
        "u8" => Number::U64,
        "f2" => Number::F16,
        "f4" => Number::F32,
        "f8" => Number::F64,
        _ if code.starts_with('O') => {
            return refused(
                "Python objects".into(),
                "save it with dtype float64: objects could run code and are never loaded",
            );
        }
        _ if code.starts_with('c') => {
            return refused(
                format!("complex numbers (`{descr}`)"),
                "save its real part or its modulus",
            );
        }
        _ => {
            return refused(
                format!("type {}", shown(descr)),
                "save it with dtype float64",
            );
        }
    };
    Ok((number, endian))
}
