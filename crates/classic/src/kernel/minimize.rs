//! The unmixing that minimises a kernel energy, by L-BFGS with relative steps.
//!
//! ```text
//! F(A) = Σ_k [ g(a_k) + ½ ln(a_kᵀ M_0 a_k) ] − ln |det A|
//! ```
//!
//! does not depend on the scales of the columns: they are kept at norm 1. In a step a_i ← a_i +
//! Σ_j e_ij·a_j the gradient is a_jᵀ·∂F/∂a_i − δ_ij, and for sources that are uncorrelated at all
//! lags the second derivatives are h_ij = 2 Σ_q d_iq·r_j(q), with d_i the gradient in the moments
//! and r_j(q) those of source j, and 1 across (D.-T. Pham, *Joint approximate diagonalization*,
//! 2001, has them for variances). L-BFGS starts from their inverse, as in Picard. Where more
//! than second moments is judged, F has a further part ([`super::novelty`]).

use faer::Mat;

use super::energy::SourceEnergy;
use super::moments::Moments;
use super::novelty::{Choice, Novelty};
use crate::convergence::{Convergence, StopReason};
use crate::quasi_newton::{Memory, Preconditioner};

/// Steps that L-BFGS remembers.
const MEMORY: usize = 7;
/// Eigenvalues of the approximate Hessian are raised to this.
const LEAST_CURVATURE: f64 = 0.02;
/// Halvings of a step before a direction is given up.
const LINE_SEARCH_TRIES: usize = 12;
/// A step may raise F by this much, relative to 1 + |F|: rounding.
const ROUNDING: f64 = 1e-13;
/// Entries of a step are at most this large: beyond, the model of F means nothing.
const LONGEST_STEP: f64 = 1.0;

/// Where a search stands.
pub(super) struct Point {
    /// A, columns of norm 1.
    pub a: Mat<f64>,
    /// F.
    pub value: f64,
    product: Mat<f64>,     // (Q·K)×K: all M_q·A
    pub moments: Mat<f64>, // Q×K: r_k(q)
    gradients: Mat<f64>,   // Q×K: d_k
    d_a: Mat<f64>,         // K×K: ∂F/∂A that does not go through moments
    bends: Vec<f64>,       // what h_ij have of that
}

/// What a search found.
pub(super) struct Minimum {
    pub point: Point,
    pub convergence: Convergence,
}

/// F over the moments of a recording.
pub(super) struct Contrast<'a> {
    pub moments: &'a Moments,
    pub energy: SourceEnergy,
    pub novelty: Novelty,
}

