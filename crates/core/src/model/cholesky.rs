//! Cholesky for the small systems of every step (K×K correlations, F×F Gram matrices), without allocating.
//!
//! Larger decompositions, made once per run, are left to faer.

use faer::Mat;

/// Lower Cholesky factor of a small positive definite matrix, in place, without allocating. A matrix that is not
/// positive definite (non-finite sources) gives NaN, which the training loop reports as divergence.
pub(crate) fn factor_in_place(matrix: &mut Mat<f64>) {
    let n = matrix.nrows();
    for j in 0..n {
        let pivot = (matrix[(j, j)] - (0..j).map(|c| matrix[(j, c)] * matrix[(j, c)]).sum::<f64>()).sqrt();
        matrix[(j, j)] = pivot;
        for i in j + 1..n {
            let dot: f64 = (0..j).map(|c| matrix[(i, c)] * matrix[(j, c)]).sum();
            matrix[(i, j)] = (matrix[(i, j)] - dot) / pivot;
        }
    }
}

/// X ← (LLᵀ)⁻¹X for the factor of [`factor_in_place`].
pub(crate) fn solve_in_place(factor: &Mat<f64>, x: &mut Mat<f64>) {
    let n = factor.nrows();
    for c in 0..x.ncols() {
        for i in 0..n {
            let dot: f64 = (0..i).map(|j| factor[(i, j)] * x[(j, c)]).sum();
            x[(i, c)] = (x[(i, c)] - dot) / factor[(i, i)];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|j| factor[(j, i)] * x[(j, c)]).sum();
            x[(i, c)] = (x[(i, c)] - dot) / factor[(i, i)];
        }
    }
}
