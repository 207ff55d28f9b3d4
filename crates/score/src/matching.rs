//! Which estimated source is which true source, and how well they agree.
//!
//! In: estimated sources (T × K_est) and a [`Reference`] (T × K_ref). Out: a [`Matching`]: absolute
//! correlations, the assignment with the largest sum, signs and the mean absolute matched
//! correlation (MAC). Scale, sign and order of the sources do not matter, since no separation can
//! know them.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::Reference;
use crate::error::{Error, Result};
use strt_signal::assignment;
use strt_signal::moments::standardize_columns;
use strt_signal::recording::missing_samples;

/// The result of [`match_sources`].
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    correlations: Mat<f64>,
    matched: Vec<Option<usize>>,
    sign: Vec<f64>,
    per_source: Vec<f64>,
    mac: f64,
}

impl Matching {
    /// The best matching under signed correlations ρ (K_est × K_ref).
    pub(super) fn from_correlations(signed: MatRef<'_, f64>) -> Matching {
        let (n_estimated, n_reference) = (signed.nrows(), signed.ncols());
        let correlations = Mat::from_fn(n_estimated, n_reference, |k, j| signed[(k, j)].abs());
        let matched = best_assignment(correlations.as_ref());
        let mut sign = vec![1.0; n_estimated];
        let mut per_source = vec![0.0; n_estimated];
        for (k, reference_index) in matched.iter().enumerate() {
            if let Some(j) = *reference_index {
                sign[k] = if signed[(k, j)] < 0.0 { -1.0 } else { 1.0 };
                per_source[k] = correlations[(k, j)];
            }
        }
        let mac = per_source.iter().sum::<f64>() / n_estimated.min(n_reference) as f64;
        Matching {
            correlations,
            matched,
            sign,
            per_source,
            mac,
        }
    }

    /// |ρ_kj| between estimated source k and reference source j, K_est × K_ref.
    pub fn correlations(&self) -> MatRef<'_, f64> {
        self.correlations.as_ref()
    }

    /// For each estimated source the index of its reference source; `None` when there are more
    /// estimates than references and this one was left over.
    pub fn matched(&self) -> &[Option<usize>] {
        &self.matched
    }

    /// For each estimated source the factor, 1 or −1, that gives it the sign of its reference; 1
    /// when unmatched.
    pub fn sign(&self) -> &[f64] {
        &self.sign
    }

    /// For each estimated source the absolute correlation with its reference; 0 when unmatched.
    pub fn per_source(&self) -> &[f64] {
        &self.per_source
    }

    /// Mean absolute correlation over the min(K_est, K_ref) matched pairs.
    ///
    /// With unequal numbers the sources left over do not count; compare such figures only between
    /// separations with the same K_est.
    pub fn mac(&self) -> f64 {
        self.mac
    }

    /// The smallest absolute correlation of a matched pair.
    pub fn worst(&self) -> f64 {
        let matched = self
            .matched
            .iter()
            .zip(&self.per_source)
            .filter(|(matched, _)| matched.is_some());
        matched
            .map(|(_, &correlation)| correlation)
            .fold(f64::INFINITY, f64::min)
    }
}

/// [`Matching::matched`].
impl AsRef<[Option<usize>]> for Matching {
    fn as_ref(&self) -> &[Option<usize>] {
        &self.matched
    }
}

/// Matches estimated sources (T × K_est, any K_est ≥ 1) with true ones so that Σ|ρ| is largest.
///
/// Rows in which an estimate is NaN are left out. A source that is constant over the rest
/// correlates with nothing: its row (or column) of correlations is 0.
///
/// # Errors
/// When the numbers of samples differ, an estimate is infinite, there is no estimate, or fewer than
/// two rows are left.
pub fn match_sources(estimated: MatRef<'_, f64>, reference: &Reference) -> Result<Matching> {
    check(estimated, reference)?;
    let kept = kept_rows(estimated)?;
    let signed = correlations(
        standardized_rows(estimated, &kept).as_ref(),
        standardized_rows(reference.sources(), &kept).as_ref(),
    );
    Ok(Matching::from_correlations(signed.as_ref()))
}

/// The rows without a NaN, at least two.
pub(super) fn kept_rows(estimated: MatRef<'_, f64>) -> Result<Vec<usize>> {
    let missing = missing_samples(estimated);
    let kept: Vec<usize> = (0..estimated.nrows()).filter(|&t| !missing[t]).collect();
    if kept.len() < 2 {
        return Err(Error::TooFewEstimates {
            n_complete: kept.len(),
            n_samples: estimated.nrows(),
        });
    }
    Ok(kept)
}

