//! The fast engine against the oracle: energies and every gradient, tensor by tensor, over awkward
//! shapes.

mod common;

use common::{Blocks, NETWORK, Problem, Recipe, STEP, blocks, read, scale};
use strt_kernels::cpu::{CpuEngine, SimdPath};
use strt_kernels::gradcheck::relative_error;
use strt_kernels::reference::ReferenceEngine;
use strt_kernels::{AdamStep, Buffer, Engine, Layout, NetworkShape, Outcome};

/// Largest relative error of a gradient tensor in single precision.
const TOLERANCE: f64 = 1e-4;

/// Runs `problem` on every instruction set of this machine and compares everything with the oracle.
/// Gradients that vanish by symmetry (the key bias, which softmax does not see) are judged against
/// `floor` × the whole gradient.
fn check(name: &str, problem: &Problem, tolerance: f64) {
    let mut oracle = problem.load(ReferenceEngine::new(problem.branches.clone()));
    let expected = problem.evaluate(&mut oracle);
    for path in SimdPath::ALL.into_iter().filter(|path| path.is_available()) {
        let mut engine = problem.load(CpuEngine::with_simd(problem.branches.clone(), path));
        let got = problem.evaluate(&mut engine);
        compare(
            &format!("{name} on {path:?}"),
            problem,
            &engine,
            &got,
            &oracle,
            &expected,
            tolerance,
        );
    }
}

fn compare(
    name: &str,
    problem: &Problem,
    engine: &CpuEngine,
    got: &[Outcome],
    oracle: &ReferenceEngine,
    expected: &[Outcome],
    tolerance: f64,
) {
    for (j, (got, expected)) in got.iter().zip(expected).enumerate() {
        let n_blocks = (got.errors.len(), expected.errors.len());
        assert_eq!(n_blocks.0, n_blocks.1, "{name}, job {j}: blocks");
        for (got, expected) in got.errors.iter().zip(&expected.errors) {
            assert_eq!(
                got.n_patches, expected.n_patches,
                "{name}, job {j}: {got:?}"
            );
            // What is squared is a difference of numbers of size 1: the rounding of these does not
            // become smaller with it.
            let [root, expected_root] = [got.error.sqrt(), expected.error.sqrt()];
            assert!(
                (root - expected_root).abs() < 0.05 * tolerance * expected_root.max(1.0),
                "{name}, job {j}: {got:?} for {expected:?}"
            );
        }
        let window = relative_error(&got.d_window, &expected.d_window, 1e-12);
        assert!(
            window < tolerance,
            "{name}, job {j}: d_window is off by {window:.2e}"
        );
        let slope = relative_error(
            &[got.d_slope],
            &[expected.d_slope],
            1e-2 * expected.energy(),
        );
        assert!(
            slope < tolerance,
            "{name}, job {j}: d_slope {:.3e} for {:.3e}, off by {slope:.2e}",
            got.d_slope,
            expected.d_slope
        );
    }
    for b in 0..problem.branches.n_branches() {
        let (got, expected) = (
            read(engine, Buffer::Gradient, b),
            read(oracle, Buffer::Gradient, b),
        );
        let whole = expected.iter().map(|g| g * g).sum::<f64>().sqrt();
        let layout = Layout::new(
            problem.branches.scale_of(b).patch,
            &problem.branches.network,
        );
        for tensor in layout.tensors() {
            let range = tensor.range.clone();
            let error = relative_error(&got[range.clone()], &expected[range], 1e-3 * whole);
            assert!(
                error < tolerance,
                "{name}, branch {b}: d_{} is off by {error:.2e}",
                tensor.name
            );
        }
    }
    let weights: Vec<f64> = (0..problem.branches.n_branches())
        .map(|b| 0.5 + b as f64)
        .collect();
    let norms = [
        engine.gradient_norm_squared(&weights),
        oracle.gradient_norm_squared(&weights),
    ];
    assert!(
        (norms[0] / norms[1] - 1.0).abs() < 2.0 * tolerance,
        "{name}: gradient norm {norms:?}"
    );
}

#[test]
fn target_shape() {
    let scales = vec![
        scale(4, 4, 249),
        scale(8, 8, 124),
        scale(16, 16, 61),
        scale(32, 32, 30),
        scale(64, 64, 14),
    ];
    let slopes = vec![0.37, 0.14, 0.05];
    check(
        "target",
        &Recipe {
            scales,
            slopes,
            max_shift: 64,
            ..Recipe::default()
        }
        .draw(),
        TOLERANCE,
    );
}

#[test]
fn awkward_numbers_of_patches() {
    for n in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 47, 65, 67, 130] {
        for mask in [0.0, 0.4, 1.1] {
            let recipe = Recipe {
                scales: vec![scale(3, 3, n)],
                mask,
                seed: n as u64,
                ..Recipe::default()
            };
            check(
                &format!("{n} patches, mask {mask}"),
                &recipe.draw(),
                TOLERANCE,
            );
        }
    }
}

