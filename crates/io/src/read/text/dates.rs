//! Dates and times of day in cells, as people and devices write them.
//!
//! In: the text of a cell. Out: seconds since 1970, or since midnight where there is no date.
//! `3/4/2024` is left open here: only a whole column can tell whether its days or its months come
//! first ([`Moments`]). Time zones are counted in, names of zones are not known; years have four
//! digits.

use crate::read::time;

/// When something was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moment {
    /// Seconds since 1970.
    Date(f64),
    /// A date with its day first, and with its month first; NaN where there is no such month.
    Open { day_first: f64, month_first: f64 },
    /// Seconds since midnight.
    Clock(f64),
}

/// The date, the time of day, or both in a cell.
pub(super) fn moment(cell: &[u8]) -> Option<Moment> {
    if !cell.first()?.is_ascii_alphanumeric() || cell.len() > 40 {
        return None;
    }
    let text = std::str::from_utf8(cell).ok()?;
    if let Some(seconds) = clock(text) {
        return Some(Moment::Clock(seconds));
    }
    if let Some(days) = date(text) {
        return Some(days.at(0.0));
    }
    if let Some(instant) = without_marks(text) {
        return Some(instant);
    }
    // The clock stands behind the last space or T that has a colon behind it; names of months
    // may stand between spaces too.
    let colon = text.find(':')?;
    let cut = text[..colon].rfind(['T', ' '])?;
    let days = date(text[..cut].trim_end_matches([',', ' ']))?;
    Some(days.at(clock(&text[cut + 1..])?))
}

/// `20240131T123005.25`, as ISO 8601 has it without marks between the parts.
fn without_marks(text: &str) -> Option<Moment> {
    let (date, rest) = text.split_at_checked(8)?;
    let rest = rest.strip_prefix('T')?;
    let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..)?);
    let (hours, minutes, seconds) = (rest.get(..2)?, rest.get(2..4)?, rest.get(4..)?);
    let date = self::date(&format!("{year}-{month}-{day}"))?;
    let clock = match seconds {
        "" => clock(&format!("{hours}:{minutes}"))?,
        seconds => clock(&format!("{hours}:{minutes}:{seconds}"))?,
    };
    Some(date.at(clock))
}

/// Days since 1970, read both ways where that is open.
enum Days {
    Certain(f64),
    Open(Option<f64>, Option<f64>),
}

impl Days {
    fn at(self, seconds: f64) -> Moment {
        let moment = |days: Option<f64>| days.map_or(f64::NAN, |days| days * 86_400.0 + seconds);
        match self {
            Self::Certain(days) => Moment::Date(moment(Some(days))),
            Self::Open(day_first, month_first) => Moment::Open {
                day_first: moment(day_first),
                month_first: moment(month_first),
            },
        }
    }
}

/// `2024-01-31`, `2024/01/31`, `2024-01`, `31.1.2024`, `31-Jan-2024`, `Jan 31, 2024`, `1/31/2024`.
fn date(text: &str) -> Option<Days> {
    let parts: Vec<&str> = text
        .split(['-', '/', '.', ' ', ','])
        .filter(|part| !part.is_empty())
        .collect();
    let year = |part: &str| whole(part, 4..=4);
    let short = |part: &str| whole(part, 1..=2);
    match parts[..] {
        [first, second] if first.len() == 4 && !text.contains('.') => {
            let month = whole(second, 2..=2)?;
            days(year(first)?, month, 1).map(Days::Certain)
        }
        [first, second, third] => {
            if let Some(of_first) = year(first) {
                let (month, day) = (whole(second, 2..=2)?, whole(third, 2..=2)?);
                return days(of_first, month, day).map(Days::Certain);
            }
            let of_third = year(third)?;
            if let Some(month) = month_named(second) {
                return days(of_third, month, short(first)?).map(Days::Certain);
            }
            if let Some(month) = month_named(first) {
                return days(of_third, month, short(second)?).map(Days::Certain);
            }
            let (a, b) = (short(first)?, short(second)?);
            if text.contains('.') {
                return days(of_third, b, a).map(Days::Certain);
            }
            match (days(of_third, b, a), days(of_third, a, b)) {
                (None, None) => None,
                (day_first, month_first) => Some(Days::Open(day_first, month_first)),
            }
        }
        _ => None,
    }
}

