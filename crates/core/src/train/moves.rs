//! Assignment moves: which source belongs to which branch (design: early in a run, never late).

use crate::config::AssignmentRule;
use faer::MatRef;
use strt_signal::assignment;
use strt_signal::columns::col;
use strt_signal::correlation_time::correlation_time;

/// `order[k]` is the source that branch k should take over; `None` when nothing has to move.
pub(crate) fn order(
    rule: AssignmentRule,
    sources: MatRef<'_, f64>,
    scale_weights: &[f64],
    energy: &[f64],
) -> Option<Vec<usize>> {
    let k = sources.ncols();
    let order: Vec<usize> = match rule {
        AssignmentRule::None => return None,
        AssignmentRule::CorrelationTime => {
            let times: Vec<usize> = (0..k).map(|j| correlation_time(col(sources, j))).collect();
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
