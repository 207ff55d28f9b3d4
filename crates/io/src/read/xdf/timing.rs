//! When the samples of a stream were taken: clocks brought together, jitter taken out, breaks
//! found. As `pyxdf` does it, with its thresholds.
//!
//! In: time stamps of a sender's clock, and comparisons of that clock with the recorder's. Out: the
//! same in the recorder's time; for a stream with a rate, runs of samples in equal steps.

/// Offsets further than this from a line, in seconds, count by their size only, not its square.
const ROBUST: f64 = 1e-4;
/// A clock was set anew when two comparisons are further apart than usual by so many deviations and
/// seconds, …
const RESET_TIME: (f64, f64) = (5.0, 5.0);
/// … and their offsets are, too.
const RESET_OFFSET: (f64, f64) = (10.0, 1.0);
/// A break lasts longer than so many seconds and samples.
const BREAK: (f64, f64) = (1.0, 500.0);

/// Brings time stamps to the recorder's clock.
pub(super) fn synchronise(stamps: &mut [f64], offsets: &[(f64, f64)]) {
    if stamps.is_empty() || offsets.is_empty() {
        return;
    }
    let spans = spans(offsets);
    let mut start = 0;
    for &(first, last) in &spans {
        let (intercept, slope) = line(&offsets[first..=last]);
        let stop = match offsets.get(last + 1) {
            // Up to the first stamp that is nearer to the next comparison than to this one.
            Some(&(next, _)) => {
                let end = offsets[last].0;
                let nearer = |stamp: &f64| (stamp - end).abs() >= (stamp - next).abs();
                let found = stamps[start..].iter().position(nearer);
                found.map_or(stamps.len(), |count| start + count)
            }
            None => stamps.len(),
        };
        for stamp in &mut stamps[start..stop] {
            *stamp += intercept + slope * *stamp;
        }
        start = stop;
    }
}

/// Comparisons between two settings of a clock: first and last.
fn spans(offsets: &[(f64, f64)]) -> Vec<(usize, usize)> {
    let differences = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        offsets
            .windows(2)
            .map(|pair| of(&pair[1]) - of(&pair[0]))
            .collect()
    };
    let (times, values) = (differences(|pair| pair.0), differences(|pair| pair.1));
    let (late, far) = (unusual(&times, RESET_TIME), unusual(&values, RESET_OFFSET));
    let mut spans = Vec::new();
    let mut first = 0;
    for i in 0..times.len() {
        if times[i] < 0.0 || (late[i] && far[i]) {
            spans.push((first, i));
            first = i + 1;
        }
    }
    spans.push((first, offsets.len() - 1));
    spans
}

/// Which differences are far from their median, in median absolute deviations and in seconds.
fn unusual(differences: &[f64], (deviations, seconds): (f64, f64)) -> Vec<bool> {
    let centre = median(differences);
    let sizes: Vec<f64> = differences.iter().map(|d| (d - centre).abs()).collect();
    let spread = median(&sizes) + f64::EPSILON;
    sizes
        .iter()
        .map(|&size| size / spread > deviations && size > seconds)
        .collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Intercept and slope of offset over time, by Huber's loss, minimised by the alternating direction
/// method of multipliers (Boyd et al. 2011, section 6.1.1) with ρ = 1.
fn line(offsets: &[(f64, f64)]) -> (f64, f64) {
    const STEPS: usize = 1000;
    let [(_, only)] = offsets else {
        let least = offsets
            .iter()
            .map(|&(time, _)| time)
            .fold(f64::INFINITY, f64::min);
        let a: Vec<f64> = offsets
            .iter()
            .map(|&(time, _)| (time - least) / ROBUST)
            .collect();
        let y: Vec<f64> = offsets.iter().map(|&(_, value)| value / ROBUST).collect();
        let n = a.len() as f64;
        let (sum, squares) = (a.iter().sum::<f64>(), a.iter().map(|a| a * a).sum::<f64>());
        let determinant = n * squares - sum * sum;
        if !(determinant.is_finite() && determinant > 0.0) {
            return (0.0, 0.0);
        }
        let (mut intercept, mut slope) = (0.0, 0.0);
        let (mut z, mut u) = (vec![0.0; a.len()], vec![0.0; a.len()]);
        for _ in 0..STEPS {
            // Least squares of y + z − u.
            let (mut right, mut with_a) = (0.0, 0.0);
            for i in 0..a.len() {
                let target = y[i] + z[i] - u[i];
                right += target;
                with_a += a[i] * target;
            }
            intercept = (squares * right - sum * with_a) / determinant;
            slope = (n * with_a - sum * right) / determinant;
            for i in 0..a.len() {
                let d = intercept + slope * a[i] - y[i] + u[i];
                // The proximal operator of Huber's loss.
                let shrunk = if d == 0.0 {
                    0.0
                } else {
                    (1.0 - 2.0 / d.abs()).max(0.0)
                };
                z[i] = d / 2.0 + shrunk * d / 2.0;
                u[i] = d - z[i];
            }
        }
        // Times and offsets were divided by the same number, which leaves the slope.
        return ((intercept - slope * least / ROBUST) * ROBUST, slope);
    };
    (*only, 0.0)
}

/// Samples in equal steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// The first sample, and behind the last.
    pub first: usize,
    pub end: usize,
    /// When the first and the last were taken, without jitter.
    pub from: f64,
    pub to: f64,
}

