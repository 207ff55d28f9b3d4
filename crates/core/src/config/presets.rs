//! Where a configuration starts: the presets, as differences from the defaults of the table.

use super::{
    AssignmentRule, Config, Coordinates, Elimination, EnergyForm, Freedom, Init, MixerKind, Preset,
    ScheduleKind, SeparationForm, Setting, UpdateRule, settings,
};

impl Preset {
    /// Its configuration for K sources.
    pub fn config(self, n_sources: usize) -> Config {
        match self {
            Preset::Default => Config::new(n_sources),
            Preset::Fast => Config::fast(n_sources),
            Preset::Paper => Config::paper(n_sources),
        }
    }

    /// The settings in which it differs from the defaults, with their values as a user types them.
    pub fn differences(self) -> Vec<(&'static Setting, String)> {
        let (config, default) = (self.config(0), Config::default());
        let differs = |setting: &'static Setting| {
            let value = setting.value(&config)?;
            (Some(&value) != setting.value(&default).as_ref()).then_some((setting, value))
        };
        settings().filter_map(differs).collect()
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

    /// The preset `fast`: the sources where the kernel energy alone is least, found directly by a
    /// quasi-Newton method from several starts. No networks, no training steps.
    pub fn fast(n_sources: usize) -> Config {
        let mut config = Config::new(n_sources);
        config.sources.init = Some(Init::Fast);
        config.weights.kernel = Some(1.0);
        config.optimizer.steps = Some(0);
        config
    }

    /// The preset `paper`: objective and Algorithm 1 as printed. Free S fed raw to mixer and
    /// branches, the energy ℓ itself, ‖C−I‖², a mixer trained by gradient, a fixed patch grid,
    /// fixed signs and positions, a mask token in place of the whole token, no assignment moves,
    /// steps along the gradient with one constant rate.
    ///
    /// What the paper leaves open, sizes, weights, rates and the first S among it, is chosen here;
    /// `docs/paper.md` lists every such choice.
    pub fn paper(n_sources: usize) -> Config {
        let mut config = Config::new(n_sources);
        config.mixer.decoder_standardization = false;
        config.mixer.elimination = Elimination::Gradient;
        config.sources.coordinates = Some(Coordinates::Direct);
        config.sources.standardize = false;
        config.sources.init = Some(Init::Pca);
        config.sources.freedom = Freedom::Full;
        config.branches.patch_sizes = vec![4, 8, 16, 32, 64];
        config.branches.random_start = false;
        config.branches.random_sign = false;
        config.branches.max_shift = 0;
        config.branches.mask_position = false;
        config.branches.crop = 0;
        config.controller.slope_min = 0.02;
        config.controller.weight_floor = 0.0;
        config.weights.energy = EnergyForm::Raw;
        config.weights.separation_form = SeparationForm::Decorrelation;
        config.optimizer.rule = UpdateRule::Gradient;
        config.optimizer.schedule.kind = ScheduleKind::Constant;
        config.optimizer.early_stopping.enabled = false;
        config.assignment.rule = AssignmentRule::None;
        config
    }
}
