//! The recordings of a dataset: `sub-*/[ses-*/]{eeg,meg,ieeg,nirs}/*_{eeg,meg,ieeg,nirs}.*`.
//!
//! In: a folder and labels to choose by. Out: its recordings, in natural order. A label that
//! nothing has is refused with those that there are. Derivatives, and files that are no recordings,
//! are passed over; of a FIF in several files the first one is taken, which leads to the others.

use super::name::BidsName;
use crate::error::{Error, Result};
use crate::natural::natural_order;
use std::path::{Path, PathBuf};

/// Folders that hold recordings, which are also the suffixes of their names.
pub(super) const DATA_TYPES: [&str; 4] = ["eeg", "meg", "ieeg", "nirs"];

/// Endings of recordings; a file of BrainVision is three, of which the header is taken.
const EXTENSIONS: [&str; 6] = [".edf", ".bdf", ".vhdr", ".set", ".fif", ".snirf"];

/// Which recordings of a dataset to take; an empty list takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "arguments", derive(clap::Args))]
#[cfg_attr(
    feature = "arguments",
    command(next_help_heading = "Choosing recordings of a BIDS dataset")
)]
pub struct BidsFilter {
    /// Subjects, such as 01,02
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "LABELS", value_delimiter = ',')
    )]
    pub subject: Vec<String>,
    /// Sessions
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "LABELS", value_delimiter = ',')
    )]
    pub session: Vec<String>,
    /// Tasks
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "LABELS", value_delimiter = ',')
    )]
    pub task: Vec<String>,
    /// Runs; 1 and 01 are the same
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "NUMBERS", value_delimiter = ',')
    )]
    pub run: Vec<String>,
}

impl BidsFilter {
    /// What is asked for: the option, the entity and the labels.
    fn wishes(&self) -> [(&'static str, &'static str, &[String]); 4] {
        [
            ("subject", "sub", &self.subject),
            ("session", "ses", &self.session),
            ("task", "task", &self.task),
            ("run", "run", &self.run),
        ]
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.wishes().iter().all(|(_, _, labels)| labels.is_empty())
    }
}

/// A recording of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BidsRecording {
    /// The file.
    pub path: PathBuf,
    /// Its folder from that of the dataset, such as `sub-01/eeg`.
    pub folder: PathBuf,
    /// Its name.
    pub name: BidsName,
}

/// Whether a folder is a dataset: it says so, or holds subjects.
pub fn is_bids_dataset(folder: &Path) -> bool {
    folder.join("dataset_description.json").is_file()
        || folders(folder).is_ok_and(|all| all.iter().any(|name| name.starts_with("sub-")))
}

/// The recordings of a dataset.
///
/// # Errors
/// When the folder cannot be read, has no recordings, or none that is asked for.
pub fn bids_recordings(root: &Path, filter: &BidsFilter) -> Result<Vec<BidsRecording>> {
    let mut found = Vec::new();
    for subject in below(root, "sub-")? {
        let subject = PathBuf::from(subject);
        let sessions = below(&root.join(&subject), "ses-")?;
        let parents = sessions.iter().map(|session| subject.join(session));
        for parent in parents.chain([subject.clone()]) {
            for data_type in DATA_TYPES {
                collect(root, &parent.join(data_type), data_type, &mut found)?;
            }
        }
    }
    found.sort_by(|a, b| natural_order(&a.path.to_string_lossy(), &b.path.to_string_lossy()));
    if found.is_empty() {
        return Err(Error::kind(
            root,
            "a BIDS dataset with sub-*/[ses-*/]{eeg,meg,ieeg,nirs}/*_{eeg,meg,ieeg,nirs}.{edf,bdf,\
             vhdr,set,fif,snirf}",
            "no such recording",
            "check that this is the folder that was meant, or name the files",
        ));
    }
    for (option, key, wanted) in filter.wishes() {
        let is = |recording: &BidsRecording, label: &String| {
            let own = recording.name.get(key);
            own.is_some_and(|own| is_label(key, own, label))
        };
        if let Some(label) = wanted
            .iter()
            .find(|label| !found.iter().any(|r| is(r, label)))
        {
            let mut there: Vec<&str> = found.iter().filter_map(|r| r.name.get(key)).collect();
            there.dedup();
            let expected = if there.is_empty() {
                format!("recordings with {key}-…")
            } else {
                format!("one of {}", crate::read::shortened(&there))
            };
            let found = format!("`{label}`");
            return Err(Error::request(root, option, expected, found, "correct it"));
        }
        found.retain(|r| wanted.is_empty() || wanted.iter().any(|label| is(r, label)));
    }
    if found.is_empty() {
        return Err(Error::kind(
            root,
            "recordings of the subjects, sessions, tasks and runs that were asked for",
            "none that has all of these labels",
            "ask for fewer of them",
        ));
    }
    Ok(found)
}

/// Whether a label is the one that is asked for, with or without its key; runs by their number.
fn is_label(key: &str, own: &str, asked: &str) -> bool {
    let asked = asked
        .strip_prefix(key)
        .and_then(|rest| rest.strip_prefix('-'))
        .unwrap_or(asked);
    let number = |text: &str| text.parse::<u64>().ok();
    own == asked || (key == "run" && number(own).is_some() && number(own) == number(asked))
}

/// Adds the recordings of one folder.
fn collect(
    root: &Path,
    folder: &Path,
    data_type: &str,
    found: &mut Vec<BidsRecording>,
) -> Result<()> {
    let whole = root.join(folder);
    if !whole.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(&whole).map_err(Error::reading(&whole))? {
        let entry = entry.map_err(Error::reading(&whole))?;
        let Some(name) = BidsName::parse(&entry.file_name().to_string_lossy()) else {
            continue;
        };
        let is_first = name.get("split").is_none_or(|split| split.parse() == Ok(1));
        let is_recording = name.get("sub").is_some()
            && name.suffix() == data_type
            && EXTENSIONS.contains(&name.extension().to_lowercase().as_str());
        if is_first && is_recording && entry.path().is_file() {
            found.push(BidsRecording {
                path: entry.path(),
                folder: folder.to_owned(),
                name,
            });
        }
    }
    Ok(())
}

/// The folders inside one whose names begin so, in natural order.
fn below(folder: &Path, prefix: &str) -> Result<Vec<String>> {
    let mut names = folders(folder).map_err(Error::reading(folder))?;
    names.retain(|name| name.starts_with(prefix));
    names.sort_by(|a, b| natural_order(a, b));
    Ok(names)
}

fn folders(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}
