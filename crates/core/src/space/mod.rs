//! Where S lives: the coordinates in which the source matrix S (T×K) is optimised.
//!
//! ```text
//! direct: S is the parameter
//! fiber:  S = Zw·A + E      Zw whitened components (T×K), A (K×K), E (T×K) free once unlocked
//! neural: S = Zw·A + tanh(Zw·U + b)·V, with U, b and V free once unlocked, and further such
//!         layers on top ([`layers`])
//! ```
//!
//! The first two span every S; only the path of the optimiser differs. In fiber coordinates one
//! entry of A moves a whole source along the exact-reconstruction fiber of an affine mixer. In
//! neural ones a source is a smooth map of the channels, so it has a volume, and new channels have
//! sources without any optimisation.
//!
//! One file a space: its parameters, their gradient and their optimiser. How the samples of the
//! recording are held is the business of [`crate::view`]. A further space is a file, a variant of
//! [`Coordinates`] and a line in [`new`].

mod bend;
mod direct;
mod fiber;
pub(crate) mod layers;
mod neural;

use crate::Result;
use crate::config::{Coordinates, Plan};
use crate::energy::{Energy, Window};
use crate::mixer::Mixer;
use crate::tensors::Tensors;
use crate::view::data::Data;
use crate::view::excerpts::Excerpts;
use crate::view::second_moments::KernelData;
use crate::view::{Excerpt, Samples};
use faer::{Mat, MatRef};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use strt_kernels::AdamStep;

/// Rows that are bent at a time.
const ROWS: usize = 4096;
/// Samples by which it is judged how far sources have turned.
const MOST_ROWS: usize = 2048;

/// Where the sources start.
pub(crate) enum Initial {
    /// Anywhere, from the seed.
    Random,
    /// S = Zw·A.
    Linear(Mat<f64>),
    /// S (T×K).
    Given(Mat<f64>),
}

/// What a space is made of.
pub(crate) struct Parts<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The recording.
    pub data: &'a Data,
    /// What the kernel energy reads, where there is one.
    pub kernel: Option<&'a KernelData>,
    /// The mixer, for the size of what it needs.
    pub mixer: &'a dyn Mixer,
    /// The energy, which must find its windows where the steps look.
    pub energy: &'a dyn Energy,
}

/// How far the parameters move in one update.
pub(crate) struct Movement<'a> {
    /// The step of A; `None` where it rests.
    pub linear: Option<AdamStep>,
    /// The step of S, E or the bend; `None` where they rest.
    pub free: Option<AdamStep>,
    /// What every gradient is multiplied by.
    pub scale: f64,
    /// The share of its rate at which what is free of source k moves.
    pub pace: &'a dyn Fn(usize) -> f64,
}

/// S as a map of the whitened components: Zw·A and the bends.
#[derive(Clone)]
pub(crate) struct ComponentMap {
    /// A (K×K).
    pub linear: Mat<f64>,
    /// [Uᵀ | b | V] (h×(2K+1)) of every layer; none where the map is linear.
    pub bends: Vec<Mat<f64>>,
}

impl ComponentMap {
    /// Nothing but A.
    pub fn linear(a: Mat<f64>) -> ComponentMap {
        ComponentMap {
            linear: a,
            bends: Vec::new(),
        }
    }

    /// S of these components (n×K).
    pub fn apply(&self, z: MatRef<'_, f64>) -> Mat<f64> {
        let (n, k) = (z.nrows(), self.linear.ncols());
        let mut s = Mat::zeros(n, k);
        for first in (0..n).step_by(ROWS) {
            let rows = ROWS.min(n - first);
            let (z, mut s) = (z.subrows(first, rows), s.subrows_mut(first, rows));
            layers::map_rows(&self.linear, &self.bends, z, s.as_mut());
        }
        s
    }

    /// The map to S·R.
    pub fn turned(&self, r: &Mat<f64>) -> ComponentMap {
        ComponentMap {
            linear: &self.linear * r,
            bends: layers::turned(&self.bends, r),
        }
    }
}

/// The coordinates of S.
#[cfg_attr(not(feature = "internals"), allow(dead_code))] // some are for `Inspect` alone
pub(crate) trait SourceSpace: Send {
    /// What steps look at.
    fn excerpts(&self) -> &Excerpts;

