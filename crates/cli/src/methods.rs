//! Separation methods by name: StrTransformer under its presets, and the classical ones of the
//! library.
//!
//! In: a recording and a [`Task`]. Out: [`Found`], the same for every method, so that they can be
//! compared.

use crate::failure::Outcome;
use crate::settings::{Preset, Settings};
use faer::Mat;
use std::fmt;
use std::time::Instant;
use strt_classic::{Baseline, Method};
use strtransformer::{Recording, separate};

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
    /// K.
    pub n_sources: usize,
    /// The configuration of StrTransformer; the classical methods have none.
    pub settings: Settings,
    /// Which start, for methods in which chance plays a part: added to the seed.
    pub start: u64,
}

/// What a method found.
pub struct Found {
    /// T×K.
    pub sources: Mat<f64>,
    /// The sources without the noise of the channels (T×K), where the method has them.
    pub denoised: Option<Mat<f64>>,
    /// m×K, where the method has one.
    pub mixing: Option<Mat<f64>>,
    /// Whether it stopped before its limit of steps.
    pub converged: bool,
    /// Time that it took, denoising not counted.
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

    /// What `--methods` is for, with every name.
    pub fn help() -> String {
        let names: Vec<String> = MethodName::all().iter().map(ToString::to_string).collect();
        format!("Methods: {} [default: all but paper]", names.join(", "))
    }

    /// Those that were asked for, or all but `paper`, which is there for the record.
    pub fn chosen(asked: &[MethodName]) -> Vec<MethodName> {
        if !asked.is_empty() {
            return asked.to_vec();
        }
        let all = MethodName::all().into_iter();
        all.filter(|method| *method != MethodName::Paper).collect()
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
        match self {
            MethodName::Classical(name) => {
                let found = Baseline::parse(name)?.separate(recording, task.n_sources)?;
                Ok(Found {
                    seconds: began.elapsed().as_secs_f64(),
                    sources: found.sources().to_owned(),
                    denoised: None,
                    mixing: Some(found.mixing().to_owned()),
                    converged: found.convergence().converged,
                })
            }
            MethodName::Default | MethodName::Paper => {
                let mut settings = task.settings.clone();
                if self == MethodName::Paper {
                    settings.preset = Preset::Paper;
                }
                let mut config = settings.resolve(Some(task.n_sources))?;
                config.seed = config.seed.wrapping_add(task.start);
                let found = separate(recording, &config)?;
                let seconds = began.elapsed().as_secs_f64();
                let denoised = found.denoise(recording).ok();
                Ok(Found {
                    seconds,
                    sources: found.sources().to_owned(),
                    denoised: denoised.map(|denoised| denoised.sources().to_owned()),
                    mixing: found.mixing().map(|(mixing, _)| mixing),
                    converged: found.converged(),
                })
            }
        }
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
