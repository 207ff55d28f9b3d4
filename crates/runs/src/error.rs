//! The one error type of this crate: each variant holds facts, and [`Error::message`] says them in
//! the wording of the caller.
//!
//! Every message names the file or folder, says what was expected, what was found and what to do.
//! `Display` uses [`Wording::LIBRARY`]. Exit statuses and exception types are the caller's
//! business; [`Error::is_request`] tells a wrong request from a failure.

use crate::caller::{PageError, Wording};
use crate::folder::CHECKPOINT;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a run or its folder could not be made, resumed, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path has no last part, so that no folder can have this name.
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The name ends as those of unfinished folders do.
    Reserved {
        /// The folder.
        path: PathBuf,
    },
    /// The folder that would be replaced holds a file that is needed.
    WouldBeLost {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// A value of the configuration, or of its fit to the recording, is refused.
    Config(strtransformer::Error),
    /// The folder's place is taken by a file.
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder holds something that this program did not write.
    Foreign {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it, as a part of a sentence.
        why: String,
        /// Whether it was asked to be replaced.
        replacing: bool,
    },
    /// The folder exists and may not be replaced.
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Where results are prepared there is something of somebody else.
    Occupied {
        /// The folder to work in.
        partial: PathBuf,
    },
    /// Another run is working there.
    Busy {
        /// The folder to work in.
        partial: PathBuf,
    },
    /// An unfinished run stands in the way of a new one.
    Unfinished {
        /// Its folder.
        partial: PathBuf,
    },
    /// There are two unfinished runs of one name.
    TwoUnfinished {
        /// The one that was given.
        given: PathBuf,
        /// The other one.
        partial: PathBuf,
    },
    /// The operating system refused.
    System {
        /// What it refused to do.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file could not be written, read or removed; what to do is plain.
    File {
        /// What could not be done.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Complete results could not be moved to their place.
    NotMoved {
        /// The place.
        path: PathBuf,
        /// Where they are.
        partial: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place of complete results was taken while they were made.
    NotPublished {
        /// Why they could not be moved.
        source: Box<Error>,
        /// Where they are.
        partial: PathBuf,
    },
    /// A run failed and can be resumed from its last checkpoint.
    Kept {
        /// What failed.
        source: Box<Error>,
        /// Where the run is.
        partial: PathBuf,
    },
    /// There is nothing to resume in this folder.
    NotUnfinished {
        /// The folder.
        folder: PathBuf,
        /// What is there instead.
        found: InPlaceOfARun,
    },
    /// A file of a run is not as it was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A table of a run is not as it was written.
    Table {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What belongs there.
        expected: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The folder of a finished run lacks a file.
    NotARun {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: &'static str,
        /// What was found.
        found: String,
    },
    /// The recording of a run to be resumed is no longer where it was.
    RecordingMoved {
        /// Where it was.
        path: PathBuf,
        /// The folder that was to be resumed, as given.
        folder: PathBuf,
    },
    /// A run to be resumed was started with data that were held in memory, which must be given
    /// again.
    InMemory {
        /// Which data.
        what: &'static str,
        /// The folder that was to be resumed, as given.
        folder: PathBuf,
    },
    /// A run to be resumed was started with another recording.
    OtherRecording {
        /// The folder of the run.
        folder: PathBuf,
        /// What differs.
        how: String,
    },
    /// Some results could not be written; the others are there.
    Incomplete {
        /// The files that are missing.
        missing: Vec<String>,
        /// Those that are there.
        written: Vec<String>,
        /// Why the first of the missing ones could not be written.
        source: Box<Error>,
    },
    /// The folder holds a run, but not the one that was asked for.
    Different {
        /// The folder.
        folder: PathBuf,
        /// What differs: what the run has and what was asked for.
        how: String,
    },
    /// A path that cannot be kept with a run.
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The true sources are not of the samples of the recording.
    ReferenceLength {
        /// Their file.
        path: PathBuf,
        /// Samples of the recording.
        expected: usize,
        /// Samples of the file.
        found: usize,
    },
    /// The true sources cannot be compared with.
    RefusedReference {
        /// Their file.
        path: PathBuf,
        /// What is wrong with them.
        source: strt_score::Error,
    },
    /// What the library said about a recording or an unfinished run.
    Refused {
        /// Which one: a path, or the name of data in memory.
        name: String,
        /// What it said.
        source: strtransformer::Error,
    },
    /// What the library said about a result.
    Library(#[from] strtransformer::Error),
    /// What was said about the score of a result.
    Score(#[from] strt_score::Error),
    /// What reading or writing a file met with.
    Io(#[from] strt_io::Error),
    /// The pieces of a result do not come from one run.
    Mismatch {
        /// Which piece.
        what: &'static str,
        /// What the result says.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// What drawing the pages of a run met with.
    Page(PageError),
    /// A value that JSON cannot hold.
    Json(#[from] serde_json::Error),
}

/// What is found where an unfinished run was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlaceOfARun {
    /// A finished run.
    Finished,
    /// A run that was killed before what was asked for was on disk.
    Bare,
    /// Some other folder.
    Folder,
    /// No folder.
    Nothing,
}

/// `Result` with this crate's [`Error`].
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether something could not be written because there was no space for it.
    pub(crate) fn is_full_disk(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        let Error::Io(strt_io::Error::Io { source, .. }) = self else {
            return false;
        };
        matches!(source.kind(), StorageFull | QuotaExceeded)
    }

    /// Whether the request makes no sense, as opposed to something that went wrong.
    pub fn is_request(&self) -> bool {
        matches!(
            self,
            Error::NoName { .. }
                | Error::Reserved { .. }
                | Error::WouldBeLost { .. }
                | Error::Config(_)
        )
    }

    /// The message in the wording of the caller.
    pub fn message(&self, wording: &Wording) -> String {
        let Wording { out, overwrite, .. } = wording;
        match self {
            Error::NoName { path } => format!("{}: expected the name of a folder", path.display()),
            Error::Reserved { path } => format!(
                "{out} {}: the ending .partial is kept for unfinished folders; choose another name",
                path.display()
            ),
            Error::WouldBeLost { folder, file } => format!(
                "{out} {}: the folder holds {}, which would be lost; choose another {out}",
                folder.display(),
                file.display()
            ),
            Error::NotAFolder { path } => format!(
                "{}: expected a folder or nothing, found a file; choose another {out}",
                path.display()
            ),
            Error::Foreign {
                path,
                why,
                replacing,
            } => {
                let hint = if *replacing {
                    ", so it is not replaced"
                } else {
                    ""
                };
                format!(
                    "{}: the folder exists and {why}{hint}; choose another {out}",
                    path.display()
                )
            }
            Error::Exists { path } => format!(
                "{}: the folder exists; choose another {out}, or replace it with {overwrite}",
                path.display()
            ),
            Error::Occupied { partial } => format!(
                "{}: expected nothing there, since results are prepared in it, found something \
                 that strt did not write; move it away, or choose another {out}",
                partial.display()
            ),
            Error::Busy { partial } => format!(
                "{}: another strt is writing there; wait for it, or choose another {out}",
                partial.display()
            ),
            Error::Unfinished { partial } => format!(
                "{}: an unfinished run has left this folder; resume it with `{}`, or discard it \
                 with {overwrite}",
                partial.display(),
                (wording.resume)(partial)
            ),
            Error::TwoUnfinished { given, partial } => format!(
                "{}: an unfinished run has left {} as well; resume that one, or remove it first",
                given.display(),
                partial.display()
            ),
            Error::System {
                action,
                path,
                source,
            } => format!(
                "{}: cannot {action}: {source}; check that you may write there and that there is \
                 space",
                path.display()
            ),
            Error::File {
                action,
                path,
                source,
            } => {
                format!("{}: cannot {action}: {source}", path.display())
            }
            Error::NotMoved {
                path,
                partial,
                source,
            } => format!(
                "{}: cannot move the results there: {source}; they are in {}",
                path.display(),
                partial.display()
            ),
            Error::NotPublished { source, partial } => {
                format!(
                    "{}; the results are in {}",
                    source.message(wording),
                    partial.display()
                )
            }
            Error::Kept { source, partial } => format!(
                "{}\nthe run so far is kept: resume it with `{}`",
                source.message(wording),
                (wording.resume)(partial)
            ),
            Error::NotUnfinished { folder, found } => {
                let why = match found {
                    InPlaceOfARun::Finished => format!(
                        "this run has ended: there is nothing to resume. Start another with more \
                         {}",
                        wording.steps
                    ),
                    InPlaceOfARun::Bare => "its run was killed before anything of it was on \
                                            disk. Start it again, as it was started"
                        .into(),
                    InPlaceOfARun::Folder => {
                        "give the folder that the run was writing, DIR or DIR.partial".into()
                    }
                    InPlaceOfARun::Nothing => "there is no such folder".into(),
                };
                format!(
                    "{}: expected the folder of an unfinished run, with {CHECKPOINT}; {why}",
                    folder.display()
                )
            }
            Error::Damaged {
                path,
                found,
                remedy,
            } => {
                format!(
                    "{}: expected what strt wrote: {found}; {remedy}",
                    path.display()
                )
            }
            Error::Table {
                path,
                line,
                expected,
                remedy,
            } => format!(
                "{}: line {line}: expected {expected}, found something else: the file was \
                 changed; {remedy}",
                path.display()
            ),
            Error::NotARun {
                folder,
                file,
                found,
            } => format!(
                "{}: expected the folder of a run, with {file}, found {found}; give the folder of \
                 a finished run",
                folder.display()
            ),
            Error::RecordingMoved { path, folder } => format!(
                "{}: expected the recording of the run there, found nothing; where is it now? \
                 Resume it with `{}`",
                path.display(),
                (wording.resume_with_recording)(folder)
            ),
            Error::InMemory { what, folder } => format!(
                "{}: expected {what} of the run, which was held in memory and is in no file, \
                 found nothing; give it again: `{}`",
                folder.display(),
                (wording.resume_with_recording)(folder)
            ),
            Error::OtherRecording { folder, how } => format!(
                "{}: saved state: expected the recording that the run was started with, found \
                 another: {how}; give the right one: `{}`",
                folder.display(),
                (wording.resume_with_recording)(folder)
            ),
            Error::Incomplete {
                missing,
                written,
                source,
            } => {
                let written = match written.as_slice() {
                    [] => "nothing was written".into(),
                    names => format!("written: {}", names.join(", ")),
                };
                format!(
                    "{}\nmissing: {}; {written}",
                    source.message(wording),
                    missing.join(", ")
                )
            }
            Error::Different { folder, how } => format!(
                "{}: expected the run that was asked for, found another: {how}; choose another \
                 {out}, or replace it with {overwrite}",
                folder.display()
            ),
            Error::NotUtf8 { path } => format!(
                "{}: expected a path in UTF-8, so that it can be kept with the run, found other \
                 bytes; rename the file",
                path.display()
            ),
            Error::ReferenceLength {
                path,
                expected,
                found,
            } => format!(
                "{}: expected {expected} samples, as the recording has, found {found}; give the \
                 true sources of the same samples, one column a source",
                path.display()
            ),
            Error::RefusedReference { path, source } => format!("{}: {source}", path.display()),
            Error::Refused { name, source } => format!("{name}: {source}"),
            Error::Config(error) | Error::Library(error) => error.to_string(),
            Error::Score(error) => error.to_string(),
            Error::Io(error) => error.to_string(),
            Error::Mismatch {
                what,
                expected,
                found,
            } => format!(
                "{what}: expected {expected}, found {found}; the pieces of a result must come \
                 from one run"
            ),
            Error::Page(error) => error.to_string(),
            Error::Json(error) => error.to_string(),
        }
    }

    /// What the library said about `name`. The configuration is what was asked for, not what a file
    /// holds.
    pub fn of_run<E: Into<strtransformer::Error>>(
        name: impl fmt::Display,
    ) -> impl FnOnce(E) -> Error {
        move |error| match error.into() {
            error @ strtransformer::Error::Config { .. } => Error::Config(error),
            source => Error::Refused {
                name: name.to_string(),
                source,
            },
        }
    }

    pub(crate) fn system(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::System {
            action,
            path,
            source,
        }
    }

    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            action,
            path,
            source,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message(&Wording::LIBRARY))
    }
}
