//! The backward pass of every reference operation against central finite differences, in f64.
//!
//! One test per operation, over random and awkward shapes. Each differentiates the scalar Σ G∘y for
//! a random G, so that no element of the output can hide. Backward passes accumulate: every `d_`
//! buffer starts at [`START`], which must still be in it afterwards. The last tests take the whole
//! branch, parameter by parameter.

mod common;

use common::{NETWORK, Problem, Recipe, blocks, read, scale};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use strt_kernels::gradcheck::{numerical_gradient, relative_error};
use strt_kernels::reference::attention::Attention;
use strt_kernels::reference::{ReferenceEngine, gelu, layernorm, linear, masked_loss, patch};
use strt_kernels::{Buffer, Engine, Layout, NetworkShape};

const TOLERANCE: f64 = 1e-6;
/// Step of the differences: truncation (h⁴) and rounding (ε/h) are both far below the tolerance.
const STEP: f64 = 2e-4;
/// Gradients smaller than this are judged in absolute terms.
const FLOOR: f64 = 1e-3;
/// What every gradient buffer holds before the backward pass.
const START: f64 = 0.25;

#[track_caller]
fn compare(what: &str, group: &str, accumulated: &[f64], numerical: &[f64]) {
    let analytic: Vec<f64> = accumulated.iter().map(|d| d - START).collect();
    compare_bare(what, group, &analytic, numerical);
}

/// Compares gradients that are overwritten, not accumulated.
#[track_caller]
fn compare_bare(what: &str, group: &str, analytic: &[f64], numerical: &[f64]) {
    let error = relative_error(analytic, numerical, FLOOR);
    assert!(
        error < TOLERANCE,
        "{what}: gradient of {group}: relative error {error:.2e}"
    );
}

fn started(n: usize) -> Vec<f64> {
    vec![START; n]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

struct Noise(ChaCha8Rng);

impl Noise {
    fn new(seed: u64) -> Noise {
        Noise(ChaCha8Rng::seed_from_u64(seed))
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| StandardNormal.sample(&mut self.0)).collect()
    }
}

#[test]
fn linear_map() {
    let mut noise = Noise::new(1);
    for (n, n_in, n_out) in [(1, 1, 1), (1, 4, 3), (7, 3, 5), (13, 1, 4), (5, 8, 1)] {
        let what = format!("linear {n}×{n_in} → {n_out}");
        let (x, w, b) = (
            noise.vector(n * n_in),
            noise.vector(n_in * n_out),
            noise.vector(n_out),
        );
        let g = noise.vector(n * n_out);
        let (mut d_x, mut d_w, mut d_b) = (started(x.len()), started(w.len()), started(b.len()));
        linear::backward(&x, &w, &g, &mut d_x, &mut d_w, &mut d_b);
        let value = |x: &[f64], w: &[f64], b: &[f64]| dot(&g, &linear::forward(x, w, b));
        compare(
            &what,
            "x",
            &d_x,
            &numerical_gradient(|x| value(x, &w, &b), &x, STEP),
        );
        compare(
            &what,
            "w",
            &d_w,
            &numerical_gradient(|w| value(&x, w, &b), &w, STEP),
        );
        compare(
            &what,
            "b",
            &d_b,
            &numerical_gradient(|b| value(&x, &w, b), &b, STEP),
        );
    }
}

#[track_caller]
fn check_layernorm(what: &str, x: &[f64], d: usize, step: f64, noise: &mut Noise) {
    let (gain, bias, g) = (noise.vector(d), noise.vector(d), noise.vector(x.len()));
    let (mut d_x, mut d_gain, mut d_bias) = (started(x.len()), started(d), started(d));
    layernorm::backward(x, &gain, &g, &mut d_x, &mut d_gain, &mut d_bias);
    let value = |x: &[f64], gain: &[f64], bias: &[f64]| dot(&g, &layernorm::forward(x, gain, bias));
    compare(
        what,
        "x",
        &d_x,
        &numerical_gradient(|x| value(x, &gain, &bias), x, step),
    );
    compare(
        what,
        "gain",
        &d_gain,
        &numerical_gradient(|gain| value(x, gain, &bias), &gain, STEP),
    );
    compare(
        what,
        "bias",
        &d_bias,
        &numerical_gradient(|bias| value(x, &gain, bias), &bias, STEP),
    );
}

