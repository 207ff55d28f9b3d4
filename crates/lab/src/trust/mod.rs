//! `strt-lab trust`: whether verdicts are right.
//!
//! In: families of problems with known sources. Out: of the sources that were called resolved, how
//! many have a |correlation| of 0.95 or more with a true one; of the others, how many have not; and
//! how the error bars compare with the truth. Markdown on stdout, or one JSON object a source.
//! Problems run side by side with one thread each. The run's seed is the problem's plus 1000.

mod problems;
mod tables;

use crate::recovery::families::{Case, Size};
use crate::recovery::recordings;
use clap::Args;
use faer::MatRef;
use problems::{FAMILIES, Family};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use strt_cli::failure::{Failure, Outcome};
use strt_cli::output::{self, note};
use strt_cli::settings::{MixerName, Preset, Settings};
use strtransformer::separate;
use strtransformer::verdict::{Finding, VerdictOptions};

#[derive(Args)]
pub struct Trust {
    /// Families of problems [default: all]; `list` prints them
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    families: Vec<String>,
    /// Lengths of the recordings in samples
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "500,1000,2000"
    )]
    samples: Vec<usize>,
    /// First seed of the problems; thresholds are tuned on seeds from 901, so figures with those
    /// prove nothing
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Problems of each family and length
    #[arg(long, default_value_t = 4)]
    problems: u64,
    /// Nonlinear mixing and the mixer `mlp`, in place of a matrix
    #[arg(long)]
    nonlinear: bool,
    /// Folder of real recordings, whose sources are mixed and looked for too; linear mixing only
    #[arg(long, value_name = "DIR", conflicts_with = "nonlinear")]
    data: Option<PathBuf>,
    /// Where the configuration starts
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    preset: Preset,
    /// Problems run side by side; 0 takes all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print one JSON object a source instead of Markdown
    #[arg(long)]
    json: bool,
}

/// One problem to be solved.
struct Job {
    family: &'static str,
    samples: usize,
    seed: u64,
    sources: Sources,
}

/// Where the sources of a problem come from.
enum Sources {
    /// A family of generated ones.
    Generated(Family),
    /// Recordings.
    Real(Case),
}

/// One source with its verdict and the truth.
#[derive(Clone, Debug, Serialize)]
struct Judged {
    family: &'static str,
    samples: usize,
    seed: u64,
    source: usize,
    finding: Finding,
    /// The largest |correlation| with a true source.
    correlation: f64,
    interference: f64,
    evidence: Option<f64>,
    structure: f64,
    replication: Option<f64>,
    /// Time of the run and of the verdicts, of the whole problem.
    run_seconds: f64,
    verdict_seconds: f64,
}

impl Judged {
    /// Whether it is a true source.
    fn is_true(&self) -> bool {
        self.correlation >= 0.95
    }

    /// √(1 − correlation²): what else is in it, as an amplitude.
    fn error(&self) -> f64 {
        (1.0 - self.correlation * self.correlation).max(0.0).sqrt()
    }
}

impl Trust {
    pub fn run(self) -> Outcome {
        if self.families == ["list"] {
            FAMILIES
                .iter()
                .for_each(|family| output::print_line(family.name));
            return Ok(());
        }
        let families = self.chosen()?;
        let mut jobs = Vec::new();
        for &family in &families {
            for &samples in &self.samples {
                let seeds = self.first_seed..self.first_seed + self.problems;
                jobs.extend(seeds.map(|seed| Job {
                    family: family.name,
                    samples,
                    seed,
                    sources: Sources::Generated(family),
                }));
            }
        }
        if let Some(data) = &self.data {
            for family in recordings::all(data, Size::Quick, self.first_seed)? {
                jobs.extend(family.cases.into_iter().map(|case| Job {
                    family: family.name,
                    samples: case.spec.n_samples,
                    seed: case.spec.seed,
                    sources: Sources::Real(case),
                }));
            }
        }
        let sources = self.solve(&jobs)?;
        if self.json {
            for source in &sources {
                output::print_line(&serde_json::to_string(source)?);
            }
        } else {
            output::print_line(&tables::all(&sources));
        }
        Ok(())
    }

