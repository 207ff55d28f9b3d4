//! A recording: the validated observations Y (T samples × m channels) from which everything starts.
//!
//! In: raw numbers from a file or an array. Out: a [`Recording`] that the rest of the library need
//! not check again: at least one sample and one channel, no infinities, every channel observed, at
//! least one complete sample, unique channel names. It does not fill gaps, rescale or filter; see
//! [`crate::preprocess`].

use std::collections::HashSet;
use std::sync::Arc;

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::pieces::Pieces;

/// Observations of m channels at T instants, immutable once built.
///
/// NaN marks a missing value. A *sample* (one row, one instant) is missing when any of its channels
/// is. Samples follow each other in time within a piece ([`Recording::pieces`]); unless told
/// otherwise, a recording is one.
#[derive(Clone, Debug)]
pub struct Recording {
    /// T × m, shared with whoever trains on it.
    observations: Arc<Mat<f64>>,
    /// One flag a sample; `None` when no sample is missing.
    missing: Option<Vec<bool>>,
    pieces: Pieces,
    channel_names: Vec<String>,
    sampling_rate: Option<f64>,
}

impl Recording {
    /// Builds a recording from row-major values: the m channels of the first sample, then of the
    /// second, …
    ///
    /// # Errors
    /// When the length is not a multiple of `n_channels`, and as for [`Recording::from_mat`].
    pub fn from_rows(values: &[f64], n_channels: usize) -> Result<Self> {
        if n_channels == 0 {
            return Err(Error::NoChannels);
        }
        if !values.len().is_multiple_of(n_channels) {
            return Err(Error::PartialSample {
                n_values: values.len(),
                n_channels,
            });
        }
        Self::from_mat(
            MatRef::from_row_major_slice(values, values.len() / n_channels, n_channels).to_owned(),
        )
    }

    /// Builds a recording from a T × m matrix without copying it.
    ///
    /// # Errors
    /// Without samples or channels, with infinite values, with a channel that is missing
    /// throughout, or when no sample is complete.
    pub fn from_mat(observations: Mat<f64>) -> Result<Self> {
        if observations.ncols() == 0 {
            return Err(Error::NoChannels);
        }
        if observations.nrows() == 0 {
            return Err(Error::NoSamples);
        }
        let channel_names: Vec<String> = (1..=observations.ncols())
            .map(|number| format!("ch{number}"))
            .collect();
        for (channel, name) in channel_names.iter().enumerate() {
            check_channel(observations.col_as_slice(channel), name)?;
        }
        let missing = missing_samples(observations.as_ref());
        if missing.iter().all(|&is_missing| is_missing) {
            return Err(Error::NoCompleteSample {
                n_samples: observations.nrows(),
            });
        }
        let missing = missing.contains(&true).then_some(missing);
        Ok(Self {
            pieces: Pieces::whole(observations.nrows()),
            observations: Arc::new(observations),
            missing,
            channel_names,
            sampling_rate: None,
        })
    }

    /// Says how many samples were taken per second (or per any other unit of time).
    ///
    /// # Errors
    /// When the rate is not a positive, finite number.
    pub fn with_sampling_rate(mut self, sampling_rate: f64) -> Result<Self> {
        if !(sampling_rate.is_finite() && sampling_rate > 0.0) {
            return Err(Error::SamplingRate {
                found: sampling_rate,
            });
        }
        self.sampling_rate = Some(sampling_rate);
        Ok(self)
    }

    /// Says that the samples are pieces in time laid end to end, such as files or trials: the first
    /// `lengths[0]` samples, then `lengths[1]`, …, all of one mixing. Nothing that reads several
    /// samples together (windows, lagged covariances, filters) reads across a boundary. The mean of
    /// a channel is that of all pieces.
    ///
    /// ```
    /// use strt_signal::Recording;
    ///
    /// let trials = Recording::from_rows(&[1.0, 2.0, 3.0, 4.0, 5.0], 1)?.with_pieces(&[2, 3])?;
    /// assert!(trials.pieces().ranges().eq([0..2, 2..5]));
    /// # Ok::<(), strt_signal::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a length is 0, or the lengths do not add up to the number of samples.
    pub fn with_pieces(mut self, lengths: &[usize]) -> Result<Self> {
        self.pieces = Pieces::new(lengths, self.n_samples())?;
        Ok(self)
    }

