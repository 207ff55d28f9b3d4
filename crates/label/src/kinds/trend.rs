//! Trend: a rise or fall from the beginning to the end.

use crate::course::{correlation, percent};
use crate::{Evidence, Proposal, met, weakest};

/// Block means that have to follow one another.
const BLOCKS: usize = 40;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let course = &evidence.course;
    let n = course.values.len();
    let (means, _) = course.averaged(n.div_ceil(BLOCKS));
    let n_blocks = means.len() as f64;
    let times: Vec<f64> = (0..means.len()).map(|i| i as f64).collect();
    // Of the variance of the source, which is 1: that of the means, and of a line through them.
    let mean = means.iter().sum::<f64>() / n_blocks;
    let slow = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / n_blocks;
    let slow = slow.min(1.0); // what bridges gaps adds to it
    let line = correlation(&means, &times);
    let order = correlation(&ranks(&means), &times);
    let direction = if line < 0.0 { "falls" } else { "rises" };
    let confidence = weakest([
        met(slow, 0.6, 0.85),
        met(order.abs(), 0.93, 0.98),
        met(slow * line * line, 0.55, 0.8),
    ]);
    Some(Proposal {
        confidence,
        frequency: None,
        reason: format!(
            "{direction} from beginning to end: a straight line explains {} of its variance",
            percent(slow * line * line)
        ),
    })
}

/// The place of every value in the order of all.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, &place) in order.iter().enumerate() {
        ranks[place] = rank as f64;
    }
    ranks
}
