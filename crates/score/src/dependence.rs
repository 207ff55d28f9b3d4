//! Residual dependence between estimated sources: what a separation left undone. No true source is
//! needed.
//!
//! In: estimated sources (T×K). Out: for every pair a number from 0 (no dependence found) towards
//! 1, on the scale of a correlation. The mutual information of a pair is counted in cells of equal
//! frequency (ranks), so that maps of one source alone do not matter and dependence of any form is
//! seen:
//!
//! ```text
//! I = Σ_ab p_ab·ln( p_ab / (p_a·p_b) )        dependence = √(1 − exp(−2·max(0, I − Ī)))
//! ```
//!
//! Ī is the mean of the same count when one source is rotated in time against the other by a large
//! part of the recording. It takes away what the count finds in independent sources: too few
//! samples in a cell, and chance agreement of slow sources. For jointly Gaussian values √(1 −
//! exp(−2I)) is |ρ|: E. H. Linfoot, *An informational measure of correlation*, Information and
//! Control 1, 1957. Dependence at a lag is not looked for.

use faer::{Mat, MatRef};

use super::matching::{kept_rows, standardized_rows};
use super::ranks::ranks;
use crate::error::{Error, Result};

/// A cell holds about this many samples under independence.
const SAMPLES_PER_CELL: usize = 10;
/// Cells along one source at most.
const MOST_CELLS: usize = 32;
/// Rotations in time from which Ī is taken.
const ROTATIONS: usize = 16;
/// Samples below which nothing can be said.
const LEAST_SAMPLES: usize = 4 * SAMPLES_PER_CELL;

/// Pairwise residual dependence of estimated sources.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualDependence {
    /// Symmetric K×K, 0 on the diagonal.
    pub pairs: Mat<f64>,
}

impl ResidualDependence {
    /// Of estimated sources (T×K); rows with a NaN are left out.
    ///
    /// ```
    /// use strt_score::ResidualDependence;
    /// # let problem = strt_synth::ProblemSpec::default().generate()?;
    /// let separated = ResidualDependence::of(problem.sources.as_ref())?.mean();
    /// let mixed = ResidualDependence::of(problem.observations.as_ref())?.mean();
    /// assert!(separated < mixed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there are no sources, a value is infinite, or fewer than 40 samples are complete.
    pub fn of(estimated: MatRef<'_, f64>) -> Result<ResidualDependence> {
        let k = estimated.ncols();
        let kept = kept_rows(estimated)?;
        let finite = kept
            .iter()
            .all(|&t| (0..k).all(|j| estimated[(t, j)].is_finite()));
        if k == 0 || kept.len() < LEAST_SAMPLES || !finite {
            return Err(Error::Dependence {
                n_sources: k,
                n_complete: kept.len(),
                least: LEAST_SAMPLES,
            });
        }
        let rows = standardized_rows(estimated, &kept);
        let n_cells = cells_along_one(kept.len());
        let cells: Vec<Vec<usize>> = (0..k)
            .map(|j| cells(rows.col_as_slice(j), n_cells))
            .collect();
        let mut pairs = Mat::zeros(k, k);
        for i in 0..k {
            for j in 0..i {
                let dependence = dependence(&cells[i], &cells[j], n_cells);
                pairs[(i, j)] = dependence;
                pairs[(j, i)] = dependence;
            }
        }
        Ok(ResidualDependence { pairs })
    }

    /// Mean over the pairs; 0 for one source.
    pub fn mean(&self) -> f64 {
        let k = self.pairs.nrows();
        let sum: f64 = (0..k)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|p| self.pairs[p])
            .sum();
        sum / (k * k.saturating_sub(1) / 2).max(1) as f64
    }

    /// The largest of a pair; 0 for one source.
    pub fn worst(&self) -> f64 {
        self.pairs.norm_max()
    }
}

fn cells_along_one(n_samples: usize) -> usize {
    ((n_samples / SAMPLES_PER_CELL) as f64)
        .sqrt()
        .floor()
        .clamp(2.0, MOST_CELLS as f64) as usize
}

/// The cell of every sample: equal frequency, ties together.
fn cells(values: &[f64], n_cells: usize) -> Vec<usize> {
    let n = values.len() as f64;
    ranks(values)
        .into_iter()
        .map(|rank| (((rank + 0.5) / n * n_cells as f64) as usize).min(n_cells - 1))
        .collect()
}

fn dependence(first: &[usize], second: &[usize], n_cells: usize) -> f64 {
    let n = first.len();
    let found = information(first, second, 0, n_cells);
    // From an eighth to seven eighths of the recording: far from any true alignment.
    let rotated = (0..ROTATIONS).map(|r| n / 8 + r * (3 * n / 4) / (ROTATIONS - 1));
    let chance = rotated
        .map(|shift| information(first, second, shift, n_cells))
        .sum::<f64>()
        / ROTATIONS as f64;
    (1.0 - libm::exp(-2.0 * (found - chance).max(0.0))).sqrt()
}

