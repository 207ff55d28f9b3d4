//! Separation methods by name: StrTransformer under its presets, and the classical ones of the
//! library.
//!
//! In: a recording and a [`Task`]. Out: [`Found`], the same for every method, so that they can be
//! compared.

use crate::failure::{Failure, Outcome};
use faer::Mat;
use std::fmt;
use std::time::Instant;
use strt_classic::{Baseline, Method};
use strt_io::{Layer, overlay_all};
use strtransformer::config::MixerKind;
use strtransformer::{Config, Recording, separate};

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodName {
    /// StrTransformer, default preset.
    Default,
    /// StrTransformer, preset `paper`.
    Paper,
    /// One of [`Baseline::NAMES`].
    Classical(&'static str),
}

/// What a method is asked to do.
pub struct Task {
    pub n_sources: usize,
    /// Whether StrTransformer takes its nonlinear mixer; the classical methods are linear.
    pub nonlinear: bool,
    pub seed: u64,
    /// Steps of StrTransformer, where not its default.
    pub steps: Option<usize>,
    /// Further settings of StrTransformer, as `section.key=value`.
    pub assignments: Vec<String>,
    pub threads: usize,
}

/// What a method found.
pub struct Found {
    /// T×K.
    pub sources: Mat<f64>,
    /// m×K, where the method has one.
    pub mixing: Option<Mat<f64>>,
    pub converged: bool,
    pub seconds: f64,
}

impl MethodName {
    /// Every method.
    pub fn all() -> Vec<MethodName> {
        let classical = Baseline::NAMES.map(MethodName::Classical);
        [MethodName::Default, MethodName::Paper]
            .into_iter()
            .chain(classical)
            .collect()
    }

    /// Those that were asked for, or all but `paper`, which is there for the record.
    pub fn chosen(asked: &[MethodName]) -> Vec<MethodName> {
        match asked.is_empty() {
            true => {
                let all = MethodName::all().into_iter();
                all.filter(|method| *method != MethodName::Paper).collect()
            }
            false => asked.to_vec(),
        }
    }

    /// The method of this name.
    pub fn parse(text: &str) -> std::result::Result<MethodName, String> {
        let all = MethodName::all();
        let found = all.iter().find(|method| method.to_string() == text);
        found.copied().ok_or_else(|| {
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            format!("expected one of {}", names.join(", "))
        })
    }

    /// Whether chance plays a part.
    pub fn is_random(self) -> bool {
        matches!(self, MethodName::Default | MethodName::Paper)
    }

    /// Runs the method.
    pub fn run(self, recording: &Recording, task: &Task) -> Outcome<Found> {
        let began = Instant::now();
        let (sources, mixing, converged) = match self {
            MethodName::Classical(name) => {
                let found = Baseline::parse(name)?.separate(recording, task.n_sources)?;
                (
                    found.sources().to_owned(),
                    Some(found.mixing().to_owned()),
                    found.convergence().converged,
                )
            }
            MethodName::Default | MethodName::Paper => {
                let mut config = match self {
                    MethodName::Paper => Config::paper(task.n_sources),
                    _ => Config::new(task.n_sources),
                };
                if task.nonlinear {
                    config.mixer.kind = MixerKind::Mlp;
                }
                (config.seed, config.threads, config.optimizer.steps) =
                    (task.seed, task.threads, task.steps);
                let layers: Vec<Layer<'_>> = task
                    .assignments
                    .iter()
                    .map(|text| Layer::Assignment(text))
                    .collect();
                let config = overlay_all(&config, &layers)
                    .map_err(|blamed| Failure::Usage(format!("--set {}", blamed.1)))?;
                let found = separate(recording, &config)?;
                (
                    found.sources().to_owned(),
                    found.mixing().map(|(mixing, _)| mixing),
                    found.converged(),
                )
            }
        };
        Ok(Found {
            sources,
            mixing,
            converged,
            seconds: began.elapsed().as_secs_f64(),
        })
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            MethodName::Default => "strt",
            MethodName::Paper => "paper",
            MethodName::Classical(name) => name,
        })
    }
}
