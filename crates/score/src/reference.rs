//! The true sources of a problem whose answer is known.
//!
//! In: a T × K matrix. Out: a [`Reference`] that can be compared with, and with nothing else to do:
//! it has no accessor for training to use.

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use strt_signal::moments::{Moments, standardize_columns};

/// True sources, T × K: finite, none of them constant.
#[derive(Clone, Debug)]
pub struct Reference {
    sources: Mat<f64>,
}

impl Reference {
    /// Takes the true sources, one column each.
    ///
    /// # Errors
    /// Without columns or rows, and for columns that are constant or hold values that are not
    /// finite.
    pub fn new(sources: Mat<f64>) -> Result<Self> {
        if sources.nrows() == 0 || sources.ncols() == 0 {
            return Err(Error::EmptyReference {
                found: sources.shape(),
            });
        }
        for (source, column) in sources.col_iter().enumerate() {
            if let Some(t) = column.iter().position(|value| !value.is_finite()) {
                return Err(Error::ReferenceValue {
                    source_index: source,
                    sample: t,
                    found: column[t],
                });
            }
            if Moments::of_column(column).constant {
                return Err(Error::ConstantReference {
                    source_index: source,
                });
            }
        }
        Ok(Self { sources })
    }

    /// Number of samples T.
    pub fn n_samples(&self) -> usize {
        self.sources.nrows()
    }

    /// Number of sources K.
    pub fn n_sources(&self) -> usize {
        self.sources.ncols()
    }

    /// The sources with mean 0 and standard deviation 1, T × K, to be drawn beside
    /// [`align`](super::align())ed estimates.
    pub fn z_score(&self) -> Mat<f64> {
        standardize_columns(self.sources())
    }

    /// T × K, for this module's own comparisons.
    pub(super) fn sources(&self) -> MatRef<'_, f64> {
        self.sources.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_references_are_refused() {
        let varying = |t: usize, source: usize| (t * (source + 1)) as f64;
        let reference = Reference::new(Mat::from_fn(4, 2, varying)).unwrap();
        assert_eq!((reference.n_samples(), reference.n_sources()), (4, 2));
        assert!((reference.z_score().col(1).iter().sum::<f64>()).abs() < 1e-12);
        let refused = |sources| Reference::new(sources).unwrap_err().to_string();
        assert!(refused(Mat::zeros(0, 2)).contains("0 × 2"));
        assert!(
            refused(Mat::from_fn(4, 2, |t, source| varying(t, source) * source as f64))
                .contains("constant")
        );
        let message = refused(Mat::from_fn(4, 2, |t, source| {
            if (t, source) == (3, 1) {
                f64::NAN
            } else {
                varying(t, source)
            }
        }));
        assert!(message.contains("source 2, sample 4"), "{message}");
    }
}
