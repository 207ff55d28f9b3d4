//! The program as a caller of `strt-runs`: what its arguments are called in messages and warnings,
//! and what draws its pages.

use crate::output::shell_line;
use std::path::Path;
use strt_runs::{Caller, Wording};

/// This program.
pub static PROGRAM: Caller = Caller {
    wording: Wording {
        out: "--out",
        overwrite: "--overwrite",
        steps: "--steps",
        sources: "--sources",
        resume: resume_command,
        resume_with_recording: |folder| format!("{} RECORDING", resume_command(folder)),
        settings: |pairs| {
            let texts: Vec<String> = pairs
                .iter()
                .map(|(path, value)| setting(path, value))
                .collect();
            texts.join(" ")
        },
    },
    pages: strt_report::pages,
};

/// What to type to resume a run.
pub fn resume_command(folder: &Path) -> String {
    shell_line(&["strt", "resume", &folder.display().to_string()].map(String::from))
}

fn setting(path: &str, value: &str) -> String {
    match path {
        "optimizer.steps" => format!("--steps {value}"),
        "mixer.kind" => format!("--mixer {value}"),
        _ => format!("--set {path}={value}"),
    }
}
