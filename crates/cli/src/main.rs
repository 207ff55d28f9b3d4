//! `strt`: blind source separation from the command line.
//!
//! The binary is glue: arguments become values, values go to the library, results become files and lines. It computes
//! nothing itself.

mod bench;
mod compare;
mod config;
mod demo;
mod evaluate;
mod failure;
mod folder;
mod generate;
mod info;
mod input;
mod interrupt;
mod methods;
mod numbers_csv;
mod output;
mod progress;
mod results;
mod run;
mod separate;
mod settings;
mod shell;
mod table;
mod transform;
mod verify;

use clap::{Parser, Subcommand};
use failure::Outcome;
use std::process::ExitCode;

/// Unsupervised blind source separation with one masked-patch Transformer per source.
#[derive(Parser)]
#[command(
    name = "strt",
    version,
    arg_required_else_help = true,
    after_help = "Exit status: 0 done (look for warnings: a run may have ended before it converged), 1 failed, 2 wrong \
                  arguments, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Separate a recording into its sources.
    Separate(Box<separate::Separate>),
    /// Generate a case study like the paper's, separate it, and show what was recovered.
    Demo(demo::Demo),
    /// Separate a recording by several methods and compare what they find.
    Compare(compare::Compare),
    /// Score estimated sources against true ones.
    Evaluate(evaluate::Evaluate),
    /// Generate a problem with known sources.
    Generate(generate::Generate),
    /// Sources of another recording under a trained model.
    Transform(transform::Transform),
    /// Say what a file or the folder of a run holds.
    Info(info::Info),
    /// Print the configuration with a comment for every value.
    Config(config::ShowConfig),
    /// Measure the program on problems with known answers.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Check the paper's claims by experiment.
    Verify(verify::Verify),
    /// Print the completions for a shell.
    Completions(shell::Completions),
    /// Print the manual page.
    Man(shell::Man),
}

impl Command {
    fn run(self) -> Outcome {
        match self {
            Command::Separate(separate) => separate.run(),
            Command::Demo(demo) => demo.run(),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Generate(generate) => generate.run(),
            Command::Transform(transform) => transform.run(),
            Command::Info(info) => info.run(),
            Command::Config(config) => config.run(),
            Command::Bench(bench) => bench.run(),
            Command::Compare(compare) => compare.run(),
            Command::Verify(verify) => verify.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
