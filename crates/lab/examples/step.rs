//! Times one step (evaluate + update) of the CPU engine, and says how much arithmetic it needs and
//! at which rate.
//!
//! ```text
//! cargo run --release -p strt-lab --example step [-- steps [avx512|avx2|portable] [setting …]]
//! ```
//!
//! Settings (all of them if none is named): T = 1000, K = 3, d = 32, H = 4, L = 2 and
//!
//! * `goal`: five scales P = 4 … 64, stride P, slopes 0.37, 0.14, 0.05;
//! * `dense`: the same with stride P/2 and slopes of 0.02, so that attention is dense;
//! * `default`: scales 4, 8, 16, stride P, slopes as in `goal`;
//! * `pooled`: `goal` with errors pooled over blocks of 50 samples.
//!
//! With `count` in place of a setting it runs the steps of `goal` on one thread and prints nothing,
//! for counting instructions. Valgrind 3.19 knows no AVX-512, so count on another path; steps 3 to
//! 12 are
//!
//! ```text
//! step=target/release/examples/step
//! count="valgrind --tool=callgrind --callgrind-out-file=/dev/null $step"
//! for n in 2 12; do $count $n avx2 count 2>&1 | grep refs; done
//! ```
//!
//! The difference over 10 is the instructions of one step.

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

/// What is timed.
struct Setting {
    patches: &'static [usize],
    /// Patches per stride.
    overlap: usize,
    slopes: [f64; 3],
    error_block: Option<usize>,
}

const SETTINGS: [(&str, Setting); 4] = [
    (
        "goal",
        Setting {
            patches: &[4, 8, 16, 32, 64],
            overlap: 1,
            slopes: [0.37, 0.14, 0.05],
            error_block: None,
        },
    ),
    (
        "dense",
        Setting {
            patches: &[4, 8, 16, 32, 64],
            overlap: 2,
            slopes: [0.02; 3],
            error_block: None,
        },
    ),
    (
        "default",
        Setting {
            patches: &[4, 8, 16],
            overlap: 1,
            slopes: [0.37, 0.14, 0.05],
            error_block: None,
        },
    ),
    (
        "blocks",
        Setting {
            patches: &[4, 8, 16, 32, 64],
            overlap: 1,
            slopes: [0.37, 0.14, 0.05],
            error_block: Some(50),
        },
    ),
];

/// Samples of the source.
const LENGTH: usize = 1000;

impl Setting {
    fn branches(&self) -> BranchSet {
        let scale = |&patch: &usize| {
            let stride = patch / self.overlap;
            // One patch fewer than fit, so that the grid can be moved.
            let n_patches = (LENGTH - patch - stride) / stride + 1;
            ScaleShape {
                patch,
                stride,
                n_patches,
            }
        };
        BranchSet {
            n_sources: self.slopes.len(),
            scales: self.patches.iter().map(scale).collect(),
            network: NetworkShape {
                d_model: 32,
                n_heads: 4,
                n_layers: 2,
                ffn_ratio: 2,
                causal: false,
                mask_position: true,
            },
            max_shift: 64,
            error_block: self.error_block,
        }
    }
}

fn jobs(branches: &BranchSet, noise: &mut Noise) -> Vec<Job> {
    (0..branches.n_branches())
        .map(|j| {
            let scale = branches.scale_of(j);
            let tokens: Vec<u32> = (0..scale.n_patches as u32).collect();
            let mut masked: Vec<u32> = tokens
                .iter()
                .copied()
                .filter(|_| noise.next() < -0.2)
                .collect();
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

/// An engine with everything that its steps need.
struct Bench {
    engine: CpuEngine,
    jobs: Vec<Job>,
    slopes: [f64; 3],
    outcomes: Vec<Outcome>,
    count: u64,
}

impl Bench {
    fn new(setting: &Setting, path: SimdPath) -> Bench {
        let mut noise = Noise(1);
        let mut engine = CpuEngine::with_simd(setting.branches(), path);
        initialise(&mut engine, &mut noise);
        let jobs = jobs(engine.branches(), &mut noise);
        Bench {
            outcomes: vec![Outcome::default(); jobs.len()],
            engine,
            jobs,
            slopes: setting.slopes,
            count: 0,
        }
    }

    fn step(&mut self) {
        self.engine
            .evaluate(&self.jobs, &self.slopes, &|_| (), &mut self.outcomes);
        self.count += 1;
        let step = AdamStep {
            rate: 1e-4,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            count: self.count,
            plain: false,
        };
        let weights = [1.0; 15];
        self.engine
            .update(&weights[..self.engine.branches().n_branches()], &step);
    }
}

fn on_threads<R: Send>(n_threads: usize, body: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build()
        .expect("a thread pool")
        .install(body)
}

fn measure(name: &str, setting: &Setting, path: SimdPath, steps: usize) {
    for n_threads in [1, 2] {
        let mut bench = Bench::new(setting, path);
        let (mut times, flops) = on_threads(n_threads, || {
            let times: Vec<f64> = (0..steps)
                .map(|_| {
                    let begin = Instant::now();
                    bench.step();
                    begin.elapsed().as_secs_f64()
                })
                .collect();
            (times, bench.engine.flops())
        });
        times.sort_unstable_by(f64::total_cmp);
        let (best, median) = (times[0], times[steps / 2]);
        if n_threads == 1 {
            println!(
                "{name}: {:.1} MFLOP (matrices {:.1}, attention {:.1}, elementary {:.1}, \
                 Adam {:.1}), ℓ₀ = {:.4}",
                flops.total() as f64 * 1e-6,
                flops.matrices as f64 * 1e-6,
                flops.attention as f64 * 1e-6,
                flops.elementary as f64 * 1e-6,
                flops.adam as f64 * 1e-6,
                bench.outcomes[0].energy()
            );
        }
        println!(
            "  {n_threads} threads: median {:.3} ms, best {:.3} ms, {:.1} GFLOP/s at best",
            median * 1e3,
            best * 1e3,
            flops.total() as f64 / best * 1e-9,
        );
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
    let names: Vec<String> = arguments.collect();
    if names.iter().any(|name| name == "count") {
        let mut bench = Bench::new(&SETTINGS[0].1, path);
        on_threads(1, || (0..steps).for_each(|_| bench.step()));
        return;
    }
    println!("{path:?}, {steps} steps");
    for (name, setting) in &SETTINGS {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            measure(name, setting, path, steps);
        }
    }
}
