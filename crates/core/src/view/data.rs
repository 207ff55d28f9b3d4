//! The prepared samples of a recording, and the views of them.
//!
//! A recording that is looked at whole is scaled and whitened once. A longer one is not copied: it
//! is scaled where it is read, and of its whitening only the moments are kept. This is the one
//! place that tells the two apart.

use super::View;
use super::excerpts::Excerpts;
use super::long::basis::Basis;
use super::long::{FreeMoments, Long};
use super::map::MapView;
use super::second_moments::KernelData;
use super::whole::{Whole, WholeData};
use crate::Result;
use crate::config::Plan;
use crate::energy::Energy;
use crate::mixer::Mixer;
use faer::{Mat, MatMut};
use std::sync::Arc;
use strt_signal::Recording;
use strt_signal::preprocess::observations::Observations;
use strt_signal::preprocess::{ChannelScaling, Whitening};
use strt_signal::rows::Rows;

/// The prepared samples.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// Copies, scaled and whitened.
    Whole {
        /// The copies.
        data: WholeData,
        /// Which samples are there.
        rows: Rows,
    },
    /// Moments, and the recording itself.
    Long(Arc<Basis>),
}

impl Data {
    /// Prepares a recording whose channels are scaled and whitened as given.
    pub fn new(
        recording: &Recording,
        plan: &Plan,
        scaling: &ChannelScaling,
        whitening: &Whitening,
        observations: Observations,
    ) -> Result<Data> {
        if plan.is_long {
            let basis = Basis::new(observations, whitening, plan.smoothness_order());
            return Ok(Data::Long(Arc::new(basis)));
        }
        let scaled = scaling.apply(recording.observations())?;
        let whitened = whitening.transform(scaled.as_ref())?;
        let mut prepared = Mat::zeros(recording.n_samples(), recording.n_channels());
        observations.read(0, prepared.as_mut());
        Ok(Data::Whole {
            data: WholeData {
                observations: Arc::new(prepared),
                whitened: Arc::new(whitened),
            },
            rows: observations.rows().clone(),
        })
    }

    /// Rows first.. of the scaled channels → `out`, as many as it has; 0 in missing rows.
    pub fn read(&self, first: usize, mut out: MatMut<'_, f64>) {
        match self {
            Data::Whole { data, .. } => {
                let n = out.nrows();
                out.copy_from(data.observations.subrows(first, n));
            }
            Data::Long(basis) => basis.observations.read(first, out),
        }
    }

    /// Which samples are there.
    pub fn rows(&self) -> &Rows {
        match self {
            Data::Whole { rows, .. } => rows,
            Data::Long(basis) => basis.rows(),
        }
    }

    /// The view of S = Zw·A + E, with E at `e`, which `moves` or stays, and what its steps look at.
    pub fn view(
        &self,
        plan: &Plan,
        mixer: &dyn Mixer,
        e: Option<Mat<f64>>,
        moves: bool,
        kernel: Option<&KernelData>,
    ) -> (Box<dyn View>, Excerpts) {
        match self {
            Data::Whole { data, rows } => {
                let view = Whole::new(plan, data.clone(), rows.clone(), mixer, e, moves, kernel);
                let n_samples = rows.n_samples();
                (Box::new(view), Excerpts::Whole { n_samples })
            }
            Data::Long(basis) => {
                let view = Long::new(plan, basis.clone(), mixer, e, moves, kernel);
                let excerpts = Excerpts::windows_and_blocks(basis.rows(), plan.block_len);
                (Box::new(view), excerpts)
            }
        }
    }

    /// The view of sources that are a map of the rows of Zw, and what its steps look at.
    ///
    /// # Errors
    /// When the energy finds no windows where a step would look.
    pub fn map_view(
        &self,
        plan: &Plan,
        mixer: &dyn Mixer,
        energy: &dyn Energy,
        kernel: Option<&KernelData>,
    ) -> Result<(MapView, Excerpts)> {
        Ok(match self {
            Data::Whole { data, rows } => {
                let view = MapView::whole(plan, data.clone(), rows.clone(), mixer, kernel);
                let n_samples = rows.n_samples();
                (view, Excerpts::Whole { n_samples })
            }
            Data::Long(basis) => {
                let excerpts = Excerpts::one_block(basis.rows(), plan.block_len, energy)?;
                (
                    MapView::in_blocks(plan, basis.clone(), mixer, kernel),
                    excerpts,
                )
            }
        })
    }

    /// Zw·A (T×K).
    pub fn combine(&self, a: &Mat<f64>) -> Mat<f64> {
        match self {
            Data::Whole { data, .. } => &*data.whitened * a,
            Data::Long(basis) => {
                let mut s = Mat::zeros(basis.rows().n_samples(), a.ncols());
                basis.assemble(Some(a), s.as_mut());
                s
            }
        }
    }

    /// ZwᵀS/T (K×K): since ZwᵀZw = T·I, the A whose Zw·A is nearest to S.
    pub fn project(&self, s: &Mat<f64>) -> Mat<f64> {
        match self {
            Data::Whole { data, rows } => {
                faer::Scale(1.0 / rows.n_valid() as f64) * (data.whitened.transpose() * s)
            }
            Data::Long(basis) => FreeMoments::of(s.as_ref(), basis).ze,
        }
    }

    /// Zw (T×K), formed anew where it is not kept.
    pub fn components(&self, n_components: usize) -> Arc<Mat<f64>> {
        match self {
            Data::Whole { data, .. } => data.whitened.clone(),
            Data::Long(_) => Arc::new(self.combine(&Mat::identity(n_components, n_components))),
        }
    }
}
