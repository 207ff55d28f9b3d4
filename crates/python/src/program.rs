//! The program `strt` of the wheel: the same as the one that cargo builds.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program on a command line, whose first word is its name; gives the exit status.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| strt_cli::main_from(arguments))
}