    /// Names the channels, in column order. Without this call they are `ch1`, `ch2`, …
    ///
    /// # Errors
    /// When the number of names is not the number of channels, or two names are equal.
    pub fn with_channel_names(mut self, channel_names: Vec<String>) -> Result<Self> {
        if channel_names.len() != self.n_channels() {
            return Err(Error::ChannelNames {
                n_names: channel_names.len(),
                n_channels: self.n_channels(),
            });
        }
        let mut seen = HashSet::new();
        if let Some(twice) = channel_names
            .iter()
            .find(|name| !seen.insert(name.as_str()))
        {
            return Err(Error::RepeatedName {
                name: twice.clone(),
            });
        }
        self.channel_names = channel_names;
        Ok(self)
    }

    /// The observations, T × m; missing values are NaN.
    pub fn observations(&self) -> MatRef<'_, f64> {
        (*self.observations).as_ref()
    }

    /// The observations without a copy of them.
    pub fn shared(&self) -> Arc<Mat<f64>> {
        self.observations.clone()
    }

    /// Number of samples T, missing ones included.
    pub fn n_samples(&self) -> usize {
        self.observations.nrows()
    }

    /// Number of channels m.
    pub fn n_channels(&self) -> usize {
        self.observations.ncols()
    }

    /// Channel names, in column order.
    pub fn channel_names(&self) -> &[String] {
        &self.channel_names
    }

    /// Which samples follow each other in time: one piece where nothing else was said.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// Samples per unit of time, where known.
    pub fn sampling_rate(&self) -> Option<f64> {
        self.sampling_rate
    }

    /// A number that tells recordings apart: 64-bit FNV-1a over the shape and the bits of all
    /// values, every NaN alike, and the lengths of its pieces where there are several. A checkpoint keeps it, so that a run is not continued on other
    /// data.
    pub fn fingerprint(&self) -> u64 {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01b3;
        let shape = [self.n_samples() as u64, self.n_channels() as u64];
        let values = self.observations().col_iter().flat_map(|column| {
            column
                .iter()
                .map(|value| if value.is_nan() { f64::NAN } else { *value }.to_bits())
        });
        let several = (!self.pieces.is_whole()).then(|| self.pieces.lengths());
        let lengths = several.into_iter().flatten().map(|length| length as u64);
        shape
            .into_iter()
            .chain(values)
            .chain(lengths)
            .fold(OFFSET, |hash, word| (hash ^ word).wrapping_mul(PRIME))
    }

    /// One flag a sample, true where any channel is missing; `None` when the recording is complete.
    pub fn missing(&self) -> Option<&[bool]> {
        self.missing.as_deref()
    }

    /// Whether any channel is missing at sample `t`; false beyond the end.
    pub fn is_missing(&self, t: usize) -> bool {
        self.missing
            .as_ref()
            .is_some_and(|missing| missing.get(t).copied().unwrap_or(false))
    }

    /// Number of missing samples.
    pub fn n_missing(&self) -> usize {
        self.missing.as_ref().map_or(0, |missing| {
            missing.iter().filter(|&&is_missing| is_missing).count()
        })
    }
}

/// One flag a row, true where any column is NaN: the library's one definition of a missing sample.
pub fn missing_samples(values: MatRef<'_, f64>) -> Vec<bool> {
    let mut missing = vec![false; values.nrows()];
    // Column by column, as the values lie in memory.
    for column in values.col_iter() {
        for (flag, value) in missing.iter_mut().zip(column.iter()) {
            *flag |= value.is_nan();
        }
    }
    missing
}

