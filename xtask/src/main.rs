//! `cargo xtask test` and `cargo xtask ci`: the project's own commands, in Rust so that they run wherever Rust does.
//!
//! Each step is one cargo command, printed before it runs; the first that fails ends the task with its status. Only `ci`
//! installs something: Chromium, for the tests of the report, where none is found and Debian's packages can be had.

use std::process::{Command, ExitCode};

const USAGE: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test    every test of the workspace, doc tests included
  ci      formatting, lints, docs without warnings, a browser for the tests, then `cargo xtask test`";

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
    let task = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => run_all(TEST),
        ["ci"] => run_all(CHECKS).and_then(|()| {
            provide_browser();
            run_all(TEST)
        }),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match task {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run_all(steps: &[Step]) -> Result<(), String> {
    steps.iter().try_for_each(run)
}

/// Installs Chromium where there is none. Without it the tests of the report in a browser are skipped, and say so.
fn provide_browser() {
    let works = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let names = ["chromium", "chromium-browser", "google-chrome"];
    if std::env::var_os("CHROMIUM").is_some() || names.iter().any(|name| works(name, &["--version"])) {
        return;
    }
    eprintln!("xtask: apt-get install chromium");
    let install = ["install", "--yes", "--no-install-recommends", "chromium"];
    if !(works("apt-get", &["update"]) && works("apt-get", &install)) {
        eprintln!(
            "xtask: it could not be installed; the tests that open the report in a browser will be skipped"
        );
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
