//! Small problems shared by the integration tests. Every setting that matters to a test is set here
//! or in the test, never left to a default that may be tuned later.
#![allow(dead_code)]

use faer::Mat;
use strt_synth::{MixingKind, Problem, ProblemSpec, SourceKind};
use strtransformer::config::{
    AssignmentRule, Coordinates, EarlyStopping, Freedom, MixerKind, ScheduleKind,
};
use strtransformer::internals::Inspect;
use strtransformer::{Config, Recording, Trainer};

pub const STEPS: usize = 24;

/// Three AR(1) processes in four channels.
pub fn problem(n_samples: usize, mixing: MixingKind) -> Problem {
    ProblemSpec {
        kind: SourceKind::Ar,
        mixing,
        n_samples,
        n_sources: 3,
        n_channels: 4,
        noise: 0.02,
        seed: 5,
    }
    .generate()
    .unwrap()
}

pub fn recording(n_samples: usize) -> Recording {
    problem(n_samples, MixingKind::Linear).recording().unwrap()
}

/// That recording with a gap, single missing values and a missing last sample.
pub fn with_gaps(n_samples: usize) -> Recording {
    let complete = recording(n_samples);
    let gone =
        |t: usize, c: usize| (60..75).contains(&t) || t + 1 == n_samples || (t == 20 && c == 1);
    let y = complete.observations();
    Recording::from_mat(Mat::from_fn(n_samples, y.ncols(), |t, c| {
        if gone(t, c) { f64::NAN } else { y[(t, c)] }
    }))
    .unwrap()
}

/// The recording with gaps, in pieces of many lengths, one of a single sample.
pub fn in_pieces(n_samples: usize) -> Recording {
    let lengths = [45, 8, 99, 1, 34];
    let rest = n_samples - lengths.iter().sum::<usize>();
    let lengths: Vec<usize> = lengths.into_iter().chain([rest]).collect();
    with_gaps(n_samples).with_pieces(&lengths).unwrap()
}

/// Cuts a preset down to a size at which a step takes about a millisecond.
fn shrink(mut config: Config) -> Config {
    config.threads = 1;
    config.branches.patch_sizes = vec![4, 8, 16];
    config.branches.d_model = 8;
    config.branches.n_heads = 2;
    config.branches.n_layers = 1;
    config.mixer.hidden = vec![6];
    config.optimizer.steps = Some(STEPS);
    config.optimizer.early_stopping.enabled = false;
    config.optimizer.early_stopping.patience = 100 * STEPS; // what is judged is remembered
    if config.optimizer.schedule.kind == ScheduleKind::Settle {
        config.optimizer.schedule.kind = ScheduleKind::Cosine; // stages at steps known in advance
    }
    config
}

/// Affine mixer, fiber coordinates that stay locked, moves between branches in the first steps.
pub fn affine() -> Config {
    let mut config = shrink(Config::new(3));
    config.mixer.kind = MixerKind::Affine;
    config.sources.coordinates = Some(Coordinates::Fiber);
    config.sources.unlock = Some(1.0);
    config.assignment.rule = AssignmentRule::CorrelationTime;
    config.assignment.at = vec![3, 6, 12];
    config
}

/// MLP mixer; E becomes free at step 8, between two moves.
pub fn nonlinear() -> Config {
    let mut config = shrink(Config::nonlinear(3));
    config.restarts = Some(1);
    config.sources.coordinates = Some(Coordinates::Fiber);
    config.sources.unlock = Some(8.5 / STEPS as f64);
    config.sources.freedom = Freedom::Full; // in so few steps nothing is predicted yet
    config.assignment.rule = AssignmentRule::CorrelationTime;
    config.assignment.at = vec![3, 6, 12];
    config
}

/// A nonlinear run with sources that are a map of the channels, bent from step 8 on.
pub fn neural() -> Config {
    let mut config = nonlinear();
    config.sources.coordinates = Some(Coordinates::Neural);
    config.sources.hidden = 5;
    config.weights.energy_block = Some(20);
    config
}

/// A nonlinear run that ends by itself: an affine stage, then one that bends what it has found,
/// each at all rates of the schedule, judged every other step.
pub fn settling() -> Config {
    let mut config = neural();
    config.optimizer.schedule.kind = ScheduleKind::Settle;
    config.optimizer.early_stopping = EarlyStopping {
        enabled: true,
        least: 4,
        patience: 2,
        tolerance: 1e9, // always at rest
    };
    config
}

/// Algorithm 1 as printed.
pub fn paper() -> Config {
    shrink(Config::paper(3))
}

fn shake(matrix: &mut Mat<f64>, size: f64, noise: &mut impl FnMut() -> f64) {
    for k in 0..matrix.ncols() {
        for t in 0..matrix.nrows() {
            matrix[(t, k)] += size * noise();
        }
    }
}

/// Moves every parameter off its special starting value (unit gains, zero biases, E = 0, equal
/// gaps).
pub fn scatter(trainer: &mut Trainer) {
    let mut state = 1u64;
    let mut noise = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    for name in trainer.parameter_names() {
        let size = match &name[..] {
            "space.s" => 0.6,
            "space.a" | "space.e" => 0.5,
            "space.bend" | "space.bend.2" => 0.8,
            "mixer" => 0.2,
            "controller.raw_gaps" => 1.0,
            _ => 0.4, // networks
        };
        let mut value = trainer.parameter(&name).expect("a parameter");
        shake(&mut value, size, &mut noise);
        trainer.set_parameter(&name, &value);
    }
}