/// English names of months; only these are written out by programs.
fn month_named(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let text = text.to_ascii_lowercase();
    let is_word = text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let at = MONTHS
        .iter()
        .position(|month| is_word && text.starts_with(month));
    at.map(|at| at as i64 + 1)
}

/// `12:30`, `12:30:05.25`, `1:30 PM`, with `Z`, `+01:00` or `UTC` behind it → seconds.
fn clock(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = text.strip_suffix("UTC").unwrap_or(text).trim_end();
    let lower = text.to_ascii_lowercase();
    let half = ["am", "pm"].iter().position(|half| lower.ends_with(half));
    let text = match half {
        Some(_) => text[..text.len() - 2].trim_end(),
        None => text.strip_suffix('Z').unwrap_or(text),
    };
    let (text, zone) = match text.rfind(['+', '-']) {
        Some(at) => (&text[..at], zone(&text[at..])?),
        None => (text, 0.0),
    };
    let mut parts = text.split(':');
    let (mut hours, minutes) = (whole(parts.next()?, 1..=2)?, whole(parts.next()?, 2..=2)?);
    let seconds: f64 = match parts.next() {
        Some(seconds) => {
            let seconds = seconds.replace(',', ".");
            let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
            let digits = seconds.find('.').unwrap_or(seconds.len());
            if digits != 2 || !seconds.bytes().all(plain) {
                return None;
            }
            seconds.parse().ok()?
        }
        None => 0.0,
    };
    if parts.next().is_some() || hours > 24 || minutes > 59 || seconds >= 61.0 {
        return None;
    }
    if let Some(half) = half {
        hours = hours % 12 + 12 * half as i64;
    }
    Some((hours * 3600 + minutes * 60) as f64 + seconds - zone)
}

/// `+01:00`, `-0530`, `+02` → seconds.
fn zone(text: &str) -> Option<f64> {
    let (sign, rest) = text.split_at_checked(1)?;
    let digits: String = rest.chars().filter(|&letter| letter != ':').collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = match minutes {
        "" => 0,
        minutes => whole(minutes, 2..=2)?,
    };
    let seconds = (whole(hours, 2..=2)? * 3600 + minutes * 60) as f64;
    Some(if sign == "-" { -seconds } else { seconds })
}

fn whole(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let plain = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// Days since 1970 in the Gregorian calendar, counted in years that start with March.
pub(in crate::read) fn days(year: i64, month: i64, day: i64) -> Option<f64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    Some(days as f64)
}

/// The times in a column, one a row; NaN where a cell holds none.
#[derive(Debug, Default)]
pub(super) struct Moments {
    /// Days first, where that is open.
    values: Vec<f64>,
    /// The rows whose order of day and month is open, with the month first.
    open: Vec<(usize, f64)>,
    n_dates: usize,
    n_clocks: usize,
}

/// What a column of times holds, once all of it is known.
#[derive(Debug, PartialEq)]
pub(super) enum Times {
    /// Numbers, in units that the column does not say.
    Numbers(Vec<f64>),
    /// Seconds.
    Seconds(Vec<f64>),
    /// Dates whose days and months cannot be told apart.
    Open,
}

impl Moments {
    pub fn push_number(&mut self, value: f64) {
        self.values.push(value);
    }

    pub fn push(&mut self, moment: Moment) {
        match moment {
            Moment::Date(seconds) => {
                self.n_dates += 1;
                self.values.push(seconds);
            }
            Moment::Clock(seconds) => {
                self.n_clocks += 1;
                self.values.push(seconds);
            }
            Moment::Open {
                day_first,
                month_first,
            } => {
                self.n_dates += 1;
                self.open.push((self.values.len(), month_first));
                self.values.push(day_first);
            }
        }
    }

    /// Whether these are dates, or numbers that rise in equal steps.
    pub fn are_even(&self) -> bool {
        self.n_dates + self.n_clocks > 0 || time::unnamed_rate("", &self.values).is_some()
    }

