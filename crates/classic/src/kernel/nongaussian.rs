//! What innovations that are not Gaussian add to the contrast of a kernel energy.
//!
//! ```text
//! −c·Σ_k J_k,        c = SHARE
//! ```
//!
//! In: whitened components, and A where it is asked for. Out: the value, its gradient in A, and how
//! it bends. Which predictor and which density a source has is held fixed until it is chosen anew,
//! so that a search has one function to minimise. Of long recordings stretches are looked at.

use faer::{Mat, MatRef};
use strt_signal::rows::RowsView;

use super::density::Density;
use super::innovations::{Innovations, SHARE};
use super::novelty::Choice;
use super::stretches::Stretches;

/// Samples at most that are looked at.
const MOST_SAMPLES: usize = 8192;

/// −c·Σ_k J_k of a recording.
pub(super) struct NonGaussian {
    seen: Stretches,
    sources: Vec<Innovations>,
    taken: Vec<Option<Density>>,
    s: Mat<f64>,   // n×K
    d_s: Mat<f64>, // n×K
}

impl NonGaussian {
    /// Of components (T×K, 0 in missing rows), with predictors of at most `window` − 1 samples.
    pub fn new(components: MatRef<'_, f64>, rows: RowsView<'_>, window: usize) -> NonGaussian {
        let seen = Stretches::new(components, rows, MOST_SAMPLES);
        let (n, k) = seen.samples.shape();
        NonGaussian {
            seen,
            sources: vec![Innovations::new(window, n); k],
            taken: vec![None; k],
            s: Mat::zeros(n, k),
            d_s: Mat::zeros(n, k),
        }
    }

    /// Chooses predictors and densities of the sources of A, whose moments are the columns of
    /// `moments` (lags 0, 1, … first), over `n_valid` samples. Gives Σ_k of what J exceeds chance
    /// by.
    pub fn choose(
        &mut self,
        a: &Mat<f64>,
        moments: &Mat<f64>,
        n_valid: usize,
        choice: Choice,
    ) -> f64 {
        self.seen.unmix(a, &mut self.s);
        let mut sum = 0.0;
        for (j, innovations) in self.sources.iter_mut().enumerate() {
            innovations.predict(moments.col_as_slice(j), n_valid);
            innovations.read(self.s.col_as_slice(j), &self.seen.reach);
            let beyond = innovations.beyond_chance(&Density::ALL);
            sum += beyond.map_or(0.0, |(_, nats)| nats);
            let taken = match choice {
                Choice::Settle => beyond,
                Choice::Search => beyond.or_else(|| innovations.best(&Density::ALL)),
            };
            self.taken[j] = taken.map(|(density, _)| density);
        }
        sum
    }

    /// The densities that sources have, each once.
    pub fn densities(&self) -> Vec<Density> {
        let among = Density::ALL.into_iter();
        among
            .filter(|density| self.taken.contains(&Some(*density)))
            .collect()
    }

    /// The value at A; its gradient is added to `d_a`, and what it adds to the second derivatives
    /// of every source's row put in place of `bends`.
    pub fn evaluate(&mut self, a: &Mat<f64>, d_a: &mut Mat<f64>, bends: &mut [f64]) -> f64 {
        self.seen.unmix(a, &mut self.s);
        self.d_s.fill(0.0);
        bends.fill(0.0);
        let mut value = 0.0;
        for (j, innovations) in self.sources.iter_mut().enumerate() {
            let Some(density) = self.taken[j] else {
                continue;
            };
            innovations.read(self.s.col_as_slice(j), &self.seen.reach);
            let d_s = self.d_s.col_as_slice_mut(j);
            let (negentropy, bend) = innovations.evaluate(density, -SHARE, d_s);
            value -= SHARE * negentropy;
            bends[j] = SHARE * bend;
        }
        self.seen.pull_back(&self.d_s, d_a);
        value
    }
}
