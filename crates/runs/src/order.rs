//! What is asked for: a recording, a configuration and how the run is to be made. Plain data; what
//! becomes of it is decided in [`crate::lifecycle`].

use crate::caller::Caller;
use crate::format::Format;
use crate::results::summary::Input;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strt_io::ReadOptions;
use strt_score::Reference;
use strtransformer::preprocess::CountMethod;
use strtransformer::verdict::VerdictOptions;
use strtransformer::{Config, Recording};

/// Where a recording comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A file.
    File(&'a Path),
    /// Several files, which become one recording: one mixing, several pieces in time.
    Together(&'a [PathBuf]),
    /// The caller. A run of it is kept without its recording, which must be given again to resume
    /// it.
    Memory {
        /// The recording.
        recording: &'a Recording,
        /// What is known of it; see [`Input::in_memory`].
        input: &'a Input,
    },
}

/// Where true sources come from.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// A file.
    File(&'a Path),
    /// The caller. As with a recording, it must be given again to resume.
    Memory {
        /// The true sources.
        reference: &'a Reference,
        /// What to call them.
        name: &'a str,
    },
}

/// A run that is asked for.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The recording.
    pub source: Source<'a>,
    /// How its file is read.
    pub reading: ReadOptions,
    /// True sources, for scores only: training does not see them.
    pub reference: Option<Truth<'a>>,
    /// The configuration.
    pub config: Config,
    /// How to estimate the number of sources in place of the configuration's; `None` where that
    /// one is taken.
    pub estimate_sources: Option<CountMethod>,
    /// Whether an earlier folder may be replaced.
    pub overwrite: bool,
    /// Formats of the sources besides NPY and CSV.
    pub formats: Vec<Format>,
    /// Whether to write the figures as pictures too.
    pub figures: bool,
    /// Log every n-th step.
    pub log_every: usize,
    /// Time between two checkpoints: what a crash may cost.
    pub autosave: Duration,
    /// What gives this run again: the words of a command line, or one text.
    pub command: Vec<String>,
    /// How the sources are judged when the run is over; `None` where they are not.
    pub verdicts: Option<VerdictOptions>,
    /// Files that must not be lost when a folder is replaced, besides recording and reference.
    pub needed: Vec<&'a Path>,
    /// Who asks.
    pub caller: &'static Caller,
}

impl<'a> Order<'a> {
    /// A run as `strt separate` makes it by default.
    pub fn new(source: Source<'a>, config: Config) -> Order<'a> {
        Order {
            source,
            reading: ReadOptions::default(),
            reference: None,
            config,
            estimate_sources: None,
            overwrite: false,
            formats: Vec::new(),
            figures: false,
            log_every: 10,
            autosave: AUTOSAVE,
            command: Vec::new(),
            verdicts: Some(VerdictOptions::default()),
            needed: Vec::new(),
            caller: &Caller::LIBRARY,
        }
    }

    /// The files that must not be lost.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'a Path> + '_ {
        let (one, several): (Option<&Path>, &[PathBuf]) = match self.source {
            Source::File(path) => (Some(path), &[]),
            Source::Together(paths) => (None, paths),
            Source::Memory { .. } => (None, &[]),
        };
        let reference = match self.reference {
            Some(Truth::File(path)) => Some(path),
            _ => None,
        };
        one.into_iter()
            .chain(several.iter().map(PathBuf::as_path))
            .chain(reference)
            .chain(self.needed.iter().copied())
    }

    /// What this order gives to an unfinished run of it.
    pub(crate) fn resume_options(&self) -> ResumeOptions<'a> {
        ResumeOptions {
            source: Some(self.source),
            reference: self.reference,
            threads: Some(self.config.threads),
            autosave: self.autosave,
            caller: self.caller,
        }
    }
}

/// What may be given to a run that is resumed.
#[derive(Clone, Debug)]
pub struct ResumeOptions<'a> {
    /// The recording, where it was held in memory or its file has been moved.
    pub source: Option<Source<'a>>,
    /// The true sources, where they were held in memory or their file has been moved.
    pub reference: Option<Truth<'a>>,
    /// Worker threads, where there should be another number: it never changes a result.
    pub threads: Option<usize>,
    /// Time between two checkpoints.
    pub autosave: Duration,
    /// Who asks.
    pub caller: &'static Caller,
}

impl Default for ResumeOptions<'_> {
    fn default() -> Self {
        ResumeOptions {
            source: None,
            reference: None,
            threads: None,
            autosave: AUTOSAVE,
            caller: &Caller::LIBRARY,
        }
    }
}

const AUTOSAVE: Duration = Duration::from_secs(60);
