//! Per-channel centering and scaling.
//!
//! In: observations (T × m). Out: (y − offset)/scale for every channel, and its inverse. Rows with
//! a missing value take no part in the fit; NaN stays NaN. It does not look at channels together;
//! see [`super::Whitening`].

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::moments::Moments;
use crate::recording::missing_samples;

/// Which of the two operations are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelScalingOptions {
    /// Subtract the mean of every channel.
    pub center: bool,
    /// Divide every channel by its standard deviation, so that its unit does not matter.
    pub scale: bool,
}

impl Default for ChannelScalingOptions {
    fn default() -> Self {
        Self {
            center: true,
            scale: true,
        }
    }
}

/// The fitted offset and scale of every channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelScaling {
    offset: Vec<f64>,
    scale: Vec<f64>,
}

impl ChannelScaling {
    /// Fits offset (mean) and scale (population standard deviation) on the complete rows of
    /// `observations`.
    ///
    /// A constant channel keeps scale 1: it becomes zero by centering and lowers the rank, which
    /// [`super::Whitening::fit`] reports by name.
    ///
    /// # Errors
    /// When no row is complete, or a channel holds values that are infinite or too large to have a
    /// mean.
    pub fn fit(observations: MatRef<'_, f64>, options: ChannelScalingOptions) -> Result<Self> {
        let missing = missing_samples(observations);
        if missing.iter().all(|&is_missing| is_missing) {
            return Err(Error::NothingToScale {
                n_samples: observations.nrows(),
            });
        }
        let mut offset = Vec::with_capacity(observations.ncols());
        let mut scale = Vec::with_capacity(observations.ncols());
        for (channel, column) in observations.col_iter().enumerate() {
            let complete = (0..column.nrows())
                .filter(|&t| !missing[t])
                .map(|t| column[t]);
            let moments = Moments::of(complete);
            if !(moments.mean.is_finite() && moments.deviation.is_finite()) {
                return Err(Error::TooLargeToAverage { channel });
            }
            offset.push(if options.center { moments.mean } else { 0.0 });
            scale.push(if options.scale && !moments.constant {
                moments.deviation
            } else {
                1.0
            });
        }
        Ok(Self { offset, scale })
    }

    /// Rebuilds a saved scaling.
    ///
    /// # Errors
    /// When the lengths differ, a number is not finite or a scale is not above 0.
    pub fn from_parts(offset: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        if offset.len() != scale.len() {
            return Err(Error::SavedScalingLengths {
                n_offsets: offset.len(),
                n_scales: scale.len(),
            });
        }
        if !offset.iter().all(|value| value.is_finite()) {
            return Err(Error::SavedOffset);
        }
        if !scale.iter().all(|&value| value.is_finite() && value > 0.0) {
            return Err(Error::SavedScale);
        }
        Ok(Self { offset, scale })
    }

    /// Number of channels m.
    pub fn n_channels(&self) -> usize {
        self.offset.len()
    }

    /// What is subtracted from each channel.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// What each channel is then divided by.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// (y − offset)/scale, channel by channel.
    ///
    /// # Errors
    /// When the number of columns is not the number of channels fitted.
    pub fn apply(&self, observations: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check("channel scaling", observations)?;
        Ok(Mat::from_fn(
            observations.nrows(),
            observations.ncols(),
            |t, channel| (observations[(t, channel)] - self.offset[channel]) / self.scale[channel],
        ))
    }

    /// y·scale + offset: back to the units of the recording.
    ///
    /// # Errors
    /// When the number of columns is not the number of channels fitted.
    pub fn invert(&self, prepared: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.check("inverse channel scaling", prepared)?;
        Ok(Mat::from_fn(
            prepared.nrows(),
            prepared.ncols(),
            |t, channel| prepared[(t, channel)] * self.scale[channel] + self.offset[channel],
        ))
    }

