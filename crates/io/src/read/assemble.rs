//! From what a file holds to a [`Recording`]: which channels, at which rate, over which span of
//! time, and whether the numbers can be used.
//!
//! One way for all formats. It knows no format and does not touch the file.

use super::layout::Layout;
use super::table::{Channel, Contents};
use super::{Note, ReadOptions};
use crate::error::{Error, Result};
use faer::{Mat, MatRef};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use strtransformer::Recording;

/// What is to be read.
pub(crate) struct Wanted {
    /// Channels of the file.
    pub chosen: Vec<usize>,
    /// Samples of the file.
    pub rows: Range<usize>,
    pub rate: Option<f64>,
}

/// Decides what is to be read.
pub(crate) fn wanted(
    path: &Path,
    contents: &Contents,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
) -> Result<Wanted> {
    let chosen = chosen(path, contents, options, notes)?;
    wanted_of(path, contents, chosen, options, notes)
}

/// Decides which channels are to be read: at least one.
pub(crate) fn chosen(
    path: &Path,
    contents: &Contents,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
) -> Result<Vec<usize>> {
    let channels = &contents.channels;
    let names: Vec<&str> = channels
        .iter()
        .map(|channel| channel.name.as_str())
        .collect();
    let mut chosen = match &options.channels {
        Some(selection) => selection.resolve(path, &names)?,
        None => {
            note_left_out(channels, notes);
            (0..channels.len())
                .filter(|&channel| channels[channel].left_out.is_none())
                .collect()
        }
    };
    if let Some(excluded) = &options.prepare.exclude {
        let excluded = excluded.resolve_for("exclude", path, &names)?;
        chosen.retain(|channel| !excluded.contains(channel));
        let excluded: Vec<&str> = excluded.into_iter().map(|channel| names[channel]).collect();
        notes.push(Note::detected(format!(
            "excluded: {}",
            shortened(&excluded)
        )));
    }
    if chosen.is_empty() {
        return Err(Error::content(
            path,
            "channels",
            "at least one signal",
            "none",
            "check that this is the file that was meant, and that not all channels are excluded",
        ));
    }
    if chosen.len() > MOST_AT_ONCE {
        return Err(too_many(path, contents, chosen.len()));
    }
    Ok(chosen)
}

/// Decides which samples of these channels, all of one rate, are to be read.
pub(crate) fn wanted_of(
    path: &Path,
    contents: &Contents,
    chosen: Vec<usize>,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
) -> Result<Wanted> {
    let (channels, first) = (&contents.channels, chosen[0]);
    one_rate(path, channels, &chosen)?;
    let n_samples = channels[first].n_samples;
    let rate = rate(channels[first].rate, options, notes);
    let rows = window(path, n_samples, rate, options)?;
    if rows.len() < n_samples {
        notes.push(Note::detected(format!(
            "samples {} to {} of {n_samples} are read (counted from 1)",
            rows.start + 1,
            rows.end
        )));
    }
    Ok(Wanted { chosen, rows, rate })
}

/// More channels than sources can be told apart from; more of them are a matrix on its side, or
/// one that has to be cut down first. They are refused.
pub const MOST_AT_ONCE: usize = 4096;

fn too_many(path: &Path, contents: &Contents, found: usize) -> Error {
    let remedy = match contents.layout {
        Some(Layout {
            transposed: false, ..
        }) => {
            "if its columns are samples, read it with --transpose; else choose some with --channels"
        }
        Some(_) => {
            "if its rows are samples, read it with --transpose=no; else choose some with --channels"
        }
        None => "choose some with --channels",
    };
    let expected = format!("at most {MOST_AT_ONCE} channels at once");
    Error::content(path, "channels", expected, found.to_string(), remedy)
}

