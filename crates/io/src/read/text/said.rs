//! What the lines before a table say about it: rate, names, units.
//!
//! In: comments, and the lines of a device's own header. Out: what is unmistakable in them. A rate
//! needs a key that means nothing else and a number with a unit of frequency or none; two rates
//! that differ are none. All other lines are for people.

use super::cells::{Cell, judge, name};
use super::detect::Dialect;
use super::rows::cells;

/// What the lines before a table say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub rate: Option<f64>,
    /// The line that the rate was read from.
    pub rate_line: String,
    /// Several rates that differ.
    pub rates_differ: bool,
    pub names: Option<Vec<String>>,
    /// One a column; empty where there is none.
    pub units: Option<Vec<String>>,
}

/// Keys of a rate, without anything but letters.
const RATE: [&str; 22] = [
    "fs",
    "srate",
    "sfreq",
    "samplerate",
    "samplingrate",
    "samplefrequency",
    "samplingfrequency",
    "samplingratehz",
    "sampleratehz",
    "samplingfrequencyhz",
    "samplefrequencyhz",
    "fshz",
    "samplespersecond",
    "abtastrate",
    "abtastfrequenz",
    "fréquencedéchantillonnage",
    "frecuenciademuestreo",
    "frequenzadicampionamento",
    "frequênciadeamostragem",
    "частотадискретизации",
    "采样率",
    "采样频率",
];

/// Keys of the time between two samples.
const INTERVAL: [&str; 4] = [
    "interval",
    "sampleinterval",
    "samplinginterval",
    "sampleperiod",
];

impl Said {
    /// Reads comments and the lines of a header of `n_columns` columns.
    pub fn read(
        comments: &[Vec<u8>],
        lines: &[Vec<u8>],
        dialect: Dialect,
        n_columns: usize,
    ) -> Self {
        let mut said = Self::default();
        for line in comments.iter().chain(lines) {
            said.line(&name(line), n_columns);
        }
        said.of_biopac(lines, n_columns);
        if said.names.is_none() {
            said.names = comments
                .last()
                .and_then(|last| names_in(last, dialect, n_columns));
        }
        said
    }

    fn line(&mut self, line: &str, n_columns: usize) {
        let text = line.trim_start_matches(|letter: char| "#%; \t\"".contains(letter));
        let text = text.trim_end_matches([' ', '\t', ',', ';', '"']);
        if let Some(rate) = per_sample(text) {
            return self.found_rate(rate, text);
        }
        // `Sampling Rate (Hz):= 1000`, `Sample rate,250`, `Interval=<tab>0.001 s`
        let Some(cut) = text.find(['=', ':', ',', ';', '\t']) else {
            return;
        };
        let key: String = text[..cut].to_lowercase();
        let key: String = key
            .chars()
            .filter(|letter| letter.is_alphanumeric())
            .collect();
        let value = text[cut..].trim_start_matches([':', '=', ',', ';', ' ', '\t', '"']);
        if RATE.contains(&key.as_str()) {
            if let Some(rate) = frequency(value) {
                self.found_rate(rate, text);
            }
        } else if INTERVAL.contains(&key.as_str()) {
            if let Some(seconds) = duration(value) {
                self.found_rate(1.0 / seconds, text);
            }
        } else if [
            "labels",
            "channels",
            "columns",
            "channeltitle",
            "channelnames",
        ]
        .contains(&key.as_str())
        {
            self.labels(value, n_columns);
        }
    }

    fn labels(&mut self, value: &str, n_columns: usize) {
        let mut names: Vec<String> = value
            .split([',', ';', '\t'])
            .map(|label| label.trim().to_string())
            .collect();
        // Channels only: the column before them is the time.
        if names.len() + 1 == n_columns && n_columns > 2 {
            names.insert(0, "time".into());
        }
        if names.len() == n_columns {
            self.names = Some(names);
        }
    }

    fn found_rate(&mut self, rate: f64, line: &str) {
        let rate = if (rate - rate.round()).abs() <= 1e-9 * rate {
            rate.round()
        } else {
            rate
        };
        match self.rate {
            _ if self.rates_differ || !(rate.is_finite() && rate > 0.0) => {}
            Some(before) if before != rate => {
                self.rate = None;
                self.rates_differ = true;
            }
            _ => {
                self.rate = Some(rate);
                self.rate_line = line.chars().take(60).collect();
            }
        }
    }

