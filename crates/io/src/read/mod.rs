//! Recordings from files.
//!
//! In: a path and [`ReadOptions`]. Out: a [`Recording`](strtransformer::Recording), or an
//! [`Error`](crate::Error) that names the place in the file; and notes of all that was detected.
//! One format a file: each says what the file holds ([`table::Contents`]) and then decodes the
//! wanted part of it straight into one matrix ([`table::Table`]). What is common to all formats
//! (channels, rate, span of time, missing values) is decided in [`assemble`].
//!
//! What was read is prepared ([`prepare`]) where that is asked for: filters, resampling,
//! references.
//!
//! Deliberately absent: interpolation, and any guess that is not noted.

mod array;
mod assemble;
mod brainvision;
mod edf;
#[cfg(feature = "mat")]
mod eeglab;
mod events;
mod fif;
mod flac;
mod gdf;
#[cfg(feature = "hdf5")]
mod hdf5;
mod layout;
#[cfg(feature = "mat")]
mod mat5;
#[cfg(feature = "mat")]
mod matlab;
mod npy;
#[cfg(feature = "npz")]
mod npz;
mod numbers;
#[cfg(feature = "ogg")]
mod ogg;
mod options;
#[cfg(feature = "packed")]
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod prepare;
mod rates;
mod rewrite;
mod segments;
mod selection;
mod sniff;
#[cfg(feature = "hdf5")]
mod snirf;
mod source;
mod survey;
mod table;
mod text;
mod time;
mod together;
mod trials;
#[cfg(feature = "ogg")]
mod vorbis;
mod wav;
mod wfdb;
#[cfg(feature = "xdf")]
mod xdf;

pub use assemble::MOST_AT_ONCE;
pub(crate) use assemble::shortened;
pub use events::Event;
pub use layout::Layout;
pub(crate) use numbers::skip;
pub use options::{ChannelSummary, Note, NoteKind, Opened, ReadOptions, Summary, TimeColumn};
pub use prepare::{BadSegments, Prepare, Rereference, Resample, disturbances};
pub use rewrite::rewrite_recording;
pub use selection::ChannelSelection;
pub use sniff::Format;
pub use survey::{ChannelSurvey, Survey, survey};
pub use table::Variable;
pub(crate) use table::{Channel, Contents};
pub(crate) use together::is_same_unit;
pub use together::{Joined, Piece, join};

use crate::bids;
use crate::error::{Error, Result};
use std::ops::Range;
use std::path::Path;
use strtransformer::Recording;
use table::{Reader, Table};

