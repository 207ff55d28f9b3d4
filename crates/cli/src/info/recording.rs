//! What a recording holds: its notes, length, events, what its numbers tell, and its channels.
//!
//! Many channels are told in groups of neighbours that are alike, unless all are asked for; those
//! with something wrong are named in any case. JSON has every channel.

use super::Info;
use super::wording::{counted, duration, events, listed, percent, shortened};
use crate::failure::Outcome;
use crate::progress::under_way;
use crate::reading::number_of;
use crate::table::table;
use serde_json::{Value, json};
use std::path::Path;
use strt_io::{ChannelSummary, ChannelSurvey, MOST_AT_ONCE, Summary, inspect, shown_code, survey};

/// Channels that are listed one by one.
const MOST_LISTED: usize = 40;

/// A recording as text and as JSON.
pub fn recording(info: &Info, file: &Path) -> Outcome<(String, Value)> {
    let found = Found::read(info, file)?;
    Ok((found.text(info, file), found.json(file)))
}

struct Found {
    summary: Summary,
    /// One a channel; none where the numbers were not read.
    channels: Vec<Option<ChannelSurvey>>,
    /// Why the numbers cannot be read.
    problem: Option<String>,
}

impl Found {
    fn read(info: &Info, file: &Path) -> Outcome<Self> {
        let what = format!("reading {}", file.display());
        if info.header_only {
            let summary = inspect(file, &info.reading)?;
            return Ok(Self {
                channels: vec![None; summary.channels.len()],
                summary,
                problem: None,
            });
        }
        let (summary, numbers) = under_way(info.json, &what, || survey(file, &info.reading))?;
        let (channels, problem) = match numbers {
            Ok(numbers) => (numbers.channels, None),
            Err(error) => (vec![None; summary.channels.len()], Some(error.to_string())),
        };
        Ok(Self {
            summary,
            channels,
            problem,
        })
    }

    /// The channels that are read unless others are asked for.
    fn signals(&self) -> impl Iterator<Item = (&ChannelSummary, Option<&ChannelSurvey>)> {
        let all = self.summary.channels.iter().zip(&self.channels);
        all.filter(|(channel, _)| channel.left_out.is_none())
            .map(|(channel, numbers)| (channel, numbers.as_ref()))
    }

    /// Samples and rate of all signals, where they have the same.
    fn length(&self) -> Option<(usize, Option<f64>)> {
        let mut lengths = self
            .signals()
            .map(|(channel, _)| (channel.n_samples, channel.sampling_rate));
        let first = lengths.next()?;
        lengths.all(|other| other == first).then_some(first)
    }

