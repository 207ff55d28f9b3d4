//! Cholesky for the small systems of every step (K×K correlations, F×F Gram matrices), without
//! allocating.
//!
//! Larger decompositions, made once per run, are left to faer. These are by hand although faer is
//! no slower (factor and K right sides against faer 0.24: 146 and 140 ns at K = 3, 0.42 and 0.53 µs
//! at 8, 2.2 and 1.7 µs at 16, 15 and 7 µs at 32): they run once per step, which takes
//! milliseconds, and here a column has the same bits whatever it is solved with and whatever vector
//! instructions the machine has.

use faer::Mat;

/// Lower Cholesky factor of a small positive definite matrix, in place, without allocating. A
/// matrix that is not positive definite (non-finite sources) gives NaN, which the training loop
/// reports as divergence.
pub(crate) fn factor_in_place(matrix: &mut Mat<f64>) {
    let n = matrix.nrows();
    for j in 0..n {
        let pivot =
            (matrix[(j, j)] - (0..j).map(|c| matrix[(j, c)] * matrix[(j, c)]).sum::<f64>()).sqrt();
        matrix[(j, j)] = pivot;
        for i in j + 1..n {
            let dot: f64 = (0..j).map(|c| matrix[(i, c)] * matrix[(j, c)]).sum();
            matrix[(i, j)] = (matrix[(i, j)] - dot) / pivot;
        }
    }
}

/// Right sides that are solved side by side: sums of one do not wait for those of another.
const SIDE_BY_SIDE: usize = 8;

/// X ← (LLᵀ)⁻¹X for the factor of [`factor_in_place`].
pub(crate) fn solve_in_place(factor: &Mat<f64>, x: &mut Mat<f64>) {
    let whole = x.ncols() - x.ncols() % SIDE_BY_SIDE;
    for c in (0..whole).step_by(SIDE_BY_SIDE) {
        solve_columns::<SIDE_BY_SIDE>(factor, x, c);
    }
    for c in whole..x.ncols() {
        solve_columns::<1>(factor, x, c);
    }
}

/// Solves for `COLUMNS` columns of X from `first` on. The sums of a column are taken in the same
/// order whatever columns it is solved with.
fn solve_columns<const COLUMNS: usize>(factor: &Mat<f64>, x: &mut Mat<f64>, first: usize) {
    let n = factor.nrows();
    for i in 0..n {
        let mut dots = [-0.0; COLUMNS];
        for j in 0..i {
            for (c, dot) in dots.iter_mut().enumerate() {
                *dot += factor[(i, j)] * x[(j, first + c)];
            }
        }
        for (c, dot) in dots.into_iter().enumerate() {
            x[(i, first + c)] = (x[(i, first + c)] - dot) / factor[(i, i)];
        }
    }
    for i in (0..n).rev() {
        let mut dots = [-0.0; COLUMNS];
        for j in i + 1..n {
            for (c, dot) in dots.iter_mut().enumerate() {
                *dot += factor[(j, i)] * x[(j, first + c)];
            }
        }
        for (c, dot) in dots.into_iter().enumerate() {
            x[(i, first + c)] = (x[(i, first + c)] - dot) / factor[(i, i)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_solved_together_have_the_bits_of_columns_solved_alone() {
        let n = 9;
        let spread = |i: usize, j: usize| ((7 * i + 3 * j) % 11) as f64 / 11.0;
        let mut factor = Mat::from_fn(n, n, |i, j| {
            (0..n).map(|c| spread(i, c) * spread(j, c)).sum::<f64>()
                + if i == j { 1.0 } else { 0.0 }
        });
        let matrix = factor.clone();
        factor_in_place(&mut factor);
        let right = Mat::from_fn(n, 2 * SIDE_BY_SIDE + 3, |i, j| spread(j, i) - 0.4);
        let mut together = right.clone();
        solve_in_place(&factor, &mut together);
        let back = &matrix * &together;
        for c in 0..right.ncols() {
            let mut alone = Mat::from_fn(n, 1, |i, _| right[(i, c)]);
            solve_in_place(&factor, &mut alone);
            for i in 0..n {
                assert_eq!(together[(i, c)].to_bits(), alone[(i, 0)].to_bits());
                assert!((back[(i, c)] - right[(i, c)]).abs() < 1e-12);
            }
        }
    }
}
