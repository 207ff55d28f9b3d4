//! The laboratory: what is measured of StrTransformer and what is checked of its paper.
//!
//! ```text
//! cargo run --release -p strt-lab -- recovery | trust | count | labels | paper | speed | verify | kill
//! ```
//!
//! In: a command line. Out: tables, JSON and pages, and an exit status. It uses the library as a
//! program does, and beyond that its feature `internals`; methods are run by the code of `strt
//! compare`. Nothing that a user installs depends on this crate, and it is not published.
//!
//! | module | what it does |
//! |---|---|
//! | `recovery` | how well known sources are recovered, beside other methods and programs |
//! | `trust` | whether the verdicts on sources are right |
//! | `count` | whether the estimated number of sources is right |
//! | `labels` | whether what sources are said to look like is right |
//! | `paper` | what the printed algorithm reaches, and what each change of the default is worth |
//! | `speed` | time, arithmetic rate and memory of the training loop, also against PyTorch |
//! | [`theory`] | the paper's claims as experiments that pass or fail |
//! | `verify` | runs these experiments and writes their page |
//! | `kill` | whether anything is lost when the program is killed |
//!
//! The Python programs that `recovery` and `speed` talk to are in `benchmarks/`. What the figures
//! mean is in `docs/recovery.md`, `docs/speed.md` and `docs/theory.md`.

mod count;
mod error;
mod kill;
mod labels;
mod paper;
mod recovery;
mod speed;
pub mod theory;
mod trust;
mod verify;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use strt_cli::failure::{Failure, Outcome};

pub use error::{Error, Result};
pub use verify::Verification;

/// Benchmarks of StrTransformer, and the paper's claims by experiment.
#[derive(Parser)]
#[command(
    name = "strt-lab",
    version,
    arg_required_else_help = true,
    after_help = "Exit status: 0 done, 1 failed, 2 wrong arguments."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Recovery of known sources, beside the classical methods and other programs.
    Recovery(recovery::Recovery),
    /// Whether the verdicts on sources are right, on problems with known sources.
    Trust(trust::Trust),
    /// Whether the estimated number of sources is right, on problems with known sources.
    Count(count::Count),
    /// Whether what sources are said to look like is right, simulated and recorded.
    Labels(labels::Labels),
    /// What preset `paper` reaches under all open choices, and the default one switch at a time.
    Paper(paper::Paper),
    /// Time, arithmetic rate and memory of the training loop, also against PyTorch.
    Speed(speed::Speed),
    /// One measurement of `speed` that needs a process of its own.
    #[command(hide = true)]
    SpeedChild(speed::Child),
    /// Check the paper's claims by experiment.
    Verify(verify::Verify),
    /// Kill the program at random moments, and see whether anything is lost.
    Kill(kill::Kill),
}

impl Command {
    fn run(self, typed: &[String]) -> Outcome {
        let done = match self {
            Command::Recovery(recovery) => return recovery.run(),
            Command::Trust(trust) => return trust.run(),
            Command::Count(count) => return count.run(),
            Command::Labels(labels) => return labels.run(),
            Command::Paper(paper) => return paper.run(),
            Command::Verify(verify) => return verify.run(typed),
            Command::Kill(kill) => return kill.run(),
            Command::Speed(speed) => speed.run(),
            Command::SpeedChild(child) => child.run(),
        };
        done.map_err(|error| Failure::Failed(error.to_string()))
    }
}

/// Runs the program on a command line, whose first word is the program's name, and gives the exit
/// status.
pub fn main_from(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(status) = kill::run_program(&arguments) {
        return status;
    }
    let parsed = match Arguments::try_parse_from(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version too; a reader that has gone away is no reason to complain.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match parsed.command.run(&typed(&arguments)) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// The command line as it is typed in the source tree, whatever the program was called by.
fn typed(arguments: &[OsString]) -> Vec<String> {
    let words = arguments
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    ["cargo", "run", "--release", "-p", "strt-lab", "--"]
        .map(String::from)
        .into_iter()
        .chain(words)
        .collect()
}