/// Says which channels are left out, a few by name and many together.
fn note_left_out(channels: &[Channel], notes: &mut Vec<Note>) {
    let mut reasons: Vec<&'static str> = Vec::new();
    for why in channels.iter().filter_map(|channel| channel.left_out) {
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    for why in reasons {
        let left_out = channels
            .iter()
            .filter(|channel| channel.left_out == Some(why));
        let names: Vec<String> = left_out
            .map(|channel| format!("`{}`", channel.name))
            .collect();
        if let [name] = &names[..] {
            notes.push(Note::detected(format!("channel {name} is left out: {why}")));
            continue;
        }
        notes.push(Note::detected(format!(
            "{} channels are left out: {} (of each: {why})",
            names.len(),
            shortened(&names)
        )));
    }
}

/// Without two different limits, physical and digital, there is no physical unit (EDF, GDF).
pub(crate) fn check_limits(
    path: &Path,
    label: &str,
    [low, high]: [f64; 2],
    [from, to]: [f64; 2],
) -> Result<()> {
    let usable = |a: f64, b: f64| a.is_finite() && b.is_finite() && a != b;
    if usable(low, high) && usable(from, to) {
        return Ok(());
    }
    Err(Error::content(
        path,
        format!("header, signal `{label}`"),
        "physical and digital limits that differ",
        format!("{low} to {high} for {from} to {to}"),
        "leave the channel out",
    ))
}

/// Channels of several rates do not make a matrix.
fn one_rate(path: &Path, channels: &[Channel], chosen: &[usize]) -> Result<()> {
    let mut groups: Vec<(Option<f64>, usize, Vec<&str>)> = Vec::new();
    for &index in chosen {
        let channel = &channels[index];
        match groups
            .iter_mut()
            .find(|group| group.0 == channel.rate && group.1 == channel.n_samples)
        {
            Some(group) => group.2.push(&channel.name),
            None => groups.push((channel.rate, channel.n_samples, vec![&channel.name])),
        }
    }
    if groups.len() <= 1 {
        return Ok(());
    }
    let describe = |(rate, n_samples, names): &(Option<f64>, usize, Vec<&str>)| {
        let rate = rate.map_or("unknown rate".to_string(), |rate| format!("{rate} Hz"));
        format!("{} at {rate} ({n_samples} samples)", shortened(names))
    };
    let found: Vec<String> = groups.iter().take(6).map(describe).collect();
    Err(Error::content(
        path,
        "channels",
        "one sampling rate",
        found.join("; "),
        "take the channels of one rate with --channels, or bring all to one with --resample (max: \
         the highest)",
    ))
}

/// A list that fits into a message.
pub(crate) fn shortened<S: AsRef<str>>(names: &[S]) -> String {
    let mut shown: Vec<&str> = names.iter().take(8).map(AsRef::as_ref).collect();
    let more = format!("{} more", names.len().saturating_sub(8));
    if names.len() > 8 {
        shown.push(&more);
    }
    shown.join(", ")
}

fn rate(of_file: Option<f64>, options: &ReadOptions, notes: &mut Vec<Note>) -> Option<f64> {
    let Some(asked) = options.rate else {
        return of_file;
    };
    if let Some(of_file) = of_file.filter(|of_file| *of_file != asked) {
        notes.push(Note::warning(format!(
            "the rate of the file, {of_file} Hz, is replaced by {asked} Hz"
        )));
    }
    Some(asked)
}

/// Seconds → samples.
pub(super) fn window(
    path: &Path,
    n_samples: usize,
    rate: Option<f64>,
    options: &ReadOptions,
) -> Result<Range<usize>> {
    let sample = |option, seconds: Option<f64>, otherwise: usize| match seconds {
        None => Ok(otherwise),
        Some(seconds) => match rate {
            // 0.3 s at 10 Hz is sample 3, whatever the last bit of the product says.
            Some(rate) => Ok(((seconds * rate - 1e-6).ceil().max(0.0) as usize).min(n_samples)),
            None => Err(Error::request(
                path,
                option,
                "a recording with a sampling rate",
                "none in the file",
                "give its rate (--rate)",
            )),
        },
    };
    let rows = sample("start", options.start, 0)?..sample("stop", options.stop, n_samples)?;
    if rows.is_empty() && n_samples > 0 {
        let end = rate.map_or(String::new(), |rate| {
            format!(", of {} s", n_samples as f64 / rate)
        });
        return Err(Error::request(
            path,
            "start and stop",
            format!("a span inside the recording{end}"),
            format!(
                "{} to {} s",
                options.start.unwrap_or(0.0),
                options
                    .stop
                    .map_or("the end".into(), |stop| stop.to_string())
            ),
            "correct it",
        ));
    }
    Ok(rows)
}

/// Missing values of every channel; refuses infinities and channels without any value.
pub(crate) fn missing(
    path: &Path,
    names: &[String],
    values: MatRef<'_, f64>,
    first_row: usize,
) -> Result<Vec<usize>> {
    let mut counts = Vec::with_capacity(names.len());
    for (name, column) in names.iter().zip(values.col_iter()) {
        let mut count = 0;
        for (t, value) in column.iter().enumerate() {
            if value.is_infinite() {
                return Err(Error::content(
                    path,
                    format!(
                        "channel `{name}`, sample {} (counted from 1)",
                        first_row + t + 1
                    ),
                    "a finite number, or NaN for a missing one",
                    value.to_string(),
                    "repair the value or mark it as missing",
                ));
            }
            count += usize::from(value.is_nan());
        }
        if count == values.nrows() && count > 0 {
            return Err(Error::content(
                path,
                format!("channel `{name}`"),
                "at least one number",
                format!("{count} missing values"),
                "leave the channel out",
            ));
        }
        counts.push(count);
    }
    Ok(counts)
}

/// Makes all names different: one that comes again gets a number.
pub(crate) fn with_unique_names(mut contents: Contents) -> Contents {
    let all: HashSet<String> = contents
        .channels
        .iter()
        .map(|channel| channel.name.clone())
        .collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut renamed_ones = Vec::new();
    for channel in &mut contents.channels {
        let count = seen.entry(channel.name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            continue;
        }
        while all.contains(&format!("{}_{count}", channel.name)) {
            *count += 1;
        }
        let renamed = format!("{}_{count}", channel.name);
        renamed_ones.push((channel.name.clone(), renamed.clone()));
        channel.name = renamed;
    }
    match &renamed_ones[..] {
        [first, .., last] if renamed_ones.len() > MOST_RENAMED => contents.warn(format!(
            "{} channels have the names of others and are renamed, from `{}` to `{}` up to `{}` to \
             `{}`",
            renamed_ones.len(),
            first.0,
            first.1,
            last.0,
            last.1
        )),
        few => {
            for (name, renamed) in few {
                contents.warn(format!(
                    "another channel `{name}` is renamed to `{renamed}`"
                ));
            }
        }
    }
    contents
}

/// More channels than this that are renamed are told together.
const MOST_RENAMED: usize = 8;

/// Numbers, names and rate together.
pub(crate) fn recording(
    path: &Path,
    values: Mat<f64>,
    names: Vec<String>,
    rate: Option<f64>,
) -> Result<Recording> {
    let recording = Recording::from_mat(values)
        .and_then(|recording| recording.with_channel_names(names))
        .map_err(Error::refused(path))?;
    match rate {
        Some(rate) => recording
            .with_sampling_rate(rate)
            .map_err(Error::refused(path)),
        None => Ok(recording),
    }
}
