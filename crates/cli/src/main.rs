//! `strt`: blind source separation from the command line.
//!
//! The binary is glue: arguments become values, values go to the library, results become lines. It computes nothing
//! itself.

mod bench;
mod demo;
mod table;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Unsupervised blind source separation with one masked-patch Transformer per source.
#[derive(Parser)]
#[command(name = "strt", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate a case study like the paper's, separate it, and print what was recovered.
    Demo(demo::Demo),
    /// Measure the program on problems with known answers.
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo(demo) => demo.run(),
        Command::Bench(bench) => bench.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
