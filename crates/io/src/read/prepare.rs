//! How a recording is prepared when it is read, as it is asked for and kept with a run.
//!
//! In: [`Prepare`], in names of channels and files, and a recording that was read. Out: the
//! prepared recording, with a note of what was done. The arithmetic, its order and its reasons are
//! in [`strtransformer::prepare`]; here names become numbers. Which channels are left out is
//! decided before the file is read, in `assemble`.

use super::events::Event;
use super::options::{Note, Opened};
use super::segments;
use super::selection::{ChannelSelection, not_among};
use crate::error::{Error, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use strtransformer::Recording;
use strtransformer::prepare::{Band, Preparation, Prepared, Reference, Segment, warn};

/// What is done with a recording before anything else sees it. The default is nothing.
///
/// As with [`super::ReadOptions`], the program makes its arguments of it, and Python and the
/// folder of a run keep it as JSON. The order of the operations is that of the fields.
///
/// ```
/// use strt_io::{Prepare, ReadOptions};
/// let options = ReadOptions {
///     prepare: Prepare {
///         band: Some("1-40".parse()?),
///         notch: vec![50.0],
///         rereference: Some("average".into()),
///         ..Prepare::default()
///     },
///     ..ReadOptions::default()
/// };
/// # assert!(!options.prepare.is_nothing());
/// # Ok::<(), strtransformer::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "arguments", derive(clap::Args))]
#[cfg_attr(
    feature = "arguments",
    command(next_help_heading = "Preparing the recording")
)]
pub struct Prepare {
    /// Channels to leave out: names, numbers from 1, ranges
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "arguments", arg(long, value_name = "LIST"))]
    pub exclude: Option<ChannelSelection>,
    /// Spans to take as missing: a table with columns onset and duration in seconds, or
    /// `annotations` for those of the recording whose name begins with BAD
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "FILE|annotations", long_help = None)
    )]
    pub bad_segments: Option<BadSegments>,
    /// Take the straight line through every channel out of it
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "arguments", arg(long))]
    pub detrend: bool,
    /// Take out line noise: a frequency and its multiples
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "arguments",
        arg(
            long,
            value_name = "HZ",
            value_delimiter = ',',
            value_parser = frequency,
            allow_negative_numbers = true
        )
    )]
    pub notch: Vec<f64>,
    /// Frequencies to keep, such as 1-40, 1- or -40
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "LOW-HIGH", allow_hyphen_values = true)
    )]
    pub band: Option<Band>,
    /// Samples per second to come to; `max`: the highest rate of a file with several
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "HZ|max", allow_negative_numbers = true)
    )]
    pub resample: Option<Resample>,
    /// Tell channels against the mean of all (`average`) or against one of them, which is then left
    /// out [default: none, as recorded]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "average|CHANNEL|none", long_help = None)
    )]
    pub rereference: Option<Rereference>,
}

/// A frequency in Hz, as an argument.
#[cfg(feature = "arguments")]
fn frequency(text: &str) -> std::result::Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| "expected a frequency in Hz, such as 50, or several with commas".to_string())
}

/// Spans that are not to be used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadSegments {
    /// Events of the recording that last and whose name begins with `bad`, in any case.
    Annotations,
    /// The rows of a table; see [`Prepare::with_files_read`].
    File(PathBuf),
    /// These, in seconds from the first sample of the file.
    Spans(Vec<Segment>),
}

impl From<&str> for BadSegments {
    fn from(text: &str) -> Self {
        match text {
            "annotations" => Self::Annotations,
            path => Self::File(path.into()),
        }
    }
}

/// The rate to come to; as text a number, or `max`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Resample {
    /// The highest rate of the channels.
    Highest,
    /// Samples per second.
    To(f64),
}

impl FromStr for Resample {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("max", _) => Ok(Self::Highest),
            (_, Ok(rate)) if f64::is_finite(rate) && rate > 0.0 => Ok(Self::To(rate)),
            _ => Err(format!(
                "resample: expected samples per second above 0, or max, found `{text}`"
            )),
        }
    }
}

impl TryFrom<String> for Resample {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Resample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Highest => write!(out, "max"),
            Self::To(rate) => write!(out, "{rate}"),
        }
    }
}

impl From<Resample> for String {
    fn from(resample: Resample) -> Self {
        resample.to_string()
    }
}

/// What channels are told against; as text `none`, `average` or the name of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Rereference {
    /// What they were recorded against.
    AsRecorded,
    /// Their mean.
    Average,
    /// The channel of this name.
    Channel(String),
}

