//! What the caller may ask of a file, and what it is told about it. Plain data.

use super::Format;
use super::events::Event;
use super::layout::Layout;
use super::prepare::Prepare;
use super::selection::ChannelSelection;
use super::table::Variable;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use strtransformer::Recording;

/// What to read. The default is everything, with all that can be detected being detected.
///
/// The one definition of these options: the program makes its arguments of it (feature
/// `arguments`; the first line of each comment is the help), Python and the folder of a run keep
/// it as JSON.
///
/// ```
/// use strt_io::ReadOptions;
/// let options = ReadOptions {
///     channels: Some("Fz,Cz,5-8".into()),
///     stop: Some(60.0),
///     ..ReadOptions::default()
/// };
/// # assert_eq!(options.rate, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "arguments", derive(clap::Args))]
#[cfg_attr(
    feature = "arguments",
    command(next_help_heading = "Reading the recording")
)]
pub struct ReadOptions {
    /// Samples per second, in place of what the file says
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "HZ", allow_negative_numbers = true)
    )]
    pub rate: Option<f64>,
    /// Channels to take: names, numbers from 1, ranges, such as Fz,Cz,5-8
    #[cfg_attr(feature = "arguments", arg(long, value_name = "LIST"))]
    pub channels: Option<ChannelSelection>,
    /// Leave out what comes before this many seconds
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "SECONDS", allow_negative_numbers = true)
    )]
    pub start: Option<f64>,
    /// Leave out what comes from this many seconds on
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "SECONDS", allow_negative_numbers = true)
    )]
    pub stop: Option<f64>,
    /// The array to take from a file that holds several (NPZ, MATLAB, XDF)
    ///
    /// Of NPZ, MATLAB and HDF5; a field of a structure is `name.field`. Of XDF the stream.
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "NAME", long_help = None)
    )]
    pub variable: Option<String>,
    /// Take a matrix as channels × samples; =no as samples × channels [default: detected]
    ///
    /// Of text, NPY, NPZ, MATLAB and HDF5; other formats know it. See [`Layout`].
    #[cfg_attr(
        feature = "arguments",
        arg(
            long,
            value_name = "yes|no",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "yes",
            hide_possible_values = true,
            value_parser = clap::builder::BoolishValueParser::new(),
            long_help = None
        )
    )]
    pub transpose: Option<bool>,
    /// Character between the columns of a text [default: detected]
    ///
    /// A space stands for any white space.
    #[cfg_attr(
        feature = "arguments",
        arg(long, value_name = "CHARACTER", long_help = None)
    )]
    pub delimiter: Option<char>,
    /// Whether the first line of a text holds names [default: detected]
    #[cfg_attr(feature = "arguments", arg(skip))]
    pub header: Option<bool>,
    /// Column of a text that holds the time, or `none` [default: detected]
    #[cfg_attr(feature = "arguments", arg(long, value_name = "NAME"))]
    pub time_column: Option<TimeColumn>,
    /// Take what the files of the BIDS dataset beside the recording say of it
    ///
    /// Types, units and status of channels, positions of electrodes, events.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "arguments", arg(long, long_help = None))]
    pub bids: bool,
    /// What is done with the recording when it was read.
    #[serde(skip_serializing_if = "Prepare::is_nothing")]
    #[cfg_attr(feature = "arguments", arg(skip))]
    pub prepare: Prepare,
}

