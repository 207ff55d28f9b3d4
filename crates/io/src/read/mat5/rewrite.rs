//! A MATLAB 5 to 7 file, copied with new numbers in one array. An array that is not packed is
//! replaced where it lies; a packed variable is unpacked and packed again.

use super::Place;
use crate::error::{Error, Result};
use crate::read::Note;
use crate::read::numbers::{Block, Endian};
use crate::read::rewrite::{Replacement, Trouble, Units, copy, in_place, write_file};
use crate::read::source::{Source, damaged};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::path::Path;

/// Bytes of the tag of a variable.
const TAG: u64 = 8;
const COMPRESSED: u32 = 15;

pub(super) fn rewrite(
    source: &mut Source,
    place: Place,
    block: &Block,
    new: &Replacement<'_>,
    out: &Path,
) -> Result<Vec<Note>> {
    let Place { variable, before } = place;
    if !variable.packed {
        let place = (variable.offset + before, block);
        return in_place(source, place, new, &|_| Units::PLAIN, out);
    }
    let path = source.path().to_owned();
    let told = |trouble: Trouble| trouble.told(&path, out, new);
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let part = source.part(variable.offset, variable.size, "variable")?;
    let mut unpacked = ZlibDecoder::new(part);
    copy(&mut unpacked, &mut packed, Some(before)).map_err(told)?;
    let rounded = block
        .rewrite(&mut unpacked, &mut packed, new, &|_| Units::PLAIN)
        .map_err(told)?;
    copy(&mut unpacked, &mut packed, None).map_err(told)?;
    let packed = packed.finish().map_err(Error::writing(out))?;
    let Ok(size) = u32::try_from(packed.len()) else {
        let expected = "a variable of at most 4 GB, packed";
        return Err(damaged(out, "variable", expected, packed.len().to_string()));
    };

    let mut input = source.stream(0)?;
    write_file(out, |file| {
        copy(&mut input, file, Some(variable.offset - TAG)).map_err(told)?;
        for word in [COMPRESSED, size] {
            let bytes = match block.endian {
                Endian::Little => word.to_le_bytes(),
                Endian::Big => word.to_be_bytes(),
            };
            file.write_all(&bytes).map_err(Error::writing(out))?;
        }
        file.write_all(&packed).map_err(Error::writing(out))?;
        crate::read::numbers::skip(&mut input, TAG + variable.size)
            .map_err(|error| told(Trouble::Reading(error)))?;
        copy(&mut input, file, None).map_err(told)?;
        Ok(block.notes(rounded))
    })
}