    fn check(&self, map: &'static str, values: MatRef<'_, f64>) -> Result<()> {
        if values.ncols() == self.n_channels() {
            return Ok(());
        }
        Err(Error::Columns {
            map,
            expected: self.n_channels(),
            of: "channels",
            found: values.ncols(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAN: f64 = f64::NAN;

    fn rows(values: &[f64], n_channels: usize) -> Mat<f64> {
        MatRef::from_row_major_slice(values, values.len() / n_channels, n_channels).to_owned()
    }

    #[test]
    fn only_complete_rows_are_fitted_and_nan_stays() {
        // The 1000 sits in a row with a missing value and must not count.
        let observations = rows(&[1.0, 4.0, 1000.0, NAN, 3.0, 8.0], 2);
        let scaling =
            ChannelScaling::fit(observations.as_ref(), ChannelScalingOptions::default()).unwrap();
        assert_eq!(scaling.offset(), [2.0, 6.0]);
        assert_eq!(scaling.scale(), [1.0, 2.0]);
        let prepared = scaling.apply(observations.as_ref()).unwrap();
        assert_eq!((prepared[(0, 0)], prepared[(2, 1)]), (-1.0, 1.0));
        assert!(prepared[(1, 1)].is_nan());
    }

    #[test]
    fn options_switch_each_operation_off() {
        let observations = rows(&[1.0, 4.0, 3.0, 8.0], 2);
        let fit = |center, scale| {
            ChannelScaling::fit(
                observations.as_ref(),
                ChannelScalingOptions { center, scale },
            )
            .unwrap()
        };
        assert_eq!(
            fit(false, true),
            ChannelScaling::from_parts(vec![0.0, 0.0], vec![1.0, 2.0]).unwrap()
        );
        assert_eq!(
            fit(true, false),
            ChannelScaling::from_parts(vec![2.0, 6.0], vec![1.0, 1.0]).unwrap()
        );
        assert_eq!(
            fit(false, false).apply(observations.as_ref()).unwrap(),
            observations
        );
    }

    #[test]
    fn a_constant_channel_becomes_zero_and_comes_back() {
        let observations = rows(&[0.1, 1.0, 0.1, 2.0, 0.1, 4.0], 2);
        let scaling =
            ChannelScaling::fit(observations.as_ref(), ChannelScalingOptions::default()).unwrap();
        assert_eq!(scaling.scale()[0], 1.0);
        let prepared = scaling.apply(observations.as_ref()).unwrap();
        assert!((0..3).all(|t| prepared[(t, 0)] == 0.0));
        assert_eq!(scaling.invert(prepared.as_ref()).unwrap()[(2, 0)], 0.1);
    }

    #[test]
    fn wrong_shapes_and_saved_states_are_refused() {
        let scaling = ChannelScaling::from_parts(vec![0.0; 2], vec![1.0; 2]).unwrap();
        assert!(matches!(
            scaling.apply(Mat::zeros(2, 3).as_ref()),
            Err(Error::Columns { .. })
        ));
        assert!(matches!(
            scaling.invert(Mat::zeros(2, 1).as_ref()),
            Err(Error::Columns { .. })
        ));
        assert!(ChannelScaling::from_parts(vec![0.0], vec![1.0; 2]).is_err());
        assert!(ChannelScaling::from_parts(vec![NAN], vec![1.0]).is_err());
        assert!(ChannelScaling::from_parts(vec![0.0], vec![0.0]).is_err());
        let gaps = rows(&[NAN, 1.0, 1.0, NAN], 2);
        assert!(ChannelScaling::fit(gaps.as_ref(), ChannelScalingOptions::default()).is_err());
    }

    proptest! {
        #[test]
        fn apply_then_invert_is_the_identity(
            values in proptest::collection::vec(-1e6..1e6f64, 3 * 7),
            center: bool,
            scale: bool,
        ) {
            let observations = rows(&values, 3);
            let options = ChannelScalingOptions { center, scale };
            let scaling = ChannelScaling::fit(observations.as_ref(), options).unwrap();
            let prepared = scaling.apply(observations.as_ref()).unwrap();
            let back = scaling.invert(prepared.as_ref()).unwrap();
            for t in 0..7 {
                for channel in 0..3 {
                    prop_assert!((back[(t, channel)] - observations[(t, channel)]).abs() < 1e-8);
                }
            }
        }
    }
}
