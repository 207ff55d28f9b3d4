//! Step: up to four sudden changes of level, which are nearly all of the source.

use crate::course::{median, percent};
use crate::{Evidence, Proposal, met, weakest};

/// Block means that are looked at.
const BLOCKS: usize = 1000;
/// Changes of level that are looked for.
const MOST: usize = 4;
/// Blocks that a level lasts at least.
const SHORTEST: usize = 20;
/// Blocks on either side of a change that are taken as before and after it.
const BESIDE: usize = 8;

pub(crate) fn propose(evidence: &Evidence<'_>) -> Option<Proposal> {
    let n = evidence.course.values.len();
    let (levels, _) = evidence.course.averaged(n.div_ceil(BLOCKS).max(1));
    if levels.len() < 4 * SHORTEST {
        return None;
    }
    // Of 1, 2, … changes the fewest that explain it count.
    let mut changes: Vec<usize> = Vec::new();
    let mut found: Option<(f64, usize, f64)> = None;
    for _ in 0..MOST {
        let Some(next) = best_change(&levels, &changes) else {
            break;
        };
        changes.push(next);
        changes.sort_unstable();
        let share = explained(&levels, &changes).min(1.0); // what bridges gaps adds to it
        let sudden = changes.iter().map(|&at| suddenness(&levels, &changes, at));
        let sudden = sudden.fold(1.0, f64::min);
        let confidence = weakest([met(share, 0.7, 0.9), met(sudden, 0.6, 0.85)]);
        if found
            .as_ref()
            .is_none_or(|(best, ..)| confidence > *best + 0.05)
        {
            found = Some((confidence, changes.len(), share));
        }
    }
    let (confidence, count, share) = found?;
    let changes = if count == 1 { "change" } else { "changes" };
    Some(Proposal {
        confidence,
        frequency: None,
        reason: format!(
            "{count} sudden {changes} of level explain {} of its variance",
            percent(share)
        ),
    })
}

/// Where one more change explains most.
fn best_change(levels: &[f64], changes: &[usize]) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (start, end) in segments(levels.len(), changes) {
        if end - start < 2 * SHORTEST {
            continue;
        }
        let total: f64 = levels[start..end].iter().sum();
        let mut sum: f64 = levels[start..start + SHORTEST - 1].iter().sum();
        for at in start + SHORTEST..=end - SHORTEST {
            sum += levels[at - 1];
            let (left, right) = ((at - start) as f64, (end - at) as f64);
            let gain =
                sum * sum / left + (total - sum).powi(2) / right - total * total / (left + right);
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, at));
            }
        }
    }
    best.map(|(_, at)| at)
}

fn segments(n: usize, changes: &[usize]) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    let ends = changes.iter().copied().chain(std::iter::once(n));
    starts.zip(ends).collect()
}

/// Share of the variance of the source, which is 1, that levels between the changes explain.
fn explained(levels: &[f64], changes: &[usize]) -> f64 {
    let n = levels.len() as f64;
    let mean = levels.iter().sum::<f64>() / n;
    let of_level = |(start, end): (usize, usize)| {
        let length = (end - start) as f64;
        let level = levels[start..end].iter().sum::<f64>() / length;
        length * (level - mean).powi(2)
    };
    segments(levels.len(), changes)
        .into_iter()
        .map(of_level)
        .sum::<f64>()
        / n
}

/// How much of the difference between two levels lies within a few blocks of their change.
fn suddenness(levels: &[f64], changes: &[usize], at: usize) -> f64 {
    let segments = segments(levels.len(), changes);
    let mean = |(start, end): (usize, usize)| median(&levels[start..end]);
    let after = segments
        .iter()
        .position(|&(start, _)| start == at)
        .unwrap_or(0);
    let whole = mean(segments[after]) - mean(segments[after - 1]);
    // The change itself may lie in the middle of a block.
    let near = mean((at + 1, at + BESIDE)) - mean((at - BESIDE, at - 1));
    near / whole
}
