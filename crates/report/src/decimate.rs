//! Long series made short enough to draw, without losing what the eye would see.
//!
//! In: a series of any length, NaN where it has gaps. Out: at most the asked number of evenly
//! spaced points. A series that is too long is cut into buckets of equal width, and each bucket is
//! drawn as its minimum and maximum in the order in which they occur, so that no peak disappears.
//! It does not filter or smooth.

/// A series ready to be drawn: point i lies at sample `i · step`.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Values; NaN is a gap.
    pub values: Vec<f64>,
    /// Samples from one point to the next.
    pub step: f64,
}

/// Reduces `series` to at most `most_points` points (at least two).
pub fn envelope(series: &[f64], most_points: usize) -> Drawn {
    if series.len() <= most_points.max(2) {
        return Drawn {
            values: series.to_vec(),
            step: 1.0,
        };
    }
    let n_buckets = (most_points / 2).max(1);
    let bound = |bucket: usize| bucket * series.len() / n_buckets;
    let values =
        (0..n_buckets).flat_map(|bucket| extremes(&series[bound(bucket)..bound(bucket + 1)]));
    Drawn {
        values: values.collect(),
        step: series.len() as f64 / (2 * n_buckets) as f64,
    }
}

/// Minimum and maximum, the earlier one first; NaN twice where nothing was recorded.
fn extremes(bucket: &[f64]) -> [f64; 2] {
    let (mut lowest, mut highest) = (None, None);
    for (t, &value) in bucket
        .iter()
        .enumerate()
        .filter(|(_, value)| !value.is_nan())
    {
        if lowest.is_none_or(|(_, low)| value < low) {
            lowest = Some((t, value));
        }
        if highest.is_none_or(|(_, high)| value > high) {
            highest = Some((t, value));
        }
    }
    match (lowest, highest) {
        (Some((early, low)), Some((late, high))) if early <= late => [low, high],
        (Some((_, low)), Some((_, high))) => [high, low],
        _ => [f64::NAN; 2],
    }
}

/// Indices of at most `most` of `n` rows: evenly thinned, the first and the last among them.
pub fn thinned(n: usize, most: usize) -> Vec<usize> {
    if n <= most.max(2) {
        return (0..n).collect();
    }
    let last = most.max(2) - 1;
    (0..=last).map(|i| i * (n - 1) / last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_series_are_drawn_as_they_are() {
        let drawn = envelope(&[1.0, 2.0, 3.0], 10);
        assert_eq!(
            (drawn.values.as_slice(), drawn.step),
            (&[1.0, 2.0, 3.0][..], 1.0)
        );
    }

    #[test]
    fn extremes_survive_in_the_order_of_time() {
        let mut series: Vec<f64> = (0..100_003).map(|t| (t as f64 * 0.01).sin()).collect();
        (series[777], series[50_000]) = (9.0, -7.0);
        let drawn = envelope(&series, 1000);
        assert_eq!(drawn.values.len(), 1000);
        let highest = drawn.values.iter().position(|&value| value == 9.0).unwrap();
        let lowest = drawn
            .values
            .iter()
            .position(|&value| value == -7.0)
            .unwrap();
        assert!((highest as f64 * drawn.step - 777.0).abs() <= 2.0 * drawn.step);
        assert!((lowest as f64 * drawn.step - 50_000.0).abs() <= 2.0 * drawn.step);
        assert_eq!(extremes(&[3.0, 1.0, 2.0]), [3.0, 1.0]);
        assert_eq!(extremes(&[1.0, 3.0, 2.0]), [1.0, 3.0]);
    }

    #[test]
    fn gaps_stay_gaps() {
        let series: Vec<f64> = (0..10_000)
            .map(|t| {
                if (4000..6000).contains(&t) {
                    f64::NAN
                } else {
                    1.0
                }
            })
            .collect();
        let drawn = envelope(&series, 100);
        let gap = drawn.values.iter().filter(|value| value.is_nan()).count();
        assert_eq!(gap, 20);
    }

    #[test]
    fn thinning_keeps_both_ends() {
        assert_eq!(thinned(5, 10), [0, 1, 2, 3, 4]);
        let kept = thinned(2001, 100);
        assert_eq!((kept.len(), kept[0], kept[99]), (100, 0, 2000));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
