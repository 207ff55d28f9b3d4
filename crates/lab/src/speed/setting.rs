//! The problems that are timed: recordings and configurations.

use faer::Mat;
use strt_synth::{ProblemSpec, SourceKind};
use strtransformer::config::AssignmentRule;
use strtransformer::{Config, Recording};

/// More steps than any measurement takes, so that no run ends by itself.
const STEPS: usize = 1_000_000;

/// The network of the case study: five scales, d = 32, H = 4, L = 2, locality slopes from 1 to
/// 0.02.
///
/// Assignment moves, a handful in a run, are off. The sign of a source, which costs one
/// multiplication, is fixed so that a drawn step is described by what
/// [`strtransformer::internals::Draws`] shows.
pub fn config(n_sources: usize, threads: usize) -> Config {
    let mut config = Config::new(n_sources);
    config.threads = threads;
    config.branches.patch_sizes = vec![4, 8, 16, 32, 64];
    config.branches.random_sign = false;
    config.controller.slope_min = 0.02;
    config.optimizer.steps = Some(STEPS);
    config.assignment.rule = AssignmentRule::None;
    config
}

/// The case study with patches that overlap by half and slopes so small that attention is dense.
pub fn dense_config(n_sources: usize, threads: usize) -> Config {
    let mut config = config(n_sources, threads);
    config.branches.stride_ratio = 0.5;
    (config.controller.slope_max, config.controller.slope_min) = (0.021, 0.019);
    config
}

/// The recording of the case study: T = 1000, three smooth sources in six channels.
pub fn case_study() -> crate::Result<Recording> {
    let spec = ProblemSpec {
        kind: SourceKind::Gp,
        seed: 4,
        ..ProblemSpec::default()
    };
    Ok(spec.generate()?.recording()?)
}

/// A recording of any size, made without holding more than itself: AR(1) sources of different
/// correlation times, mixed linearly, with noise. Numbers are uniform from a small generator,
/// because only speed is measured on it.
pub fn autoregressive(
    n_samples: usize,
    n_channels: usize,
    n_sources: usize,
) -> strt_signal::Result<Recording> {
    let mut noise = Uniform(1);
    let mixing: Vec<f64> = (0..n_channels * n_sources).map(|_| noise.next()).collect();
    let poles: Vec<f64> = (0..n_sources)
        .map(|k| (-1.0 / (2.0 + 30.0 * k as f64 / n_sources as f64)).exp())
        .collect();
    let mut state = vec![0.0; n_sources];
    let mut observations = Mat::zeros(n_samples, n_channels);
    for t in 0..n_samples {
        for (s, pole) in state.iter_mut().zip(&poles) {
            *s = pole * *s + (1.0 - pole * pole).sqrt() * noise.next();
        }
        for c in 0..n_channels {
            let weights = &mixing[c * n_sources..(c + 1) * n_sources];
            let mixed: f64 = weights.iter().zip(&state).map(|(w, s)| w * s).sum();
            observations[(t, c)] = mixed + 0.02 * noise.next();
        }
    }
    Recording::from_mat(observations)
}

/// Uniform numbers of mean 0 and variance 1.
pub struct Uniform(pub u64);

impl Uniform {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        1.732 * ((self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    }
}
