//! The frame of an HDF5 file: where it starts, and bytes at an address.

use crate::error::{Error, Result};
use crate::read::source::{Source, damaged};
use std::path::Path;

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// An address that means nothing.
pub(super) const UNDEFINED: u64 = u64::MAX;

/// An HDF5 file with addresses of 8 bytes.
pub(super) struct File {
    pub source: Source,
    /// All addresses count from here.
    base: u64,
    /// How many more parts may be visited: every part of a sound file is visited a few times, one
    /// that leads in circles without end.
    patience: u64,
}

/// Bytes that are taken from the front.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// A little-endian number of up to 8 bytes.
    pub fn number(&mut self, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        bytes.get_mut(..size)?.copy_from_slice(self.take(size)?);
        Some(u64::from_le_bytes(bytes))
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl File {
    /// Finds the superblock; gives the file and the address of its root group.
    pub fn open(mut source: Source) -> Result<(Self, u64)> {
        let path = source.path().to_owned();
        let head = source.head(4096)?;
        let base = [0usize, 512, 1024, 2048]
            .into_iter()
            .find(|&at| {
                head.get(at..)
                    .is_some_and(|rest| rest.starts_with(SIGNATURE))
            })
            .ok_or_else(|| damaged(&path, "superblock", "the signature of HDF5", "none"))?
            as u64;
        let length = (source.length() - base).min(96);
        let block = source.bytes(base, length, "superblock")?;
        let mut fields = Fields::new(&block[8..]);
        let (root, sizes) = superblock(&mut fields).ok_or_else(|| {
            damaged(
                &path,
                "superblock",
                "version 0 to 3, complete",
                "another, or the end of the file",
            )
        })?;
        if sizes != (8, 8) {
            return Err(unsupported(
                &path,
                "superblock",
                "addresses and sizes of 8 bytes",
                format!("{sizes:?}"),
            ));
        }
        let patience = source.length() / 4 + 1024;
        let file = Self {
            source,
            base,
            patience,
        };
        Ok((file, root))
    }

    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Where an address lies in the file.
    pub fn place(&self, address: u64) -> u64 {
        address.saturating_add(self.base)
    }

    /// `size` bytes at an address.
    pub fn bytes(&mut self, address: u64, size: u64, what: &str) -> Result<Vec<u8>> {
        if self.patience == 0 {
            return Err(damaged(
                self.path(),
                what,
                "a structure without circles",
                "circles",
            ));
        }
        self.patience -= 1;
        let place = self.place(address);
        self.source.bytes(place, size, what)
    }

    /// Something is wrong in `what`.
    pub fn damaged(&self, what: &str, expected: &str, found: impl Into<String>) -> Error {
        damaged(self.path(), what, expected, found)
    }

    pub fn unsupported(&self, what: &str, expected: &str, found: impl Into<String>) -> Error {
        unsupported(self.path(), what, expected, found)
    }
}

/// The address of the root group, and the sizes of addresses and lengths.
fn superblock(fields: &mut Fields<'_>) -> Option<(u64, (u64, u64))> {
    let version = fields.number(1)?;
    match version {
        0 | 1 => {
            fields.take(4)?;
            let sizes = (fields.number(1)?, fields.number(1)?);
            fields.take(1 + 2 + 2 + 4)?;
            if version == 1 {
                fields.take(4)?;
            }
            // Base, free space, end of file, driver; then the entry of the root group, its name
            // first.
            fields.take(4 * 8 + 8)?;
            Some((fields.number(8)?, sizes))
        }
        2 | 3 => {
            let sizes = (fields.number(1)?, fields.number(1)?);
            fields.take(1 + 3 * 8)?;
            Some((fields.number(8)?, sizes))
        }
        _ => None,
    }
}

fn unsupported(path: &Path, what: &str, expected: &str, found: impl Into<String>) -> Error {
    Error::content(
        path,
        what,
        expected,
        found,
        "save it anew, in MATLAB with `save -v7`, in Python with h5py's default settings",
    )
}
