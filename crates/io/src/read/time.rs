//! Columns of tables that are no signals: the time, with the rate that it gives, the number of the
//! row, events.
//!
//! In: a name ([`names`]) and values. Out: an [`Axis`] with what to say about it. The
//! values are not used for anything else: rows stay where they are, whatever time they claim, and
//! nothing is put into gaps.

mod names;

pub(crate) use names::{candidate, is_called_time, names_events};

use super::Note;
use super::table::Contents;
use super::text::days_since_1970;
use names::{Named, named};

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

    /// Notes what the column is, and gives all channels the rate where it has one.
    #[cfg(any(feature = "npz", feature = "mat"))]
    pub fn rate_of_all(self, contents: &mut Contents) {
        if let Some(Some(rate)) = self.settle(contents) {
            for channel in &mut contents.channels {
                channel.rate = Some(rate);
            }
        }
    }
}

/// Judges a column by its name.
pub(crate) fn judge_named(name: &str, values: &[f64]) -> Axis {
    match (named(name), steps(values)) {
        (Named::Time(None), _) if written_out(values).is_some() => {
            in_seconds(name, &written_out(values).unwrap_or_default())
        }
        (Named::Time(unit), _) => forced(name, unit.unwrap_or_else(|| unit_of(values)), values),
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
        (Named::Index, _) if counts(values) => Axis::Index(Note::detected(format!(
            "column `{name}` numbers the rows and is left out"
        ))),
        _ => Axis::Channel,
    }
}

/// Whether every value is one more than the last, or starts again, as counters of devices do.
fn counts(values: &[f64]) -> bool {
    let Some(&first) = values.first() else {
        return false;
    };
    let least = values.iter().copied().fold(first, f64::min);
    let is_whole = |value: &f64| value.fract() == 0.0;
    let goes_on = |pair: &[f64]| pair[1] - pair[0] == 1.0 || (pair[1] == least && pair[0] > least);
    values.iter().all(is_whole) && values.windows(2).all(goes_on)
}

