//! The gradient of the whole objective against central finite differences, in f64, for every
//! parameter group.
//!
//! One `check` per boundary: it builds a run, takes the analytic gradient at a random point, and
//! differentiates J numerically in A, E, S or the bend, θ, η and every tensor of every branch
//! network.

mod common;

use common::scatter;
use faer::Mat;
use strt_classic::kernel::Beside;
use strt_kernels::Layout;
use strt_kernels::gradcheck::relative_error;
use strt_synth::{ProblemSpec, SourceKind};
use strtransformer::config::{
    Activation, Coordinates, Elimination, EnergyForm, EngineKind, Freedom, MixerKind, ScheduleKind,
    SeparationForm, Smoothness, UpdateRule,
};
use strtransformer::internals::Inspect;
use strtransformer::{Config, Recording, Trainer};

const TOLERANCE: f64 = 1e-6;
const STEP: f64 = 5e-5;

/// Smooth, correlated channels without any special structure.
fn recording(n_samples: usize, n_channels: usize, missing: &[usize]) -> Recording {
    let value = |t: usize, c: usize| {
        let (t, c) = (t as f64, c as f64);
        (0.37 * t + c).sin()
            + 0.6 * ((0.11 + 0.05 * c) * t * t / 10.0).cos()
            + 0.2 * (1.7 * t * (c + 1.0)).sin()
    };
    let mut y = Mat::from_fn(n_samples, n_channels, value);
    for &t in missing {
        y[(t, t % n_channels)] = f64::NAN;
    }
    Recording::from_mat(y).unwrap()
}

/// A tiny problem: 2 sources in 3 channels, two scales, one small layer.
fn tiny() -> Config {
    let mut config = Config::new(2);
    config.engine = EngineKind::Reference;
    config.threads = 1;
    config.branches.patch_sizes = vec![2, 3];
    config.branches.d_model = 4;
    config.branches.n_heads = 1;
    config.branches.n_layers = 1;
    config.branches.ffn_ratio = 1;
    config.branches.max_shift = 3;
    config.sources.unlock = Some(0.0);
    config.sources.hidden = 3;
    config.sources.freedom = Freedom::Full; // concerns the update, not the gradient
    config.mixer.hidden = vec![3];
    config.weights.kappa = Some(0.1);
    // Every term large enough to be seen beside the others.
    config.weights.observation_variance = Some(3.0);
    config.weights.structure = Some(2.0);
    config.weights.separation = Some(0.7);
    config.weights.smoothness = 0.5;
    config.weights.entropy = 0.8;
    config.weights.gap = 2.0;
    config.controller.gap_target = 1.5;
    config
}

/// Five-point differences of J when entry i of a group is moved through `shift`.
fn numerical(
    trainer: &mut Trainer,
    n: usize,
    mut shift: impl FnMut(&mut Trainer, usize, f64),
) -> Vec<f64> {
    (0..n)
        .map(|i| {
            let mut at = |offset: f64| {
                shift(trainer, i, offset);
                let total = trainer.evaluate_at(0).total;
                shift(trainer, i, -offset);
                total
            };
            (at(-2.0 * STEP) - 8.0 * at(-STEP) + 8.0 * at(STEP) - at(2.0 * STEP)) / (12.0 * STEP)
        })
        .collect()
}

fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols())
        .flat_map(|k| (0..matrix.nrows()).map(move |t| matrix[(t, k)]))
        .collect()
}

#[track_caller]
fn compare(what: &str, group: &str, analytic: &[f64], numeric: &[f64]) {
    // Gradients that vanish identically (a locked direction, a key bias) are judged in absolute
    // terms.
    let error = relative_error(analytic, numeric, 1e-3);
    assert!(
        error < TOLERANCE,
        "{what}: gradient of {group}: relative error {error:.2e}"
    );
}

