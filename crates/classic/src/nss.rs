//! NSS: separation by variances that change with time, through the covariances of successive
//! blocks.
//!
//! Uncorrelated sources whose variances σ²_k(b) differ from block to block make the covariance of
//! block b C_b = A⁻ᵀ·diag(σ²_k(b))·A⁻¹ for one unmixing A, whatever their distributions and
//! spectra. A is found by
//!
//! * Pham's approximate joint diagonalisation ([`diagonalize::pham`](super::diagonalize::pham),
//!   default): the maximum of the Gaussian likelihood; A need not be orthogonal, so that sources
//!   which are by chance a little correlated in a finite recording are not torn apart, or
//! * Jacobi rotations ([`diagonalize::orthogonal`](super::diagonalize::orthogonal)): least squares,
//!   A orthogonal.
//!
//! The criterion is the largest change of an entry in the last sweep. Blocks hold equal numbers of
//! complete samples; their second moments are about the mean of the whole recording.
//!
//! K. Matsuoka, M. Ohya and M. Kawamoto, *A neural net for blind separation of nonstationary
//! signals*, Neural Networks 8(3), 1995; D.-T. Pham and J.-F. Cardoso, *Blind separation of
//! instantaneous mixtures of nonstationary sources*, IEEE Trans. Signal Processing 49(9), 2001.
//! Sources whose variances change in proportion stay mixed.

use super::diagonalize::{self, Diagonalized};
use super::{Components, Method, Unmixing, ensure, ensure_limits, ensure_samples};
use crate::error::Result;

/// Samples of an automatic block: at least this many …
const BLOCK_SAMPLES: usize = 50;
/// … and this many for every source; …
const SAMPLES_PER_SOURCE: usize = 10;
/// … in at most this many blocks.
const MOST_BLOCKS: usize = 100;

/// How block covariances are made diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagonalizer {
    /// Pham's likelihood criterion; the unmixing need not be orthogonal.
    Pham,
    /// Jacobi rotations.
    Orthogonal,
}

/// NSS with its options.
///
/// ```
/// use strt_classic::{Method, Nss};
/// # let problem = strt_synth::ProblemSpec {
/// #     kind: strt_synth::SourceKind::SegmentLaplace, ..Default::default() }.generate()?;
/// # let recording = problem.recording()?;
/// let found = Nss { blocks: Some(20), ..Nss::default() }.separate(&recording, 3)?;
/// assert!(found.convergence().converged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Nss {
    /// Number of blocks, at least 2. Automatic: blocks of max(50, 10·K) samples, at most 100 of
    /// them.
    pub blocks: Option<usize>,
    /// Default `Pham`.
    pub diagonalizer: Diagonalizer,
    /// What every change of a sweep must fall below. Default 1e-8.
    pub tolerance: f64,
    /// Sweeps at most. Default 200.
    pub max_sweeps: usize,
}

impl Default for Nss {
    fn default() -> Self {
        Nss {
            blocks: None,
            diagonalizer: Diagonalizer::Pham,
            tolerance: diagonalize::TOLERANCE,
            max_sweeps: diagonalize::MAX_SWEEPS,
        }
    }
}

impl Nss {
    fn n_blocks(&self, n_complete: usize, k: usize) -> usize {
        let length = BLOCK_SAMPLES.max(SAMPLES_PER_SOURCE * k);
        self.blocks
            .unwrap_or((n_complete / length).clamp(2, MOST_BLOCKS))
    }
}

impl Method for Nss {
    fn name(&self) -> &'static str {
        "nss"
    }

    /// A block with no more samples than sources has a singular covariance, or nearly so.
    fn least_samples(&self, n_sources: usize) -> usize {
        self.blocks.unwrap_or(2).saturating_mul(n_sources + 1)
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        ensure(
            self.blocks.is_none_or(|blocks| blocks >= 2),
            "nss.blocks",
            self.blocks,
            "expected at least 2 blocks",
        )?;
        ensure_limits(
            ("nss.tolerance", "nss.max_sweeps"),
            self.tolerance,
            self.max_sweeps,
        )?;
        ensure_samples(self, components)?;
        let n_blocks = self.n_blocks(components.n_complete(), components.n_components());
        let covariances = components.block_covariances(n_blocks);
        let diagonalize = match self.diagonalizer {
            Diagonalizer::Pham => diagonalize::pham,
            Diagonalizer::Orthogonal => diagonalize::orthogonal,
        };
        let Diagonalized {
            matrix,
            convergence,
        } = diagonalize(covariances, self.tolerance, self.max_sweeps)?;
        Ok(Unmixing {
            matrix,
            convergence,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_blocks_suit_the_length_and_the_sources() {
        let blocks = |n_complete, k| Nss::default().n_blocks(n_complete, k);
        assert_eq!(
            [
                blocks(1000, 3),
                blocks(1000, 12),
                blocks(60, 3),
                blocks(100_000, 3)
            ],
            [20, 8, 2, 100]
        );
    }
}
