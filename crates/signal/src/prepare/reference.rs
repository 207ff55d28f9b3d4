//! Channels told against another reference: the mean of all of them, or one of them.
//!
//! A potential is a difference to somewhere. A reference is a linear map of the channels of one
//! sample, so that it commutes with filters. Against one of the channels that channel is 0 and is
//! left out; against their mean the channels add up to 0, so that there is one source less than
//! channels.

use crate::error::{Error, Result};
use faer::{Mat, MatRef};

/// What channels are told against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The mean of all channels.
    Average,
    /// One channel, counted from 0.
    Channel(usize),
}

impl Reference {
    /// Refuses a reference that leaves nothing, or that is not there.
    ///
    /// # Errors
    /// [`Error::Preparation`].
    pub fn check(self, n_channels: usize) -> Result<()> {
        if n_channels < 2 {
            let found = format!("{n_channels}");
            let expected = "at least 2 channels";
            return Err(Error::preparation(
                "rereference",
                expected,
                found,
                "leave it out",
            ));
        }
        match self {
            Reference::Channel(channel) if channel >= n_channels => Err(Error::preparation(
                "rereference",
                format!("one of the {n_channels} channels"),
                format!("channel {}", channel + 1),
                "correct it",
            )),
            _ => Ok(()),
        }
    }

    /// The channels (columns) against it. One that is missing makes all of its sample missing.
    pub fn refer(self, values: MatRef<'_, f64>) -> Mat<f64> {
        let kept = self.kept(values.ncols());
        let level: Vec<f64> = match self {
            Reference::Channel(channel) => values.col(channel).iter().copied().collect(),
            Reference::Average => {
                let mut sums = vec![0.0; values.nrows()];
                for column in values.col_iter() {
                    for (sum, value) in sums.iter_mut().zip(column.iter()) {
                        *sum += value;
                    }
                }
                let n = values.ncols() as f64;
                sums.into_iter().map(|sum| sum / n).collect()
            }
        };
        Mat::from_fn(values.nrows(), kept.len(), |t, c| {
            values[(t, kept[c])] - level[t]
        })
    }

    /// The channels that are left, counted from 0.
    pub fn kept(self, n_channels: usize) -> Vec<usize> {
        let gone = match self {
            Reference::Average => None,
            Reference::Channel(channel) => Some(channel),
        };
        (0..n_channels)
            .filter(|&channel| Some(channel) != gone)
            .collect()
    }

    pub(super) fn names(self, names: &[String]) -> Vec<String> {
        let kept = self.kept(names.len()).into_iter();
        kept.map(|channel| names[channel].clone()).collect()
    }

    pub(super) fn describe(self, names: &[String]) -> String {
        match self {
            Reference::Average => "average reference".into(),
            Reference::Channel(channel) => {
                format!("reference {}, which is left out", names[channel])
            }
        }
    }
}
