//! A source as all kinds look at it.
//!
//! In: samples, NaN where missing. Out: the source standardised, gaps bridged by straight lines and
//! remembered; averaged to fewer samples where nothing fast is looked for; moving averages and
//! moments. What bridges a gap is never counted as an event.

use std::cell::OnceCell;
use strt_signal::moments::Moments;

/// Samples a second above which slow events need not be looked at.
const SLOW_RATE: f64 = 250.0;

/// A source.
pub(crate) struct Course {
    /// Mean 0, variance 1 over what is there; bridged elsewhere.
    pub values: Vec<f64>,
    /// False in gaps.
    pub there: Vec<bool>,
    /// Samples per second.
    pub rate: Option<f64>,
    slow: OnceCell<Option<Slow>>,
}

/// A source averaged to at most some 250 samples a second.
pub(crate) struct Slow {
    pub values: Vec<f64>,
    pub there: Vec<bool>,
    pub rate: f64,
}

impl Course {
    /// `None` where nothing varies or values are infinite.
    pub fn new(source: &[f64], rate: Option<f64>) -> Option<Course> {
        if source.iter().any(|value| value.is_infinite()) {
            return None;
        }
        let moments = Moments::of(source.iter().copied());
        if moments.constant || !moments.deviation.is_finite() {
            return None;
        }
        let mut values: Vec<f64> = source.iter().map(|&v| moments.standardize(v)).collect();
        let there: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
        bridge(&mut values);
        Some(Course {
            values,
            there,
            rate: rate.filter(|rate| rate.is_finite() && *rate > 0.0),
            slow: OnceCell::new(),
        })
    }

    /// Samples that are not missing.
    pub fn n_present(&self) -> usize {
        self.there.iter().filter(|&&there| there).count()
    }

    /// The source with NaN in its gaps, for a spectrum that leaves them out.
    pub fn with_gaps(&self) -> Vec<f64> {
        let pairs = self.values.iter().zip(&self.there);
        pairs
            .map(|(&v, &there)| if there { v } else { f64::NAN })
            .collect()
    }

    /// Averaged for slow events; `None` without a rate.
    pub fn slow(&self) -> Option<&Slow> {
        let slow = self.slow.get_or_init(|| {
            let rate = self.rate?;
            let block = (rate / SLOW_RATE).ceil().max(1.0) as usize;
            let (values, there) = self.averaged(block);
            Some(Slow {
                values,
                there,
                rate: rate / block as f64,
            })
        });
        slow.as_ref()
    }

    /// Means of blocks of this many samples, and which of them are there in more than half.
    pub fn averaged(&self, block: usize) -> (Vec<f64>, Vec<bool>) {
        let mean = |chunk: &[f64]| chunk.iter().sum::<f64>() / chunk.len() as f64;
        let most = |chunk: &[bool]| 2 * chunk.iter().filter(|&&there| there).count() > chunk.len();
        (
            self.values.chunks(block).map(mean).collect(),
            self.there.chunks(block).map(most).collect(),
        )
    }

    /// The excess of the fourth standardised moment over that of a Gaussian.
    pub fn kurtosis(&self) -> f64 {
        let present = self
            .values
            .iter()
            .zip(&self.there)
            .filter(|(_, there)| **there);
        let (sum, n) = present.fold((0.0, 0.0), |(sum, n), (v, _)| (sum + v.powi(4), n + 1.0));
        sum / n - 3.0
    }
}

/// Replaces every NaN by a point of the straight line between its neighbours, and by the nearest
/// value at the ends.
fn bridge(values: &mut [f64]) {
    let n = values.len();
    let mut last: Option<usize> = None;
    let mut t = 0;
    while t < n {
        if !values[t].is_nan() {
            last = Some(t);
            t += 1;
            continue;
        }
        let next = (t..n).find(|&u| !values[u].is_nan());
        let end = next.unwrap_or(n);
        for u in t..end {
            values[u] = match (last, next) {
                (Some(a), Some(b)) => {
                    let share = (u - a) as f64 / (b - a) as f64;
                    values[a] + share * (values[b] - values[a])
                }
                (Some(a), None) => values[a],
                (None, Some(b)) => values[b],
                (None, None) => 0.0,
            };
        }
        t = end;
    }
}

/// The mean over a window of `width` samples around each, fewer at the ends.
pub(crate) fn moving_mean(values: &[f64], width: usize) -> Vec<f64> {
    let n = values.len();
    let (before, after) = (width.saturating_sub(1) / 2, width / 2);
    let mut sums = Vec::with_capacity(n + 1);
    sums.push(0.0);
    let mut sum = 0.0;
    for value in values {
        sum += value;
        sums.push(sum);
    }
    let mean = |t: usize| {
        let (start, end) = (t.saturating_sub(before), (t + after + 1).min(n));
        (sums[end] - sums[start]) / (end - start) as f64
    };
    (0..n).map(mean).collect()
}

/// What is faster than `slowest` and slower than `fastest`, both in seconds: a moving mean less a
/// longer one.
pub(crate) fn band(values: &[f64], rate: f64, fastest: f64, slowest: f64) -> Vec<f64> {
    let width = |seconds: f64| (seconds * rate).round().max(1.0) as usize;
    let (short, long) = (
        moving_mean(values, width(fastest)),
        moving_mean(values, width(slowest)),
    );
    short.iter().zip(&long).map(|(a, b)| a - b).collect()
}

/// The value below which `share` of the values lie; NaN of none.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    let place = ((sorted.len() - 1) as f64 * share).round() as usize;
    *sorted.select_nth_unstable_by(place, f64::total_cmp).1
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The third standardised moment; 0 of what does not vary.
pub(crate) fn skewness(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let moment = |power: i32| values.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / n;
    let skewness = moment(3) / moment(2).powf(1.5);
    if skewness.is_finite() { skewness } else { 0.0 }
}

/// Correlation of two series of equal length; 0 where one does not vary.
pub(crate) fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - ma, y - mb);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    let correlation = ab / (aa * bb).sqrt();
    if correlation.is_finite() {
        correlation
    } else {
        0.0
    }
}

/// Three digits, without zeros behind the point.
pub(crate) fn rounded(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_bridged_and_remembered() {
        let nan = f64::NAN;
        let mut values = [nan, 1.0, nan, nan, 4.0, nan];
        bridge(&mut values);
        assert_eq!(values, [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
        let course = Course::new(&[nan, 1.0, nan, nan, 4.0, nan], None).unwrap();
        assert_eq!(course.n_present(), 2);
        assert!(course.with_gaps()[0].is_nan() && !course.with_gaps()[1].is_nan());
        assert!(Course::new(&[2.0; 9], None).is_none() && Course::new(&[nan; 3], None).is_none());
        assert!(Course::new(&[0.0, f64::INFINITY], None).is_none());
    }

    #[test]
    fn moving_means_keep_their_place() {
        assert_eq!(
            moving_mean(&[0.0, 0.0, 3.0, 0.0, 0.0], 3),
            [0.0, 1.0, 1.0, 1.0, 0.0]
        );
        assert_eq!(moving_mean(&[1.0, 2.0], 1), [1.0, 2.0]);
        assert_eq!(moving_mean(&[1.0, 3.0], 100), [2.0, 2.0]);
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (10.24, "10.2"),
            (0.0901, "0.0901"),
            (123.4, "123"),
            (50.0, "50"),
        ] {
            assert_eq!(rounded(value), text);
        }
    }
}
