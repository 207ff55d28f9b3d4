//! An unmixing with the accuracy that its method expects of it: what methods are chosen by.

use faer::Mat;

use super::{Convergence, Unmixing};

/// What a method found and how well, by its own account.
pub(super) struct Rated {
    /// A (K×K) of S = Zw·A.
    pub(super) matrix: Mat<f64>,
    /// ISR (K×K): the power of source l in the estimate of source k that theory expects, for
    /// sources of variance 1; 0 on the diagonal.
    pub(super) interference: Mat<f64>,
    /// What changed of every source in the last iteration.
    pub(super) changes: Vec<f64>,
    /// Iterations done.
    pub(super) iterations: usize,
}

impl Rated {
    /// Without the accuracy; the criterion is the largest change of a source.
    pub(super) fn unmixing(self, tolerance: f64) -> Unmixing {
        let largest = self.changes.iter().copied().fold(0.0, f64::max);
        Unmixing {
            matrix: self.matrix,
            convergence: Convergence::of_search(self.iterations, largest, tolerance),
        }
    }
}
