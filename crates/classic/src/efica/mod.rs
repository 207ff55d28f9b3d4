//! EFICA: FastICA whose nonlinearity suits each source, and whose sources are made uncorrelated in
//! proportion to how well each is known.
//!
//! 1. Symmetric FastICA with an all-purpose score.
//! 2. A test of saddle points: a pair of sources that is further from Gaussian when it is turned
//!    by 45° was a mixture of two sources; it is turned, and the search goes on from there.
//! 3. Every source is tuned alone, a⁺ = E[z·g(aᵀz)] − E[g′(aᵀz)]·a, with the score that its fourth
//!    moment asks for (`scores.rs`). A source that is nearly Gaussian, leaves its place, does not
//!    come to rest or would not become more accurate by it keeps what the first search found.
//! 4. Refinement. With v_k the variance of source k when it is found alone, times T, the columns
//!    are weighed for each source k in turn, its own by 1 and that of source l by v_k/(1 + v_l),
//!    made orthogonal symmetrically, and column k is kept. That minimises the interference
//!    ISR_kl = v_k·(1 + v_l)/(1 + v_k + v_l)/T, and for generalised Gaussian sources it is near the
//!    Cramér–Rao bound. Sources may end up a little correlated.
//!
//! The criterion is the largest | |a⁺·a| − 1 | of a source in the last iteration of the symmetric
//! search. Z. Koldovský,
//! P. Tichavský and E. Oja, *Efficient variant of algorithm FastICA for independent component
//! analysis attaining the Cramér–Rao lower bound*, IEEE Trans. Neural Networks 17(5), 2006. It
//! ignores the order of samples, and cannot separate Gaussian sources.

mod scores;

use faer::Mat;

use self::scores::{Moments, Score, contrast};
use super::fastica::{fixed_point, turned};
use super::rated::Rated;
use super::{Components, Method, Unmixing, ensure_limits, ensure_samples, rotation};
use crate::error::Result;

/// A tuned source whose |cosine| with where it came from falls below this has left its place.
const LEAST_COSINE: f64 = 0.9;
/// Weights of the refinement are within this factor of the source's own: beyond it nothing changes
/// but the condition of the matrix that is made orthogonal.
const LARGEST_WEIGHT: f64 = 1e3;

/// EFICA with its options.
///
/// ```
/// use strt_classic::{Efica, Method};
/// # let problem = strt_synth::ProblemSpec {
/// #     kind: strt_synth::SourceKind::SegmentLaplace, ..Default::default() }.generate()?;
/// # let recording = problem.recording()?;
/// let found = Efica { seed: 7, ..Efica::default() }.separate(&recording, 3)?;
/// assert!(found.convergence().converged, "{}", found.convergence());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Efica {
    /// Whether saddle points are looked for. Default true.
    pub saddle_test: bool,
    /// What | |a⁺·a| − 1 | of every source must fall below. Default 1e-6.
    pub tolerance: f64,
    /// Iterations at most, of the symmetric search and of the tuning of each source. Default 200.
    pub max_iterations: usize,
    /// Seed of the first rotation. Default 0.
    pub seed: u64,
    /// The first rotation A (K×K) in place of a random one. Default none.
    pub start: Option<Mat<f64>>,
}

impl Default for Efica {
    fn default() -> Self {
        Efica {
            saddle_test: true,
            tolerance: 1e-6,
            max_iterations: 200,
            seed: 0,
            start: None,
        }
    }
}

impl Method for Efica {
    fn name(&self) -> &'static str {
        "efica"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        n_sources + 1
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        self.check()?;
        ensure_samples(self, components)?;
        let start = rotation::start(self.start.as_ref(), components.n_components(), self.seed)?;
        let found = self.search(&components.complete(), start)?;
        Ok(found.unmixing(self.tolerance))
    }
}

/// Where the symmetric search is.
struct Symmetric {
    /// A, orthogonal.
    a: Mat<f64>,
    /// The last step before it was made orthogonal.
    step: Mat<f64>,
    changes: Vec<f64>,
    iterations: usize,
}

impl Efica {
    /// `Err` when an option is out of range.
    pub(super) fn check(&self) -> Result<()> {
        let fields = ("efica.tolerance", "efica.max_iterations");
        ensure_limits(fields, self.tolerance, self.max_iterations)
    }

