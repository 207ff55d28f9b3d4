//! SOBI: the rotation that makes lagged covariances at many lags as diagonal as possible.
//!
//! Sources with different spectra make every symmetrised lagged covariance of the whitened
//! components R_h = A·diag(r_k(h))·Aᵀ with the same rotation A, which is found from all lags by
//! Jacobi rotations ([`diagonalize::orthogonal`](super::diagonalize::orthogonal)). The criterion is
//! the largest sine of a rotation in the last sweep. Lagged products that touch a missing sample
//! are left out.
//!
//! A. Belouchrani, K. Abed-Meraim, J.-F. Cardoso and E. Moulines, *A blind source separation
//! technique using second-order statistics*, IEEE Trans. Signal Processing 45(2), 1997. It sees
//! nothing but second-order statistics: sources with equal spectra stay mixed.

use super::diagonalize::{self, Diagonalized};
use super::{Components, Method, Unmixing, ensure, ensure_limits, ensure_samples};
use crate::error::Result;

/// SOBI with its options.
///
/// ```
/// use strt_classic::{Method, Sobi};
/// # let recording = strt_synth::ProblemSpec::default().generate()?.recording()?;
/// let found = Sobi { lags: vec![1, 2, 4, 8, 16, 32], ..Sobi::default() }.separate(&recording, 3)?;
/// assert!(found.convergence().converged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sobi {
    /// Lags in samples, in any order, each at least 1. Default 1 to 29.
    pub lags: Vec<usize>,
    /// What the sine of every rotation of a sweep must fall below. Default 1e-8.
    pub tolerance: f64,
    /// Sweeps at most. Default 200.
    pub max_sweeps: usize,
}

impl Default for Sobi {
    fn default() -> Self {
        Sobi {
            lags: (1..30).collect(),
            tolerance: diagonalize::TOLERANCE,
            max_sweeps: diagonalize::MAX_SWEEPS,
        }
    }
}

impl Method for Sobi {
    fn name(&self) -> &'static str {
        "sobi"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        let longest = self.lags.iter().copied().max().unwrap_or(0);
        longest.saturating_add(n_sources + 1)
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        ensure(
            !self.lags.is_empty() && !self.lags.contains(&0),
            "sobi.lags",
            &self.lags,
            "expected at least one lag, each of at least 1 sample",
        )?;
        ensure_limits(
            ("sobi.tolerance", "sobi.max_sweeps"),
            self.tolerance,
            self.max_sweeps,
        )?;
        ensure_samples(self, components)?;
        let lags = components.lags_in_pieces(&self.lags)?;
        let covariances = lags
            .iter()
            .map(|&lag| components.lagged_covariance(lag))
            .collect::<Result<Vec<_>>>()?;
        let Diagonalized {
            matrix,
            convergence,
        } = diagonalize::orthogonal(covariances, self.tolerance, self.max_sweeps)?;
        Ok(Unmixing {
            matrix,
            convergence,
        })
    }
}
