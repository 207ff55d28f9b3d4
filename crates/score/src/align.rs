//! Estimates brought into the order, sign and scale of the reference, to be drawn on one axis.
//!
//! In: estimated sources and their [`Matching`]. Out: columns that can be laid over
//! [`Reference::z_score`]. This is for the eye: every figure of merit is computed before it.

use faer::{Mat, MatRef};

use super::{Matching, Reference};
use crate::error::{Error, Result, Sizes};
use strt_signal::moments::standardize_columns;

/// Every column with mean 0 and population standard deviation 1 over its values that are not NaN.
///
/// NaN stays NaN; a constant column becomes 0.
pub fn z_score(sources: MatRef<'_, f64>) -> Mat<f64> {
    standardize_columns(sources)
}

/// The estimated sources z-scored, with the sign and in the order of the reference, T × K_ref.
///
/// The column of a reference without an estimate is NaN throughout: there is nothing to draw.
///
/// # Errors
/// When the shapes of the estimate, the reference and the matching do not belong together.
pub fn align(
    estimated: MatRef<'_, f64>,
    reference: &Reference,
    matching: &Matching,
) -> Result<Mat<f64>> {
    let expected = Sizes {
        n_samples: reference.n_samples(),
        n_estimated: matching.matched().len(),
        n_reference: matching.correlations().ncols(),
    };
    let found = Sizes {
        n_samples: estimated.nrows(),
        n_estimated: estimated.ncols(),
        n_reference: reference.n_sources(),
    };
    if expected != found {
        return Err(Error::Alignment { expected, found });
    }
    let scored = z_score(estimated);
    let mut aligned = Mat::full(estimated.nrows(), reference.n_sources(), f64::NAN);
    for (k, reference_index) in matching.matched().iter().enumerate() {
        if let Some(j) = *reference_index {
            for t in 0..estimated.nrows() {
                aligned[(t, j)] = matching.sign()[k] * scored[(t, k)];
            }
        }
    }
    Ok(aligned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_sources;

    #[test]
    fn z_scores_keep_gaps_and_flatten_constants() {
        let scored = z_score(
            Mat::from_fn(
                3,
                2,
                |t, k| if k == 0 { [1.0, f64::NAN, 3.0][t] } else { 5.0 },
            )
            .as_ref(),
        );
        assert_eq!(
            (scored[(0, 0)], scored[(2, 0)], scored[(1, 1)]),
            (-1.0, 1.0, 0.0)
        );
        assert!(scored[(1, 0)].is_nan());
    }

    #[test]
    fn references_without_an_estimate_stay_empty() {
        let reference =
            Reference::new(Mat::from_fn(6, 2, |t, k| [t as f64, (t % 2) as f64][k])).unwrap();
        let estimated = Mat::from_fn(6, 1, |t, _| -2.0 * (t % 2) as f64);
        let matching = match_sources(estimated.as_ref(), &reference).unwrap();
        let aligned = align(estimated.as_ref(), &reference, &matching).unwrap();
        assert!(aligned.col(0).iter().all(|value| value.is_nan()));
        assert_eq!((aligned[(0, 1)], aligned[(1, 1)]), (-1.0, 1.0));
        assert!(align(Mat::zeros(6, 2).as_ref(), &reference, &matching).is_err());
    }
}
