//! What is asked for: a recording, a configuration and how the run is to be made.
//!
//! In: files or data in memory. Out: [`Material`], the recording and the true sources of a run as
//! it needs them. Nothing is written here.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::{self, Reading};
use crate::results::summary::{CountSummary, Input};
use crate::watcher::{Event, Watcher};
use crate::words::Words;
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;
use strt_score::Reference;
use strtransformer::preprocess::{ChannelScalingOptions, SourceCount};
use strtransformer::{Config, Recording};

/// Where a recording comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A file.
    File(&'a Path),
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
    pub reading: Reading,
    /// True sources, for scores only: training does not see them.
    pub reference: Option<Truth<'a>>,
    /// The configuration.
    pub config: Config,
    /// Whether to estimate the number of sources in place of the configuration's.
    pub estimate_sources: bool,
    /// Whether an earlier folder may be replaced.
    pub overwrite: bool,
    /// Formats of the sources besides NPY and CSV.
    pub formats: Vec<Format>,
    /// Log every n-th step.
    pub log_every: usize,
    /// Time between two checkpoints: what a crash may cost.
    pub autosave: Duration,
    /// What gives this run again: the words of a command line, or one text.
    pub command: Vec<String>,
    /// Files that must not be lost when a folder is replaced, besides recording and reference.
    pub needed: Vec<&'a Path>,
    /// What arguments are called in warnings.
    pub words: &'static Words,
}

impl<'a> Order<'a> {
    /// A run as `strt separate` makes it by default.
    pub fn new(source: Source<'a>, config: Config) -> Order<'a> {
        Order {
            source,
            reading: Reading::default(),
            reference: None,
            config,
            estimate_sources: false,
            overwrite: false,
            formats: Vec::new(),
            log_every: 10,
            autosave: Duration::from_secs(60),
            command: Vec::new(),
            needed: Vec::new(),
            words: &Words::LIBRARY,
        }
    }

    /// The files that must not be lost.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'a Path> + '_ {
        let recording = match self.source {
            Source::File(path) => Some(path),
            Source::Memory { .. } => None,
        };
        let reference = match self.reference {
            Some(Truth::File(path)) => Some(path),
            _ => None,
        };
        recording
            .into_iter()
            .chain(reference)
            .chain(self.needed.iter().copied())
    }
}

/// What is given to a run that is resumed.
#[derive(Clone, Debug)]
pub struct Again<'a> {
    /// The recording, where it was held in memory or its file has been moved.
    pub source: Option<Source<'a>>,
    /// The same of the true sources.
    pub reference: Option<Truth<'a>>,
    /// Worker threads, where there should be another number: it never changes a result.
    pub threads: Option<usize>,
    /// Time between two checkpoints.
    pub autosave: Duration,
    /// What arguments are called in warnings.
    pub words: &'static Words,
}

impl Default for Again<'_> {
    fn default() -> Self {
        Again {
            source: None,
            reference: None,
            threads: None,
            autosave: Duration::from_secs(60),
            words: &Words::LIBRARY,
        }
    }
}

/// What a run works on.
pub(crate) struct Material<'a> {
    pub recording: Recording,
    pub input: Input,
    /// What to know about the input.
    pub warnings: Vec<String>,
    pub reference: Option<Cow<'a, Reference>>,
}

impl<'a> Material<'a> {
    /// Reads what is not in memory.
    pub fn read<W: Watcher + ?Sized>(
        source: Source<'a>,
        reading: &Reading,
        reference: Option<Truth<'a>>,
        watcher: &mut W,
    ) -> Result<Material<'a>> {
        let (recording, input, warnings) = match source {
            Source::Memory { recording, input } => (recording.clone(), input.clone(), Vec::new()),
            Source::File(path) => {
                watcher.event(Event::Reading(path));
                let opened = reading.open(path)?;
                watcher.event(Event::Read(path, &opened));
                let input = Input::of_file(path, reading, &opened);
                let warnings = input::warnings(&opened).collect();
                (opened.recording, input, warnings)
            }
        };
        let reference = match reference {
            None => None,
            Some(Truth::File(path)) => {
                let opened = reading.open_reference(path, &recording)?;
                watcher.event(Event::ReadReference(path, &opened));
                Some(Cow::Owned(input::reference(path, &opened, &recording)?))
            }
            Some(Truth::Memory { reference, name }) => {
                let (expected, found) = (recording.n_samples(), reference.n_samples());
                if expected != found {
                    return Err(Error::ReferenceLength {
                        path: name.into(),
                        expected,
                        found,
                    });
                }
                Some(Cow::Borrowed(reference))
            }
        };
        Ok(Material {
            recording,
            input,
            warnings,
            reference,
        })
    }

    /// The configuration of an order for this recording, and how the number of sources was found,
    /// when it was not given.
    pub fn configured<W: Watcher + ?Sized>(
        &self,
        order: &Order<'_>,
        watcher: &mut W,
    ) -> Result<(Config, Option<CountSummary>)> {
        let mut config = order.config.clone();
        if !order.estimate_sources {
            return Ok((config, None));
        }
        let options = ChannelScalingOptions {
            center: config.preprocess.center,
            scale: config.preprocess.scale,
        };
        let count = SourceCount::estimate(&self.recording, options)
            .map_err(Error::of_run(&self.input.path))?;
        let count = CountSummary::from(&count);
        watcher.event(Event::Counted(&count));
        config.n_sources = count.n_sources;
        Ok((config, Some(count)))
    }
}
