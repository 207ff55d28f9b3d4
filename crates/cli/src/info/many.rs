//! A line for each of several recordings, from their headers: the numbers are not read.
//!
//! A file that cannot be read has its reason in the line, and the command fails in the end.

use super::Info;
use super::wording::duration;
use crate::failure::{Failure, Outcome};
use crate::inputs::Inputs;
use crate::table::table;
use serde_json::{Value, json};
use std::path::Path;
use strt_io::{ReadOptions, Summary, inspect};

/// The recordings as text and as JSON, and a failure where one cannot be read.
pub fn many(info: &Info, inputs: &Inputs) -> (String, Value, Outcome) {
    let options = ReadOptions {
        bids: info.reading.bids || inputs.dataset.is_some(),
        ..info.reading.clone()
    };
    let root = inputs
        .dataset
        .as_ref()
        .map(|dataset| dataset.root.as_path());
    let found: Vec<Found> = inputs
        .files
        .iter()
        .map(|file| Found::read(file, root, &options))
        .collect();
    let header = [
        "recording",
        "format",
        "channels",
        "rate",
        "length",
        "events",
        "",
    ];
    let rows: Vec<Vec<String>> = found.iter().map(Found::cells).collect();
    let mut text = String::new();
    if let Some(root) = root {
        let recordings = if found.len() == 1 {
            "recording"
        } else {
            "recordings"
        };
        text = format!(
            "{}: a BIDS dataset, {} {recordings}\n\n",
            root.display(),
            found.len()
        );
    }
    text.push_str(&table(&header, &rows));
    let json = found.iter().map(Found::json).collect();
    let outcome = match found.iter().filter(|found| found.summary.is_err()).count() {
        0 => Ok(()),
        n => Err(Failure::Failed(format!(
            "{n} of {} files: expected recordings, found what their lines say; `strt info FILE` \
             says more",
            found.len()
        ))),
    };
    (text, json, outcome)
}

/// What the header of a file says, or why it cannot be read.
struct Found {
    name: String,
    summary: Result<Summary, String>,
}

impl Found {
    fn read(file: &Path, root: Option<&Path>, options: &ReadOptions) -> Found {
        let name = root.and_then(|root| file.strip_prefix(root).ok());
        let whole = file.display().to_string();
        let summary = inspect(file, options).map_err(|error| {
            // The line begins with the name of the file.
            let text = error.to_string();
            let rest = text.strip_prefix(&format!("{whole}: "));
            rest.map_or(text.clone(), str::to_owned)
        });
        Found {
            name: name.map_or(whole, |name| name.display().to_string()),
            summary,
        }
    }

    fn cells(&self) -> Vec<String> {
        let name = self.name.clone();
        let summary = match &self.summary {
            Ok(summary) => summary,
            Err(why) => {
                let dashes = std::iter::repeat_n("-".to_string(), 5);
                return [name]
                    .into_iter()
                    .chain(dashes)
                    .chain([why.clone()])
                    .collect();
            }
        };
        let Measures { samples, rate } = Measures::of(summary);
        let of_rate = |text: fn(f64) -> String| match rate {
            Some(rate) => rate.map_or("unknown".into(), text),
            None => "several".into(),
        };
        let n_signals = signals(summary).count();
        let left_out = summary.channels.len() - n_signals;
        vec![
            name,
            summary.format.to_string(),
            n_signals.to_string(),
            of_rate(|rate| format!("{rate} Hz")),
            match (samples, rate) {
                (Some(samples), Some(Some(rate))) => duration(samples as f64 / rate),
                (Some(samples), _) => format!("{samples} samples"),
                (None, _) => "several".into(),
            },
            summary.events.len().to_string(),
            match left_out {
                0 => String::new(),
                n => format!("{n} left out"),
            },
        ]
    }

    fn json(&self) -> Value {
        let summary = match &self.summary {
            Ok(summary) => summary,
            Err(why) => return json!({ "path": self.name, "problem": why }),
        };
        let Measures { samples, rate } = Measures::of(summary);
        json!({
            "path": self.name,
            "format": summary.format.to_string(),
            "channels": signals(summary).map(|channel| &channel.name).collect::<Vec<_>>(),
            "samples": samples,
            "sampling_rate": rate.flatten(),
            "events": summary.events.len(),
            "notes": summary.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "problem": null,
        })
    }
}

/// Length and rate of the signals of a file, where they have the same.
struct Measures {
    samples: Option<usize>,
    rate: Option<Option<f64>>,
}

impl Measures {
    fn of(summary: &Summary) -> Measures {
        let same = |all: Vec<(usize, Option<f64>)>| {
            let first = all.first().copied();
            first.filter(|first| all.iter().all(|other| other == first))
        };
        let all = signals(summary).map(|channel| (channel.n_samples, channel.sampling_rate));
        let (samples, rate) = same(all.collect()).unzip();
        Measures { samples, rate }
    }
}

/// The channels that are read unless others are asked for.
fn signals(summary: &Summary) -> impl Iterator<Item = &strt_io::ChannelSummary> {
    let channels = summary.channels.iter();
    channels.filter(|channel| channel.left_out.is_none())
}
