//! How the program ends when it does not end well: a message and an exit status.

use crate::output::note;
use crate::wording::PROGRAM;
use std::fmt;

/// What ends the program early.
#[derive(Debug)]
pub enum Failure {
    /// Something went wrong; status 1.
    Failed(String),
    /// What was asked for makes no sense; status 2.
    Usage(String),
    /// The person at the keyboard ended it and has been told how to resume; status 130.
    Interrupted,
}

/// What every command returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Prints the message and gives the exit status.
    pub fn report(&self) -> u8 {
        match self {
            Failure::Failed(message) => {
                note(&format!("error: {message}"));
                1
            }
            Failure::Usage(message) => {
                note(&format!("error: {message}"));
                2
            }
            Failure::Interrupted => 130,
        }
    }
}

impl From<strt_runs::Error> for Failure {
    fn from(error: strt_runs::Error) -> Failure {
        let message = error.message(&PROGRAM.wording);
        if error.is_request() {
            Failure::Usage(message)
        } else {
            Failure::Failed(message)
        }
    }
}

/// Errors whose own message is enough.
macro_rules! fails_with {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::Failed(error.to_string())
            }
        }
    )*};
}

fails_with!(
    strtransformer::Error,
    strt_classic::Error,
    strt_score::Error,
    strt_signal::Error,
    strt_synth::Error,
    strt_io::Error,
    strt_report::Error,
    serde_json::Error,
    std::io::Error,
);

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Failed(message) | Failure::Usage(message) => out.write_str(message),
            Failure::Interrupted => out.write_str("interrupted"),
        }
    }
}