    fn text(&self, info: &Info, file: &Path) -> String {
        let summary = &self.summary;
        let mut text = format!("{}: {}\n", file.display(), summary.format);
        for note in &summary.notes {
            text.push_str(&format!("  {note}\n"));
        }
        if let Some(problem) = &self.problem {
            text.push_str(&format!("  problem: {problem}\n"));
        }
        if !summary.variables.is_empty() {
            let array = |variable: &strt_io::Variable| {
                vec![variable.name.clone(), format!("{:?}", variable.shape)]
            };
            let rows: Vec<Vec<String>> = summary.variables.iter().map(array).collect();
            text.push_str(&format!("\n{}", table(&["array", "shape"], &rows)));
        }
        if summary.channels.is_empty() {
            text.push_str("\nSeveral arrays: choose the recording with --variable\n");
            return text;
        }
        text.push('\n');
        for (name, value) in self.facts() {
            text.push_str(&format!("{name:<11}{value}\n"));
        }
        text.push('\n');
        if info.all || summary.channels.len() <= MOST_LISTED {
            text.push_str(&self.every_channel());
        } else {
            text.push_str(&self.groups());
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        let n_signals = self.signals().count();
        let left_out = match self.summary.channels.len() - n_signals {
            0 => String::new(),
            n => format!(", {n} left out"),
        };
        let too_many = if n_signals > MOST_AT_ONCE {
            format!(": more than the {MOST_AT_ONCE} that are read at once (--channels takes some)")
        } else {
            String::new()
        };
        facts.push(("channels", format!("{n_signals}{left_out}{too_many}")));
        match self.length() {
            Some((samples, Some(rate))) => {
                let length = duration(samples as f64 / rate);
                facts.push((
                    "length",
                    format!("{length}, {} at {rate} Hz", number_of(samples, "sample")),
                ));
            }
            Some((samples, None)) => {
                facts.push((
                    "length",
                    format!(
                        "{}, rate unknown (--rate gives it)",
                        number_of(samples, "sample")
                    ),
                ));
            }
            None if n_signals > 0 => {
                let text = "channels of several rates: choose some with --channels, or bring all \
                            to one rate with --resample";
                facts.push(("length", text.into()));
            }
            None => {}
        }
        facts.extend(self.numbers());
        if !self.summary.events.is_empty() {
            facts.push(("events", events(&self.summary.events)));
        }
        facts
    }

    /// What the numbers tell.
    fn numbers(&self) -> Vec<(&'static str, String)> {
        let known: Vec<(&ChannelSummary, &ChannelSurvey)> = self
            .signals()
            .filter_map(|(channel, numbers)| Some((channel, numbers?)))
            .collect();
        if known.is_empty() {
            return Vec::new();
        }
        let mut facts = Vec::new();
        let looked: usize = known.iter().map(|(_, numbers)| numbers.n_read).sum();
        let all: usize = known.iter().map(|(channel, _)| channel.n_samples).sum();
        if looked < all {
            let (channel, numbers) = known[0];
            let n_read = numbers.n_read;
            let span = match channel.sampling_rate {
                Some(rate) => duration(n_read as f64 / rate),
                None => format!("{n_read} samples"),
            };
            let text = format!("the first {span} were read; what follows is of these only");
            facts.push(("numbers", text));
        }
        let missing: usize = known.iter().map(|(_, numbers)| numbers.n_missing).sum();
        let named = |which: &dyn Fn(&ChannelSurvey) -> Option<String>| -> Vec<String> {
            let told = known.iter().filter_map(|(channel, numbers)| {
                which(numbers).map(|more| format!("{}{more}", channel.name))
            });
            told.collect()
        };
        let with_missing =
            named(&|numbers| (numbers.n_missing > 0).then(|| format!(" ({})", numbers.n_missing)));
        facts.push((
            "missing",
            match missing {
                0 => "no values".into(),
                _ => format!(
                    "{} ({}), in {}",
                    number_of(missing, "value"),
                    percent(missing, looked),
                    shortened(&with_missing)
                ),
            },
        ));
        let flat = named(&|numbers| numbers.is_flat.then(String::new));
        facts.push(("flat", listed(&flat)));
        let duplicates = named(&|numbers| {
            let other = numbers.duplicate_of?;
            Some(format!(" = {}", self.summary.channels[other].name))
        });
        facts.push(("duplicate", listed(&duplicates)));
        let infinite = named(&|numbers| {
            (numbers.n_infinite > 0).then(|| format!(" ({})", numbers.n_infinite))
        });
        if !infinite.is_empty() {
            let text = format!("values in {}: they cannot be read", shortened(&infinite));
            facts.push(("infinite", text));
        }
        let codes = named(&|numbers| {
            let (code, count) = numbers.code?;
            Some(format!(" ({count} × {})", shown_code(code)))
        });
        if !codes.is_empty() {
            let text = format!("for missing values? {}", shortened(&codes));
            facts.push(("codes", text));
        }
        facts
    }

    /// A line a channel.
    fn every_channel(&self) -> String {
        let row = |i: usize| {
            let channel = &self.summary.channels[i];
            let mut row = vec![(i + 1).to_string(), channel.name.clone()];
            row.extend(self.length_of(i));
            row.push(self.remark(i));
            row
        };
        let rows: Vec<Vec<String>> = (0..self.summary.channels.len()).map(row).collect();
        table(&["channel", "name", "samples", "rate", "unit", ""], &rows)
    }

    /// A line for neighbours that are alike.
    fn groups(&self) -> String {
        let n = self.summary.channels.len();
        let key = |i: usize| (self.length_of(i), self.remark(i));
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut start = 0;
        for end in 1..=n {
            if end < n && key(end) == key(start) {
                continue;
            }
            let name = |i: usize| self.summary.channels[i].name.clone();
            let (numbers, names) = if end - start == 1 {
                ((start + 1).to_string(), name(start))
            } else {
                (
                    format!("{}-{end}", start + 1),
                    format!("{} … {}", name(start), name(end - 1)),
                )
            };
            let mut row = vec![numbers, names];
            row.extend(self.length_of(start));
            row.push(self.remark(start));
            rows.push(row);
            start = end;
        }
        let more = rows.len().saturating_sub(MOST_LISTED);
        rows.truncate(MOST_LISTED);
        let mut text = table(&["channels", "names", "samples", "rate", "unit", ""], &rows);
        if more > 0 {
            text.push_str(&format!("and {more} more groups\n"));
        }
        text.push_str("--all lists every channel\n");
        text
    }

    fn length_of(&self, i: usize) -> [String; 3] {
        let channel = &self.summary.channels[i];
        let dash = || "-".to_string();
        [
            channel.n_samples.to_string(),
            channel
                .sampling_rate
                .map_or_else(dash, |rate| format!("{rate} Hz")),
            channel.unit.clone().unwrap_or_else(dash),
        ]
    }

    /// What is wrong with a channel.
    fn remark(&self, i: usize) -> String {
        let channel = &self.summary.channels[i];
        if let Some(why) = channel.left_out {
            return format!("left out: {why}");
        }
        let Some(numbers) = &self.channels[i] else {
            return String::new();
        };
        let mut remarks = Vec::new();
        if numbers.n_missing > 0 {
            remarks.push(format!("{} missing", numbers.n_missing));
        }
        if numbers.is_flat {
            remarks.push("flat".into());
        }
        if let Some(other) = numbers.duplicate_of {
            remarks.push(format!("same as {}", self.summary.channels[other].name));
        }
        remarks.join(", ")
    }

    fn json(&self, file: &Path) -> Value {
        let summary = &self.summary;
        let channel = |(i, channel): (usize, &ChannelSummary)| {
            let mut told = json!({
                "name": channel.name,
                "samples": channel.n_samples,
                "sampling_rate": channel.sampling_rate,
                "unit": channel.unit,
                "left_out": channel.left_out,
            });
            if let Some(numbers) = &self.channels[i] {
                let other = numbers.duplicate_of;
                told["samples_read"] = json!(numbers.n_read);
                told["missing"] = json!(numbers.n_missing);
                told["infinite"] = json!(numbers.n_infinite);
                told["flat"] = json!(numbers.is_flat);
                told["duplicate_of"] = json!(other.map(|other| &summary.channels[other].name));
                told["code_for_missing"] = json!(numbers.code.map(|(code, _)| code));
            }
            told
        };
        let length = self.length();
        let rate = length.and_then(|(_, rate)| rate);
        json!({
            "path": file.display().to_string(),
            "format": summary.format.to_string(),
            "samples": length.map(|(samples, _)| samples),
            "sampling_rate": rate,
            "seconds": length.zip(rate).map(|((samples, _), rate)| samples as f64 / rate),
            "layout": summary.layout.map(|layout| json!({
                "rows": layout.shape.0,
                "columns": layout.shape.1,
                "transposed": layout.transposed,
            })),
            "channels": summary.channels.iter().enumerate().map(channel).collect::<Vec<_>>(),
            "events": counted(&summary.events)
                .iter()
                .map(|(name, count)| json!({ "name": name, "count": count }))
                .collect::<Vec<_>>(),
            "arrays": summary.variables.iter().map(|variable| json!({
                "name": variable.name,
                "shape": variable.shape,
            })).collect::<Vec<_>>(),
            "notes": summary.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "problem": self.problem,
        })
    }
}