/// More row blocks than a job has chunks, and more blocks of queries than attention has groups.
#[test]
fn long_windows() {
    for causal in [false, true] {
        let recipe = Recipe {
            network: NetworkShape { causal, ..NETWORK },
            scales: vec![scale(2, 2, 1100)],
            slopes: vec![0.1],
            ..Recipe::default()
        };
        check(
            &format!("1100 patches, causal {causal}"),
            &recipe.draw(),
            TOLERANCE,
        );
    }
}

#[test]
fn awkward_networks() {
    let shape = |d_model, n_heads, n_layers, ffn_ratio| NetworkShape {
        d_model,
        n_heads,
        n_layers,
        ffn_ratio,
        ..NETWORK
    };
    for network in [
        shape(2, 1, 1, 1),
        shape(2, 2, 2, 3),
        shape(4, 1, 2, 2),
        shape(6, 3, 2, 1),
        shape(6, 1, 3, 3),
        shape(10, 5, 1, 2),
        shape(14, 2, 2, 1),
        shape(16, 2, 1, 2),
        shape(16, 4, 2, 2),
        shape(18, 3, 2, 1),
        shape(24, 3, 3, 1),
        shape(32, 1, 2, 2),
        shape(34, 2, 1, 1),
        shape(40, 5, 2, 4),
        shape(64, 4, 1, 2),
    ] {
        for n in [5, 21, 40] {
            let recipe = Recipe {
                network,
                scales: vec![scale(5, 5, n)],
                seed: n as u64,
                ..Recipe::default()
            };
            // With d = 2 a norm leaves nothing but a sign: gradients through it are differences of
            // equal numbers.
            let tolerance = if network.d_model == 2 {
                10.0 * TOLERANCE
            } else {
                TOLERANCE
            };
            check(
                &format!("{network:?}, {n} patches"),
                &recipe.draw(),
                tolerance,
            );
        }
    }
}

#[test]
fn awkward_patches() {
    for (patch, stride) in [
        (1, 1),
        (2, 1),
        (5, 2),
        (5, 5),
        (7, 3),
        (16, 8),
        (17, 17),
        (33, 11),
        (64, 32),
        (100, 50),
    ] {
        let recipe = Recipe {
            scales: vec![scale(patch, stride, 19)],
            ..Recipe::default()
        };
        check(
            &format!("patch {patch}, stride {stride}"),
            &recipe.draw(),
            TOLERANCE,
        );
    }
}

#[test]
fn several_sources_and_scales() {
    for max_shift in [0, 7] {
        let recipe = Recipe {
            scales: vec![scale(4, 2, 30), scale(9, 9, 11), scale(2, 2, 3)],
            slopes: vec![0.9, 0.2, 0.01, 2.0],
            max_shift,
            ..Recipe::default()
        };
        check(&format!("shift {max_shift}"), &recipe.draw(), TOLERANCE);
    }
}

#[test]
fn invalid_tokens_and_causal_order() {
    for causal in [false, true] {
        for invalid in [0.0, 0.3, 0.8] {
            for (n, slope) in [(3, 0.3), (20, 0.3), (37, 0.02), (101, 2.0)] {
                let recipe = Recipe {
                    network: NetworkShape { causal, ..NETWORK },
                    scales: vec![scale(4, 4, n)],
                    slopes: vec![slope],
                    invalid,
                    seed: n as u64,
                    ..Recipe::default()
                };
                check(
                    &format!("causal {causal}, invalid {invalid}, {n} patches"),
                    &recipe.draw(),
                    TOLERANCE,
                );
            }
        }
    }
}

#[test]
fn errors_in_blocks() {
    let one = |patch, stride, n| vec![scale(patch, stride, n)];
    let causal = NetworkShape {
        causal: true,
        ..NETWORK
    };
    #[rustfmt::skip]
    let cases = [
        ("blocks of whole patches", Recipe { scales: one(8, 8, 50), ..Recipe::default() }),
        ("patches across blocks", Recipe { scales: one(7, 7, 50), ..Recipe::default() }),
        ("overlapping patches", Recipe { scales: one(9, 2, 61), ..Recipe::default() }),
        ("one masked", Recipe { mask: 0.0, ..Recipe::default() }),
        ("all masked", Recipe { mask: 1.1, ..Recipe::default() }),
        ("missing patches", Recipe { scales: one(5, 3, 90), invalid: 0.4, ..Recipe::default() }),
        ("causal, missing patches", Recipe {
            network: causal, scales: one(4, 4, 101), invalid: 0.3, ..Recipe::default()
        }),
        ("several chunks of rows", Recipe { scales: one(2, 2, 1100), ..Recipe::default() }),
        ("several sources and scales", Recipe {
            scales: vec![scale(4, 2, 30), scale(9, 9, 11), scale(2, 2, 3)], slopes: vec![0.9, 0.02],
            invalid: 0.1, ..Recipe::default()
        }),
    ];
    for (what, recipe) in cases {
        for (block, offset) in [(1, 0.1), (5, 0.01), (24, 0.1), (300, 1.0), (9999, 0.1)] {
            let recipe = Recipe {
                blocks: blocks(block, offset),
                ..recipe.clone()
            };
            let name = format!("{what}, blocks of {block} samples, κ {offset}");
            check(&name, &recipe.draw(), TOLERANCE);
        }
    }
}

