//! A recording without some of its sources.
//!
//! In: a [`Separation`], a recording with its channels, the sources of that recording and which of
//! them are to go. Out: the channels (T×m) in the units of the recording:
//!
//! ```text
//! cleaned = recorded − [M(S) − M(S')]       S': removed sources set to their mean
//! ```
//!
//! What the sources do not explain is in both and stays. Under an affine mixer the bracket is the
//! removed columns of the mixing times the removed sources less their means, whatever the others
//! do; under a nonlinear one it also depends on the sources that stay. The mean is that of the
//! training, so that cleaning a part of a recording gives that part of the cleaned recording.
//!
//! A sample with a missing value has no sources. Nothing can be removed from it, and as it may hold
//! what was to be removed it becomes missing in all channels, unless its sources are filled
//! ([`Separation::clean_filled`]).
//!
//! Where the model was trained on a recording that was filtered, resampled or the like, the
//! channels as they were recorded are cleaned by the linear map alone
//! ([`Separation::contribution`]).
//!
//! Deliberately absent: which sources to remove, and files.

use crate::separation::Separation;
use crate::{Error, Recording, Result};
use faer::{Mat, MatRef};
use strt_signal::recording::missing_samples;

/// Rows that are mixed at once.
const STRETCH: usize = 4096;

impl Separation {
    /// `recording` without the sources `removed`, counted from 0. `sources` (T×K) are those of the
    /// recording: [`Separation::sources`] for that of the training, [`Separation::transform`] for
    /// another. Samples with a missing value are missing in all channels; where nothing is removed
    /// the recording stays as it is.
    ///
    /// # Errors
    /// When channels, samples or sources do not fit together, or the model gives values that are
    /// not finite.
    pub fn clean(
        &self,
        recording: &Recording,
        sources: MatRef<'_, f64>,
        removed: &[usize],
    ) -> Result<Mat<f64>> {
        self.check_cleaning(recording, sources, removed)?;
        self.without(recording.observations(), sources, removed)
    }

    /// As [`Separation::clean`], with missing values filled by what the model expects there:
    /// the mixture of the denoised sources that stay. Values that are there in a sample with
    /// missing ones are cleaned by its denoised sources.
    ///
    /// # Errors
    /// As [`Separation::clean`], and where [`Separation::denoise`] has none.
    pub fn clean_filled(
        &self,
        recording: &Recording,
        sources: MatRef<'_, f64>,
        removed: &[usize],
    ) -> Result<Mat<f64>> {
        self.check_cleaning(recording, sources, removed)?;
        let denoised = self.denoise(recording)?;
        let filled = Mat::from_fn(sources.nrows(), sources.ncols(), |t, k| {
            if recording.is_missing(t) {
                denoised.sources()[(t, k)]
            } else {
                sources[(t, k)]
            }
        });
        self.without(recording.observations(), filled.as_ref(), removed)
    }

