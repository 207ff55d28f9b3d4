//! Amari distance: how far an unmixing is from undoing a mixing, up to scale and order.
//!
//! In: the product of unmixing and true mixing, or two mixing matrices. Out: one number in [0, 1].
//! It needs a true mixing matrix, so it is for linear problems; it does not look at the sources.

use faer::{Mat, MatRef};

use crate::error::{Error, Result};

/// A mixing whose smallest singular value is below this share of the largest has no usable
/// pseudo-inverse.
const SINGULAR_TOLERANCE: f64 = 1e-12;

/// Amari distance of P = unmixing·mixing (K × K), 0 exactly when P is a scaled permutation, at most
/// 1:
///
/// ```text
/// d(P) = 1/(2K(K−1)) · [ Σ_i ( Σ_j |p_ij| / max_j |p_ij| − 1 )
///                      + Σ_j ( Σ_i |p_ij| / max_i |p_ij| − 1 ) ]
/// ```
///
/// and 0 for K = 1. It is the performance index of S. Amari, A. Cichocki and H. H. Yang, *A new
/// learning algorithm for blind signal separation*, NIPS 8 (1996), divided by its largest value
/// 2K(K−1).
///
/// # Errors
/// When P is not square, is empty, has an entry that is not finite or a row or column of zeros.
pub fn amari_distance(product: MatRef<'_, f64>) -> Result<f64> {
    let n_sources = product.nrows();
    if n_sources == 0 || product.ncols() != n_sources {
        return Err(Error::AmariShape {
            found: product.shape(),
        });
    }
    if product
        .col_iter()
        .any(|column| column.iter().any(|value| !value.is_finite()))
    {
        return Err(Error::AmariValue);
    }
    let mut sum = 0.0;
    for index in 0..n_sources {
        sum += excess((0..n_sources).map(|j| product[(index, j)]), "row", index)?;
        sum += excess((0..n_sources).map(|i| product[(i, index)]), "column", index)?;
    }
    if n_sources == 1 {
        return Ok(0.0);
    }
    let largest = 2 * n_sources * (n_sources - 1);
    Ok(sum / largest as f64)
}

/// Amari distance between two mixing matrices (both m × K), through pinv(estimated)·true.
///
/// # Errors
/// When the shapes differ, there are more sources than channels, the estimate has dependent
/// columns, and as [`amari_distance`].
pub fn amari_from_mixing(
    estimated_mixing: MatRef<'_, f64>,
    true_mixing: MatRef<'_, f64>,
) -> Result<f64> {
    let (n_channels, n_sources) = (true_mixing.nrows(), true_mixing.ncols());
    if (estimated_mixing.nrows(), estimated_mixing.ncols()) != (n_channels, n_sources)
        || n_sources == 0
        || n_sources > n_channels
    {
        return Err(Error::MixingShapes {
            truth: true_mixing.shape(),
            found: estimated_mixing.shape(),
        });
    }
    if estimated_mixing
        .col_iter()
        .any(|column| column.iter().any(|value| !value.is_finite()))
    {
        return Err(Error::MixingValue);
    }
    let decomposition = estimated_mixing
        .thin_svd()
        .map_err(|reason| Error::SingularValues { reason })?;
    // Descending.
    let singular_values = decomposition.S().column_vector();
    let (largest, smallest) = (singular_values[0], singular_values[n_sources - 1]);
    if smallest <= SINGULAR_TOLERANCE * largest {
        return Err(Error::DependentColumns { largest, smallest });
    }
    // pinv(A)·B = V·Σ⁻¹·Uᵀ·B
    let rotated: Mat<f64> = decomposition.U().transpose() * true_mixing;
    let scaled = Mat::from_fn(n_sources, n_sources, |row, column| {
        rotated[(row, column)] / singular_values[row]
    });
    amari_distance((decomposition.V() * scaled).as_ref())
}

/// Σ|p| / max|p| − 1: 0 for a line with one nonzero entry, K − 1 for a line of equal ones.
fn excess(
    line: impl Iterator<Item = f64> + Clone,
    name: &'static str,
    index: usize,
) -> Result<f64> {
    let largest = line
        .clone()
        .fold(0.0f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return Err(Error::LostSource { line: name, index });
    }
    Ok(line.map(|value| value.abs() / largest).sum::<f64>() - 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(values: &[f64], n_columns: usize) -> Mat<f64> {
        MatRef::from_row_major_slice(values, values.len() / n_columns, n_columns).to_owned()
    }

    #[test]
    fn extremes_and_a_value_by_hand() {
        assert_eq!(amari_distance(rows(&[-3.0], 1).as_ref()).unwrap(), 0.0);
        assert_eq!(
            amari_distance(rows(&[0.0, -2.0, 0.1, 0.0], 2).as_ref()).unwrap(),
            0.0
        );
        assert_eq!(amari_distance(Mat::full(4, 4, -1.0).as_ref()).unwrap(), 1.0);
        // Rows leave ½ and ¼, columns ½ and ¼: 1.5 of at most 4.
        assert!(
            (amari_distance(rows(&[2.0, 1.0, 1.0, 4.0], 2).as_ref()).unwrap() - 0.375).abs()
                < 1e-15
        );
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        assert!(matches!(
            amari_distance(Mat::zeros(2, 3).as_ref()),
            Err(Error::AmariShape { .. })
        ));
        assert!(matches!(
            amari_distance(Mat::zeros(0, 0).as_ref()),
            Err(Error::AmariShape { .. })
        ));
        assert!(
            amari_distance(rows(&[1.0, 0.0, 1.0, 0.0], 2).as_ref())
                .unwrap_err()
                .to_string()
                .contains("column 1")
        );
        assert!(amari_distance(rows(&[0.0], 1).as_ref()).is_err());
        assert!(amari_distance(rows(&[f64::NAN], 1).as_ref()).is_err());
        let full = rows(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2);
        let dependent = rows(&[1.0, 2.0, 1.0, 2.0, 0.0, 0.0], 2);
        assert!(
            amari_from_mixing(dependent.as_ref(), full.as_ref())
                .unwrap_err()
                .to_string()
                .contains("dependent")
        );
        assert!(amari_from_mixing(full.transpose(), full.transpose()).is_err());
        assert!(amari_from_mixing(full.as_ref(), Mat::zeros(3, 1).as_ref()).is_err());
        assert!(amari_from_mixing(Mat::zeros(3, 0).as_ref(), Mat::zeros(3, 0).as_ref()).is_err());
    }

    proptest! {
        #[test]
        fn distance_is_bounded_and_blind_to_scale_and_order(
            values in proptest::collection::vec(-1.0..1.0f64, 5 * 3),
            factors in proptest::collection::vec(0.1..5.0f64, 3),
        ) {
            // A diagonal keeps the columns independent.
            let mixing = Mat::from_fn(5, 3, |i, k| {
                values[i * 3 + k] + if i == k { 4.0 } else { 0.0 }
            });
            let moved = Mat::from_fn(5, 3, |i, k| -factors[k] * mixing[(i, (k + 1) % 3)]);
            prop_assert!(amari_from_mixing(moved.as_ref(), mixing.as_ref()).unwrap() < 1e-12);
            let product = Mat::from_fn(3, 3, |i, k| values[i * 3 + k] + 1e-3);
            let distance = amari_distance(product.as_ref()).unwrap();
            prop_assert!((0.0..=1.0).contains(&distance));
        }
    }
}
