//! Whether a dependency has a known fault, by a snapshot of the RustSec advisory database.
//!
//! In: `xtask/advisories.tsv`, the packages that are built, and the advisories that `deny.toml`
//! sets aside with a reason. Out: nothing, or the packages with a fault and the versions without
//! it. The database is in no registry, so that a machine which reaches only those has this
//! snapshot; `cargo deny check` in the workflow of the tests has the newest. [`snapshot`] makes
//! the file from a checkout of <https://github.com/rustsec/advisory-db>: identifiers and
//! versions, no texts.

use semver::{Version, VersionReq};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

const SNAPSHOT: &str = "xtask/advisories.tsv";

/// One advisory: which versions of a package are without its fault.
struct Advisory {
    id: String,
    package: String,
    /// `vulnerability`, or what the database calls those that are none: `unsound`, `unmaintained`.
    kind: String,
    sound: Vec<VersionReq>,
}

/// Refuses packages with a fault that `rules`, the content of `deny.toml`, does not set aside.
pub fn check(packages: &BTreeSet<String>, rules: &Table) -> Result<(), String> {
    let text = fs::read_to_string(SNAPSHOT)
        .map_err(|error| format!("{SNAPSHOT}: cannot read: {error}; run it at the root"))?;
    let advisories = parse(&text)?;
    let set_aside = set_aside(rules)?;
    eprintln!(
        "xtask: {} advisories ({})",
        advisories.len(),
        text.lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("# ")
    );
    let faults = faults(packages, &advisories)?;
    let refused: Vec<&String> = faults
        .iter()
        .filter(|(id, _)| !set_aside.contains(id.as_str()))
        .map(|(_, fault)| fault)
        .collect();
    if !refused.is_empty() {
        return Err(format!(
            "dependencies with known faults (update them, or set the advisory aside in deny.toml, \
             with a reason):\n  {}",
            refused
                .into_iter()
                .cloned()
                .collect::<Vec<_>>()
                .join("\n  ")
        ));
    }
    match set_aside.iter().find(|id| !faults.contains_key(**id)) {
        Some(id) => Err(format!(
            "deny.toml sets {id} aside, which no dependency has any more: remove it there"
        )),
        None => Ok(()),
    }
}

/// What is wrong with each package, by the advisory that says so.
fn faults(
    packages: &BTreeSet<String>,
    advisories: &[Advisory],
) -> Result<BTreeMap<String, String>, String> {
    let mut faults = BTreeMap::new();
    for package in packages {
        // `name vVERSION (source)|licence`, as `cargo tree` was asked to print it.
        let mut words = package.split([' ', '|']);
        let (Some(name), Some(version)) = (words.next(), words.next()) else {
            return Err(format!("{package}: expected a name and a version"));
        };
        let version = Version::parse(version.trim_start_matches('v'))
            .map_err(|error| format!("{package}: {error}"))?;
        let about = advisories
            .iter()
            .filter(|advisory| advisory.package == name);
        for advisory in about.filter(|advisory| !advisory.is_without_fault(&version)) {
            let fault = format!("{name} {version}: {} ({})", advisory.id, advisory.kind);
            faults.insert(advisory.id.clone(), fault);
        }
    }
    Ok(faults)
}

impl Advisory {
    fn is_without_fault(&self, version: &Version) -> bool {
        self.sound.iter().any(|range| range.matches(version))
    }
}

/// The advisories that `deny.toml` lists under `ignore`, each with a reason.
fn set_aside(rules: &Table) -> Result<BTreeSet<&str>, String> {
    let listed = rules["advisories"]
        .get("ignore")
        .and_then(toml::Value::as_array);
    let listed = listed.map(Vec::as_slice).unwrap_or_default();
    let id = |entry: &'_ toml::Value| -> Option<()> {
        entry
            .get("reason")?
            .as_str()
            .filter(|reason| !reason.is_empty())
            .map(drop)
    };
    listed
        .iter()
        .map(|entry| {
            id(entry)
                .and_then(|()| entry.get("id")?.as_str())
                .ok_or_else(|| format!("deny.toml: expected an id and a reason, found {entry}"))
        })
        .collect()
}

/// Reads the snapshot: id, package, kind and the versions without the fault, between tabs.
fn parse(text: &str) -> Result<Vec<Advisory>, String> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            parse_line(line).ok_or_else(|| {
                let number = number + 1;
                format!(
                    "{SNAPSHOT}: line {number}: expected four fields between tabs, found {line}"
                )
            })
        })
        .collect()
}

fn parse_line(line: &str) -> Option<Advisory> {
    let mut fields = line.split('\t');
    let [id, package, kind, sound] = [(); 4].map(|()| fields.next());
    Some(Advisory {
        id: id?.into(),
        package: package?.into(),
        kind: kind?.into(),
        sound: sound?
            .split('|')
            .filter(|range| !range.is_empty())
            .map(|range| VersionReq::parse(range).ok())
            .collect::<Option<_>>()?,
    })
}

