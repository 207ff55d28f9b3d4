//! Scores of many estimates against one reference, which is standardised once.
//!
//! In: a [`Reference`] and the recording whose sources it holds, then estimates of a run step by
//! step. Out: a [`Matching`] of each. Samples that are missing in the recording take no part.

use faer::{Mat, MatRef};
use strt_signal::Recording;

use super::matching::{correlations, standardized_rows};
use super::{Matching, Reference};
use crate::error::{Error, Result};

/// A reference, made ready for estimates that are complete.
#[derive(Clone, Debug)]
pub struct Scorer {
    /// Samples of the recording that are not missing; the others take no part in a score.
    kept: Vec<usize>,
    /// True sources, standardised over the kept samples, one column each.
    reference: Mat<f64>,
}

impl Scorer {
    /// For the sources of `recording`, of which `reference` holds the true ones.
    ///
    /// # Errors
    /// When the numbers of samples differ, or fewer than two samples are complete.
    pub fn new(reference: &Reference, recording: &Recording) -> Result<Scorer> {
        if reference.n_samples() != recording.n_samples() {
            return Err(Error::ReferenceLength {
                expected: recording.n_samples(),
                found: reference.n_samples(),
            });
        }
        let kept: Vec<usize> = (0..recording.n_samples())
            .filter(|&t| !recording.is_missing(t))
            .collect();
        if kept.len() < 2 {
            return Err(Error::TooFewSamples {
                n_complete: kept.len(),
                n_samples: recording.n_samples(),
            });
        }
        Ok(Scorer {
            reference: standardized_rows(reference.sources(), &kept),
            kept,
        })
    }

    /// The matching of estimated sources (T × K), as [`match_sources`](super::match_sources) finds
    /// it, whatever the estimates are where the recording is missing. Should they be infinite
    /// elsewhere, the correlations and the MAC are NaN.
    pub fn score(&self, estimated: MatRef<'_, f64>) -> Matching {
        let estimated = standardized_rows(estimated, &self.kept);
        let signed = correlations(estimated.as_ref(), self.reference.as_ref());
        Matching::from_correlations(signed.as_ref())
    }
}
