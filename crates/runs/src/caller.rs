//! What differs between the programs that make runs: what their arguments are called where a person
//! reads about them, and what draws their pages.
//!
//! The program says `--out`, the Python package says `path`: messages and warnings take such words
//! from the [`Wording`] of whoever called. No sentence is written here.

use crate::results::{Findings, Results};
use std::path::Path;

/// A program that makes runs.
#[derive(Debug)]
pub struct Caller {
    /// What its arguments are called.
    pub wording: Wording,
    /// What draws the pages of a run.
    pub pages: Pages,
}

impl Caller {
    /// A caller of this crate that draws no pages.
    pub const LIBRARY: Caller = Caller {
        wording: Wording::LIBRARY,
        pages: |_, _| Ok(Vec::new()),
    };
}

/// Draws the pages of a run for people: the name and the bytes of every file.
pub type Pages = fn(&Results<'_>, &Findings) -> Result<Vec<Page>, PageError>;

/// One file for people: its name in the folder and its bytes.
pub type Page = (String, Vec<u8>);

/// Why pages could not be drawn.
pub type PageError = Box<dyn std::error::Error + Send + Sync>;

/// What the arguments and actions of a caller are called.
#[derive(Debug)]
pub struct Wording {
    /// What names the folder, as in "choose another …".
    pub out: &'static str,
    /// What allows replacing a folder, as in "replace it with …".
    pub overwrite: &'static str,
    /// What sets the number of steps, as in "start another with more …".
    pub steps: &'static str,
    /// What sets the number of sources, as in "more of them (…)".
    pub sources: &'static str,
    /// How to resume the run in a folder, as in "resume it with `…`".
    pub resume: fn(&Path) -> String,
    /// How to resume it where the recording has to be given too.
    pub resume_with_recording: fn(&Path) -> String,
    /// How to give these values of the configuration, each a path such as `optimizer.steps` and its
    /// value.
    pub settings: fn(&[(&str, &str)]) -> String,
}

impl Wording {
    /// For callers of this crate.
    pub const LIBRARY: Wording = Wording {
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
