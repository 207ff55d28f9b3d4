//! The step loop allocates nothing: a counting allocator watches evaluate, update and the rest
//! after a warm-up.

mod common;

use common::{Blocks, Recipe, blocks, scale};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use strt_kernels::cpu::CpuEngine;
use strt_kernels::{AdamStep, BlockError, Buffer, Engine, Outcome};

struct Counting;
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_step_allocates_nothing() {
    // One after the other: tests of their own would count each other's.
    for blocks in [None, blocks(100, 0.1)] {
        check(blocks);
    }
}

fn check(blocks: Option<Blocks>) {
    let problem = Recipe {
        blocks,
        scales: vec![scale(4, 4, 150), scale(8, 8, 33), scale(16, 16, 9)],
        slopes: vec![0.8, 0.2, 0.05],
        ..Recipe::default()
    }
    .draw();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("a thread pool");
    let mut engine = problem.load(CpuEngine::new(problem.branches.clone()));
    let mut outcomes = vec![Outcome::default(); problem.jobs.len()];
    let weights = vec![0.5; problem.branches.n_branches()];
    let mut values = problem.parameters[0].clone();
    let step = AdamStep {
        rate: 1e-3,
        beta1: 0.9,
        beta2: 0.999,
        epsilon: 1e-8,
        weight_decay: 0.0,
        count: 1,
        plain: false,
    };
    let judge = |errors: &mut [BlockError]| problem.judge(errors);
    let mut steps = |count: usize| {
        pool.install(|| {
            for _ in 0..count {
                engine.evaluate(&problem.jobs, &problem.slopes, &judge, &mut outcomes);
                assert!(engine.gradient_norm_squared(&weights) > 0.0);
                engine.update(&weights, &step);
                engine.permute_sources(&[1, 2, 0]);
                engine.read(Buffer::Parameters, 0, &mut values);
                engine.write(Buffer::Parameters, 0, &values);
            }
        });
    };
    steps(20);
    // `install` itself may allocate once per call when the pool's injector queue opens a new block.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    steps(200);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert!(
        allocations <= 1,
        "{allocations} allocations in 200 steps, {blocks:?}"
    );
}
