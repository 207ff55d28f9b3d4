//! `cargo xtask test` and `cargo xtask ci`: the project's own commands, in Rust so that they run wherever Rust does.
//!
//! Each step is one cargo command, printed before it runs; the first that fails ends the task with its status.

use std::process::{Command, ExitCode};

const USAGE: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test    every test of the workspace, doc tests included
  ci      formatting, lints, docs without warnings, then `cargo xtask test`";

/// A cargo command with environment variables.
struct Step {
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

/// One profile for everything, so that the dependencies are built once.
const TEST: &[Step] = &[Step {
    arguments: &["test", "--release", "--workspace", "--locked"],
    environment: &[],
}];

const CHECKS: &[Step] = &[
    Step {
        arguments: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Step {
        arguments: &[
            "clippy",
            "--release",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        environment: &[],
    },
    Step {
        arguments: &["doc", "--release", "--workspace", "--no-deps", "--locked"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let steps: Vec<&Step> = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => TEST.iter().collect(),
        ["ci"] => CHECKS.iter().chain(TEST).collect(),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match steps.into_iter().try_for_each(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(step: &Step) -> Result<(), String> {
    let line = format!("cargo {}", step.arguments.join(" "));
    eprintln!("xtask: {line}");
    // Cargo tells the programs it runs which cargo it is.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(step.arguments)
        .envs(step.environment.iter().copied())
        .status()
        .map_err(|error| format!("could not start `{line}`: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("`{line}` failed ({status})")),
    }
}