/// Compares the gradient of every parameter with finite differences. An eliminated output layer is
/// not a parameter: moving it changes nothing, and its gradient is 0.
#[track_caller]
fn check(what: &str, config: &Config, recording: &Recording) {
    let mut trainer = Trainer::new(recording, config).unwrap();
    trainer.deepen();
    scatter(&mut trainer);
    trainer.evaluate_at(0);
    let gradient = trainer.gradient();
    let names = trainer.parameter_names();
    let left_out: Vec<&String> = names
        .iter()
        .filter(|name| gradient.get(name).is_none())
        .collect();
    // What is estimated on a block is right on average, see long.rs.
    let in_blocks = trainer.observations().is_none();
    assert!(
        left_out.is_empty() || in_blocks && left_out.iter().all(|name| name.starts_with("space.")),
        "{what}: no gradient of {left_out:?}"
    );
    for (name, analytic) in gradient.iter() {
        let analytic = analytic.to_owned();
        let mut value = trainer.parameter(name).expect("a parameter");
        let rows = value.nrows();
        let numeric = numerical(
            &mut trainer,
            analytic.nrows() * analytic.ncols(),
            |trainer, i, offset| {
                value[(i % rows, i / rows)] += offset;
                trainer.set_parameter(name, &value);
            },
        );
        compare_parameter(what, &trainer, name, &flat(&analytic), &numeric);
    }
}

/// The tensors of a network are compared one by one: each has a size of its own.
#[track_caller]
fn compare_parameter(what: &str, trainer: &Trainer, name: &str, analytic: &[f64], numeric: &[f64]) {
    let Some(branch) = name.strip_prefix("energy.network.") else {
        return compare(what, name, analytic, numeric);
    };
    let branches = trainer.transformer().engine().branches();
    let patch = branches.scale_of(branch.parse().expect("a number")).patch;
    for tensor in Layout::new(patch, &branches.network).tensors() {
        let (range, group) = (tensor.range.clone(), format!("{name} {}", tensor.name));
        compare(what, &group, &analytic[range.clone()], &numeric[range]);
    }
}

/// Every combination of the switches that change a formula outside the networks.
#[test]
fn every_combination_of_switches() {
    const PARTS: u32 = 4; // side by side
    std::thread::scope(|scope| {
        for part in 0..PARTS {
            scope.spawn(move || (part..384).step_by(PARTS as usize).for_each(check_switches));
        }
    });
}

const COORDINATES: [Coordinates; 3] =
    [Coordinates::Direct, Coordinates::Fiber, Coordinates::Neural];

/// The coordinates and one bit a switch.
fn check_switches(index: u32) {
    let (coordinates, bits) = (COORDINATES[index as usize % 3], index / 3);
    let on = |i: u32| bits >> i & 1 == 1;
    let mut config = tiny();
    config.sources.coordinates = Some(coordinates);
    config.sources.layers = 1 + bits.count_ones() as usize % 2;
    config.sources.standardize = on(0);
    config.mixer.decoder_standardization = on(1);
    config.mixer.elimination = if on(2) {
        Elimination::Gradient
    } else {
        Elimination::LeastSquares
    };
    config.mixer.kind = if on(3) {
        MixerKind::Mlp
    } else {
        MixerKind::Affine
    };
    config.weights.energy = if on(4) {
        EnergyForm::Raw
    } else {
        EnergyForm::Log
    };
    config.weights.separation_form = if on(5) {
        SeparationForm::Decorrelation
    } else {
        SeparationForm::LogDet
    };
    config.weights.smoothness_order = if on(6) {
        Smoothness::First
    } else {
        Smoothness::Second
    };
    let what = format!("{coordinates:?}, switches {bits:07b}");
    check(&what, &config, &recording(14, 3, &[]));
}

type Change = fn(&mut Config);

#[test]
fn awkward_shapes_of_the_networks() {
    let cases: [(&str, Change); 9] = [
        ("three heads, two layers, odd patches", |c| {
            c.branches.patch_sizes = vec![3, 5];
            c.branches.d_model = 6;
            c.branches.n_heads = 3;
            c.branches.n_layers = 2;
            c.branches.ffn_ratio = 3;
        }),
        ("one source", |c| c.n_sources = 1),
        ("one scale", |c| c.branches.patch_sizes = vec![5]),
        ("patches of one sample", |c| {
            c.branches.patch_sizes = vec![1]
        }),
        ("one patch masked", |c| c.branches.mask_ratio = 0.01),
        ("all patches masked", |c| c.branches.mask_ratio = 1.0),
        ("causal, overlapping patches", |c| {
            c.branches.causal = true;
            c.branches.stride_ratio = 0.4;
            c.branches.patch_sizes = vec![3, 5];
            c.branches.d_model = 4;
            c.branches.n_heads = 2;
        }),
        ("random crops", |c| c.branches.crop = 9),
        ("hidden patches without position", |c| {
            c.branches.mask_position = false
        }),
    ];
    for (what, change) in cases {
        let mut config = tiny();
        change(&mut config);
        check(what, &config, &recording(23, 3, &[]));
    }
}

