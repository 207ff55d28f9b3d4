//! L_rec = ‖Y − M_θ(S̃)‖²_F / (2ν_y), over the samples that are not missing.
//!
//! A mixer with a linear output layer, ŷ = φ·W, can have W eliminated (variable projection): in
//! every step
//!
//! ```text
//! W* = argmin_W ‖Y − ΦW‖² + Tβ‖W‖² = (ΦᵀΦ/T + βI)⁻¹ ΦᵀY/T
//! L_rec = (‖Y − ΦW*‖² + Tβ‖W*‖²)/(2ν_y)
//! ```
//!
//! By the envelope theorem the gradient in everything else is that at fixed W*; the ridge term
//! belongs to the value, or the theorem would not hold. Rows are read in blocks, so the workspace
//! does not grow with the recording.

use crate::linalg::cholesky;
use crate::mixer::{LinearHead, Mixer};
use crate::preprocess::observations::{Observations, ReadRows, Stretch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use strt_signal::columns::col_mut;
use strt_signal::rows::RowsView;

/// Rows handled at once.
const BLOCK: usize = 4096;

/// The reconstruction term and its workspace.
pub(crate) struct Reconstruction {
    /// ν_y.
    pub variance: f64,
    /// β when the output layer is eliminated.
    ridge: Option<f64>,
    gram: Mat<f64>,       // ΦᵀΦ/T + βI (F×F)
    moment: Mat<f64>,     // ΦᵀY/T, then W (F×m)
    features: Mat<f64>,   // Φ (B×F)
    d_features: Mat<f64>, // (B×F)
    residual: Mat<f64>,   // Y, then Ŷ − Y, then ∂J/∂Ŷ (B×m)
    predicted: Mat<f64>,  // Ŷ (B×m) of a mixer without a linear head
    d_input: Mat<f64>,    // (B×K)
    scratch: Vec<f64>,
}

impl Reconstruction {
    /// For `n_rows` rows or, block by block, any number of them. `ridge` asks for elimination,
    /// which needs a head.
    pub fn new(
        n_rows: usize,
        mixer: &dyn Mixer,
        variance: f64,
        ridge: Option<f64>,
    ) -> Reconstruction {
        let rows = BLOCK.min(n_rows);
        let n_features = mixer.linear_head().map_or(0, |head| head.n_features());
        let m = mixer.n_channels();
        Reconstruction {
            variance,
            ridge,
            gram: Mat::zeros(n_features, n_features),
            moment: Mat::zeros(n_features, m),
            features: Mat::zeros(rows, n_features),
            d_features: Mat::zeros(rows, n_features),
            residual: Mat::zeros(rows, m),
            predicted: Mat::zeros(if n_features == 0 { rows } else { 0 }, m),
            d_input: Mat::zeros(rows, mixer.n_sources()),
            scratch: Vec::new(),
        }
    }

    /// Value; adds ∂L/∂S̃ to `d_input` and ∂L/∂θ to `d_parameters`. An eliminated output layer is
    /// written into θ. `observations` (n×m) and `input` (n×K) are of the same rows.
    pub fn evaluate(
        &mut self,
        mixer: &mut dyn Mixer,
        observations: &dyn ReadRows,
        input: MatRef<'_, f64>,
        rows: RowsView<'_>,
        mut d_input: MatMut<'_, f64>,
        d_parameters: &mut [f64],
    ) -> f64 {
        let mut penalty = 0.0;
        if let Some(ridge) = self.ridge {
            penalty = self.eliminate(mixer, observations, input, rows, ridge);
        }
        let mut square = 0.0;
        for (first, n) in blocks(input.nrows(), self.residual.nrows()) {
            let block = input.subrows(first, n);
            square += match mixer.linear_head() {
                Some(head) => {
                    // A single block still holds the features of the elimination.
                    if self.ridge.is_none() || n < input.nrows() {
                        self.read_features(head, block, rows, first);
                    }
                    self.through_head(mixer, head, observations, block, first, d_parameters)
                }
                None => self.through_mixer(mixer, observations, block, rows, first, d_parameters),
            };
            let mut target = d_input.as_mut().subrows_mut(first, n);
            target += self.d_input.as_ref().subrows(0, n);
        }
        (square + penalty) / (2.0 * self.variance)
    }

    /// Solves for W, writes it into θ and returns Tβ‖W‖².
    fn eliminate(
        &mut self,
        mixer: &mut dyn Mixer,
        observations: &dyn ReadRows,
        input: MatRef<'_, f64>,
        rows: RowsView<'_>,
        ridge: f64,
    ) -> f64 {
        let n_valid = rows.n_valid() as f64;
        let head = mixer
            .linear_head()
            .expect("elimination was checked to have a head");
        let place = head.head();
        self.gram.fill(0.0);
        self.moment.fill(0.0);
        for (first, n) in blocks(input.nrows(), self.residual.nrows()) {
            self.read_features(head, input.subrows(first, n), rows, first);
            let features = self.features.as_ref().subrows(0, n);
            let mut y = self.residual.as_mut().subrows_mut(0, n);
            observations.read_rows(first, y.as_mut());
            matmul(
                self.gram.as_mut(),
                Accum::Add,
                features.transpose(),
                features,
                1.0 / n_valid,
                Par::Seq,
            );
            matmul(
                self.moment.as_mut(),
                Accum::Add,
                features.transpose(),
                y.as_ref(),
                1.0 / n_valid,
                Par::Seq,
            );
        }
        (0..self.gram.nrows()).for_each(|f| self.gram[(f, f)] += ridge);
        cholesky::factor_in_place(&mut self.gram);
        cholesky::solve_in_place(&self.gram, &mut self.moment);
        let weights = &mut mixer.parameters_mut()[place];
        if !self.moment.squared_norm_l2().is_finite() {
            return f64::NAN; // divergence: J says so, and θ keeps its last good value
        }
        let shape = (self.moment.nrows(), self.moment.ncols());
        MatMut::from_column_major_slice_mut(weights, shape.0, shape.1).copy_from(&self.moment);
        n_valid * ridge * weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// Φ of one block, with 0 in missing rows.
    fn read_features(
        &mut self,
        head: &dyn LinearHead,
        block: MatRef<'_, f64>,
        rows: RowsView<'_>,
        first: usize,
    ) {
        let mut features = self.features.as_mut().subrows_mut(0, block.nrows());
        head.features(block, features.as_mut(), &mut self.scratch);
        for f in 0..head.n_features() {
            rows.zero_missing_from(first, col_mut(features.as_mut(), f));
        }
    }

    /// ‖Ŷ−Y‖² of one block through features and W; leaves ∂L/∂S̃ in `self.d_input`.
    fn through_head(
        &mut self,
        mixer: &dyn Mixer,
        head: &dyn LinearHead,
        observations: &dyn ReadRows,
        block: MatRef<'_, f64>,
        first: usize,
        d_parameters: &mut [f64],
    ) -> f64 {
        let (n, m, n_features) = (block.nrows(), mixer.n_channels(), head.n_features());
        let w = MatRef::from_column_major_slice(&mixer.parameters()[head.head()], n_features, m);
        let features = self.features.as_ref().subrows(0, n);
        let mut residual = self.residual.as_mut().subrows_mut(0, n);
        observations.read_rows(first, residual.as_mut());
        matmul(residual.as_mut(), Accum::Add, features, w, -1.0, Par::Seq); // Y − Ŷ
        let square = residual.squared_norm_l2();
        let residual = self.residual.as_ref().subrows(0, n);
        if self.ridge.is_none() {
            let d_w =
                MatMut::from_column_major_slice_mut(&mut d_parameters[head.head()], n_features, m);
            matmul(
                d_w,
                Accum::Add,
                features.transpose(),
                residual,
                -1.0 / self.variance,
                Par::Seq,
            );
        }
        let mut d_features = self.d_features.as_mut().subrows_mut(0, n);
        matmul(
            d_features.as_mut(),
            Accum::Replace,
            residual,
            w.transpose(),
            -1.0 / self.variance,
            Par::Seq,
        );
        let d_block = self.d_input.as_mut().subrows_mut(0, n);
        head.features_backward(
            block,
            d_features.as_ref(),
            d_block,
            d_parameters,
            &mut self.scratch,
        );
        square
    }

    /// Residual and gradient of one block of rows through a mixer without a linear head.
    fn through_mixer(
        &mut self,
        mixer: &dyn Mixer,
        observations: &dyn ReadRows,
        block: MatRef<'_, f64>,
        rows: RowsView<'_>,
        first: usize,
        d_parameters: &mut [f64],
    ) -> f64 {
        let n = block.nrows();
        let mut residual = self.residual.as_mut().subrows_mut(0, n);
        let mut predicted = self.predicted.as_mut().subrows_mut(0, n);
        mixer.forward(block, predicted.as_mut(), &mut self.scratch);
        observations.read_rows(first, residual.as_mut());
        residual *= faer::Scale(-1.0);
        residual += predicted.as_ref();
        for c in 0..mixer.n_channels() {
            rows.zero_missing_from(first, col_mut(residual.as_mut(), c));
        }
        let square = residual.squared_norm_l2();
        residual *= faer::Scale(1.0 / self.variance);
        let d_block = self.d_input.as_mut().subrows_mut(0, n);
        mixer.backward(
            block,
            residual.as_ref(),
            d_block,
            d_parameters,
            &mut self.scratch,
        );
        square
    }

    /// ‖Y − Ŷ‖² + Tβ‖W‖² over a whole recording, after fitting an eliminated output layer to it; no
    /// gradient, no 2ν_y.
    pub fn fit(
        &mut self,
        mixer: &mut dyn Mixer,
        recording: &Observations,
        input: MatRef<'_, f64>,
    ) -> f64 {
        let rows = recording.rows().view();
        let observations = &Stretch {
            observations: recording,
            samples: 0..input.nrows(),
        };
        let mut total = match self.ridge {
            Some(ridge) => self.eliminate(mixer, observations, input, rows, ridge),
            None => 0.0,
        };
        let m = mixer.n_channels();
        let mut predicted = Mat::zeros(self.residual.nrows(), m);
        for (first, n) in blocks(input.nrows(), self.residual.nrows()) {
            let mut residual = self.residual.as_mut().subrows_mut(0, n);
            let mut predicted = predicted.as_mut().subrows_mut(0, n);
            mixer.forward(
                input.subrows(first, n),
                predicted.as_mut(),
                &mut self.scratch,
            );
            observations.read_rows(first, residual.as_mut());
            residual -= predicted.as_ref();
            for c in 0..m {
                rows.zero_missing_from(first, col_mut(residual.as_mut(), c));
            }
            total += residual.squared_norm_l2();
        }
        total
    }
}

/// First row and number of rows of every block of at most `most` of n rows.
fn blocks(n: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n)
        .step_by(most)
        .map(move |first| (first, most.min(n - first)))
}
