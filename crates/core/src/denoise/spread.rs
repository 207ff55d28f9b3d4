//! The spread of denoised sources: the posterior standard deviation of every sample.
//!
//! In: a [`Circle`] and which samples are missing. Out: T×K standard deviations. Where nothing is
//! missing nearby it is the mean over frequencies that the circle has. A gap adds, with Q = (C +
//! N)⁻¹ and G = C·Q,
//!
//! ```text
//! G_tm · (Q_mm)⁻¹ · G_mt        m the missing samples of the gap
//! ```
//!
//! what is not known of the noisy source in the gap, carried through the Wiener filter. Here each
//! source is taken alone (the noise that it shares with others is in the first part only), and gaps
//! that are not near each other add up. The ends of the recording are gaps without an end. Only the
//! borders of very long gaps are worked out: in their middle the source is as unknown as it ever
//! is.

use super::circle::Circle;
use super::gaps::covariance_like;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par, Side};
use rayon::prelude::*;
use std::collections::HashMap;
use strt_signal::rows::Rows;

/// Samples beside a gap whose spread it still changes; on a small circle no more than lie there.
const REACH: usize = 64;
/// A longer gap is this long as far as its borders can tell.
const LONGEST: usize = 512;
/// Short gaps no farther apart than this are looked at together …
const NEAR: usize = 16;
/// … where they are no longer than this …
const SHORT: usize = 32;
/// … up to this many missing samples.
const TOGETHER: usize = 128;

/// Posterior standard deviations (T×K) of the sources.
pub(super) fn deviation(circle: &Circle, rows: &Rows) -> Mat<f64> {
    let t = rows.n_samples();
    let groups = groups(rows);
    let columns: Vec<Vec<f64>> = (0..circle.n_sources())
        .into_par_iter()
        .map(|k| column(circle, k, t, &groups))
        .collect();
    Mat::from_fn(t, columns.len(), |t, k| columns[k][t])
}

/// Missing samples that are looked at together.
enum Group {
    /// Samples begin..end; `None` where the recording begins or ends in the gap.
    Run(Option<usize>, Option<usize>),
    /// Several short gaps: the missing samples.
    Scattered(Vec<usize>),
}

/// The gaps of a recording, its two ends among them.
fn groups(rows: &Rows) -> Vec<Group> {
    let t = rows.n_samples();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for t in (0..t).filter(|&t| !rows.is_valid(t)) {
        match runs.last_mut() {
            Some((_, end)) if *end == t => *end += 1,
            _ => runs.push((t, t + 1)),
        }
    }
    let begins = runs.first().is_some_and(|run| run.0 == 0);
    let ends = runs.last().is_some_and(|run| run.1 == t);
    let first_end = if begins { runs.remove(0).1 } else { 0 };
    // A recording of which nothing is there has no such run left.
    let last_begin = if ends {
        runs.pop().map(|run| run.0)
    } else {
        Some(t)
    };
    let mut groups = vec![Group::Run(None, Some(first_end))];
    let mut near: Vec<(usize, usize)> = Vec::new();
    for run in runs {
        let short = |run: &(usize, usize)| run.1 - run.0 <= SHORT;
        let missing: usize = near.iter().map(|run| run.1 - run.0).sum();
        let joins = near.last().is_some_and(|last| {
            run.0 - last.1 <= NEAR
                && short(last)
                && short(&run)
                && missing + run.1 - run.0 <= TOGETHER
        });
        if !joins {
            groups.extend(group(&near));
            near.clear();
        }
        near.push(run);
    }
    groups.extend(group(&near));
    groups.extend(last_begin.map(|begin| Group::Run(Some(begin), None)));
    groups
}

fn group(runs: &[(usize, usize)]) -> Option<Group> {
    match runs {
        [] => None,
        [(begin, end)] => Some(Group::Run(Some(*begin), Some(*end))),
        several => Some(Group::Scattered(
            several.iter().flat_map(|run| run.0..run.1).collect(),
        )),
    }
}

/// Standard deviations of source k.
fn column(circle: &Circle, k: usize, t: usize, groups: &[Group]) -> Vec<f64> {
    let (precision, smoother) = circle.kernels(k);
    let variance = circle.variance(k);
    let longest = LONGEST.min(circle.len() / 2);
    let mut of_runs: HashMap<usize, Vec<f64>> = HashMap::new();
    let mut run_of = |len: usize| {
        let offsets: Vec<usize> = (0..len).collect();
        let made = || added(&offsets, &precision, &smoother);
        of_runs.entry(len).or_insert_with(made).clone()
    };
    let reach = |span: usize| reach(circle.len(), span);
    let mut column = vec![circle.posterior_variance(k); t];
    for group in groups {
        match group {
            Group::Scattered(places) => {
                let offsets: Vec<usize> = places.iter().map(|t| t - places[0]).collect();
                let table = added(&offsets, &precision, &smoother);
                for (i, value) in table.into_iter().enumerate() {
                    // Sample places[0] has index `reach`.
                    let reach = reach(offsets[offsets.len() - 1] + 1);
                    if let Some(t) = (places[0] + i).checked_sub(reach)
                        && t < column.len()
                    {
                        column[t] += value;
                    }
                }
            }
            &Group::Run(begin, end) => {
                let whole = begin.zip(end).map(|(begin, end)| end - begin);
                let len = whole.map_or(longest, |len| len.min(longest));
                let (table, reach) = (run_of(len), reach(len));
                let first = begin.map_or(0, |begin| begin.saturating_sub(reach));
                let last = end.map_or(t, |end| (end + reach).min(t));
                for t in first..last {
                    // Samples from the left border of the gap, and to its right one.
                    let from_left = begin.map_or(isize::MAX, |begin| t as isize - begin as isize);
                    let to_right = end.map_or(isize::MAX, |end| end as isize - 1 - t as isize);
                    let half = (len / 2) as isize;
                    let index = if from_left <= to_right {
                        from_left.min(half)
                    } else {
                        len as isize - 1 - to_right.min(half)
                    };
                    column[t] += table[(reach as isize + index) as usize];
                }
            }
        }
    }
    // What is added is approximate; no sample is less certain than the source itself.
    column
        .into_iter()
        .map(|value| value.min(variance).sqrt())
        .collect()
}

/// Samples on either side of a gap of this span that belong to it on a circle of n.
fn reach(n: usize, span: usize) -> usize {
    REACH.min(n.saturating_sub(span) / 2)
}

/// G_tm(Q_mm)⁻¹G_mt for missing samples at these offsets, from as far before the first of them as
/// the gap reaches to as far behind the last.
fn added(offsets: &[usize], precision: &[f64], smoother: &[f64]) -> Vec<f64> {
    let n = precision.len();
    let last = offsets.last().copied().unwrap_or(0);
    let reach = reach(n, last + 1);
    let n_targets = last + 1 + 2 * reach;
    let Ok(factor) = covariance_like(offsets, precision).llt(Side::Lower) else {
        return vec![0.0; n_targets];
    };
    // Column t of G_mt; the circle is symmetric, so lags are taken without their sign.
    let mut carried = Mat::from_fn(offsets.len(), n_targets, |i, t| {
        smoother[(offsets[i] + reach).abs_diff(t) % n]
    });
    solve_lower_triangular_in_place(factor.L(), carried.as_mut(), Par::Seq);
    carried
        .col_iter()
        .map(|column| column.squared_norm_l2())
        .collect()
}
