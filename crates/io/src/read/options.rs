//! What the caller may ask of a file, and what it is told about it. Plain data.

use super::Format;
use super::selection::ChannelSelection;
use super::table::Variable;
use std::fmt;
use strtransformer::Recording;

/// What to read. The default is everything, with all that can be detected being detected.
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// Samples per second, in place of what the file says.
    pub rate: Option<f64>,
    /// The array to take from a file that holds several (NPZ, MATLAB, HDF5); fields of structures
    /// as `name.field`.
    pub variable: Option<String>,
    /// The channels to take, in this order.
    pub channels: Option<ChannelSelection>,
    /// Leave out what comes before this many seconds from the first sample.
    pub start: Option<f64>,
    /// Leave out what comes at or after this many seconds from the first sample.
    pub stop: Option<f64>,
    /// Take an array as channels × samples instead of samples × channels (NPY, NPZ, MATLAB, HDF5).
    pub transpose: bool,
    /// The character between the columns of a text; a space stands for any white space.
    pub delimiter: Option<char>,
    /// Whether the first line of a text holds names.
    pub header: Option<bool>,
    /// Which column of a table holds the time.
    pub time_column: TimeColumn,
}

/// Which column of a table (text, Parquet) holds the time. It gives the rate and is no channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeColumn {
    /// The first one, when it is called so or, in a text without names, rises in equal steps.
    #[default]
    Detect,
    /// None: all columns are channels.
    Absent,
    /// The one of this name.
    Named(String),
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