#[test]
fn layer_normalisation() {
    let mut noise = Noise::new(2);
    for (n, d) in [(1, 4), (3, 4), (7, 6), (2, 33)] {
        let x = noise.vector(n * d);
        check_layernorm(&format!("layernorm {n}×{d}"), &x, d, STEP, &mut noise);
    }
    // At a constant row the variance is 0 and everything hangs on ε = 1e-5: bends are √ε wide, so
    // the step is smaller.
    check_layernorm(
        "layernorm of a constant row",
        &[0.7; 5],
        5,
        5e-6,
        &mut noise,
    );
}

#[test]
fn gelu_of_any_size() {
    let mut noise = Noise::new(3);
    let mut x = noise.vector(17);
    x.extend([0.0, -1e-3, 6.0, -6.0, 40.0, -40.0]);
    let g = noise.vector(x.len());
    let mut d_x = started(x.len());
    gelu::backward(&x, &g, &mut d_x);
    compare(
        "gelu",
        "x",
        &d_x,
        &numerical_gradient(|x| dot(&g, &gelu::forward(x)), &x, STEP),
    );
}

#[test]
fn patch_extraction_and_its_adjoint() {
    let mut noise = Noise::new(4);
    let shapes = [
        (1, 1, 1),
        (1, 1, 9),
        (4, 4, 5),
        (6, 6, 1),
        (5, 2, 7),
        (3, 1, 6),
        (7, 5, 3),
    ];
    for (size, stride, n) in shapes {
        let what = format!("{n} patches of {size} with stride {stride}");
        let shape = scale(size, stride, n);
        let (window, g) = (noise.vector(shape.span()), noise.vector(n * size));
        let mut d_window = started(window.len());
        patch::backward(&g, &shape, &mut d_window);
        // The operator is linear, so ⟨Πx, g⟩ = ⟨x, Πᵀg⟩ for every x.
        let adjoint: Vec<f64> = d_window.iter().map(|d| d - START).collect();
        let (left, right) = (
            dot(&patch::forward(&window, &shape), &g),
            dot(&window, &adjoint),
        );
        assert!(
            (left - right).abs() < 1e-12,
            "{what}: {left} against {right}"
        );
        let value = |window: &[f64]| dot(&g, &patch::forward(window, &shape));
        compare(
            &what,
            "window",
            &d_window,
            &numerical_gradient(value, &window, STEP),
        );
    }
}