impl Contrast<'_> {
    /// F at A; `None` where it has no value.
    pub fn at(&mut self, a: Mat<f64>) -> Option<Point> {
        let mut point = self.by_moments(a)?;
        let Point { a, d_a, bends, .. } = &mut point;
        point.value += self.novelty.evaluate(a, d_a, bends);
        point.value.is_finite().then_some(point)
    }

    /// The part of F that is of second moments alone: all that choosing the rest asks for.
    pub fn by_moments(&mut self, mut a: Mat<f64>) -> Option<Point> {
        let (k, q) = (a.ncols(), self.moments.len());
        for j in 0..k {
            let norm = a.col(j).norm_l2();
            a.col_as_slice_mut(j).iter_mut().for_each(|v| *v /= norm);
        }
        let mut product = Mat::zeros(q * a.nrows(), k);
        self.moments.times(a.as_ref(), &mut product);
        let (mut moments, mut gradients) = (Mat::zeros(q, k), Mat::zeros(q, k));
        let mut value = -log_det(&a)?;
        for j in 0..k {
            let slot = moments.col_as_slice_mut(j);
            self.moments
                .of_source(a.col_as_slice(j), product.col_as_slice(j), slot);
            value += self.energy.evaluate(slot, gradients.col_as_slice_mut(j));
            value += self
                .energy
                .log_deviation(slot, gradients.col_as_slice_mut(j));
        }
        let (d_a, bends) = (Mat::zeros(k, k), vec![0.0; k]);
        value.is_finite().then_some(Point {
            a,
            value,
            product,
            moments,
            gradients,
            d_a,
            bends,
        })
    }

    /// e ↦ a_jᵀ·∂F/∂a_i − δ_ij, 0 on the diagonal.
    fn gradient(&self, point: &Point) -> Mat<f64> {
        let k = point.a.ncols();
        let mut d_a = point.d_a.clone();
        for i in 0..k {
            self.moments.pull_back(
                point.gradients.col_as_slice(i),
                point.product.col_as_slice(i),
                1.0,
                d_a.col_as_slice_mut(i),
            );
        }
        let full = d_a.transpose() * &point.a;
        Mat::from_fn(k, k, |i, j| if i == j { 0.0 } else { full[(i, j)] })
    }

    /// h_ij.
    fn curvature(&self, point: &Point) -> Mat<f64> {
        let of_moments = point.gradients.transpose() * &point.moments;
        Mat::from_fn(of_moments.nrows(), of_moments.ncols(), |i, j| {
            2.0 * of_moments[(i, j)] + point.bends[i]
        })
    }

    /// Chooses anew at a point what is held fixed of the novelty; gives by how much it shortens the
    /// description of the sources, in nats per sample.
    pub fn choose(&mut self, point: &Point, choice: Choice) -> f64 {
        let n_valid = self.moments.n_valid();
        self.novelty
            .choose(&point.a, &point.moments, n_valid, choice)
    }

    /// The minimum that is reached from `a`; `None` when F has no value there.
    pub fn minimize(&mut self, a: Mat<f64>, tolerance: f64, limit: usize) -> Option<Minimum> {
        let mut point = self.at(a)?;
        let mut memory = Memory::new(MEMORY);
        let mut before: Option<(Mat<f64>, Mat<f64>)> = None;
        let (mut iterations, mut reason) = (0, StopReason::IterationLimit);
        let mut largest;
        loop {
            let gradient = self.gradient(&point);
            largest = gradient.norm_max();
            if largest < tolerance {
                reason = StopReason::Tolerance;
                break;
            }
            if iterations == limit || !largest.is_finite() {
                break;
            }
            if let Some((step, earlier)) = before.take() {
                memory.push(step, &gradient - earlier);
            }
            let precondition = Preconditioner::coupled(self.curvature(&point), LEAST_CURVATURE);
            let direction =
                memory.direction(&gradient, |g| without_diagonal(precondition.solve(g)));
            let moved = self.line_search(&point, &direction).or_else(|| {
                memory.clear();
                self.line_search(&point, &-&gradient)
            });
            let Some((next, step)) = moved else {
                reason = StopReason::LineSearch;
                break;
            };
            point = next;
            before = Some((step, gradient));
            iterations += 1;
        }
        Some(Minimum {
            point,
            convergence: Convergence {
                iterations,
                converged: reason == StopReason::Tolerance,
                value: largest,
                tolerance,
                reason,
            },
        })
    }

    fn line_search(&mut self, point: &Point, direction: &Mat<f64>) -> Option<(Point, Mat<f64>)> {
        let allowed = point.value + ROUNDING * (1.0 + point.value.abs());
        let longest = LONGEST_STEP / direction.norm_max().max(LONGEST_STEP);
        (0..LINE_SEARCH_TRIES).find_map(|tries| {
            let step = faer::Scale(longest * 0.5f64.powi(tries as i32)) * direction;
            let next = self.at(&point.a + &point.a * step.transpose())?;
            (next.value <= allowed).then_some((next, step))
        })
    }
}

fn without_diagonal(mut matrix: Mat<f64>) -> Mat<f64> {
    (0..matrix.ncols()).for_each(|i| matrix[(i, i)] = 0.0);
    matrix
}

/// ln |det A|; `None` when A is singular.
pub(super) fn log_det(a: &Mat<f64>) -> Option<f64> {
    let lu = a.partial_piv_lu();
    let u = lu.U();
    let value: f64 = (0..a.ncols()).map(|i| u[(i, i)].abs().ln()).sum();
    value.is_finite().then_some(value)
}
