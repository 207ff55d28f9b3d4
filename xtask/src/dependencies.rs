//! Whether every dependency has a licence and a source that `deny.toml` allows, and no known fault.
//!
//! In: that file, and what `cargo tree` says. Out: nothing, or the crates that may not be used. It
//! is what `cargo deny` does, without a network but the registry; faults are looked for in
//! [`crate::advisories`].

use crate::advisories;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use toml::Table;

const RULES: &str = "deny.toml";

/// Refuses dependencies that are not allowed.
pub fn check() -> Result<(), String> {
    let rules = fs::read_to_string(RULES)
        .map_err(|error| format!("{RULES}: cannot read: {error}; run it at the root"))?;
    let rules: Table = rules.parse().map_err(|error| format!("{RULES}: {error}"))?;
    let allowed = allowed(&rules)?;
    let packages = packages()?;
    eprintln!("xtask: licences and sources of {} packages", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter_map(|package| fault(package, &allowed))
        .collect();
    if !refused.is_empty() {
        return Err(format!(
            "dependencies that {RULES} does not allow:\n  {}",
            refused.join("\n  ")
        ));
    }
    advisories::check(&packages, &rules)
}

/// The licences under `allow` in `[licenses]`.
fn allowed(rules: &Table) -> Result<BTreeSet<&str>, String> {
    let listed = rules
        .get("licenses")
        .and_then(|licenses| licenses.get("allow")?.as_array());
    let names = listed.map(|names| names.iter().filter_map(toml::Value::as_str).collect());
    names.ok_or_else(|| format!("{RULES}: expected a list `allow` in `[licenses]`, found none"))
}

/// One line a package, of everything that is built on any system: `name vVERSION (source)|licence`.
fn packages() -> Result<BTreeSet<String>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--workspace", "--locked", "--all-features"])
        .args(["--target", "all", "--edges", "normal,build,dev"])
        .args(["--prefix", "none", "--format", "{p}|{l}"])
        .output()
        .map_err(|error| format!("could not start `cargo tree`: {error}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`cargo tree` failed: {why}"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .map(|line| line.trim_end_matches(" (*)").trim());
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(String::from)
        .collect())
}

/// What is wrong with a package.
fn fault(package: &str, allowed: &BTreeSet<&str>) -> Option<String> {
    let (name, licence) = package.rsplit_once('|').unwrap_or((package, ""));
    // Of a package of the registry no source is shown, of one of this workspace its path.
    if name.contains("(http") || name.contains("(git") || name.contains("(registry") {
        return Some(format!(
            "{name}: expected a package of crates.io or of this workspace"
        ));
    }
    if licence.is_empty() {
        return Some(format!("{name}: expected a licence, found none"));
    }
    if Licence::parse(licence).is_some_and(|licence| licence.is_allowed(allowed)) {
        return None;
    }
    Some(format!("{name}: its licence is {licence}"))
}

/// A licence expression of SPDX.
#[derive(Debug, PartialEq, Eq)]
enum Licence {
    One(String),
    Any(Vec<Licence>),
    All(Vec<Licence>),
}

impl Licence {
    /// `None` where the text is no expression.
    fn parse(text: &str) -> Option<Licence> {
        // An older way to write OR.
        let text = text.replace('/', " OR ");
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = words.as_slice();
        let licence = Licence::any(&mut rest)?;
        rest.is_empty().then_some(licence)
    }

    fn any(rest: &mut &[&str]) -> Option<Licence> {
        let mut parts = vec![Licence::all(rest)?];
        while skip(rest, "OR") {
            parts.push(Licence::all(rest)?);
        }
        Some(Licence::Any(parts))
    }

    fn all(rest: &mut &[&str]) -> Option<Licence> {
        let mut parts = vec![Licence::one(rest)?];
        while skip(rest, "AND") {
            parts.push(Licence::one(rest)?);
        }
        Some(Licence::All(parts))
    }

    fn one(rest: &mut &[&str]) -> Option<Licence> {
        if skip(rest, "(") {
            let inner = Licence::any(rest)?;
            return skip(rest, ")").then_some(inner);
        }
        let (&name, after) = rest.split_first()?;
        if ["OR", "AND", "WITH", ")"].contains(&name) {
            return None;
        }
        *rest = after;
        if !skip(rest, "WITH") {
            return Some(Licence::One(name.into()));
        }
        let (exception, after) = rest.split_first()?;
        *rest = after;
        Some(Licence::One(format!("{name} WITH {exception}")))
    }

    fn is_allowed(&self, allowed: &BTreeSet<&str>) -> bool {
        match self {
            Licence::One(name) => allowed.contains(name.as_str()),
            Licence::Any(parts) => parts.iter().any(|part| part.is_allowed(allowed)),
            Licence::All(parts) => parts.iter().all(|part| part.is_allowed(allowed)),
        }
    }
}

/// Takes a word if it comes next.
fn skip(rest: &mut &[&str], word: &str) -> bool {
    let comes = rest.first() == Some(&word);
    if comes {
        *rest = &rest[1..];
    }
    comes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(package: &str, expected: Option<&str>) {
        let rules: Table = "[licenses]\nallow = [\n    \"MIT\",\n    \"Zlib\",\n    \
                     \"Apache-2.0 WITH LLVM-exception\",\n]\n[bans]\n"
            .parse()
            .unwrap();
        let found = fault(package, &allowed(&rules).unwrap());
        match (&found, expected) {
            (None, None) => {}
            (Some(found), Some(words)) => assert!(found.contains(words), "{found}"),
            _ => panic!("{package}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        check("a v1.0.0|MIT", None);
        check("a v1.0.0|GPL-3.0 OR MIT", None);
        check("a v1.0.0|GPL-3.0/MIT", None);
        check("a v1.0.0|(GPL-3.0 OR MIT) AND Zlib", None);
        check("a v1.0.0|Apache-2.0 WITH LLVM-exception", None);
        check("a v0.1.0 (/somewhere/crates/a)|MIT", None);
        check("a v1.0.0|Apache-2.0", Some("its licence is Apache-2.0"));
        check("a v1.0.0|MIT AND GPL-3.0", Some("MIT AND GPL-3.0"));
        check("a v1.0.0|MIT OR", Some("MIT OR"));
        check("a v1.0.0|", Some("expected a licence"));
        check(
            "a v1.0.0 (https://example.org/a#1f)|MIT",
            Some("of crates.io"),
        );
        let refusal = allowed(&Table::new()).unwrap_err();
        assert!(refusal.contains("a list `allow`"), "{refusal}");
    }
}
