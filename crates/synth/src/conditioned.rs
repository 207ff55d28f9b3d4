//! Mixing matrices of a given condition number whose channels are equally loud.
//!
//! In: sizes, a condition number and random numbers. Out: an m × K matrix with rows of norm 1 and
//! singular values in geometric progression. P·diag(σ)·Qᵀ with random orthonormal P and Q has the
//! singular values; rotations of two rows at a time, which keep them, then bring every row to norm
//! 1: R. B. Bendel and M. R. Mickey, *Population correlation matrices for sampling experiments*,
//! Communications in Statistics 7(2), 1978; P. I. Davies and N. J. Higham, BIT 40(4),
//! 2000. Sums are plain loops, in one order on every machine.

use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::sources::geometric;

/// A random m × K matrix (m ≥ K) with rows of norm 1 whose largest singular value is `condition`
/// times the smallest.
pub(super) fn conditioned(
    n_rows: usize,
    n_columns: usize,
    condition: f64,
    rng: &mut ChaCha8Rng,
) -> Mat<f64> {
    let left = orthonormal(n_rows, n_columns, rng);
    let right = orthonormal(n_columns, n_columns, rng);
    let spread: Vec<f64> = (0..n_columns)
        .map(|k| {
            if n_columns == 1 {
                1.0
            } else {
                geometric(1.0, 1.0 / condition, k, n_columns)
            }
        })
        .collect();
    // Squares of the singular values and squares of the row norms have the same sum, m.
    let power: f64 = spread.iter().map(|value| value * value).sum();
    let scale = (n_rows as f64 / power).sqrt();
    let mut matrix = Mat::from_fn(n_rows, n_columns, |row, column| {
        (0..n_columns)
            .map(|k| left[(row, k)] * scale * spread[k] * right[(column, k)])
            .sum()
    });
    equalize_rows(&mut matrix);
    matrix
}

/// Gaussian columns made orthonormal one after the other; projected twice, against rounding.
fn orthonormal(n_rows: usize, n_columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    let mut matrix: Mat<f64> = Mat::from_fn(n_rows, n_columns, |_, _| StandardNormal.sample(rng));
    for column in 0..n_columns {
        for _ in 0..2 {
            for earlier in 0..column {
                let share: f64 = (0..n_rows)
                    .map(|row| matrix[(row, earlier)] * matrix[(row, column)])
                    .sum();
                (0..n_rows).for_each(|row| matrix[(row, column)] -= share * matrix[(row, earlier)]);
            }
            let norm = (0..n_rows)
                .map(|row| matrix[(row, column)].powi(2))
                .sum::<f64>()
                .sqrt();
            (0..n_rows).for_each(|row| matrix[(row, column)] /= norm);
        }
    }
    matrix
}

/// Rotates pairs of rows, one too short and one too long, so that the first has norm 1, until all
/// have.
fn equalize_rows(matrix: &mut Mat<f64>) {
    let product = |matrix: &Mat<f64>, a: usize, b: usize| -> f64 {
        (0..matrix.ncols())
            .map(|k| matrix[(a, k)] * matrix[(b, k)])
            .sum()
    };
    // Every rotation settles a row.
    for _ in 1..matrix.nrows() {
        let norms: Vec<f64> = (0..matrix.nrows())
            .map(|row| product(matrix, row, row))
            .collect();
        let extreme = |sign: f64| {
            let rows = 0..norms.len();
            rows.max_by(|&a, &b| (sign * norms[a]).total_cmp(&(sign * norms[b])))
                .unwrap_or(0)
        };
        let (short, long) = (extreme(-1.0), extreme(1.0));
        if norms[long] - 1.0 < 1e-12 || 1.0 - norms[short] < 1e-12 {
            return;
        }
        // ‖short + t·long‖² = 1 + t²; of the two solutions the one that turns least.
        let (above, below) = (norms[long] - 1.0, norms[short] - 1.0);
        let dot = product(matrix, short, long);
        let root = (dot * dot - above * below).sqrt();
        let tangent = -below / (dot + if dot < 0.0 { -root } else { root });
        let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
        let sine = tangent * cosine;
        for k in 0..matrix.ncols() {
            let (a, b) = (matrix[(short, k)], matrix[(long, k)]);
            matrix[(short, k)] = cosine * a + sine * b;
            matrix[(long, k)] = cosine * b - sine * a;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixing::condition;
    use rand::SeedableRng;

    #[test]
    fn the_condition_is_as_asked_and_rows_have_norm_one() {
        for (n_rows, n_columns) in [(1, 1), (2, 2), (6, 3), (12, 12), (40, 12)] {
            for asked in [1.0, 7.0, 300.0, 10_000.0] {
                let matrix =
                    conditioned(n_rows, n_columns, asked, &mut ChaCha8Rng::seed_from_u64(3));
                let found = condition(matrix.as_ref()).unwrap();
                let expected = if n_columns == 1 { 1.0 } else { asked };
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "{n_rows} × {n_columns}: {found} against {expected}"
                );
                for row in 0..n_rows {
                    assert!((matrix.row(row).norm_l2() - 1.0).abs() < 1e-9);
                }
            }
        }
    }
}