impl From<&str> for Rereference {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

impl From<String> for Rereference {
    fn from(text: String) -> Self {
        match text.as_str() {
            "none" => Self::AsRecorded,
            "average" => Self::Average,
            _ => Self::Channel(text),
        }
    }
}

impl From<Rereference> for String {
    fn from(reference: Rereference) -> Self {
        match reference {
            Rereference::AsRecorded => "none".into(),
            Rereference::Average => "average".into(),
            Rereference::Channel(name) => name,
        }
    }
}

impl Prepare {
    /// Whether nothing is asked for.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// With what `other` asks for where nothing is asked for here.
    #[must_use]
    pub fn or(self, other: Prepare) -> Prepare {
        Prepare {
            exclude: self.exclude.or(other.exclude),
            bad_segments: self.bad_segments.or(other.bad_segments),
            detrend: self.detrend || other.detrend,
            notch: if self.notch.is_empty() {
                other.notch
            } else {
                self.notch
            },
            band: self.band.or(other.band),
            resample: self.resample.or(other.resample),
            rereference: self.rereference.or(other.rereference),
        }
    }

    /// With the spans of a table in place of its name, so that what is kept with a run does not
    /// depend on a file that may change.
    ///
    /// # Errors
    /// When the file cannot be read or is no such table.
    pub fn with_files_read(mut self) -> Result<Self> {
        if let Some(BadSegments::File(path)) = &self.bad_segments {
            self.bad_segments = Some(BadSegments::Spans(segments::read(path)?));
        }
        Ok(self)
    }

    /// Prepares a recording that did not come from a file; `name` is what messages call it.
    /// Channels that are to be left out are left out here.
    ///
    /// # Errors
    /// As [`Opened::prepare`]; also for bad segments from annotations, which it has not.
    pub fn apply(&self, name: &str, recording: &Recording) -> Result<Prepared> {
        let path = Path::new(name);
        if self.bad_segments == Some(BadSegments::Annotations) {
            return Err(Error::request(
                path,
                "bad_segments",
                "spans in seconds",
                "`annotations`, of which a recording in memory has none",
                "give the spans, or read the file with this option",
            ));
        }
        let left = self.without_excluded(path, recording)?;
        let preparation = self.resolve(path, &left, &[], 0)?;
        preparation.apply(&left).map_err(Error::refused(path))
    }

    fn without_excluded(&self, path: &Path, recording: &Recording) -> Result<Recording> {
        let Some(excluded) = &self.exclude else {
            return Ok(recording.clone());
        };
        let names = recording.channel_names();
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let excluded = excluded.resolve_for("exclude", path, &all)?;
        let kept = (0..names.len()).filter(|channel| !excluded.contains(channel));
        let kept: Vec<usize> = kept.collect();
        let values = recording.observations();
        let picked = Mat::from_fn(values.nrows(), kept.len(), |t, c| values[(t, kept[c])]);
        let names = kept.iter().map(|&channel| names[channel].clone());
        recording
            .with_channels(picked, names.collect())
            .map_err(Error::refused(path))
    }

    /// What is to be done with a recording, whose first sample is sample `first_sample` of its
    /// file.
    fn resolve(
        &self,
        path: &Path,
        recording: &Recording,
        events: &[Event],
        first_sample: usize,
    ) -> Result<Preparation> {
        let rate = recording.sampling_rate();
        let start = rate.map_or(0.0, |rate| first_sample as f64 / rate);
        Ok(Preparation {
            bad_segments: match &self.bad_segments {
                None => Vec::new(),
                Some(BadSegments::Annotations) => annotated(events),
                Some(BadSegments::File(table)) => later(&segments::read(table)?, start),
                Some(BadSegments::Spans(spans)) => later(spans, start),
            },
            detrend: self.detrend,
            notch: self.notch.clone(),
            band: self.band,
            resample: match self.resample {
                None => None,
                Some(Resample::To(rate)) => Some(rate),
                // One rate is the highest.
                Some(Resample::Highest) => rate,
            },
            reference: self.reference_among(path, recording.channel_names())?,
        })
    }

