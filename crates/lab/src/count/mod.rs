//! `strt-lab count`: whether the estimated number of sources is right.
//!
//! In: families of problems with known sources, mixed into as many channels, two more and twice as
//! many, with noise. Out: how often the number is found exactly and within ±1, by structure in time
//! and by eigenvalues (mdl), and how often it is right where it is said to be sure. Markdown on
//! stdout, or one JSON object a problem. Problems run side by side with one thread each.

mod problems;
mod tables;

use clap::Args;
use problems::{Family, Problem};
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use strt_cli::failure::{Failure, Outcome};
use strt_cli::output;
use strtransformer::Recording;
use strtransformer::preprocess::{ChannelScalingOptions, CountMethod, SourceCount};

#[derive(Args)]
pub struct Count {
    /// Families of problems [default: all]; `list` prints them
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    families: Vec<String>,
    /// Lengths of the recordings in samples
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "1000,5000,20000"
    )]
    samples: Vec<usize>,
    /// Numbers of sources
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "2,3,5,8,12"
    )]
    sources: Vec<usize>,
    /// Standard deviations of the noise of the channels, which have 1 without it
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "0,0.05,0.1,0.2"
    )]
    noise: Vec<f64>,
    /// Noise of another strength in each channel: 0.3 to 2 times what `--noise` says
    #[arg(long)]
    uneven: bool,
    /// First seed of the problems
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Problems of each family, length, number of sources and channels, and noise
    #[arg(long, default_value_t = 1)]
    problems: u64,
    /// Folder of real recordings, whose sources are mixed and counted too
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Problems run side by side; 0 takes all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Print one JSON object a problem instead of Markdown
    #[arg(long)]
    json: bool,
}

/// One problem and what was counted.
#[derive(Clone, Debug, Serialize)]
struct Counted {
    family: &'static str,
    samples: usize,
    sources: usize,
    channels: usize,
    noise: f64,
    seed: u64,
    /// By structure in time.
    found: usize,
    /// By eigenvalues.
    mdl: usize,
    /// Share of the resampled recordings with the number that was found.
    share: f64,
    seconds: f64,
}

impl Count {
    pub fn run(self) -> Outcome {
        if self.families == ["list"] {
            Family::ALL
                .iter()
                .for_each(|f| output::print_line(f.name()));
            return Ok(());
        }
        let problems = self.all()?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| Failure::Failed(format!("threads: {error}")))?;
        let counted = pool.install(|| {
            let each = problems.par_iter().map(|problem| self.count(problem));
            each.collect::<Outcome<Vec<Counted>>>()
        })?;
        if self.json {
            for one in &counted {
                output::print_line(&serde_json::to_string(one)?);
            }
        } else {
            output::print_line(&tables::all(&counted));
        }
        Ok(())
    }

    /// Every problem that is asked for.
    fn all(&self) -> Outcome<Vec<Problem>> {
        let named = |name: &String| {
            Family::ALL
                .into_iter()
                .find(|family| family.name() == name)
                .ok_or_else(|| {
                    let known = Family::ALL.map(Family::name).join(", ");
                    Failure::Usage(format!(
                        "--families: expected some of {known}, found `{name}`"
                    ))
                })
        };
        let mut families: Vec<Family> = self.families.iter().map(named).collect::<Outcome<_>>()?;
        if families.is_empty() {
            families = Family::ALL.into();
        }
        let seeds = self.first_seed..self.first_seed + self.problems;
        let mut problems = Vec::new();
        for &family in &families {
            for &samples in &self.samples {
                for &sources in &self.sources {
                    problems.push(Problem::generated(family, samples, sources));
                }
            }
        }
        if let Some(data) = &self.data {
            problems.extend(Problem::recorded(data)?);
        }
        let spread = |problem: Problem| {
            let k = problem.sources;
            let mut channels = vec![k, k + 2, 2 * k];
            channels.dedup();
            let mut all = Vec::new();
            for &noise in &self.noise {
                for &channels in &channels {
                    all.extend(seeds.clone().map(|seed| Problem {
                        channels,
                        noise,
                        seed,
                        ..problem.clone()
                    }));
                }
            }
            all
        };
        Ok(problems.into_iter().flat_map(spread).collect())
    }

    fn count(&self, problem: &Problem) -> Outcome<Counted> {
        let recording = Recording::from_mat(problem.observations(self.uneven)?)?;
        let began = Instant::now();
        let options = ChannelScalingOptions::default();
        let count = SourceCount::estimate(&recording, options, CountMethod::Structure)?;
        let shares = count
            .structure
            .iter()
            .flat_map(|structure| &structure.shares);
        Ok(Counted {
            family: problem.family,
            samples: problem.samples,
            sources: problem.sources,
            channels: problem.channels,
            noise: problem.noise,
            seed: problem.seed,
            found: count.n_sources,
            mdl: count.description.n_sources,
            share: shares
                .filter(|share| share.n_sources == count.n_sources)
                .map(|share| share.share)
                .sum(),
            seconds: began.elapsed().as_secs_f64(),
        })
    }
}
