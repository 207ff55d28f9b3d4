//! An array of a file that knows nothing of samples and channels (NPY, NPZ, MATLAB, HDF5) → a block
//! of numbers that does.
//!
//! Which way round it lies is decided by [`layout`](super::layout), of an array of three dimensions
//! by [`trials`](super::trials); dimensions of length 1 are dropped. What stands beside it in a
//! container (times, names, the rate) is told apart here by name.

#[cfg(any(feature = "npz", feature = "mat"))]
use super::assemble::shortened;
use super::layout::{self, Evidence, Layout};
use super::numbers::{Block, Endian, Number, Order};
#[cfg(any(feature = "npz", feature = "mat"))]
use super::selection::not_among;
use super::table::Contents;
#[cfg(any(feature = "npz", feature = "mat"))]
use super::table::{Table, Variable};
#[cfg(any(feature = "npz", feature = "mat"))]
use super::time::{self, Axis};
use super::trials::{self, Keeper};
#[cfg(any(feature = "npz", feature = "mat"))]
use super::{ReadOptions, TimeColumn};
use crate::error::{Error, Result};
use std::path::Path;

/// More channels than any device has: an array with more is not samples × channels.
pub(crate) const MOST_CHANNELS: usize = 1 << 16;

/// How an array is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub number: Number,
    pub endian: Endian,
    pub shape: Vec<usize>,
    /// The first dimension changes fastest.
    pub column_major: bool,
    pub keeper: Keeper,
}

impl Array {
    /// Whether it can be a recording.
    #[cfg(any(feature = "npz", feature = "mat"))]
    pub fn is_candidate(&self) -> bool {
        matches!(self.sides().len(), 1..=3) && self.shape.iter().any(|&n| n > 1)
    }

    /// The dimensions; those of length 1 are dropped where there are more than two.
    fn sides(&self) -> Vec<usize> {
        if self.shape.len() <= 2 {
            return self.shape.clone();
        }
        self.shape.iter().copied().filter(|&n| n != 1).collect()
    }

    /// How many numbers there are; `None` when no file can hold so many.
    #[cfg(any(feature = "npz", feature = "mat"))]
    pub fn n_values(&self) -> Option<usize> {
        self.shape
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n))
    }

    /// The array as a recording: its numbers and what there is to say of them. `place` names it.
    pub fn recording(
        &self,
        path: &Path,
        place: &str,
        asked: Option<bool>,
        evidence: &[Evidence],
        rate: Option<f64>,
    ) -> Result<(Block, Contents)> {
        let sides = self.sides();
        if let [a, b, c] = sides[..]
            && a.min(b).min(c) > 0
        {
            return self.trials(path, place, ([a, b, c], asked), evidence, rate);
        }
        let shape = match *sides.as_slice() {
            [n] => (n, 1),
            [rows, columns] => (rows, columns),
            // One of them is 0.
            [_, _, _] => (0, 0),
            _ => return Err(self.not_a_matrix(path, place)),
        };
        if shape.0 == 0 || shape.1 == 0 {
            return Err(Error::content(
                path,
                place,
                "at least one sample and one channel",
                format!("shape {:?}", self.shape),
                "check that this is the array that was meant",
            ));
        }
        // A vector is one channel, whatever is asked.
        let asked = if sides.len() == 1 { Some(false) } else { asked };
        let what = format!(" of {:?}", self.number);
        let (layout, note) = layout::decide(shape, asked, evidence, &what);
        let (n_samples, n_channels) = layout.samples_and_channels();
        few_channels(path, place, n_channels, layout)?;
        // Transposing swaps which of the two runs fastest.
        let order = if self.column_major != layout.transposed {
            Order::Planar
        } else {
            Order::Interleaved
        };
        let block = Block {
            number: self.number,
            endian: self.endian,
            order,
            n_samples,
            n_channels,
        };
        let mut contents = Contents::plain(n_samples, n_channels, rate);
        contents.layout = (sides.len() == 2).then_some(layout);
        contents.notes.push(note);
        self.tell_dropped(&mut contents, sides.len());
        Ok((block, contents))
    }

    /// An array of three dimensions as a recording in pieces.
    fn trials(
        &self,
        path: &Path,
        place: &str,
        (sides, asked): ([usize; 3], Option<bool>),
        evidence: &[Evidence],
        rate: Option<f64>,
    ) -> Result<(Block, Contents)> {
        let what = format!(" of {:?}", self.number);
        let (cube, layout, note) = trials::decide(
            (sides, self.column_major),
            self.keeper,
            asked,
            evidence,
            &what,
        );
        let n_channels = cube.n_channels();
        few_channels(path, place, n_channels, layout)?;
        let n_samples = cube.n_trials().saturating_mul(cube.trial());
        let block = Block {
            number: self.number,
            endian: self.endian,
            order: Order::Trials(cube),
            n_samples,
            n_channels,
        };
        // A header may claim more than any file can hold: its size is judged by who reads it.
        let mut contents = Contents::plain(n_samples, n_channels, rate);
        contents.layout = Some(layout);
        contents.trial = Some(cube.trial());
        contents.notes.push(note);
        self.tell_dropped(&mut contents, sides.len());
        Ok((block, contents))
    }

    fn tell_dropped(&self, contents: &mut Contents, n_kept: usize) {
        if n_kept < self.shape.len() {
            let text = format!("dimensions of length 1 of {:?} are dropped", self.shape);
            contents.detected(text);
        }
    }

    fn not_a_matrix(&self, path: &Path, place: &str) -> Error {
        let n = self.shape.len();
        let (found, remedy) = match n {
            0 => (
                "a single number".into(),
                "check that this is the array that was meant",
            ),
            _ => (
                format!("{n} dimensions ({:?})", self.shape),
                "take one piece of it, or save it with three dimensions",
            ),
        };
        let expected = "one or two dimensions (samples × channels), or three (trials, channels and \
                        samples)";
        Error::content(path, place, expected, found, remedy)
    }
}

