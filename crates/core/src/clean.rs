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
//! Deliberately absent: which sources to remove, and files.

use crate::separation::Separation;
use crate::{Error, Recording, Result};
use faer::{Mat, MatRef};

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
