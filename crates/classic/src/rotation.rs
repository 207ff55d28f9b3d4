//! Orthogonal matrices: the nearest one, and a random one to begin with.

use faer::{Mat, MatRef, Side};
use rand_distr::{Distribution, StandardNormal};

use crate::error::{Error, NotOrthogonal, Result};
use strt_signal::random::{Stream, rng};

/// A·(AᵀA)^(−1/2), the orthogonal matrix nearest to A: symmetric decorrelation of its columns.
pub(super) fn nearest(matrix: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let failed = |why| Error::NotOrthogonal { why };
    let gram = matrix.transpose() * matrix;
    if !gram
        .col_iter()
        .all(|column| column.iter().all(|value| value.is_finite()))
    {
        return Err(failed(NotOrthogonal::Diverged));
    }
    let decomposition = gram
        .self_adjoint_eigen(Side::Lower)
        .map_err(|reason| failed(NotOrthogonal::Eigendecomposition(reason)))?;
    let (values, vectors) = (decomposition.S().column_vector(), decomposition.U());
    // Ascending.
    if values[0] <= 0.0 {
        return Err(failed(NotOrthogonal::Dependent));
    }
    let scaled = Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, j| {
        vectors[(i, j)] / values[j].sqrt()
    });
    Ok(matrix * (scaled * vectors.transpose()))
}

/// A rotation from the seed, uniform over all of them.
pub(super) fn random(k: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed, Stream::Baseline);
    let normal = Mat::<f64>::from_fn(k, k, |_, _| StandardNormal.sample(&mut rng));
    normal.qr().compute_thin_Q()
}

/// The given start, checked and made orthogonal, or a random one.
pub(super) fn start(given: Option<&Mat<f64>>, k: usize, seed: u64) -> Result<Mat<f64>> {
    let Some(given) = given else {
        return Ok(random(k, seed));
    };
    if given.shape() != (k, k) {
        return Err(Error::StartShape {
            expected: k,
            found: given.shape(),
        });
    }
    nearest(given.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance_from_identity(matrix: &Mat<f64>) -> f64 {
        let k = matrix.nrows();
        (matrix.transpose() * matrix - Mat::<f64>::identity(k, k)).norm_max()
    }

    #[test]
    fn the_nearest_orthogonal_matrix_is_orthogonal_and_near() {
        let rotation = random(5, 3);
        assert!(distance_from_identity(&rotation) < 1e-14);
        assert_ne!(rotation, random(5, 4));
        let off = Mat::from_fn(5, 5, |i, j| rotation[(i, j)] + 1e-3 * (i as f64 - j as f64));
        let back = nearest(off.as_ref()).unwrap();
        assert!(distance_from_identity(&back) < 1e-14);
        assert!((&back - &rotation).norm_max() < 1e-2);
        // A rotation times a symmetric positive matrix is the polar decomposition.
        let stretch = Mat::from_fn(5, 5, |i, j| if i == j { 2.0 + i as f64 } else { 0.3 });
        let polar = nearest((&rotation * stretch).as_ref()).unwrap();
        assert!((&polar - &rotation).norm_max() < 1e-13);
    }

    #[test]
    fn what_has_no_nearest_rotation_is_refused() {
        assert!(nearest(Mat::<f64>::zeros(2, 2).as_ref()).is_err());
        assert!(nearest(Mat::full(2, 2, f64::NAN).as_ref()).is_err());
        let message = start(Some(&Mat::identity(2, 2)), 3, 0)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("3 × 3") && message.contains("2 × 2"),
            "{message}"
        );
    }
}