#[test]
fn masked_patch_energy() {
    let mut noise = Noise::new(5);
    let cases: [(usize, usize, &[usize]); 6] = [
        (1, 1, &[0]),
        (1, 5, &[0]),
        (7, 3, &[4]),
        (7, 3, &[0, 6]),
        (5, 1, &[1, 2, 3]),
        (4, 2, &[0, 1, 2, 3]),
    ];
    for (n, size, masked) in cases {
        let (predicted, patches) = (noise.vector(n * size), noise.vector(n * size));
        // Blocks of this many patches, judged by ln(ℓ_c + κ).
        for (per_block, kappa) in [(1, 0.5), (2, 0.01), (3, 2.0), (100, 0.01)] {
            let what = format!(
                "{masked:?} of {n} patches of {size} masked, blocks of {per_block} with κ {kappa}"
            );
            let block_of: Vec<usize> = masked.iter().map(|i| i / per_block).collect();
            let errors = |predicted: &[f64], patches: &[f64]| {
                masked_loss::forward(predicted, patches, masked, &block_of, size)
            };
            let value = |predicted: &[f64], patches: &[f64]| -> f64 {
                let errors = errors(predicted, patches).into_iter();
                let logarithms = errors.map(|b| b.n_patches as f64 * (b.error + kappa).ln());
                logarithms.sum::<f64>() / masked.len() as f64
            };
            let mut judged = errors(&predicted, &patches);
            for block in &mut judged {
                block.factor = 1.0 / (block.error + kappa);
            }
            let (mut d_predicted, mut d_patches) = (started(n * size), started(n * size));
            masked_loss::backward(
                &predicted,
                &patches,
                masked,
                &judged,
                size,
                &mut d_predicted,
                &mut d_patches,
            );
            let by_predicted = numerical_gradient(|x| value(x, &patches), &predicted, STEP);
            let by_patches = numerical_gradient(|x| value(&predicted, x), &patches, STEP);
            compare(&what, "predicted", &d_predicted, &by_predicted);
            compare(&what, "patches", &d_patches, &by_patches);
        }
    }
}

/// B^mask (N×N) from a rule that says which keys a query may see.
fn bias(n: usize, allowed: impl Fn(usize, usize) -> bool) -> Vec<f64> {
    (0..n * n)
        .map(|e| {
            if allowed(e / n, e % n) {
                0.0
            } else {
                f64::NEG_INFINITY
            }
        })
        .collect()
}

#[track_caller]
fn check_attention(what: &str, attention: &Attention, noise: &mut Noise) {
    let d = attention.n_heads * attention.d_head;
    let (qkv, g) = (
        noise.vector(attention.n * 3 * d),
        noise.vector(attention.n * d),
    );
    let (_, weights) = attention.forward(&qkv);
    let mut d_qkv = started(qkv.len());
    let d_slope = attention.backward(&qkv, &weights, &g, &mut d_qkv);
    let by_qkv = numerical_gradient(|x| dot(&g, &attention.forward(x).0), &qkv, STEP);
    // Each of the three parts on its own: values would drown the keys.
    for (part, name) in ["queries", "keys", "values"].into_iter().enumerate() {
        let pick = |v: &[f64]| -> Vec<f64> {
            v.chunks_exact(3 * d)
                .flat_map(|row| row[part * d..][..d].to_vec())
                .collect()
        };
        compare(what, name, &pick(&d_qkv), &pick(&by_qkv));
    }
    let at_slope = |slope: f64| Attention {
        slope,
        ..*attention
    };
    let by_slope = numerical_gradient(
        |x| dot(&g, &at_slope(x[0]).forward(&qkv).0),
        &[attention.slope],
        STEP,
    );
    compare_bare(what, "slope", &[d_slope], &by_slope);
}

type Allowed = fn(usize, usize) -> bool;

#[test]
fn attention_with_locality_order_and_gaps() {
    let mut noise = Noise::new(6);
    let rules: [(&str, Allowed); 5] = [
        ("all keys", |_, _| true),
        ("causal", |i, j| j <= i),
        ("missing patches", |_, j| j % 3 != 1),
        ("one valid patch", |_, j| j == 0),
        // Queries before the first valid key see nothing and must pass nothing on.
        ("causal with missing patches", |i, j| j <= i && j % 3 == 1),
    ];
    for (n, n_heads, d_head) in [(1, 1, 1), (1, 2, 3), (2, 1, 4), (7, 3, 2), (11, 2, 5)] {
        for (rule, allowed) in rules {
            for slope in [0.0, 0.3, 2.0] {
                let bias = bias(n, allowed);
                let attention = Attention {
                    n,
                    n_heads,
                    d_head,
                    slope,
                    bias: &bias,
                };
                let what =
                    format!("attention, {rule}, n {n}, {n_heads} heads of {d_head}, slope {slope}");
                check_attention(&what, &attention, &mut noise);
            }
        }
    }
}

