//! The full state of a run between two steps: resuming from it continues with the same bits.
//!
//! Random draws come from (seed, step), so no generator is saved; preprocessing is refitted from
//! the recording, which is the same by definition. Plain data: writing it to a file is `strt-io`'s
//! business.

use super::adam_group::AdamGroup;
use super::convergence::Convergence;
use crate::config::Config;
use crate::model::objective::Terms;
use faer::Mat;

/// Adam moments of one group and how many updates it has had.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// First moment, shaped like the parameters; for free sources of a recording that is trained in
    /// blocks, how many updates each entry has had.
    pub first: Mat<f64>,
    /// Second moment.
    pub second: Mat<f64>,
    /// Updates so far.
    pub count: u64,
}

impl From<&AdamGroup> for Moments {
    fn from(group: &AdamGroup) -> Moments {
        Moments {
            first: group.first.clone(),
            second: group.second.clone(),
            count: group.count,
        }
    }
}

impl Moments {
    pub(crate) fn to_group(&self) -> AdamGroup {
        AdamGroup {
            first: self.first.clone(),
            second: self.second.clone(),
            count: self.count,
        }
    }
}

/// Parameters and moments of one branch network, flat, in the order of [`strt_kernels::Layout`].
#[derive(Clone, Debug, PartialEq)]
pub struct BranchCheckpoint {
    /// Parameters.
    pub parameters: Vec<f64>,
    /// Adam's first moment.
    pub first: Vec<f64>,
    /// Adam's second moment.
    pub second: Vec<f64>,
}

/// Everything needed to continue a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The resolved configuration.
    pub config: Config,
    /// Seed of this restart.
    pub seed: u64,
    /// Index of this restart.
    pub restart: usize,
    /// Steps done.
    pub step: usize,
    /// Shape of the recording it belongs to: samples and channels.
    pub shape: (usize, usize),
    /// [`Recording::fingerprint`](crate::Recording::fingerprint) of that recording.
    pub fingerprint: u64,
    /// A (K×K), absent in direct coordinates.
    pub fiber: Option<Mat<f64>>,
    /// S in direct coordinates, E in fiber coordinates where it exists, [Uᵀ | b | V] in neural
    /// ones.
    pub sources: Option<Mat<f64>>,
    /// Running moments of the free sources of a recording that is trained in blocks; otherwise
    /// empty.
    pub source_moments: Vec<f64>,
    /// θ.
    pub mixer: Vec<f64>,
    /// η.
    pub raw_gaps: Vec<f64>,
    /// The networks, branch k·R + r.
    pub branches: Vec<BranchCheckpoint>,
    /// Updates of the networks so far.
    pub network_updates: u64,
    /// Moments of A, of S, E or the bend, of θ and of η.
    pub moments: [Moments; 4],
    /// Smoothed objective and time since it improved: (average, weight, best, steps since best).
    pub convergence: (f64, f64, f64, usize),
    /// Terms of the last step.
    pub terms: Terms,
}

impl Convergence {
    pub(crate) fn to_parts(&self) -> (f64, f64, f64, usize) {
        (self.average, self.weight, self.best, self.since_best)
    }

    pub(crate) fn from_parts(
        (average, weight, best, since_best): (f64, f64, f64, usize),
    ) -> Convergence {
        Convergence {
            average,
            weight,
            best,
            since_best,
        }
    }
}
