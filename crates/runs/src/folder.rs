//! The output folder: filled beside its place and moved there when it is complete.
//!
//! A command works in `DIR.partial`; `DIR` appears, or is replaced, in one rename. A run that is
//! killed leaves `DIR.partial` with its last checkpoint, from which it can be resumed. The hidden
//! file `.strt` says that this program made a folder and lists what it wrote there: nothing else is
//! ever replaced or removed. While a command works, a lock on that file keeps others out. What the
//! files mean is not known here.

use crate::error::{Error, InPlaceOfARun, Result};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a run can be resumed from.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// The last file of a run or a comparison.
pub const SUMMARY: &str = "summary.json";
const MARK: &str = ".strt";
const PARTIAL: &str = ".partial";

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

/// The contents of `.strt`.
#[derive(Serialize, Deserialize)]
struct Mark {
    made_by: String,
    kind: Kind,
    files: Vec<String>,
}

/// A folder in the making.
pub struct Folder {
    kind: Kind,
    replace: Replace,
    target: PathBuf,
    partial: PathBuf,
    /// `.strt` of the folder that is worked in, locked.
    mark: Option<File>,
}

impl Folder {
    /// Checks that `target` may be written. Nothing is changed yet.
    pub fn plan(target: &Path, kind: Kind, replace: Replace) -> Result<Folder> {
        let folder = Folder::named(target, kind, replace)?;
        if folder
            .target
            .extension()
            .is_some_and(|ending| ending == "partial")
        {
            return Err(Error::Reserved {
                path: target.to_owned(),
            });
        }
        folder.check_target()?;
        folder.check_partial()?;
        if folder.partial.join(CHECKPOINT).exists() && replace != Replace::Anything {
            return Err(Error::Unfinished {
                partial: folder.partial,
            });
        }
        Ok(folder)
    }

    /// The folder of a run to be resumed from `from`, which is `DIR` or `DIR.partial`; it may
    /// replace another result only where it was started so. Nothing is changed yet.
    pub fn resumed(from: &Path, replace: Replace) -> Result<Folder> {
        let name = name_of(from)?.to_string_lossy().into_owned();
        let target = match name.strip_suffix(PARTIAL) {
            Some(stem) => from.with_file_name(stem),
            None => from.to_owned(),
        };
        let folder = Folder::named(&target, Kind::Run, replace)?;
        if from == folder.partial {
            folder.check_target()?;
        } else if folder.partial.join(CHECKPOINT).exists() {
            return Err(Error::TwoUnfinished {
                given: from.to_owned(),
                partial: folder.partial,
            });
        } else {
            folder.check_partial()?;
        }
        Ok(folder)
    }

    /// Where an unfinished run may be, for a name that a person gives: the folder itself, or beside
    /// it.
    pub fn unfinished(given: &Path) -> PathBuf {
        let beside = name_of(given).map(|name| given.with_file_name(with_partial(name)));
        match beside {
            Ok(beside)
                if !given.join(CHECKPOINT).is_file() && beside.join(CHECKPOINT).is_file() =>
            {
                beside
            }
            _ => given.to_owned(),
        }
    }

    fn named(target: &Path, kind: Kind, replace: Replace) -> Result<Folder> {
        name_of(target)?;
        let mut target: PathBuf = target.components().collect();
        if target.is_symlink() {
            // A rename would replace the link, not what it names.
            target =
                fs::canonicalize(&target).map_err(Error::system("follow the link", &target))?;
        }
        Ok(Folder {
            kind,
            replace,
            partial: target.with_file_name(with_partial(name_of(&target)?)),
            target,
            mark: None,
        })
    }