    /// The unmixing of white z (T×K) from an orthogonal start.
    pub(super) fn search(&self, z: &Mat<f64>, start: Mat<f64>) -> Result<Rated> {
        let mut found = self.symmetric(z, start)?;
        let mut iterations = found.iterations;
        if self.saddle_test
            && let Some(better) = without_saddles(z, &found.a)
        {
            found = self.symmetric(z, better)?;
            iterations += found.iterations;
        }
        let k = z.ncols();
        let sources = z * &found.a;
        let (mut columns, mut variances) = (Mat::zeros(k, k), Vec::with_capacity(k));
        for j in 0..k {
            let before = Mat::from_fn(k, 1, |i, _| found.a[(i, j)]);
            let source = sources.col_as_slice(j);
            let variance = Moments::of(Score::AllPurpose, source).variance();
            let tuned = Score::suiting(source).and_then(|score| {
                let (tuned, count) = self.tuned(z, &before, score);
                iterations += count;
                let tuned = tuned?;
                let source = z * &tuned;
                let promised = Moments::of(score, source.col_as_slice(0)).variance();
                (promised < variance).then_some((tuned, promised))
            });
            let (column, variance) = tuned.unwrap_or_else(|| {
                let step = Mat::from_fn(k, 1, |i, _| found.step[(i, j)]);
                (unit(step).unwrap_or(before), variance)
            });
            variances.push(variance);
            (0..k).for_each(|i| columns[(i, j)] = column[(i, 0)]);
        }
        Ok(Rated {
            matrix: refined(&columns, &variances)?,
            interference: interference(&variances, z.nrows()),
            changes: found.changes,
            iterations,
        })
    }

    fn symmetric(&self, z: &Mat<f64>, start: Mat<f64>) -> Result<Symmetric> {
        let k = z.ncols();
        let mut at = Symmetric {
            step: start.clone(),
            a: start,
            changes: vec![f64::INFINITY; k],
            iterations: 0,
        };
        while at.iterations < self.max_iterations
            && at.changes.iter().any(|change| *change >= self.tolerance)
        {
            at.step = fixed_point(z, &at.a, |values| Score::AllPurpose.apply(values));
            let next = rotation::nearest(at.step.as_ref())?;
            at.changes = (0..k).map(|j| turned(&next, &at.a, j)).collect();
            at.a = next;
            at.iterations += 1;
        }
        Ok(at)
    }

    /// The source of `before` tuned alone, or `None` when it left its place or found none; and the
    /// iterations.
    fn tuned(&self, z: &Mat<f64>, before: &Mat<f64>, score: Score) -> (Option<Mat<f64>>, usize) {
        let mut a = before.clone();
        for iteration in 1..=self.max_iterations {
            let step = fixed_point(z, &a, |values| score.apply(values));
            let Some(next) = unit(step).filter(|next| cosine(next, before) > LEAST_COSINE) else {
                return (None, iteration);
            };
            let change = turned(&next, &a, 0);
            a = next;
            if change < self.tolerance {
                return (Some(a), iteration);
            }
        }
        (None, self.max_iterations)
    }
}

/// A with every pair turned by 45° that is further from Gaussian then; `None` when there is none.
/// No source is turned twice.
fn without_saddles(z: &Mat<f64>, a: &Mat<f64>) -> Option<Mat<f64>> {
    let k = a.ncols();
    let sources = z * a;
    let column = |j: usize| sources.col_as_slice(j);
    let alone: Vec<f64> = (0..k)
        .map(|j| contrast(column(j).iter().copied()))
        .collect();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let (mut better, mut rotated) = (a.clone(), vec![false; k]);
    for i in 0..k {
        for j in i + 1..k {
            if rotated[i] || rotated[j] {
                continue;
            }
            let together = |sign: f64| {
                let pairs = column(i).iter().zip(column(j));
                contrast(pairs.map(|(u, v)| half * (u + sign * v)))
            };
            if together(-1.0).max(together(1.0)) > alone[i].max(alone[j]) {
                (rotated[i], rotated[j]) = (true, true);
                for row in 0..k {
                    better[(row, i)] = half * (a[(row, i)] - a[(row, j)]);
                    better[(row, j)] = half * (a[(row, i)] + a[(row, j)]);
                }
            }
        }
    }
    rotated.contains(&true).then_some(better)
}

