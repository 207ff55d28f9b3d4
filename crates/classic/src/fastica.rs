//! FastICA: directions of the whitened components whose distribution is furthest from Gaussian.
//!
//! A source is s = aᵀz with ‖a‖ = 1. A fixed-point step of the contrast E[G(aᵀz)] is
//!
//! ```text
//! a⁺ = E[z·g(aᵀz)] − E[g′(aᵀz)]·a
//! ```
//!
//! for all columns of A at once, followed by A ← A·(AᵀA)^(−1/2) (`Parallel`), or for one column
//! after the other, followed by Gram–Schmidt against those already found (`Deflation`). The
//! criterion is max_k | |a_k⁺·a_k| − 1 |, as in scikit-learn.
//!
//! A. Hyvärinen, *Fast and robust fixed-point algorithms for independent component analysis*, IEEE
//! Trans. Neural Networks 10(3), 1999. It ignores the order of samples, and cannot separate
//! Gaussian sources.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::components::products;
use super::{
    Components, Convergence, Method, Nonlinearity, Unmixing, ensure_limits, ensure_samples,
    rotation,
};
use crate::error::{Error, Result};

/// Whether sources are found together or one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extraction {
    /// All at once, kept orthogonal symmetrically.
    Parallel,
    /// One after the other, each orthogonal to those before.
    Deflation,
}

/// FastICA with its options.
///
/// ```
/// use strt_classic::{FastIca, Method, Nonlinearity};
/// # let problem = strt_synth::ProblemSpec {
/// #     kind: strt_synth::SourceKind::SegmentLaplace, ..Default::default() }.generate()?;
/// # let recording = problem.recording()?;
/// let method = FastIca { nonlinearity: Nonlinearity::Exp, seed: 7, ..FastIca::default() };
/// let found = method.separate(&recording, 3)?;
/// assert!(found.convergence().converged, "{}", found.convergence());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FastIca {
    /// Default `Parallel`.
    pub extraction: Extraction,
    /// Default `LogCosh`.
    pub nonlinearity: Nonlinearity,
    /// What the criterion must fall below. Default 1e-6.
    pub tolerance: f64,
    /// Iterations at most; with deflation, for each source. Default 200.
    pub max_iterations: usize,
    /// Seed of the first rotation. Default 0.
    pub seed: u64,
    /// The first rotation A (K×K) in place of a random one. Default none.
    pub start: Option<Mat<f64>>,
}

impl Default for FastIca {
    fn default() -> Self {
        FastIca {
            extraction: Extraction::Parallel,
            nonlinearity: Nonlinearity::LogCosh,
            tolerance: 1e-6,
            max_iterations: 200,
            seed: 0,
            start: None,
        }
    }
}

impl Method for FastIca {
    fn name(&self) -> &'static str {
        "fastica"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        n_sources + 1
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        let fields = ("fastica.tolerance", "fastica.max_iterations");
        ensure_limits(fields, self.tolerance, self.max_iterations)?;
        ensure_samples(self, components)?;
        let z = components.complete();
        let start = rotation::start(self.start.as_ref(), z.ncols(), self.seed)?;
        match self.extraction {
            Extraction::Parallel => self.parallel(&z, start),
            Extraction::Deflation => self.deflation(&z, start),
        }
    }
}

impl FastIca {
    fn parallel(&self, z: &Mat<f64>, mut a: Mat<f64>) -> Result<Unmixing> {
        let (mut iterations, mut change) = (0, f64::INFINITY);
        while iterations < self.max_iterations && change >= self.tolerance {
            let next = rotation::nearest(self.step(z, &a).as_ref())?;
            change = (0..a.ncols())
                .map(|k| turned(&next, &a, k))
                .fold(0.0, f64::max);
            a = next;
            iterations += 1;
        }
        Ok(Unmixing {
            matrix: a,
            convergence: Convergence::of_search(iterations, change, self.tolerance),
        })
    }

    fn deflation(&self, z: &Mat<f64>, start: Mat<f64>) -> Result<Unmixing> {
        let k = z.ncols();
        let mut found = Mat::<f64>::zeros(k, 0);
        let (mut iterations, mut furthest) = (0, 0.0f64);
        for j in 0..k {
            let mut a = orthogonal_to(&found, Mat::from_fn(k, 1, |i, _| start[(i, j)]))?;
            let (mut count, mut change) = (0, f64::INFINITY);
            while count < self.max_iterations && change >= self.tolerance {
                let next = orthogonal_to(&found, self.step(z, &a))?;
                change = turned(&next, &a, 0);
                a = next;
                count += 1;
            }
            iterations += count;
            furthest = furthest.max(change);
            found = Mat::from_fn(
                k,
                j + 1,
                |i, c| if c < j { found[(i, c)] } else { a[(i, 0)] },
            );
        }
        Ok(Unmixing {
            matrix: found,
            convergence: Convergence::of_search(iterations, furthest, self.tolerance),
        })
    }

    fn step(&self, z: &Mat<f64>, a: &Mat<f64>) -> Mat<f64> {
        fixed_point(z, a, |values| self.nonlinearity.apply(values))
    }
}

/// E[z·g(aᵀz)] − a·E[g′(aᵀz)] for every column of A. `apply` replaces the u = aᵀz of a column by
/// g(u) and gives the sum of g′(u).
pub(super) fn fixed_point(
    z: &Mat<f64>,
    a: &Mat<f64>,
    apply: impl Fn(&mut [f64]) -> f64,
) -> Mat<f64> {
    let n = z.nrows();
    let mut g = Mat::zeros(n, a.ncols());
    matmul(&mut g, Accum::Replace, z, a, 1.0, Par::Seq);
    let slopes: Vec<f64> = (0..a.ncols())
        .map(|k| apply(g.col_as_slice_mut(k)) / n as f64)
        .collect();
    let moments = products(z.as_ref(), g.as_ref(), n);
    Mat::from_fn(a.nrows(), a.ncols(), |i, k| {
        moments[(i, k)] - slopes[k] * a[(i, k)]
    })
}

/// | |a⁺·a| − 1 | of column k; a source has no sign.
pub(super) fn turned(next: &Mat<f64>, a: &Mat<f64>, k: usize) -> f64 {
    let cosine: f64 = (0..a.nrows()).map(|i| next[(i, k)] * a[(i, k)]).sum();
    (cosine.abs() - 1.0).abs()
}

/// The part of a (K×1) that is orthogonal to the columns of `found`, with norm 1. Projected twice,
/// so that rounding does not bring a found source back.
fn orthogonal_to(found: &Mat<f64>, mut a: Mat<f64>) -> Result<Mat<f64>> {
    for _ in 0..2 {
        let inside = found * (found.transpose() * &a);
        a -= inside;
        let norm = a.norm_l2();
        if !(norm.is_finite() && norm > 0.0) {
            return Err(Error::Vanished {
                source_index: found.ncols(),
            });
        }
        a = faer::Scale(1.0 / norm) * a;
    }
    Ok(a)
}