    /// What the sources `removed`, counted from 0, contribute to channels (T×m) that were not
    /// prepared as those of the training, in the units of the recording: A·W·(x − mean), A being
    /// their columns of the mixing and W their rows of the unmixing. As filters commute with this
    /// map, it is right for the unfiltered recording where it is right for the filtered one. The
    /// mean is that of `channels`, over complete samples, so that what is cleaned keeps its offset,
    /// which a filter may have hidden from the training. Samples with a missing value are NaN in
    /// all channels, as nothing is known of them; without sources all is 0.
    ///
    /// # Errors
    /// When there is no such map, as under a nonlinear mixer, or numbers do not fit.
    pub fn contribution(&self, channels: MatRef<'_, f64>, removed: &[usize]) -> Result<Mat<f64>> {
        let shape = |what, expected, found| {
            Err(Error::Shape {
                what,
                expected,
                found,
            })
        };
        let (Some((mixing, _)), Some((unmixing, _))) = (self.mixing(), self.unmixing()) else {
            return shape(
                "mixer, whose sources are to be removed from channels that were not prepared",
                "affine".into(),
                "nonlinear".into(),
            );
        };
        let (m, k) = mixing.shape();
        if channels.ncols() != m {
            let found = format!("{} columns", channels.ncols());
            return shape("channels to be cleaned", format!("{m} columns"), found);
        }
        if let Some(source) = removed.iter().find(|&&source| source >= k) {
            let expected = format!("numbers below {k}, counted from 0");
            return shape("sources to be removed", expected, source.to_string());
        }
        if removed.is_empty() {
            return Ok(Mat::zeros(channels.nrows(), m));
        }
        let missing = missing_samples(channels);
        let rows = || (0..channels.nrows()).filter(|&t| !missing[t]);
        let count = rows().count().max(1) as f64;
        let mean: Vec<f64> = channels
            .col_iter()
            .map(|column| rows().map(|t| column[t]).sum::<f64>() / count)
            .collect();
        let mut gone = Mat::from_fn(
            channels.nrows(),
            m,
            |t, _| {
                if missing[t] { f64::NAN } else { 0.0 }
            },
        );
        for t in rows() {
            for &source in removed {
                let value: f64 = (0..m)
                    .map(|c| unmixing[(source, c)] * (channels[(t, c)] - mean[c]))
                    .sum();
                for c in 0..m {
                    gone[(t, c)] += mixing[(c, source)] * value;
                }
            }
            if let Some(c) = (0..m).find(|&c| !gone[(t, c)].is_finite()) {
                return Err(Error::CleanNotFinite {
                    sample: t,
                    channel: self.record.channel_names[c].clone(),
                });
            }
        }
        Ok(gone)
    }

    fn check_cleaning(
        &self,
        recording: &Recording,
        sources: MatRef<'_, f64>,
        removed: &[usize],
    ) -> Result<()> {
        self.check_channels(recording)?;
        let (t, k) = (recording.n_samples(), self.record.config.n_sources);
        if sources.shape() != (t, k) {
            return Err(Error::Shape {
                what: "sources of the recording to be cleaned",
                expected: format!("{t} × {k}"),
                found: format!("{} × {}", sources.nrows(), sources.ncols()),
            });
        }
        match removed.iter().find(|&&source| source >= k) {
            None => Ok(()),
            Some(source) => Err(Error::Shape {
                what: "sources to be removed",
                expected: format!("numbers below {k}, counted from 0"),
                found: source.to_string(),
            }),
        }
    }

    fn without(
        &self,
        observations: MatRef<'_, f64>,
        sources: MatRef<'_, f64>,
        removed: &[usize],
    ) -> Result<Mat<f64>> {
        let (scale, offset) = (self.record.scaling.scale(), self.record.scaling.offset());
        let means: Vec<(usize, f64)> = removed.iter().map(|&k| (k, self.mean_of(k))).collect();
        let mut cleaned = observations.to_owned();
        for first in (0..sources.nrows()).step_by(STRETCH) {
            let n = STRETCH.min(sources.nrows() - first);
            let with = sources.subrows(first, n).to_owned();
            let mut without = with.clone();
            for &(k, mean) in &means {
                without.col_mut(k).fill(mean);
            }
            let mixed = self.mix_scaled(with.as_ref());
            let kept = self.mix_scaled(without.as_ref());
            for i in 0..n {
                let unknown = with.row(i).iter().any(|value| value.is_nan());
                for c in 0..scale.len() {
                    let value = &mut cleaned[(first + i, c)];
                    *value = match (unknown, value.is_nan()) {
                        (true, _) if removed.is_empty() => *value,
                        (true, _) => f64::NAN,
                        (false, true) => kept[(i, c)] * scale[c] + offset[c],
                        (false, false) => *value - (mixed[(i, c)] - kept[(i, c)]) * scale[c],
                    };
                    if !unknown && !value.is_finite() {
                        return Err(Error::CleanNotFinite {
                            sample: first + i,
                            channel: self.record.channel_names[c].clone(),
                        });
                    }
                }
            }
        }
        Ok(cleaned)
    }

    /// Mean of a source over the samples of the training.
    fn mean_of(&self, k: usize) -> f64 {
        let values = self.record.sources.col(k).iter();
        let (sum, count) = values
            .filter(|value| !value.is_nan())
            .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    }
}
