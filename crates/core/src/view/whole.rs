//! A short recording, looked at whole in every step.
//!
//! ```text
//! S = Zw·A + E        d_A = Zwᵀ·d_S,  d_E = d_S
//! ```
//!
//! Every preset runs this way up to `optimizer.block` samples; beyond, see [`super::long`].

use super::dense::Dense;
use super::gauge::Gauge;
use super::second_moments::{KernelData, SecondMoments};
use super::{Excerpt, Samples, View};
use crate::Result;
use crate::adam_group::AdamGroup;
use crate::config::Plan;
use crate::energy::{SourceWindows, Window};
use crate::linalg::permute::permute_columns;
use crate::mixer::Mixer;
use crate::tensors::Tensors;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::sync::Arc;
use strt_kernels::AdamStep;
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::Rows;

/// The data of a short recording: scaled channels and their whitening, 0 in missing rows.
#[derive(Clone, Debug)]
pub(crate) struct WholeData {
    /// Y (T×m).
    pub observations: Arc<Mat<f64>>,
    /// Zw (T×K).
    pub whitened: Arc<Mat<f64>>,
}

/// E and its optimiser.
struct Free {
    e: Mat<f64>,              // T×K
    group: Option<AdamGroup>, // absent where E never moves
}

/// S of a short recording.
pub(crate) struct Whole {
    data: WholeData,
    dense: Dense,
    free: Option<Free>,
}

impl Whole {
    /// With E at `e`, which `moves` or stays.
    pub fn new(
        plan: &Plan,
        data: WholeData,
        rows: Rows,
        mixer: &dyn Mixer,
        e: Option<Mat<f64>>,
        moves: bool,
        kernel: Option<&KernelData>,
    ) -> Whole {
        let k = plan.config().n_sources;
        let moments = match kernel {
            None => SecondMoments::Off,
            Some(kernel) if e.is_none() => kernel.linear(k),
            Some(kernel) => kernel.sampled(rows.n_samples()),
        };
        Whole {
            data,
            dense: Dense::new(plan, rows, mixer, moments),
            free: e.map(|e| Free {
                group: moves.then(|| AdamGroup::new(e.nrows(), e.ncols())),
                e,
            }),
        }
    }
}

impl SourceWindows for Whole {
    fn read(&self, source: usize, first: usize, window: &mut [f64]) {
        self.dense.read(source, first, window);
    }

    fn add_gradient(&mut self, source: usize, first: usize, factor: f64, d_window: &[f64]) {
        self.dense.add_gradient(source, first, factor, d_window);
    }

    fn read_moments(&self, source: usize, moments: &mut [f64]) {
        self.dense.read_moments(source, moments);
    }

    fn add_moment_gradient(&mut self, source: usize, factor: f64, d_moments: &[f64]) {
        self.dense.add_moment_gradient(source, factor, d_moments);
    }
}

impl Samples for Whole {
    fn reconstruct(&mut self, mixer: &mut dyn Mixer, d_mixer: &mut [f64]) -> f64 {
        let observations = (*self.data.observations).as_ref();
        self.dense.reconstruct(mixer, &observations, d_mixer)
    }

    fn separate(&mut self) -> f64 {
        self.dense.separate()
    }

    fn smooth(&mut self) -> f64 {
        self.dense.smooth()
    }

    fn gauge(&self) -> &Gauge {
        self.dense.gauge()
    }

    fn gauge_mut(&mut self) -> &mut Gauge {
        &mut self.dense.standardize.gauge
    }

    fn linear_fit(&self) -> (Mat<f64>, Vec<f64>) {
        self.dense.linear_fit((*self.data.whitened).as_ref())
    }

    fn fit_mixer(&mut self, _mixer: &mut dyn Mixer, _input: MatRef<'_, f64>) -> Option<f64> {
        None
    }

    fn observations(&self) -> Option<MatRef<'_, f64>> {
        Some((*self.data.observations).as_ref())
    }
}

impl View for Whole {
    fn place(&mut self, a: Option<&Mat<f64>>, _excerpt: &Excerpt, _windows: &[Window]) {
        self.dense.moments.place(a);
        let (whitened, free) = ((*self.data.whitened).as_ref(), &self.free);
        let rows = self.dense.rows.clone();
        self.dense.place(|mut s| {
            match (a, free) {
                (Some(a), free) => {
                    matmul(s.as_mut(), Accum::Replace, whitened, a, 1.0, Par::Seq);
                    if let Some(Free { e, .. }) = free {
                        s += e;
                    }
                }
                (None, Some(Free { e, .. })) => s.copy_from(e),
                (None, None) => s.fill(0.0),
            }
            for k in 0..s.ncols() {
                rows.zero_missing(col_mut(s.as_mut(), k));
            }
        });
    }

    fn pull_back(&mut self, d_a: Option<&mut Mat<f64>>) {
        let d_s = self.dense.close();
        if let Some(d_a) = d_a {
            let whitened = self.data.whitened.transpose();
            matmul(d_a.as_mut(), Accum::Replace, whitened, d_s, 1.0, Par::Seq);
            self.dense.moments.add_to(d_a);
        }
    }

    fn free_norm_squared(&self) -> f64 {
        self.dense.d_s.squared_norm_l2()
    }

    fn move_free(&mut self, step: &AdamStep, scale: f64, pace: &dyn Fn(usize) -> f64) {
        if let Some(Free {
            e,
            group: Some(group),
        }) = &mut self.free
        {
            group.update_columns(*step, scale, self.dense.d_s.as_ref(), e.as_mut(), pace);
        }
    }

    fn permute(&mut self, order: &[usize]) {
        if let Some(free) = &mut self.free {
            permute_columns(&mut free.e, order);
            if let Some(group) = &mut free.group {
                group.permute_columns(order);
            }
        }
    }

    fn is_free(&self) -> bool {
        self.free.is_some()
    }

    fn sources(&self, _a: Option<&Mat<f64>>) -> Mat<f64> {
        self.dense.mixer_input().to_owned()
    }

    fn take_sources(&mut self, a: Option<&Mat<f64>>) -> Mat<f64> {
        self.sources(a)
    }

    fn judged_sources(&self, a: Option<&Mat<f64>>) -> Mat<f64> {
        self.sources(a)
    }

    fn save(&self, name: &str, to: &mut Tensors) {
        if let Some(free) = &self.free {
            to.put(name, free.e.clone());
            if let Some(group) = &free.group {
                group.save(name, to);
            }
        }
    }

    fn restore(&mut self, name: &str, from: &Tensors) -> Result<()> {
        if let Some(free) = &mut self.free {
            from.read(name, &mut free.e)?;
            if let Some(group) = &mut free.group {
                group.restore(name, from)?;
            }
        }
        Ok(())
    }

    fn save_gradient(&self, name: &str, to: &mut Tensors) {
        if self.free.is_some() {
            to.put(name, self.dense.d_s.clone());
        }
    }

    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        let d_s = self.dense.d_s.as_ref();
        (0..d_s.ncols())
            .map(|k| (k, 0, col(d_s, k).to_vec()))
            .collect()
    }

    fn set_free(&mut self, e: &Mat<f64>) {
        if let Some(free) = &mut self.free {
            free.e.copy_from(e);
        }
    }
}
