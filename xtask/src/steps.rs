//! Commands that a task consists of: printed before they run; the first that fails ends the task.

use crate::skipped;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// A cargo command with environment variables.
pub struct Cargo {
    pub arguments: &'static [&'static str],
    pub environment: &'static [(&'static str, &'static str)],
}

/// Runs cargo commands one after the other.
pub fn cargo(steps: &[Cargo]) -> Result<(), String> {
    // Cargo tells the programs it runs which cargo it is.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    steps.iter().try_for_each(|step| {
        let mut command = Command::new(&cargo);
        command
            .args(step.arguments)
            .envs(step.environment.iter().copied());
        run("cargo", &mut command)
    })
}

/// The directory for what is built.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from)
}

/// Runs a command, which is printed under `name`, and tells it where to list skipped tests.
pub fn run(name: &str, command: &mut Command) -> Result<(), String> {
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let line = format!("{name} {}", arguments.join(" "));
    eprintln!("xtask: {line}");
    let status = command
        .env(strt_testing::LIST, skipped::list())
        .status()
        .map_err(|error| format!("could not start `{line}`: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{line}` failed ({status})"))
    }
}

/// Whether a program runs and succeeds; nothing is shown.
pub fn works(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// Installs a Debian package where that is possible; says whether it was.
pub fn apt_install(packages: &[&str]) -> bool {
    eprintln!("xtask: apt-get install {}", packages.join(" "));
    let install = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    works("apt-get", &["update"]) && works("apt-get", &install)
}
