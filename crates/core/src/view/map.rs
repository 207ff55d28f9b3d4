//! The rows of a recording over which sources that are a map of them are evaluated: all of them, or
//! one random block after the other.
//!
//! Such sources have no moments to be followed by, unlike those of [`super::long`], but they are
//! known everywhere from the map alone. So a step of a long recording evaluates one block as if it
//! were the recording, with means and deviations of its own; the sources of all samples are formed
//! when somebody asks for them.

use super::dense::Dense;
use super::gauge::Gauge;
use super::long::basis::Basis;
use super::second_moments::{KernelData, SecondMoments};
use super::standardize::Standardize;
use super::whole::WholeData;
use super::{Excerpt, Samples, judged};
use crate::config::Plan;
use crate::energy::SourceWindows;
use crate::mixer::Mixer;
use faer::{Mat, MatMut, MatRef};
use std::ops::Range;
use std::sync::Arc;
use strt_signal::columns::col_mut;
use strt_signal::rows::Rows;

/// Samples that are formed at once.
const STRETCH: usize = 4096;

/// A map from rows of Zw (n×K) to rows of S (n×K), which it overwrites.
pub(crate) type RowMap<'a> = &'a dyn Fn(MatRef<'_, f64>, MatMut<'_, f64>);

/// The rows of a step, and the recording that they are taken from.
pub(crate) struct MapView {
    plan: Plan,
    data: WholeData, // of the rows
    dense: Dense,
    basis: Option<Arc<Basis>>, // of a recording that is read block by block
}

fn sampled(kernel: Option<&KernelData>, len: usize) -> SecondMoments {
    kernel.map_or(SecondMoments::Off, |kernel| kernel.sampled(len))
}

impl MapView {
    /// Of a recording that is evaluated whole.
    pub fn whole(
        plan: &Plan,
        data: WholeData,
        rows: Rows,
        mixer: &dyn Mixer,
        kernel: Option<&KernelData>,
    ) -> MapView {
        let moments = sampled(kernel, rows.n_samples());
        MapView {
            dense: Dense::new(plan, rows, mixer, moments),
            plan: plan.clone(),
            data,
            basis: None,
        }
    }

    /// Of a longer recording, block by block.
    pub fn in_blocks(
        plan: &Plan,
        basis: Arc<Basis>,
        mixer: &dyn Mixer,
        kernel: Option<&KernelData>,
    ) -> MapView {
        let len = plan.block_len;
        let data = WholeData {
            observations: Arc::new(Mat::zeros(len, basis.observations.n_channels())),
            whitened: Arc::new(Mat::zeros(len, basis.zz.ncols())),
        };
        let rows = basis.rows().block(len);
        MapView {
            dense: Dense::new(plan, rows, mixer, sampled(kernel, len)),
            plan: plan.clone(),
            data,
            basis: Some(basis),
        }
    }

