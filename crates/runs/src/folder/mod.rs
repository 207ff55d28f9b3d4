//! The folder of a run as a state machine: planned, working, finished.
//!
//! ```text
//! nothing ──► Planned ──begin──► Working ──publish──► finished: DIR
//!                │                  │
//!                └──take_over──►    └──(crash, Ctrl-C)──► unfinished: DIR.partial or DIR
//!                      ▲                                       │
//!                      └───────────────────────────────────────┘
//! ```
//!
//! A command works in `DIR.partial`; `DIR` appears, or is replaced, in one rename. A run that is
//! killed leaves `DIR.partial` with its last checkpoint, from which it can be resumed. The hidden
//! file `.strt` says that this program made a folder and lists what it wrote there: nothing else is
//! ever replaced or removed. While a command works, a lock on that file keeps others out; once it
//! is done, the file also says which checksum each of the others has.
//!
//! [`Planned`] has changed nothing yet; [`Working`] holds the lock; [`Place`] is what lies on disk
//! between two commands. What the files mean is not known here.

mod checksums;
mod mark;
mod planned;
mod working;

pub use checksums::{Verified, verify, verify_all};
pub use planned::Planned;
pub use working::Working;

use crate::error::{Error, Result};
use mark::Mark;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a run can be resumed from.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// The last file of a run or a comparison.
pub const SUMMARY: &str = "summary.json";
/// All parameters and sources of a run.
pub const MODEL: &str = "model.safetensors";
/// What was asked for, as long as a run is not finished.
pub(crate) const RUN: &str = "run.json";
pub(crate) const PARTIAL: &str = ".partial";

/// What a folder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A separation.
    Run,
    /// A demonstration.
    Demo,
    /// A generated problem.
    Problem,
    /// A comparison of methods.
    Comparison,
}

impl Kind {
    /// What the program made a folder for; `None` for a folder that it did not make.
    pub fn of(folder: &Path) -> Option<Kind> {
        Mark::read(folder).map(|mark| mark.kind())
    }
}

/// What may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Nothing: the place must be free.
    Nothing,
    /// An earlier folder of the same kind.
    SameKind,
    /// Whatever this program wrote.
    Anything,
}

impl From<bool> for Replace {
    fn from(overwrite: bool) -> Replace {
        if overwrite {
            Replace::Anything
        } else {
            Replace::Nothing
        }
    }
}

/// What is where a run would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Absent,
    /// A run that can be resumed, in this folder: the one that was named, or `DIR.partial`.
    Unfinished(PathBuf),
    /// A finished run.
    Finished(PathBuf),
}

/// What is in the place of a run. An unfinished one counts before a finished one that it was to
/// replace.
///
/// # Errors
/// When there is something else, which no run may replace unasked.
pub fn inspect(target: &Path) -> Result<Place> {
    let unfinished = unfinished(target);
    if can_be_resumed(&unfinished) {
        return Ok(Place::Unfinished(unfinished));
    }
    if target.join(SUMMARY).is_file() && target.join(MODEL).is_file() {
        return Ok(Place::Finished(target.to_owned()));
    }
    Planned::new(target, Kind::Run, Replace::Nothing)?;
    Ok(Place::Absent)
}

/// Where an unfinished run may be, for a name that a person gives: the folder itself, or beside it.
pub(crate) fn unfinished(given: &Path) -> PathBuf {
    let beside = name_of(given).map(|name| given.with_file_name(with_partial(name)));
    match beside {
        Ok(beside) if !has_begun(given) && has_begun(&beside) => beside,
        _ => given.to_owned(),
    }
}

/// Whether a folder holds work that must not be discarded unasked: a checkpoint, or the model of a
/// run whose other results could not be written.
pub(crate) fn can_be_resumed(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    has(CHECKPOINT) || (has(RUN) && has(MODEL))
}

/// Whether a run was killed in the moments between making its folder and writing there what was
/// asked for.
pub(crate) fn is_bare(given: &Path) -> bool {
    let bare = |folder: &Path| folder.join(mark::MARK).is_file() && !has_begun(folder);
    let beside = name_of(given).map(|name| given.with_file_name(with_partial(name)));
    let is_partial = given.extension().is_some_and(|ending| ending == "partial");
    (is_partial && bare(given)) || beside.is_ok_and(|beside| bare(&beside))
}

/// Whether somebody works in a folder: what is read there is then not of one moment.
pub(crate) fn is_busy(folder: &Path) -> bool {
    let taken = || mark::Lock::take(folder, false);
    folder.join(mark::MARK).is_file() && matches!(taken(), Err(Error::Busy { .. }))
}

/// Whether a folder holds a run that has not finished; also one that was killed before its first
/// checkpoint, of which only what was asked for is known.
pub(crate) fn has_begun(folder: &Path) -> bool {
    can_be_resumed(folder) || folder.join(RUN).is_file()
}

fn name_of(folder: &Path) -> Result<&OsStr> {
    folder.file_name().ok_or_else(|| Error::NoName {
        path: folder.to_owned(),
    })
}

fn with_partial(name: &OsStr) -> OsString {
    let mut name = name.to_os_string();
    name.push(PARTIAL);
    name
}
