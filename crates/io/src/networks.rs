//! Flat network parameters ↔ one tensor per named weight,
//! `<prefix>.<k>.<r>.<name of strt_kernels::Layout>`.
//!
//! Used for the parameters (prefix `branches`) and for their moments (`adam.first.branches`, …).
//! Sizes come from the configuration, which may come from a damaged file: they are bounded before
//! anything is allocated by them.

use crate::error::Result;
use crate::tensors::{Decoder, Encoder, Numbers};
use strt_kernels::Layout;
use strtransformer::Config;

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

/// Adds the tensors of all networks; `networks[k·R + r]` is flat. A network whose length is not
/// that of its layout is left out, so that reading back says which tensor is missing.
pub(crate) fn encode<'a>(
    out: &mut Encoder,
    prefix: &str,
    config: &Config,
    networks: impl Iterator<Item = &'a [f64]> + Clone,
) {
    let n_values = networks.clone().map(<[f64]>::len).sum();
    let layouts = layouts(config, n_values).unwrap_or_default();
    for (b, values) in networks.enumerate() {
        let Some(layout) = layouts.get(b % layouts.len().max(1)) else {
            continue;
        };
        if values.len() != layout.len() {
            continue;
        }
        for tensor in layout.tensors() {
            let name = name(prefix, b, layouts.len(), &tensor.name);
            out.tensor(
                name,
                &tensor.shape,
                values[tensor.range.clone()].iter().copied(),
            );
        }
    }
}

/// Reads all networks, flat, branch k·R + r.
pub(crate) fn decode(
    input: &mut Decoder<'_>,
    prefix: &str,
    config: &Config,
    numbers: Numbers,
) -> Result<Vec<Vec<f64>>> {
    let n_values = input.n_values();
    let layouts = layouts(config, n_values).ok_or_else(|| {
        input.content(
            format!("tensors `{prefix}.*`"),
            "the networks that the configuration describes",
            format!("{n_values} numbers in the whole file, which cannot hold them"),
        )
    })?;
    (0..config.n_sources * layouts.len())
        .map(|b| {
            let layout = &layouts[b % layouts.len()];
            let mut values = Vec::with_capacity(layout.len().min(n_values));
            for tensor in layout.tensors() {
                let name = name(prefix, b, layouts.len(), &tensor.name);
                values.extend(input.tensor(&name, &tensor.shape, numbers)?);
            }
            Ok(values)
        })
        .collect()
}

fn name(prefix: &str, branch: usize, n_scales: usize, tensor: &str) -> String {
    format!(
        "{prefix}.{}.{}.{tensor}",
        branch / n_scales,
        branch % n_scales
    )
}