    /// Zw of the rows of this step.
    pub fn whitened(&self) -> MatRef<'_, f64> {
        (*self.data.whitened).as_ref()
    }

    /// S, Z and their gradients at the rows of this step.
    pub fn dense(&mut self) -> (&mut Dense, MatRef<'_, f64>) {
        (&mut self.dense, (*self.data.whitened).as_ref())
    }

    /// Which rows of this step are there.
    pub fn rows(&self) -> &Rows {
        &self.dense.rows
    }

    /// Number of rows of a step.
    pub fn n_rows(&self) -> usize {
        self.dense.rows.n_samples()
    }

    /// Reads the rows of this step, and S there by `map`.
    pub fn place(&mut self, excerpt: &Excerpt, map: impl FnOnce(MatRef<'_, f64>, MatMut<'_, f64>)) {
        if let Some(basis) = &self.basis {
            let first = excerpt.blocks[0];
            let own = "the data of a block belong to it alone";
            let y = Arc::get_mut(&mut self.data.observations).expect(own);
            let z = Arc::get_mut(&mut self.data.whitened).expect(own);
            basis.read(first, y.as_mut(), z.as_mut());
            self.dense.first = first;
            self.dense.rows.read_stretch(basis.rows(), first);
            // L_rec is T/B times the sum over the block, of the samples that are there.
            let share = self.dense.rows.n_valid() as f64 / basis.rows().n_valid() as f64;
            self.dense.reconstruction.variance = share * self.plan.observation_variance;
        }
        let whitened = (*self.data.whitened).as_ref();
        let rows = self.dense.rows.clone();
        self.dense.place(|mut s| {
            map(whitened, s.as_mut());
            for k in 0..s.ncols() {
                rows.zero_missing(col_mut(s.as_mut(), k));
            }
        });
    }

    /// S of these samples; 0 in missing rows.
    fn form(&self, basis: &Basis, map: RowMap<'_>, samples: Range<usize>) -> Mat<f64> {
        let most = STRETCH.min(samples.len());
        let mut y = Mat::zeros(most, basis.observations.n_channels());
        let mut z = Mat::zeros(most, basis.zz.ncols());
        let mut s = Mat::zeros(samples.len(), self.plan.config().n_sources);
        for first in (0..samples.len()).step_by(STRETCH) {
            let n = STRETCH.min(samples.len() - first);
            let mut z = z.as_mut().subrows_mut(0, n);
            basis.read(
                samples.start + first,
                y.as_mut().subrows_mut(0, n),
                z.as_mut(),
            );
            let mut s = s.as_mut().subrows_mut(first, n);
            map(z.as_ref(), s.as_mut());
            for k in 0..s.ncols() {
                basis
                    .rows()
                    .zero_missing_from(samples.start + first, col_mut(s.as_mut(), k));
            }
        }
        s
    }

    /// S̃ of all samples (T×K), each standardised as all of them ask for, and their gauge.
    fn all_inputs(&self, basis: &Basis, map: RowMap<'_>) -> (Mat<f64>, Gauge) {
        let config = self.plan.config();
        let s = self.form(basis, map, 0..basis.rows().n_samples());
        let mut standardize = Standardize::new(s.nrows(), s.ncols(), config.sources.epsilon);
        standardize.forward(s.as_ref(), basis.rows());
        let Standardize { z, gauge } = standardize;
        let decoded = config.mixer.decoder_standardization;
        (if decoded { z } else { s }, gauge)
    }

    /// S̃ of all samples (T×K): what the mixer was fed at the last evaluation or, in blocks, would
    /// be fed.
    pub fn sources(&self, map: RowMap<'_>) -> Mat<f64> {
        match &self.basis {
            None => self.dense.mixer_input().to_owned(),
            Some(basis) => self.all_inputs(basis, map).0,
        }
    }

    /// The sources over the samples by which correlation times are judged: S̃ of all, or S in the
    /// middle of a longer recording. Neither mean nor scale changes a correlation time.
    pub fn judged_sources(&self, map: RowMap<'_>) -> Mat<f64> {
        match &self.basis {
            None => self.dense.mixer_input().to_owned(),
            Some(basis) => self.form(basis, map, judged(basis.rows().n_samples())),
        }
    }

    /// S̃ of all samples at the end of a run, from when on the gauge is theirs.
    pub fn settle(&mut self, map: RowMap<'_>) -> Mat<f64> {
        let Some(basis) = &self.basis else {
            return self.dense.mixer_input().to_owned();
        };
        let (input, gauge) = self.all_inputs(basis, map);
        self.dense.standardize.gauge = gauge;
        input
    }
}

impl SourceWindows for MapView {
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

impl Samples for MapView {
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
        self.dense.linear_fit(self.whitened())
    }

    fn fit_mixer(&mut self, mixer: &mut dyn Mixer, input: MatRef<'_, f64>) -> Option<f64> {
        let observations = &self.basis.as_ref()?.observations;
        let variance = self.plan.observation_variance;
        let term = &mut self.dense.reconstruction;
        variance
            .is_finite()
            .then(|| term.fit(mixer, observations, input) / (2.0 * variance))
    }

    fn observations(&self) -> Option<MatRef<'_, f64>> {
        let all = self.basis.is_none();
        all.then(|| (*self.data.observations).as_ref())
    }
}
