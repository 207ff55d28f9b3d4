//! JADE: the rotation that makes all fourth-order cumulant matrices as diagonal as possible.
//!
//! For independent sources every cumulant matrix Q_ij of the whitened components (see
//! `cumulants.rs`) is A·D·Aᵀ with one rotation A and its own diagonal D. A is found from all
//! K(K+1)/2 of them by Jacobi rotations
//! ([`diagonalize::orthogonal`](super::diagonalize::orthogonal)); the criterion is the largest sine
//! of a rotation in the last sweep.
//!
//! J.-F. Cardoso and A. Souloumiac, *Blind beamforming for non-Gaussian signals*, IEE Proceedings F
//! 140(6), 1993. It has no start and no random numbers; at most one source may have zero kurtosis.
//! Memory grows with K⁴.

use super::cumulants::cumulant_matrices;
use super::diagonalize::{self, Diagonalized};
use super::{Components, Method, Unmixing, ensure_limits, ensure_samples};
use crate::error::Result;

/// JADE with its options.
///
/// ```
/// use strt_classic::{Jade, Method};
/// # let problem = strt_synth::ProblemSpec {
/// #     kind: strt_synth::SourceKind::NonSmooth, ..Default::default() }.generate()?;
/// # let recording = problem.recording()?;
/// let found = Jade::default().separate(&recording, 3)?;
/// println!("{}", found.convergence());
/// # assert!(found.convergence().converged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Jade {
    /// What the sine of every rotation of a sweep must fall below. Default 1e-8.
    pub tolerance: f64,
    /// Sweeps at most. Default 200.
    pub max_sweeps: usize,
}

impl Default for Jade {
    fn default() -> Self {
        Jade {
            tolerance: diagonalize::TOLERANCE,
            max_sweeps: diagonalize::MAX_SWEEPS,
        }
    }
}

impl Method for Jade {
    fn name(&self) -> &'static str {
        "jade"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        n_sources + 1
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        ensure_limits(
            ("jade.tolerance", "jade.max_sweeps"),
            self.tolerance,
            self.max_sweeps,
        )?;
        ensure_samples(self, components)?;
        let matrices = cumulant_matrices(&components.complete());
        let Diagonalized {
            matrix,
            convergence,
        } = diagonalize::orthogonal(matrices, self.tolerance, self.max_sweeps)?;
        Ok(Unmixing {
            matrix,
            convergence,
        })
    }
}
