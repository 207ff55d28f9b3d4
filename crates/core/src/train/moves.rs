//! Assignment moves: which source belongs to which branch (design: early in a run, never late).

use crate::config::AssignmentRule;
use faer::{Mat, MatRef};
use strt_signal::assignment;
use strt_signal::columns::col;
use strt_signal::correlation_time::correlation_time_in;
use strt_signal::pieces::Pieces;

/// `order[k]` is the source that branch k should take over; `None` when nothing has to move.
/// `pieces` are those of the samples in `sources`.
pub(crate) fn order(
    rule: AssignmentRule,
    sources: MatRef<'_, f64>,
    pieces: &Pieces,
    scale_weights: &[f64],
    energy: &[f64],
) -> Option<Vec<usize>> {
    let k = sources.ncols();
    let order: Vec<usize> = match rule {
        AssignmentRule::None => return None,
        AssignmentRule::CorrelationTime => {
            let time = |j: usize| correlation_time_in(col(sources, j), pieces);
            let times: Vec<usize> = (0..k).map(time).collect();
            let mut order: Vec<usize> = (0..k).collect();
            order.sort_by_key(|&j| times[j]); // stable: equal times stay where they are
            order
        }
        AssignmentRule::MinimalCost => {
            assignment::minimal(assignment::cost(scale_weights, energy, energy.len() / k).as_ref())
        }
    };
    (!order.iter().copied().eq(0..k)).then_some(order)
}

/// The columns of `found` in the order, with the signs and of the lengths that `present` has them.
pub(super) fn like(found: &Mat<f64>, present: &Mat<f64>) -> Mat<f64> {
    let k = found.ncols();
    let products = present.transpose() * found;
    let norm = |of: &Mat<f64>, j: usize| of.col(j).norm_l2();
    let cosine = |i: usize, j: usize| products[(i, j)] / (norm(present, i) * norm(found, j));
    let order = assignment::minimal(Mat::from_fn(k, k, |i, j| -cosine(i, j).abs()).as_ref());
    Mat::from_fn(k, k, |row, i| {
        let j = order[i];
        found[(row, j)] * cosine(i, j).signum() * norm(present, i) / norm(found, j)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_brought_to_where_they_belong() {
        let present = Mat::from_fn(3, 3, |i, j| f64::from(i == j) + 0.1 * (i + 2 * j) as f64);
        let order = [2, 0, 1];
        let found = Mat::from_fn(3, 3, |i, j| {
            -0.3 * (1.0 + j as f64) * present[(i, order[j])]
        });
        assert!((like(&found, &present) - &present).norm_max() < 1e-12);
    }
}