/// The stretches between breaks, each with a line through its time stamps.
pub(super) fn stretches(stamps: &[f64], rate: f64) -> Vec<Stretch> {
    let longest = BREAK.0.max(BREAK.1 / rate);
    let mut found = Vec::new();
    let mut first = 0;
    for end in 1..=stamps.len() {
        let breaks = match stamps.get(end) {
            // A stamp that is no number is a break, too.
            Some(next) => {
                let step = (next - stamps[end - 1]).abs();
                step.is_nan() || step > longest
            }
            None => true,
        };
        if breaks {
            let (from, to) = straight(&stamps[first..end]);
            found.push(Stretch {
                first,
                end,
                from,
                to,
            });
            first = end;
        }
    }
    found
}

/// First and last value of the line through equally spaced values.
fn straight(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let (centre, start) = ((n - 1.0) / 2.0, values[0]);
    // Relative to the first: stamps are large numbers.
    let mean = values.iter().map(|value| value - start).sum::<f64>() / n;
    let (mut with, mut squares) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        let x = i as f64 - centre;
        with += x * (value - start - mean);
        squares += x * x;
    }
    let slope = if squares > 0.0 { with / squares } else { 0.0 };
    (start + mean - slope * centre, start + mean + slope * centre)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_offsets_ignores_an_outlier() {
        let offsets: Vec<(f64, f64)> = (0..60)
            .map(|i| {
                (
                    1000.0 + 5.0 * f64::from(i),
                    if i == 20 { -3.48 } else { -3.5 },
                )
            })
            .collect();
        let (intercept, slope) = line(&offsets);
        assert!(
            (intercept + slope * 1150.0 + 3.5).abs() < 5e-6,
            "{intercept} {slope}"
        );
        assert_eq!(line(&offsets[..1]), (-3.5, 0.0));
    }

    #[test]
    fn a_clock_that_was_set_anew_has_two_lines() {
        let mut offsets: Vec<(f64, f64)> = (0..20).map(|i| (5.0 * f64::from(i), 2.0)).collect();
        offsets.extend((0..20).map(|i| (1000.0 + 5.0 * f64::from(i), 50.0)));
        assert_eq!(spans(&offsets), [(0, 19), (20, 39)]);
        let mut stamps = vec![10.0, 90.0, 1001.0, 1090.0];
        synchronise(&mut stamps, &offsets);
        for (stamp, expected) in stamps.iter().zip([12.0, 92.0, 1051.0, 1140.0]) {
            assert!((stamp - expected).abs() < 1e-3, "{stamps:?}");
        }
    }

    #[test]
    fn jitter_is_taken_out_and_breaks_are_kept() {
        let jitter = |i: usize| if i.is_multiple_of(2) { 1e-3 } else { -1e-3 };
        let mut stamps: Vec<f64> = (0..1000).map(|i| 0.01 * i as f64 + jitter(i)).collect();
        stamps.extend((0..1000).map(|i| 60.0 + 0.01 * i as f64 + jitter(i)));
        let found = stretches(&stamps, 100.0);
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].first, found[1].end), (1000, 2000));
        assert!((found[0].from).abs() < 1e-4 && (found[0].to - 9.99).abs() < 1e-4);
        assert!((found[1].from - 60.0).abs() < 1e-4, "{found:?}");
    }
}
