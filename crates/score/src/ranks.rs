//! Ranks in place of values: agreement that no increasing map of a source can change.
//!
//! In: sequences, or estimated sources and a [`Reference`]. Out: Spearman's ρ, and the [`Matching`]
//! by it. A nonlinear separation knows its sources up to a map of each alone; where that map is
//! monotone, ranks see through it.

use faer::{Mat, MatRef};

use super::matching::{check, correlations, kept_rows, standardized_rows};
use super::{Matching, Reference};
use crate::error::{Error, Result};
use strt_signal::moments::standardize_columns;

/// [`match_sources`](super::match_sources) with |Spearman's ρ| in place of the correlation: its
/// [`mac`](Matching::mac) is the same for every increasing or decreasing map of any source.
///
/// # Errors
/// As [`match_sources`](super::match_sources).
pub fn match_ranks(estimated: MatRef<'_, f64>, reference: &Reference) -> Result<Matching> {
    check(estimated, reference)?;
    let kept = kept_rows(estimated)?;
    let ranked = |values: MatRef<'_, f64>| {
        // Constant columns stay constant: all their ranks are equal.
        let rows = standardized_rows(values, &kept);
        let mut ranked = Mat::zeros(rows.nrows(), rows.ncols());
        for k in 0..rows.ncols() {
            ranked
                .col_as_slice_mut(k)
                .copy_from_slice(&ranks(rows.col_as_slice(k)));
        }
        standardize_columns(ranked.as_ref())
    };
    let signed = correlations(
        ranked(estimated).as_ref(),
        ranked(reference.sources()).as_ref(),
    );
    Ok(Matching::from_correlations(signed.as_ref()))
}

/// Spearman's ρ: the correlation of ranks, with the mean rank for ties.
///
/// # Errors
/// When the lengths differ, there are fewer than two values, a value is NaN, or all values of one
/// sequence are equal.
pub fn spearman_rho(first: &[f64], second: &[f64]) -> Result<f64> {
    if first.len() != second.len() {
        return Err(Error::SequenceLengths {
            figure: "Spearman's rho",
            first: first.len(),
            second: second.len(),
        });
    }
    let usable = |values: &[f64]| {
        values.len() >= 2
            && !values.iter().any(|value| value.is_nan())
            && values.iter().any(|v| *v != values[0])
    };
    if !usable(first) || !usable(second) {
        return Err(Error::Spearman);
    }
    let centred = |values: &[f64]| {
        let middle = 0.5 * (values.len() as f64 - 1.0);
        ranks(values)
            .into_iter()
            .map(|rank| rank - middle)
            .collect::<Vec<_>>()
    };
    let (a, b) = (centred(first), centred(second));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    Ok((dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()).clamp(-1.0, 1.0))
}

/// Rank of every value, counted from 0; equal values share the mean of their ranks.
pub(super) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let ties = order[first..]
            .iter()
            .take_while(|&&t| values[t] == values[order[first]]);
        let end = first + ties.count().max(1);
        let mean = 0.5 * (first + end - 1) as f64;
        order[first..end].iter().for_each(|&t| ranks[t] = mean);
        first = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_sources;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(
            ranks(&[3.0, 1.0, 3.0, -2.0, 3.0]),
            [3.0, 1.0, 3.0, 0.0, 3.0]
        );
        assert_eq!(ranks(&[0.0, -0.0]), [0.5, 0.5]);
        assert!(ranks(&[]).is_empty());
    }

    #[test]
    fn rho_by_hand() {
        assert_eq!(
            spearman_rho(&[1.0, 2.0, 9.0], &[0.0, 5.0, 6.0]).unwrap(),
            1.0
        );
        assert_eq!(
            spearman_rho(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]).unwrap(),
            -1.0
        );
        // 1 − 6·Σd²/(n(n² − 1)) with d = (0, 1, −1): 1 − 12/24.
        assert!((spearman_rho(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]).unwrap() - 0.5).abs() < 1e-15);
        for (first, second) in [
            (&[1.0][..], &[1.0][..]),
            (&[1.0, 2.0], &[3.0, 3.0]),
            (&[f64::NAN, 2.0], &[1.0, 2.0]),
        ] {
            assert_eq!(spearman_rho(first, second), Err(Error::Spearman));
        }
        assert!(matches!(
            spearman_rho(&[1.0, 2.0], &[1.0]),
            Err(Error::SequenceLengths { .. })
        ));
    }

    #[test]
    fn monotone_maps_do_not_matter_and_others_do() {
        let truth = Mat::from_fn(400, 2, |t, k| {
            (t as f64 * [0.37, 0.05][k]).sin() + 0.001 * t as f64
        });
        let reference = Reference::new(truth.clone()).unwrap();
        let mut bent = Mat::from_fn(400, 2, |t, k| {
            let value = truth[(t, 1 - k)];
            if k == 0 {
                -(5.0 * value).exp()
            } else {
                value.powi(3)
            }
        });
        bent[(7, 0)] = f64::NAN;
        let by_rank = match_ranks(bent.as_ref(), &reference).unwrap();
        assert!(by_rank.mac() > 1.0 - 1e-12, "{}", by_rank.mac());
        assert_eq!(
            (by_rank.matched(), by_rank.sign()),
            (&[Some(1), Some(0)][..], &[-1.0, 1.0][..])
        );
        assert!(match_sources(bent.as_ref(), &reference).unwrap().mac() < 0.95);
        let folded = Mat::from_fn(400, 2, |t, k| truth[(t, k)].abs());
        assert!(match_ranks(folded.as_ref(), &reference).unwrap().mac() < 0.8);
        let constant = match_ranks(Mat::full(400, 1, 1.0).as_ref(), &reference).unwrap();
        assert_eq!(constant.mac(), 0.0);
    }
}
