//! The one error type of this crate. Every message names the file and the place in it, says what
//! was expected, what was found and what to do.

use std::borrow::Cow;
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
    #[error("{}: expected a safetensors file, but its structure does not hold ({reason}); \
             it is damaged, cut short or of another kind: use another copy of it, \
             or save it again", path.display())]
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
    #[error(
        "{}: expected format version {supported}, found {found}; {}",
        path.display(),
        if found > supported {
            "a newer StrTransformer wrote this file: update to read it"
        } else {
            "an earlier StrTransformer wrote this file, and its layout is no longer read: separate \
             the recording again"
        }
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u64,
        /// The version that can be read.
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
        remedy: Cow<'static, str>,
    },
    /// The file is not of the kind that its name says, or of no kind that can be read or written.
    #[error("{}: expected {expected}, found {found}; {remedy}", path.display())]
    Kind {
        /// The file.
        path: PathBuf,
        /// What can be read or written.
        expected: String,
        /// What is there.
        found: String,
        /// What to do.
        remedy: Cow<'static, str>,
    },
    /// The format is known, but support for it was left out of this build.
    #[error("{}: expected a format of this build, found {format}; \
             build with feature `{feature}`, or use CSV or NPY", path.display())]
    NotBuilt {
        /// The file.
        path: PathBuf,
        /// What the file is.
        format: &'static str,
        /// The feature that reads and writes it.
        feature: &'static str,
    },
    /// What was asked for does not go with the file: a channel, a variable, a span of time, a rate.
    #[error("{}: {option}: expected {expected}, found {found}; {remedy}", path.display())]
    Request {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        option: &'static str,
        /// What the file allows.
        expected: String,
        /// What was asked.
        found: String,
        /// What to do.
        remedy: Cow<'static, str>,
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

    /// Turns what the operating system said about writing `path` into an [`Error`].
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Error {
        Error::io(path, "write")
    }

    /// A part of the contents of `path` that does not fit.
    pub(crate) fn content(
        path: &Path,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Error {
        Error::Content {
            path: path.to_owned(),
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
            remedy: remedy.into(),
        }
    }

    /// A file of the wrong kind.
    pub(crate) fn kind(
        path: &Path,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Error {
        Error::Kind {
            path: path.to_owned(),
            expected: expected.into(),
            found: found.into(),
            remedy: remedy.into(),
        }
    }

    /// A wish that the file cannot meet.
    pub(crate) fn request(
        path: &Path,
        option: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Error {
        Error::Request {
            path: path.to_owned(),
            option,
            expected: expected.into(),
            found: found.into(),
            remedy: remedy.into(),
        }
    }

    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io {
            path,
            action,
            source,
        }
    }

    /// Turns what the library said about the contents of `path` into an [`Error`].
    pub(crate) fn refused<E: Into<strtransformer::Error>>(path: &Path) -> impl FnOnce(E) -> Error {
        let path = path.to_owned();
        move |source| Error::Refused {
            path,
            source: source.into(),
        }
    }
}

fn hint(action: &str) -> &'static str {
    match action {
        "read" => "check that the file exists and that you may read it",
        _ => "check that the directory exists, that you may write there and that there is space",
    }
}