impl ReadOptions {
    /// Refuses what no file can satisfy; `path` is named in the message.
    ///
    /// # Errors
    /// [`Error::Request`] with the option, what is expected of it and what it holds.
    pub fn check(&self, path: &Path) -> Result<()> {
        let refused = |option, expected: &str, found: String, remedy: &'static str| {
            Err(Error::request(path, option, expected, found, remedy))
        };
        if let Some(rate) = self.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            let remedy = "give samples per second, or leave it out";
            return refused("rate", "a finite number above 0", rate.to_string(), remedy);
        }
        for (option, given) in [("start", self.start), ("stop", self.stop)] {
            if let Some(seconds) = given.filter(|given| !(given.is_finite() && *given >= 0.0)) {
                let expected = "a number of seconds from 0";
                return refused(option, expected, seconds.to_string(), "correct it");
            }
        }
        if let Some(delimiter) = self.delimiter.filter(|delimiter| !delimiter.is_ascii()) {
            let remedy = "use one of , ; | tab or space";
            return refused(
                "delimiter",
                "an ASCII character",
                format!("`{delimiter}`"),
                remedy,
            );
        }
        Ok(())
    }
}

/// Which column of a table (text, Parquet) holds the time. It gives the rate and is no channel.
///
/// Not given, it is the first one when it is called so or, in a text without names, rises in equal
/// steps. As text it is the name, or `none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TimeColumn {
    /// None: all columns are channels.
    Absent,
    /// The one of this name.
    Named(String),
}

impl From<String> for TimeColumn {
    fn from(text: String) -> Self {
        if text == "none" {
            Self::Absent
        } else {
            Self::Named(text)
        }
    }
}

impl From<TimeColumn> for String {
    fn from(column: TimeColumn) -> Self {
        match column {
            TimeColumn::Absent => "none".into(),
            TimeColumn::Named(name) => name,
        }
    }
}

/// A recording and what was detected on the way.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The observations, their names and their rate.
    pub recording: Recording,
    /// The format of the file.
    pub format: Format,
    /// The physical unit of every channel, where the file names one.
    pub units: Vec<Option<String>>,
    /// The number of missing values of every channel.
    pub missing: Vec<usize>,
    /// Where the electrode of every channel is, where the file knows: metres to the right, to the
    /// front and up.
    pub positions: Vec<Option<[f64; 3]>>,
    /// What happened when, in seconds from the first sample that was read, where the rate is known.
    pub events: Vec<Event>,
    /// Which way round the numbers lie in the file, where its format leaves that open.
    pub layout: Option<Layout>,
    /// Which sample of the file the first one is, counted from 0, before it is resampled.
    pub first_sample: usize,
    /// What was done to prepare it, one piece of a sentence each.
    pub prepared: Vec<String>,
    /// Everything that was detected, chosen, scaled or left out.
    pub notes: Vec<Note>,
}

/// What a file holds, without its numbers.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The format of the file.
    pub format: Format,
    /// The channels in the order of the file. Empty when a container has several arrays and none
    /// was chosen.
    pub channels: Vec<ChannelSummary>,
    /// The arrays of a container (NPZ, MATLAB, HDF5).
    pub variables: Vec<Variable>,
    /// What happened when, in seconds from the first sample of the file.
    pub events: Vec<Event>,
    /// Which way round the numbers lie in the file, where its format leaves that open.
    pub layout: Option<Layout>,
    /// Everything that was detected so far.
    pub notes: Vec<Note>,
}

/// One channel of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// Its physical unit, where the file names one.
    pub unit: Option<String>,
    /// Samples per second, where the file knows.
    pub sampling_rate: Option<f64>,
    /// Number of samples, missing ones included.
    pub n_samples: usize,
    /// Why it is read only when it is asked for by name.
    pub left_out: Option<&'static str>,
}

/// Something that was found out about a file or done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much attention it deserves.
    pub kind: NoteKind,
    /// One sentence without a full stop.
    pub text: String,
}

/// How much attention a [`Note`] deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Taken from the file.
    Detected,
    /// Probably not what was meant, or a loss.
    Warning,
}

impl Note {
    pub(crate) fn detected(text: impl Into<String>) -> Self {
        let (kind, text) = (NoteKind::Detected, text.into());
        Self { kind, text }
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        let (kind, text) = (NoteKind::Warning, text.into());
        Self { kind, text }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            NoteKind::Detected => write!(out, "{}", self.text),
            NoteKind::Warning => write!(out, "warning: {}", self.text),
        }
    }
}
