//! Time columns of tables: is this column the time, and which rate does it give?
//!
//! In: a name and values. Out: an [`Axis`] with what to say about it. The values are not used for
//! anything else: rows stay where they are, whatever time they claim.

use super::Note;
use super::table::Contents;

/// What a column is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Axis {
    /// A signal like any other.
    Channel,
    /// The time, with the rate it gives.
    Time(Option<f64>, Note),
    /// The number of the row.
    Index(Note),
}

impl Axis {
    /// Notes what the column is. Gives the rate, where one is known, when it is no channel.
    pub fn settle(self, contents: &mut Contents) -> Option<Option<f64>> {
        match self {
            Axis::Channel => None,
            Axis::Index(note) => {
                contents.notes.push(note);
                Some(None)
            }
            Axis::Time(rate, note) => {
                contents.notes.push(note);
                Some(rate)
            }
        }
    }
}

/// What a name says about its column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Named {
    /// Time for certain, in units of so many seconds.
    Time(f64),
    /// Time if it rises in equal steps.
    Perhaps(f64),
    /// Time in years.
    Year,
    /// A number of the row if it rises by ones.
    Index,
    /// A signal.
    Signal,
}

fn named(name: &str) -> Named {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let unit = |words: &[&str]| {
        words
            .iter()
            .find_map(|word| {
                Some(match *word {
                    "ms" | "msec" | "millis" | "milliseconds" => 1e-3,
                    "us" | "µs" | "μs" | "usec" | "microseconds" => 1e-6,
                    "ns" | "nsec" | "nanoseconds" => 1e-9,
                    "min" | "minutes" => 60.0,
                    "h" | "hours" => 3600.0,
                    _ => return None,
                })
            })
            .unwrap_or(1.0)
    };
    match words.as_slice() {
        [
            "time" | "times" | "timestamp" | "timestamps" | "datetime" | "date",
            ..,
        ] => Named::Time(unit(&words[1..])),
        ["year" | "years"] => Named::Year,
        ["elapsed", ..] => Named::Time(unit(&words[1..])),
        ["t" | "s" | "sec" | "secs" | "second" | "seconds"] => Named::Perhaps(1.0),
        ["t", ..] => Named::Perhaps(unit(&words[1..])),
        ["ms" | "msec" | "milliseconds" | "us" | "usec" | "microseconds"] => {
            Named::Perhaps(unit(&words))
        }
        [] | ["index" | "sample" | "samples" | "row" | "n"] | ["unnamed", "0"] => Named::Index,
        _ => Named::Signal,
    }
}

/// Whether a column of this name can be the time.
pub(crate) fn candidate(name: &str) -> bool {
    named(name) != Named::Signal
}

/// Judges the first column of a table that has names.
pub(crate) fn judge_named(name: &str, values: &[f64]) -> Axis {
    match (named(name), steps(values)) {
        (Named::Time(_), _) if are_dates(values) => forced(name, 1.0, &[]),
        (Named::Time(unit), _) => forced(name, unit, values),
        // A rate is in samples per second everywhere else.
        (Named::Year, Some(steps)) if steps.jitter == 0.0 => Axis::Time(
            None,
            Note::detected(format!(
                "column `{name}` is the time in years, in steps of {}; time is counted in samples",
                steps.step
            )),
        ),
        (Named::Year, _) => forced(name, 1.0, &[]),
        (Named::Perhaps(unit), Some(_)) => forced(name, unit, values),
        (Named::Index, Some(steps)) if steps.step == 1.0 && steps.jitter == 0.0 => Axis::Index(
            Note::detected(format!("column `{name}` numbers the rows and is left out")),
        ),
        _ => Axis::Channel,
    }
}

/// Numbers such as 20240131, whose steps mean nothing.
fn are_dates(values: &[f64]) -> bool {
    values
        .iter()
        .all(|value| (18_000_101.0..=22_001_231.0).contains(value) && value.fract() == 0.0)
}

/// The caller says that this column is the time.
pub(crate) fn asked(name: &str, values: &[f64]) -> Axis {
    let unit = match named(name) {
        Named::Time(unit) | Named::Perhaps(unit) => unit,
        _ => 1.0,
    };
    forced(name, unit, values)
}

/// The type of the column says that it holds times.
#[cfg(any(feature = "parquet", feature = "hdf5"))]
pub(crate) fn in_seconds(name: &str, values: &[f64]) -> Axis {
    forced(name, 1.0, values)
}