    fn chosen(&self) -> Outcome<Vec<Family>> {
        let known = || FAMILIES.iter().map(|family| family.name);
        if let Some(name) = self
            .families
            .iter()
            .find(|name| !known().any(|k| k == **name))
        {
            let known: Vec<&str> = known().collect();
            return Err(Failure::Usage(format!(
                "--families: expected some of {}, found `{name}`",
                known.join(", ")
            )));
        }
        let asked = |family: &Family| {
            self.families.is_empty() || self.families.iter().any(|name| name == family.name)
        };
        Ok(FAMILIES.into_iter().filter(asked).collect())
    }

    /// All jobs, one thread each; the results are in the order of the jobs.
    fn solve(&self, jobs: &[Job]) -> Outcome<Vec<Judged>> {
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            n => n,
        };
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Outcome<Vec<Judged>>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads.min(jobs.len()) {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(place) else { break };
                        let solved = self.solve_one(job);
                        let mut done = done.lock().expect("no worker panics");
                        let name = job.family;
                        note(&format!(
                            "{}/{} {name} T{} seed {}",
                            done.len() + 1,
                            jobs.len(),
                            job.samples,
                            job.seed
                        ));
                        done.push((place, solved));
                    }
                });
            }
        });
        let mut done = done.into_inner().expect("all workers have ended");
        done.sort_by_key(|(place, _)| *place);
        let mut sources = Vec::new();
        for (_, solved) in done {
            sources.extend(solved?);
        }
        Ok(sources)
    }

    fn solve_one(&self, job: &Job) -> Outcome<Vec<Judged>> {
        let problem = match &job.sources {
            Sources::Generated(family) => {
                family.generate(job.samples, !self.nonlinear, job.seed)?
            }
            Sources::Real(case) => case.generate()?,
        };
        let settings = Settings {
            preset: self.preset,
            mixer: self.nonlinear.then_some(MixerName::Mlp),
            seed: Some(job.seed + 1000),
            threads: Some(1),
            ..Settings::default()
        };
        let config = settings.resolve(Some(problem.sources.ncols()))?;
        let recording = problem.recording()?;
        let began = Instant::now();
        let separation = separate(&recording, &config)?;
        let run_seconds = began.elapsed().as_secs_f64();
        let verdicts = separation.verdicts(&recording, VerdictOptions::default())?;
        let verdict_seconds = began.elapsed().as_secs_f64() - run_seconds;
        let judged = verdicts.into_iter().enumerate().map(|(k, verdict)| Judged {
            family: job.family,
            samples: job.samples,
            seed: job.seed,
            source: k + 1,
            finding: verdict.finding,
            correlation: likeness(separation.sources(), k, problem.sources.as_ref()),
            interference: verdict.interference,
            evidence: verdict.evidence,
            structure: verdict.structure,
            replication: verdict.replication,
            run_seconds,
            verdict_seconds,
        });
        Ok(judged.collect())
    }
}

/// The largest |correlation| of a found source with a true one.
fn likeness(found: MatRef<'_, f64>, k: usize, truth: MatRef<'_, f64>) -> f64 {
    let product = |x: MatRef<'_, f64>, i: usize, y: MatRef<'_, f64>, j: usize| {
        let n = x.nrows() as f64;
        let mean = |m: MatRef<'_, f64>, k: usize| m.col(k).iter().sum::<f64>() / n;
        let (mx, my) = (mean(x, i), mean(y, j));
        (0..x.nrows())
            .map(|t| (x[(t, i)] - mx) * (y[(t, j)] - my))
            .sum::<f64>()
    };
    let own = product(found, k, found, k);
    (0..truth.ncols())
        .map(|j| product(found, k, truth, j).abs() / (own * product(truth, j, truth, j)).sqrt())
        .fold(0.0, f64::max)
}