    /// AcqKnowledge writes `2 channels`, and then name and unit of each in lines of their own.
    fn of_biopac(&mut self, lines: &[Vec<u8>], n_columns: usize) {
        let texts: Vec<String> = lines
            .iter()
            .map(|line| name(line).trim().to_string())
            .collect();
        let counted = |text: &String| -> Option<usize> {
            let (count, word) = text.split_once(' ')?;
            count.parse().ok().filter(|_| word == "channels")
        };
        let found = texts.iter().enumerate();
        let found = found
            .filter_map(|(at, text)| Some((at, counted(text)?)))
            .next();
        let Some((at, count)) = found else { return };
        let is_whole = count > 0 && count < n_columns && at + 2 * count < texts.len();
        if self.names.is_some() || !is_whole {
            return;
        }
        let pairs = texts[at + 1..].chunks_exact(2).take(count);
        let (mut names, mut units): (Vec<String>, Vec<String>) =
            pairs.map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
        names.insert(0, String::new());
        units.insert(0, String::new());
        names.resize(n_columns, String::new());
        units.resize(n_columns, String::new());
        (self.names, self.units) = (Some(names), Some(units));
    }
}

/// A comment that is nothing but the names of the columns.
fn names_in(comment: &[u8], dialect: Dialect, n_columns: usize) -> Option<Vec<String>> {
    let line = &comment.trim_ascii_start()[1..];
    let cells = cells(line, dialect.delimiter);
    let all_text = cells
        .iter()
        .all(|cell| judge(cell, dialect.decimal_comma) == Cell::Text);
    let fits = cells.len() == n_columns && all_text && (n_columns > 1 || !line.contains(&b':'));
    fits.then(|| cells.iter().map(|cell| name(cell)).collect())
}

/// A number and what stands behind it.
fn quantity(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !(letter.is_ascii_digit() || ".,eE+-".contains(letter)))
        .unwrap_or(text.len());
    let number: f64 = text[..end].replace(',', ".").parse().ok()?;
    let unit = text[end..].trim().trim_end_matches(['"', '.', ',', ';']);
    (number.is_finite() && number > 0.0).then(|| (number, unit.to_lowercase()))
}

/// `250`, `250 Hz`, `1 kHz`
fn frequency(text: &str) -> Option<f64> {
    let (number, unit) = quantity(text)?;
    match unit.as_str() {
        "" | "hz" | "(hz)" | "sps" | "samples/s" | "samples/sec" | "samples/second"
        | "samples per second" | "гц" => Some(number),
        "khz" => Some(1000.0 * number),
        _ => None,
    }
}

/// `0.001 s`, `4 ms`; a number without a unit is no duration.
fn duration(text: &str) -> Option<f64> {
    let (number, unit) = quantity(text)?;
    match unit.as_str() {
        "s" | "sec" | "seconds" => Some(number),
        "ms" | "msec" => Some(1e-3 * number),
        "us" | "µs" | "usec" => Some(1e-6 * number),
        _ => None,
    }
}

/// `0.5 msec/sample`, `250 samples/second` → samples per second.
fn per_sample(text: &str) -> Option<f64> {
    let (number, unit) = quantity(text)?;
    if [
        "samples/s",
        "samples/sec",
        "samples/second",
        "samples per second",
    ]
    .contains(&unit.as_str())
    {
        return Some(number);
    }
    let unit = unit.strip_suffix("/sample")?;
    duration(&format!("{number} {unit}")).map(|seconds| 1.0 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_are_unmistakable() {
        let check = |line: &str, expected: Option<f64>| {
            let mut said = Said::default();
            said.line(line, 3);
            assert_eq!(said.rate, expected, "{line}");
        };
        for line in [
            "# Sampling Rate (Hz):= 250.00",
            "%Sample Rate = 250 Hz",
            "Sampling rate: 250 Hz",
            "SampleRate,250",
            "fs=250",
            "sampling_frequency\t0.25 kHz",
            "Abtastrate: 250,0 Hz",
            "Interval=\t0.004 s",
            "4 msec/sample",
            "250 samples/second",
            "Частота дискретизации: 250 Гц",
        ] {
            check(line, Some(250.0));
        }
        for line in [
            "Rate: 250",
            "Heart rate: 72",
            "fs",
            "Sampling rate: fast",
            "Interval=\t4",
            "Sample rate: 250 m",
            "Sampling rate: -1",
            "Sampling rate: 0 Hz",
            "Version 250 Hz",
            "Low-pass: 40 Hz",
        ] {
            check(line, None);
        }
        let mut said = Said::default();
        for line in ["fs = 250", "Sample rate: 500"] {
            said.line(line, 3);
        }
        assert!(said.rates_differ && said.rate.is_none());
    }
}
