//! Names of the files that a command writes, one for each recording, before anything is written.

use crate::failure::{Failure, Outcome};
use std::path::{Path, PathBuf};

/// Refuses one name for several files, and several recordings for one `--out`.
pub fn refuse_shared(inputs: &[PathBuf], outs: &[PathBuf]) -> Outcome {
    if outs.len() < inputs.len() {
        return Err(Failure::Usage(format!(
            "--out {}: expected one recording, found {}; give a folder for all of them with \
             --out-dir",
            outs[0].display(),
            inputs.len()
        )));
    }
    for (i, out) in outs.iter().enumerate() {
        if let Some(other) = outs[..i].iter().position(|other| other == out) {
            return Err(Failure::Usage(format!(
                "{}: expected a file for each recording, found one for {} and {}; give each a \
                 command of its own",
                out.display(),
                inputs[other].display(),
                inputs[i].display()
            )));
        }
    }
    Ok(())
}

/// Refuses a file in a folder that does not exist.
pub fn refuse_without_folder(out: &Path) -> Outcome {
    match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Err(Failure::Failed(format!(
                "{}: expected a folder, found none; create it, or choose another --out",
                parent.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Makes the folder for the files of several recordings, where one is named.
pub fn make_folder(folder: Option<&Path>) -> Outcome {
    let Some(folder) = folder else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Failed(format!(
            "{}: cannot make the folder: {error}; choose another --out-dir",
            folder.display()
        ))
    })
}