    fn check_target(&self) -> Result {
        let path = || self.target.clone();
        let entries = match fs::read_dir(&self.target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(Error::NotAFolder { path: path() });
            }
            read => read.map_err(Error::system("read the folder", &self.target))?,
        };
        if entries.count() == 0 {
            return Ok(());
        }
        let kind = owned(&self.target).map_err(|why| Error::Foreign {
            path: path(),
            why,
            replacing: self.replace == Replace::Anything,
        })?;
        match self.replace {
            Replace::Anything => Ok(()),
            Replace::SameKind if kind == self.kind => Ok(()),
            _ => Err(Error::Exists { path: path() }),
        }
    }

    /// Whether the folder to work in is free, or was left by this program.
    fn check_partial(&self) -> Result {
        // A mark alone may still be empty: somebody is just beginning.
        let used =
            || names(&self.partial).iter().any(|name| name != MARK) || self.partial.is_file();
        let foreign = || used() && mark(&self.partial).is_none();
        // Looked at twice: it may be moved to its place between the names and the mark.
        match foreign() && foreign() {
            true => Err(Error::Occupied {
                partial: self.partial.clone(),
            }),
            false => Ok(()),
        }
    }

    /// Refuses to replace a folder that holds one of these files, which are needed.
    pub fn must_not_hold<'a>(&self, files: impl IntoIterator<Item = &'a Path>) -> Result {
        let Ok(target) = fs::canonicalize(&self.target) else {
            return Ok(());
        };
        for file in files {
            if fs::canonicalize(file).is_ok_and(|file| file.starts_with(&target)) {
                return Err(Error::WouldBeLost {
                    folder: self.target.clone(),
                    file: file.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Creates the folder to work in, empty, and keeps others out. What another run has left there
    /// since the plan was made is not touched.
    pub fn begin(&mut self) -> Result {
        self.enter()?;
        if self.replace != Replace::Anything {
            let taken = self
                .check_target()
                .and_then(|()| self.check_no_checkpoint());
            if let Err(error) = taken {
                self.leave();
                return Err(error);
            }
        }
        self.clear()
    }

    /// Moves the files of a run that is resumed from `from` to where it works, and keeps others
    /// out.
    pub fn take_over(&mut self, from: &Path) -> Result {
        if from == self.partial {
            self.enter()?;
        } else {
            if self.partial.exists() {
                // Left by a run that was killed before its first checkpoint, if nobody works there.
                self.enter()?;
                self.check_no_checkpoint()?;
                self.clear()?;
                self.leave();
            }
            // The lock is on a file in the folder and moves with it.
            self.mark = Some(self.locked(from, false)?);
        }
        if !from.join(CHECKPOINT).is_file() {
            // Somebody else has finished it since it was looked at.
            if from == self.partial {
                self.leave();
            }
            return Err(Error::NotUnfinished {
                folder: from.to_owned(),
                found: InPlaceOfARun::Nothing,
            });
        }
        if from != self.partial {
            fs::rename(from, &self.partial)
                .map_err(Error::system("move the run to", &self.partial))?;
        }
        self.write_mark(Vec::new())?;
        self.remove_half_written();
        Ok(())
    }

    /// Locks the folder to work in, which need not exist.
    fn enter(&mut self) -> Result {
        self.check_partial()?;
        self.mark = Some(self.locked(&self.partial, true)?);
        self.write_mark(Vec::new())
    }

    /// `.strt` of a folder, locked.
    fn locked(&self, folder: &Path, create: bool) -> Result<File> {
        let busy = || Error::Busy {
            partial: folder.to_owned(),
        };
        let path = folder.join(MARK);
        let open = || {
            if create {
                fs::create_dir_all(folder)?;
            }
            let mut options = OpenOptions::new();
            options
                .create(create)
                .read(true)
                .write(true)
                .truncate(false);
            options.open(&path)
        };
        let file = match open() {
            // The folder is just being moved.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists
                ) =>
            {
                return Err(busy());
            }
            opened => opened.map_err(Error::system("create the folder", folder))?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(busy()),
            // A file system without locks: two runs at once are then not kept apart.
            Err(fs::TryLockError::Error(_)) => {}
        }
        match is_at(&file, &path) {
            true => Ok(file),
            // Whoever held the lock has moved the folder in the meantime.
            false => Err(busy()),
        }
    }

    fn check_no_checkpoint(&self) -> Result {
        match self.partial.join(CHECKPOINT).exists() {
            true => Err(Error::Unfinished {
                partial: self.partial.clone(),
            }),
            false => Ok(()),
        }
    }

    /// Removes everything from the folder to work in but the lock.
    fn clear(&self) -> Result {
        let entries =
            fs::read_dir(&self.partial).map_err(Error::system("read the folder", &self.partial))?;
        for entry in entries.flatten().filter(|entry| entry.file_name() != MARK) {
            let path = entry.path();
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(Error::system("remove what an earlier run has left", &path))?;
        }
        Ok(())
    }

    /// Removes the folder to work in where it holds nothing but the lock, and gives the lock back.
    fn leave(&mut self) {
        if names(&self.partial) == [MARK] {
            let _ = fs::remove_dir_all(&self.partial);
        }
        self.mark = None;
    }

    /// Writes `.strt` through the file that is locked: a new file would not be.
    fn write_mark(&mut self, files: Vec<String>) -> Result {
        let Some(file) = &mut self.mark else {
            return Ok(());
        };
        let mark = Mark {
            made_by: format!("strt {}", env!("CARGO_PKG_VERSION")),
            kind: self.kind,
            files,
        };
        let text = serde_json::to_string(&mark)?;
        let mut write = || {
            // In one piece and never shorter, so that it can be read at any time: others look at it
            // without the lock.
            let before = file.metadata()?.len() as usize;
            let text = format!("{text:<width$}\n", width = before.saturating_sub(1));
            io::Seek::rewind(file)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(Error::system("write", &self.partial.join(MARK)))
    }

    /// Files that a killed run was about to write; `strt-io` names them so until they are complete.
    fn remove_half_written(&self) {
        for name in names(&self.partial) {
            if name.starts_with(".strt-") && name.ends_with(PARTIAL) {
                let _ = fs::remove_file(self.partial.join(name));
            }
        }
    }

    /// Where the folder will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where files are written until then.
    pub fn working(&self) -> &Path {
        &self.partial
    }

    /// Whether something that was there before will be replaced.
    pub fn replaces(&self) -> bool {
        !names(&self.target).is_empty()
    }

    /// Moves everything to its place, replacing what was there.
    pub fn publish(mut self) -> Result {
        // What a person put there meanwhile is not replaced.
        self.check_target().map_err(|error| Error::NotPublished {
            source: Box::new(error),
            partial: self.partial.clone(),
        })?;
        self.write_mark(names(&self.partial))?;
        let problem = |source: io::Error| Error::NotMoved {
            path: self.target.clone(),
            partial: self.partial.clone(),
            source,
        };
        let replaces = self.target.exists();
        let mut old = self.partial.clone().into_os_string();
        old.push(format!(".replaced-{}", std::process::id()));
        if replaces {
            fs::rename(&self.target, &old).map_err(problem)?;
        }
        fs::rename(&self.partial, &self.target).map_err(problem)?;
        if replaces {
            let old = Path::new(&old);
            fs::remove_dir_all(old).map_err(Error::system("remove the replaced folder", old))?;
        }
        Ok(())
    }

    /// Leaves everything where it is worked on, because what is in its place is worth more.
    pub fn keep_unfinished(mut self) -> Result<PathBuf> {
        self.write_mark(names(&self.partial))?;
        Ok(self.partial.clone())
    }

    /// After a failure: removes what was written, unless the run can be resumed from it, and says
    /// so if it can.
    pub fn give_up(self, error: Error) -> Error {
        if self.partial.join(CHECKPOINT).is_file() {
            return Error::Kept {
                source: Box::new(error),
                partial: self.partial,
            };
        }
        self.discard();
        error
    }

    /// Removes what was written, if [`Folder::begin`] was called.
    pub fn discard(self) {
        if self.mark.is_some() {
            // Whatever led here is what the person needs to hear.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// Whether an open file is still the one of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(here), Ok(there)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (here.dev(), here.ino()) == (there.dev(), there.ino())
}

/// Whether there is a file of that name: folders with open files in them cannot be moved here.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_file()
}

fn mark(folder: &Path) -> Option<Mark> {
    let text = fs::read_to_string(folder.join(MARK)).ok()?;
    serde_json::from_str(&text).ok()
}

/// The kind of a folder of this program that holds nothing else, or why it is not one.
fn owned(folder: &Path) -> Result<Kind, String> {
    let mark = mark(folder).ok_or_else(|| "was not written by strt".to_string())?;
    let foreign = names(folder)
        .into_iter()
        .find(|name| name != MARK && !mark.files.contains(name));
    match foreign {
        Some(name) => Err(format!("holds `{name}`, which strt did not write")),
        None => Ok(mark.kind),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn name_of(folder: &Path) -> Result<&std::ffi::OsStr> {
    folder.file_name().ok_or_else(|| Error::NoName {
        path: folder.to_owned(),
    })
}

fn with_partial(name: &std::ffi::OsStr) -> OsString {
    let mut name = name.to_os_string();
    name.push(PARTIAL);
    name
}