    /// Forms S of the present parameters where a step looks at it; gradients are 0.
    fn place(&mut self, excerpt: &Excerpt, windows: &[Window]);

    /// The placed sources.
    fn samples(&self) -> &dyn Samples;

    /// The placed sources, to be read and given gradients.
    fn samples_mut(&mut self) -> &mut dyn Samples;

    /// L_sep: of the correlations of the sources, unless the space has a volume.
    fn separate(&mut self) -> f64 {
        self.samples_mut().separate()
    }

    /// ∂J/∂parameters from the gradients that were collected.
    fn pull_back(&mut self);

    /// Squared norm of ∂J/∂parameters, with what is `free` beside A or without.
    fn gradient_norm_squared(&self, free: bool) -> f64;

    /// One step of the optimiser.
    fn update(&mut self, movement: &Movement<'_>);

    /// Source k becomes what source `order[k]` was.
    fn permute(&mut self, order: &[usize]);

    /// S̃ of all samples (T×K): what the mixer was fed at the last evaluation or, where a step sees
    /// a part of the recording, would be fed.
    fn sources(&self) -> Mat<f64>;

    /// The sources over the samples by which correlation times are judged, in any gauge.
    fn judged_sources(&self) -> Mat<f64>;

    /// Where the sources stand, one column each: angles between columns are angles between sources.
    fn position(&self) -> Mat<f64> {
        some_rows(&self.judged_sources())
    }

    /// S̃ of all samples at the end of a run, from when on the gauge is theirs. What is free may be
    /// gone afterwards.
    fn settle(&mut self) -> Mat<f64>;

    /// Replaces what S is as a map of the components, where it is one; a bend only where the map
    /// has one.
    fn set_map(&mut self, map: &ComponentMap) {
        let _ = map;
    }

    /// All layers of the map take part from now on, where it has some that wait. S stays as it is.
    fn deepen(&mut self) {}

    /// S as a map of the components, where it is one.
    fn map(&self) -> Option<ComponentMap>;

    /// Puts parameters and optimiser into a checkpoint.
    fn save(&self, to: &mut Tensors);

    /// Takes back what [`SourceSpace::save`] has put.
    fn restore(&mut self, from: &Tensors) -> Result<()>;

    /// Replaces a parameter; false when there is none of this name.
    fn set_parameter(&mut self, name: &str, value: &Mat<f64>) -> bool;

    /// ∂J/∂parameters under their names; of what is free sample by sample, where all of it is
    /// known.
    fn gradient(&self) -> Tensors;

    /// ∂J/∂E at the samples that the last step touched: (source, first sample, values).
    fn touched(&self) -> Vec<(usize, usize, Vec<f64>)> {
        Vec::new()
    }
}

/// The space of the plan.
pub(crate) fn new(
    parts: &Parts<'_>,
    initial: Initial,
    rng: &mut dyn Rng,
) -> Result<Box<dyn SourceSpace>> {
    match parts.plan.coordinates {
        Coordinates::Direct => direct::new(parts, initial, rng),
        Coordinates::Fiber => fiber::new(parts, initial, rng),
        Coordinates::Neural => neural::new(parts, initial, rng),
    }
}

/// A of Zw·A at the start, for spaces that have one: a random rotation, or the projection of given
/// sources.
fn initial_linear(parts: &Parts<'_>, initial: &Initial, rng: &mut dyn Rng) -> Mat<f64> {
    let k = parts.plan.config().n_sources;
    match initial {
        Initial::Random => noise(k, k, rng).qr().compute_thin_Q(),
        Initial::Linear(a) => a.clone(),
        Initial::Given(s) => parts.data.project(s),
    }
}

/// Rows at equal distances, [`MOST_ROWS`] at most.
fn some_rows(sources: &Mat<f64>) -> Mat<f64> {
    let step = sources.nrows().div_ceil(MOST_ROWS).max(1);
    let n = sources.nrows().div_ceil(step);
    Mat::from_fn(n, sources.ncols(), |t, k| sources[(t * step, k)])
}

fn noise(rows: usize, columns: usize, rng: &mut dyn Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(rng))
}
