//! The formats in which separated sources can be written.

use serde::{Deserialize, Serialize};

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
    /// Sound.
    Wav,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [
        Format::Npy,
        Format::Csv,
        Format::Mat,
        Format::Parquet,
        Format::Wav,
    ];

    /// Its name, which is also the ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Csv => "csv",
            Format::Mat => "mat",
            Format::Parquet => "parquet",
            Format::Wav => "wav",
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
