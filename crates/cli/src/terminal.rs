//! A person at a terminal as the watcher of a run: notes and progress on standard error, Ctrl-C as
//! the wish to stop.

use crate::interrupt;
use crate::output::note;
use crate::progress::{Progress, Sign};
use crate::reading::{describe, describe_reference};
use strt_runs::{Event, Watcher};
use strtransformer::train::StepReport;

/// What the person sees.
pub struct Terminal {
    quiet: bool,
    progress: Progress,
    sign: Option<Sign>,
}

impl Terminal {
    /// Of somebody who may want to see nothing but errors.
    pub fn new(quiet: bool) -> Terminal {
        Terminal {
            quiet,
            progress: Progress::Quiet,
            sign: None,
        }
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            note(line);
        }
    }
}

impl Watcher for Terminal {
    fn step(&mut self, report: &StepReport<'_>) {
        self.progress.show(report);
    }

    fn interrupted(&mut self) -> bool {
        interrupt::asked()
    }

    fn event(&mut self, event: Event<'_>) {
        self.sign = None;
        match event {
            Event::Reading(path) => {
                self.sign = Sign::new(self.quiet, &format!("reading {}", path.display()));
            }
            Event::Read(path, opened) => self.say(&describe(path, opened)),
            Event::ReadReference(path, opened) => self.say(&describe_reference(path, opened)),
            Event::Counted(count) => self.say(&format!(
                "sources: {}. {}",
                count.n_sources, count.reasoning
            )),
            Event::Resumed { steps_done } => self.say(&format!("resumed after step {steps_done}")),
            Event::Training { steps_done } => {
                interrupt::watch();
                self.progress = Progress::new(self.quiet, steps_done);
            }
            Event::NotSaved(error) => self.progress.aside(&format!(
                "warning: no checkpoint was saved, and the run goes on: {error}"
            )),
            Event::Trained => self.progress.end(),
            Event::Writing => self.sign = Sign::new(self.quiet, "writing the results"),
            _ => {}
        }
    }
}
