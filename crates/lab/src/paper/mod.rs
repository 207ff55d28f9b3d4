//! `strt-lab paper`: what preset `paper` reaches, and what each change of the default is worth.
//!
//! In: a question, `search` (the choices that the paper leaves open) or `ablation` (one switch of
//! the default at a time), and kinds of sources. Out: the mean absolute correlation of every
//! variant over problems like the paper's (T = 1000, K = 3, m = 6), as Markdown. Every result is
//! kept as soon as it is there, so that an interrupted run goes on where it ended; variants run
//! side by side with one thread each. The run's seed is the problem's plus 1000.

mod variants;

use crate::recovery::record::{Key, Record, Store};
use crate::recovery::side_by_side;
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::path::PathBuf;
use strt_cli::failure::{Failure, Outcome};
use strt_cli::methods::{MethodName, Task};
use strt_cli::output;
use strt_cli::settings::{Preset, Settings};
use strt_synth::{ProblemSpec, SourceKind};
use variants::Variant;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// Preset `paper`, every choice that the paper leaves open
    Search,
    /// The default, one switch at a time set back to what the paper prints
    Ablation,
    /// The same without the kernel energy, from the whitened components
    Networks,
}

#[derive(Args)]
pub struct Paper {
    #[arg(value_enum)]
    question: Question,
    /// Kinds of sources, as `strt generate` names them
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "gp")]
    kinds: Vec<SourceKind>,
    /// First seed of the problems
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Problems of each kind
    #[arg(long, default_value_t = 3)]
    problems: u64,
    /// Training steps [default: chosen by the preset]
    #[arg(long)]
    steps: Option<usize>,
    /// Combinations of open choices that `search` tries besides single ones
    #[arg(long, default_value_t = 12)]
    combinations: usize,
    /// Only variants whose name contains this; may be repeated
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Variants run side by side; 0 takes all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// File that keeps the results, one a line; what is in it already is not run again
    #[arg(long, value_name = "FILE.jsonl")]
    results: Option<PathBuf>,
}

/// One variant on one problem.
struct Job<'a> {
    variant: &'a Variant,
    spec: ProblemSpec,
    key: Key,
}

impl Paper {
    pub fn run(self) -> Outcome {
        let variants = self.variants()?;
        let jobs = self.jobs(&variants);
        let store = Store::open(self.results.as_deref())?;
        let open: Vec<&Job<'_>> = jobs.iter().filter(|job| !store.has(&job.key)).collect();
        let name = |job: &&Job<'_>| format!("{}, {}", job.variant.name, job.key.problem);
        let store =
            side_by_side::solve(&open, self.threads, store, name, |job| self.solve_one(job))?;
        output::print_line(&table(&variants, &jobs, &store));
        Ok(())
    }

    fn variants(&self) -> Outcome<Vec<Variant>> {
        let mut all = match self.question {
            Question::Search => variants::search(self.combinations),
            Question::Ablation => variants::ablation(false),
            Question::Networks => variants::ablation(true),
        };
        if !self.only.is_empty() {
            all.retain(|variant| self.only.iter().any(|part| variant.name.contains(part)));
        }
        if all.is_empty() {
            return Err(Failure::Usage(
                "--only: expected a part of the name of a variant, found none; leave it out to see \
                 all names"
                    .into(),
            ));
        }
        Ok(all)
    }

    /// Problem by problem, so that what an interrupted run leaves has all variants.
    fn jobs<'a>(&self, variants: &'a [Variant]) -> Vec<Job<'a>> {
        let steps = self.steps.map_or("default".into(), |n| n.to_string());
        let mut jobs = Vec::new();
        for seed in self.first_seed..self.first_seed.saturating_add(self.problems) {
            for &kind in &self.kinds {
                jobs.extend(variants.iter().map(|variant| Job {
                    variant,
                    spec: ProblemSpec {
                        kind,
                        noise: if variant.noise_free { 0.0 } else { 0.02 },
                        seed,
                        ..ProblemSpec::default()
                    },
                    key: Key {
                        family: "paper".into(),
                        problem: format!("{kind} seed {seed}"),
                        method: variant.preset_name().into(),
                        run: 0,
                        settings: format!(
                            "strt {} steps {steps} {}",
                            env!("CARGO_PKG_VERSION"),
                            variant.settings()
                        ),
                    },
                }));
            }
        }
        jobs
    }

    fn solve_one(&self, job: &Job<'_>) -> Outcome<Record> {
        let problem = job.spec.generate()?;
        let settings = Settings {
            preset: job.variant.preset,
            seed: Some(job.spec.seed + 1000),
            steps: self.steps,
            assignments: job
                .variant
                .set
                .iter()
                .map(|text| text.to_string())
                .collect(),
            threads: Some(1),
            ..Settings::default()
        };
        let task = Task {
            n_sources: job.spec.n_sources,
            settings,
            start: 0,
        };
        let found = MethodName::Default.run(&problem.recording()?, &task)?;
        Ok(Record::new(job.key.clone(), &found, &problem)?)
    }
}

impl Variant {
    fn preset_name(&self) -> &'static str {
        match self.preset {
            Preset::Paper => "paper",
            _ => "strt",
        }
    }
}

/// One row a variant, with the mean and the ends of the MAC over its problems.
fn table(variants: &[Variant], jobs: &[Job<'_>], store: &Store) -> String {
    let mut text = String::from(
        "| variant | settings | problems | MAC: mean | lowest | highest |\n\
         |---|---|---|---|---|---|\n",
    );
    for variant in variants {
        let keys = jobs.iter().filter(|job| job.variant == variant);
        let macs: Vec<f64> = keys
            .filter_map(|job| store.records.iter().find(|record| record.key == job.key))
            .map(|record| record.mac)
            .collect();
        let n = macs.len();
        let shown = |value: f64| {
            if n == 0 {
                "-".into()
            } else {
                format!("{value:.3}")
            }
        };
        let mean = macs.iter().sum::<f64>() / n as f64;
        let lowest = macs.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = macs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        writeln!(
            text,
            "| {} | {} | {n} | {} | {} | {} |",
            variant.name,
            variant.settings(),
            shown(mean),
            shown(lowest),
            shown(highest)
        )
        .expect("a string takes text");
    }
    text
}
