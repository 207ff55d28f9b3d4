//! A step of the CPU engine alone (evaluate, then Adam), in the sizes and with the slopes of the
//! case study.

use super::drawn::DrawnStep;
use super::setting;
use std::error::Error;
use std::time::Instant;
use strt_kernels::cpu::{CpuEngine, SimdPath};
use strt_kernels::{AdamStep, Buffer, Engine, Flops, Job, Outcome};

/// An engine with everything that its step needs.
pub struct EngineStep {
    engine: CpuEngine,
    jobs: Vec<Job>,
    slopes: Vec<f64>,
    weights: Vec<f64>,
    outcomes: Vec<Outcome>,
    count: u64,
}

impl EngineStep {
    /// The first step on a given instruction set, which this machine must have. The recording is
    /// one that is made quickly: under valgrind a Gaussian process would take longer than the
    /// steps.
    pub fn case_study(path: SimdPath) -> Result<EngineStep, Box<dyn Error>> {
        let recording = setting::autoregressive(1000, 6, 3)?;
        let step = DrawnStep::record(&recording, &setting::config(3, 1), 1)?;
        let mut engine = CpuEngine::with_simd(step.branches, path);
        for (b, values) in step.networks.iter().enumerate() {
            engine.write(Buffer::Parameters, b, values);
        }
        let outcome = |job: &Job| Outcome {
            d_window: vec![0.0; job.window.len()],
            ..Outcome::default()
        };
        Ok(EngineStep {
            outcomes: step.jobs.iter().map(outcome).collect(),
            weights: vec![1.0; engine.branches().n_branches()],
            engine,
            jobs: step.jobs,
            slopes: step.slopes,
            count: 0,
        })
    }

    /// The arithmetic that the last step needed.
    pub fn flops(&self) -> Flops {
        self.engine.flops()
    }

    /// One step on the current thread pool.
    pub fn take(&mut self) {
        self.count += 1;
        self.engine
            .evaluate(&self.jobs, &self.slopes, &|_| (), &mut self.outcomes);
        let adam = AdamStep {
            rate: 1e-4,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            count: self.count,
            plain: false,
        };
        self.engine.update(&self.weights, &adam);
    }

    /// Seconds of each of `steps` steps.
    pub fn time(&mut self, pool: &rayon::ThreadPool, steps: usize) -> Vec<f64> {
        pool.install(|| {
            let one = |_| {
                let began = Instant::now();
                self.take();
                began.elapsed().as_secs_f64()
            };
            (0..steps).map(one).collect()
        })
    }
}

/// A pool of this many threads.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}
