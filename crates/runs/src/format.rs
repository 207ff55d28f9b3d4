//! The formats in which separated sources can be written.

use serde::{Deserialize, Serialize};
use std::path::Path;
use strt_io::{
    Signals, check_each_wav, check_signals, each_wav_files, write_each_wav, write_signals,
};

/// A format of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// NumPy.
    Npy,
    /// Text.
    Csv,
    /// MATLAB 5.
    Mat,
    /// Parquet.
    Parquet,
    /// Sound, all sources in one file, as they are.
    Wav,
    /// Sound, one file a source, each scaled so that nothing is clipped.
    Wavs,
    /// Sound in whole numbers, packed, each source scaled so that nothing is clipped.
    Flac,
    /// European Data Format.
    Edf,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 8] = [
        Format::Npy,
        Format::Csv,
        Format::Mat,
        Format::Parquet,
        Format::Wav,
        Format::Wavs,
        Format::Flac,
        Format::Edf,
    ];

    /// Its name, which is also the ending of its files, except for `wavs`.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Csv => "csv",
            Format::Mat => "mat",
            Format::Parquet => "parquet",
            Format::Wav => "wav",
            Format::Wavs => "wavs",
            Format::Flac => "flac",
            Format::Edf => "edf",
        }
    }

    /// Whether its files cannot do without a sampling rate.
    pub fn needs_rate(self) -> bool {
        matches!(
            self,
            Format::Wav | Format::Wavs | Format::Flac | Format::Edf
        )
    }

    /// The files that signals of these names become.
    pub fn files(self, stem: &str, names: &[String]) -> Vec<String> {
        match self {
            Format::Wavs => each_wav_files(stem, names),
            _ => vec![format!("{stem}.{}", self.ending())],
        }
    }

    /// Whether such signals can be written so; see [`strt_io::check_signals`].
    ///
    /// # Errors
    /// When they cannot.
    pub fn check(self, folder: &Path, stem: &str, signals: &Signals<'_>) -> strt_io::Result<()> {
        match self {
            Format::Wavs => check_each_wav(folder.join(format!("{stem}.wavs")), signals),
            _ => check_signals(folder.join(format!("{stem}.{}", self.ending())), signals),
        }
    }

    /// Writes signals into a folder; see [`Format::files`].
    ///
    /// # Errors
    /// When the format cannot hold them or a file cannot be written.
    pub fn write(self, folder: &Path, stem: &str, signals: &Signals<'_>) -> strt_io::Result<()> {
        match self {
            Format::Wavs => write_each_wav(folder, stem, signals),
            _ => write_signals(folder.join(format!("{stem}.{}", self.ending())), signals).map(drop),
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL
            .into_iter()
            .find(|format| format.ending() == name)
    }

    /// NPY, CSV and what else was asked for, each once.
    pub fn with_defaults(asked: &[Format]) -> Vec<Format> {
        let mut formats = vec![Format::Npy, Format::Csv];
        for &format in asked {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        formats
    }
}
