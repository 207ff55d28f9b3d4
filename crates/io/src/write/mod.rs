//! Signals → files that other programs read: NPY, CSV, MATLAB, Parquet, WAV, FLAC, EDF.
//!
//! In: a matrix of T samples × K signals with names and a rate. Out: a file, whole or not at all,
//! and notes of what the format made of the values. The format is that of the ending of the name.
//! Where a format holds floating point, values are written as they are and missing ones are NaN;
//! EDF and FLAC hold whole numbers, to which each signal is scaled by itself.

mod csv;
mod edf;
mod flac;
mod mat;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod sound;
mod wav;
mod wavs;

pub use wavs::{check_each_wav, each_wav_files, write_each_wav};

use crate::atomic;
use crate::error::{Error, Result};
use crate::flac::StreamInfo;
use crate::read::Note;
use faer::MatRef;
use std::path::Path;

/// What is written: sources, channels, or anything else with one column a signal.
#[derive(Clone, Copy, Debug)]
pub struct Signals<'a> {
    /// T × K.
    pub values: MatRef<'a, f64>,
    /// One name a column.
    pub names: &'a [String],
    /// Samples per second, where known.
    pub rate: Option<f64>,
}

/// The endings that [`write_signals`] knows, with what they stand for.
pub const OUTPUT_FORMATS: [(&str, &str); 7] = [
    ("npy", "NumPy, 32-bit, T×K"),
    ("csv", "text: time and one column a signal"),
    ("mat", "MATLAB 5: `signals` (T×K, double), `names`, `fs`"),
    ("parquet", "Parquet: `time` and one column a signal"),
    ("wav", "sound, 32-bit floating point"),
    ("flac", "sound, 24-bit, each signal scaled to its range"),
    ("edf", "EDF: 16-bit, each signal scaled to its range"),
];

/// Writes signals in the format of the ending of `path`; see [`OUTPUT_FORMATS`]. The notes say what
/// the format made of the values.
///
/// ```
/// use faer::mat;
/// use strt_io::{ReadOptions, Signals, read_recording, write_signals};
///
/// let values = mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.5]];
/// let names = ["s1".to_string(), "s2".to_string()];
/// let signals = Signals { values: values.as_ref(), names: &names, rate: Some(100.0) };
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("sources.csv");
/// write_signals(&path, &signals)?;
///
/// let opened = read_recording(&path, &ReadOptions::default())?;
/// assert_eq!(opened.recording.observations(), values);
/// assert_eq!(opened.recording.sampling_rate(), Some(100.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Kind`] when the ending is none of these, [`Error::Request`] when the format cannot hold
/// the signals (sound without a whole rate, more than 4 GB in a MATLAB or WAV file, more than 8
/// signals in FLAC, missing samples in EDF), [`Error::Io`] or [`Error::NotAFile`] when the file
/// cannot be written. An old file is then left as it was.
///
/// # Panics
/// When there is not one name a column.
pub fn write_signals(path: impl AsRef<Path>, signals: &Signals<'_>) -> Result<Vec<Note>> {
    assert_eq!(
        signals.names.len(),
        signals.values.ncols(),
        "one name a column"
    );
    let path = path.as_ref();
    match checked(path, signals)? {
        Kind::Npy => atomic::write(path, |file| npy::write(file, signals)),
        Kind::Csv => atomic::write(path, |file| csv::write(file, signals)),
        Kind::Mat => atomic::write(path, |file| mat::write(file, signals)),
        #[cfg(feature = "parquet")]
        Kind::Parquet => atomic::write(path, |file| parquet::write(file, signals)),
        Kind::Wav { rate } => atomic::write(path, |file| wav::write(file, signals, rate)),
        Kind::Flac(info) => {
            atomic::write(path, |file| flac::write(file, signals, &info))?;
            return Ok(sound::notes(signals));
        }
        Kind::Edf(records) => return edf::write(path, signals, &records),
    }?;
    Ok(Vec::new())
}

/// Says whether [`write_signals`] could write such signals to such a file, without looking at their
/// values except whether any is missing: a program can ask before it computes them.
///
/// # Errors
/// As [`write_signals`], except for what only the disk knows.
pub fn check_signals(path: impl AsRef<Path>, signals: &Signals<'_>) -> Result<()> {
    checked(path.as_ref(), signals).map(drop)
}

/// A format that can hold the signals.
enum Kind {
    Npy,
    Csv,
    Mat,
    #[cfg(feature = "parquet")]
    Parquet,
    Wav {
        rate: u32,
    },
    Flac(StreamInfo),
    Edf(edf::Records),
}

fn checked(path: &Path, signals: &Signals<'_>) -> Result<Kind> {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match ending.as_str() {
        "npy" => Ok(Kind::Npy),
        "csv" => Ok(Kind::Csv),
        "mat" => mat::check(path, signals).map(|()| Kind::Mat),
        #[cfg(feature = "parquet")]
        "parquet" => Ok(Kind::Parquet),
        #[cfg(not(feature = "parquet"))]
        "parquet" => Err(Error::NotBuilt {
            path: path.to_owned(),
            format: "Parquet",
            feature: "parquet",
        }),
        "wav" => wav::check(path, signals).map(|rate| Kind::Wav { rate }),
        "flac" => flac::check(path, signals).map(Kind::Flac),
        "edf" => edf::check(path, signals).map(Kind::Edf),
        _ => {
            let known: Vec<String> = OUTPUT_FORMATS
                .iter()
                .map(|(ending, _)| format!(".{ending}"))
                .collect();
            let found = if ending.is_empty() {
                "a name without an ending".to_string()
            } else {
                format!(".{ending}")
            };
            Err(Error::kind(
                path,
                format!("a name that ends in {}", known.join(", ")),
                found,
                "choose one of them",
            ))
        }
    }
}

/// Files whose sizes are numbers of 32 bits.
fn check_size(path: &Path, signals: &Signals<'_>, value_size: u64, format: &str) -> Result<()> {
    let n_values = signals.values.nrows() as u64 * signals.values.ncols() as u64;
    // A megabyte is left for the rest of the file.
    let most = u64::from(u32::MAX) - (1 << 20);
    if n_values.saturating_mul(value_size) > most {
        return Err(Error::request(
            path,
            "output",
            format!("at most 4 GB in a {format} file"),
            format!("{n_values} values of {value_size} bytes"),
            "write NPY or Parquet",
        ));
    }
    Ok(())
}
