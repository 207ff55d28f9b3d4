//! [`CpuEngine`]: the seam implemented in f32, all branches in parallel on the current rayon pool.
//!
//! One job is the window of one branch; [`crew`] shares jobs and their parts out. Every job has a
//! gradient of its own, so the bits do not depend on the number of threads. Memory per thread is
//! allocated when a pool with more threads than before first calls [`Engine::evaluate`]; all else
//! in the constructor.

use super::aligned::Aligned;
use super::branch::Branch;
use super::crew::Slot;
use super::shared::Shared;
use super::simd::portable::Portable;
use super::simd::{Simd, SimdPath};
use super::workspace::{Scratch, Workspace};
use super::{adam, attention, crew};
use crate::flops::JobSize;
use crate::{
    AdamStep, BranchSet, Buffer, Engine, Flops, Job, Judge, Layout, Outcome, Precision, positions,
};
use rayon::prelude::*;

/// The f32 engine: vectorised, multithreaded, and the same bits at any number of threads.
///
/// It computes on the rayon pool in which it is called. Like every [`Engine`] it starts with all
/// parameters zero.
pub struct CpuEngine {
    branches: BranchSet,
    path: SimdPath,
    layouts: Vec<Layout>,    // per scale
    positions: Vec<Aligned>, // per scale, (N + max_shift)×d
    states: Vec<BranchState>,
    sizes: Vec<JobSize>, // per branch, of the last evaluation
    order: Vec<usize>,   // branches, biggest job first
    slots: Vec<Slot>,    // per thread, as the next two
    workspaces: Vec<Workspace>,
    scratches: Vec<Scratch>,
}

