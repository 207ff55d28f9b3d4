//! Whole files in and out: a reader that refuses directories, a writer that never leaves half a
//! file.
//!
//! New contents go to a temporary file beside the target, reach the disk and then take the target's
//! name in one step. Whatever fails before that leaves the old file as it was and removes the
//! temporary one. Nothing here knows what the bytes mean; two writers of one path are not kept
//! apart, the last one wins.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// All bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    if path.is_dir() {
        return Err(not_a_file(path, "a directory"));
    }
    fs::read(path).map_err(Error::reading(path))
}

/// Replaces the contents of `path` by what `fill` writes, or leaves everything as it was.
pub(crate) fn write(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let old = fs::metadata(path).ok();
    match &old {
        Some(old) if old.is_dir() => return Err(not_a_file(path, "a directory")),
        // A rename would put a file in the place of a pipe or a device such as /dev/null.
        Some(old) if !old.is_file() => {
            return Err(not_a_file(path, "a pipe, a socket or a device"));
        }
        _ => {}
    }
    if path.file_name().is_none() {
        return Err(not_a_file(path, "a path without a file name"));
    }
    replace(path, old.as_ref(), fill).map_err(Error::writing(path))
}

/// Writes a text file, whole or not at all.
///
/// # Errors
/// [`Error::Io`] or [`Error::NotAFile`]; an old file is then left as it was.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file of any kind, whole or not at all.
///
/// # Errors
/// [`Error::Io`] or [`Error::NotAFile`]; an old file is then left as it was.
pub fn write_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    write(path.as_ref(), |file| file.write_all(bytes))
}

/// Whether a file can be written at `path`, which is left as it is: better before the work than
/// after it.
///
/// # Errors
/// [`Error::Io`] when the system refuses a file in that directory.
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    check_writable_in(&directory_of(path), path)
}

/// As [`check_writable`], for a `path` between which and this directory others are yet to be made.
///
/// # Errors
/// [`Error::Io`], which names `path`, when the system refuses a file in that directory.
pub fn check_writable_in(directory: &Path, path: &Path) -> Result<()> {
    // Removed when it is dropped.
    tempfile::Builder::new()
        .prefix(".strt-")
        .suffix(".partial")
        .tempfile_in(directory)
        .map(drop)
        .map_err(Error::writing(path))
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

pub(crate) fn not_a_file(path: &Path, found: &'static str) -> Error {
    let path = path.to_owned();
    Error::NotAFile { path, found }
}

fn replace(
    path: &Path,
    old: Option<&fs::Metadata>,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    // Through a symbolic link the file behind it is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = directory_of(&target);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".strt-").suffix(".partial");
    #[cfg(unix)]
    {
        // As for any new file the umask decides; the default of `tempfile` would hide it from
        // others.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(&directory)?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    let mut buffered = BufWriter::new(temporary.as_file());
    fill(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    // The new name reaches the disk with its directory. Not every system can do this; the contents
    // are safe already.
    if let Ok(directory) = File::open(&directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result");
        write(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write(&path, |file| {
            file.write_all(b"new, but only half of")?;
            Err(io::Error::other("disk full"))
        });
        let message = failed.unwrap_err().to_string();
        assert!(
            message.contains("disk full") && message.contains("result"),
            "{message}"
        );
        assert_eq!(read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["result"]);
        write(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["result"]);
    }

    #[test]
    fn only_files_are_read_and_written() {
        let directory = tempfile::tempdir().unwrap();
        let fill = |file: &mut (dyn Write + Send)| file.write_all(b"x");
        for result in [
            read(directory.path()).map(drop),
            write(directory.path(), fill),
        ] {
            let message = result.unwrap_err().to_string();
            assert!(message.contains("found a directory"), "{message}");
        }
        let absent = directory.path().join("absent").join("file");
        assert!(matches!(
            read(&absent),
            Err(Error::Io { action: "read", .. })
        ));
        assert!(matches!(
            write(&absent, fill),
            Err(Error::Io {
                action: "write",
                ..
            })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn links_sockets_and_permissions_are_respected() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        use std::os::unix::net::UnixListener;
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("file"), directory.path().join("link"));
        let fill = |file: &mut (dyn Write + Send)| file.write_all(b"x");
        write(&path, fill).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, |file| file.write_all(b"through the link")).unwrap();
        assert_eq!(read(&path).unwrap(), b"through the link");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        let socket = directory.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(matches!(write(&socket, fill), Err(Error::NotAFile { .. })));
    }
}
