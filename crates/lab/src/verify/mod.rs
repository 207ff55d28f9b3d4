//! `strt-lab verify`: the paper's claims as experiments, each with pass or fail.

mod page;

use crate::theory::{self, Check, CheckResult, Variant};
use clap::Args;
pub use page::Verification;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use strt_cli::failure::{Failure, Outcome};
use strt_cli::output;
use strt_cli::table::table;

#[derive(Args)]
pub struct Verify {
    /// Also write a page with every figure
    #[arg(long, short, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Make these checks only, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Break each claim deliberately: every check must then fail
    #[arg(long)]
    broken: bool,
}

/// The names that `--only` knows.
fn names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(theory::all().iter().map(|check| check.name))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Verdict<'a> {
    /// Whether every check did what it must: pass, or with `--broken` fail.
    as_expected: bool,
    broken: bool,
    checks: Vec<Timed<'a>>,
}

#[derive(Serialize)]
struct Timed<'a> {
    seconds: f64,
    #[serde(flatten)]
    result: &'a CheckResult,
}

impl Verify {
    /// Makes the checks; `typed` is the command line.
    pub fn run(self, typed: &[String]) -> Outcome {
        let variant = if self.broken {
            Variant::Broken
        } else {
            Variant::True
        };
        let checks: Vec<Check> = theory::all()
            .into_iter()
            .filter(|check| self.only.is_empty() || self.only.iter().any(|name| name == check.name))
            .collect();
        let results = make(&checks, variant)?;
        let wrong = wrong(&results, variant);
        if self.json {
            output::print_line(&serde_json::to_string_pretty(&Verdict {
                as_expected: wrong == 0,
                broken: self.broken,
                checks: results
                    .iter()
                    .map(|(seconds, result)| Timed {
                        seconds: *seconds,
                        result,
                    })
                    .collect(),
            })?)
        } else {
            output::print(&words(&checks, &results, variant))
        }
        if let Some(path) = &self.out {
            let only: Vec<CheckResult> = results.into_iter().map(|(_, result)| result).collect();
            let page = Verification {
                checks: &checks,
                results: &only,
                variant,
                command: &output::shell_line(typed),
                version: concat!("strt-lab ", env!("CARGO_PKG_VERSION")),
            };
            strt_io::write_text(path, &page.to_html()?)?;
            if !self.json {
                output::print_line(&format!("\nreport   {}", path.display()));
            }
        }
        judge(wrong, checks.len(), variant)
    }
}

/// How many passed that must fail, or failed that must pass.
fn wrong(results: &[(f64, CheckResult)], variant: Variant) -> usize {
    let expected = variant == Variant::True;
    results
        .iter()
        .filter(|(_, result)| result.passed != expected)
        .count()
}

/// Checks that did not do what they must are a failure.
fn judge(wrong: usize, n_checks: usize, variant: Variant) -> Outcome {
    match (wrong, variant) {
        (0, _) => Ok(()),
        (n, Variant::True) => Err(Failure::Failed(format!("{n} of {n_checks} checks failed"))),
        (n, Variant::Broken) => Err(Failure::Failed(format!(
            "{n} of {n_checks} checks passed although their claim was broken"
        ))),
    }
}

/// Makes all checks side by side, with the seconds each took.
fn make(checks: &[Check], variant: Variant) -> Outcome<Vec<(f64, CheckResult)>> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(checks.len()) {
            scope.spawn(|| {
                loop {
                    // The trained runs come late in the list and take longest: begin with them.
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(i) = checks.len().checked_sub(place + 1) else {
                        break;
                    };
                    let begun = Instant::now();
                    let result = checks[i].run(variant);
                    let mut made = made.lock().expect("no worker panics");
                    made.push((i, begun.elapsed().as_secs_f64(), result));
                    output::note(&format!(
                        "{}/{} {}",
                        made.len(),
                        checks.len(),
                        checks[i].name
                    ));
                }
            });
        }
    });
    let mut made = made.into_inner().expect("all workers have ended");
    made.sort_by_key(|(i, ..)| *i);
    let named = |(i, seconds, result): (usize, f64, Result<CheckResult, _>)| {
        let failed = |error| Failure::Failed(format!("{}: {error}", checks[i].name));
        Ok((seconds, result.map_err(failed)?))
    };
    made.into_iter().map(named).collect()
}

/// A table, then a sentence a check.
fn words(checks: &[Check], results: &[(f64, CheckResult)], variant: Variant) -> String {
    let row = |(seconds, result): &(f64, CheckResult)| {
        let held = result
            .measurements
            .iter()
            .filter(|measured| measured.holds)
            .count();
        vec![
            result.name.to_string(),
            if result.passed { "pass" } else { "FAIL" }.into(),
            format!("{held} of {}", result.measurements.len()),
            format!("{seconds:.1}"),
        ]
    };
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    let mut text = table(&["check", "result", "bounds kept", "seconds"], &rows);
    for (check, (_, result)) in checks.iter().zip(results) {
        text.push_str(&format!("\n{}: {}\n", result.name, result.sentence));
        if variant == Variant::Broken {
            text.push_str(&format!("  broken on purpose: {}\n", check.broken));
        }
        for measured in result
            .measurements
            .iter()
            .filter(|measured| !measured.holds)
        {
            let (what, value) = (&measured.what, measured.value);
            text.push_str(&format!(
                "  not kept: {what} is {value:.3e}, must be {}\n",
                measured.bound
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_and_a_broken_one_that_passes_are_failures() {
        let result = |passed: bool| {
            let result = CheckResult {
                name: "name",
                title: "title",
                claim: "claim",
                variant: Variant::True,
                passed,
                sentence: String::new(),
                measurements: Vec::new(),
                figures: Vec::new(),
            };
            (0.0, result)
        };
        for (passed, variant, status) in [
            ([true, true], Variant::True, None),
            ([true, false], Variant::True, Some("1 of 2 checks failed")),
            ([false, false], Variant::Broken, None),
            (
                [true, false],
                Variant::Broken,
                Some("1 of 2 checks passed although"),
            ),
        ] {
            let results = passed.map(result);
            match (judge(wrong(&results, variant), 2, variant), status) {
                (Ok(()), None) => {}
                (Err(Failure::Failed(message)), Some(words)) => assert!(message.starts_with(words)),
                (outcome, _) => panic!("{passed:?} {variant:?}: {outcome:?}"),
            }
        }
    }
}