pub(super) fn check(estimated: MatRef<'_, f64>, reference: &Reference) -> Result<()> {
    if estimated.nrows() != reference.n_samples() {
        return Err(Error::EstimateLength {
            expected: reference.n_samples(),
            found: estimated.nrows(),
        });
    }
    if estimated.ncols() == 0 {
        return Err(Error::NoEstimate);
    }
    for (k, column) in estimated.col_iter().enumerate() {
        if let Some(t) = column.iter().position(|value| value.is_infinite()) {
            return Err(Error::InfiniteEstimate {
                source_index: k,
                sample: t,
            });
        }
    }
    Ok(())
}

/// The kept rows, every column with mean 0 and deviation 1 over them.
pub(super) fn standardized_rows(values: MatRef<'_, f64>, kept: &[usize]) -> Mat<f64> {
    let complete = Mat::from_fn(kept.len(), values.ncols(), |row, column| {
        values[(kept[row], column)]
    });
    standardize_columns(complete.as_ref())
}

/// Signed correlations (K_est × K_ref) of columns that are standardised over the same rows.
pub(super) fn correlations(estimated: MatRef<'_, f64>, reference: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(estimated.ncols(), reference.ncols());
    let weight = 1.0 / estimated.nrows() as f64;
    matmul(
        &mut product,
        Accum::Replace,
        estimated.transpose(),
        reference,
        weight,
        Par::Seq,
    );
    // Rounding may leave 1 + 1e-16.
    Mat::from_fn(product.nrows(), product.ncols(), |k, j| {
        product[(k, j)].clamp(-1.0, 1.0)
    })
}

