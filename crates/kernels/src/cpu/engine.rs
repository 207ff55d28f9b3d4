//! [`CpuEngine`]: the seam implemented in f32, all branches in parallel on the current rayon pool.
//!
//! One task is one branch with all its draws, so a branch's gradient is always summed in the same order and the bits
//! do not depend on the number of threads. Tasks borrow one of a few workspaces; which one does not matter, because
//! nothing in it outlives the task. Everything is allocated in the constructor.

use super::aligned::Aligned;
use super::branch::{Branch, Weights};
use super::simd::portable::Portable;
use super::simd::{Simd, SimdPath};
use super::workspace::Workspace;
use super::{adam, attention, queue};
use crate::{AdamStep, BranchSet, Buffer, Engine, Job, Layout, Outcome, Precision, positions};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The f32 engine: vectorised, multithreaded, and the same bits at any number of threads.
///
/// It computes on the rayon pool in which it is called. Like every [`Engine`] it starts with all parameters zero.
pub struct CpuEngine {
    branches: BranchSet,
    path: SimdPath,
    layouts: Vec<Layout>,    // per scale
    positions: Vec<Aligned>, // per scale, (N + max_shift)×d
    states: Vec<BranchState>,
    order: Vec<usize>, // branches, biggest first
    workspaces: Vec<Mutex<Workspace>>,
}

/// What one branch owns; all of them in the order of its layout.
struct BranchState {
    parameters: Aligned,
    transposed: Aligned, // matrices only, of the parameters at the last evaluation
    gradient: Aligned,
    first: Aligned,
    second: Aligned,
    gradient_norm_squared: f64,
}

impl CpuEngine {
    /// An engine on the fastest instruction set of this machine.
    pub fn new(branches: BranchSet) -> CpuEngine {
        CpuEngine::with_simd(branches, SimdPath::detect())
    }

    /// An engine on a given instruction set. Panics if this machine does not have it.
    pub fn with_simd(branches: BranchSet, path: SimdPath) -> CpuEngine {
        assert!(path.is_available(), "this machine cannot run {path:?}");
        let d_head = branches.network.d_head();
        assert!(
            d_head <= attention::MAX_D_HEAD,
            "d_head = {d_head}, at most {}",
            attention::MAX_D_HEAD
        );
        let layouts: Vec<Layout> = branches
            .scales
            .iter()
            .map(|s| Layout::new(s.patch, &branches.network))
            .collect();
        let positions = branches
            .scales
            .iter()
            .map(|s| {
                let table = positions::table(s.n_patches + branches.max_shift, branches.network.d_model);
                let mut rounded = Aligned::zeros(table.len());
                copy_in(&mut rounded, &table);
                rounded
            })
            .collect();
        let n_branches = branches.n_branches();
        let states = (0..n_branches)
            .map(|b| {
                let zeros = Aligned::zeros(layouts[b % layouts.len()].len());
                BranchState {
                    parameters: zeros.clone(),
                    transposed: zeros.clone(),
                    gradient: zeros.clone(),
                    first: zeros.clone(),
                    second: zeros,
                    gradient_norm_squared: 0.0,
                }
            })
            .collect();
        let n_threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let workspaces = (0..n_branches.min(n_threads.max(4)))
            .map(|_| Mutex::new(Workspace::new(&branches, path.lanes())))
            .collect();
        CpuEngine {
            branches,
            path,
            layouts,
            positions,
            states,
            order: (0..n_branches).collect(),
            workspaces,
        }
    }

    /// The instruction set in use.
    pub fn simd_path(&self) -> SimdPath {
        self.path
    }

    /// Orders the branches by their estimated work.
    fn order_by_cost(&mut self, jobs: &[Job], slopes: &[f64]) {
        let (n_scales, n_draws) = (self.branches.scales.len(), self.branches.n_draws);
        let cost = |b: usize| -> f64 {
            let tokens: usize = jobs[b * n_draws..][..n_draws]
                .iter()
                .map(|job| job.tokens.len())
                .sum();
            // A band reaches about 24/α patches to either side; one key costs about a hundredth of a token's matrices.
            let keys = (48.0 / slopes[b / n_scales]).min(tokens as f64 / n_draws as f64);
            tokens as f64 * (1.0 + 0.01 * keys)
        };
        self.order
            .sort_unstable_by(|&a, &b| cost(b).total_cmp(&cost(a)).then(a.cmp(&b)));
    }

    fn evaluate_with<S: Simd>(&mut self, simd: S, jobs: &[Job], slopes: &[f64], outcomes: &mut [Outcome]) {
        let (n_scales, n_draws) = (self.branches.scales.len(), self.branches.n_draws);
        let CpuEngine {
            branches,
            layouts,
            positions,
            states,
            order,
            workspaces,
            ..
        } = self;
        queue::for_each(order, states, outcomes, |b, state, outcomes| {
            let (k, r) = (b / n_scales, b % n_scales);
            let branch = Branch {
                network: &branches.network,
                scale: &branches.scales[r],
                layout: &layouts[r],
                positions: &positions[r],
            };
            let BranchState {
                parameters,
                transposed,
                gradient,
                ..
            } = state;
            branch.transpose(parameters, transposed);
            gradient.fill(0.0);
            let mut workspace = borrow_one(workspaces, b);
            for (draw, outcome) in outcomes.iter_mut().enumerate() {
                let job = &jobs[b * n_draws + draw];
                let weights = Weights {
                    parameters,
                    transposed,
                };
                branch.evaluate(simd, weights, job, slopes[k], gradient, &mut workspace, outcome);
            }
            if n_draws > 1 {
                gradient.iter_mut().for_each(|g| *g /= n_draws as f32);
            }
            state.gradient_norm_squared = norm_squared(&state.gradient);
        });
    }