/// Every gradient that the engine hands out or keeps, for every job and branch of a problem.
#[track_caller]
fn check_branches(what: &str, problem: &Problem) {
    let mut engine = problem.load(ReferenceEngine::new(problem.branches.clone()));
    let outcomes = problem.evaluate(&mut engine);
    let gradients: Vec<Vec<f64>> = (0..problem.branches.n_branches())
        .map(|b| read(&engine, Buffer::Gradient, b))
        .collect();
    let mut value = |problem: &Problem, parameters: &[f64], b: usize| {
        engine.write(Buffer::Parameters, b, parameters);
        problem.judged(&problem.evaluate(&mut engine)[b])
    };
    let mut moved = problem.clone();
    for (b, gradient) in gradients.iter().enumerate() {
        let parameters = &problem.parameters[b];
        let numerical = numerical_gradient(|x| value(problem, x, b), parameters, STEP);
        let layout = Layout::new(
            problem.branches.scale_of(b).patch,
            &problem.branches.network,
        );
        for tensor in layout.tensors() {
            let range = tensor.range.clone();
            compare_bare(
                what,
                &tensor.name,
                &gradient[range.clone()],
                &numerical[range],
            );
        }
        let window = &problem.jobs[b].window;
        let numerical = numerical_gradient(
            |x| {
                moved.jobs[b].window.copy_from_slice(x);
                value(&moved, parameters, b)
            },
            window,
            STEP,
        );
        moved.jobs[b].window.copy_from_slice(window);
        compare_bare(what, "window", &outcomes[b].d_window, &numerical);
        let source = b / problem.branches.scales.len();
        let numerical = numerical_gradient(
            |x| {
                moved.slopes[source] = x[0];
                value(&moved, parameters, b)
            },
            &[problem.slopes[source]],
            STEP,
        );
        moved.slopes[source] = problem.slopes[source];
        compare_bare(what, "slope", &[outcomes[b].d_slope], &numerical);
    }
}

/// The smallest network: one head, one layer, d = 4.
const SMALL: NetworkShape = NetworkShape {
    d_model: 4,
    n_heads: 1,
    n_layers: 1,
    ffn_ratio: 1,
    ..NETWORK
};

fn small() -> Recipe {
    Recipe {
        network: SMALL,
        scales: vec![scale(3, 3, 7)],
        ..Recipe::default()
    }
}

#[test]
fn branches_of_awkward_shape() {
    let one = |patch, stride, n| vec![scale(patch, stride, n)];
    let network = |n_heads, n_layers, d_model, ffn_ratio| NetworkShape {
        d_model,
        n_heads,
        n_layers,
        ffn_ratio,
        ..NETWORK
    };
    let causal = NetworkShape {
        causal: true,
        ..SMALL
    };
    let placeless = NetworkShape {
        mask_position: false,
        ..SMALL
    };
    #[rustfmt::skip]
    let cases = [
        ("one head, one layer, d = 4", small()),
        ("hidden patches without position", Recipe { network: placeless, ..small() }),
        ("all masked, without position", Recipe { network: placeless, mask: 1.1, ..small() }),
        ("one patch", Recipe { scales: one(5, 5, 1), ..small() }),
        ("patches of one sample", Recipe { scales: one(1, 1, 11), ..small() }),
        ("one patch of one sample", Recipe { scales: one(1, 1, 1), ..small() }),
        ("overlapping patches", Recipe { scales: one(5, 2, 7), ..small() }),
        ("13 patches", Recipe { scales: one(2, 2, 13), ..small() }),
        ("exactly one masked", Recipe { mask: 0.0, ..small() }),
        ("all masked", Recipe { mask: 1.1, ..small() }),
        ("missing patches", Recipe { scales: one(3, 2, 11), invalid: 0.4, ..small() }),
        ("causal", Recipe { network: causal, ..small() }),
        ("causal, missing patches", Recipe {
            network: causal, scales: one(2, 1, 9), invalid: 0.5, ..small()
        }),
        ("no locality", Recipe { slopes: vec![0.0], ..small() }),
        ("steep locality", Recipe { slopes: vec![3.0], ..small() }),
        ("three heads, three layers", Recipe { network: network(3, 3, 6, 2), ..small() }),
        ("heads of one", Recipe { network: network(4, 1, 4, 3), ..small() }),
        ("two sources, two scales", Recipe {
            scales: vec![scale(2, 1, 5), scale(3, 3, 4)], slopes: vec![0.8, 0.1], invalid: 0.2,
            ..small()
        }),
    ];
    check_recipes(&cases);
}

