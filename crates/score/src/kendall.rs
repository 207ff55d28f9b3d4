//! Kendall's rank correlation, to compare the order of branches with the order of time scales.
//!
//! In: two sequences of equal length. Out: τ_b in [−1, 1]. The quadratic count is meant for tens of
//! sources, not for samples.

use std::cmp::Ordering;

use crate::error::{Error, Result};

/// Kendall's τ_b: (concordant − discordant) / √((pairs − ties in a)·(pairs − ties in b)).
///
/// It is 1 when both sequences have the same order, −1 when one is the reverse of the other;
/// without ties it is the plain τ.
///
/// # Errors
/// When the lengths differ, there are fewer than two values, a value is NaN, or all values of one
/// sequence are equal.
pub fn kendall_tau(first: &[f64], second: &[f64]) -> Result<f64> {
    if first.len() != second.len() {
        return Err(Error::SequenceLengths {
            figure: "Kendall's tau",
            first: first.len(),
            second: second.len(),
        });
    }
    if first.len() < 2 {
        return Err(Error::KendallLength { found: first.len() });
    }
    let (mut balance, mut first_untied, mut second_untied) = (0i64, 0u64, 0u64);
    for later in 0..first.len() {
        for earlier in 0..=later {
            // Comparing a value with itself finds NaN.
            let (Some(a), Some(b)) = (
                first[later].partial_cmp(&first[earlier]),
                second[later].partial_cmp(&second[earlier]),
            ) else {
                return Err(Error::KendallNan { index: later });
            };
            first_untied += u64::from(a != Ordering::Equal);
            second_untied += u64::from(b != Ordering::Equal);
            balance += a as i64 * b as i64;
        }
    }
    if first_untied == 0 || second_untied == 0 {
        return Err(Error::KendallTies);
    }
    Ok(balance as f64 / (first_untied as f64).sqrt() / (second_untied as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_reversal_and_a_value_by_hand() {
        let tau = |first: &[f64], second: &[f64]| kendall_tau(first, second).unwrap();
        assert!((tau(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]) - 1.0).abs() < 1e-15);
        assert!((tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-15);
        // One of three pairs is discordant: (2 − 1)/3.
        assert!((tau(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]) - 1.0 / 3.0).abs() < 1e-15);
        // One tie in the second: 2/√(3·2).
        assert!((tau(&[1.0, 2.0, 3.0], &[1.0, 2.0, 2.0]) - 2.0 / 6.0f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn sequences_without_an_order_are_refused() {
        assert!(matches!(
            kendall_tau(&[1.0], &[1.0, 2.0]),
            Err(Error::SequenceLengths { .. })
        ));
        for (first, second, expected) in [
            (&[1.0][..], &[1.0][..], Error::KendallLength { found: 1 }),
            (&[1.0, 2.0], &[3.0, 3.0], Error::KendallTies),
            (
                &[f64::NAN, 2.0],
                &[1.0, 2.0],
                Error::KendallNan { index: 0 },
            ),
        ] {
            assert_eq!(kendall_tau(first, second), Err(expected));
        }
    }
}
