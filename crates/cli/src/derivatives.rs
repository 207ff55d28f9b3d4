//! Results of a BIDS dataset in the layout of BIDS: a dataset of its own, which lies in
//! `derivatives/strtransformer` of the other.
//!
//! In: recordings of a dataset. Out: where the folder of each run goes, and the files that say what
//! made the derivatives. A run is `sub-01/eeg/sub-01_task-rest_desc-strt_eeg.strt`; a cleaned
//! recording has that name with the ending of the recording. BIDS knows no such folders, which is
//! what `.bidsignore` is for.

use crate::failure::{Failure, Outcome};
use crate::inputs::Dataset;
use crate::many::Job;
use serde_json::json;
use std::path::{Path, PathBuf};
use strt_io::{BidsName, BidsRecording, write_text};

/// What tells our files from the recordings that they were made of.
const DESCRIPTION: &str = "strt";
/// The version of the specification that the layout follows.
const BIDS_VERSION: &str = "1.10.0";

/// The folder for the derivatives of a dataset, unless another is asked for.
pub fn folder(dataset: &Dataset, out: Option<&Path>) -> Outcome<PathBuf> {
    let Some(out) = out else {
        return Ok(dataset.root.join("derivatives").join("strtransformer"));
    };
    if let (Ok(a), Ok(b)) = (out.canonicalize(), dataset.root.canonicalize())
        && a == b
    {
        return Err(Failure::Usage(format!(
            "--out {}: expected a folder for derivatives, found the dataset itself; choose another",
            out.display()
        )));
    }
    Ok(out.to_owned())
}

/// The runs on a dataset: one a recording, or one for all recordings that differ only in `run-`.
pub fn jobs(dataset: &Dataset, folder: &Path, together: bool) -> Outcome<Vec<Job>> {
    let mut jobs: Vec<Job> = Vec::new();
    for (i, recording) in dataset.recordings.iter().enumerate() {
        let plain = target(recording, false);
        let mut before = dataset.recordings[..i].iter();
        if let Some(other) = before.find(|other| target(other, false) == plain) {
            return Err(Failure::Failed(format!(
                "{}: expected one file of each recording, found {} too; leave one of them out of \
                 the dataset",
                recording.path.display(),
                other.path.display()
            )));
        }
        let target = folder.join(target(recording, together));
        match jobs.iter_mut().find(|job| job.target == target) {
            Some(job) => job.files.push(recording.path.clone()),
            None => jobs.push(Job {
                files: vec![recording.path.clone()],
                target,
            }),
        }
    }
    Ok(jobs)
}

fn target(recording: &BidsRecording, together: bool) -> PathBuf {
    let name = recording.name.clone().without("split");
    let name = if together { name.without("run") } else { name };
    let name = name.with_description(DESCRIPTION).with_extension(".strt");
    recording.folder.join(name.to_string())
}

/// The name of a cleaned recording; `None` where the recording has no name of BIDS.
pub fn cleaned_name(recording: &Path) -> Option<String> {
    let name = BidsName::parse(&recording.file_name()?.to_string_lossy())?;
    Some(name.with_description(DESCRIPTION).to_string())
}

/// Writes what says that a folder holds derivatives, unless it says so already.
pub fn describe(folder: &Path, dataset: &Dataset) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Failed(format!(
            "{}: cannot make the folder: {error}; choose another --out",
            folder.display()
        ))
    })?;
    let description = folder.join("dataset_description.json");
    if !description.exists() {
        let source = relative(&dataset.root, folder);
        let text = serde_json::to_string_pretty(&json!({
            "Name": "Sources and cleaned recordings by StrTransformer",
            "BIDSVersion": BIDS_VERSION,
            "DatasetType": "derivative",
            "GeneratedBy": [{
                "Name": "StrTransformer",
                "Version": env!("CARGO_PKG_VERSION"),
            }],
            "SourceDatasets": [{ "URL": source }],
        }))?;
        write_text(&description, &format!("{text}\n"))?;
    }
    let ignore = folder.join(".bidsignore");
    if !ignore.exists() {
        write_text(&ignore, "*.strt/\n*.strt.partial/\n")?;
    }
    Ok(())
}

/// The dataset as the derivatives see it: by a way that stays right when both are moved, where they
/// lie in their usual places.
fn relative(root: &Path, folder: &Path) -> String {
    if folder == root.join("derivatives").join("strtransformer") {
        return "../..".into();
    }
    let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    format!("file://{}", whole.display())
}
