//! The one error type of this crate. Every message names the file and the place in it, says what was expected, what
//! was found and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong between a value and its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to read or write.
    #[error("{}: cannot {action}: {source}; {}", path.display(), hint(action))]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `write`.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The path names something that is not a file.
    #[error("{}: expected a file, found {found}; give the name of a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it names.
        found: &'static str,
    },
    /// The bytes are not a complete safetensors file.
    #[error("{}: expected a safetensors file, but its structure does not hold ({reason}); it is damaged, cut short or \
             of another kind: use another copy of it, or save it again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What does not hold.
        reason: String,
    },
    /// A safetensors file, but not of the kind that was asked for.
    #[error("{}: expected a file of format `{expected}`, found {found}; {remedy}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The format that was asked for.
        expected: &'static str,
        /// The format that the file names, if any.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Written by a version of the format that this program does not know.
    #[error("{}: expected format version {supported}, found {found}; a newer StrTransformer wrote this file: update to \
             read it", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u64,
        /// The newest version that can be read.
        supported: u64,
    },
    /// One tensor or field does not fit the rest.
    #[error("{}: {place}: expected {expected}, found {found}; {remedy}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The tensor or field.
        place: String,
        /// What fits.
        expected: String,
        /// What is there.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The mixer of the file and the mixer given to the loader do not go together.
    #[error("{}: mixer: {problem}", path.display())]
    Mixer {
        /// The file.
        path: PathBuf,
        /// What does not fit, and what to do.
        problem: String,
    },
    /// A configuration that is not what TOML or [`strtransformer::Config`] allow.
    #[error("{}: {place}: {problem}; correct it, or remove it to get the default", path.display())]
    ConfigText {
        /// The file.
        path: PathBuf,
        /// Line and column, or the metadata entry.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// The contents were read, but the library does not accept them.
    #[error("{}: {source}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: strtransformer::Error,
    },
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Turns what the operating system said about reading `path` into an [`Error`].
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Error {
        Error::io(path, "read")
    }

    /// The same for writing.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Error {
        Error::io(path, "write")
    }

    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { path, action, source }
    }

    /// Turns what the library said about the contents of `path` into an [`Error`].
    pub(crate) fn refused(path: &Path) -> impl FnOnce(strtransformer::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Refused { path, source }
    }
}

fn hint(action: &str) -> &'static str {
    match action {
        "read" => "check that the file exists and that you may read it",
        _ => "check that the directory exists, that you may write there and that there is space",
    }
}