/// The refinement of columns of norm 1, each found with its variance alone.
fn refined(columns: &Mat<f64>, variances: &[f64]) -> Result<Mat<f64>> {
    let k = variances.len();
    let mut refined = Mat::zeros(k, k);
    for source in 0..k {
        let weight = |other: usize| {
            if other == source {
                return 1.0;
            }
            let weight = variances[source] / (1.0 + variances[other]);
            weight.clamp(1.0 / LARGEST_WEIGHT, LARGEST_WEIGHT)
        };
        let weighed = Mat::from_fn(k, k, |i, j| columns[(i, j)] * weight(j));
        let orthogonal = rotation::nearest(weighed.as_ref())?;
        (0..k).for_each(|i| refined[(i, source)] = orthogonal[(i, source)]);
    }
    Ok(refined)
}

/// ISR_kl of T samples, 0 on the diagonal.
fn interference(variances: &[f64], n_samples: usize) -> Mat<f64> {
    let k = variances.len();
    Mat::from_fn(k, k, |i, j| {
        if i == j {
            return 0.0;
        }
        // v·w/(v + w) with w = 1 + v_l, written so that it cannot overflow.
        1.0 / (1.0 / variances[i].max(f64::MIN_POSITIVE) + 1.0 / (1.0 + variances[j]))
            / n_samples as f64
    })
}

/// a/‖a‖ (K×1), if there is one.
fn unit(a: Mat<f64>) -> Option<Mat<f64>> {
    let norm = a.norm_l2();
    (norm.is_finite() && norm > 0.0).then(|| faer::Scale(1.0 / norm) * a)
}

/// |cos| of the angle between two columns of norm 1.
fn cosine(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a.transpose() * b)[(0, 0)].abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_is_known_better_moves_less() {
        // Two directions at 80°: the angle that is missing is shared out by the variances.
        let angle = 80f64.to_radians();
        let columns = Mat::from_fn(2, 2, |i, j| match (i, j) {
            (0, 0) => 1.0,
            (0, 1) => angle.cos(),
            (1, 1) => angle.sin(),
            _ => 0.0,
        });
        let moved = |variances: [f64; 2]| -> Vec<f64> {
            let refined = refined(&columns, &variances).unwrap();
            let along =
                |j: usize| -> f64 { (0..2).map(|i| refined[(i, j)] * columns[(i, j)]).sum() };
            (0..2).map(|j| along(j).acos().to_degrees()).collect()
        };
        let good_and_bad = moved([1e-6, 1e6]);
        assert!(good_and_bad[0] < 0.1 && (good_and_bad[1] - 10.0).abs() < 0.1);
        let alike = moved([1e6, 1e6]);
        assert!(
            alike.iter().all(|degrees| (degrees - 5.0).abs() < 0.1),
            "{alike:?}"
        );
    }

    #[test]
    fn a_mixture_at_45_degrees_is_seen() {
        // Two uniform sources on a grid, independent exactly.
        let side = 60;
        let value = |i: usize| 3f64.sqrt() * (2.0 * (i as f64 + 0.5) / side as f64 - 1.0);
        let z = Mat::from_fn(side * side, 2, |t, k| {
            value(if k == 0 { t / side } else { t % side })
        });
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let saddle = Mat::from_fn(2, 2, |i, j| if (i, j) == (1, 0) { -half } else { half });
        let better = without_saddles(&z, &saddle).expect("a saddle point");
        assert!(
            better
                .col_iter()
                .all(|a| (a.norm_max() - 1.0).abs() < 1e-12),
            "{better:?}"
        );
        assert!(without_saddles(&z, &better).is_none());
    }

    #[test]
    fn interference_is_that_of_theory_at_its_limits() {
        let found = interference(&[0.0, 0.5, 1e300, f64::MAX], 100);
        assert!(found[(0, 1)] < 1e-300 && found[(1, 1)] == 0.0);
        assert!((found[(1, 0)] - 0.5 / 1.5 / 100.0).abs() < 1e-15);
        assert!((found[(1, 2)] - 0.5 / 100.0).abs() < 1e-15);
        assert!(found[(2, 3)].is_finite() && found[(2, 3)] > 1e290);
    }
}
