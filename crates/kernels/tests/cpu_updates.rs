//! What the fast engine keeps from step to step, against the oracle: parameters and moments after
//! updates, in the order of the sources, and as they were written.

mod common;

use common::{Recipe, STEP, read, scale};
use strt_kernels::cpu::CpuEngine;
use strt_kernels::gradcheck::relative_error;
use strt_kernels::reference::ReferenceEngine;
use strt_kernels::{AdamStep, Buffer, Engine, Layout};

#[test]
fn adam_updates_follow_the_oracle() {
    let problem = Recipe {
        slopes: vec![0.3, 0.1],
        ..Recipe::default()
    }
    .draw();
    let mut engine = problem.load(CpuEngine::new(problem.branches.clone()));
    let mut oracle = problem.load(ReferenceEngine::new(problem.branches.clone()));
    let weights = [0.7, 1.3];
    for count in 1..=5 {
        problem.evaluate(&mut engine);
        problem.evaluate(&mut oracle);
        engine.update(&weights, &AdamStep { count, ..STEP });
        oracle.update(&weights, &AdamStep { count, ..STEP });
    }
    for b in 0..2 {
        // Softmax does not see the key bias, so its gradient is rounding noise, which Adam turns
        // into whole steps.
        let layout = Layout::new(
            problem.branches.scale_of(b).patch,
            &problem.branches.network,
        );
        let d = problem.branches.network.d_model;
        let is_key_bias = |i: usize| {
            layout
                .layers
                .iter()
                .any(|l| (l.b_qkv.start + d..l.b_qkv.start + 2 * d).contains(&i))
        };
        let way = |engine: &dyn Engine| -> Vec<f64> {
            let mut values = problem.parameters[b].clone();
            engine.read(Buffer::Parameters, b, &mut values);
            let moved = values
                .iter()
                .zip(&problem.parameters[b])
                .map(|(now, start)| now - start);
            moved
                .enumerate()
                .filter(|&(i, _)| !is_key_bias(i))
                .map(|(_, way)| way)
                .collect()
        };
        let error = relative_error(&way(&engine), &way(&oracle), 1e-12);
        assert!(
            error < 5e-3,
            "branch {b}: parameters are off by {error:.2e} of the way travelled"
        );
        for buffer in [Buffer::FirstMoment, Buffer::SecondMoment] {
            let error = relative_error(&read(&engine, buffer, b), &read(&oracle, buffer, b), 1e-12);
            assert!(error < 1e-3, "branch {b}: {buffer:?} is off by {error:.2e}");
        }
    }
}

#[test]
fn a_plain_step_is_along_the_gradient() {
    let problem = Recipe::default().draw();
    let mut engine = problem.load(CpuEngine::new(problem.branches.clone()));
    let mut oracle = problem.load(ReferenceEngine::new(problem.branches.clone()));
    let gradient: Vec<f64> = problem.parameters[0].iter().rev().copied().collect();
    let step = AdamStep {
        plain: true,
        rate: 0.125,
        ..STEP
    };
    engine.write(Buffer::Gradient, 0, &gradient);
    oracle.write(Buffer::Gradient, 0, &gradient);
    engine.update(&[0.5], &step);
    oracle.update(&[0.5], &step);
    let moved = problem.parameters[0].iter().zip(&gradient);
    let expected: Vec<f64> = moved
        .map(|(p, g)| p * (1.0 - 0.125 * step.weight_decay) - 0.125 * 0.5 * g)
        .collect();
    let found = [
        read(&engine, Buffer::Parameters, 0),
        read(&oracle, Buffer::Parameters, 0),
    ];
    for (parameters, tolerance) in found.iter().zip([3e-6, 1e-14]) {
        let error = relative_error(parameters, &expected, 1e-12);
        assert!(error < tolerance, "off by {error:.2e}");
    }
    for buffer in [Buffer::FirstMoment, Buffer::SecondMoment] {
        assert!(read(&engine, buffer, 0).iter().all(|&m| m == 0.0));
        assert!(read(&oracle, buffer, 0).iter().all(|&m| m == 0.0));
    }
}

#[test]
fn adam_alone_is_exact_to_rounding() {
    let problem = Recipe::default().draw();
    let mut engine = CpuEngine::new(problem.branches.clone());
    let mut oracle = ReferenceEngine::new(problem.branches.clone());
    let gradient: Vec<f64> = problem.parameters[0]
        .iter()
        .map(|g| f64::from(*g as f32))
        .collect();
    for count in 1..=20 {
        engine.write(Buffer::Gradient, 0, &gradient);
        oracle.write(Buffer::Gradient, 0, &gradient);
        engine.update(&[0.25], &AdamStep { count, ..STEP });
        oracle.update(&[0.25], &AdamStep { count, ..STEP });
    }
    for buffer in [
        Buffer::Parameters,
        Buffer::FirstMoment,
        Buffer::SecondMoment,
    ] {
        let error = relative_error(&read(&engine, buffer, 0), &read(&oracle, buffer, 0), 1e-12);
        assert!(error < 3e-6, "{buffer:?} is off by {error:.2e}");
    }
}

#[test]
fn sources_are_permuted_with_their_moments() {
    let problem = Recipe {
        scales: vec![scale(4, 4, 6), scale(3, 3, 5)],
        slopes: vec![0.1; 5],
        ..Recipe::default()
    }
    .draw();
    for order in [
        [0, 1, 2, 3, 4],
        [1, 2, 3, 4, 0],
        [4, 3, 2, 1, 0],
        [2, 0, 1, 4, 3],
        [3, 1, 4, 0, 2],
    ] {
        let mut engine = problem.load(CpuEngine::new(problem.branches.clone()));
        problem.evaluate(&mut engine);
        engine.update(&vec![1.0; problem.branches.n_branches()], &STEP);
        let buffers = [
            Buffer::Parameters,
            Buffer::FirstMoment,
            Buffer::SecondMoment,
        ];
        let all = |engine: &CpuEngine, b: usize| buffers.map(|buffer| read(engine, buffer, b));
        let old: Vec<_> = (0..10).map(|b| all(&engine, b)).collect();
        engine.permute_sources(&order);
        for (k, from) in order.into_iter().enumerate() {
            for r in 0..2 {
                assert!(
                    all(&engine, k * 2 + r) == old[from * 2 + r],
                    "{order:?}: source {k}, scale {r}"
                );
            }
        }
    }
}

#[test]
fn values_survive_writing_and_reading() {
    let problem = Recipe::default().draw();
    let engine = problem.load(CpuEngine::new(problem.branches.clone()));
    assert_eq!(read(&engine, Buffer::Parameters, 0), problem.parameters[0]);
}
