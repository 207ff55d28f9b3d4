//! A folder that may be written. Nothing on disk has changed yet.

use super::mark::{Lock, MARK, Mark, names, owned};
use super::working::Working;
use super::{Kind, PARTIAL, Replace, can_be_resumed, has_begun, name_of, with_partial};
use crate::error::{Error, InPlaceOfARun, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use strt_io::check_writable_in;

/// A folder that was checked: it is free, or what is there may be replaced.
pub struct Planned {
    pub(super) kind: Kind,
    pub(super) replace: Replace,
    pub(super) target: PathBuf,
    pub(super) partial: PathBuf,
}

impl Planned {
    /// Checks that `target` may be written.
    ///
    /// # Errors
    /// When it may not be replaced, or an unfinished run stands in the way.
    pub fn new(target: &Path, kind: Kind, replace: Replace) -> Result<Planned> {
        let planned = Planned::named(target, kind, replace)?;
        if planned
            .target
            .extension()
            .is_some_and(|ending| ending == "partial")
        {
            return Err(Error::Reserved {
                path: target.to_owned(),
            });
        }
        planned.check_target()?;
        planned.check_partial()?;
        if replace != Replace::Anything {
            planned.check_no_checkpoint()?;
        }
        Ok(planned)
    }

    /// The folder of a run to be resumed from `from`, which is `DIR` or `DIR.partial`; it may
    /// replace another result only where it was started so.
    pub(crate) fn resumed(from: &Path, replace: Replace) -> Result<Planned> {
        let name = name_of(from)?.to_string_lossy().into_owned();
        let target = match name.strip_suffix(PARTIAL) {
            Some(stem) => from.with_file_name(stem),
            None => from.to_owned(),
        };
        let planned = Planned::named(&target, Kind::Run, replace)?;
        if from == planned.partial {
            planned.check_target()?;
        } else if can_be_resumed(&planned.partial) {
            return Err(Error::TwoUnfinished {
                given: from.to_owned(),
                partial: planned.partial,
            });
        } else {
            planned.check_partial()?;
        }
        Ok(planned)
    }

    fn named(target: &Path, kind: Kind, replace: Replace) -> Result<Planned> {
        name_of(target)?;
        let mut target: PathBuf = target.components().collect();
        if target.is_symlink() {
            // A rename would replace the link, not what it names.
            target =
                fs::canonicalize(&target).map_err(Error::system("follow the link", &target))?;
        }
        Ok(Planned {
            kind,
            replace,
            partial: target.with_file_name(with_partial(name_of(&target)?)),
            target,
        })
    }

    /// Where the folder will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Refuses a place where the system does not let folders be made, before any work is done.
    ///
    /// # Errors
    /// When it does not.
    pub fn must_be_writable(&self) -> Result {
        let parents = self.partial.ancestors().skip(1);
        let there = parents
            .map(|parent| {
                if parent.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    parent
                }
            })
            .find(|parent| parent.is_dir());
        match there {
            Some(there) => Ok(check_writable_in(there, &self.target)?),
            None => Ok(()), // what is wrong is said when the folder is made
        }
    }

    /// Refuses to replace a folder that holds one of these files, which are needed.
    ///
    /// # Errors
    /// When it does.
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

    /// Fills the folder in one go: `write` is given an empty folder to write into, which takes its
    /// place when it is complete. What fails leaves nothing behind.
    ///
    /// # Errors
    /// What `write` met with, and what keeps the folder from being made or moved.
    pub fn fill<T, E: From<Error>>(
        self,
        write: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<T, E> {
        let working = self.begin()?;
        match write(working.path()) {
            Ok(written) => {
                working.publish()?;
                Ok(written)
            }
            Err(error) => {
                working.discard();
                Err(error)
            }
        }
    }

    /// Creates the folder to work in, empty, and keeps others out. What another run has left there
    /// since the plan was made is not touched.
    ///
    /// # Errors
    /// When somebody else works there, or has finished meanwhile.
    pub fn begin(self) -> Result<Working> {
        let working = self.enter()?;
        let planned = &working.planned;
        if planned.replace != Replace::Anything {
            let free = planned
                .check_target()
                .and_then(|()| planned.check_no_checkpoint());
            if let Err(error) = free {
                working.leave();
                return Err(error);
            }
        }
        working.clear()?;
        Ok(working)
    }

    /// Moves the files of a run that is resumed from `from` to where it works, and keeps others
    /// out.
    pub(crate) fn take_over(self, from: &Path) -> Result<Working> {
        let in_place = from == self.partial;
        let mut working = if in_place {
            self.enter()?
        } else {
            self.move_in(from)?
        };
        if !has_begun(from) {
            // Somebody else has finished it since it was looked at.
            if in_place {
                working.leave();
            }
            return Err(Error::NotUnfinished {
                folder: from.to_owned(),
                found: InPlaceOfARun::Nothing,
            });
        }
        if !in_place {
            let partial = working.path();
            fs::rename(from, partial).map_err(Error::system("move the run to", partial))?;
        }
        working.write_mark()?;
        working.remove_half_written();
        Ok(working)
    }

    /// Locks the folder of an unfinished run that is not yet where it will be worked on.
    fn move_in(self, from: &Path) -> Result<Working> {
        let mut planned = self;
        if planned.partial.exists() {
            // Left by a run that was killed before its first checkpoint, if nobody works there.
            let working = planned.enter()?;
            working.planned.check_no_checkpoint()?;
            working.clear()?;
            planned = working.leave();
        }
        // The lock is on a file in the folder and moves with it.
        Ok(Working::new(planned, Lock::take(from, false)?))
    }

    /// Locks the folder to work in, which need not exist.
    fn enter(self) -> Result<Working> {
        self.check_partial()?;
        let lock = Lock::take(&self.partial, true)?;
        let mut working = Working::new(self, lock);
        working.write_mark()?;
        Ok(working)
    }

    pub(super) fn check_target(&self) -> Result {
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
            _ if can_be_resumed(&self.target) => Err(Error::Unfinished {
                partial: self.target.clone(),
            }),
            _ => Err(Error::Exists { path: path() }),
        }
    }

    /// Whether the folder to work in is free, or was left by this program.
    fn check_partial(&self) -> Result {
        // A mark alone may still be empty: somebody is just beginning.
        let used =
            || names(&self.partial).iter().any(|name| name != MARK) || self.partial.is_file();
        let foreign = || used() && Mark::read(&self.partial).is_none();
        // Looked at twice: it may be moved to its place between the names and the mark.
        if foreign() && foreign() {
            return Err(Error::Occupied {
                partial: self.partial.clone(),
            });
        }
        Ok(())
    }

    fn check_no_checkpoint(&self) -> Result {
        if can_be_resumed(&self.partial) {
            return Err(Error::Unfinished {
                partial: self.partial.clone(),
            });
        }
        Ok(())
    }
}