/// What one branch owns; vectors are in the order of its layout.
struct BranchState {
    parameters: Aligned,
    first: Aligned,
    second: Aligned,
    gradient: Aligned,
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
                let table =
                    positions::table(s.n_patches + branches.max_shift, branches.network.d_model);
                let mut rounded = Aligned::zeros(table.len());
                copy_in(&mut rounded, &table);
                rounded
            })
            .collect();
        let n_branches = branches.n_branches();
        let zeros = |b: usize| Aligned::zeros(layouts[b % layouts.len()].len());
        let states = (0..n_branches)
            .map(|b| BranchState {
                parameters: zeros(b),
                first: zeros(b),
                second: zeros(b),
                gradient: zeros(b),
                gradient_norm_squared: 0.0,
            })
            .collect();
        CpuEngine {
            states,
            sizes: vec![JobSize::default(); n_branches],
            order: (0..n_branches).collect(),
            slots: Vec::new(),
            workspaces: Vec::new(),
            scratches: Vec::new(),
            branches,
            path,
            layouts,
            positions,
        }
    }

    /// The instruction set in use.
    pub fn simd_path(&self) -> SimdPath {
        self.path
    }

    /// Arithmetic that the last evaluation and one update need; all zero but for the update before
    /// the first one.
    pub fn flops(&self) -> Flops {
        let mut flops = Flops::default();
        for (b, &size) in self.sizes.iter().enumerate() {
            flops.add_job(&self.branches.network, self.branches.scale_of(b), size);
        }
        for b in 0..self.states.len() {
            flops.add_update(&self.layouts[b % self.layouts.len()]);
        }
        flops
    }

    /// Memory for `n_threads` threads; nothing happens if there is enough already.
    fn make_room(&mut self, n_threads: usize) {
        let lanes = self.path.lanes();
        while self.slots.len() < n_threads {
            self.slots.push(Slot::default());
            self.workspaces.push(Workspace::new(&self.branches, lanes));
            self.scratches.push(Scratch::new(&self.branches, lanes));
        }
    }

    /// Orders the jobs by their estimated work.
    fn order_by_cost(&mut self, jobs: &[Job], slopes: &[f64]) {
        let n_scales = self.branches.scales.len();
        let cost = |b: usize| -> f64 {
            let tokens = jobs[b].tokens.len() as f64;
            // A band reaches about 24/α patches to either side; one key costs about a hundredth of
            // a token's matrices.
            let keys = (48.0 / slopes[b / n_scales]).min(tokens);
            tokens * (1.0 + 0.01 * keys)
        };
        self.order
            .sort_unstable_by(|&a, &b| cost(b).total_cmp(&cost(a)).then(a.cmp(&b)));
    }

    fn evaluate_with<S: Simd>(
        &mut self,
        simd: S,
        jobs: &[Job],
        slopes: &[f64],
        judge: Judge<'_>,
        outcomes: &mut [Outcome],
    ) {
        let n_threads = rayon::current_num_threads();
        self.make_room(n_threads);
        let n_scales = self.branches.scales.len();
        let states = Shared::new(&mut self.states);
        let (outcomes, sizes) = (Shared::new(outcomes), Shared::new(&mut self.sizes));
        crew::run(
            &self.order,
            &self.slots[..n_threads],
            &mut self.workspaces,
            &mut self.scratches,
            |b, workspace, crew| {
                let (k, r) = (b / n_scales, b % n_scales);
                let branch = Branch {
                    network: &self.branches.network,
                    scale: &self.branches.scales[r],
                    layout: &self.layouts[r],
                    positions: &self.positions[r],
                    branches: &self.branches,
                };
                // SAFETY: a job is led once, and its branch, outcome and size are its own.
                let (state, outcome, size) = unsafe {
                    (
                        &mut states.part(b..b + 1)[0],
                        &mut outcomes.part(b..b + 1)[0],
                        &mut sizes.part(b..b + 1)[0],
                    )
                };
                *size = branch.evaluate(
                    simd,
                    crew,
                    &state.parameters,
                    &jobs[b],
                    slopes[k],
                    judge,
                    &mut state.gradient,
                    workspace,
                    outcome,
                );
                state.gradient_norm_squared = norm_squared(simd, &state.gradient);
            },
        );
    }

    fn update_with<S: Simd>(&mut self, simd: S, weights: &[f64], step: &AdamStep) {
        self.states
            .par_iter_mut()
            .with_max_len(1)
            .zip(weights)
            .for_each(|(state, &weight)| {
                let BranchState {
                    parameters,
                    first,
                    second,
                    gradient,
                    ..
                } = state;
                adam::update(simd, step, weight, gradient, parameters, first, second);
            });
    }

    fn measure_with<S: Simd>(&mut self, simd: S, branch: usize) {
        let state = &mut self.states[branch];
        state.gradient_norm_squared = norm_squared(simd, &state.gradient);
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

    fn evaluate(
        &mut self,
        jobs: &[Job],
        slopes: &[f64],
        judge: Judge<'_>,
        outcomes: &mut [Outcome],
    ) {
        assert_eq!(jobs.len(), self.states.len(), "one job per branch");
        assert_eq!(outcomes.len(), jobs.len(), "one outcome per job");
        assert_eq!(
            slopes.len(),
            self.branches.n_sources,
            "one slope per source"
        );
        self.order_by_cost(jobs, slopes);
        on_path!(self.evaluate_with(jobs, slopes, judge, outcomes))
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
            // What source order[k] had may have been swapped away already, to where the next place
            // came from.
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
        if buffer == Buffer::Gradient {
            on_path!(self.measure_with(branch))
        }
    }
}

fn copy_in(to: &mut [f32], values: &[f64]) {
    assert_eq!(values.len(), to.len(), "length of a branch vector");
    for (slot, &value) in to.iter_mut().zip(values) {
        *slot = value as f32;
    }
}

/// Σ g² in f64, sixteen partial sums side by side so that it vectorises.
fn norm_squared<S: Simd>(simd: S, gradient: &[f32]) -> f64 {
    simd.run(
        #[inline(always)]
        || {
            let mut sums = [0.0; 16];
            let (chunks, rest) = gradient.as_chunks::<16>();
            for chunk in chunks {
                for i in 0..16 {
                    let g = f64::from(chunk[i]);
                    sums[i] += g * g;
                }
            }
            let rest: f64 = rest.iter().map(|&g| f64::from(g) * f64::from(g)).sum();
            sums.iter().sum::<f64>() + rest
        },
    )
}
