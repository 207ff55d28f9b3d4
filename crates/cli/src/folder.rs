//! The output folder: filled beside its place and moved there when it is complete.
//!
//! A command works in `DIR.partial`; `DIR` appears, or is replaced, in one rename. A run that is killed leaves `DIR.partial`
//! with its last checkpoint, from which it can be resumed. The hidden file `.strt` says that this program made a folder and
//! lists what it wrote there: nothing else is ever replaced or removed. While a command works, a lock on that file keeps
//! others out.

use crate::failure::{Failure, Outcome};
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
    Run,
    Demo,
    Problem,
    Comparison,
}

/// What may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
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
    pub fn plan(target: &Path, kind: Kind, replace: Replace) -> Outcome<Folder> {
        let folder = Folder::named(target, kind, replace)?;
        if folder
            .target
            .extension()
            .is_some_and(|ending| ending == "partial")
        {
            return Err(Failure::Usage(format!(
                "--out {}: the ending .partial is kept for unfinished folders; choose another name",
                target.display()
            )));
        }
        folder.check_target()?;
        folder.check_partial()?;
        let partial = folder.partial.display();
        if folder.partial.join(CHECKPOINT).exists() && replace != Replace::Anything {
            return Err(Failure::Failed(format!(
                "{partial}: an unfinished run has left this folder; continue it with `{}`, or discard it with --overwrite",
                resume_command(&folder.partial)
            )));
        }
        Ok(folder)
    }

    /// The folder of a run to be resumed from `from`, which is `DIR` or `DIR.partial`; it may replace another result only
    /// where it was started so. Nothing is changed yet.
    pub fn resumed(from: &Path, replace: Replace) -> Outcome<Folder> {
        let name = name_of(from)?.to_string_lossy().into_owned();
        let target = match name.strip_suffix(PARTIAL) {
            Some(stem) => from.with_file_name(stem),
            None => from.to_owned(),
        };
        let folder = Folder::named(&target, Kind::Run, replace)?;
        if from == folder.partial {
            folder.check_target()?;
        } else if folder.partial.join(CHECKPOINT).exists() {
            return Err(Failure::Failed(format!(
                "{}: an unfinished run has left {} as well; resume that one, or remove it first",
                from.display(),
                folder.partial.display()
            )));
        } else {
            folder.check_partial()?;
        }
        Ok(folder)
    }

    /// Where an unfinished run may be, for a name that a person gives: the folder itself, or beside it.
    pub fn unfinished(given: &Path) -> PathBuf {
        let beside = name_of(given).map(|name| given.with_file_name(with_partial(name)));
        match beside {
            Ok(beside) if !given.join(CHECKPOINT).is_file() && beside.join(CHECKPOINT).is_file() => beside,
            _ => given.to_owned(),
        }
    }

    fn named(target: &Path, kind: Kind, replace: Replace) -> Outcome<Folder> {
        name_of(target)?;
        let mut target: PathBuf = target.components().collect();
        if target.is_symlink() {
            // A rename would replace the link, not what it names.
            target = fs::canonicalize(&target).map_err(|error| cannot("follow the link", &target, &error))?;
        }
        Ok(Folder {
            kind,
            replace,
            partial: target.with_file_name(with_partial(name_of(&target)?)),
            target,
            mark: None,
        })
    }

    fn check_target(&self) -> Outcome {
        let shown = self.target.display();
        let entries = match fs::read_dir(&self.target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(Failure::Failed(format!(
                    "{shown}: expected a folder or nothing, found a file; choose another --out"
                )));
            }
            read => read.map_err(|error| cannot("read the folder", &self.target, &error))?,
        };
        if entries.count() == 0 {
            return Ok(());
        }
        let kind = owned(&self.target).map_err(|why| {
            let hint = match self.replace {
                Replace::Anything => ", so it is not replaced",
                _ => "",
            };
            Failure::Failed(format!(
                "{shown}: the folder exists and {why}{hint}; choose another --out"
            ))
        })?;
        match self.replace {
            Replace::Anything => Ok(()),
            Replace::SameKind if kind == self.kind => Ok(()),
            _ => Err(Failure::Failed(format!(
                "{shown}: the folder exists; choose another --out, or replace it with --overwrite"
            ))),
        }
    }

    /// Whether the folder to work in is free, or was left by this program.
    fn check_partial(&self) -> Outcome {
        let used = fs::read_dir(&self.partial).is_ok_and(|mut entries| entries.next().is_some());
        if (used || self.partial.is_file()) && mark(&self.partial).is_none() {
            return Err(Failure::Failed(format!(
                "{}: expected nothing there, since results are prepared in it, found something that strt did not write; \
                 move it away, or choose another --out",
                self.partial.display()
            )));
        }
        Ok(())
    }

    /// Refuses to replace a folder that holds one of these files, which are needed.
    pub fn must_not_hold<'a>(&self, files: impl IntoIterator<Item = &'a Path>) -> Outcome {
        let Ok(target) = fs::canonicalize(&self.target) else {
            return Ok(());
        };
        for file in files {
            if fs::canonicalize(file).is_ok_and(|file| file.starts_with(&target)) {
                return Err(Failure::Usage(format!(
                    "--out {}: the folder holds {}, which would be lost; choose another --out",
                    self.target.display(),
                    file.display()
                )));
            }
        }
        Ok(())
    }

    /// Creates the folder to work in, empty, and keeps others out.
    pub fn begin(&mut self) -> Outcome {
        self.enter()?;
        let entries =
            fs::read_dir(&self.partial).map_err(|error| cannot("read the folder", &self.partial, &error))?;
        for entry in entries.flatten().filter(|entry| entry.file_name() != MARK) {
            let path = entry.path();
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            removed.map_err(|error| cannot("remove what an earlier run has left", &path, &error))?;
        }
        Ok(())
    }

    /// Moves the files of a run that is resumed from `from` to where it works, and keeps others out.
    pub fn take_over(&mut self, from: &Path) -> Outcome {
        if from != self.partial {
            if self.partial.exists() {
                // Left by a run that was killed before its first checkpoint; `begin` makes sure nobody works there.
                self.begin()?;
                self.mark = None;
                fs::remove_dir_all(&self.partial)
                    .map_err(|error| cannot("remove what an earlier run has left", &self.partial, &error))?;
            }
            fs::rename(from, &self.partial)
                .map_err(|error| cannot("move the run to", &self.partial, &error))?;
        }
        self.enter()?;
        self.remove_half_written();
        Ok(())
    }

    fn enter(&mut self) -> Outcome {
        self.check_partial()?;
        let open = || {
            fs::create_dir_all(&self.partial)?;
            let mut options = OpenOptions::new();
            options.create(true).read(true).write(true).truncate(false);
            options.open(self.partial.join(MARK))
        };
        let file = open().map_err(|error| cannot("create the folder", &self.partial, &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Failure::Failed(format!(
                    "{}: another strt is writing there; wait for it, or choose another --out",
                    self.partial.display()
                )));
            }
            // A file system without locks: two runs at once are then not kept apart.
            Err(fs::TryLockError::Error(_)) => {}
        }
        self.mark = Some(file);
        self.write_mark(Vec::new())
    }

    /// Writes `.strt` through the file that is locked: a new file would not be.
    fn write_mark(&mut self, files: Vec<String>) -> Outcome {
        let Some(file) = &mut self.mark else {
            return Ok(());
        };
        let mark = Mark {
            made_by: format!("strt {}", env!("CARGO_PKG_VERSION")),
            kind: self.kind,
            files,
        };
        let text = format!("{}\n", serde_json::to_string(&mark)?);
        let mut write = || {
            io::Seek::rewind(file)?;
            file.set_len(0)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| cannot("write", &self.partial.join(MARK), &error))
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
    pub fn publish(mut self) -> Outcome {
        // What a person put there meanwhile is not replaced.
        self.check_target().map_err(|failure| {
            Failure::Failed(format!(
                "{failure}; the results are in {}",
                self.partial.display()
            ))
        })?;
        self.write_mark(names(&self.partial))?;
        let problem = |error: io::Error| {
            Failure::Failed(format!(
                "{}: cannot move the results there: {error}; they are in {}",
                self.target.display(),
                self.partial.display()
            ))
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
            fs::remove_dir_all(old).map_err(|error| cannot("remove the replaced folder", old, &error))?;
        }
        Ok(())
    }

    /// Leaves everything where it is worked on, because what is in its place is worth more.
    pub fn keep_unfinished(mut self) -> Outcome<PathBuf> {
        self.write_mark(names(&self.partial))?;
        Ok(self.partial.clone())
    }

    /// After a failure: removes what was written, unless the run can be resumed from it; says so if it can.
    pub fn give_up(self) -> Option<String> {
        if self.partial.join(CHECKPOINT).is_file() {
            return Some(format!(
                "the run so far is kept: continue with `{}`",
                resume_command(&self.partial)
            ));
        }
        if self.mark.is_some() {
            // The failure that led here is what the person needs to hear.
            let _ = fs::remove_dir_all(&self.partial);
        }
        None
    }
}

/// What to type to continue a run.
pub fn resume_command(folder: &Path) -> String {
    let words = ["strt", "separate", "--resume"].map(String::from);
    crate::output::shell_line(&[&words[..], &[folder.display().to_string()]].concat())
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

fn name_of(folder: &Path) -> Outcome<&std::ffi::OsStr> {
    folder
        .file_name()
        .ok_or_else(|| Failure::Usage(format!("{}: expected the name of a folder", folder.display())))
}

fn with_partial(name: &std::ffi::OsStr) -> OsString {
    let mut name = name.to_os_string();
    name.push(PARTIAL);
    name
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!(
        "{}: cannot {action}: {error}; check that you may write there and that there is space",
        path.display()
    ))
}
