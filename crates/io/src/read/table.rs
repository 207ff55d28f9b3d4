//! What a reader says about a file, and where it puts the numbers.
//!
//! [`Contents`] is known before the numbers are read: channels, rates, lengths. A [`Table`] is the
//! one matrix, in the precision and the order of the library, that the numbers of the chosen
//! channels and samples are decoded into; what is not set stays missing (NaN). Neither knows a
//! format.

use super::Note;
use super::events::Event;
use super::layout::Layout;
use super::rewrite::Replacement;
use crate::error::{Error, Result};
use faer::Mat;
use std::ops::Range;
use std::path::Path;

/// One signal of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Channel {
    pub name: String,
    /// Physical unit, where the file names one.
    pub unit: Option<String>,
    /// Samples per second, where known.
    pub rate: Option<f64>,
    pub n_samples: usize,
    /// Why the channel is read only when it is asked for by name.
    pub left_out: Option<&'static str>,
    /// Where the electrode is, in metres of the head's own coordinates (x to the right, y to the
    /// front, z up), where the file knows.
    pub position: Option<[f64; 3]>,
}

/// An array of a file that holds several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, as the option `variable` takes it.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    pub channels: Vec<Channel>,
    /// The arrays of a container.
    pub variables: Vec<Variable>,
    /// Set when a container has several arrays and none was chosen: the channels are then unknown.
    pub undecided: bool,
    /// What happened when, in seconds from the first sample of the file.
    pub events: Vec<Event>,
    /// Which way round the numbers lie, where the format leaves that open.
    pub layout: Option<Layout>,
    /// Samples of every trial, where the file holds trials laid end to end.
    pub trial: Option<usize>,
    pub notes: Vec<Note>,
}

impl Contents {
    /// Channels of equal length and rate with names `ch1`, `ch2`, …
    pub fn plain(n_samples: usize, n_channels: usize, rate: Option<f64>) -> Self {
        let channel = |number| Channel {
            name: format!("ch{number}"),
            rate,
            n_samples,
            ..Channel::default()
        };
        Self {
            channels: (1..=n_channels).map(channel).collect(),
            ..Self::default()
        }
    }

    pub fn detected(&mut self, text: impl Into<String>) {
        self.notes.push(Note::detected(text));
    }

    pub fn warn(&mut self, text: impl Into<String>) {
        self.notes.push(Note::warning(text));
    }
}

/// Decodes one file.
pub(crate) trait Reader {
    /// What the file holds.
    fn contents(&self) -> &Contents;

    /// Puts the numbers of all channels and samples that `table` wants into it.
    fn read(&mut self, table: &mut Table) -> Result<()>;

    /// Writes the file to `out` with new numbers and says what had to be changed besides; `None`
    /// for a format whose files would have to be made anew.
    fn rewrite(&mut self, _new: &Replacement<'_>, _out: &Path) -> Result<Option<Vec<Note>>> {
        Ok(None)
    }
}

/// The chosen samples × the chosen channels.
pub(crate) struct Table {
    values: Mat<f64>,
    rows: Range<usize>,
    /// For every channel of the file: its column.
    columns: Vec<Option<usize>>,
}

impl Table {
    /// All missing. `chosen` are channels of the file, each at most once.
    pub fn new(
        path: &Path,
        rows: Range<usize>,
        n_channels: usize,
        chosen: &[usize],
    ) -> Result<Self> {
        let mut columns = vec![None; n_channels];
        for (column, &channel) in chosen.iter().enumerate() {
            columns[channel] = Some(column);
        }
        let mut values = Mat::new();
        let shape = (rows.len(), chosen.len());
        values.try_reserve(shape.0, shape.1).map_err(|_| {
            Error::request(
                path,
                "memory",
                format!("room for {} samples of {} channels", shape.0, shape.1),
                "not enough memory",
                "choose fewer channels or a shorter span of time",
            )
        })?;
        values.resize_with(shape.0, shape.1, |_, _| f64::NAN);
        Ok(Self {
            values,
            rows,
            columns,
        })
    }

    /// The samples of the file that are wanted.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    pub fn wants(&self, channel: usize) -> bool {
        self.columns[channel].is_some()
    }

    /// The wanted samples of a channel, unless the channel is not wanted.
    pub fn column(&mut self, channel: usize) -> Option<&mut [f64]> {
        let column = self.columns[channel]?;
        Some(self.values.col_as_slice_mut(column))
    }

    /// Sets one value, if it is wanted.
    pub fn set(&mut self, row: usize, channel: usize, value: f64) {
        if self.rows.contains(&row)
            && let Some(column) = self.columns[channel]
        {
            self.values[(row - self.rows.start, column)] = value;
        }
    }

    pub fn into_values(self) -> Mat<f64> {
        self.values
    }
}
