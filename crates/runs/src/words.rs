//! What arguments and actions are called where a person reads about them.
//!
//! The program says `--out`, a Python package says `path=`: messages and warnings take such words
//! from the [`Words`] of whoever called. In: a fact. Out: a phrase. No sentence is written here.

use std::path::Path;

/// The words of one caller.
#[derive(Debug)]
pub struct Words {
    /// What names the folder, as in "choose another …".
    pub out: &'static str,
    /// What allows replacing a folder, as in "replace it with …".
    pub overwrite: &'static str,
    /// What sets the number of steps, as in "start another with more …".
    pub steps: &'static str,
    /// What sets the number of sources, as in "more of them (…)".
    pub sources: &'static str,
    /// How to continue the run in a folder, as in "continue with `…`".
    pub resume: fn(&Path) -> String,
    /// The same where the recording has to be given too.
    pub resume_with_recording: fn(&Path) -> String,
    /// How to give these values of the configuration, each a path such as `optimizer.steps` and its
    /// value.
    pub settings: fn(&[(&str, &str)]) -> String,
}

impl Words {
    /// For callers of this crate.
    pub const LIBRARY: Words = Words {
        out: "path",
        overwrite: "overwrite",
        steps: "steps",
        sources: "n_sources",
        resume: |folder| format!("resume {}", folder.display()),
        resume_with_recording: |folder| format!("resume {} with its recording", folder.display()),
        settings: |pairs| {
            let texts: Vec<String> = pairs
                .iter()
                .map(|(path, value)| format!("{path} = {value}"))
                .collect();
            texts.join(", ")
        },
    };
}