/// For each row the column of the assignment with the largest sum of `weights` (entries in [0, 1];
/// NaN counts as 0).
fn best_assignment(weights: MatRef<'_, f64>) -> Vec<Option<usize>> {
    let cost = |weight: f64| if weight.is_nan() { 0.0 } else { -weight };
    let (n_rows, n_columns) = (weights.nrows(), weights.ncols());
    // The solver assigns every row, so the shorter side must be the rows.
    if n_rows <= n_columns {
        let costs = Mat::from_fn(n_rows, n_columns, |row, column| {
            cost(weights[(row, column)])
        });
        assignment::minimal(costs.as_ref())
            .into_iter()
            .map(Some)
            .collect()
    } else {
        let costs = Mat::from_fn(n_columns, n_rows, |column, row| {
            cost(weights[(row, column)])
        });
        let mut assignment = vec![None; n_rows];
        for (column, row) in assignment::minimal(costs.as_ref()).into_iter().enumerate() {
            assignment[row] = Some(column);
        }
        assignment
    }
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::align;

    fn gaussian(n_samples: usize, n_sources: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
        Mat::from_fn(n_samples, n_sources, |_, _| StandardNormal.sample(rng))
    }

    #[test]
    fn scaled_signed_permutations_are_recovered_exactly() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for n_sources in [1, 2, 3, 7, 12] {
            for _ in 0..10 {
                let sources = gaussian(200, n_sources, &mut rng);
                let mut permutation: Vec<usize> = (0..n_sources).collect();
                permutation.shuffle(&mut rng);
                let factor: Vec<f64> = (0..n_sources)
                    .map(|_| {
                        let sign = if rng.random_bool(0.5) { -1.0 } else { 1.0 };
                        sign * rng.random_range(0.1..9.0)
                    })
                    .collect();
                let estimated = Mat::from_fn(200, n_sources, |t, k| {
                    factor[k] * sources[(t, permutation[k])] + 3.0
                });
                let reference = Reference::new(sources).unwrap();
                let matching = match_sources(estimated.as_ref(), &reference).unwrap();
                assert!(
                    (matching.mac() - 1.0).abs() < 1e-12 && (matching.worst() - 1.0).abs() < 1e-12
                );
                for k in 0..n_sources {
                    assert_eq!(matching.matched()[k], Some(permutation[k]));
                    assert_eq!(matching.sign()[k], factor[k].signum());
                }
                let aligned = align(estimated.as_ref(), &reference, &matching).unwrap();
                let expected = reference.z_score();
                for k in 0..n_sources {
                    assert!((0..200).all(|t| (aligned[(t, k)] - expected[(t, k)]).abs() < 1e-9));
                }
            }
        }
    }

    /// Largest sum over all ways to give the rows distinct columns, or leave rows over.
    fn brute_force(weights: MatRef<'_, f64>, row: usize, used: &mut Vec<bool>) -> f64 {
        if row == weights.nrows() {
            return 0.0;
        }
        let mut best = brute_force(weights, row + 1, used);
        for column in 0..weights.ncols() {
            if !used[column] {
                used[column] = true;
                best = best.max(weights[(row, column)] + brute_force(weights, row + 1, used));
                used[column] = false;
            }
        }
        best
    }

    #[test]
    fn assignment_is_as_good_as_trying_all_permutations() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for n_rows in 1..=6usize {
            for n_columns in 1..=6usize {
                for _ in 0..5 {
                    let weights =
                        Mat::from_fn(n_rows, n_columns, |_, _| rng.random_range(0.0..1.0));
                    let assignment = best_assignment(weights.as_ref());
                    let mut columns: Vec<usize> = assignment.iter().flatten().copied().collect();
                    let sum: f64 = assignment
                        .iter()
                        .enumerate()
                        .filter_map(|(row, c)| c.map(|c| weights[(row, c)]))
                        .sum();
                    columns.sort_unstable();
                    columns.dedup();
                    assert_eq!(columns.len(), n_rows.min(n_columns));
                    let best = brute_force(weights.as_ref(), 0, &mut vec![false; n_columns]);
                    assert!(
                        (sum - best).abs() < 1e-10,
                        "{n_rows} × {n_columns}: {sum} against {best}"
                    );
                }
            }
        }
    }

    #[test]
    fn unequal_numbers_match_the_smaller_side() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let sources = gaussian(500, 4, &mut rng);
        let two = Mat::from_fn(500, 2, |t, k| sources[(t, [3, 1][k])]);
        let matching =
            match_sources(two.as_ref(), &Reference::new(sources.clone()).unwrap()).unwrap();
        assert_eq!(matching.matched(), [Some(3), Some(1)]);
        assert!((matching.mac() - 1.0).abs() < 1e-12);
        assert_eq!(
            (
                matching.correlations().nrows(),
                matching.correlations().ncols()
            ),
            (2, 4)
        );

        let matching = match_sources(sources.as_ref(), &Reference::new(two).unwrap()).unwrap();
        assert_eq!(matching.matched(), [None, Some(1), None, Some(0)]);
        assert_eq!((matching.per_source()[0], matching.sign()[0]), (0.0, 1.0));
        assert!((matching.mac() - 1.0).abs() < 1e-12 && (matching.worst() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nan_rows_are_left_out_and_constants_correlate_with_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let sources = gaussian(100, 2, &mut rng);
        let mut estimated =
            Mat::from_fn(100, 2, |t, k| if k == 0 { 0.3 } else { -sources[(t, 0)] });
        estimated[(10, 0)] = f64::NAN;
        estimated[(10, 1)] = 1e6;
        let matching =
            match_sources(estimated.as_ref(), &Reference::new(sources).unwrap()).unwrap();
        assert_eq!(
            (
                matching.correlations()[(0, 0)],
                matching.correlations()[(0, 1)]
            ),
            (0.0, 0.0)
        );
        assert_eq!(matching.matched(), [Some(1), Some(0)]);
        assert_eq!(matching.sign()[1], -1.0);
        assert!((matching.mac() - 0.5).abs() < 1e-12);
        assert_eq!(matching.worst(), 0.0);
    }

    #[test]
    fn estimates_that_cannot_be_compared_are_refused() {
        let reference = Reference::new(Mat::from_fn(5, 1, |t, _| t as f64)).unwrap();
        let refused =
            |estimated: Mat<f64>| match_sources(estimated.as_ref(), &reference).unwrap_err();
        let length = Error::EstimateLength {
            expected: 5,
            found: 4,
        };
        assert_eq!(refused(Mat::zeros(4, 1)), length);
        assert_eq!(refused(Mat::zeros(5, 0)), Error::NoEstimate);
        assert!(
            refused(Mat::full(5, 1, f64::INFINITY))
                .to_string()
                .contains("infinite")
        );
        assert!(
            refused(Mat::full(5, 1, f64::NAN))
                .to_string()
                .contains("0 of 5")
        );
    }
}