    /// The times of all rows.
    pub fn settled(mut self) -> Times {
        if self.n_dates + self.n_clocks == 0 {
            return Times::Numbers(self.values);
        }
        if !self.open.is_empty() {
            let day_first = self.values.clone();
            for &(row, month_first) in &self.open {
                self.values[row] = month_first;
            }
            // What no calendar has, or what goes back in time, was not meant.
            match (is_rising(&day_first), is_rising(&self.values)) {
                (true, false) => self.values = day_first,
                (false, true) => {}
                _ => return Times::Open,
            }
        }
        if self.n_dates == 0 {
            over_midnight(&mut self.values);
        }
        Times::Seconds(self.values)
    }
}

fn is_rising(values: &[f64]) -> bool {
    values.iter().all(|value| !value.is_nan())
        && (values.is_sorted() || values.iter().rev().is_sorted())
}

/// Times of day that start again at 0 go on in the next day.
fn over_midnight(values: &mut [f64]) {
    let (mut days, mut last) = (0.0, f64::NAN);
    for value in values {
        if last - *value > 43_200.0 {
            days += 86_400.0;
        }
        if !value.is_nan() {
            last = *value;
        }
        *value += days;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Moment>) {
        assert_eq!(moment(text.as_bytes()), expected, "{text}");
    }

    fn date(seconds: f64) -> Option<Moment> {
        Some(Moment::Date(seconds))
    }

    #[test]
    fn ways_of_writing_dates() {
        check("1970-01-02", date(86_400.0));
        check("1970-02", date(31.0 * 86_400.0));
        check("1970/01/02", date(86_400.0));
        check("2.1.1970", date(86_400.0));
        check("02.01.1970 00:00:01,5", date(86_401.5));
        check("02-Jan-1970", date(86_400.0));
        check("Jan 2, 1970", date(86_400.0));
        check("January 2, 1970 1:00 AM", date(90_000.0));
        check("2000-03-01T00:00:00.5Z", date(951_868_800.5));
        check("2000-03-01T01:00:00+01:00", date(951_868_800.0));
        check("2000-02-29 19:00:00-0500", date(951_868_800.0));
        check("12:30", Some(Moment::Clock(45_000.0)));
        check("1:30:05.5 PM", Some(Moment::Clock(48_605.5)));
        check(
            "1/2/1970",
            Some(Moment::Open {
                day_first: 31.0 * 86_400.0,
                month_first: 86_400.0,
            }),
        );
        for no_date in [
            "",
            "Fz",
            "1.5",
            "12",
            "2024-13-01",
            "2024-01-01 1:2:3",
            "1/2/70",
            "a:b",
            "25:00",
            "May",
            "1-2",
            "T",
            "-1",
            "x 12:30",
            "1.2.3",
            "Mon 3 5 2020",
            "+",
            "10:00-",
            "12:30:5",
        ] {
            check(no_date, None);
        }
    }

    #[test]
    fn a_column_tells_whether_its_days_come_first() {
        let settled = |texts: &[&str]| {
            let mut moments = Moments::default();
            for text in texts {
                moments.push(moment(text.as_bytes()).unwrap());
            }
            moments.settled()
        };
        let day = 86_400.0;
        let expected = Times::Seconds(vec![11.0 * day, 12.0 * day]);
        assert_eq!(settled(&["1/12/1970", "1/13/1970"]), expected);
        assert_eq!(settled(&["12/01/1970", "13/01/1970"]), expected);
        assert_eq!(settled(&["1/2/1970", "2/3/1970"]), Times::Open);
        // Both are dates, but only one order goes forward.
        let expected = Times::Seconds(vec![0.0, 1.0 * day, 2.0 * day, 31.0 * day]);
        assert_eq!(
            settled(&["1/1/1970", "2/1/1970", "3/1/1970", "1/2/1970"]),
            expected
        );
        let expected = Times::Seconds(vec![86_399.0, 86_400.0]);
        assert_eq!(settled(&["23:59:59", "00:00:00"]), expected);
    }
}