    /// What channels of these names are told against, where that is not what they were recorded
    /// against.
    ///
    /// # Errors
    /// When the reference is not among them.
    pub fn reference_among(&self, path: &Path, names: &[String]) -> Result<Option<Reference>> {
        match &self.rereference {
            None | Some(Rereference::AsRecorded) => Ok(None),
            Some(Rereference::Average) => Ok(Some(Reference::Average)),
            Some(Rereference::Channel(name)) => {
                let place = names.iter().position(|other| other == name);
                let all: Vec<&str> = names.iter().map(String::as_str).collect();
                let place = place.ok_or_else(|| not_among(path, "rereference", name, &all))?;
                Ok(Some(Reference::Channel(place)))
            }
        }
    }
}

/// Spans of a file as spans of what was read of it from `start` seconds on.
fn later(spans: &[Segment], start: f64) -> Vec<Segment> {
    let moved = |span: &Segment| Segment {
        onset: span.onset - start,
        ..*span
    };
    spans.iter().map(moved).collect()
}

fn annotated(events: &[Event]) -> Vec<Segment> {
    let is_bad = |name: &str| {
        let name = name.trim().to_lowercase();
        // BrainVision has the kind of a marker first, and annotations of others as comments.
        name.strip_prefix("comment/")
            .unwrap_or(&name)
            .starts_with("bad")
    };
    events
        .iter()
        .filter(|event| event.duration > 0.0 && is_bad(&event.name))
        .map(|event| Segment {
            onset: event.onset,
            duration: event.duration,
        })
        .collect()
}

impl Opened {
    /// The recording prepared, with a note of what was done; `path` is named in messages. Channels
    /// that are to be left out are there no more, as reading takes care of them.
    ///
    /// # Errors
    /// When the recording does not allow it: an unknown rate, a frequency that it cannot have, a
    /// channel that it has not, stretches that are too short.
    pub fn prepare(mut self, path: &Path, prepare: &Prepare) -> Result<Opened> {
        if prepare.is_nothing() {
            return Ok(self);
        }
        let preparation =
            prepare.resolve(path, &self.recording, &self.events, self.first_sample)?;
        let done = preparation
            .apply(&self.recording)
            .map_err(Error::refused(path))?;
        if prepare.bad_segments == Some(BadSegments::Annotations)
            && preparation.bad_segments.is_empty()
        {
            self.notes.push(Note::warning(
                "no annotation that lasts has a name that begins with BAD: nothing is marked",
            ));
        }
        if let Some(reference) = preparation.reference {
            let kept = reference.kept(self.units.len());
            self.units = kept.iter().map(|&c| self.units[c].clone()).collect();
            self.positions = kept.iter().map(|&c| self.positions[c]).collect();
        }
        self.missing = missing(&done.recording);
        self.prepared.extend(done.steps.iter().cloned());
        if !self.prepared.is_empty() {
            let text = format!("prepared: {}", self.prepared.join(", "));
            self.notes.push(Note::detected(text));
        }
        self.notes.extend(too_short(&done));
        self.recording = done.recording;
        Ok(self)
    }

    /// As [`disturbances`], of the recording.
    pub fn disturbances(&self) -> Vec<Note> {
        disturbances(&self.recording)
    }
}

/// What a recording may need to be prepared for: slow drift, line noise. One warning each.
pub fn disturbances(recording: &Recording) -> Vec<Note> {
    let found = warn::disturbances(recording);
    let names = recording.channel_names();
    let of = |channels: &[usize]| match channels.len() - 1 {
        0 => format!("channel `{}`", names[channels[0]]),
        1 => format!("channel `{}` and one more", names[channels[0]]),
        more => format!("channel `{}` and {more} more", names[channels[0]]),
    };
    let drift = found.drift.iter().map(|drift| {
        let most = 100.0 * drift.share;
        Note::warning(format!(
            "drift: up to {most:.0} % of the variance is slower than {} Hz, in {}; unless that is \
             what is looked for, `band` (such as 1-) or `detrend` takes it out",
            warn::DRIFT_BELOW,
            of(&drift.channels)
        ))
    });
    let lines = found.lines.iter().map(|(hz, line)| {
        let most = 100.0 * line.share;
        Note::warning(format!(
            "line noise: a line at {hz} Hz has up to {most:.0} % of the variance above {} Hz, in \
             {}; `notch` {hz}, or a `band` below it, takes it out",
            warn::DRIFT_BELOW,
            of(&line.channels)
        ))
    });
    drift.chain(lines).collect()
}

/// What was lost to filters that are longer than what lies between two gaps.
fn too_short(done: &Prepared) -> Option<Note> {
    (done.n_too_short > 0).then(|| {
        Note::warning(format!(
            "{} samples are in stretches between gaps that are too short for the filters: they are \
             taken as missing",
            done.n_too_short
        ))
    })
}

/// Missing values of every channel.
fn missing(recording: &Recording) -> Vec<usize> {
    let columns = recording.observations();
    let count = |c: usize| columns.col(c).iter().filter(|value| value.is_nan()).count();
    (0..recording.n_channels()).map(count).collect()
}
