//! An array of a file that knows nothing of samples and channels (NPY, NPZ, MATLAB, HDF5) → a block
//! of numbers that does.
//!
//! Rows are samples and columns are channels unless the caller says otherwise; an array that looks
//! as if it were the other way round is read as it is and gets a warning.

#[cfg(any(feature = "npz", feature = "mat"))]
use super::assemble::shortened;
use super::numbers::{Block, Endian, Number, Order};
#[cfg(any(feature = "npz", feature = "mat"))]
use super::selection::not_among;
use super::table::Contents;
#[cfg(any(feature = "npz", feature = "mat"))]
use super::{ReadOptions, table::Variable};
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
}

impl Array {
    /// Whether it can be a recording.
    #[cfg(any(feature = "npz", feature = "mat"))]
    pub fn is_candidate(&self) -> bool {
        matches!(self.shape.len(), 1 | 2) && self.shape.iter().any(|&n| n > 1)
    }

    /// How many numbers there are; `None` when no file can hold so many.
    #[cfg(any(feature = "npz", feature = "mat"))]
    pub fn n_values(&self) -> Option<usize> {
        self.shape
            .iter()
            .try_fold(1usize, |product, &n| product.checked_mul(n))
    }

    /// The array as samples × channels, or as channels × samples when it is to be transposed.
    /// `place` names it.
    pub fn block(&self, path: &Path, place: &str, transpose: bool) -> Result<Block> {
        let (rows, columns) = match (self.shape.as_slice(), transpose) {
            (&[n], _) => (n, 1),
            (&[rows, columns], false) => (rows, columns),
            (&[rows, columns], true) => (columns, rows),
            _ => {
                return Err(Error::content(
                    path,
                    place,
                    "one or two dimensions (samples × channels)",
                    format!("{} ({:?})", self.shape.len(), self.shape),
                    "save a slice of it as an array of its own",
                ));
            }
        };
        // Rows of the array are what the file calls rows; transposing swaps which of the two runs
        // fastest.
        let order = if self.column_major != transpose {
            Order::Planar
        } else {
            Order::Interleaved
        };
        let block = Block {
            number: self.number,
            endian: self.endian,
            order,
            n_samples: rows,
            n_channels: columns,
        };
        match (rows, columns) {
            (_, MOST_CHANNELS..) => Err(Error::content(
                path,
                place,
                format!("fewer than {MOST_CHANNELS} channels"),
                columns.to_string(),
                "transpose the array if its columns are samples",
            )),
            (0, _) | (_, 0) => Err(Error::content(
                path,
                place,
                "at least one sample and one channel",
                format!("shape {:?}", self.shape),
                "check that this is the array that was meant",
            )),
            _ => Ok(block),
        }
    }
}

/// What a block holds, with a warning when it seems to lie on its side.
pub(crate) fn contents(block: &Block, rate: Option<f64>, transposed: bool) -> Contents {
    let (n_samples, n_channels) = (block.n_samples, block.n_channels);
    let mut contents = Contents::plain(n_samples, n_channels, rate);
    let way = if transposed { "columns" } else { "rows" };
    contents.detected(format!(
        "{n_samples} samples × {n_channels} channels of {:?}; {way} are samples",
        block.number
    ));
    if n_channels > n_samples {
        contents.warn(format!(
            "more channels ({n_channels}) than samples ({n_samples}): \
             is the array to be transposed?"
        ));
    }
    contents
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
    let candidates: Vec<usize> = (0..variables.len()).filter(|&i| is_candidate(i)).collect();
    match candidates.as_slice() {
        [only] => Ok(Some(*only)),
        // The error of the only variable says more than that there is no candidate.
        [] if variables.len() == 1 => Ok(Some(0)),
        [] => Err(Error::content(
            path,
            "variables",
            "an array of real numbers with one or two dimensions",
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
    let plain: String = name
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .collect();
    known.contains(&plain.as_str())
}

/// Whether so many packed bytes can hold so many: deflate packs at most 1032 to 1.
#[cfg(any(feature = "npz", feature = "mat"))]
pub(crate) fn can_hold(packed: u64, unpacked: u64) -> bool {
    unpacked <= packed.saturating_mul(1032).saturating_add(1 << 10)
}