fn check_channel(values: &[f64], name: &str) -> Result<()> {
    if let Some(t) = values.iter().position(|value| value.is_infinite()) {
        return Err(Error::InfiniteValue {
            channel: name.into(),
            sample: t,
            found: values[t],
        });
    }
    if values.iter().all(|value| value.is_nan()) {
        return Err(Error::EmptyChannel {
            channel: name.into(),
            n_samples: values.len(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    fn refused(result: Result<Recording>, expected_parts: &[&str]) {
        let message = result.expect_err("should be refused").to_string();
        for part in expected_parts {
            assert!(
                message.contains(part),
                "\"{message}\" should contain \"{part}\""
            );
        }
    }

    #[test]
    fn row_major_values_land_in_their_place() {
        let recording = Recording::from_rows(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap();
        assert_eq!((recording.n_samples(), recording.n_channels()), (3, 2));
        assert_eq!(recording.observations()[(1, 0)], 3.0);
        assert_eq!(recording.observations()[(2, 1)], 6.0);
        assert_eq!(recording.channel_names(), ["ch1", "ch2"]);
        assert_eq!(recording.sampling_rate(), None);
        assert!(recording.missing().is_none());
        assert_eq!(recording.n_missing(), 0);
        assert!(!recording.is_missing(0) && !recording.is_missing(99));
    }

    #[test]
    fn pieces_are_part_of_what_a_recording_is() {
        let whole = || Recording::from_rows(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
        let pieces = |lengths: &[usize]| whole().with_pieces(lengths).unwrap();
        assert!(whole().pieces().is_whole());
        assert!(pieces(&[1, 3]).pieces().ranges().eq([0..1, 1..4]));
        assert_eq!(pieces(&[4]).fingerprint(), whole().fingerprint());
        assert_ne!(pieces(&[1, 3]).fingerprint(), whole().fingerprint());
        assert_ne!(pieces(&[1, 3]).fingerprint(), pieces(&[3, 1]).fingerprint());
        refused(whole().with_pieces(&[1, 2]), &["together 3", "4 samples"]);
    }

    #[test]
    fn from_mat_keeps_the_allocation() {
        let values = Mat::from_fn(4, 2, |t, channel| (t * 2 + channel) as f64);
        let address = values.as_ptr();
        assert_eq!(
            Recording::from_mat(values).unwrap().observations().as_ptr(),
            address
        );
    }

    #[test]
    fn a_sample_is_missing_when_any_channel_is() {
        let recording = Recording::from_rows(&[1.0, 2.0, NAN, 4.0, 5.0, 6.0, 7.0, NAN], 2).unwrap();
        assert_eq!(recording.missing().unwrap(), [false, true, false, true]);
        assert_eq!(recording.n_missing(), 2);
        assert!(recording.is_missing(1) && recording.is_missing(3) && !recording.is_missing(2));
    }

    #[test]
    fn unusable_recordings_are_refused_with_place_and_remedy() {
        refused(Recording::from_rows(&[], 2), &["0 samples", "empty"]);
        refused(Recording::from_rows(&[1.0], 0), &["0 channels"]);
        refused(Recording::from_mat(Mat::zeros(3, 0)), &["0 channels"]);
        refused(
            Recording::from_rows(&[1.0, 2.0, 3.0], 2),
            &["3 values", "2 channels", "1 are left over"],
        );
        refused(
            Recording::from_rows(&[1.0, 2.0, 3.0, f64::NEG_INFINITY], 2),
            &["channel ch2", "sample 1", "-inf", "missing"],
        );
        refused(
            Recording::from_rows(&[1.0, NAN, 3.0, NAN], 2),
            &["channel ch2", "all 2 values", "drop"],
        );
        refused(
            Recording::from_rows(&[1.0, NAN, NAN, 4.0], 2),
            &["each of the 2 samples", "drop"],
        );
    }

    #[test]
    fn names_and_rate_are_checked() {
        let recording = || Recording::from_rows(&[1.0, 2.0], 2).unwrap();
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| name.to_string())
                .collect::<Vec<_>>()
        };
        let named = recording()
            .with_channel_names(names(&["Fz", "Cz"]))
            .unwrap()
            .with_sampling_rate(250.0)
            .unwrap();
        assert_eq!(named.channel_names(), ["Fz", "Cz"]);
        assert_eq!(named.sampling_rate(), Some(250.0));
        refused(
            recording().with_channel_names(names(&["Fz"])),
            &["1 channel names", "2 channels"],
        );
        refused(
            recording().with_channel_names(names(&["Fz", "Fz"])),
            &["\"Fz\"", "rename"],
        );
        for rate in [0.0, -1.0, NAN, f64::INFINITY] {
            refused(
                recording().with_sampling_rate(rate),
                &["sampling rate", "above 0"],
            );
        }
    }
}
