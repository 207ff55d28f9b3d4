//! An HDF5 file through `hdf5-reader`: what its groups and datasets are, and errors in this crate's
//! words.

use super::super::numbers::{Endian, Number};
use super::super::source::{Source, damaged};
use crate::error::{Error, Result};
use hdf5_reader::error::Error as Hdf5Error;
use hdf5_reader::group::Group;
use hdf5_reader::{ByteOrder, Dataset, Datatype, FileStorage, H5Type, Hdf5File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Chunks that are kept unpacked.
const CACHE: usize = 16 << 20;
/// Chunks are some megabytes in the files of all writers.
const LARGEST_CHUNK: usize = 1 << 28;
/// What is read at once is a batch of numbers, one chunk, or a text.
const LARGEST_READ: usize = 1 << 29;

/// An open file.
pub(in crate::read) struct File {
    path: PathBuf,
    file: Hdf5File,
    pub length: u64,
}

/// A group, or an array.
pub(in crate::read) enum Member {
    Group(Group),
    Dataset(Box<Dataset>),
}

impl File {
    pub fn open(source: Source) -> Result<Self> {
        let (path, length) = (source.path().to_owned(), source.length());
        let options = OpenOptions::default()
            .with_chunk_cache_bytes(CACHE)
            .with_max_chunk_bytes(LARGEST_CHUNK)
            .with_max_read_bytes(LARGEST_READ)
            .with_max_object_header_bytes(1 << 22);
        let file = FileStorage::from_file(source.into_file())
            .and_then(|storage| Hdf5File::from_storage_with_options(Arc::new(storage), options))
            .map_err(|error| told(&path, "superblock", error))?;
        Ok(Self { path, file, length })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Turns what the crate says of `place` into an [`Error`].
    pub fn wrong(&self, place: impl Into<String>) -> impl FnOnce(Hdf5Error) -> Error {
        let (path, place) = (self.path.clone(), place.into());
        move |error| told(&path, &place, error)
    }

    pub fn root(&self) -> Result<Group> {
        self.file.root_group().map_err(self.wrong("root"))
    }

    /// Names and objects of a group, groups first.
    pub fn members(&self, group: &Group) -> Result<Vec<(String, Member)>> {
        let place = format!("group `{}`", group.name());
        let (groups, datasets) = group.members().map_err(self.wrong(place))?;
        let groups = groups.into_iter().map(|group| {
            let name = group.name().to_string();
            (name, Member::Group(group))
        });
        let datasets = datasets.into_iter().map(|dataset| {
            let name = dataset.name().to_string();
            (name, Member::Dataset(Box::new(dataset)))
        });
        Ok(groups.chain(datasets).collect())
    }
}

fn told(path: &Path, place: &str, error: Hdf5Error) -> Error {
    let text = error.to_string();
    match error {
        Hdf5Error::Io(error) => Error::reading(path)(error),
        // The crate has one variant a version that it does not know.
        _ if text.contains("nsupported") => Error::content(
            path,
            place,
            "a part of HDF5 that is read",
            text,
            "save it anew, in MATLAB with `save -v7`, in Python with h5py's default settings",
        ),
        _ => damaged(path, place, "a sound structure", text),
    }
}

/// The shape of a dataset; `None` where it does not fit into memory.
pub(in crate::read) fn shape(dataset: &Dataset) -> Option<Vec<usize>> {
    let shape = dataset.shape().iter();
    shape.map(|&n| usize::try_from(n).ok()).collect()
}

/// How the numbers of a dataset are written, or in words what it holds instead.
pub(in crate::read) fn number(datatype: &Datatype) -> Result<(Number, Endian), &'static str> {
    let endian = |order: &ByteOrder| match order {
        ByteOrder::LittleEndian => Endian::Little,
        ByteOrder::BigEndian => Endian::Big,
    };
    Ok(match datatype {
        Datatype::FixedPoint {
            size,
            signed,
            byte_order,
        } => {
            let number = match (size, signed) {
                (1, true) => Number::I8,
                (1, false) => Number::U8,
                (2, true) => Number::I16,
                (2, false) => Number::U16,
                (4, true) => Number::I32,
                (4, false) => Number::U32,
                (8, true) => Number::I64,
                (8, false) => Number::U64,
                _ => return Err("whole numbers of an odd width"),
            };
            (number, endian(byte_order))
        }
        Datatype::FloatingPoint { size, byte_order } => {
            let number = match size {
                2 => Number::F16,
                4 => Number::F32,
                8 => Number::F64,
                _ => return Err("floating point of an odd width"),
            };
            (number, endian(byte_order))
        }
        // h5py writes booleans as an enumeration of bytes.
        Datatype::Enum { base, .. } => return number(base),
        // Addresses are whole numbers far below 2^53.
        Datatype::Reference { size: 8, .. } => (Number::U64, Endian::Little),
        Datatype::String { .. } | Datatype::VarLen { .. } => return Err("text"),
        Datatype::Compound { .. } => return Err("complex numbers or records"),
        _ => return Err("elements of another type"),
    })
}

/// A number of any type, as the library has it.
#[derive(Clone, Copy)]
pub(super) struct Decoded(pub f64);

impl H5Type for Decoded {
    fn hdf5_type() -> Datatype {
        f64::hdf5_type()
    }

    fn from_bytes(bytes: &[u8], datatype: &Datatype) -> Result<Self, Hdf5Error> {
        let mismatch = || Hdf5Error::TypeMismatch {
            expected: "a number".into(),
            actual: format!("{datatype:?}"),
        };
        let (number, endian) = number(datatype).map_err(|_| mismatch())?;
        let bytes = bytes.get(..number.size()).ok_or_else(mismatch)?;
        Ok(Self(number.decoder(endian)(bytes)))
    }

    fn element_size(datatype: &Datatype) -> usize {
        number(datatype).map_or(1, |(number, _)| number.size())
    }

    fn decode_vec(
        raw: &[u8],
        datatype: &Datatype,
        count: usize,
    ) -> Option<Result<Vec<Self>, Hdf5Error>> {
        let (number, endian) = number(datatype).ok()?;
        let (size, decode) = (number.size(), number.decoder(endian));
        let bytes = raw.get(..count.checked_mul(size)?)?;
        let values = bytes.chunks_exact(size).map(|bytes| Self(decode(bytes)));
        Some(Ok(values.collect()))
    }
}
