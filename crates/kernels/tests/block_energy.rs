//! What energies pooled over blocks are, in both engines: by hand, beside the plain mean, and where
//! they are refused.

mod common;

use common::{Problem, Recipe, pooled, scale};
use strt_kernels::cpu::CpuEngine;
use strt_kernels::gradcheck::relative_error;
use strt_kernels::reference::ReferenceEngine;
use strt_kernels::{BranchSet, Outcome, Pooling};

/// Runs `problem` on both engines with and without a pooling, and hands over engine, rounding,
/// plain and pooled outcomes.
fn beside_plain(
    problem: &Problem,
    pooling: Option<Pooling>,
    check: impl Fn(&str, f64, &Outcome, &Outcome),
) {
    let branches = |pooling| BranchSet {
        pooling,
        ..problem.branches.clone()
    };
    let reference =
        |pooling| problem.evaluate(&mut problem.load(ReferenceEngine::new(branches(pooling))));
    let cpu = |pooling| problem.evaluate(&mut problem.load(CpuEngine::new(branches(pooling))));
    for (plain, pooled) in reference(None).iter().zip(&reference(pooling)) {
        check("reference", 1e-12, plain, pooled);
    }
    for (plain, pooled) in cpu(None).iter().zip(&cpu(pooling)) {
        check("cpu", 1e-6, plain, pooled);
    }
}

/// Tokens, masked among them, block, κ, and ln(ℓ + κ) times the number of masked patches.
type Case = (&'static [u32], &'static [u32], usize, f64, f64);

/// With all parameters zero every prediction is zero, so the error of a patch is the mean of its
/// squared samples.
#[test]
fn by_hand() {
    // Patches of two samples: 1, 1, 9, 9, 49; blocks of four samples: 1, 9, 49.
    let window = vec![1.0, -1.0, 1.0, 1.0, 3.0, 3.0, -3.0, 3.0, 7.0, 7.0];
    let all = &[0, 1, 2, 3, 4];
    let cases: [Case; 7] = [
        (
            all,
            &[0, 1, 2, 3],
            4,
            7.0,
            2.0 * 8f64.ln() + 2.0 * 16f64.ln(),
        ),
        (all, &[0, 1, 2], 4, 7.0, 2.0 * 8f64.ln() + 16f64.ln()),
        (
            all,
            &[0, 3, 4],
            4,
            0.5,
            1.5f64.ln() + 9.5f64.ln() + 49.5f64.ln(),
        ),
        // A patch lies where it lies in the window, however many before it are missing.
        (&[0, 2, 3], &[0, 1], 4, 7.0, 8f64.ln() + 16f64.ln()),
        (&[1, 4], &[1], 4, 7.0, 56f64.ln()),
        // Blocks of six samples: (1 + 1 + 9)/3 and (9 + 49)/2.
        (
            all,
            all,
            6,
            1.0,
            3.0 * (14f64 / 3.0).ln() + 2.0 * 30f64.ln(),
        ),
        // Blocks of one sample: every patch on its own.
        (
            all,
            all,
            1,
            1.0,
            2.0 * 2f64.ln() + 2.0 * 10f64.ln() + 50f64.ln(),
        ),
    ];
    for (tokens, masked, block, offset, logarithms) in cases {
        let expected = (logarithms / masked.len() as f64).exp() - offset;
        let mut problem = Recipe {
            scales: vec![scale(2, 2, 5)],
            ..Recipe::default()
        }
        .draw();
        problem.parameters[0].fill(0.0);
        problem.jobs[0].window.clone_from(&window);
        (problem.jobs[0].tokens, problem.jobs[0].masked) = (tokens.to_vec(), masked.to_vec());
        beside_plain(
            &problem,
            pooled(block, offset),
            |engine, rounding, _, pooled| {
                let error = (pooled.energy / expected - 1.0).abs();
                assert!(
                    error < rounding,
                    "{engine}: {masked:?} of {tokens:?} in blocks of {block}: {} for {expected}",
                    pooled.energy
                );
            },
        );
    }
}

fn problem() -> Problem {
    Recipe {
        scales: vec![scale(4, 4, 150), scale(16, 8, 40)],
        slopes: vec![0.8, 0.05],
        invalid: 0.2,
        ..Recipe::default()
    }
    .draw()
}

#[test]
fn one_block_is_the_plain_mean() {
    beside_plain(
        &problem(),
        pooled(600, 0.01),
        |engine, rounding, plain, pooled| {
            let error = (pooled.energy / plain.energy - 1.0).abs();
            assert!(
                error < 1e-12,
                "{engine}: {} for {}",
                pooled.energy,
                plain.energy
            );
            let error = relative_error(&pooled.d_window, &plain.d_window, 0.0);
            assert!(error < rounding, "{engine}: d_window is off by {error:.2e}");
        },
    );
}

/// The geometric mean is at most the arithmetic one, and far below it where the variance changes
/// from block to block.
#[test]
fn blocks_of_different_variance_have_less_energy() {
    let steady = problem();
    beside_plain(&steady, pooled(80, 0.01), |engine, _, plain, pooled| {
        assert!(pooled.energy < plain.energy, "{engine}");
        assert!(
            pooled.energy > 0.7 * plain.energy,
            "{engine}: {} of {} although nothing changes",
            pooled.energy,
            plain.energy
        );
    });
    let mut changing = steady;
    for job in &mut changing.jobs {
        for (t, sample) in job.window.iter_mut().enumerate() {
            *sample *= if t / 80 % 2 == 0 { 0.1 } else { 10.0 };
        }
    }
    beside_plain(&changing, pooled(80, 0.01), |engine, _, plain, pooled| {
        assert!(
            pooled.energy < 0.5 * plain.energy,
            "{engine}: {} of {}",
            pooled.energy,
            plain.energy
        );
    });
}

fn with_pooling(block: usize, offset: f64) -> BranchSet {
    Recipe {
        pooling: pooled(block, offset),
        ..Recipe::default()
    }
    .draw()
    .branches
}

#[test]
#[should_panic(expected = "offset of the block errors 0, positive")]
fn the_reference_refuses_an_offset_of_zero() {
    ReferenceEngine::new(with_pooling(10, 0.0));
}

#[test]
#[should_panic(expected = "offset of the block errors NaN, positive")]
fn the_cpu_engine_refuses_an_offset_that_is_not_a_number() {
    CpuEngine::new(with_pooling(10, f64::NAN));
}

#[test]
#[should_panic(expected = "blocks of 0 samples, at least 1")]
fn the_cpu_engine_refuses_empty_blocks() {
    CpuEngine::new(with_pooling(0, 0.1));
}