/// Writes the snapshot anew from a checkout of the database.
pub fn snapshot(checkout: &str) -> Result<(), String> {
    let mut lines = BTreeSet::new();
    let mut newest = String::new();
    for path in advisories_in(&Path::new(checkout).join("crates"))? {
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("{}: cannot read: {error}", path.display()))?;
        let front = text
            .split("```toml")
            .nth(1)
            .and_then(|rest| rest.split("```").next());
        let front = front.unwrap_or_default();
        let table: Table = front
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let (date, line) =
            line_of(&table).ok_or_else(|| format!("{}: not an advisory", path.display()))?;
        newest = newest.max(date);
        lines.extend(line);
    }
    if lines.is_empty() {
        return Err(format!(
            "{checkout}: expected a checkout of advisory-db, found no advisory"
        ));
    }
    let mut text = format!("# RustSec advisory database, newest advisory of {newest}\n");
    for line in &lines {
        let _ = writeln!(text, "{line}");
    }
    fs::write(SNAPSHOT, text).map_err(|error| format!("{SNAPSHOT}: cannot write: {error}"))?;
    eprintln!(
        "xtask: {SNAPSHOT}: {} advisories up to {newest}",
        lines.len()
    );
    Ok(())
}

fn advisories_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |error| format!("{}: cannot read: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            found.extend(advisories_in(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The date of an advisory, and its line unless it was withdrawn.
fn line_of(table: &Table) -> Option<(String, Option<String>)> {
    let advisory = table.get("advisory")?;
    let text = |key: &str| advisory.get(key).and_then(toml::Value::as_str);
    let date = text("date")?.to_string();
    if advisory.get("withdrawn").is_some() {
        return Some((date, None));
    }
    let ranges = ["patched", "unaffected"].into_iter().filter_map(|key| {
        let listed = table.get("versions")?.get(key)?.as_array()?;
        Some(listed.iter().filter_map(toml::Value::as_str))
    });
    let sound: Vec<&str> = ranges.flatten().collect();
    let kind = text("informational").unwrap_or("vulnerability");
    let line = [text("id")?, text("package")?, kind, &sound.join("|")].join("\t");
    Some((date, Some(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a snapshot\nR-1\tleaky\tvulnerability\t>= 0.3.2, < 0.4.0|>= 1.0.1\n\
                        R-2\told\tunmaintained\t\n";

    fn found(package: &str) -> Vec<String> {
        let packages = BTreeSet::from([package.to_string()]);
        let found = faults(&packages, &parse(TEXT).unwrap()).unwrap();
        found.into_values().collect()
    }

    #[test]
    fn only_versions_with_the_fault_are_named() {
        assert_eq!(
            found("leaky v1.0.0|MIT"),
            ["leaky 1.0.0: R-1 (vulnerability)"]
        );
        assert_eq!(
            found("leaky v0.3.1 (/somewhere)|MIT"),
            ["leaky 0.3.1: R-1 (vulnerability)"]
        );
        assert!(found("leaky v0.3.2|MIT").is_empty());
        assert!(found("leaky v1.0.1|MIT").is_empty());
        assert!(found("other v1.0.0|MIT").is_empty());
        assert_eq!(found("old v7.0.0|MIT"), ["old 7.0.0: R-2 (unmaintained)"]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for line in [
            "R-1\tleaky\tvulnerability",
            "R-1\tleaky\tvulnerability\tnewer",
        ] {
            let refusal = parse(&format!("# a snapshot\n{line}")).err().unwrap();
            assert!(refusal.contains("line 2"), "{refusal}");
        }
    }

    #[test]
    fn what_is_set_aside_needs_a_reason() {
        let rules = |ignore: &str| -> Table {
            format!("[advisories]\nignore = [{ignore}]")
                .parse()
                .unwrap()
        };
        let with = rules(r#"{ id = "R-1", reason = "its code is not reached" }"#);
        assert_eq!(set_aside(&with).unwrap(), BTreeSet::from(["R-1"]));
        for without in [
            r#""R-1""#,
            r#"{ id = "R-1" }"#,
            r#"{ id = "R-1", reason = "" }"#,
        ] {
            assert!(set_aside(&rules(without)).unwrap_err().contains("a reason"));
        }
    }

    #[test]
    fn an_advisory_of_the_database_becomes_a_line() {
        let table: Table = "[advisory]\nid = \"R-3\"\npackage = \"p\"\ndate = \"2026-01-02\"\n\
                            [versions]\npatched = [\">= 2.0.0\"]\nunaffected = [\"< 1.0.0\"]"
            .parse()
            .unwrap();
        let (date, line) = line_of(&table).unwrap();
        assert_eq!(date, "2026-01-02");
        assert_eq!(line.unwrap(), "R-3\tp\tvulnerability\t>= 2.0.0|< 1.0.0");
    }
}