#[test]
fn any_slope() {
    for slope in [0.0, 1e-9, 1e-3, 0.5, 1.0, 5.0, 50.0] {
        let recipe = Recipe {
            scales: vec![scale(2, 2, 150)],
            slopes: vec![slope],
            ..Recipe::default()
        };
        check(&format!("slope {slope}"), &recipe.draw(), TOLERANCE);
    }
}

/// Large q·k beside a steep slope: a band that looked at α alone would drop weights that matter.
/// Logits of this size carry an absolute error of their size × 6e-8, which the exponential turns
/// into a relative one: hence the tolerance.
#[test]
fn the_band_widens_with_the_logits() {
    for (sharpness, tolerance) in [(2.0, TOLERANCE), (5.0, 5e-4), (12.0, 5e-3)] {
        for causal in [false, true] {
            let recipe = Recipe {
                network: NetworkShape { causal, ..NETWORK },
                scales: vec![scale(4, 4, 140)],
                slopes: vec![1.5],
                sharpness,
                ..Recipe::default()
            };
            check(
                &format!("sharpness {sharpness}, causal {causal}"),
                &recipe.draw(),
                tolerance,
            );
        }
    }
}

#[test]
fn hidden_patches_without_position() {
    let network = NetworkShape {
        mask_position: false,
        ..NETWORK
    };
    for (mask, invalid) in [(0.4, 0.0), (0.9, 0.0), (0.4, 0.3)] {
        let recipe = Recipe {
            network,
            // Worked on in several chunks.
            scales: vec![scale(4, 4, 290)],
            mask,
            invalid,
            ..Recipe::default()
        };
        let what = format!("mask {mask}, invalid {invalid}");
        check(&what, &recipe.draw(), TOLERANCE);
    }
}

#[test]
fn same_bits_at_any_number_of_threads() {
    // Blocks of 300 samples lie across the chunks of the first scale.
    for blocks in [None, blocks(300, 0.1)] {
        check_bits(blocks);
    }
}

fn check_bits(blocks: Option<Blocks>) {
    let problem = Recipe {
        blocks,
        // The first is worked on in several chunks and by several threads at once.
        scales: vec![scale(4, 4, 290), scale(8, 8, 33), scale(16, 16, 9)],
        slopes: vec![0.8, 0.2, 0.05],
        ..Recipe::default()
    }
    .draw();
    let bits_with = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool");
        pool.install(|| {
            let mut engine = problem.load(CpuEngine::new(problem.branches.clone()));
            let mut bits = Vec::new();
            let weights = vec![0.3; problem.branches.n_branches()];
            for count in 1..=4 {
                for outcome in problem.evaluate(&mut engine) {
                    bits.extend(
                        outcome
                            .d_window
                            .iter()
                            .chain([&outcome.energy(), &outcome.d_slope])
                            .map(|x| x.to_bits()),
                    );
                }
                bits.push(engine.gradient_norm_squared(&weights).to_bits());
                engine.update(&weights, &AdamStep { count, ..STEP });
            }
            for b in 0..problem.branches.n_branches() {
                for buffer in [
                    Buffer::Parameters,
                    Buffer::Gradient,
                    Buffer::FirstMoment,
                    Buffer::SecondMoment,
                ] {
                    bits.extend(read(&engine, buffer, b).iter().map(|x| x.to_bits()));
                }
            }
            bits
        })
    };
    let one = bits_with(1);
    for threads in [2, 4, 16] {
        assert!(
            bits_with(threads) == one,
            "{threads} threads change the bits, {blocks:?}"
        );
    }
}

#[test]
fn a_job_leaves_no_trace_in_the_next() {
    let problem = Recipe {
        scales: vec![scale(4, 4, 60), scale(16, 16, 9)],
        ..Recipe::default()
    }
    .draw();
    let other = Recipe {
        seed: 9,
        mask: 0.9,
        invalid: 0.2,
        ..Recipe {
            scales: problem.branches.scales.clone(),
            ..Recipe::default()
        }
    }
    .draw();
    let mut fresh = problem.load(CpuEngine::new(problem.branches.clone()));
    let expected = problem.evaluate(&mut fresh);
    let mut used = problem.load(CpuEngine::new(problem.branches.clone()));
    other.evaluate(&mut used);
    let got = problem.evaluate(&mut used);
    for (got, expected) in got.iter().zip(&expected) {
        assert_eq!(
            (&got.errors, got.d_slope),
            (&expected.errors, expected.d_slope)
        );
        assert_eq!(got.d_window, expected.d_window);
    }
    assert_eq!(
        read(&used, Buffer::Gradient, 1),
        read(&fresh, Buffer::Gradient, 1)
    );
}