/// Mutual information of cells, the second source rotated by `shift` samples.
fn information(first: &[usize], second: &[usize], shift: usize, n_cells: usize) -> f64 {
    let n = first.len();
    let mut joint = vec![0u32; n_cells * n_cells];
    let (mut along_first, mut along_second) = (vec![0u32; n_cells], vec![0u32; n_cells]);
    let rotated = second[shift..].iter().chain(&second[..shift]);
    for (&a, &b) in first.iter().zip(rotated) {
        joint[a * n_cells + b] += 1;
        along_first[a] += 1;
        along_second[b] += 1;
    }
    let mut sum = 0.0;
    for a in 0..n_cells {
        for b in 0..n_cells {
            let count = f64::from(joint[a * n_cells + b]);
            if count > 0.0 {
                let expected = f64::from(along_first[a]) * f64::from(along_second[b]) / n as f64;
                sum += count * libm::log(count / expected);
            }
        }
    }
    sum / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};
    use strt_synth::{ProblemSpec, SourceKind};

    fn normal(n: usize, k: usize) -> Mat<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Mat::from_fn(n, k, |_, _| StandardNormal.sample(&mut rng))
    }

    #[test]
    fn correlated_gaussians_have_about_their_correlation() {
        let noise = normal(20_000, 2);
        for rho in [0.3f64, 0.6, 0.9] {
            let pair = Mat::from_fn(20_000, 2, |t, k| {
                if k == 0 {
                    noise[(t, 0)]
                } else {
                    rho * noise[(t, 0)] + (1.0 - rho * rho).sqrt() * noise[(t, 1)]
                }
            });
            let found = ResidualDependence::of(pair.as_ref()).unwrap();
            assert!((found.mean() - rho).abs() < 0.05, "{rho}: {}", found.mean());
            assert_eq!(
                (found.pairs[(0, 0)], found.pairs[(0, 1)]),
                (0.0, found.pairs[(1, 0)])
            );
            // Maps of one source alone do not matter.
            let bent = Mat::from_fn(20_000, 2, |t, k| {
                if k == 0 {
                    (2.0 * pair[(t, 0)]).exp()
                } else {
                    pair[(t, 1)]
                }
            });
            assert_eq!(ResidualDependence::of(bent.as_ref()).unwrap(), found);
        }
    }

    #[test]
    fn dependence_without_correlation_is_seen() {
        let noise = normal(5000, 2);
        let pair = Mat::from_fn(5000, 2, |t, k| {
            if k == 0 {
                noise[(t, 0)]
            } else {
                noise[(t, 0)].powi(2) + 0.3 * noise[(t, 1)]
            }
        });
        assert!(ResidualDependence::of(pair.as_ref()).unwrap().worst() > 0.6);
    }

    #[test]
    fn independent_sources_have_little_even_when_they_are_slow() {
        let white = ResidualDependence::of(normal(5000, 3).as_ref())
            .unwrap()
            .mean();
        assert!(white < 0.08, "{white}");
        let slow = ProblemSpec {
            kind: SourceKind::Gp,
            n_samples: 5000,
            ..ProblemSpec::default()
        }
        .generate()
        .unwrap();
        let (apart, mixed) = (
            ResidualDependence::of(slow.sources.as_ref())
                .unwrap()
                .mean(),
            ResidualDependence::of(slow.observations.as_ref())
                .unwrap()
                .mean(),
        );
        assert!(
            apart < 0.2 && mixed > 2.0 * apart,
            "{apart} against {mixed}"
        );
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        let mut gappy = normal(60, 2);
        (0..21).for_each(|t| gappy[(t, 0)] = f64::NAN);
        assert!(
            ResidualDependence::of(gappy.as_ref())
                .unwrap_err()
                .to_string()
                .contains("39 complete")
        );
        assert!(ResidualDependence::of(Mat::<f64>::zeros(100, 0).as_ref()).is_err());
        assert!(ResidualDependence::of(Mat::full(100, 2, f64::INFINITY).as_ref()).is_err());
        let one = ResidualDependence::of(normal(100, 1).as_ref()).unwrap();
        assert_eq!((one.mean(), one.worst()), (0.0, 0.0));
        // A constant source depends on nothing.
        let constant = Mat::from_fn(100, 2, |t, k| if k == 0 { 1.0 } else { t as f64 });
        assert_eq!(
            ResidualDependence::of(constant.as_ref()).unwrap().mean(),
            0.0
        );
    }
}
