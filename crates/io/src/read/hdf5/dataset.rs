//! A dataset of an HDF5 file: its shape, the type of its numbers, where they are and how they are
//! packed.

use super::file::{Fields, File};
use super::objects::{Message, kind, until_zero};
use crate::error::Result;
use crate::read::numbers::{Endian, Number};

const DATASET: &str = "dataset";

/// What the elements of a dataset are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Numbers(Number, Endian),
    /// Addresses of other objects.
    References,
    /// Something that is not read, in words.
    Other(&'static str),
}

/// Where the bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Compact(Vec<u8>),
    Contiguous {
        address: u64,
        size: u64,
    },
    /// A tree of chunks of this shape.
    Chunked {
        tree: u64,
        chunk: Vec<u64>,
    },
}

/// How chunks are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Deflate,
    Shuffle,
    /// A checksum of 4 bytes at the end, which is not compared.
    Fletcher,
}

/// What the header of a dataset says.
#[derive(Clone, Debug)]
pub(super) struct Dataset {
    /// In the order of the file, slowest first. Empty for a single value.
    pub shape: Vec<usize>,
    pub elements: Type,
    pub layout: Layout,
    pub filters: Vec<Filter>,
}

/// Reads the messages of a dataset; `None` when the object is none.
pub(super) fn parse(file: &File, messages: &[Message]) -> Result<Option<Dataset>> {
    let message = |kind| messages.iter().find(|message| message.kind == kind);
    let (Some(layout), Some(space), Some(datatype)) = (
        message(kind::LAYOUT),
        message(kind::DATASPACE),
        message(kind::DATATYPE),
    ) else {
        return Ok(None);
    };
    let short = || file.damaged(DATASET, "a complete header", "the end of it");
    let elements = if datatype.shared {
        Type::Other("elements of a named type")
    } else {
        element_type(&datatype.bytes).ok_or_else(short)?
    };
    let shape = dataspace(&space.bytes).ok_or_else(short)?;
    let Some(layout) = parse_layout(&layout.bytes).ok_or_else(short)? else {
        return Err(file.unsupported(DATASET, "a layout of version 3", "one of another version"));
    };
    let filters = match message(kind::FILTERS) {
        None => Vec::new(),
        Some(message) => match parse_filters(&message.bytes).ok_or_else(short)? {
            Ok(filters) => filters,
            Err(code) => {
                let expected = "data without filters, or with deflate, shuffle or Fletcher-32";
                return Err(file.unsupported(DATASET, expected, format!("filter {code}")));
            }
        },
    };
    Ok(Some(Dataset {
        shape,
        elements,
        layout,
        filters,
    }))
}

fn dataspace(bytes: &[u8]) -> Option<Vec<usize>> {
    let mut fields = Fields::new(bytes);
    let (version, rank) = (fields.number(1)?, fields.number(1)?);
    fields.take(if version == 1 { 6 } else { 2 })?;
    (0..rank)
        .map(|_| usize::try_from(fields.number(8)?).ok())
        .collect()
}

fn element_type(bytes: &[u8]) -> Option<Type> {
    let mut fields = Fields::new(bytes);
    let class = fields.number(1)? & 0x0f;
    let bits = fields.number(3)?;
    let size = fields.number(4)?;
    let endian = if bits & 1 == 0 {
        Endian::Little
    } else {
        Endian::Big
    };
    let signed = bits & 0x08 != 0;
    Some(match (class, size) {
        (0, 1) if signed => Type::Numbers(Number::I8, endian),
        (0, 1) => Type::Numbers(Number::U8, endian),
        (0, 2) if signed => Type::Numbers(Number::I16, endian),
        (0, 2) => Type::Numbers(Number::U16, endian),
        (0, 4) if signed => Type::Numbers(Number::I32, endian),
        (0, 4) => Type::Numbers(Number::U32, endian),
        (0, 8) if signed => Type::Numbers(Number::I64, endian),
        (0, 8) => Type::Numbers(Number::U64, endian),
        (1, 2) => Type::Numbers(Number::F16, endian),
        (1, 4) => Type::Numbers(Number::F32, endian),
        (1, 8) => Type::Numbers(Number::F64, endian),
        (3 | 9, _) => Type::Other("text"),
        (6, _) => Type::Other("complex numbers or records"),
        (7, 8) => Type::References,
        // h5py writes booleans as an enumeration of bytes.
        (8, 1) => Type::Numbers(Number::U8, endian),
        _ => Type::Other("elements of another type"),
    })
}

/// `Some(None)` for a layout of a version that is not read.
fn parse_layout(bytes: &[u8]) -> Option<Option<Layout>> {
    let mut fields = Fields::new(bytes);
    if fields.number(1)? != 3 {
        return Some(None);
    }
    Some(Some(match fields.number(1)? {
        0 => {
            let size = fields.number(2)? as usize;
            Layout::Compact(fields.take(size)?.to_vec())
        }
        1 => Layout::Contiguous {
            address: fields.number(8)?,
            size: fields.number(8)?,
        },
        2 => {
            // One dimension more than the data has: the bytes of an element.
            let rank = fields.number(1)?.checked_sub(1)?;
            let tree = fields.number(8)?;
            let chunk = (0..rank).map(|_| fields.number(4)).collect::<Option<_>>()?;
            Layout::Chunked { tree, chunk }
        }
        _ => return Some(None),
    }))
}

/// The filters in the order of packing, or the code of one that is not read.
fn parse_filters(bytes: &[u8]) -> Option<Result<Vec<Filter>, u64>> {
    let mut fields = Fields::new(bytes);
    let (version, count) = (fields.number(1)?, fields.number(1)?);
    if version == 1 {
        fields.take(6)?;
    }
    let mut filters = Vec::new();
    for _ in 0..count {
        let code = fields.number(2)?;
        let name_length = if version == 1 || code >= 256 {
            fields.number(2)?
        } else {
            0
        };
        fields.take(2)?;
        let n_values = fields.number(2)?;
        let padded = if version == 1 {
            name_length.next_multiple_of(8)
        } else {
            name_length
        };
        fields.take(padded as usize)?;
        fields.take(4 * n_values as usize)?;
        if version == 1 && n_values % 2 == 1 {
            fields.take(4)?;
        }
        filters.push(match code {
            1 => Filter::Deflate,
            2 => Filter::Shuffle,
            3 => Filter::Fletcher,
            other => return Some(Err(other)),
        });
    }
    Some(Ok(filters))
}

/// The text of an attribute of fixed length, such as `MATLAB_class`; an empty one for attributes of
/// other types.
pub(super) fn attribute(messages: &[Message], wanted: &str) -> Option<String> {
    messages
        .iter()
        .filter(|message| message.kind == kind::ATTRIBUTE)
        .find_map(|message| {
            let mut fields = Fields::new(&message.bytes);
            let version = fields.number(1)?;
            fields.take(1)?;
            let sizes = [fields.number(2)?, fields.number(2)?, fields.number(2)?];
            if version == 3 {
                fields.take(1)?;
            }
            let padded = |size: u64| match version {
                1 => size.next_multiple_of(8) as usize,
                _ => size as usize,
            };
            let name = until_zero(fields.take(padded(sizes[0]))?);
            let datatype = fields.take(padded(sizes[1]))?;
            fields.take(padded(sizes[2]))?;
            let is_text = datatype.first().is_some_and(|class| class & 0x0f == 3);
            let text = || is_text.then(|| until_zero(fields.rest()));
            (name == wanted).then(|| text().unwrap_or_default())
        })
}