/// Judges the first column of a table without names.
pub(crate) fn judge_unnamed(values: &[f64]) -> Axis {
    match steps(values) {
        Some(steps) if values.len() > 2 && steps.jitter <= 0.05 => {
            let rate = steps.rate(1.0);
            Axis::Time(
                Some(rate),
                Note::detected(format!(
                    "column 1 rises in equal steps of {}: taken as the time in seconds, {rate} Hz",
                    shown(steps.step)
                )),
            )
        }
        _ => Axis::Channel,
    }
}

fn forced(name: &str, unit: f64, values: &[f64]) -> Axis {
    match steps(values) {
        Some(steps) => {
            let rate = steps.rate(unit);
            Axis::Time(
                Some(rate),
                Note::detected(format!(
                    "column `{name}` is the time, in steps of {} s: {rate} Hz",
                    shown(steps.step * unit)
                )),
            )
        }
        None => Axis::Time(
            None,
            Note::warning(format!(
                "column `{name}` is taken as the time, but its steps are not equal: no rate is \
                 known and the rows are taken as equally spaced"
            )),
        ),
    }
}

/// Equal steps.
struct Steps {
    step: f64,
    /// Farthest that a value lies from its place, in steps.
    jitter: f64,
    n_steps: f64,
}

/// Equal steps, when every value lies nearer to its own place than to its neighbour's.
fn steps(values: &[f64]) -> Option<Steps> {
    let (first, last) = (*values.first()?, *values.last()?);
    let n_steps = (values.len() - 1) as f64;
    let step = (last - first) / n_steps;
    if !(step.is_finite() && step > 0.0) {
        return None;
    }
    let mut jitter = 0.0;
    for (i, value) in values.iter().enumerate() {
        let off = ((value - first) / step - i as f64).abs();
        // NaN compares false: a missing time is no equal step.
        if off.is_nan() || off >= 0.5 {
            return None;
        }
        jitter = f64::max(jitter, off);
    }
    Some(Steps {
        step,
        jitter,
        n_steps,
    })
}

impl Steps {
    /// The rate; a whole number when one lies within what rounding in the file leaves open.
    fn rate(&self, unit: f64) -> f64 {
        let rate = 1.0 / (self.step * unit);
        let open = rate * (2.0 * self.jitter / self.n_steps).max(1e-9);
        if (rate.round() - rate).abs() <= open && rate.round() > 0.0 {
            rate.round()
        } else {
            rate
        }
    }
}

/// A step without the dust of binary fractions.
fn shown(step: f64) -> String {
    let rounded: f64 = format!("{step:.6e}").parse().unwrap_or(step);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(axis: Axis) -> Option<f64> {
        match axis {
            Axis::Time(rate, _) => rate,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rates_of_rounded_times_are_found() {
        let rounded = |rate: f64, digits: i32| -> Vec<f64> {
            let scale = 10f64.powi(digits);
            (0..1000)
                .map(|i| (i as f64 / rate * scale).round() / scale)
                .collect()
        };
        assert_eq!(rate(judge_unnamed(&rounded(250.0, 4))), Some(250.0));
        assert_eq!(rate(judge_unnamed(&rounded(256.0, 5))), Some(256.0));
        assert_eq!(
            rate(judge_named("Time [s]", &rounded(256.0, 4))),
            Some(256.0)
        );
        let milliseconds: Vec<f64> = (0..100).map(|i| 2.0 * i as f64).collect();
        assert_eq!(rate(judge_named("time_ms", &milliseconds)), Some(500.0));
        let third: Vec<f64> = (0..100).map(|i| 3.0 * i as f64).collect();
        assert_eq!(rate(judge_named("t", &third)), Some(1.0 / 3.0));
    }

    #[test]
    fn what_is_not_the_time_is_a_channel() {
        let wave: Vec<f64> = (0..50).map(|i| (i as f64).sin()).collect();
        let ramp: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(judge_named("s", &wave), Axis::Channel);
        assert_eq!(judge_named("Fz", &ramp), Axis::Channel);
        assert_eq!(judge_unnamed(&wave), Axis::Channel);
        assert!(matches!(judge_named("", &ramp), Axis::Index(_)));
        assert_eq!(judge_named("index", &wave), Axis::Channel);
        assert_eq!(rate(judge_named("date", &wave)), None);
        let mut gap = ramp.clone();
        gap[20] = f64::NAN;
        assert_eq!(rate(judge_named("time", &gap)), None);
    }
}