    fn update_with<S: Simd>(&mut self, simd: S, weights: &[f64], step: &AdamStep) {
        queue::for_each(&self.order, &mut self.states, &mut [(); 0], |b, s, _| {
            adam::update(
                simd,
                step,
                weights[b],
                &s.gradient,
                &mut s.parameters,
                &mut s.first,
                &mut s.second,
            );
        });
    }
}

/// Calls `$engine.$method(token, …)` with the token of the engine's path.
macro_rules! on_path {
    ($engine:ident.$method:ident($($argument:expr),*)) => {
        match $engine.path {
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx512 => {
                let token = super::simd::avx512::Avx512::detect().expect("checked at construction");
                $engine.$method(token, $($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            SimdPath::Avx2 => {
                let token = super::simd::avx2::Avx2::detect().expect("checked at construction");
                $engine.$method(token, $($argument),*)
            }
            _ => $engine.$method(Portable, $($argument),*),
        }
    };
}

impl Engine for CpuEngine {
    fn branches(&self) -> &BranchSet {
        &self.branches
    }

    fn precision(&self) -> Precision {
        Precision::F32
    }

    fn evaluate(&mut self, jobs: &[Job], slopes: &[f64], outcomes: &mut [Outcome]) {
        assert_eq!(jobs.len(), self.branches.n_jobs(), "jobs of one step");
        assert_eq!(outcomes.len(), jobs.len(), "one outcome per job");
        assert_eq!(slopes.len(), self.branches.n_sources, "one slope per source");
        self.order_by_cost(jobs, slopes);
        on_path!(self.evaluate_with(jobs, slopes, outcomes))
    }

    fn gradient_norm_squared(&self, weights: &[f64]) -> f64 {
        self.states
            .iter()
            .zip(weights)
            .map(|(state, w)| w * w * state.gradient_norm_squared)
            .sum()
    }

    fn update(&mut self, weights: &[f64], step: &AdamStep) {
        assert_eq!(weights.len(), self.states.len(), "one weight per branch");
        on_path!(self.update_with(weights, step))
    }

    fn permute_sources(&mut self, order: &[usize]) {
        let n_scales = self.branches.scales.len();
        assert_eq!(order.len(), self.branches.n_sources, "one place per source");
        for k in 0..order.len() {
            // What source order[k] had may have been swapped away already, to where the next place came from.
            let mut from = order[k];
            while from < k {
                from = order[from];
            }
            for r in 0..n_scales {
                self.states.swap(k * n_scales + r, from * n_scales + r);
            }
        }
    }

    fn read(&self, buffer: Buffer, branch: usize, values: &mut [f64]) {
        let state = &self.states[branch];
        let from = match buffer {
            Buffer::Parameters => &state.parameters,
            Buffer::Gradient => &state.gradient,
            Buffer::FirstMoment => &state.first,
            Buffer::SecondMoment => &state.second,
        };
        assert_eq!(values.len(), from.len(), "length of a branch vector");
        for (value, &x) in values.iter_mut().zip(from.iter()) {
            *value = f64::from(x);
        }
    }

    fn write(&mut self, buffer: Buffer, branch: usize, values: &[f64]) {
        let state = &mut self.states[branch];
        let to = match buffer {
            Buffer::Parameters => &mut state.parameters,
            Buffer::Gradient => &mut state.gradient,
            Buffer::FirstMoment => &mut state.first,
            Buffer::SecondMoment => &mut state.second,
        };
        copy_in(to, values);
        state.gradient_norm_squared = norm_squared(&state.gradient);
    }
}

fn copy_in(to: &mut [f32], values: &[f64]) {
    assert_eq!(values.len(), to.len(), "length of a branch vector");
    for (slot, &value) in to.iter_mut().zip(values) {
        *slot = value as f32;
    }
}

/// Σ g² in f64, eight partial sums side by side so that it vectorises.
fn norm_squared(gradient: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = gradient.as_chunks::<8>();
    for chunk in chunks {
        for (sum, &g) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(g) * f64::from(g);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>()
}

/// A free workspace; the first one that is free, so that few of them are hot. Waits if there are more threads than
/// workspaces.
fn borrow_one(workspaces: &[Mutex<Workspace>], branch: usize) -> MutexGuard<'_, Workspace> {
    for workspace in workspaces {
        match workspace.try_lock() {
            Ok(free) => return free,
            // A panic elsewhere cannot leave anything behind that matters: a workspace is written before it is read.
            Err(TryLockError::Poisoned(free)) => return free.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
    }
    workspaces[branch % workspaces.len()]
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