/// Algorithm 1: every parameter moves by −ξ times its gradient, whatever the rates of Adam.
#[test]
fn a_step_along_the_gradient() {
    for coordinates in COORDINATES {
        let mut config = tiny();
        config.sources.coordinates = Some(coordinates);
        config.sources.unlock = Some(0.0);
        config.mixer.elimination = Elimination::Gradient;
        config.optimizer.rule = UpdateRule::Gradient;
        config.optimizer.rate = 0.125;
        config.optimizer.schedule.kind = ScheduleKind::Constant;
        let mut trainer = Trainer::new(&recording(24, 3, &[]), &config).unwrap();
        scatter(&mut trainer);
        trainer.evaluate_at(0);
        let before: Vec<(String, Mat<f64>)> = trainer
            .parameter_names()
            .into_iter()
            .map(|name| (name.clone(), trainer.parameter(&name).unwrap()))
            .collect();
        trainer.step_with_draws(|_| ());
        let gradient = trainer.gradient();
        for (name, before) in before {
            let d = gradient
                .get(&name)
                .unwrap_or_else(|| panic!("no gradient of {name}"));
            let expected = Mat::from_fn(before.nrows(), before.ncols(), |i, j| {
                before[(i, j)] - 0.125 * d[(i, j)]
            });
            let off = (trainer.parameter(&name).unwrap() - expected).norm_max();
            assert!(off < 1e-14, "{coordinates:?}: {name} is off by {off:e}");
        }
    }
}

#[test]
fn just_long_enough() {
    let mut config = tiny();
    config.branches.patch_sizes = vec![2, 4];
    check(
        "two patches of the longest scale",
        &config,
        &recording(8, 3, &[]),
    );
}

#[test]
fn missing_samples() {
    for coordinates in COORDINATES {
        for elimination in [Elimination::LeastSquares, Elimination::Gradient] {
            for (causal, kind) in [(false, MixerKind::Affine), (true, MixerKind::Mlp)] {
                let mut config = tiny();
                config.sources.coordinates = Some(coordinates);
                config.mixer.elimination = elimination;
                config.mixer.kind = kind;
                config.branches.causal = causal;
                check(
                    "missing samples",
                    &config,
                    &recording(24, 3, &[0, 7, 8, 15, 23]),
                );
            }
        }
    }
}

/// Innovations that are not Gaussian are judged too, those of independent samples and of coloured
/// ones.
#[test]
fn innovations() {
    let mut state = 1u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut spiky = || {
        let size = -(1.0 - uniform()).ln();
        size * size * if uniform() < 0.5 { -1.0 } else { 1.0 }
    };
    let mut sources = Mat::from_fn(200, 2, |_, _| spiky());
    for t in 1..200 {
        sources[(t, 1)] += 0.8 * sources[(t - 1, 1)];
    }
    let mixing = Mat::from_fn(2, 3, |i, j| [[1.0, 0.4, -0.3], [0.2, 0.9, 0.6]][i][j]);
    let recording = Recording::from_mat(&sources * &mixing).unwrap();
    let mut config = tiny();
    config.weights.kernel = Some(0.6);
    let trainer = Trainer::new(&recording, &config).unwrap();
    assert_eq!(trainer.judged_beside(), Beside::Innovations);
    check("innovations", &config, &recording);
    config.sources.coordinates = Some(Coordinates::Neural);
    check("innovations of neural sources", &config, &recording);
}

/// Forecasts that are not linear are judged too, also with gaps.
#[test]
fn forecasts() {
    let spec = ProblemSpec {
        kind: SourceKind::Henon,
        n_samples: 300,
        n_sources: 2,
        n_channels: 3,
        noise: 0.0,
        ..ProblemSpec::default()
    };
    let mut y = spec.generate().unwrap().observations;
    let mut config = tiny();
    config.weights.kernel = Some(0.6);
    for what in ["forecasts", "forecasts with gaps"] {
        let recording = Recording::from_mat(y.clone()).unwrap();
        let trainer = Trainer::new(&recording, &config).unwrap();
        assert_eq!(trainer.judged_beside(), Beside::Forecasts, "{what}");
        check(what, &config, &recording);
        y[(100, 1)] = f64::NAN;
    }
    config.sources.coordinates = Some(Coordinates::Neural);
    let recording = Recording::from_mat(y).unwrap();
    check("forecasts of neural sources", &config, &recording);
}

