//! What the arguments of this program are called, for the messages and warnings of `strt-runs`.

use crate::output::shell_line;
use std::path::Path;
use strt_runs::Words;

/// The words of the program.
pub static WORDS: Words = Words {
    out: "--out",
    overwrite: "--overwrite",
    steps: "--steps",
    sources: "--sources",
    resume: resume_command,
    resume_with_recording: |folder| {
        format!("strt separate RECORDING --resume {}", folder.display())
    },
    settings: |pairs| {
        let texts: Vec<String> = pairs
            .iter()
            .map(|(path, value)| setting(path, value))
            .collect();
        texts.join(" ")
    },
};

/// What to type to continue a run.
pub fn resume_command(folder: &Path) -> String {
    let words = ["strt", "separate", "--resume"].map(String::from);
    shell_line(&[&words[..], &[folder.display().to_string()]].concat())
}

fn setting(path: &str, value: &str) -> String {
    match path {
        "optimizer.steps" => format!("--steps {value}"),
        "mixer.kind" => format!("--mixer {value}"),
        _ => format!("--set {path}={value}"),
    }
}
