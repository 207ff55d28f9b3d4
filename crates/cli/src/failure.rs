//! How the program ends when it does not end well: a message and an exit status.

use crate::output::note;
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// What ends the program early.
#[derive(Debug)]
pub enum Failure {
    /// Something went wrong; status 1.
    Failed(String),
    /// What was asked for makes no sense; status 2.
    Usage(String),
    /// The person at the keyboard ended it and has been told how to go on; status 130.
    Interrupted,
}

/// What every command returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Prints the message and gives the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::Failed(message) => {
                note(&format!("error: {message}"));
                ExitCode::FAILURE
            }
            Failure::Usage(message) => {
                note(&format!("error: {message}"));
                ExitCode::from(2)
            }
            Failure::Interrupted => ExitCode::from(130),
        }
    }
}

impl Failure {
    /// What the library said about a run on `path`. The configuration is what was asked for, not what the file holds.
    pub fn of_run(path: &Path) -> impl FnOnce(strtransformer::Error) -> Failure {
        move |error| match error {
            strtransformer::Error::Config { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Failed(format!("{}: {error}", path.display())),
        }
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Failed(message) | Failure::Usage(message) => out.write_str(message),
            Failure::Interrupted => out.write_str("interrupted"),
        }
    }
}
