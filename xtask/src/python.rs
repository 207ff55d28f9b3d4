//! The Python package: an environment of its own under `target/`, the wheel, its tests.
//!
//! Needs Python 3.10 or newer with its modules `venv` and `pip`; the variable `PYTHON` names
//! another one than the first that is found. What the environment holds is pinned in
//! `python/requirements-test.txt`; it is filled anew when that file changes, so that a second run
//! is quick.

use crate::skipped;
use crate::steps::{apt_install, run, target, works};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const REQUIREMENTS: &str = "python/requirements-test.txt";
/// What a Python must be able to do.
const USABLE: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
const PIP_INSTALL: [&str; 5] = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
];
/// Where wheel and sdist for others go.
const DIST: &str = "dist";

/// Builds the wheel, installs it into the environment and runs its tests. Where there is no Python
/// they count as one skipped test.
pub fn test() -> Result<(), String> {
    let Some(python) = find() else {
        eprintln!(
            "xtask: no Python 3.10 or newer with venv was found, so the Python package is not \
             tested; install one, or name it by the variable PYTHON"
        );
        return skipped::add("Python 3.10 or newer", "the Python package");
    };
    let environment = Environment::ready(&python)?;
    let wheels = target().join("wheels");
    let wheel = environment.wheel(&wheels)?;
    let install = [&PIP_INSTALL[..], &["--force-reinstall", "--no-deps"]].concat();
    run("python", environment.python().args(install).arg(wheel))?;
    run("python", environment.python().args(["-m", "pytest", "-q"]))
}

/// Builds the wheel and the source distribution.
pub fn wheel() -> Result<(), String> {
    let python = find().ok_or(
        "expected Python 3.10 or newer with venv, found none; install one, or name it by PYTHON",
    )?;
    let environment = Environment::ready(&python)?;
    let sdist = ["-m", "maturin", "sdist", "--out", DIST];
    run("python", environment.python().args(sdist))?;
    let wheel = environment.wheel(Path::new(DIST))?;
    println!("{}", wheel.display());
    Ok(())
}

/// Installs Python where there is none.
pub fn provide() {
    if find().is_none() {
        apt_install(&["python3", "python3-venv"]);
    }
}

/// The first Python that will do.
fn find() -> Option<OsString> {
    let named = env::var_os("PYTHON").into_iter();
    let usual = [
        "python3",
        "python",
        "python3.13",
        "python3.12",
        "python3.11",
        "python3.10",
    ];
    named
        .chain(usual.map(OsString::from))
        .find(|python| works(python, &["-c", USABLE]))
}

/// The environment that the package is built and tested in.
struct Environment {
    root: PathBuf,
}

impl Environment {
    /// Makes it, or finds it made with the same requirements by the same Python.
    fn ready(python: &OsString) -> Result<Environment, String> {
        let environment = Environment {
            root: target().join("python-venv"),
        };
        let version = Command::new(python)
            .args(["-c", "import sys; print(sys.version, sys.base_prefix)"])
            .output()
            .map_err(|error| format!("could not ask Python for its version: {error}"))?;
        let requirements = fs::read_to_string(REQUIREMENTS)
            .map_err(|error| format!("{REQUIREMENTS}: cannot read: {error}"))?;
        let wanted = format!("{}{requirements}", String::from_utf8_lossy(&version.stdout));
        let stamp = environment.root.join("made-of.txt");
        if fs::read_to_string(&stamp).is_ok_and(|made_of| made_of == wanted) {
            return Ok(environment);
        }
        let mut make = Command::new(python);
        run(
            "python",
            make.args(["-m", "venv", "--clear"]).arg(&environment.root),
        )?;
        let install = [&PIP_INSTALL[..], &["-r", REQUIREMENTS]].concat();
        run("python", environment.python().args(install))?;
        fs::write(&stamp, wanted)
            .map_err(|error| format!("{}: cannot write: {error}", stamp.display()))?;
        Ok(environment)
    }

    /// Its interpreter, as if the environment was active.
    fn python(&self) -> Command {
        let scripts = if cfg!(windows) { "Scripts" } else { "bin" };
        // Absolute: the interpreter is started from other directories too.
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let mut command = Command::new(root.join(scripts).join("python"));
        command.env("VIRTUAL_ENV", &root).env_remove("PYTHONPATH");
        command
    }

    /// Builds the wheel into a directory and names it. The profile is that of everything else, so
    /// that dependencies are built once.
    fn wheel(&self, directory: &Path) -> Result<PathBuf, String> {
        if directory.is_dir() {
            remove_wheels(directory)?;
        }
        let build = ["-m", "maturin", "build", "--release", "--locked", "--out"];
        run("python", self.python().args(build).arg(directory))?;
        wheels(directory)?
            .pop()
            .ok_or_else(|| format!("{}: expected a wheel, found none", directory.display()))
    }
}

fn wheels(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(directory)
        .map_err(|error| format!("{}: cannot read: {error}", directory.display()))?;
    Ok(entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .collect())
}

fn remove_wheels(directory: &Path) -> Result<(), String> {
    for wheel in wheels(directory)? {
        fs::remove_file(&wheel)
            .map_err(|error| format!("{}: cannot remove: {error}", wheel.display()))?;
    }
    Ok(())
}
