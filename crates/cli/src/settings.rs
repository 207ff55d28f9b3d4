//! The configuration of a run from preset, file and arguments, in that order: the later one wins.

use crate::failure::{Failure, Outcome};
use crate::output::note;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use strt_io::{Layer, overlay_all};
use strtransformer::Config;
use strtransformer::config::MixerKind;

/// Where a configuration starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// What recovers sources best
    #[default]
    Default,
    /// The kernel energy alone, minimised directly: milliseconds; affine mixer only
    Fast,
    /// The algorithm of the paper as printed
    Paper,
}

impl Preset {
    /// Its configuration, without a number of sources.
    pub fn config(self) -> Config {
        match self {
            Preset::Default => Config::new(0),
            Preset::Fast => Config::fast(0),
            Preset::Paper => Config::paper(0),
        }
    }
}

/// The observation map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MixerName {
    /// A matrix and an offset
    Affine,
    /// A multilayer perceptron, for nonlinear mixing
    Mlp,
}

impl MixerName {
    fn kind(self) -> MixerKind {
        match self {
            MixerName::Affine => MixerKind::Affine,
            MixerName::Mlp => MixerKind::Mlp,
        }
    }
}

/// Arguments that change the configuration.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Configuration")]
pub struct Settings {
    /// Where the configuration starts
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    pub preset: Preset,
    /// How sources become channels [default: affine]
    #[arg(long, value_enum)]
    pub mixer: Option<MixerName>,
    /// A configuration file; what it does not name stays as the preset has it (see `strt config`)
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
    /// One value of the configuration, such as weights.smoothness=0.2; may be repeated
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    pub assignments: Vec<String>,
    /// Seed of every random choice [default: 0]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Training steps at most [default: 10000, or fewer when the sources have settled]
    #[arg(long)]
    pub steps: Option<usize>,
    /// Independent starts, of which the best is kept [default: 1; for --mixer mlp 4, or 2 where
    /// these find the same]
    #[arg(long)]
    pub restarts: Option<usize>,
    /// Worker threads; 0 takes all cores. The sources are the same for any number [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: Option<u16>,
}

impl Settings {
    /// The configuration for this many sources, or for as many as the configuration file says.
    pub fn resolve(&self, n_sources: Option<usize>) -> Outcome<Config> {
        let file = self.config.iter().map(|path| Layer::File(path));
        let assignments = self.assignments.iter().map(|text| Layer::Assignment(text));
        let layers: Vec<Layer<'_>> = file.chain(assignments).collect();
        let mut config =
            overlay_all(&self.preset.config(), &layers).map_err(|blamed| match *blamed {
                (Layer::File(_) | Layer::Text { .. }, error) => Failure::Failed(error.to_string()),
                (Layer::Assignment(_), error) => Failure::Usage(format!("--set {error}")),
            })?;
        self.warn_of_foreign_values(&config, n_sources);
        config.mixer.kind = self.mixer.map_or(config.mixer.kind, MixerName::kind);
        config.n_sources = n_sources.unwrap_or(config.n_sources);
        config.seed = self.seed.unwrap_or(config.seed);
        config.optimizer.steps = self.steps.or(config.optimizer.steps);
        config.restarts = self.restarts.or(config.restarts);
        config.threads = self.threads.map_or(config.threads, usize::from);
        if config.mixer.kind == MixerKind::Custom {
            return Err(Failure::Usage(
                "mixer.kind = custom: a mixer of your own needs the library; the program has \
                 affine and mlp"
                    .into(),
            ));
        }
        Ok(config)
    }

    /// A file with every value filled in, such as the `config.toml` of a run, was filled in for its
    /// own mixer and number of sources.
    fn warn_of_foreign_values(&self, config: &Config, n_sources: Option<usize>) {
        let other_mixer = self
            .mixer
            .is_some_and(|mixer| mixer.kind() != config.mixer.kind);
        let other_number = config.n_sources > 0 && n_sources.is_some_and(|n| n != config.n_sources);
        let filled_in = config.weights.structure.is_some() || config.mixer.ridge.is_some();
        if let (Some(path), true) = (&self.config, filled_in && (other_mixer || other_number)) {
            note(&format!(
                "warning: {}: its automatic values (mixer.ridge, sources.unlock, \
                 weights.structure, …) were chosen for another mixer or number of sources; remove \
                 these lines to have them chosen anew",
                path.display()
            ));
        }
    }
}
