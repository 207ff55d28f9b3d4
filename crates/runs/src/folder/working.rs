//! A folder that is worked in: `DIR.partial`, locked.

use super::mark::{Lock, MARK, names};
use super::{PARTIAL, Planned, RUN, can_be_resumed, checksums};
use crate::error::{Error, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder in the making. Dropping it gives the lock back and leaves the files, as a crash would.
pub struct Working {
    pub(super) planned: Planned,
    lock: Lock,
}

impl Working {
    pub(super) fn new(planned: Planned, lock: Lock) -> Working {
        Working { planned, lock }
    }

    /// Where files are written until the folder is complete.
    pub fn path(&self) -> &Path {
        &self.planned.partial
    }

    /// Whether something that was there before will be replaced.
    pub fn replaces(&self) -> bool {
        !names(&self.planned.target).is_empty()
    }

    /// Moves everything to its place, replacing what was there, and says where that is.
    ///
    /// # Errors
    /// When the place was taken meanwhile, or the system refuses.
    pub fn publish(mut self) -> Result<PathBuf> {
        self.move_to_its_place()
    }

    /// Moves a finished run to its place. What says that it is to be resumed goes last, so that a
    /// crash at any moment leaves a run that can be found, and before the lock is given back.
    pub(crate) fn publish_finished(mut self) -> Result<PathBuf> {
        let place = self.move_to_its_place()?;
        let request = place.join(RUN);
        fs::remove_file(&request).map_err(Error::file("remove", &request))?;
        Ok(place)
    }

    fn move_to_its_place(&mut self) -> Result<PathBuf> {
        // What a person put there meanwhile is not replaced.
        self.planned
            .check_target()
            .map_err(|error| Error::NotPublished {
                source: Box::new(error),
                partial: self.path().to_owned(),
            })?;
        self.write_complete_mark()?;
        let Planned {
            target, partial, ..
        } = &self.planned;
        let problem = |source: io::Error| Error::NotMoved {
            path: target.clone(),
            partial: partial.clone(),
            source,
        };
        let replaces = target.exists();
        let mut old = partial.clone().into_os_string();
        old.push(format!(".replaced-{}", std::process::id()));
        if replaces {
            fs::rename(target, &old).map_err(problem)?;
        }
        fs::rename(partial, target).map_err(problem)?;
        if replaces {
            let old = Path::new(&old);
            fs::remove_dir_all(old).map_err(Error::system("remove the replaced folder", old))?;
        }
        Ok(target.clone())
    }

    /// Leaves everything where it is worked on, because what is in its place is worth more, and
    /// says where that is.
    pub(crate) fn keep_unfinished(mut self) -> Result<PathBuf> {
        self.write_complete_mark()?;
        Ok(self.planned.partial)
    }

    /// After a failure: removes what was written, unless the run can be resumed from it, and says
    /// so if it can.
    pub(crate) fn give_up(self, error: Error) -> Error {
        let is_worth_keeping = matches!(error, Error::Incomplete { .. });
        if is_worth_keeping || can_be_resumed(self.path()) {
            return Error::Kept {
                source: Box::new(error),
                partial: self.planned.partial,
            };
        }
        self.discard();
        error
    }

    /// Removes what was written.
    pub fn discard(self) {
        // Whatever led here is what the person needs to hear.
        let _ = fs::remove_dir_all(self.path());
    }

    /// Removes the folder where it holds nothing but the lock, and gives the lock back.
    pub(super) fn leave(self) -> Planned {
        if names(self.path()) == [MARK] {
            let _ = fs::remove_dir_all(self.path());
        }
        self.planned
    }

    /// Removes everything but the lock.
    pub(super) fn clear(&self) -> Result {
        let entries = fs::read_dir(self.path());
        let entries = entries.map_err(Error::system("read the folder", self.path()))?;
        for entry in entries.flatten().filter(|entry| entry.file_name() != MARK) {
            let path = entry.path();
            let removed = if path.is_dir() {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
            removed.map_err(Error::system("remove what an earlier run has left", &path))?;
        }
        Ok(())
    }

    /// The mark of a folder that is worked in.
    pub(super) fn write_mark(&mut self) -> Result {
        let Planned { partial, kind, .. } = &self.planned;
        self.lock
            .write(partial, *kind, Vec::new(), Default::default())
    }

    /// The mark of a folder that nobody will change.
    fn write_complete_mark(&mut self) -> Result {
        let Planned { partial, kind, .. } = &self.planned;
        let checksums = checksums::of(partial)?;
        self.lock.write(partial, *kind, names(partial), checksums)
    }

    /// Files that a killed run was about to write; `strt-io` names them so until they are complete.
    pub(super) fn remove_half_written(&self) {
        for name in names(self.path()) {
            if name.starts_with(".strt-") && name.ends_with(PARTIAL) {
                let _ = fs::remove_file(self.path().join(name));
            }
        }
    }
}
