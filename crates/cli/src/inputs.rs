//! The recordings that arguments mean: files, patterns such as `'data/*.edf'`, or a BIDS dataset.
//!
//! In: words of the command line. Out: files, those of a pattern in natural order. A pattern that
//! matches nothing is an error, as is a file that is meant twice. Folders of runs are not searched:
//! what is in them are results. Nothing is read here.

use crate::failure::{Failure, Outcome};
use glob::MatchOptions;
use std::path::{Path, PathBuf};
use strt_io::{BidsFilter, BidsRecording, bids_recordings, is_bids_dataset, natural_order};
use strt_runs::folder::{CHECKPOINT, Kind, SUMMARY};

/// Recordings.
pub struct Inputs {
    /// The files in order, at least one.
    pub files: Vec<PathBuf>,
    /// The dataset that they are of, where it was named.
    pub dataset: Option<Dataset>,
    /// Whether the arguments may mean several files, even where they mean one today.
    pub may_be_several: bool,
}

/// A BIDS dataset.
pub struct Dataset {
    pub root: PathBuf,
    /// One a file.
    pub recordings: Vec<BidsRecording>,
}

/// Finds the recordings that words mean; `filter` chooses among those of a dataset.
pub fn expand(words: &[PathBuf], filter: &BidsFilter) -> Outcome<Inputs> {
    if let Some(root) = words.iter().find(|word| is_dataset(word)) {
        if words.len() > 1 {
            return Err(Failure::Usage(format!(
                "{}: expected a BIDS dataset alone, found other recordings beside it; give each a \
                 command of its own",
                root.display()
            )));
        }
        let recordings = bids_recordings(root, filter)?;
        return Ok(Inputs {
            files: recordings.iter().map(|found| found.path.clone()).collect(),
            dataset: Some(Dataset {
                root: root.clone(),
                recordings,
            }),
            may_be_several: true,
        });
    }
    if !filter.is_empty() {
        return Err(Failure::Usage(
            "--subject, --session, --task and --run: expected the folder of a BIDS dataset, found \
             files; leave them out"
                .into(),
        ));
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for word in words {
        let found = match pattern(word) {
            Some(pattern) => matched(pattern)?,
            None if is_other_folder(word) => return Err(no_recording(word)),
            None => vec![word.clone()],
        };
        for file in found {
            if files.iter().any(|other| is_same(other, &file)) {
                return Err(Failure::Usage(format!(
                    "{}: expected every recording once, found it twice; leave one of them out",
                    file.display()
                )));
            }
            files.push(file);
        }
    }
    Ok(Inputs {
        files,
        dataset: None,
        may_be_several: words.len() > 1 || words.iter().any(|word| pattern(word).is_some()),
    })
}

/// Files alone, for commands that take no datasets.
pub fn files(words: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    Ok(expand(words, &BidsFilter::default())?.files)
}

/// Whether a word names a BIDS dataset.
pub fn is_dataset(word: &Path) -> bool {
    word.is_dir() && Kind::of(word).is_none() && is_bids_dataset(word)
}

/// Whether a word names a folder that neither is a dataset nor was made by this program.
fn is_other_folder(word: &Path) -> bool {
    let is_own = [CHECKPOINT, SUMMARY]
        .iter()
        .any(|file| word.join(file).is_file());
    word.is_dir() && Kind::of(word).is_none() && !is_own
}

/// What to say of a folder of anything: most likely its files are meant.
fn no_recording(folder: &Path) -> Failure {
    let shown = folder.display();
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let files = files.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut endings: Vec<String> = files
        .filter(|path| path.is_file())
        .filter_map(|path| Some(path.extension()?.to_string_lossy().into_owned()))
        .collect();
    endings.sort();
    let ending = endings.first().map_or("edf", String::as_str);
    Failure::Failed(format!(
        "{shown}: expected files, the folder of a run or a BIDS dataset (with \
         dataset_description.json or folders sub-…), found another folder; name the files in it, \
         such as '{shown}/*.{ending}'"
    ))
}

/// A true reference that is not there and looks like the option `--rereference`, which other
/// programs call so.
pub fn reference_is_file(reference: Option<&Path>) -> Outcome {
    let Some(given) = reference.filter(|given| !given.exists() && given.extension().is_none())
    else {
        return Ok(());
    };
    let given = given.display();
    Err(Failure::Usage(format!(
        "--reference {given}: expected a file with the true sources, found no such file; to tell \
         channels against their mean or against one of them, give --rereference {given}"
    )))
}

/// A word that is a pattern, and not the name of something that exists.
fn pattern(word: &Path) -> Option<&str> {
    let text = word.to_str()?;
    (text.contains(['*', '?', '[']) && !word.exists()).then_some(text)
}

/// The files that a pattern matches, in natural order.
fn matched(pattern: &str) -> Outcome<Vec<PathBuf>> {
    let options = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, options).map_err(|error| {
        Failure::Usage(format!(
            "{pattern}: expected a pattern of files, with *, ?, [a-z] or **: {}, at character {}; \
             correct it",
            error.msg,
            error.pos + 1
        ))
    })?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| {
            Failure::Failed(format!(
                "{}: cannot be searched for {pattern}: {}; check that you may read it",
                error.path().display(),
                error.error()
            ))
        })?;
        if path.is_file() && !is_result(&path) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(Failure::Failed(format!(
            "{pattern}: expected files that the pattern matches, found none; correct it, and keep \
             it in quotes"
        )));
    }
    files.sort_by(|a, b| natural_order(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok(files)
}

/// Whether a file is inside a folder that this program made.
fn is_result(path: &Path) -> bool {
    let mut folders = path.ancestors().skip(1);
    folders.any(|folder| {
        folder != Path::new("") && matches!(Kind::of(folder), Some(kind) if kind != Kind::Problem)
    })
}

fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
