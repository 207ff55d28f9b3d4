//! What an energy has learned ↔ tensors of a file.
//!
//! The branch networks are flat vectors `energy.network.N`, branch k·R + r, in the order of
//! [`strt_kernels::Layout`]; an energy of the caller's own has tensors of its own under `energy.`.
//! Sizes come from the configuration, which may come from a damaged file: they are bounded before
//! anything is allocated by them.

use crate::error::Result;
use crate::tensors::{Decoder, Encoder, Numbers};
use strt_kernels::Layout;
use strtransformer::Config;
use strtransformer::tensors::Tensors;

/// Layouts of the R scales, or `None` when the networks could not fit into `n_values` numbers.
fn layouts(config: &Config, n_values: usize) -> Option<Vec<Layout>> {
    let branches = &config.branches;
    let (d, scales) = (branches.d_model, branches.patch_sizes.len());
    // Every product is the size of something that must be there: some matrix, or all branches.
    let bounds = [
        d.checked_mul(d)?
            .checked_mul(branches.n_layers)?
            .checked_mul(4)?,
        d.checked_mul(d)?
            .checked_mul(branches.ffn_ratio)?
            .checked_mul(2)?,
        branches
            .patch_sizes
            .last()?
            .checked_mul(d)?
            .checked_mul(2)?,
        config.n_sources.checked_mul(scales)?.checked_mul(d)?,
    ];
    let network = branches.network();
    bounds.iter().all(|&bound| bound <= n_values).then(|| {
        let layout = |&patch| Layout::new(patch, &network);
        branches.patch_sizes.iter().map(layout).collect()
    })
}

/// Name of the branch networks, before their number.
const BRANCHES: &str = "energy.network.";

/// Refuses a file with branch networks that cannot hold those that its configuration describes:
/// whoever makes them would allocate by sizes that nothing vouches for.
pub(crate) fn check_size(input: &Decoder<'_>, config: &Config) -> Result<()> {
    if input
        .names_with_prefix("")
        .iter()
        .any(|name| name.contains(BRANCHES))
    {
        bounded_layouts(input, config)?;
    }
    Ok(())
}

fn bounded_layouts(input: &Decoder<'_>, config: &Config) -> Result<Vec<Layout>> {
    let n_values = input.n_values();
    layouts(config, n_values).ok_or_else(|| {
        input.content(
            "tensors `energy.*`",
            "the networks that the configuration describes",
            format!("{n_values} numbers in the whole file, which cannot hold them"),
        )
    })
}

/// Adds all tensors of an energy.
pub(crate) fn encode(out: &mut Encoder, networks: &Tensors) {
    for (name, value) in networks.iter() {
        out.matrix(name, value);
    }
}

/// Reads all tensors of an energy; the branch networks must have the sizes of the configuration.
pub(crate) fn decode(
    input: &mut Decoder<'_>,
    config: &Config,
    numbers: Numbers,
) -> Result<Tensors> {
    let mut networks = Tensors::default();
    let names = input.names_with_prefix("energy.");
    if names.iter().any(|name| name.starts_with(BRANCHES)) {
        let layouts = bounded_layouts(input, config)?;
        for b in 0..config.n_sources * layouts.len() {
            let (name, len) = (format!("{BRANCHES}{b}"), layouts[b % layouts.len()].len());
            networks.put(&name, input.matrix(&name, len, 1, numbers)?);
        }
    } else {
        for name in names {
            networks.put(&name, input.any_matrix(&name, numbers)?);
        }
    }
    Ok(networks)
}