/// The seconds since 1970 of numbers that are dates written without marks between their parts,
/// such as 20240131 and 20240131123005; `None` where one of them is no date.
fn written_out(values: &[f64]) -> Option<Vec<f64>> {
    let first = *values.first()?;
    let has_clock = first >= 1e13;
    let seconds = |value: &f64| {
        let (date, clock) = if has_clock {
            ((value / 1e6).floor(), value % 1e6)
        } else {
            (*value, 0.0)
        };
        if !(18_000_101.0..=22_001_231.0).contains(&date) || date.fract() != 0.0 {
            return None;
        }
        let date = date as i64;
        let days = days_since_1970(date / 10_000, date / 100 % 100, date % 100)?;
        let (hours, minutes) = ((clock / 1e4).floor(), (clock / 100.0).floor() % 100.0);
        let seconds = clock % 100.0;
        let is_clock = hours < 24.0 && minutes < 60.0 && seconds < 61.0;
        is_clock.then_some(days * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
    };
    values.iter().map(seconds).collect()
}

/// Seconds, but for times since 1970 that are too long for them.
fn unit_of(values: &[f64]) -> f64 {
    match values.first() {
        Some(1e11..1e14) => 1e-3,
        Some(1e14..1e17) => 1e-6,
        Some(1e17..1e20) => 1e-9,
        _ => 1.0,
    }
}

/// The caller says that this column is the time.
pub(crate) fn asked(name: &str, values: &[f64]) -> Axis {
    let unit = match named(name) {
        Named::Time(Some(unit)) | Named::Perhaps(unit) => unit,
        _ => unit_of(values),
    };
    forced(name, unit, values)
}

/// The cells or the type of the column say that it holds times.
pub(crate) fn in_seconds(name: &str, values: &[f64]) -> Axis {
    let days = |pair: &[f64]| (pair[1] - pair[0]) / 86_400.0;
    let every = |lengths: std::ops::RangeInclusive<f64>| {
        values.len() > 2 && values.windows(2).all(|pair| lengths.contains(&days(pair)))
    };
    for (step, lengths) in [("month", 28.0..=31.0), ("year", 365.0..=366.0)] {
        if every(lengths) && steps(values).is_none_or(|steps| steps.jitter > 0.0) {
            return Axis::Time(
                None,
                Note::detected(format!(
                    "column `{name}` is the time, in steps of a {step}; time is counted in samples"
                )),
            );
        }
    }
    forced(name, 1.0, values)
}

/// Dates whose days and months cannot be told apart.
pub(crate) fn open_dates(name: &str) -> Axis {
    Axis::Time(
        None,
        Note::warning(format!(
            "column `{name}` is taken as the time, but its days and months cannot be told apart: \
             no rate is known; write the dates as 2024-12-31, or give the rate"
        )),
    )
}

/// Judges the first column of a table without names.
pub(crate) fn judge_unnamed(values: &[f64]) -> Axis {
    // Who numbers rows does not mean seconds.
    if values.len() > 2 && matches!(values[0], 0.0 | 1.0) && counts(values) {
        let text = "column 1 counts the rows by ones and is left out";
        return Axis::Index(Note::detected(text));
    }
    match unnamed_rate("column 1", values) {
        Some((rate, note)) => Axis::Time(Some(rate), note),
        None => Axis::Channel,
    }
}

/// The rate of values without a name that are plainly times; `place` says where they are.
pub(crate) fn unnamed_rate(place: &str, values: &[f64]) -> Option<(f64, Note)> {
    let steps = steps(values).filter(|steps| values.len() > 2 && steps.jitter <= 0.05)?;
    let rate = steps.rate(1.0);
    let text = format!(
        "{place} rises in equal steps of {}: taken as the time in seconds, {rate} Hz",
        shown(steps.step)
    );
    Some((rate, Note::detected(text)))
}

fn forced(name: &str, unit: f64, values: &[f64]) -> Axis {
    if let Some(steps) = steps(values) {
        let rate = steps.rate(unit);
        return Axis::Time(
            Some(rate),
            Note::detected(format!(
                "column `{name}` is the time, in steps of {} s: {rate} Hz",
                shown(steps.step * unit)
            )),
        );
    }
    if let Some(gaps) = gaps(values) {
        let rate = gaps.steps.rate(unit);
        let (n, longest) = (gaps.count, shown(gaps.longest * unit));
        let gaps = if n == 1 { "gap" } else { "gaps" };
        return Axis::Time(
            Some(rate),
            Note::warning(format!(
                "column `{name}` is the time at {rate} Hz with {n} {gaps}, the longest of {longest} \
                 s: the rows before and behind a gap are joined as if there were none"
            )),
        );
    }
    if !values.is_empty() && values.iter().all(|value| value.is_nan()) {
        return Axis::Time(
            None,
            Note::warning(format!(
                "column `{name}` is taken as the time, but its cells are no times that are known: \
                 no rate is known; write them as 2024-12-31 12:30:05, or give the rate"
            )),
        );
    }
    Axis::Time(
        None,
        Note::warning(format!(
            "column `{name}` is taken as the time, but its steps are not equal: no rate is known \
             and the rows are taken as equally spaced"
        )),
    )
}

/// Equal steps with a few longer ones between them.
struct Gaps {
    steps: Steps,
    count: usize,
    longest: f64,
}

/// At most one step in twenty may be a gap; with more of them nobody knows what the step is.
const SHARE_OF_GAPS: usize = 20;

fn gaps(values: &[f64]) -> Option<Gaps> {
    let differences: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if differences
        .iter()
        .any(|step| !(step.is_finite() && *step > 0.0))
    {
        return None;
    }
    let mut sorted = differences.clone();
    sorted.sort_by(f64::total_cmp);
    let usual = *sorted.get(sorted.len() / 2)?;
    let (near, far): (Vec<f64>, Vec<f64>) = sorted.iter().partition(|step| **step < 1.5 * usual);
    let longest = *far.last()?;
    if far.len() * SHARE_OF_GAPS > sorted.len() || near[0] < 0.5 * usual {
        return None;
    }
    let step = near.iter().sum::<f64>() / near.len() as f64;
    let jitter = near
        .iter()
        .fold(0.0, |most: f64, own| most.max((own / step - 1.0).abs()));
    Some(Gaps {
        steps: Steps {
            step,
            jitter,
            dust: dust(values, step),
            n_steps: near.len() as f64,
        },
        count: far.len(),
        longest,
    })
}

/// Equal steps.
struct Steps {
    step: f64,
    /// Farthest that a value lies from its place, in steps.
    jitter: f64,
    /// What times of this size cannot say, in steps: seconds since 1970 have few digits left.
    dust: f64,
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
        dust: dust(values, step),
        n_steps,
    })
}

fn dust(values: &[f64], step: f64) -> f64 {
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    2.0 * f64::EPSILON * largest / step
}

