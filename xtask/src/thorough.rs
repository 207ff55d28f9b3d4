//! `cargo xtask ci --thorough`: what looks for errors in `unsafe` code, all of which is in
//! `strt-kernels`.
//!
//! A model checker goes through the orders in which threads may meet, Miri interprets a small run,
//! two sanitizers watch the tests run. All are compiled apart (`target/loom`, `target/miri`,
//! `target/address`, `target/thread`), because every crate must be compiled for them. Sanitizers
//! are unstable options of the compiler, which stable versions accept under `RUSTC_BOOTSTRAP`; the
//! standard library is used as it comes, without them, which `-Cunsafe-allow-abi-mismatch` allows.
//! What each finds, and what not, is in CONTRIBUTING.md.

use crate::steps::{self, Cargo, run, works};
use std::process::Command;

/// The crew in every order of events that the memory model allows.
const MODEL: Cargo = Cargo {
    arguments: &[
        "test",
        "--release",
        "--locked",
        "--package=strt-kernels",
        "--lib",
        "--target-dir=target/loom",
        "cpu::crew::model",
    ],
    environment: &[("RUSTFLAGS", "--cfg loom")],
};

/// The toolchain of Miri. Not every nightly has Miri, so it is one that was tried.
const NIGHTLY: &str = "nightly-2026-05-20";

/// Undefined behaviour in a small run of the portable path. Rayon's deques make pointers of
/// integers and break the older of the two models of borrowing, and its threads are never joined:
/// none of this is our error.
fn interpret() -> Result<(), String> {
    if !works("rustup", &["run", NIGHTLY, "cargo", "miri", "--version"]) {
        let install = ["toolchain", "install", NIGHTLY, "--profile=minimal"];
        let components = ["--component=miri", "--component=rust-src"];
        run(
            "rustup",
            Command::new("rustup").args(install).args(components),
        )?;
    }
    let miri = ["run", NIGHTLY, "cargo", "miri", "test", "--locked"];
    let test = [
        "--package=strt-kernels",
        "--test=races",
        "--target-dir=target/miri",
    ];
    let flags = "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-permissive-provenance \
                 -Zmiri-tree-borrows";
    run(
        "rustup",
        Command::new("rustup")
            .args(miri)
            .args(test)
            .env("MIRIFLAGS", flags),
    )
}

/// The target is named so that build scripts are compiled without sanitizers.
const TARGET: &str = "--target=x86_64-unknown-linux-gnu";

/// Reads and writes outside of an allocation, or after its end.
const ADDRESSES: Cargo = Cargo {
    arguments: &[
        "test",
        "--release",
        "--locked",
        "--package=strt-kernels",
        "--lib",
        "--test=cpu_against_reference",
        "--test=cpu_updates",
        "--test=block_errors",
        TARGET,
        "--target-dir=target/address",
    ],
    environment: &[
        ("RUSTC_BOOTSTRAP", "1"),
        (
            "RUSTFLAGS",
            "-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer",
        ),
    ],
};

/// Accesses of two threads that nothing orders.
const RACES: Cargo = Cargo {
    arguments: &[
        "test",
        "--release",
        "--locked",
        "--package=strt-kernels",
        "--test=races",
        TARGET,
        "--target-dir=target/thread",
    ],
    environment: &[
        ("RUSTC_BOOTSTRAP", "1"),
        (
            "RUSTFLAGS",
            "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer",
        ),
        // Seen from the folder of the package, where cargo starts its tests.
        ("TSAN_OPTIONS", "suppressions=tests/races.supp"),
    ],
};

/// Runs all four.
pub fn check() -> Result<(), String> {
    steps::cargo(&[MODEL])?;
    interpret()?;
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return Err("expected x86-64 Linux for the sanitizers, found another machine".into());
    }
    steps::cargo(&[ADDRESSES, RACES])
}
