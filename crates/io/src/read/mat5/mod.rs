//! MATLAB 5 to 7 files: elements with tags, most of them deflated.
//!
//! In: a file. Out: a [`Workspace`] whose arrays are places in the file; their numbers are unpacked
//! when they are asked for, straight into the table. Read are real arrays, text, structures and
//! cells of text; other cells, sparse and complex arrays, objects and function handles are passed
//! over with a word that says what they are.
//!
//! Written by hand: `matfile` (0.5) knows neither structures nor text and decodes a whole file
//! before one variable is chosen; here only the wanted part is unpacked, and a damaged file costs
//! no more than its length accounts for.

mod elements;
mod rewrite;
mod texts;

pub(super) use texts::with_text;

use super::Note;
use super::array::can_hold;
use super::matlab::{Store, Value, Workspace};
use super::numbers::{Block, Endian, skip};
use super::rewrite::Replacement;
use super::source::{Source, damaged, failed};
use super::table::Table;
use crate::error::Result;
use elements::{Elements, Kind};
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::path::Path;

/// Where the numbers of an array are.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The variable in the file, without its tag.
    variable: Extent,
    /// Bytes of the (unpacked) variable before the numbers.
    before: u64,
}

/// A variable of the file.
#[derive(Clone, Copy, Debug)]
struct Extent {
    offset: u64,
    size: u64,
    packed: bool,
}

struct Mat5Store {
    source: Source,
    places: Vec<Place>,
}

/// Reads what a file holds.
pub(crate) fn load(mut source: Source) -> Result<Workspace> {
    let path = source.path().to_owned();
    let header = source.bytes(0, 128, "header")?;
    let endian = match &header[126..128] {
        b"IM" => Endian::Little,
        b"MI" => Endian::Big,
        other => {
            return Err(damaged(
                &path,
                "header",
                "`IM` or `MI` at byte 126",
                format!("{other:?}"),
            ));
        }
    };
    let (mut variables, mut places) = (Vec::new(), Vec::new());
    let mut at = 128;
    // Some writers fill the end with a few zero bytes.
    while at + 8 <= source.length() {
        let tag = source.bytes(at, 8, "tag of a variable")?;
        let word = |at: usize| {
            let bytes = [tag[at], tag[at + 1], tag[at + 2], tag[at + 3]];
            match endian {
                Endian::Little => u32::from_le_bytes(bytes),
                Endian::Big => u32::from_be_bytes(bytes),
            }
        };
        let (kind, size) = (Kind::from_code(word(0)), u64::from(word(4)));
        let place = format!("variable at byte {at}");
        let packed = match kind {
            Some(Kind::Compressed) => true,
            Some(Kind::Matrix) => false,
            _ => {
                return Err(damaged(
                    &path,
                    place,
                    "an array",
                    format!("an element of type {}", word(0)),
                ));
            }
        };
        let variable = Extent {
            offset: at + 8,
            size,
            packed,
        };
        source.require(variable.offset, size, &place)?;
        let mut elements = Elements::new(&path, place, unpacked(&mut source, variable)?, endian);
        let (name, value) = if packed {
            elements.tagged_array()?
        } else {
            elements.array(size)?
        };
        // Objects keep their contents in a variable without a name.
        if !name.is_empty() {
            let value = located(value, &mut |before, n_bytes| {
                if packed && !can_hold(size, before + n_bytes) {
                    return None;
                }
                places.push(Place { variable, before });
                Some(places.len() - 1)
            });
            variables.push((name, value));
        }
        at = variable.offset + size;
    }
    Ok(Workspace {
        path,
        store: Box::new(Mat5Store { source, places }),
        variables,
    })
}

/// Gives every array its number in the store. An array that its packed bytes cannot hold is not
/// one.
fn located(value: Value, place: &mut dyn FnMut(u64, u64) -> Option<usize>) -> Value {
    match value {
        Value::Numeric(mut numeric) => {
            let n_bytes =
                numeric.array.n_values().unwrap_or(0) as u64 * numeric.array.number.size() as u64;
            match place(numeric.id as u64, n_bytes) {
                Some(id) => {
                    numeric.id = id;
                    Value::Numeric(numeric)
                }
                None => Value::Other("an array that is larger than its packed bytes can be"),
            }
        }
        Value::Struct(elements) => Value::Struct(
            elements
                .into_iter()
                .map(|fields| {
                    fields
                        .into_iter()
                        .map(|(name, value)| (name, located(value, place)))
                        .collect()
                })
                .collect(),
        ),
        other => other,
    }
}

/// The bytes of a variable; those of a packed one start with its own tag.
fn unpacked(source: &mut Source, variable: Extent) -> Result<Box<dyn Read + '_>> {
    let input = source.part(variable.offset, variable.size, "variable")?;
    if variable.packed {
        return Ok(Box::new(ZlibDecoder::new(input)));
    }
    Ok(Box::new(input))
}

impl Store for Mat5Store {
    fn rewrite(
        &mut self,
        id: usize,
        block: &Block,
        new: &Replacement<'_>,
        out: &Path,
    ) -> Result<Option<Vec<Note>>> {
        rewrite::rewrite(&mut self.source, self.places[id], block, new, out).map(Some)
    }

    fn fill(&mut self, id: usize, block: &Block, table: &mut Table) -> Result<()> {
        let path = self.source.path().to_owned();
        let Place { variable, before } = self.places[id];
        let mut input = unpacked(&mut self.source, variable)?;
        skip(&mut input, before)
            .and_then(|()| block.fill(&mut input, table, |_, value| value))
            .map_err(|error| failed(&path, error, "data of the variable"))
    }
}
