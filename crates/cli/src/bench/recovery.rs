//! `strt bench recovery`: default settings on problems with known sources, one table per suite.
//!
//! Problems run side by side, one thread each, so the figures do not depend on the number of threads. The run's seed
//! is the problem's seed plus 1000: a run never shares random numbers with the generator.

use crate::table::table;
use clap::{Args, ValueEnum};
use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use strtransformer::config::MixerKind;
use strtransformer::evaluate::match_sources;
use strtransformer::synth::{ProblemSpec, linear_suite, nonlinear_suite};
use strtransformer::{Config, separate};

/// More than anyone will wait for.
const MOST_SEEDS: u64 = 10_000;

#[derive(Args)]
pub struct Recovery {
    /// Problems to run
    #[arg(long, value_enum, default_value_t = Suite::All)]
    suite: Suite,
    /// Presets to run them with
    #[arg(long, value_enum, default_value_t = Preset::All)]
    preset: Preset,
    /// Number of seeds per kind of the linear suite
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    linear_seeds: u64,
    /// Number of seeds per cell of the nonlinear suite
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    nonlinear_seeds: u64,
    /// First seed
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=u64::MAX / 2))]
    first_seed: u64,
    /// Training steps [default: chosen by the preset]
    #[arg(long)]
    steps: Option<usize>,
    /// Problems run side by side; 0 takes all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print every problem, not only the table
    #[arg(long)]
    verbose: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Suite {
    Linear,
    Nonlinear,
    All,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Preset {
    Default,
    Paper,
    All,
}

/// One solved problem.
struct Score {
    mac: f64,
    worst: f64,
    converged: bool,
}

impl Recovery {
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        let suites = [
            ("linear", Suite::Linear, self.seeds(self.linear_seeds)),
            ("nonlinear", Suite::Nonlinear, self.seeds(self.nonlinear_seeds)),
        ];
        for (name, suite, seeds) in suites {
            if self.suite != suite && self.suite != Suite::All {
                continue;
            }
            let specs = match suite {
                Suite::Nonlinear => nonlinear_suite(&seeds),
                _ => linear_suite(&seeds),
            };
            for preset in [Preset::Default, Preset::Paper] {
                if self.preset != preset && self.preset != Preset::All {
                    continue;
                }
                let scores = self.solve(&specs, preset)?;
                let preset = if preset == Preset::Paper {
                    "paper"
                } else {
                    "default"
                };
                println!(
                    "{name} suite, preset {preset}, seeds {}–{}",
                    seeds[0],
                    seeds[seeds.len() - 1]
                );
                println!("{}", summary(&specs, &scores, self.verbose));
            }
        }
        Ok(())
    }

    fn seeds(&self, number: u64) -> Vec<u64> {
        (self.first_seed..self.first_seed + number).collect()
    }

    /// Every problem with its own thread; the scores come back in the order of the problems.
    fn solve(&self, specs: &[ProblemSpec], preset: Preset) -> Result<Vec<Score>, strtransformer::Error> {
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        };
        let next = AtomicUsize::new(0);
        let scores: Mutex<Vec<(usize, Result<Score, _>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads.min(specs.len()) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(spec) = specs.get(i) else { break };
                        let score = self.solve_one(spec, preset);
                        let mut scores = scores.lock().expect("no worker panics");
                        scores.push((i, score));
                        eprintln!("{}/{} {}", scores.len(), specs.len(), title(spec));
                    }
                });
            }
        });
        let mut scores = scores.into_inner().expect("all workers have ended");
        scores.sort_by_key(|(i, _)| *i);
        scores.into_iter().map(|(_, score)| score).collect()
    }

    fn solve_one(&self, spec: &ProblemSpec, preset: Preset) -> Result<Score, strtransformer::Error> {
        let problem = spec.generate()?;
        let mut config = match preset {
            Preset::Paper => Config::paper(spec.n_sources),
            _ => Config::new(spec.n_sources),
        };
        if !spec.mixing.is_linear() {
            config.mixer.kind = MixerKind::Mlp;
        }
        (config.seed, config.threads, config.optimizer.steps) = (spec.seed + 1000, 1, self.steps);
        let separation = separate(&problem.recording()?, &config)?;
        let matching = match_sources(separation.sources(), &problem.reference()?)?;
        Ok(Score {
            mac: matching.mac(),
            worst: matching.worst(),
            converged: separation.converged(),
        })
    }
}

fn title(spec: &ProblemSpec) -> String {
    format!("{} {} seed {}", spec.kind, spec.mixing, spec.seed)
}

/// A row per cell (source kind × mixing), per problem too when asked, and a last one for all.
fn summary(specs: &[ProblemSpec], scores: &[Score], verbose: bool) -> String {
    let mut rows = Vec::new();
    let mut cells: Vec<String> = Vec::new();
    let cell = |spec: &ProblemSpec| format!("{} {}", spec.kind, spec.mixing);
    for (spec, score) in specs.iter().zip(scores) {
        if verbose {
            rows.push(row(title(spec), &[score]));
        }
        if !cells.contains(&cell(spec)) {
            cells.push(cell(spec));
        }
    }
    for name in cells {
        let of_cell: Vec<&Score> = specs
            .iter()
            .zip(scores)
            .filter(|(s, _)| cell(s) == name)
            .map(|(_, s)| s)
            .collect();
        rows.push(row(name, &of_cell));
    }
    rows.push(row("all".into(), &scores.iter().collect::<Vec<_>>()));
    table(
        &[
            "problems",
            "number",
            "mean MAC",
            "lowest MAC",
            "lowest source",
            "converged",
        ],
        &rows,
    )
}

fn row(name: String, scores: &[&Score]) -> Vec<String> {
    let n = scores.len();
    let lowest = |value: fn(&Score) -> f64| scores.iter().map(|s| value(s)).fold(f64::INFINITY, f64::min);
    vec![
        name,
        n.to_string(),
        format!("{:.4}", scores.iter().map(|s| s.mac).sum::<f64>() / n as f64),
        format!("{:.4}", lowest(|s| s.mac)),
        format!("{:.4}", lowest(|s| s.worst)),
        format!("{}", scores.iter().filter(|s| s.converged).count()),
    ]
}
