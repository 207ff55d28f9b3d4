//! Times one step (evaluate + update) of the CPU engine in the setting of the project's goal: T = 1000, K = 3, five
//! scales, d = 32, H = 4, L = 2.
//!
//! ```text
//! cargo run --release -p strt-kernels --example step [-- steps [avx512|avx2|portable]]
//! ```

use std::time::Instant;
use strt_kernels::cpu::{CpuEngine, SimdPath};
use strt_kernels::{
    AdamStep, BranchSet, Buffer, Engine, Init, Job, Layout, NetworkShape, Outcome, ScaleShape,
};

/// A small generator, so that the example needs no dependency: uniform in (−1, 1).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn branches() -> BranchSet {
    let scales = [(4, 249), (8, 124), (16, 61), (32, 30), (64, 14)];
    BranchSet {
        n_sources: 3,
        scales: scales
            .map(|(patch, n_patches)| ScaleShape {
                patch,
                stride: patch,
                n_patches,
            })
            .to_vec(),
        network: NetworkShape {
            d_model: 32,
            n_heads: 4,
            n_layers: 2,
            ffn_ratio: 2,
            causal: false,
        },
        n_draws: 1,
        max_shift: 64,
    }
}

fn jobs(branches: &BranchSet, noise: &mut Noise) -> Vec<Job> {
    (0..branches.n_jobs())
        .map(|j| {
            let scale = branches.scale_of(j);
            let tokens: Vec<u32> = (0..scale.n_patches as u32).collect();
            let mut masked: Vec<u32> = tokens.iter().copied().filter(|_| noise.next() < -0.2).collect();
            if masked.is_empty() {
                masked.push(0);
            }
            Job {
                window: (0..scale.span()).map(|_| 1.7 * noise.next()).collect(),
                shift: 7,
                tokens,
                masked,
            }
        })
        .collect()
}

fn initialise(engine: &mut CpuEngine, noise: &mut Noise) {
    let branches = engine.branches().clone();
    for b in 0..branches.n_branches() {
        let layout = Layout::new(branches.scale_of(b).patch, &branches.network);
        let mut values = vec![0.0; layout.len()];
        for tensor in layout.tensors() {
            for value in &mut values[tensor.range.clone()] {
                *value = match tensor.init {
                    Init::Normal(spread) => 1.7 * spread * noise.next(),
                    Init::Zero => 0.0,
                    Init::One => 1.0,
                };
            }
        }
        engine.write(Buffer::Parameters, b, &values);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let steps: usize = arguments
        .next()
        .map_or(1000, |n| n.parse().expect("a number of steps"));
    let path = match arguments.next().as_deref() {
        None => SimdPath::detect(),
        Some("avx512") => SimdPath::Avx512,
        Some("avx2") => SimdPath::Avx2,
        Some("portable") => SimdPath::Portable,
        Some(other) => panic!("unknown path {other}"),
    };
    let slopes = [0.37, 0.14, 0.05];
    println!("{path:?}, slopes {slopes:?}, {steps} steps");
    for n_threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .expect("a thread pool");
        let mut noise = Noise(1);
        let mut engine = CpuEngine::with_simd(branches(), path);
        initialise(&mut engine, &mut noise);
        let jobs = jobs(engine.branches(), &mut noise);
        let mut outcomes = vec![Outcome::default(); jobs.len()];
        let weights = vec![1.0; engine.branches().n_branches()];
        let mut best = f64::INFINITY;
        let (mut evaluating, mut updating) = (0.0, 0.0);
        let total = pool.install(|| {
            let start = Instant::now();
            for count in 1..=steps as u64 {
                let begin = Instant::now();
                engine.evaluate(&jobs, &slopes, &mut outcomes);
                let middle = Instant::now();
                let step = AdamStep {
                    rate: 1e-4,
                    beta1: 0.9,
                    beta2: 0.999,
                    epsilon: 1e-8,
                    weight_decay: 0.0,
                    count,
                };
                engine.update(&weights, &step);
                best = f64::min(best, begin.elapsed().as_secs_f64());
                evaluating += (middle - begin).as_secs_f64();
                updating += middle.elapsed().as_secs_f64();
            }
            start.elapsed().as_secs_f64()
        });
        let per_step = 1e3 / steps as f64;
        println!(
            "{n_threads} threads: {:.3} ms/step (best {:.3}), evaluate {:.3}, update {:.3}, ℓ₀ = {:.4}",
            total * per_step,
            best * 1e3,
            evaluating * per_step,
            updating * per_step,
            outcomes[0].energy
        );
    }
}
