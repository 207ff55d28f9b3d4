//! What the errors of blocks are, in both engines, by hand.

mod common;

use common::{Recipe, blocks, scale};
use strt_kernels::cpu::CpuEngine;
use strt_kernels::reference::ReferenceEngine;

/// Tokens, masked among them, samples of a block, and (patches, error) of every block.
type Case = (
    &'static [u32],
    &'static [u32],
    usize,
    &'static [(usize, f64)],
);

/// With all parameters zero every prediction is zero, so the error of a patch is the mean of its
/// squared samples.
#[test]
fn by_hand() {
    // Patches of two samples: 1, 1, 9, 9, 49; blocks of four samples: 1, 9, 49.
    let window = vec![1.0, -1.0, 1.0, 1.0, 3.0, 3.0, -3.0, 3.0, 7.0, 7.0];
    let all = &[0, 1, 2, 3, 4];
    let cases: [Case; 7] = [
        (all, &[0, 1, 2, 3], 4, &[(2, 1.0), (2, 9.0)]),
        (all, &[0, 1, 2], 4, &[(2, 1.0), (1, 9.0)]),
        (all, &[0, 3, 4], 4, &[(1, 1.0), (1, 9.0), (1, 49.0)]),
        // A patch lies where it lies in the window, however many before it are missing.
        (&[0, 2, 3], &[0, 1], 4, &[(1, 1.0), (1, 9.0)]),
        (&[1, 4], &[1], 4, &[(1, 49.0)]),
        (all, all, 6, &[(3, 11.0 / 3.0), (2, 29.0)]),
        // Blocks of one sample: every patch on its own.
        (
            all,
            all,
            1,
            &[(1, 1.0), (1, 1.0), (1, 9.0), (1, 9.0), (1, 49.0)],
        ),
    ];
    for (tokens, masked, block, expected) in cases {
        let mut problem = Recipe {
            scales: vec![scale(2, 2, 5)],
            blocks: blocks(block, 1.0),
            ..Recipe::default()
        }
        .draw();
        problem.parameters[0].fill(0.0);
        problem.jobs[0].window.clone_from(&window);
        (problem.jobs[0].tokens, problem.jobs[0].masked) = (tokens.to_vec(), masked.to_vec());
        let reference = ReferenceEngine::new(problem.branches.clone());
        let cpu = CpuEngine::new(problem.branches.clone());
        for outcome in [
            problem.evaluate(&mut problem.load(reference)),
            problem.evaluate(&mut problem.load(cpu)),
        ] {
            let found: Vec<(usize, f64)> = outcome[0]
                .errors
                .iter()
                .map(|block| (block.n_patches, block.error))
                .collect();
            assert_eq!(
                found, expected,
                "{masked:?} of {tokens:?} in blocks of {block}"
            );
            let n = masked.len() as f64;
            let energy = expected.iter().map(|(n, e)| *n as f64 * e).sum::<f64>() / n;
            assert!((outcome[0].energy() / energy - 1.0).abs() < 1e-12);
        }
    }
}
