//! Observation mixers M_θ: R^K → R^m, applied to every sample (row) alike.
//!
//! [`MlpMixer`] covers the affine map and multilayer perceptrons. Any other row-wise map joins by
//! implementing [`Mixer`]; [`check_gradients`] says whether its backward pass is right. A mixer
//! whose output is linear in some features, ŷ = φ(s)·W, can also say so through [`LinearHead`];
//! then W may be eliminated by least squares in every step.

mod gradcheck;
mod mlp;

pub use gradcheck::{GradientErrors, check_gradients};
pub use mlp::MlpMixer;

use faer::{MatMut, MatRef};
use std::ops::Range;

/// A row-wise observation map with parameters θ.
///
/// Matrices are column-major blocks of rows; the number of rows varies from call to call. `scratch`
/// belongs to the mixer between its calls on one block: it may resize it and leave there what
/// `backward` needs. `backward` always follows `forward` on the same sources with the scratch
/// untouched.
///
/// # Example: a post-nonlinear mixer ŷ_c = tanh(Σ_k W_kc s_k)
///
/// ```
/// use faer::{MatMut, MatRef};
/// use strtransformer::mixer::{Mixer, check_gradients};
///
/// #[derive(Clone)]
/// struct PostNonlinear {
///     n_sources: usize,
///     n_channels: usize,
///     w: Vec<f64>, // K×m, column-major
/// }
///
/// impl PostNonlinear {
///     fn linear(&self, s: MatRef<'_, f64>, t: usize, c: usize) -> f64 {
///         (0..self.n_sources).map(|k| s[(t, k)] * self.w[c * self.n_sources + k]).sum()
///     }
/// }
///
/// impl Mixer for PostNonlinear {
///     fn n_sources(&self) -> usize { self.n_sources }
///     fn n_channels(&self) -> usize { self.n_channels }
///     fn parameters(&self) -> &[f64] { &self.w }
///     fn parameters_mut(&mut self) -> &mut [f64] { &mut self.w }
///     fn initialize(&mut self, seed: u64) {
///         for (i, w) in self.w.iter_mut().enumerate() {
///             *w = ((seed as f64 + 1.0) * (i as f64 + 1.0)).sin();
///         }
///     }
///     fn forward(&self, s: MatRef<'_, f64>, mut y: MatMut<'_, f64>, _scratch: &mut Vec<f64>) {
///         for t in 0..s.nrows() {
///             for c in 0..self.n_channels {
///                 y[(t, c)] = self.linear(s, t, c).tanh();
///             }
///         }
///     }
///     fn backward(&self, s: MatRef<'_, f64>, d_y: MatRef<'_, f64>, mut d_s: MatMut<'_, f64>,
///                 d_parameters: &mut [f64], _scratch: &mut Vec<f64>) {
///         d_s.fill(0.0);
///         for t in 0..s.nrows() {
///             for c in 0..self.n_channels {
///                 let d_z = d_y[(t, c)] * (1.0 - self.linear(s, t, c).tanh().powi(2));
///                 for k in 0..self.n_sources {
///                     d_s[(t, k)] += d_z * self.w[c * self.n_sources + k];
///                     d_parameters[c * self.n_sources + k] += d_z * s[(t, k)];
///                 }
///             }
///         }
///     }
///     fn clone_box(&self) -> Box<dyn Mixer> { Box::new(self.clone()) }
/// }
///
/// let mut mixer = PostNonlinear { n_sources: 2, n_channels: 3, w: vec![0.0; 6] };
/// mixer.initialize(1);
/// let errors = check_gradients(&mixer, 7, 42);
/// assert!(errors.worst() < 1e-6);
/// ```
pub trait Mixer: Send + Sync {
    /// K.
    fn n_sources(&self) -> usize;

    /// m.
    fn n_channels(&self) -> usize;

    /// θ as one flat vector.
    fn parameters(&self) -> &[f64];

    /// θ, to be changed by the optimiser.
    fn parameters_mut(&mut self) -> &mut [f64];

    /// Draws fresh starting parameters from the seed.
    fn initialize(&mut self, seed: u64);

    /// Ŷ (rows×m) = M_θ(S̃) for S̃ (rows×K); overwrites `observations`.
    fn forward(
        &self,
        sources: MatRef<'_, f64>,
        observations: MatMut<'_, f64>,
        scratch: &mut Vec<f64>,
    );

    /// From ∂J/∂Ŷ: overwrites `d_sources`, accumulates into `d_parameters`.
    fn backward(
        &self,
        sources: MatRef<'_, f64>,
        d_observations: MatRef<'_, f64>,
        d_sources: MatMut<'_, f64>,
        d_parameters: &mut [f64],
        scratch: &mut Vec<f64>,
    );

    /// A copy, for restarts and results.
    fn clone_box(&self) -> Box<dyn Mixer>;

    /// The linear output layer, when there is one that least squares can eliminate.
    fn linear_head(&self) -> Option<&dyn LinearHead> {
        None
    }

    /// Reorders a vector shaped like θ so that input k plays the part that input `order[k]` played;
    /// returns false when the mixer cannot, and then the configuration's `assignment.rule` must be
    /// `none`.
    fn permute_sources(&self, _order: &[usize], _values: &mut [f64]) -> bool {
        false
    }

    /// Becomes the mixer that makes of s what this one makes of s·B; returns false, unchanged, when
    /// it cannot. `b` is K×K.
    fn turn_sources(&mut self, _b: MatRef<'_, f64>) -> bool {
        false
    }
}

/// ŷ = φ(s)·W: the features φ and the place of W (F×m, column-major) in θ.
pub trait LinearHead {
    /// F.
    fn n_features(&self) -> usize;

    /// Where W lies in θ.
    fn head(&self) -> Range<usize>;

    /// Φ (rows×F); overwrites `features`.
    fn features(&self, sources: MatRef<'_, f64>, features: MatMut<'_, f64>, scratch: &mut Vec<f64>);

    /// From ∂J/∂Φ: overwrites `d_sources`, accumulates into `d_parameters` (never into W). Follows
    /// [`LinearHead::features`] on the same sources with the scratch untouched.
    fn features_backward(
        &self,
        sources: MatRef<'_, f64>,
        d_features: MatRef<'_, f64>,
        d_sources: MatMut<'_, f64>,
        d_parameters: &mut [f64],
        scratch: &mut Vec<f64>,
    );
}

impl Clone for Box<dyn Mixer> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
