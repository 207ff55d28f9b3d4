//! Fourth-order cumulants of whitened components.
//!
//! ```text
//! C_ijkl = E[z_i z_j z_k z_l] − δ_ij δ_kl − δ_ik δ_jl − δ_il δ_jk
//! ```
//!
//! All of them at once: with p_t the products z_i z_j (i ≤ j) of sample t, the fourth moments are
//! E[p·pᵀ], one matrix product over blocks of samples.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Samples whose products are formed at once.
const BLOCK: usize = 1024;

/// (i, j) with i ≤ j, the K(K+1)/2 entries of a symmetric matrix.
pub(super) fn pairs(k: usize) -> Vec<(usize, usize)> {
    (0..k).flat_map(|i| (i..k).map(move |j| (i, j))).collect()
}

/// Where (i, j) or (j, i) is in [`pairs`].
fn position(i: usize, j: usize, k: usize) -> usize {
    let (low, high) = (i.min(j), i.max(j));
    low * (2 * k + 1 - low) / 2 + high - low
}

/// For every pair i ≤ j the cumulant matrix Q with Q_kl = C_ijkl, times √2 where i ≠ j: the
/// off-diagonal entry of a symmetric matrix stands for two.
pub(super) fn cumulant_matrices(z: &Mat<f64>) -> Vec<Mat<f64>> {
    let (n, k) = z.shape();
    let pairs = pairs(k);
    let moments = fourth_moments(z, &pairs);
    let delta = |a: usize, b: usize| f64::from(u8::from(a == b));
    pairs
        .iter()
        .enumerate()
        .map(|(row, &(i, j))| {
            let weight = if i == j {
                1.0
            } else {
                std::f64::consts::SQRT_2
            };
            Mat::from_fn(k, k, |c, d| {
                let moment = moments[(row, position(c, d, k))] / n as f64;
                let gaussian = delta(i, j) * delta(c, d)
                    + delta(i, c) * delta(j, d)
                    + delta(i, d) * delta(j, c);
                weight * (moment - gaussian)
            })
        })
        .collect()
}

/// Σ_t p_t·p_tᵀ.
fn fourth_moments(z: &Mat<f64>, pairs: &[(usize, usize)]) -> Mat<f64> {
    let n = z.nrows();
    let mut moments = Mat::zeros(pairs.len(), pairs.len());
    let mut block = Mat::<f64>::zeros(BLOCK.min(n), pairs.len());
    for first in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - first);
        for (column, &(i, j)) in pairs.iter().enumerate() {
            let (zi, zj) = (&z.col_as_slice(i)[first..], &z.col_as_slice(j)[first..]);
            let slots = &mut block.col_as_slice_mut(column)[..len];
            for ((slot, a), b) in slots.iter_mut().zip(zi).zip(zj) {
                *slot = a * b;
            }
        }
        let rows = block.as_ref().subrows(0, len);
        matmul(
            &mut moments,
            Accum::Add,
            rows.transpose(),
            rows,
            1.0,
            Par::Seq,
        );
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_pairs() {
        for k in [1, 2, 5] {
            for (index, &(i, j)) in pairs(k).iter().enumerate() {
                assert_eq!((position(i, j, k), position(j, i, k)), (index, index));
            }
        }
    }

    #[test]
    fn cumulants_are_the_sums_of_their_definition() {
        // Long enough for more than one block, not white: the definition with δ does not need it.
        let z = Mat::from_fn(2500, 3, |t, k| {
            ((t * (k + 2)) as f64 * 0.37).sin() + 0.1 * k as f64
        });
        let matrices = cumulant_matrices(&z);
        assert_eq!(matrices.len(), 6);
        for (matrix, (i, j)) in matrices.iter().zip(pairs(3)) {
            for c in 0..3 {
                for d in 0..3 {
                    let moment: f64 = (0..2500)
                        .map(|t| z[(t, i)] * z[(t, j)] * z[(t, c)] * z[(t, d)])
                        .sum();
                    let ones = |a: usize, b: usize| (a == b) as usize as f64;
                    let gaussian =
                        ones(i, j) * ones(c, d) + ones(i, c) * ones(j, d) + ones(i, d) * ones(j, c);
                    let weight = if i == j { 1.0 } else { 2f64.sqrt() };
                    let expected = weight * (moment / 2500.0 - gaussian);
                    assert!((matrix[(c, d)] - expected).abs() < 1e-12, "C_{i}{j}{c}{d}");
                }
            }
        }
    }
}