/// Reads a recording. The format is found by content; see [`Format`].
///
/// ```
/// use strt_io::{ReadOptions, read_recording};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("two.csv");
/// std::fs::write(&path, "time,Fz,Cz\n0.00,1.5,2\n0.01,NA,3\n0.02,2.5,4\n")?;
///
/// let opened = read_recording(&path, &ReadOptions::default())?;
/// assert_eq!(opened.recording.channel_names(), ["Fz", "Cz"]);
/// assert_eq!(opened.recording.sampling_rate(), Some(100.0));
/// assert_eq!(opened.missing, [1, 0]);
/// for note in &opened.notes {
///     println!("{note}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Whatever is wrong with the file or with what is asked of it.
pub fn read_recording(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Opened> {
    let path = path.as_ref();
    let (format, mut reader) = open(path, options)?;
    let contents = reader.contents();
    if contents.undecided {
        return Err(undecided(path, contents));
    }
    let contents = described(path, contents, options)?;
    let mut notes = contents.notes.clone();
    let chosen = assemble::chosen(path, &contents, options, &mut notes)?;
    let joined = rates::read(path, &mut *reader, &contents, &chosen, options)?;
    let (values, wanted, steps) = match joined {
        Some(joined) => (joined.values, joined.wanted, joined.steps),
        None => {
            let wanted = assemble::wanted_of(path, &contents, chosen, options, &mut notes)?;
            let mut table = Table::new(
                path,
                wanted.rows.clone(),
                contents.channels.len(),
                &wanted.chosen,
            )?;
            reader.read(&mut table)?;
            (table.into_values(), wanted, Vec::new())
        }
    };

    let chosen = || {
        wanted
            .chosen
            .iter()
            .map(|&channel| &contents.channels[channel])
    };
    let names: Vec<String> = chosen().map(|channel| channel.name.clone()).collect();
    let missing = assemble::missing(path, &names, values.as_ref(), wanted.rows.start)?;
    for (name, count) in names.iter().zip(&missing).filter(|(_, count)| **count > 0) {
        notes.push(Note::detected(format!(
            "channel `{name}`: {count} of {} values are missing",
            wanted.rows.len()
        )));
    }
    for (name, values) in names.iter().zip(values.col_iter()) {
        let values: Vec<f64> = values.iter().copied().collect();
        if let Some((code, count)) = survey::code_for_missing(&values) {
            notes.push(Note::warning(code_warning(name, code, count)));
        }
    }
    let recording = assemble::recording(path, values, names, wanted.rate)?;
    let opened = Opened {
        units: chosen().map(|channel| channel.unit.clone()).collect(),
        positions: chosen().map(|channel| channel.position).collect(),
        events: match wanted.rate {
            Some(rate) => {
                let (start, seconds) = (wanted.rows.start as f64, wanted.rows.len() as f64);
                events::within(&contents.events, start / rate, seconds / rate)
            }
            None => Vec::new(),
        },
        first_sample: wanted.rows.start,
        recording: in_trials(path, recording, contents.trial, &wanted.rows)?,
        layout: contents.layout,
        format,
        missing,
        prepared: steps,
        notes,
    };
    opened.prepare(path, &options.prepare)
}

/// Says which samples of a file of trials are in one: they are pieces of the recording.
fn in_trials(
    path: &Path,
    recording: Recording,
    trial: Option<usize>,
    rows: &Range<usize>,
) -> Result<Recording> {
    let Some(trial) = trial else {
        return Ok(recording);
    };
    recording
        .with_pieces(&trials::lengths(trial, rows))
        .map_err(Error::refused(path))
}

/// Says what a file holds. The numbers are not read, except that the lines of a text are counted,
/// the pages of a compressed file before its headers are unpacked, and the triggers of FIF and the
/// time stamps of XDF looked for.
///
/// ```
/// use strt_io::{ReadOptions, inspect};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("two.csv");
/// std::fs::write(&path, "time,Fz,Cz\n0.00,1.5,2\n0.01,2.5,3\n")?;
/// let summary = inspect(&path, &ReadOptions::default())?;
/// assert_eq!(summary.channels.len(), 2);
/// assert_eq!(summary.channels[0].n_samples, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Whatever is wrong with the parts that are read.
pub fn inspect(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Summary> {
    let path = path.as_ref();
    let (format, reader) = open(path, options)?;
    let contents = described(path, reader.contents(), options)?;
    Ok(summary(format, contents))
}

/// What a file holds, in names that differ, as those say who described it.
fn described(path: &Path, contents: &Contents, options: &ReadOptions) -> Result<Contents> {
    let mut contents = assemble::with_unique_names(contents.clone());
    if options.bids {
        bids::apply(path, &mut contents)?;
    }
    Ok(contents)
}

/// What is said of a file before its numbers are read.
fn summary(format: Format, contents: Contents) -> Summary {
    let channels = contents.channels.into_iter().map(|channel| ChannelSummary {
        name: channel.name,
        unit: channel.unit,
        sampling_rate: channel.rate,
        n_samples: channel.n_samples,
        left_out: channel.left_out,
    });
    Summary {
        format,
        channels: channels.collect(),
        variables: contents.variables,
        events: contents.events,
        layout: contents.layout,
        notes: contents.notes,
    }
}

/// A number that seems to stand for missing values, as a person would write it: `-999`, `1e300`.
pub fn shown_code(code: f64) -> String {
    // This form has an exponent where the other has hundreds of digits.
    let shown = format!("{code:?}");
    shown.strip_suffix(".0").unwrap_or(&shown).to_owned()
}

/// What to say of a number that seems to stand for missing values. It is not replaced: only people
/// know.
fn code_warning(name: &str, code: f64, count: usize) -> String {
    let values = if count == 1 { "value is" } else { "values are" };
    let code = shown_code(code);
    format!(
        "channel `{name}`: {count} {values} {code}, far from all others: if that stands for \
         missing values, leave these empty or write NaN"
    )
}

fn open(path: &Path, options: &ReadOptions) -> Result<(Format, Box<dyn Reader>)> {
    options.check(path)?;
    let (format, source) = sniff::sniff(path)?;
    let reader: Box<dyn Reader> = match format {
        Format::Text => Box::new(text::TextReader::open(source, options)?),
        Format::Npy => Box::new(npy::NpyReader::open(source, options)?),
        Format::Edf | Format::Bdf => Box::new(edf::EdfReader::open(source, format)?),
        Format::Wav => Box::new(wav::WavReader::open(source)?),
        Format::Flac => Box::new(flac::FlacReader::open(source)?),
        #[cfg(feature = "ogg")]
        Format::Ogg => Box::new(ogg::OggReader::open(source)?),
        Format::Wfdb => Box::new(wfdb::WfdbReader::open(source, options)?),
        Format::BrainVision => Box::new(brainvision::BrainVisionReader::open(source)?),
        Format::Fif => Box::new(fif::FifReader::open(source)?),
        Format::Gdf => Box::new(gdf::GdfReader::open(source)?),
        #[cfg(feature = "xdf")]
        Format::Xdf => Box::new(xdf::XdfReader::open(source, options)?),
        #[cfg(feature = "npz")]
        Format::Npz => Box::new(npz::NpzReader::open(source, options)?),
        #[cfg(feature = "mat")]
        Format::Mat5 => matlab::open(mat5::load(source)?, options)?,
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => matlab::open(hdf5::load(source)?, options)?,
        #[cfg(feature = "hdf5")]
        Format::Snirf => snirf::open(source, options)?,
        #[cfg(feature = "mat")]
        Format::Eeglab => eeglab::open(source, options)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::ParquetReader::open(source, options)?),
        #[allow(unreachable_patterns)] // reached when a feature is off
        _ => {
            let feature = match format {
                Format::Npz => "npz",
                Format::Hdf5 | Format::Snirf => "hdf5",
                Format::Ogg => "ogg",
                Format::Parquet => "parquet",
                Format::Xdf => "xdf",
                _ => "mat",
            };
            let format = format.name();
            return Err(Error::NotBuilt {
                path: source.path().to_owned(),
                format,
                feature,
            });
        }
    };
    Ok((format, reader))
}

fn undecided(path: &Path, contents: &Contents) -> Error {
    let arrays: Vec<String> = contents
        .variables
        .iter()
        .map(|variable| format!("`{}` {:?}", variable.name, variable.shape))
        .collect();
    Error::request(
        path,
        "variable",
        "the name of one array",
        format!("several arrays: {}", assemble::shortened(&arrays)),
        "name the one that holds the recording",
    )
}
