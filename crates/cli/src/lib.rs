//! The program `strt` as a function: blind source separation from the command line.
//!
//! In: a command line. Out: an exit status, and whatever the command writes and prints. All is
//! glue: arguments become values, values go to the library, results become files and lines; nothing
//! is computed here. This library exists so that other packages can offer the same command, and for
//! the laboratory (`strt-lab`), which runs [`methods`] and ends and prints as this program does; to
//! separate recordings from Rust, use `strtransformer` and `strt-runs`.

mod agreement;
mod browser;
mod channels;
mod clean;
mod compare;
mod config;
mod decisions;
mod demo;
mod derivatives;
mod ending;
mod energy;
mod evaluate;
pub mod failure;
mod formats;
mod generate;
mod info;
mod inputs;
mod interrupt;
mod many;
pub mod methods;
pub mod output;
mod outs;
mod preparing;
mod progress;
mod reading;
mod resume;
mod separate;
pub mod settings;
mod shell;
pub mod table;
mod terminal;
mod transform;
mod wording;

use clap::{Parser, Subcommand};
use failure::Outcome;
use std::ffi::OsString;

/// Unsupervised blind source separation with one masked-patch Transformer per source.
#[derive(Parser)]
#[command(
    name = "strt",
    version,
    arg_required_else_help = true,
    after_help = "Exit status: 0 done (look for warnings: a run may have ended before it \
                  converged), 1 failed, 2 wrong arguments, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Separate recordings into their sources.
    Separate(Box<separate::Separate>),
    /// Resume an interrupted run from its folder.
    Resume(resume::Resume),
    /// Generate a case study, separate it, and show what was recovered.
    Demo(demo::Demo),
    /// Separate a recording by several methods and compare what they find.
    Compare(compare::Compare),
    /// Score estimated sources against true ones, or compare two runs.
    Evaluate(evaluate::Evaluate),
    /// Generate a problem with known sources.
    Generate(generate::Generate),
    /// Sources of other recordings under a trained model.
    Transform(transform::Transform),
    /// The structural energy of trajectories under the branches of a trained model.
    Energy(energy::Energy),
    /// A recording without some of its sources.
    Clean(clean::Clean),
    /// Open the page of a run in a browser.
    Open(browser::Open),
    /// Say what files, a BIDS dataset or the folder of a run hold.
    Info(info::Info),
    /// Print the configuration with a comment for every value.
    Config(config::ShowConfig),
    /// Print the completions for a shell.
    Completions(shell::Completions),
    /// Print the manual page.
    Man(shell::Man),
}

impl Command {
    fn run(self, typed: &[String]) -> Outcome {
        match self {
            Command::Separate(separate) => separate.run(typed),
            Command::Resume(resume) => resume.run(),
            Command::Demo(demo) => demo.run(typed),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Generate(generate) => generate.run(),
            Command::Transform(transform) => transform.run(),
            Command::Energy(energy) => energy.run(),
            Command::Clean(clean) => clean.run(),
            Command::Open(open) => open.run(),
            Command::Info(info) => info.run(),
            Command::Config(config) => config.run(),
            Command::Compare(compare) => compare.run(typed),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

/// Runs the program on a command line, whose first word is the program's name, and gives the exit
/// status.
///
/// It writes to standard output and standard error, and catches Ctrl-C while it trains: a second
/// one ends the process. Meant to be called once in a process, which then ends.
pub fn main_from(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = resume::from_former_spelling(arguments.into_iter().collect());
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

/// The command line as it could be typed, whatever the program was called by.
fn typed(arguments: &[OsString]) -> Vec<String> {
    let words = arguments
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    std::iter::once("strt".to_string()).chain(words).collect()
}
