//! Assigning sources to branches: the cost matrix of the linear theorem, its best assignment and
//! its margin.
//!
//! The one place that calls the assignment solver; evaluation matches sources through [`minimal`]
//! too.
//!
//! ```text
//! H_kj = Σ_r π_kr ℓ_jr        Δ = min_{σ≠id} Σ_k H_kσ(k) − Σ_k H_kk
//! ```
//!
//! ℓ_jr is the energy of source j under its own network of scale r: a network travels with its
//! source. The theorem has ℓ_kr(x⁽ʲ⁾), source j under the network of branch k; its costs are taken
//! elsewhere, and [`margin`] is of any cost matrix.

use faer::{Mat, MatRef};
use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

/// The solver works on integers; values are scaled so that the largest uses this many units.
const UNITS: f64 = 1e15;

/// H = π·ℓᵀ (K×K) from row-major π and ℓ (K×R).
pub fn cost(scale_weights: &[f64], energy: &[f64], n_scales: usize) -> Mat<f64> {
    let k = energy.len() / n_scales;
    let row = |values: &[f64], i: usize| values[i * n_scales..][..n_scales].to_vec();
    Mat::from_fn(k, k, |i, j| {
        row(scale_weights, i)
            .iter()
            .zip(row(energy, j))
            .map(|(p, l)| p * l)
            .sum()
    })
}

/// For every row its column in the assignment of least total cost. Needs rows ≤ columns and finite
/// costs.
pub fn minimal(cost: MatRef<'_, f64>) -> Vec<usize> {
    let (rows, columns) = (cost.nrows(), cost.ncols());
    if rows == 0 {
        return Vec::new();
    }
    let largest = cost.norm_max().max(f64::MIN_POSITIVE);
    let factor = UNITS / largest / rows as f64;
    let weights = Matrix::from_fn(rows, columns, |(i, j)| {
        (cost[(i, j)] * factor).round() as i64
    });
    kuhn_munkres_min(&weights).1
}

/// Total cost of an assignment.
fn total(cost: &Mat<f64>, assignment: &[usize]) -> f64 {
    assignment
        .iter()
        .enumerate()
        .map(|(k, &j)| cost[(k, j)])
        .sum()
}

/// Δ: by how much the cheapest assignment other than the identity exceeds the identity. Infinite
/// for one source.
pub fn margin(cost: &Mat<f64>) -> f64 {
    let k = cost.nrows();
    let identity: f64 = (0..k).map(|i| cost[(i, i)]).sum();
    // An assignment that is not the identity moves some k; forbid each (k, k) in turn.
    let forbidden = 1e3 * (1.0 + cost.norm_max()) * k as f64;
    (0..k)
        .map(|i| {
            let mut other = cost.clone();
            other[(i, i)] = forbidden;
            total(cost, &minimal(other.as_ref())) - identity
        })
        .filter(|_| k > 1)
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_cheapest_assignment_and_its_margin() {
        let cost = Mat::from_fn(3, 3, |i, j| {
            [[1.0, 5.0, 9.0], [4.0, 1.5, 9.0], [9.0, 7.0, 0.5]][i][j]
        });
        assert_eq!(minimal(cost.as_ref()), [0, 1, 2]);
        assert!((margin(&cost) - (5.0 + 4.0 - 2.5)).abs() < 1e-9);
        let swapped = Mat::from_fn(3, 3, |i, j| cost[(i, [1, 0, 2][j])]);
        assert_eq!(minimal(swapped.as_ref()), [1, 0, 2]);
        assert!((margin(&swapped) + (5.0 + 4.0 - 2.5)).abs() < 1e-9);
        assert_eq!(margin(&Mat::from_fn(1, 1, |_, _| 2.0)), f64::INFINITY);
    }

    #[test]
    fn cost_is_the_product_of_weights_and_energies() {
        let (pi, energy) = ([0.7, 0.3, 0.1, 0.9], [1.0, 2.0, 3.0, 4.0]);
        let h = cost(&pi, &energy, 2);
        assert!((h[(0, 1)] - (0.7 * 3.0 + 0.3 * 4.0)).abs() < 1e-12);
        assert!((h[(1, 0)] - (0.1 * 1.0 + 0.9 * 2.0)).abs() < 1e-12);
    }
}
