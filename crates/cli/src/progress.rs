//! What a long step shows: a bar on a terminal, a plain line now and then elsewhere, nothing when
//! asked to be quiet.

use crate::output::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use strtransformer::train::StepReport;

/// Lines of a run that does not write to a terminal.
const PLAIN_LINES: usize = 20;

/// Progress of a run of many steps, counted over all its restarts: they run side by side.
pub enum Progress {
    Quiet,
    Bar(ProgressBar),
    Plain {
        began: Instant,
        before: usize,
        done: usize,
    },
}

impl Progress {
    /// For a run that has taken `before` steps already.
    pub fn new(quiet: bool, before: usize) -> Progress {
        if quiet {
            return Progress::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Progress::Plain {
                began: Instant::now(),
                before,
                done: before,
            };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{:.0}", state.per_sec());
        };
        bar.set_style(
            style("{bar:25} {pos}/{len} steps, {rate} steps/s, at most {eta} left, {msg}")
                .with_key("rate", rate),
        );
        bar.set_position(before as u64);
        bar.reset_eta();
        Progress::Bar(bar)
    }

    pub fn show(&mut self, report: &StepReport<'_>) {
        match self {
            Progress::Quiet => {}
            Progress::Bar(bar) => {
                bar.set_length((report.steps * report.restarts) as u64);
                bar.inc(1);
                if report.step.is_multiple_of(10) || report.step == report.steps {
                    bar.set_message(state(report));
                }
            }
            Progress::Plain {
                began,
                before,
                done,
            } => {
                *done += 1;
                let all = report.steps * report.restarts;
                let every = all.div_ceil(PLAIN_LINES).max(1);
                if done.is_multiple_of(every) || *done == all {
                    let rate = (*done - *before) as f64 / began.elapsed().as_secs_f64().max(1e-9);
                    let left = all.saturating_sub(*done) as f64 / rate;
                    note(&format!(
                        "step {done}/{all}, {rate:.0} steps/s, at most {left:.0} s left, {}",
                        state(report)
                    ));
                }
            }
        }
    }

    /// A line beside the progress.
    pub fn aside(&self, line: &str) {
        match self {
            Progress::Quiet => {}
            Progress::Bar(bar) => bar.suspend(|| note(line)),
            Progress::Plain { .. } => note(line),
        }
    }

    pub fn end(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Where a run stands.
fn state(report: &StepReport<'_>) -> String {
    let restart = match report.restart {
        0 => String::new(),
        n => format!("restart {}, ", n + 1),
    };
    format!(
        "{restart}objective {:.3}, reconstruction {:.3}, structure {:.3}",
        report.smoothed_objective, report.terms.reconstruction, report.terms.structure
    )
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A turning sign on a terminal, for something that may take long and whose length is not known;
/// gone when it is dropped.
pub struct Sign(ProgressBar);

impl Sign {
    /// A sign that says what is done, where there is somebody to see it.
    pub fn new(quiet: bool, what: &str) -> Option<Sign> {
        if quiet || !std::io::stderr().is_terminal() {
            return None;
        }
        let sign = ProgressBar::new_spinner();
        sign.set_style(style("{spinner} {msg}, {elapsed}"));
        sign.set_message(what.to_string());
        sign.enable_steady_tick(Duration::from_millis(200));
        Some(Sign(sign))
    }
}

impl Drop for Sign {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Does something under a turning sign.
pub fn under_way<T>(quiet: bool, what: &str, work: impl FnOnce() -> T) -> T {
    let _sign = Sign::new(quiet, what);
    work()
}
