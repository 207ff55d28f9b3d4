//! Whether branches hold what they promise: the same source in every run, and short time scales
//! first.
//!
//! In: the [`Matching`]s of runs with the true sources, one row a branch. Out:
//! [`permutation_stability`] over the runs, and the [`BranchOrder`] of one of them.

use super::ranks::spearman_rho;
use super::{Matching, Reference, kendall_tau};
use crate::error::{Error, Result};
use strt_signal::correlation_time::correlation_time;

/// How far branch index and time scale agree; 1 when low branches hold the short scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BranchOrder {
    /// Spearman's ρ between branch index and correlation time of the true source that the branch is
    /// matched with.
    pub spearman: f64,
    /// Kendall's τ_b between the same.
    pub kendall: f64,
}

impl BranchOrder {
    /// Of one run. Branches without a true source do not count.
    ///
    /// # Errors
    /// When the matching is not with this reference, fewer than two branches are matched, or all
    /// matched sources have the same correlation time.
    pub fn of(matching: &Matching, reference: &Reference) -> Result<BranchOrder> {
        if matching.correlations().ncols() != reference.n_sources() {
            return Err(Error::OrderReference {
                expected: matching.correlations().ncols(),
                found: reference.n_sources(),
            });
        }
        let times: Vec<f64> = (0..reference.n_sources())
            .map(|j| {
                let column: Vec<f64> = reference.sources().col(j).iter().copied().collect();
                correlation_time(&column) as f64
            })
            .collect();
        let matched = matching.matched().iter().enumerate();
        let (index, time): (Vec<f64>, Vec<f64>) = matched
            .filter_map(|(k, j)| j.map(|j| (k as f64, times[j])))
            .unzip();
        Ok(BranchOrder {
            spearman: spearman_rho(&index, &time)?,
            kendall: kendall_tau(&index, &time)?,
        })
    }
}

/// The share of (pair of runs, branch) in which both runs have the same true source in that branch;
/// 1 when every run puts every source in the same place. Runs differ in their seed only; each is a
/// [`Matching`] or its [`matched`](Matching::matched) sources.
///
/// ```
/// use strt_score::{match_sources, permutation_stability, Reference};
/// # use faer::Mat;
/// # let truth = Mat::from_fn(100, 2, |t, k| (t as f64 * [0.9, 0.1][k]).sin());
/// # let runs = [truth.clone(), Mat::from_fn(100, 2, |t, k| -truth[(t, k)])];
/// let reference = Reference::new(truth)?;
/// let matchings = runs
///     .iter()
///     .map(|run| match_sources(run.as_ref(), &reference))
///     .collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(permutation_stability(&matchings)?, 1.0);
/// # Ok::<(), strt_score::Error>(())
/// ```
///
/// # Errors
/// With fewer than two runs, or runs with different numbers of branches.
pub fn permutation_stability<M: AsRef<[Option<usize>]>>(runs: &[M]) -> Result<f64> {
    let n_branches = runs.first().map_or(0, |run| run.as_ref().len());
    if runs.len() < 2 || runs.iter().any(|run| run.as_ref().len() != n_branches) {
        return Err(Error::Stability { n_runs: runs.len() });
    }
    let (mut same, mut all) = (0usize, 0usize);
    for (later, run) in runs.iter().enumerate() {
        for earlier in &runs[..later] {
            let pairs = run.as_ref().iter().zip(earlier.as_ref());
            same += pairs.filter(|(a, b)| a == b).count();
            all += n_branches;
        }
    }
    Ok(same as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_sources;
    use faer::Mat;

    fn wave(t: usize, k: usize) -> f64 {
        (t as f64 * [0.9, 0.2, 0.04][k]).sin()
    }

    /// A run that has source `order[k]` in branch k.
    fn run(order: [usize; 3]) -> (Matching, Reference) {
        let reference = Reference::new(Mat::from_fn(600, 3, wave)).unwrap();
        let estimated = Mat::from_fn(600, 3, |t, k| wave(t, order[k]));
        (
            match_sources(estimated.as_ref(), &reference).unwrap(),
            reference,
        )
    }

    #[test]
    fn order_is_that_of_the_time_scales() {
        let order = |order: [usize; 3]| {
            let (matching, reference) = run(order);
            BranchOrder::of(&matching, &reference).unwrap()
        };
        assert_eq!(order([0, 1, 2]).spearman, 1.0);
        assert_eq!(order([2, 1, 0]).spearman, -1.0);
        let swapped = order([1, 0, 2]);
        assert!(
            (swapped.spearman - 0.5).abs() < 1e-12 && (swapped.kendall - 1.0 / 3.0).abs() < 1e-12
        );
    }

    #[test]
    fn orders_that_do_not_exist_are_refused() {
        let (matching, _) = run([0, 1, 2]);
        let other = Reference::new(Mat::from_fn(600, 2, wave)).unwrap();
        assert!(matches!(
            BranchOrder::of(&matching, &other),
            Err(Error::OrderReference { .. })
        ));
        let one = match_sources(Mat::from_fn(600, 1, wave).as_ref(), &other).unwrap();
        assert!(BranchOrder::of(&one, &other).is_err());
    }

    #[test]
    fn stability_counts_pairs_of_runs() {
        let runs =
            |orders: &[[usize; 3]]| orders.iter().map(|&order| run(order).0).collect::<Vec<_>>();
        assert_eq!(
            permutation_stability(&runs(&[[0, 1, 2], [0, 1, 2]])).unwrap(),
            1.0
        );
        assert_eq!(
            permutation_stability(&runs(&[[0, 1, 2], [1, 2, 0]])).unwrap(),
            0.0
        );
        // Pairs: same, one of three, one of three.
        let mixed = permutation_stability(&runs(&[[0, 1, 2], [0, 1, 2], [0, 2, 1]])).unwrap();
        assert!((mixed - (3.0 + 1.0 + 1.0) / 9.0).abs() < 1e-15);
        assert!(permutation_stability(&runs(&[[0, 1, 2]])).is_err());
    }
}
