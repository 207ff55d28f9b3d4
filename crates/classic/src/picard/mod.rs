//! Picard: maximum-likelihood ICA by L-BFGS, preconditioned with an approximation of the Hessian.
//!
//! Minimises the objective of `objective.rs` over unmixing matrices W (A = Wᵀ) with relative steps,
//! W ← (I + E)·W, or, when W is kept orthogonal (Picard-O, default), W ← cayley(E)·W with E
//! skew-symmetric. Every iteration: relative gradient G, an approximate Hessian H̃ that is exact
//! for independent sources and cheap to invert, the L-BFGS direction that starts from H̃⁻¹
//! (`quasi_newton/`), and a backtracking line search. With `extended`, each source is taken as
//! super- or sub-Gaussian by the sign of E[g′(y)]·E[y²] − E[g(y)·y], judged anew in every
//! iteration.
//!
//! The criterion is the largest entry of the gradient. P. Ablin, J.-F. Cardoso and A. Gramfort,
//! *Faster independent component analysis by preconditioning with Hessian approximations*, IEEE
//! Trans. Signal Processing 66(15), 2018, and *Faster ICA under orthogonal constraint*, ICASSP
//! 2018; the extended density is that of T.-W. Lee, M. Girolami and T. J. Sejnowski, Neural
//! Computation 11(2), 1999. It ignores the order of samples.

mod objective;
mod point;

use faer::Mat;

use self::objective::Objective;
use self::point::Point;
use super::{
    Components, Convergence, Method, StopReason, Unmixing, ensure, ensure_limits, ensure_samples,
    rotation,
};
use crate::error::Result;
use crate::quasi_newton::Memory;

/// Halvings of a step before a direction is given up.
const LINE_SEARCH_TRIES: usize = 10;
/// A step may raise the objective by this much, relative to 1 + |L|: rounding.
const ROUNDING: f64 = 1e-13;

/// Picard with its options.
///
/// ```
/// use strt_classic::{Method, Picard};
/// # let problem = strt_synth::ProblemSpec {
/// #     kind: strt_synth::SourceKind::SegmentLaplace, ..Default::default() }.generate()?;
/// # let recording = problem.recording()?;
/// let found = Picard { orthogonal: false, ..Picard::default() }.separate(&recording, 3)?;
/// assert!(found.convergence().converged && found.convergence().value < 1e-7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Picard {
    /// Keep the sources exactly uncorrelated (Picard-O). Default true.
    pub orthogonal: bool,
    /// Judge of each source whether it is super- or sub-Gaussian; otherwise all are super-Gaussian.
    /// Default true.
    pub extended: bool,
    /// What the largest entry of the gradient must fall below. Default 1e-7.
    pub tolerance: f64,
    /// Iterations at most. Default 500.
    pub max_iterations: usize,
    /// Steps that L-BFGS remembers. Default 7.
    pub memory: usize,
    /// Eigenvalues of the approximate Hessian are raised to this. Default 0.01.
    pub least_curvature: f64,
    /// Seed of the first rotation. Default 0.
    pub seed: u64,
    /// The first rotation A (K×K) in place of a random one. Default none.
    pub start: Option<Mat<f64>>,
}

impl Default for Picard {
    fn default() -> Self {
        Picard {
            orthogonal: true,
            extended: true,
            tolerance: 1e-7,
            max_iterations: 500,
            memory: 7,
            least_curvature: 0.01,
            seed: 0,
            start: None,
        }
    }
}

impl Method for Picard {
    fn name(&self) -> &'static str {
        "picard"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        n_sources + 1
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        let fields = ("picard.tolerance", "picard.max_iterations");
        ensure_limits(fields, self.tolerance, self.max_iterations)?;
        ensure(
            self.least_curvature.is_finite() && self.least_curvature > 0.0,
            "picard.least_curvature",
            self.least_curvature,
            "expected a finite number above 0",
        )?;
        ensure_samples(self, components)?;
        let z = components.complete();
        let start = rotation::start(self.start.as_ref(), z.ncols(), self.seed)?;
        Ok(self.minimize(z, start.transpose().to_owned()))
    }
}

impl Picard {
    fn minimize(&self, z: Mat<f64>, w: Mat<f64>) -> Unmixing {
        let k = z.ncols();
        let y = &z * w.transpose();
        let mut objective = Objective::new(k, self.orthogonal);
        let mut point = Point::new(w, y);
        let mut memory = Memory::new(self.memory);
        // The last step and the gradient before it.
        let mut before: Option<(Mat<f64>, Mat<f64>)> = None;
        let (mut iterations, mut reason) = (0, StopReason::IterationLimit);
        let mut value;
        loop {
            let raw = objective.derivatives(&point);
            if self.extended && objective.judge(&raw) {
                // Another objective: what was learnt of its curvature is void.
                memory.clear();
                before = None;
            }
            let gradient = objective.gradient(&raw);
            value = gradient.norm_max();
            if value < self.tolerance {
                reason = StopReason::Tolerance;
                break;
            }
            if iterations == self.max_iterations || !value.is_finite() {
                break;
            }
            if let Some((step, earlier)) = before.take() {
                memory.push(step, &gradient - earlier);
            }
            let precondition = objective.preconditioner(&raw, self.least_curvature);
            let direction = memory.direction(&gradient, |g| precondition.solve(g));
            let moved = line_search(&objective, &point, &direction).or_else(|| {
                memory.clear();
                line_search(&objective, &point, &-&gradient)
            });
            let Some((next, step)) = moved else {
                reason = StopReason::LineSearch;
                break;
            };
            point = next;
            before = Some((step, gradient));
            iterations += 1;
        }
        Unmixing {
            matrix: point.w.transpose().to_owned(),
            convergence: Convergence {
                iterations,
                converged: reason == StopReason::Tolerance,
                value,
                tolerance: self.tolerance,
                reason,
            },
        }
    }
}

/// The first of the steps 1, ½, ¼, … along `direction` that does not raise the objective.
fn line_search(
    objective: &Objective,
    point: &Point,
    direction: &Mat<f64>,
) -> Option<(Point, Mat<f64>)> {
    let before = objective.value(point);
    let allowed = before + ROUNDING * (1.0 + before.abs());
    (0..LINE_SEARCH_TRIES).find_map(|tries| {
        let step = faer::Scale(0.5f64.powi(tries as i32)) * direction;
        let next = point.turned(&objective.turn(&step));
        let value = objective.value(&next);
        (value <= allowed).then_some((next, step))
    })
}
