//! Random blocks of a long recording whose sources are a map of the channels.
//!
//! Such sources have no moments to be followed by, unlike those of [`super::long`], but they are
//! known everywhere from the map alone. So a step evaluates one block as if it were the recording
//! ([`super::whole`]), with means and deviations of its own; the sources of all samples are formed
//! when somebody asks for them.

use super::bend;
use super::long::basis::Basis;
use super::sources::SourceParameters;
use super::whole::WholeData;
use crate::preprocess::observations::Observations;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use std::ops::Range;
use std::sync::Arc;
use strt_signal::columns::col_mut;
use strt_signal::rows::Rows;

/// Samples that are formed at once.
const STRETCH: usize = 4096;

/// The recording that blocks are taken from, and where the present one begins.
pub(crate) struct Blocks {
    basis: Arc<Basis>,
    /// First sample of the present block.
    pub first: usize,
}

impl Blocks {
    pub fn new(basis: Arc<Basis>) -> Blocks {
        Blocks { basis, first: 0 }
    }

    /// Y.
    pub fn observations(&self) -> &Observations {
        &self.basis.observations
    }

    /// Which samples are there.
    pub fn rows(&self) -> &Rows {
        self.basis.rows()
    }

    /// Room for the data and the rows of a block of `len` samples.
    pub fn room(&self, len: usize) -> (WholeData, Rows) {
        let data = WholeData {
            observations: Arc::new(Mat::zeros(len, self.basis.observations.n_channels())),
            whitened: Arc::new(Mat::zeros(len, self.basis.zz.ncols())),
        };
        (data, self.rows().block(len))
    }

    /// Reads the block at `first` into the room that was made for it.
    pub fn read(&mut self, first: usize, data: &mut WholeData, rows: &mut Rows) {
        self.first = first;
        let own = "the data of a block belong to it alone";
        let y = Arc::get_mut(&mut data.observations).expect(own);
        let z = Arc::get_mut(&mut data.whitened).expect(own);
        self.basis.read(first, y.as_mut(), z.as_mut());
        rows.read_stretch(self.basis.rows(), first);
    }

    /// S of these samples; 0 in missing rows.
    pub fn sources(&self, sources: &SourceParameters, samples: Range<usize>) -> Mat<f64> {
        let SourceParameters::Neural { a, bend: b } = sources else {
            unreachable!("only sources in neural coordinates are a map")
        };
        let most = STRETCH.min(samples.len());
        let mut y = Mat::zeros(most, self.basis.observations.n_channels());
        let (mut z, mut hidden) = (Mat::zeros(most, a.nrows()), Mat::zeros(most, b.nrows()));
        let mut s = Mat::zeros(samples.len(), a.ncols());
        for first in (0..samples.len()).step_by(STRETCH) {
            let n = STRETCH.min(samples.len() - first);
            let mut z = z.as_mut().subrows_mut(0, n);
            self.basis.read(
                samples.start + first,
                y.as_mut().subrows_mut(0, n),
                z.as_mut(),
            );
            let mut s = s.as_mut().subrows_mut(first, n);
            matmul(s.as_mut(), Accum::Replace, z.as_ref(), a, 1.0, Par::Seq);
            bend::add(b, z.as_ref(), hidden.as_mut().subrows_mut(0, n), s.as_mut());
            for k in 0..s.ncols() {
                self.rows()
                    .zero_missing_from(samples.start + first, col_mut(s.as_mut(), k));
            }
        }
        s
    }
}
