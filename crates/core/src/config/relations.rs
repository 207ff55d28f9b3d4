//! What settings need from each other. A relation says what is wrong where it does not hold; the
//! table says which setting is then named.

use super::{Config, EnergyForm, EngineKind, Init, MixerKind, Reason};
use strt_kernels::cpu::MAX_D_HEAD;

/// `mixer.hidden`: an MLP has a hidden layer.
pub(super) fn hidden_layers(config: &Config) -> Option<Reason> {
    let missing = config.mixer.kind == MixerKind::Mlp && config.mixer.hidden.is_empty();
    missing.then_some(Reason::NoHiddenLayer)
}

/// `branches.patch_sizes`: each is longer than the one before.
pub(super) fn ascending(config: &Config) -> Option<Reason> {
    let sizes = &config.branches.patch_sizes;
    let ascending = !sizes.is_empty() && sizes.windows(2).all(|pair| pair[0] < pair[1]);
    (!ascending).then_some(Reason::NotAscending)
}

/// `branches.d_model`: heads of one width share it, and the fast engine has memory for each.
pub(super) fn heads(config: &Config) -> Option<Reason> {
    let (width, n_heads) = (config.branches.d_model, config.branches.n_heads);
    let even = width >= 2 && width.is_multiple_of(2) && width.is_multiple_of(n_heads);
    if !even {
        return Some(Reason::UnevenHeads { n_heads });
    }
    let wide = config.engine == EngineKind::Cpu && width / n_heads > MAX_D_HEAD;
    wide.then_some(Reason::WideHeads)
}

/// `controller.slope_max`: attention is most local at the shortest scale.
pub(super) fn slopes(config: &Config) -> Option<Reason> {
    let (slope_min, slope_max) = (config.controller.slope_min, config.controller.slope_max);
    (slope_max <= slope_min).then_some(Reason::SlopesCross { slope_min })
}

/// `weights.energy_block`: only a logarithm differs when it is taken block by block.
pub(super) fn blocks_of_the_logarithm(config: &Config) -> Option<Reason> {
    let weights = &config.weights;
    let idle = weights.energy == EnergyForm::Raw && weights.energy_block.is_some_and(|n| n > 0);
    idle.then_some(Reason::BlocksOfRawEnergy)
}

/// `optimizer.steps`: without steps only what starts well is a result.
pub(super) fn no_steps(config: &Config) -> Option<Reason> {
    let idle = config.optimizer.steps == Some(0);
    let nonlinear = config.mixer.kind != MixerKind::Affine;
    let direct = config.weights.kernel == Some(1.0) && config.sources.init == Some(Init::Fast);
    (idle && (nonlinear || !direct)).then_some(Reason::NoSteps)
}
