//! What settings need from each other. A relation gives what was expected where it does not hold;
//! the table says which setting is then named.

use super::{Config, EnergyForm, EngineKind, MixerKind};
use strt_kernels::cpu::MAX_D_HEAD;

/// `mixer.hidden`: an MLP has a hidden layer.
pub(super) fn hidden_layers(config: &Config) -> Option<String> {
    let missing = config.mixer.kind == MixerKind::Mlp && config.mixer.hidden.is_empty();
    missing.then(|| "expected at least one hidden layer, such as [32]".into())
}

/// `branches.patch_sizes`: each is longer than the one before.
pub(super) fn ascending(config: &Config) -> Option<String> {
    let sizes = &config.branches.patch_sizes;
    let ascending = !sizes.is_empty() && sizes.windows(2).all(|pair| pair[0] < pair[1]);
    (!ascending).then(|| "expected ascending sizes, such as [4, 8, 16]".into())
}

/// `branches.d_model`: heads of one width share it, and the fast engine has room for them.
pub(super) fn heads(config: &Config) -> Option<String> {
    let (width, heads) = (config.branches.d_model, config.branches.n_heads);
    let fits = width >= 2 && width.is_multiple_of(2) && width.is_multiple_of(heads);
    if !fits {
        return Some(format!("expected an even multiple of n_heads = {heads}"));
    }
    let wide = config.engine == EngineKind::Cpu && width / heads > MAX_D_HEAD;
    wide.then(|| {
        format!("expected at most {MAX_D_HEAD} per head of the cpu engine; use more heads")
    })
}

/// `controller.slope_max`: attention is most local at the shortest scale.
pub(super) fn slopes(config: &Config) -> Option<String> {
    let (least, most) = (config.controller.slope_min, config.controller.slope_max);
    (most <= least).then(|| format!("expected a number above slope_min = {least}"))
}

/// `weights.energy_block`: only a logarithm differs when it is taken block by block.
pub(super) fn blocks_of_the_logarithm(config: &Config) -> Option<String> {
    let weights = &config.weights;
    let idle = weights.energy == EnergyForm::Raw && weights.energy_block.is_some_and(|n| n > 0);
    idle.then(|| {
        "only the energy \"log\" is taken over blocks: set it to 0, or weights.energy to \"log\""
            .into()
    })
}
