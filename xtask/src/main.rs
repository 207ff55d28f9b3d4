//! `cargo xtask test`, `ci`, `wheel` and `advisories`: the project's own commands, in Rust so that
//! they run wherever Rust does.
//!
//! Each step is one command, printed before it runs; the first that fails ends the task with its
//! status. Python packages go into an environment under `target/`. Only `ci` installs something
//! into the system: Chromium for the tests of the report and Python for those of the package, where
//! there are none and Debian's packages can be had.

mod advisories;
mod browser;
mod dependencies;
mod python;
mod skipped;
mod steps;
mod thorough;

use std::process::ExitCode;
use steps::Cargo;

const USAGE: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  test    every test of the workspace, doc tests included, then those of the Python package in an
          environment of its own; ends with how many were skipped, and why
  wheel   wheel and source distribution of the Python package, in dist/
  ci      licences, sources and known faults of dependencies, formatting, lints, docs without
          warnings, a browser and Python for the tests, then `cargo xtask test`, of which nothing
          may be skipped that can run
  ci --thorough
          all of that, then a model checker and sanitizers on the unsafe code
  advisories FOLDER
          writes the list of known faults anew from a checkout of RustSec's advisory-db";

/// One profile for everything, so that the dependencies are built once. The extension module has no
/// tests that run without Python, and is built with the wheel.
const TEST: &[Cargo] = &[Cargo {
    arguments: &[
        "test",
        "--release",
        "--workspace",
        "--exclude",
        "strt-python",
        "--locked",
    ],
    environment: &[],
}];

const CHECKS: &[Cargo] = &[
    Cargo {
        arguments: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Cargo {
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
    Cargo {
        arguments: &["doc", "--release", "--workspace", "--no-deps", "--locked"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    // The readers that every build has, without the optional formats.
    Cargo {
        arguments: &[
            "clippy",
            "--release",
            "--package=strt-io",
            "--no-default-features",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        environment: &[],
    },
];

/// Runs every test and says which were skipped, also when one failed.
fn test() -> Result<Vec<strt_testing::Skipped>, String> {
    skipped::forget()?;
    let outcome = steps::cargo(TEST).and_then(|()| python::test());
    let skipped = skipped::read()?;
    eprintln!("xtask: {}", skipped::summary(&skipped));
    outcome.map(|()| skipped)
}

fn ci() -> Result<(), String> {
    dependencies::check()?;
    steps::cargo(CHECKS)?;
    browser::provide();
    python::provide();
    skipped::refuse(&test()?)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test().map(drop),
        ["wheel"] => python::wheel(),
        ["ci"] => ci(),
        ["ci", "--thorough"] => ci().and_then(|()| thorough::check()),
        ["advisories", checkout] => advisories::snapshot(checkout),
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
