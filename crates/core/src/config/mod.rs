//! The whole run as one serialisable value: [`Config`], plain data with one documented default per
//! field.
//!
//! A `Config` may hold anything; [`Config::check`] turns it, once, into a [`Plan`] that can run,
//! with every automatic value filled in for the recording at hand. Only a `Plan` can be trained.
//! Fields that are `Option` are automatic when absent; their doc comment says what is then chosen.
//!
//! Deliberately absent: file formats (any serde format will do) and anything that runs.

mod check;
mod sections;

pub use check::Plan;
pub use sections::{
    Activation, Assignment, AssignmentRule, Branches, Controller, Coordinates, EarlyStopping,
    Elimination, EnergyForm, EngineKind, Freedom, Init, MixerConfig, MixerKind, Optimizer,
    Preprocess, Rates, Schedule, SeparationForm, Smoothness, Sources, Weights,
};

use serde::{Deserialize, Serialize};

/// Everything that decides a run. The same configuration, recording and seed give the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of sources K to recover. Default 0, which the check refuses: it must be chosen.
    pub n_sources: usize,
    /// Every random choice comes from this seed. Default 0.
    pub seed: u64,
    /// Independent starts; the one with the lowest final smoothed objective is kept. Default 1.
    pub restarts: usize,
    /// Worker threads; 0 takes all cores. It never changes a result. Default 0.
    pub threads: usize,
    /// Which arithmetic evaluates the branches. Default `cpu`.
    pub engine: EngineKind,
    /// What is done to the channels first.
    pub preprocess: Preprocess,
    /// The observation mixer M_θ.
    pub mixer: MixerConfig,
    /// How the source matrix S is parametrised.
    pub sources: Sources,
    /// Patch scales, masks and the branch Transformers.
    pub branches: Branches,
    /// The ordered multi-scale controller.
    pub controller: Controller,
    /// Weights and forms of the objective's terms.
    pub weights: Weights,
    /// Adam, schedules, clipping, stopping.
    pub optimizer: Optimizer,
    /// Moves that carry a source to another branch.
    pub assignment: Assignment,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            n_sources: 0,
            seed: 0,
            restarts: 1,
            threads: 0,
            engine: EngineKind::Cpu,
            preprocess: Preprocess::default(),
            mixer: MixerConfig::default(),
            sources: Sources::default(),
            branches: Branches::default(),
            controller: Controller::default(),
            weights: Weights::default(),
            optimizer: Optimizer::default(),
            assignment: Assignment::default(),
        }
    }
}

impl Config {
    /// The default preset for K sources and an affine mixer.
    pub fn new(n_sources: usize) -> Config {
        Config {
            n_sources,
            ..Config::default()
        }
    }

    /// The default preset with a nonlinear mixer: an MLP whose last layer is eliminated, and
    /// sources that are a map of the channels, bent in a second stage.
    pub fn nonlinear(n_sources: usize) -> Config {
        let mut config = Config::new(n_sources);
        config.mixer.kind = MixerKind::Mlp;
        config
    }

    /// The preset `paper`: objective and Algorithm 1 as printed. Free S fed raw to mixer and
    /// branches, the energy ℓ itself, ‖C−I‖², a mixer trained by gradient, a fixed patch grid,
    /// fixed signs and positions, no assignment moves, constant rates.
    ///
    /// Where the paper leaves a choice: the update is Adam's with a rate per group (the paper
    /// prints one step along the gradient), channels are centered and scaled first, a hidden patch
    /// keeps its position (mask token + p_i), and the last layer is followed by a layer norm.
    pub fn paper(n_sources: usize) -> Config {
        let mut config = Config::new(n_sources);
        config.mixer.decoder_standardization = false;
        config.mixer.elimination = Elimination::Gradient;
        config.sources.coordinates = Some(Coordinates::Direct);
        config.sources.standardize = false;
        config.sources.init = Init::Pca;
        config.sources.freedom = Freedom::Full;
        config.branches.patch_sizes = vec![4, 8, 16, 32, 64];
        config.branches.random_start = false;
        config.branches.random_sign = false;
        config.branches.max_shift = 0;
        config.branches.crop = 0;
        config.controller.slope_min = 0.02;
        config.controller.weight_floor = 0.0;
        config.weights.energy = EnergyForm::Raw;
        config.weights.separation_form = SeparationForm::Decorrelation;
        config.optimizer.schedule = Schedule::Constant;
        config.assignment.rule = AssignmentRule::None;
        config
    }
}