impl Steps {
    /// The rate; a whole number when one lies within what rounding in the file leaves open.
    fn rate(&self, unit: f64) -> f64 {
        let rate = 1.0 / (self.step * unit);
        let open = rate * (2.0 * (self.jitter + self.dust) / self.n_steps).max(1e-9);
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
    fn names_of_many_languages() {
        let ramp: Vec<f64> = (0..50).map(|i| 0.5 * f64::from(i)).collect();
        for name in [
            "Time",
            "Zeit [s]",
            "temps (s)",
            "tiempo",
            "tempo",
            "время, с",
            "时间",
            "時間(s)",
            "Datum",
            "UTC time",
            "t",
            "Timestamp",
            "s",
        ] {
            assert_eq!(rate(judge_named(name, &ramp)), Some(2.0), "{name}");
        }
        for name in ["Zeit (ms)", "время, мс", "t_ms", "elapsed ms"] {
            assert_eq!(rate(judge_named(name, &ramp)), Some(2000.0), "{name}");
        }
        for name in ["reaction time", "temperature", "tension", "Sources", "data"] {
            assert_eq!(judge_named(name, &ramp), Axis::Channel, "{name}");
        }
        let count: Vec<f64> = (0..600).map(|i| f64::from(i % 256)).collect();
        for name in ["Sample Index", "packet", "nr", "Unnamed: 0", "序号"] {
            assert!(
                matches!(judge_named(name, &count), Axis::Index(_)),
                "{name}"
            );
        }
        assert_eq!(judge_named("index", &[0.0, 1.0, 3.0]), Axis::Channel);
    }

    #[test]
    fn times_since_1970_gaps_and_calendars() {
        let since = |unit: f64| -> Vec<f64> {
            (0..100)
                .map(|i| (1.6e9 + 0.25 * f64::from(i)) / unit)
                .collect()
        };
        for unit in [1.0, 1e-3, 1e-6] {
            let found = rate(judge_named("timestamp", &since(unit))).unwrap();
            assert!((found - 4.0).abs() < 1e-6, "{unit}: {found}");
        }
        let mut gap: Vec<f64> = (0..100).map(|i| 0.01 * f64::from(i)).collect();
        gap[50..].iter_mut().for_each(|value| *value += 3.0);
        let Axis::Time(Some(found), note) = judge_named("time", &gap) else {
            panic!("no rate");
        };
        assert_eq!(found, 100.0);
        let expected = "warning: column `time` is the time at 100 Hz with 1 gap, the longest of \
                        3.01 s: the rows before and behind a gap are joined as if there were none";
        assert_eq!(note.to_string(), expected);
        let daily = [20231230.0, 20231231.0, 20240101.0, 20240102.0];
        assert_eq!(rate(judge_named("date", &daily)), Some(1.0 / 86_400.0));
        let clock = [58.0, 59.0, 100.0, 101.0].map(|second| 20240229235900.0 + second);
        assert_eq!(rate(judge_named("date", &clock)), None, "no such second");
        let clock = [20240229235958.0, 20240229235959.0, 20240301000000.0];
        assert_eq!(rate(judge_named("date", &clock)), Some(1.0));
        let months = [0.0, 31.0, 59.0, 90.0, 120.0].map(|day| 86_400.0 * day);
        let Axis::Time(None, note) = in_seconds("date", &months) else {
            panic!("a rate");
        };
        assert!(note.text.contains("in steps of a month"), "{note}");
    }

    #[test]
    fn what_is_not_the_time_is_a_channel() {
        let wave: Vec<f64> = (0..50).map(|i| (i as f64).sin()).collect();
        let ramp: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(judge_named("s", &wave), Axis::Channel);
        assert_eq!(judge_named("Fz", &ramp), Axis::Channel);
        assert_eq!(judge_unnamed(&wave), Axis::Channel);
        assert!(matches!(judge_named("", &ramp), Axis::Index(_)));
        assert!(matches!(judge_unnamed(&ramp), Axis::Index(_)));
        let halves: Vec<f64> = ramp.iter().map(|value| 0.5 * value).collect();
        assert_eq!(rate(judge_unnamed(&halves)), Some(2.0));
        let Axis::Time(None, note) = judge_named("date", &[f64::NAN; 9]) else {
            panic!("a rate");
        };
        assert!(note.text.contains("no times that are known"), "{note}");
        assert_eq!(judge_named("index", &wave), Axis::Channel);
        assert_eq!(rate(judge_named("date", &wave)), None);
        let mut gap = ramp.clone();
        gap[20] = f64::NAN;
        assert_eq!(rate(judge_named("time", &gap)), None);
    }
}
