//! The files of a folder, written one after the other: one that cannot be written does not keep the
//! others from it.
//!
//! In: names and what writes each file. Out: which are there, and an error that lists those that
//! are not. On a full disk the large ones are missing and the small ones there. Each file is
//! replaced whole or not at all; that is the business of `strt-io`.

use crate::error::{Error, Result};
use std::path::Path;

/// What has become of the files so far.
pub(super) struct Files<'a> {
    folder: &'a Path,
    written: Vec<String>,
    missing: Vec<(String, Error)>,
}

impl Files<'_> {
    pub fn new(folder: &Path) -> Files<'_> {
        Files {
            folder,
            written: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Writes a file, or remembers why it could not be written.
    pub fn add<E: Into<Error>>(
        &mut self,
        name: impl Into<String>,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) {
        let name = name.into();
        match write(&self.folder.join(&name)) {
            Ok(()) => self.written.push(name),
            Err(error) => self.missing.push((name, error.into())),
        }
    }

    /// Writes several files at once into the folder, or remembers why they could not be written.
    pub fn add_all<E: Into<Error>>(
        &mut self,
        names: Vec<String>,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) {
        match write(self.folder) {
            Ok(()) => self.written.extend(names),
            Err(error) => self.missing.push((names.join(", "), error.into())),
        }
    }

    /// Remembers why a file could not be made.
    pub fn failed(&mut self, name: &str, error: Error) {
        self.missing.push((name.into(), error));
    }

    /// The names of those that are there, and one more.
    pub fn names_with(&self, last: &str) -> Vec<String> {
        let written = self.written.iter().cloned();
        written.chain([last.to_string()]).collect()
    }

    /// What the summary says where some are missing.
    pub fn warning(&self) -> Option<String> {
        let missing: Vec<&str> = self.missing.iter().map(|(name, _)| name.as_str()).collect();
        (!missing.is_empty()).then(|| {
            format!(
                "these files could not be written: {}; resume the run to have them",
                missing.join(", ")
            )
        })
    }

    /// Ends the writing; anything that is missing is an error.
    pub fn finish(self) -> Result {
        let names = self.missing.iter().map(|(name, _)| name.clone()).collect();
        match self.missing.into_iter().next() {
            None => Ok(()),
            Some((_, first)) => Err(Error::Incomplete {
                missing: names,
                written: self.written,
                source: Box::new(first),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn what_does_not_fit_is_listed_and_the_rest_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = Files::new(directory.path());
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        files.add("small", |path| strt_io::write_text(path, "x"));
        assert_eq!(files.warning(), None);
        files.add("large", |path| Err(Error::file("write", path)(full())));
        files.add("last", |path| strt_io::write_text(path, "x"));
        assert!(files.warning().unwrap().contains("written: large;"));
        assert_eq!(files.names_with("summary"), ["small", "last", "summary"]);
        let message = files.finish().unwrap_err().to_string();
        for words in [
            "large: cannot write",
            "missing: large; written: small, last",
        ] {
            assert!(message.contains(words), "{message}");
        }
        assert!(directory.path().join("last").is_file());
        assert!(Files::new(directory.path()).finish().is_ok());
    }
}