/// Refuses what cannot be channels.
fn few_channels(path: &Path, place: &str, n_channels: usize, layout: Layout) -> Result<()> {
    if n_channels < MOST_CHANNELS {
        return Ok(());
    }
    let remedy = if layout.transposed {
        "read it with --transpose=no if its rows are samples"
    } else {
        "read it with --transpose if its columns are samples"
    };
    Err(Error::content(
        path,
        place,
        format!("fewer than {MOST_CHANNELS} channels"),
        n_channels.to_string(),
        remedy,
    ))
}

#[cfg(any(feature = "npz", feature = "mat"))]
/// The named variable, or the only one that can be a recording; `None` when that is not decided.
pub(crate) fn choose(
    path: &Path,
    options: &ReadOptions,
    variables: &[Variable],
    is_candidate: impl Fn(usize) -> bool,
) -> Result<Option<usize>> {
    if let Some(asked) = &options.variable {
        let names: Vec<&str> = variables
            .iter()
            .map(|variable| variable.name.as_str())
            .collect();
        return match names.iter().position(|name| name == asked) {
            Some(chosen) => Ok(Some(chosen)),
            None => Err(not_among(path, "variable", asked, &names)),
        };
    }
    let mut candidates: Vec<usize> = (0..variables.len()).filter(|&i| is_candidate(i)).collect();
    if candidates.len() > 1 {
        candidates = without_companions(&candidates, variables);
    }
    match candidates.as_slice() {
        [only] => Ok(Some(*only)),
        // The error of the only variable says more than that there is no candidate.
        [] if variables.len() == 1 => Ok(Some(0)),
        [] => Err(Error::content(
            path,
            "variables",
            "an array of real numbers with one to three dimensions",
            format!(
                "only {}",
                shortened(
                    &variables
                        .iter()
                        .map(|v| v.name.as_str())
                        .collect::<Vec<_>>()
                )
            ),
            "check that this is the file that was meant",
        )),
        _ => Ok(None),
    }
}

/// Leaves out the lists of times and events that go along with the one matrix of a file.
#[cfg(any(feature = "npz", feature = "mat"))]
fn without_companions(candidates: &[usize], variables: &[Variable]) -> Vec<usize> {
    let sides = |i: usize| -> Vec<usize> {
        let sides = variables[i].shape.iter().copied();
        sides.filter(|&n| n != 1).collect()
    };
    let is_companion = |&i: &usize| {
        let own = sides(i);
        let name = last_part(&variables[i].name);
        own.len() == 1
            && (is_time_name(name) || time::names_events(name))
            && candidates
                .iter()
                .any(|&other| sides(other).len() >= 2 && sides(other).contains(&own[0]))
    };
    let all = candidates.iter().copied();
    all.filter(|i| !is_companion(i)).collect()
}

