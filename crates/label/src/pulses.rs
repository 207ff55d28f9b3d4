//! Events that stand out of a source, how regular they are and how alike.
//!
//! In: a function that is high at an event, such as an energy, and the source. Out: where the
//! events are, the intervals between them, and how well each resembles the mean of all. Events in
//! gaps are none, and an interval over a gap is none.

use crate::course::{correlation, median};

/// Neighbours on either side with which an interval is compared.
const NEIGHBOURS: usize = 5;
/// How far an interval may be from the median of its neighbours, in units of it, and be regular.
const REGULAR: f64 = 0.15;

/// Events of a source.
pub(crate) struct Pulses {
    /// Their samples, in order.
    pub at: Vec<usize>,
    /// Samples between neighbours with no gap between them.
    pub intervals: Vec<f64>,
}

impl Pulses {
    /// The places where `height` is highest within `apart` samples on either side and at least
    /// `least`, and where samples are there.
    pub fn find(height: &[f64], there: &[bool], apart: usize, least: f64) -> Pulses {
        let mut at: Vec<usize> = Vec::new();
        for t in 0..height.len() {
            if height[t].is_nan() || height[t] < least || !there[t] {
                continue;
            }
            match at.last() {
                Some(&last) if t - last <= apart => {
                    if height[t] > height[last] {
                        at.pop();
                        at.push(t);
                    }
                }
                _ => at.push(t),
            }
        }
        // A rise that ends in the ends of the recording is half an event.
        at.retain(|&t| t > 0 && t + 1 < height.len());
        Pulses::of(at, there)
    }

    fn of(at: Vec<usize>, there: &[bool]) -> Pulses {
        let whole = |pair: &&[usize]| there[pair[0]..pair[1]].iter().all(|&there| there);
        let intervals = at
            .windows(2)
            .filter(whole)
            .map(|p| (p[1] - p[0]) as f64)
            .collect();
        Pulses { at, intervals }
    }

    /// Each moved to where `values` is highest within `reach` samples.
    pub fn aligned(&self, values: &[f64], there: &[bool], reach: usize) -> Pulses {
        let highest = |&t: &usize| {
            let range = t.saturating_sub(reach)..(t + reach + 1).min(values.len());
            range
                .max_by(|&a, &b| values[a].total_cmp(&values[b]))
                .unwrap_or(t)
        };
        let mut at: Vec<usize> = self.at.iter().map(highest).collect();
        at.dedup();
        Pulses::of(at, there)
    }

    /// The share of the intervals that are within 15 % of the median of their neighbours.
    pub fn regularity(&self) -> f64 {
        let n = self.intervals.len();
        let regular = |&i: &usize| {
            let around = i.saturating_sub(NEIGHBOURS)..(i + NEIGHBOURS + 1).min(n);
            let typical = median(&self.intervals[around]);
            (self.intervals[i] - typical).abs() <= REGULAR * typical
        };
        (0..n).filter(regular).count() as f64 / n as f64
    }

    /// Standard deviation of the intervals in units of their mean.
    pub fn variation(&self) -> f64 {
        let n = self.intervals.len() as f64;
        let mean = self.intervals.iter().sum::<f64>() / n;
        let variance = self
            .intervals
            .iter()
            .map(|i| (i - mean).powi(2))
            .sum::<f64>()
            / n;
        variance.sqrt() / mean
    }

    /// The mean of `values` from `before` samples before to `after` samples after the events, and
    /// the median correlation of the events with it; `None` of fewer than three whole events.
    pub fn shape(&self, values: &[f64], before: usize, after: usize) -> Option<(Vec<f64>, f64)> {
        let n = values.len();
        let whole = |t: &&usize| **t >= before && **t + after < n;
        let cuts: Vec<&[f64]> = self
            .at
            .iter()
            .filter(whole)
            .map(|&t| &values[t - before..=t + after])
            .collect();
        if cuts.len() < 3 {
            return None;
        }
        let mut sum = vec![0.0; before + after + 1];
        for cut in &cuts {
            for (slot, value) in sum.iter_mut().zip(*cut) {
                *slot += value;
            }
        }
        // Each is compared with the mean of the others, of which it is no part.
        let others = (cuts.len() - 1) as f64;
        let alike = |cut: &&[f64]| {
            let rest: Vec<f64> = sum
                .iter()
                .zip(*cut)
                .map(|(s, v)| (s - v) / others)
                .collect();
            correlation(&rest, cut)
        };
        let likeness: Vec<f64> = cuts.iter().map(alike).collect();
        let count = cuts.len() as f64;
        sum.iter_mut().for_each(|value| *value /= count);
        Some((sum, median(&likeness)))
    }
}

/// The highest value of every window of `length` samples, the last one shorter.
pub(crate) fn window_maxima(values: &[f64], length: usize) -> Vec<f64> {
    let highest = |chunk: &[f64]| chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.chunks(length.max(1)).map(highest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(gap: Option<usize>) -> (Vec<f64>, Vec<bool>) {
        let values: Vec<f64> = (0..1000)
            .map(|t| (-((t % 100) as f64 - 50.0).powi(2) / 20.0).exp())
            .collect();
        let there = (0..1000).map(|t| Some(t / 100) != gap).collect();
        (values, there)
    }

    #[test]
    fn equal_events_are_found_where_they_are() {
        let (values, there) = train(None);
        let pulses = Pulses::find(&values, &there, 20, 0.5);
        assert_eq!(pulses.at, (0..10).map(|i| 100 * i + 50).collect::<Vec<_>>());
        assert_eq!((pulses.regularity(), pulses.variation()), (1.0, 0.0));
        let (shape, likeness) = pulses.shape(&values, 10, 10).unwrap();
        assert!(shape[10] == 1.0 && likeness > 0.999);
    }

    #[test]
    fn gaps_have_no_events_and_no_intervals() {
        let (values, there) = train(Some(4));
        let pulses = Pulses::find(&values, &there, 20, 0.5);
        assert_eq!((pulses.at.len(), pulses.intervals.len()), (9, 7));
        assert_eq!(pulses.regularity(), 1.0);
    }
}