/// Heavy tails under a variance that changes are judged where the mixing is bent, by two layers,
/// also with gaps.
#[test]
fn values_with_heavy_tails() {
    let spec = ProblemSpec {
        kind: SourceKind::SegmentLaplace,
        n_samples: 400,
        n_sources: 2,
        n_channels: 3,
        noise: 0.0,
        seed: 2,
        ..ProblemSpec::default()
    };
    let mut y = spec.generate().unwrap().observations;
    let mut config = tiny();
    config.mixer.kind = MixerKind::Mlp;
    config.sources.coordinates = Some(Coordinates::Neural);
    config.weights.kernel = Some(0.6);
    for what in ["values", "values with gaps"] {
        let recording = Recording::from_mat(y.clone()).unwrap();
        let trainer = Trainer::new(&recording, &config).unwrap();
        assert_eq!(trainer.judged_beside(), Beside::Values, "{what}");
        check(what, &config, &recording);
        y[(100, 1)] = f64::NAN;
    }
}

#[test]
fn pieces() {
    let recording = || {
        let gappy = recording(26, 3, &[9]);
        gappy.with_pieces(&[7, 1, 3, 9, 6]).unwrap()
    };
    for coordinates in COORDINATES {
        for (block, kind) in [
            (0, MixerKind::Affine),
            (0, MixerKind::Mlp),
            (10, MixerKind::Mlp),
        ] {
            let mut config = tiny();
            config.sources.coordinates = Some(coordinates);
            config.sources.layers = 3;
            config.mixer.kind = kind;
            (config.branches.crop, config.optimizer.block) = (9, block);
            check(&format!("pieces, blocks of {block}"), &config, &recording());
        }
    }
}

#[test]
fn recordings_in_blocks() {
    for bits in 0..128u32 {
        let on = |i: u32| bits >> i & 1 == 1;
        let mut config = tiny();
        if on(6) {
            config.sources.coordinates = Some(Coordinates::Neural);
            config.sources.layers = 1 + bits.count_ones() as usize % 2;
        }
        (config.branches.crop, config.optimizer.block) = (9, 8);
        config.sources.unlock = Some(if on(0) { 0.0 } else { 1.0 });
        config.sources.standardize = on(1);
        config.mixer.decoder_standardization = on(2);
        config.mixer.kind = if on(3) {
            MixerKind::Mlp
        } else {
            MixerKind::Affine
        };
        if on(4) {
            config.mixer.elimination = Elimination::Gradient;
        }
        let missing: &[usize] = if on(5) { &[3, 12, 13] } else { &[] };
        check(
            &format!("blocks, switches {bits:07b}"),
            &config,
            &recording(25, 3, missing),
        );
    }
}

#[test]
fn every_mixer_form() {
    for activation in [Activation::Tanh, Activation::Gelu, Activation::LeakyRelu] {
        for hidden in [vec![1], vec![4, 3], vec![2, 5, 3]] {
            for (skip, elimination) in [
                (true, Elimination::LeastSquares),
                (false, Elimination::Gradient),
            ] {
                let mut config = tiny();
                config.mixer.kind = MixerKind::Mlp;
                (config.mixer.activation, config.mixer.hidden) = (activation, hidden.clone());
                (config.mixer.skip, config.mixer.elimination) = (skip, elimination);
                check(
                    &format!("{activation:?} {hidden:?} skip {skip}"),
                    &config,
                    &recording(16, 4, &[]),
                );
            }
        }
    }
}

#[test]
fn a_term_with_weight_zero_is_not_there() {
    let cases: [(&str, Change); 6] = [
        ("reconstruction", |c| {
            c.weights.observation_variance = Some(f64::INFINITY)
        }),
        ("structure", |c| c.weights.structure = Some(0.0)),
        ("separation", |c| c.weights.separation = Some(0.0)),
        ("smoothness", |c| c.weights.smoothness = 0.0),
        ("entropy", |c| c.weights.entropy = 0.0),
        ("gap", |c| c.weights.gap = 0.0),
    ];
    let recording = recording(20, 3, &[]);
    for (what, remove) in cases {
        let mut config = tiny();
        remove(&mut config);
        check(what, &config, &recording);
        let terms = Trainer::new(&recording, &config).unwrap().evaluate_at(0);
        let value = match what {
            "reconstruction" => terms.reconstruction,
            "structure" => terms.structure,
            "separation" => terms.separation,
            "smoothness" => terms.smoothness,
            "entropy" => terms.entropy,
            _ => terms.gap,
        };
        assert_eq!(value, 0.0, "{what} was computed although its weight is 0");
    }
}