/// The name of a field without those of the structures around it.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit(['.', '/']).next().unwrap_or(name)
}

/// Names under which people keep the time of every sample beside the data.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn is_time_name(name: &str) -> bool {
    let known = [
        "t",
        "time",
        "times",
        "timestamp",
        "timestamps",
        "tvec",
        "timevector",
        "taxis",
    ];
    known.contains(&plain(name).as_str())
}

/// Names under which people keep the names of the channels beside the data.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn is_names_name(name: &str) -> bool {
    let known = [
        "colheaders",
        "chnames",
        "channelnames",
        "channellabels",
        "channels",
        "chlabels",
        "chanlabels",
        "channames",
        "labels",
        "label",
        "names",
        "columns",
        "electrodes",
        "sensors",
    ];
    known.contains(&plain(name).as_str())
}

#[cfg(any(feature = "npz", feature = "mat"))]
fn plain(name: &str) -> String {
    let letters = name.to_lowercase();
    letters
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .collect()
}

/// Gives the channels the names of a list that has as many.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn name_channels(contents: &mut Contents, list: &str, names: &[String]) {
    if names.len() != contents.channels.len() || names.iter().any(String::is_empty) {
        return;
    }
    for (channel, name) in contents.channels.iter_mut().zip(names) {
        channel.name.clone_from(name);
    }
    contents.detected(format!("names of the channels are taken from `{list}`"));
}

/// Takes what is no signal out of the channels, as in a table of text: the time, from which comes
/// the rate where no other is known, numbers of rows, and events. Only names that a list gave can
/// say it; `read` decodes the array. Whoever asks for a channel by name gets it.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn without_times(
    path: &Path,
    contents: &mut Contents,
    options: &ReadOptions,
    read: &mut dyn FnMut(&mut Table) -> Result<()>,
) -> Result<()> {
    let asked = match &options.time_column {
        Some(TimeColumn::Named(name)) => Some(name.as_str()),
        _ => None,
    };
    let is_absent = options.time_column == Some(TimeColumn::Absent);
    let n_channels = contents.channels.len();
    if contents.trial.is_some() || n_channels < 2 {
        return Ok(());
    }
    for channel in 0..n_channels {
        let name = contents.channels[channel].name.clone();
        if time::names_events(&name) {
            let why = "its name says that it holds events";
            contents.channels[channel].left_out = Some(why);
            continue;
        }
        let is_asked = asked == Some(name.as_str());
        if is_absent || !(is_asked || (asked.is_none() && time::candidate(&name))) {
            continue;
        }
        let rows = 0..contents.channels[channel].n_samples;
        let mut table = Table::new(path, rows, n_channels, &[channel])?;
        read(&mut table)?;
        let values = table.column(channel).map(|values| values.to_vec());
        let values = values.unwrap_or_default();
        let axis = if is_asked {
            time::asked(&name, &values)
        } else {
            time::judge_named(&name, &values)
        };
        let why = match axis {
            Axis::Channel => continue,
            Axis::Index(_) => "it numbers the samples",
            Axis::Time(..) => "it holds the time",
        };
        contents.channels[channel].left_out = Some(why);
        if let Some(Some(rate)) = axis.settle(contents) {
            for channel in &mut contents.channels {
                channel.rate = channel.rate.or(Some(rate));
            }
        }
    }
    Ok(())
}

/// Names under which people keep the sampling rate beside the data.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn is_rate_name(name: &str) -> bool {
    let known = [
        "fs",
        "srate",
        "sfreq",
        "sr",
        "rate",
        "samplingrate",
        "samplerate",
        "samplingfrequency",
        "samplefrequency",
    ];
    known.contains(&plain(name).as_str())
}

/// Whether so many packed bytes can hold so many: deflate packs at most 1032 to 1.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn can_hold(packed: u64, unpacked: u64) -> bool {
    unpacked <= packed.saturating_mul(1032).saturating_add(1 << 10)
}
