//! [`ReferenceEngine`]: the seam implemented by the oracle, one branch after the other.

use super::branch::Branch;
use crate::{
    AdamStep, BranchSet, Buffer, Engine, Job, Judge, Layout, Outcome, Precision, positions,
};

/// The f64 engine. Obviously right, slow.
pub struct ReferenceEngine {
    branches: BranchSet,
    layouts: Vec<Layout>,
    positions: Vec<Vec<f64>>,
    state: Vec<BranchState>,
}

#[derive(Clone, Default)]
struct BranchState {
    parameters: Vec<f64>,
    gradient: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl ReferenceEngine {
    /// An engine with all parameters zero; fill them through [`Engine::write`].
    pub fn new(branches: BranchSet) -> ReferenceEngine {
        let d = branches.network.d_model;
        let layouts: Vec<Layout> = branches
            .scales
            .iter()
            .map(|s| Layout::new(s.patch, &branches.network))
            .collect();
        let positions = branches
            .scales
            .iter()
            .map(|s| positions::table(s.n_patches + branches.max_shift, d))
            .collect();
        let state = (0..branches.n_branches())
            .map(|b| {
                let zeros = vec![0.0; layouts[b % layouts.len()].len()];
                BranchState {
                    parameters: zeros.clone(),
                    gradient: zeros.clone(),
                    first: zeros.clone(),
                    second: zeros,
                }
            })
            .collect();
        ReferenceEngine {
            branches,
            layouts,
            positions,
            state,
        }
    }

    fn vector(&self, buffer: Buffer, branch: usize) -> &Vec<f64> {
        let state = &self.state[branch];
        match buffer {
            Buffer::Parameters => &state.parameters,
            Buffer::Gradient => &state.gradient,
            Buffer::FirstMoment => &state.first,
            Buffer::SecondMoment => &state.second,
        }
    }
}

impl Engine for ReferenceEngine {
    fn branches(&self) -> &BranchSet {
        &self.branches
    }

    fn precision(&self) -> Precision {
        Precision::F64
    }

    fn evaluate(
        &mut self,
        jobs: &[Job],
        slopes: &[f64],
        judge: Judge<'_>,
        outcomes: &mut [Outcome],
    ) {
        let n_scales = self.branches.scales.len();
        for (b, state) in self.state.iter_mut().enumerate() {
            let (k, r) = (b / n_scales, b % n_scales);
            let branch = Branch {
                network: &self.branches.network,
                scale: &self.branches.scales[r],
                layout: &self.layouts[r],
                positions: &self.positions[r],
                branches: &self.branches,
            };
            state.gradient.fill(0.0);
            let d_parameters = &mut state.gradient;
            outcomes[b] =
                branch.evaluate(&state.parameters, &jobs[b], slopes[k], judge, d_parameters);
        }
    }

    fn gradient_norm_squared(&self, weights: &[f64]) -> f64 {
        let norms = self
            .state
            .iter()
            .map(|s| s.gradient.iter().map(|g| g * g).sum::<f64>());
        norms.zip(weights).map(|(norm, w)| w * w * norm).sum()
    }

    fn update(&mut self, weights: &[f64], step: &AdamStep) {
        for (s, &weight) in self.state.iter_mut().zip(weights) {
            step.apply(
                weight,
                &s.gradient,
                &mut s.parameters,
                &mut s.first,
                &mut s.second,
            );
        }
    }

    fn permute_sources(&mut self, order: &[usize]) {
        let n_scales = self.branches.scales.len();
        let old = std::mem::take(&mut self.state);
        self.state = order
            .iter()
            .flat_map(|&k| old[k * n_scales..][..n_scales].to_vec())
            .collect();
    }

    fn read(&self, buffer: Buffer, branch: usize, values: &mut [f64]) {
        values.copy_from_slice(self.vector(buffer, branch));
    }

    fn write(&mut self, buffer: Buffer, branch: usize, values: &[f64]) {
        let state = &mut self.state[branch];
        match buffer {
            Buffer::Parameters => &mut state.parameters,
            Buffer::Gradient => &mut state.gradient,
            Buffer::FirstMoment => &mut state.first,
            Buffer::SecondMoment => &mut state.second,
        }
        .copy_from_slice(values);
    }
}
