//! How the end of a run is told: in sentences, as JSON or not at all, and with which exit status.

use crate::failure::{Failure, Outcome};
use crate::output::{self, note};
use crate::table::table;
use crate::wording::resume_command;
use clap::Args;
use std::fmt::Write;
use std::path::Path;
use strt_report::REPORT;
use strt_runs::Contents;
use strt_runs::results::summary::{BranchSummary, Summary};
use strtransformer::train::StopReason;

/// What somebody wants to see of a run.
#[derive(Args, Clone, Copy, Debug)]
pub struct Ending {
    /// Show nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print summary.json instead of sentences
    #[arg(long)]
    pub json: bool,
}

impl Ending {
    /// Of a run that was just made.
    pub fn tell(self, run: &Contents) -> Outcome {
        self.print(&run.summary, &run.place)?;
        if run.unfinished {
            let command = resume_command(&run.place);
            self.say(&format!("interrupted: resume it with `{command}`"));
            return Err(Failure::Interrupted);
        }
        refuse_diverged(run)
    }

    /// Whether a run of several, of which a table is shown in the end, is done.
    pub fn judge(self, run: &Contents) -> Outcome {
        if run.unfinished {
            return Err(Failure::Interrupted);
        }
        refuse_diverged(run)
    }

    /// Of a run that an earlier call has made.
    pub fn tell_of_earlier(self, run: &Contents) -> Outcome {
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&run.summary)?);
        }
        refuse_diverged(run)?;
        let place = run.place.display();
        self.say(&format!("{place}: this run is finished; nothing was done"));
        Ok(())
    }

    /// Prints the summary of a run in `folder`.
    pub fn print(self, summary: &Summary, folder: &Path) -> Outcome {
        if self.json {
            output::print_line(&serde_json::to_string_pretty(summary)?);
        } else if !self.quiet {
            output::print(&format!("\n{}", text(summary, folder)));
        }
        Ok(())
    }

    fn say(self, line: &str) {
        if !self.quiet {
            note(line);
        }
    }
}

/// A run that diverged is a failure, although it has left results.
fn refuse_diverged(run: &Contents) -> Outcome {
    if run.summary.stop_reason != StopReason::Diverged {
        return Ok(());
    }
    let why = run.summary.warnings.first().cloned().unwrap_or_default();
    let place = run.place.display();
    Err(Failure::Failed(format!("{place}: {why}")))
}

/// A table of the sources, how the run ended, and where everything is.
fn text(summary: &Summary, folder: &Path) -> String {
    let mut text = sources(summary);
    text.push('\n');
    let mut fact = |name: &str, value: String| {
        writeln!(text, "{name:<34} {value}").expect("a string takes text")
    };
    if let Some(scores) = &summary.scores {
        fact(
            "mean absolute correlation (MAC)",
            format!("{:.4}", scores.mac),
        );
    }
    fact(
        "variance of the channels explained",
        format!("{:.1} %", 100.0 * summary.explained_variance),
    );
    fact("objective", format!("{:.4}", summary.smoothed_objective));
    let restarts = match summary.restarts.len() {
        1 => String::new(),
        n => format!(", restart {} of {n} kept", summary.kept_restart + 1),
    };
    fact(
        "training",
        format!(
            "{} steps{restarts}, {:.1} s ({:.0} steps/s)",
            summary.steps, summary.wall_seconds, summary.steps_per_second
        ),
    );
    fact("ended", ending(summary));
    for warning in &summary.warnings {
        writeln!(text, "warning: {warning}").expect("a string takes text");
    }
    text.push('\n');
    writeln!(text, "results  {}", folder.display()).expect("a string takes text");
    writeln!(text, "report   {}", folder.join(REPORT).display()).expect("a string takes text");
    text
}

fn sources(summary: &Summary) -> String {
    let mut header = vec!["source", "expected patch", "slope", "variance"];
    if summary.verdicts.is_some() {
        header.extend(["finding", "others in it"]);
    }
    if !summary.labels.is_empty() {
        header.push("looks like");
    }
    if summary.scores.is_some() {
        header.extend(["true source", "|correlation|"]);
    }
    let row = |(k, branch): (usize, &BranchSummary)| {
        let patch = patch(branch.expected_patch, summary.input.sampling_rate);
        let mut row = vec![
            branch.source.clone(),
            patch,
            format!("{:.3}", branch.slope),
            format!("{:.1} %", 100.0 * branch.explained_variance),
        ];
        if let Some(verdict) = summary.verdicts.as_ref().and_then(|all| all.get(k)) {
            row.push(verdict.finding.clone());
            row.push(format!("{:.0} %", 100.0 * verdict.interference));
        }
        if !summary.labels.is_empty() {
            let label = summary.labels.iter().find(|l| l.source == branch.source);
            row.push(label.map_or_else(String::new, |label| {
                format!("{} ({:.0} %)", label.label, 100.0 * label.confidence)
            }));
        }
        if let Some(scores) = &summary.scores {
            row.push(scores.matched[k].map_or("-".into(), |source| source.to_string()));
            row.push(format!("{:.4}", scores.per_source[k]));
        }
        row
    };
    let rows: Vec<Vec<String>> = summary.branches.iter().enumerate().map(row).collect();
    table(&header, &rows)
}

/// A length of time in samples, or in seconds; of sound in milliseconds.
fn patch(samples: f64, rate: Option<f64>) -> String {
    match rate {
        None => format!("{samples:.1} samples"),
        Some(rate) if rate >= 4000.0 => format!("{:.3} ms", 1000.0 * samples / rate),
        Some(rate) => format!("{:.3} s", samples / rate),
    }
}

fn ending(summary: &Summary) -> String {
    let why = match summary.stop_reason {
        StopReason::Settled => "the sources have settled",
        StopReason::StepLimit => "all steps taken",
        StopReason::Interrupted => "interrupted",
        StopReason::Diverged => "diverged",
    };
    let agreement = summary.restarts.iter().filter_map(|r| r.agreement);
    let again = agreement
        .max_by(f64::total_cmp)
        .map_or_else(String::new, |agreement| {
            format!(", found again with |correlation| {agreement:.2} or more")
        });
    match (summary.converged, summary.stop_reason) {
        (true, _) => format!("{why}{again}; converged"),
        (false, StopReason::Settled) => format!("{why}, each start elsewhere; not converged"),
        (false, _) => format!("{why}; not converged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_of_sound_are_not_zero_seconds() {
        assert_eq!(patch(4.4, None), "4.4 samples");
        assert_eq!(patch(4.4, Some(250.0)), "0.018 s");
        assert_eq!(patch(4.4, Some(16_000.0)), "0.275 ms");
    }
}
