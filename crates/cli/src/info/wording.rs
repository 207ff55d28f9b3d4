//! Lengths, shares and lists as `strt info` tells them.

use std::cmp::Reverse;
use std::collections::HashMap;
use strt_io::Event;

/// Names in one line.
const MOST_NAMED: usize = 8;

/// How often each event comes, the most frequent first.
pub fn counted(events: &[Event]) -> Vec<(&str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for event in events {
        let place = *places.entry(&event.name).or_insert_with(|| {
            counts.push((&event.name, 0));
            counts.len() - 1
        });
        counts[place].1 += 1;
    }
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

pub fn events(events: &[Event]) -> String {
    let counts = counted(events);
    let named: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    format!("{}: {}", events.len(), shortened(&named))
}

/// A list that fits into a line.
pub fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMED).cloned();
    let mut shown: Vec<String> = shown.collect();
    if names.len() > MOST_NAMED {
        shown.push(format!("{} more", names.len() - MOST_NAMED));
    }
    shown.join(", ")
}

pub fn listed(names: &[String]) -> String {
    match names.len() {
        0 => "no channel".into(),
        _ => shortened(names),
    }
}

/// A share, never rounded to none or all of it.
pub fn percent(part: usize, whole: usize) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if share < 0.01 {
        return "below 0.01 %".into();
    }
    let digits = if share < 1.0 { 2 } else { 1 };
    format!("{share:.digits$} %")
}

/// `12.5 s`, `6 min 16 s`, `2 h 5 min`, `3 d 4 h`
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let two = |first: u64, unit: &str, second: u64, other: &str| match second {
        0 => format!("{first} {unit}"),
        _ => format!("{first} {unit} {second} {other}"),
    };
    match whole {
        0..60 => {
            let text = format!("{seconds:.3}");
            format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
        }
        60..3600 => two(whole / 60, "min", whole % 60, "s"),
        3600..86_400 => two(whole / 3600, "h", whole % 3600 / 60, "min"),
        _ => two(whole / 86_400, "d", whole % 86_400 / 3600, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_shares_are_told_in_two_words() {
        let check = |seconds: f64, expected: &str| assert_eq!(duration(seconds), expected);
        check(0.25, "0.25 s");
        check(12.0, "12 s");
        check(376.0, "6 min 16 s");
        check(7500.0, "2 h 5 min");
        check(86_400.0, "1 d");
        assert_eq!(percent(1, 1_000_000), "below 0.01 %");
        assert_eq!(percent(1, 400), "0.25 %");
        assert_eq!(percent(59, 2284), "2.6 %");
    }

    #[test]
    fn events_are_counted_by_name() {
        let event = |name: &str| Event {
            onset: 0.0,
            duration: 0.0,
            name: name.into(),
        };
        let found = [event("blink"), event("tone"), event("tone")];
        assert_eq!(events(&found), "3: tone (2), blink (1)");
    }
}
