//! AMUSE: eigenvectors of one lagged covariance.
//!
//! Sources with different autocorrelations r_k(h) at one lag h make the symmetrised lagged
//! covariance of the whitened components R_h = A·diag(r_k)·Aᵀ, so A is its matrix of eigenvectors.
//! There is nothing to iterate: the report says "solved directly". Sources whose autocorrelations
//! at that lag are equal stay mixed.
//!
//! L. Tong, V. C. Soon, Y. F. Huang and R. Liu, *AMUSE: a new blind identification algorithm*,
//! ISCAS 1990.

use faer::Side;

use super::{Components, Convergence, Method, Unmixing, ensure, ensure_samples};
use crate::error::{Error, Result};

/// AMUSE with its option.
///
/// ```
/// use strt_classic::{Amuse, Method};
/// # let recording = strt_synth::ProblemSpec::default().generate()?.recording()?;
/// let found = Amuse { lag: 5 }.separate(&recording, 3)?;
/// assert_eq!(found.convergence().to_string(), "converged: solved directly");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amuse {
    /// h, in samples. Default 1.
    pub lag: usize,
}

impl Default for Amuse {
    fn default() -> Self {
        Amuse { lag: 1 }
    }
}

impl Method for Amuse {
    fn name(&self) -> &'static str {
        "amuse"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        self.lag.saturating_add(n_sources + 1)
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        ensure(
            self.lag >= 1,
            "amuse.lag",
            self.lag,
            "expected a lag of at least 1 sample",
        )?;
        ensure_samples(self, components)?;
        let covariance = components.lagged_covariance(self.lag)?;
        let decomposition = covariance
            .self_adjoint_eigen(Side::Lower)
            .map_err(|reason| Error::Eigendecomposition { reason })?;
        Ok(Unmixing {
            matrix: decomposition.U().to_owned(),
            convergence: Convergence::direct(),
        })
    }
}
