//! A file of known length that is read in parts.
//!
//! In: a path. Out: bytes at a place, or a buffered stream from a place. Every size that a header
//! claims is compared with the length of the file before memory is asked for. Nothing here knows
//! what the bytes mean.

use crate::atomic::not_a_file;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
#[cfg(feature = "packed")]
use std::sync::Arc;

/// Bytes read from the disk at once.
const BUFFER: usize = 1 << 16;

/// An open file.
pub(crate) struct Source {
    /// The file as the caller named it.
    path: PathBuf,
    file: File,
    length: u64,
    /// Where the bytes are, when the file was packed.
    #[cfg(feature = "packed")]
    unpacked: Option<Arc<tempfile::TempPath>>,
}

impl Source {
    /// Opens a file that has at least one byte.
    pub fn open(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(Error::reading(path))?;
        if metadata.is_dir() {
            return Err(not_a_file(path, "a directory"));
        }
        if !metadata.is_file() {
            return Err(not_a_file(path, "a pipe, a socket or a device"));
        }
        if metadata.len() == 0 {
            return Err(Error::kind(
                path,
                "a recording",
                "an empty file",
                "check that whatever wrote it came to its end",
            ));
        }
        let file = File::open(path).map_err(Error::reading(path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            length: metadata.len(),
            #[cfg(feature = "packed")]
            unpacked: None,
        })
    }

    /// Opens a file that another one, which describes the recording, names at `place`.
    pub fn open_beside(path: &Path, header: &Path, place: &str) -> Result<Self> {
        if !path.exists() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Err(Error::content(
                header,
                place,
                format!("a file `{name}` beside it, which belongs to the recording"),
                "no such file",
                "copy it to the same directory",
            ));
        }
        Self::open(path)
    }

    /// The bytes that a packed file holds, under its name.
    #[cfg(feature = "packed")]
    pub fn unpacked(mut self, packing: super::packed::Packing) -> Result<Self> {
        let what = format!("{} file", packing.name());
        self.seek(0)?;
        let temporary = packing
            .unpack(&mut self.file, self.length)
            .map_err(|error| failed(&self.path, error, &what))?;
        let (mut file, place) = temporary.into_parts();
        self.length = file
            .seek(SeekFrom::End(0))
            .map_err(Error::reading(&self.path))?;
        if self.length == 0 {
            return Err(Error::kind(
                &self.path,
                "a recording",
                "an empty file, packed",
                "check that whatever wrote it came to its end",
            ));
        }
        (self.file, self.unpacked) = (file, Some(Arc::new(place)));
        Ok(self)
    }

    /// Whether the bytes are not those of the file, but what they unpack to.
    #[cfg(feature = "packed")]
    pub fn is_unpacked(&self) -> bool {
        self.unpacked.is_some()
    }

    /// The file again, with a place of its own.
    pub fn again(&self) -> Result<Self> {
        #[cfg(feature = "packed")]
        if let Some(unpacked) = &self.unpacked {
            return Ok(Self {
                path: self.path.clone(),
                file: File::open(&**unpacked).map_err(Error::reading(&self.path))?,
                length: self.length,
                unpacked: Some(unpacked.clone()),
            });
        }
        Self::open(&self.path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    /// `size` bytes from `offset`; `what` names them when the file ends before they do.
    pub fn bytes(&mut self, offset: u64, size: u64, what: &str) -> Result<Vec<u8>> {
        self.require(offset, size, what)?;
        let mut bytes = vec![0; size as usize];
        self.seek(offset)?;
        self.file
            .read_exact(&mut bytes)
            .map_err(|error| self.failed(error, what))?;
        Ok(bytes)
    }

    /// The file itself, for a decoder that reads where it likes.
    #[cfg(any(
        feature = "npz",
        feature = "parquet",
        feature = "ogg",
        feature = "hdf5"
    ))]
    pub fn into_file(self) -> File {
        self.file
    }

    /// Up to `size` bytes from the beginning.
    pub fn head(&mut self, size: u64) -> Result<Vec<u8>> {
        self.bytes(0, size.min(self.length), "the beginning")
    }

    /// A stream that starts at `offset` and ends with the file.
    pub fn stream(&mut self, offset: u64) -> Result<BufReader<&mut File>> {
        self.seek(offset)?;
        Ok(BufReader::with_capacity(BUFFER, &mut self.file))
    }

    /// A stream of `size` bytes from `offset`, all of them inside the file.
    #[cfg(feature = "mat")]
    pub fn part(
        &mut self,
        offset: u64,
        size: u64,
        what: &str,
    ) -> Result<io::Take<BufReader<&mut File>>> {
        self.require(offset, size, what)?;
        Ok(self.stream(offset)?.take(size))
    }

    /// Refuses a part that does not lie inside the file.
    pub fn require(&self, offset: u64, size: u64, what: &str) -> Result<()> {
        match offset.checked_add(size) {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(cut_short(
                &self.path,
                what,
                match size {
                    u64::MAX => "more bytes than any file has".into(),
                    _ => format!("{size} bytes from byte {offset}"),
                },
                format!("a file of {} bytes", self.length),
            )),
        }
    }

    /// Turns what went wrong while `what` was read into an [`Error`].
    pub fn failed(&self, error: io::Error, what: &str) -> Error {
        failed(&self.path, error, what)
    }

    fn seek(&mut self, offset: u64) -> Result<()> {
        self.file
            .seek(SeekFrom::Start(offset))
            .map_err(Error::reading(&self.path))?;
        Ok(())
    }
}

/// Turns what went wrong while `what` was read into an [`Error`].
pub(crate) fn failed(path: &Path, error: io::Error, what: &str) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            cut_short(path, what, "more bytes".into(), "the end".into())
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            damaged(path, what, "bytes that can be unpacked", error.to_string())
        }
        _ => Error::reading(path)(error),
    }
}

/// The file ends before `what` does.
pub(crate) fn cut_short(path: &Path, what: &str, expected: String, found: String) -> Error {
    Error::content(
        path,
        what,
        expected,
        found,
        "the file is cut short or its header is wrong: use another copy of it",
    )
}

/// Something that no writer of the format writes.
pub(crate) fn damaged(
    path: &Path,
    place: impl Into<String>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Error {
    Error::content(
        path,
        place,
        expected,
        found,
        "the file is damaged: use another copy of it",
    )
}
