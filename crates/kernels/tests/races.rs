//! Steps of the engine on pools of several sizes, for Miri and the thread sanitizer: `cargo xtask
//! ci --thorough`. Without them, a test that all pools give the same bits.
//!
//! The sanitizer sees what was compiled with it, which the standard library is not: whatever is
//! handed over by its locks, channels or condition variables looks like a race. So this file has a
//! `main` of its own in place of the test harness, all data are made and used on threads of the
//! pool, and the main thread waits for an atomic. What rayon does with locks to put its threads to
//! sleep is left out by `races.supp`.

mod common;

use common::{NETWORK, Recipe, read, scale};
use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use strt_kernels::cpu::{CpuEngine, SimdPath};
use strt_kernels::{AdamStep, Buffer, Engine, NetworkShape};

// Miri interprets, a thousand times slower than the processor, and knows the portable path only.
const STEPS: usize = if cfg!(miri) { 1 } else { 5 };
const POOLS: &[usize] = if cfg!(miri) { &[2] } else { &[2, 4] };

// What a pool hands to the main thread.
static RESULT: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicBool = AtomicBool::new(false);

/// A hash of the parameters after a few steps. Sources and scales differ in size, so that threads
/// run out of jobs at different times and help.
fn train(path: SimdPath) -> u64 {
    let (network, scales) = if cfg!(miri) {
        let network = NetworkShape {
            d_model: 8,
            n_heads: 2,
            n_layers: 1,
            ..NETWORK
        };
        (network, vec![scale(4, 4, 17), scale(8, 8, 5)])
    } else {
        (
            NETWORK,
            vec![scale(4, 4, 70), scale(8, 8, 33), scale(16, 16, 9)],
        )
    };
    let problem = Recipe {
        network,
        scales,
        slopes: vec![0.8, 0.2],
        invalid: 0.1,
        ..Recipe::default()
    }
    .draw();
    let mut engine = problem.load(CpuEngine::with_simd(problem.branches.clone(), path));
    let n_branches = problem.branches.n_branches();
    for count in 1..=STEPS {
        problem.evaluate(&mut engine);
        let step = AdamStep {
            rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            count: count as _,
            plain: false,
        };
        engine.update(&vec![1.0; n_branches], &step);
        engine.permute_sources(&[1, 0]);
    }
    let mut hash = DefaultHasher::new();
    for branch in 0..n_branches {
        for value in read(&engine, Buffer::Parameters, branch) {
            hash.write_u64(value.to_bits());
        }
    }
    hash.finish()
}

/// The outcome of a few steps on a pool that lasts as long as the process.
fn train_on_pool(path: SimdPath, n_threads: usize) -> u64 {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build()
        .expect("a thread pool");
    DONE.store(false, Ordering::Relaxed);
    pool.spawn(move || {
        RESULT.store(train(path), Ordering::Relaxed);
        DONE.store(true, Ordering::Release);
    });
    std::mem::forget(pool);
    while !DONE.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    RESULT.load(Ordering::Relaxed)
}

fn main() {
    for path in SimdPath::ALL.into_iter().filter(|path| path.is_available()) {
        let expected = train_on_pool(path, 1);
        for &n_threads in POOLS {
            let found = train_on_pool(path, n_threads);
            assert!(
                found == expected,
                "{path:?}, {n_threads} threads: other bits"
            );
        }
    }
    println!("same bits on every pool");
}
