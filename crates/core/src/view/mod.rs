//! The data of a recording as the sources of one step see it.
//!
//! A space ([`crate::space`]) knows what its parameters are; a view knows where the samples are.
//! In: a step's [`Excerpt`], A and the windows that will be read. Out: the terms of J that are sums
//! over samples, windows of the sources, and J's gradient in A and in what is free sample by
//! sample.
//!
//! | view | of | holds |
//! |---|---|---|
//! | [`whole`] | S = Zw·A + E, a short recording | S, E and their gradients as T×K matrices |
//! | [`long`] | S = Zw·A + E, a long recording | second moments, and the samples of a step |
//! | [`map`] | S = f(Zw), any length | all rows, or one block of rows after the other |
//!
//! Deliberately absent: which parameters there are and how they move, apart from E, whose optimiser
//! follows from how it is held.

pub(crate) mod data;
pub(crate) mod dense;
pub(crate) mod excerpts;
pub(crate) mod gauge;
pub(crate) mod long;
pub(crate) mod map;
pub(crate) mod second_moments;
pub(crate) mod sparse_adam;
pub(crate) mod standardize;
pub(crate) mod terms;
pub(crate) mod whole;

use crate::Result;
use crate::energy::{SourceWindows, Window};
use crate::mixer::Mixer;
use crate::tensors::Tensors;
use faer::{Mat, MatRef};
use gauge::Gauge;
use std::ops::Range;
use strt_kernels::AdamStep;
use strt_signal::pieces::Pieces;
use strt_signal::rows::Rows;

/// Samples by which the correlation time of a source is judged.
const JUDGED: usize = 1 << 16;

/// The samples in the middle of n by which the correlation time of a source is judged.
pub(crate) fn judged(n: usize) -> Range<usize> {
    let len = JUDGED.min(n);
    let first = (n - len) / 2;
    first..first + len
}

/// The pieces of the samples by which correlation times are judged: of all, or of [`judged`].
pub(crate) fn judged_pieces(rows: &Rows, n_judged: usize) -> Pieces {
    let (pieces, n) = (rows.to_pieces(), rows.n_samples());
    if n_judged == n {
        pieces
    } else {
        pieces.cut(judged(n))
    }
}

/// Which part of the recording a step looks at, beside the windows of the energy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Excerpt {
    /// First samples of two blocks, where the recording is not looked at whole.
    pub blocks: [usize; 2],
    /// Which of the samples are looked at where only every n-th is, in [0, 1).
    pub phase: f64,
}

/// Sources that have been placed for a step: what the objective reads of them.
#[cfg_attr(not(feature = "internals"), allow(dead_code))] // some are for `Inspect` alone
pub(crate) trait Samples: SourceWindows + Send {
    /// ‖Y − M_θ(S̃)‖²/(2ν_y); its gradient is kept, and that in θ added to `d_mixer`.
    fn reconstruct(&mut self, mixer: &mut dyn Mixer, d_mixer: &mut [f64]) -> f64;

    /// L_sep of the correlations of the sources; its gradient is kept.
    fn separate(&mut self) -> f64;

    /// L_smooth; its gradient is kept.
    fn smooth(&mut self) -> f64;

    /// Means and deviations of the sources.
    fn gauge(&self) -> &Gauge;

    /// The gauge, to be fixed to that of another recording.
    fn gauge_mut(&mut self) -> &mut Gauge;

    /// ZwᵀS/T (K×K) and the mean of S: the best linear fit of the sources to the components.
    fn linear_fit(&self) -> (Mat<f64>, Vec<f64>);

    /// L_rec over the whole recording, with an eliminated output layer fitted to all of it, where a
    /// step sees a part of it; `None` where the last evaluation was exact. S̃ is `input`.
    fn fit_mixer(&mut self, mixer: &mut dyn Mixer, input: MatRef<'_, f64>) -> Option<f64>;

    /// Prepared observations (T×m), where every step sees all of them.
    fn observations(&self) -> Option<MatRef<'_, f64>>;
}

/// S = Zw·A + E over a recording. A is the caller's; E, where there is one, is held here, together
/// with its optimiser.
#[cfg_attr(not(feature = "internals"), allow(dead_code))] // some are for `Inspect` alone
pub(crate) trait View: Samples {
    /// Forms S where this step looks at it; gradients are 0.
    fn place(&mut self, a: Option<&Mat<f64>>, excerpt: &Excerpt, windows: &[Window]);

    /// Completes ∂J/∂E from what terms and windows have left, and writes ∂J/∂A into `d_a`.
    fn pull_back(&mut self, d_a: Option<&mut Mat<f64>>);

    /// ‖∂J/∂E‖² where the step looked; ∂J/∂S where there is no E.
    fn free_norm_squared(&self) -> f64;

    /// Moves E along `scale` × its gradient, source k at the share `pace(k)` of the rate.
    fn move_free(&mut self, step: &AdamStep, scale: f64, pace: &dyn Fn(usize) -> f64);

    /// Source k takes the E that source `order[k]` has, and its optimiser's state.
    fn permute(&mut self, order: &[usize]);

    /// Whether there is an E.
    fn is_free(&self) -> bool;

    /// S̃ of all samples (T×K), what the mixer is fed; 0 in missing rows.
    fn sources(&self, a: Option<&Mat<f64>>) -> Mat<f64>;

    /// S̃ of all samples at the end of a run, in the memory of E where that is possible: E is gone
    /// then.
    fn take_sources(&mut self, a: Option<&Mat<f64>>) -> Mat<f64>;

    /// The sources over the samples by which correlation times are judged, in any gauge.
    fn judged_sources(&self, a: Option<&Mat<f64>>) -> Mat<f64>;

    /// Puts E, called `name`, and its optimiser's state into a checkpoint.
    fn save(&self, name: &str, to: &mut Tensors);

    /// Takes back what [`View::save`] has put.
    fn restore(&mut self, name: &str, from: &Tensors) -> Result<()>;

    /// Puts ∂J/∂E under `name`, where all of it is known.
    fn save_gradient(&self, name: &str, to: &mut Tensors);

    /// ∂J/∂E at the samples that the last step touched: (source, first sample, values).
    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)>;

    /// Replaces E, for checks of gradients.
    fn set_free(&mut self, e: &Mat<f64>);
}
