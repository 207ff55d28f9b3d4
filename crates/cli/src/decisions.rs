//! Which sources of a run are to go: named on the command line, or decided on the page of the run
//! and saved as `decisions.json`.
//!
//! In: arguments, the names of the sources and perhaps such a file. Out: the sources, counted from
//! 0. A file of another run is refused, as its sources are others of the same names.

use crate::failure::{Failure, Outcome};
use clap::Args;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The only version of the file.
const VERSION: u64 = 1;

#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct Choice {
    /// Sources to remove, such as s3,s7
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    remove: Option<Vec<String>>,
    /// Sources to keep: all others are removed
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    keep: Option<Vec<String>>,
    /// What was decided on the page of the run: decisions.json
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
}

/// The sources that are to go, and what recording that was decided for.
pub struct Decided {
    /// Counted from 0, in rising order.
    pub sources: Vec<usize>,
    fingerprint: Option<(PathBuf, String)>,
}

impl Choice {
    /// The sources of `run`, called `names`, that are to go.
    pub fn removed(&self, run: &Path, names: &[String]) -> Outcome<Decided> {
        if let Some(path) = &self.decisions {
            return Decisions::read(path)?.removed(path, run, names);
        }
        let (option, listed) = match (&self.remove, &self.keep) {
            (Some(removed), _) => ("--remove", removed),
            (None, kept) => ("--keep", kept.as_ref().expect("one of the three is given")),
        };
        let mut is_listed = vec![false; names.len()];
        for word in listed {
            let word = word.trim();
            let Some(source) = names.iter().position(|name| name == word) else {
                return Err(Failure::Usage(format!(
                    "{option}: expected names of the sources of {}, {}, found `{word}`; correct it",
                    run.display(),
                    in_words(names)
                )));
            };
            is_listed[source] = true;
        }
        let goes = |source: &usize| is_listed[*source] == self.remove.is_some();
        Ok(Decided {
            sources: (0..names.len()).filter(goes).collect(),
            fingerprint: None,
        })
    }
}

impl Decided {
    /// Refuses decisions about a run on other data than those with this fingerprint, in hexadecimal
    /// digits.
    pub fn check_fingerprint(&self, own: &str) -> Outcome {
        let Some((path, found)) = &self.fingerprint else {
            return Ok(());
        };
        let number = u64::from_str_radix(own, 16).map(|number| number.to_string());
        let spellings = [
            own,
            own.trim_start_matches('0'),
            number.as_deref().unwrap_or(own),
        ];
        if spellings.iter().any(|own| own.eq_ignore_ascii_case(found)) {
            return Ok(());
        }
        Err(refused(
            path,
            "fingerprint",
            &format!("that of the recording of the run, {own}"),
            found,
            "these decisions are about another recording: decide again on the page of this run",
        ))
    }
}

/// `decisions.json`, as the page of a run writes it. What else is in it, such as notes, is for
/// people.
#[derive(Deserialize)]
struct Decisions {
    /// Name of the folder of the run.
    run: String,
    fingerprint: Option<String>,
    sources: Vec<Decision>,
}

#[derive(Deserialize)]
struct Decision {
    name: String,
    keep: bool,
}

impl Decisions {
    fn read(path: &Path) -> Outcome<Decisions> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::Failed(format!(
                "{}: cannot read: {error}; check that the file exists and that you may read it",
                path.display()
            ))
        })?;
        let other = |found: &str| {
            refused(
                path,
                "decisions",
                "a file that the page of a run has saved",
                found,
                "save it again there, or name the sources with --remove",
            )
        };
        // Kind and version first: they say why other fields may be missing.
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| other(&format!("no JSON ({error})")))?;
        if value["strt"] != "decisions" {
            return Err(other("JSON of another kind"));
        }
        if value["version"] != VERSION {
            return Err(other(&format!("version {}", value["version"])));
        }
        serde_json::from_value(value).map_err(|error| other(&error.to_string()))
    }

    fn removed(self, path: &Path, run: &Path, names: &[String]) -> Outcome<Decided> {
        let whole = run.canonicalize().unwrap_or_else(|_| run.to_owned());
        let own = whole.file_name().unwrap_or(whole.as_os_str());
        if own.to_string_lossy() != self.run {
            return Err(refused(
                path,
                "run",
                &format!("`{}`", own.to_string_lossy()),
                &format!("`{}`", self.run),
                "these decisions are about another run, whose sources are others of the same \
                 names: give that run, or decide again on the page of this one",
            ));
        }
        let mut decided: Vec<&str> = self.sources.iter().map(|d| d.name.as_str()).collect();
        let found = decided.join(", ");
        decided.sort_unstable();
        let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
        expected.sort_unstable();
        if decided != expected {
            return Err(refused(
                path,
                "sources",
                &format!("each source of the run once, {}", in_words(names)),
                &found,
                "decide again on the page of this run",
            ));
        }
        let goes = |name: &String| self.sources.iter().any(|d| d.name == *name && !d.keep);
        Ok(Decided {
            sources: (0..names.len()).filter(|&k| goes(&names[k])).collect(),
            fingerprint: self.fingerprint.map(|found| (path.to_owned(), found)),
        })
    }
}

fn refused(path: &Path, place: &str, expected: &str, found: &str, remedy: &str) -> Failure {
    Failure::Failed(format!(
        "{}: {place}: expected {expected}, found {found}; {remedy}",
        path.display()
    ))
}

fn in_words(names: &[String]) -> String {
    match names {
        [first, .., last] => format!("{first} to {last}"),
        _ => names.join(", "),
    }
}
