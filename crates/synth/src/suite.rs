//! The problem suites on which figures are compared.
//!
//! In: seeds. Out: specifications, in a fixed order. It generates nothing.

use super::{MixingKind, ProblemSpec, SourceKind};

const LINEAR_NOISE: f64 = 0.02;
const NONLINEAR_NOISE: f64 = 0.01;

/// Five source kinds × the given seeds, linear mixing, T = 1000, K = 3, m = 6, noise 0.02.
pub fn linear_suite(seeds: &[u64]) -> Vec<ProblemSpec> {
    let kinds = [
        SourceKind::Gp,
        SourceKind::GpClose,
        SourceKind::Sines,
        SourceKind::Ar,
        SourceKind::NonSmooth,
    ];
    suite(&kinds, &[MixingKind::Linear], LINEAR_NOISE, seeds)
}

/// Four source kinds × three nonlinear mixings × the given seeds, T = 1000, K = 3, m = 6, noise
/// 0.01.
pub fn nonlinear_suite(seeds: &[u64]) -> Vec<ProblemSpec> {
    let kinds = [
        SourceKind::Gp,
        SourceKind::GpClose,
        SourceKind::Sines,
        SourceKind::Ar,
    ];
    let mixings = [MixingKind::Pnl, MixingKind::Mlp2, MixingKind::Mlp3];
    suite(&kinds, &mixings, NONLINEAR_NOISE, seeds)
}

fn suite(
    kinds: &[SourceKind],
    mixings: &[MixingKind],
    noise: f64,
    seeds: &[u64],
) -> Vec<ProblemSpec> {
    let mut specs = Vec::with_capacity(kinds.len() * mixings.len() * seeds.len());
    for &kind in kinds {
        for &mixing in mixings {
            for &seed in seeds {
                specs.push(ProblemSpec {
                    kind,
                    mixing,
                    n_samples: 1000,
                    n_sources: 3,
                    n_channels: 6,
                    noise,
                    seed,
                });
            }
        }
    }
    specs
}