#[test]
fn branches_with_errors_in_blocks() {
    let one = |patch, stride, n| vec![scale(patch, stride, n)];
    let causal = NetworkShape {
        causal: true,
        ..SMALL
    };
    #[rustfmt::skip]
    let cases = [
        ("block of two patches", Recipe { blocks: blocks(6, 0.1), ..small() }),
        ("block not a multiple of the patch", Recipe { blocks: blocks(7, 0.1), ..small() }),
        ("block smaller than a patch", Recipe { blocks: blocks(2, 0.1), ..small() }),
        ("block longer than the window", Recipe { blocks: blocks(22, 0.1), ..small() }),
        ("small offset", Recipe { blocks: blocks(6, 0.01), ..small() }),
        ("large offset", Recipe { blocks: blocks(6, 10.0), ..small() }),
        ("overlapping patches", Recipe { scales: one(5, 2, 9), blocks: blocks(7, 0.1), ..small() }),
        ("exactly one masked", Recipe { mask: 0.0, blocks: blocks(6, 0.1), ..small() }),
        ("all masked", Recipe { mask: 1.1, blocks: blocks(6, 0.1), ..small() }),
        ("missing patches", Recipe {
            scales: one(3, 2, 13), invalid: 0.4, blocks: blocks(7, 0.1), ..small()
        }),
        ("causal, missing patches", Recipe {
            network: causal, scales: one(2, 1, 9), invalid: 0.3, blocks: blocks(4, 0.1), ..small()
        }),
        ("two sources, two scales", Recipe {
            scales: vec![scale(2, 1, 7), scale(3, 3, 4)], slopes: vec![0.8, 0.1], invalid: 0.2,
            blocks: blocks(4, 0.1), ..small()
        }),
    ];
    check_recipes(&cases);
}

#[track_caller]
fn check_recipes(cases: &[(&str, Recipe)]) {
    for (what, recipe) in cases {
        for seed in [1, 2] {
            let recipe = Recipe {
                seed,
                ..recipe.clone()
            };
            check_branches(what, &recipe.draw());
        }
    }
}

#[test]
fn without_position_a_hidden_patch_does_not_see_the_shift() {
    for (mask_position, sees) in [(false, false), (true, true)] {
        let mut problem = Recipe {
            network: NetworkShape {
                mask_position,
                ..SMALL
            },
            mask: 1.1,
            ..small()
        }
        .draw();
        let mut energy_at = |shift: usize| {
            problem.jobs[0].shift = shift;
            let mut engine = problem.load(ReferenceEngine::new(problem.branches.clone()));
            problem.evaluate(&mut engine)[0].energy()
        };
        assert_eq!(energy_at(0) != energy_at(3), sees);
    }
}

#[test]
fn all_patches_but_one_missing() {
    for (only, causal) in [(0, false), (3, true), (6, false)] {
        let mut problem = Recipe {
            network: NetworkShape { causal, ..SMALL },
            ..small()
        }
        .draw();
        for job in &mut problem.jobs {
            (job.tokens, job.masked) = (vec![only], vec![0]);
        }
        check_branches(&format!("only patch {only} valid"), &problem);
    }
}
