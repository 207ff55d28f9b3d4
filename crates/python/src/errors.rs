//! The library's errors as Python exceptions, with the library's message: what was expected, what
//! came, what to do.
//!
//! Values that cannot be used are `ValueError`; files that the system refuses are
//! `FileNotFoundError`, `PermissionError` or another `OSError`; files with wrong contents are
//! `ValueError`.

use crate::wording::PACKAGE;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError,
    PyValueError,
};
use std::io::ErrorKind;
use strt_runs::Error;

/// Of methods, scores and generated problems, none of which opens a file.
pub fn of_core(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Of files and configurations.
pub fn of_io(error: strt_io::Error) -> PyErr {
    let message = error.to_string();
    of_io_saying(error, message)
}

fn of_io_saying(error: strt_io::Error, message: String) -> PyErr {
    match error {
        strt_io::Error::Io { source, .. } => of_system(source.kind(), message),
        strt_io::Error::NotAFile { .. } => PyIsADirectoryError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Of runs and their folders.
pub fn of_runs(error: strt_runs::Error) -> PyErr {
    let message = error.message(&PACKAGE.wording);
    of_runs_saying(error, message)
}

/// The exception that an error is, with a message that may tell more.
fn of_runs_saying(error: strt_runs::Error, message: String) -> PyErr {
    match error {
        Error::Incomplete { source, .. } | Error::Kept { source, .. } => {
            of_runs_saying(*source, message)
        }
        Error::Exists { .. }
        | Error::Foreign { .. }
        | Error::Occupied { .. }
        | Error::Unfinished { .. } => PyFileExistsError::new_err(message),
        Error::System { source, .. }
        | Error::File { source, .. }
        | Error::NotMoved { source, .. } => of_system(source.kind(), message),
        Error::Busy { .. } | Error::NotAFolder { .. } | Error::NotPublished { .. } => {
            PyOSError::new_err(message)
        }
        Error::Io(error) => of_io_saying(error, message),
        _ => PyValueError::new_err(message),
    }
}

/// Of the operating system, with a message of ours.
pub fn of_system(kind: ErrorKind, message: String) -> PyErr {
    match kind {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
        ErrorKind::AlreadyExists => PyFileExistsError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}
