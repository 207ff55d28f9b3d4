//! WASOBI: lagged covariances weighed so that Gaussian autoregressive sources are separated as well
//! as any method could.
//!
//! SOBI gives every lag the same weight. Their estimates differ in accuracy, though, and depend on
//! each other. Once sources are known roughly, the covariance of these estimates is known too, and
//! its inverse is the weight that reaches the Cramér–Rao bound for Gaussian AR sources:
//!
//! 1. a rotation by SOBI over the lags 1, …, L,
//! 2. an AR(L) model of every source, and from their spectra one weight matrix a pair of sources
//!    (`spectra.rs`),
//! 3. weighted joint diagonalisation of the covariances at lags 0, …, L
//!    ([`diagonalize::wedge`](super::diagonalize::wedge)), over all invertible A,
//!
//! with 2 and 3 repeated. The criterion is the largest change in the last step of the last round.
//! Lagged products that touch a missing sample are left out. Where pieces of a recording are
//! shorter than L + 1 samples, L is the longest lag that they have.
//!
//! Two things differ from the authors' program. Covariances are tapered (`covariances.rs`), which
//! narrow-band sources need. And weights are regularised much more: those of theory rest on
//! differences between lags so small that noise in the channels, or a source that is no AR process,
//! hides them. With a `ridge` of 1e-5 Gaussian AR sources without noise are separated best; the
//! default gives a little of that for far better results where smooth sources come with noise. It
//! and the order were chosen on problems of `strt-synth` with seeds from 901 to 905.
//!
//! A. Yeredor, *Blind separation of Gaussian sources via second-order statistics with
//! asymptotically optimal weighting*, IEEE Signal Processing Letters 7(7), 2000; P. Tichavský,
//! E. Doron, A. Yeredor and J. Nielsen, *A computationally affordable implementation of an
//! asymptotically optimal BSS algorithm for AR sources*, EUSIPCO 2006. Sources with equal spectra
//! stay mixed.

mod covariances;
mod spectra;

use faer::Mat;

use self::spectra::Spectra;
use super::diagonalize;
use super::rated::Rated;
use super::{Components, Method, Unmixing, ensure, ensure_limits, ensure_samples};
use crate::error::Result;

/// WASOBI with its options.
///
/// ```
/// use strt_classic::{Method, Wasobi};
/// # let recording = strt_synth::ProblemSpec::default().generate()?.recording()?;
/// let found = Wasobi { order: 10, ..Wasobi::default() }.separate(&recording, 3)?;
/// assert!(found.convergence().converged);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Wasobi {
    /// L, the order of the models and the longest lag, at least 1. Default 20.
    pub order: usize,
    /// Poles of a model are kept within this modulus, above 0 and at most 0.9999. Default 0.99.
    pub largest_pole: f64,
    /// Share of the samples at each end over which covariances are tapered, from 0 to 0.5. Default
    /// 0.05.
    pub taper: f64,
    /// Regularisation of the weights, as a share of the variance of what is weighed. Default 0.01.
    pub ridge: f64,
    /// Times that models and weights are estimated, at least 1. Default 3.
    pub rounds: usize,
    /// What every change of a step must fall below. Default 1e-8.
    pub tolerance: f64,
    /// Steps at most, in each round. Default 100.
    pub max_iterations: usize,
}

impl Default for Wasobi {
    fn default() -> Self {
        Wasobi {
            order: 20,
            largest_pole: 0.99,
            taper: 0.05,
            ridge: 0.01,
            rounds: 3,
            tolerance: diagonalize::TOLERANCE,
            max_iterations: 100,
        }
    }
}

impl Method for Wasobi {
    fn name(&self) -> &'static str {
        "wasobi"
    }

    fn least_samples(&self, n_sources: usize) -> usize {
        self.order.saturating_add(n_sources + 1)
    }

    fn unmix(&self, components: &Components<'_>) -> Result<Unmixing> {
        self.check()?;
        ensure_samples(self, components)?;
        let covariances = self.covariances(components)?;
        let found = self.search(&covariances, components.n_complete())?;
        Ok(found.unmixing(self.tolerance))
    }
}

impl Wasobi {
    /// `Err` when an option is out of range.
    pub(super) fn check(&self) -> Result<()> {
        ensure(
            self.order >= 1,
            "wasobi.order",
            self.order,
            "expected at least 1",
        )?;
        ensure(
            self.largest_pole > 0.0 && self.largest_pole <= 0.9999,
            "wasobi.largest_pole",
            self.largest_pole,
            "expected a number above 0 and at most 0.9999",
        )?;
        ensure(
            (0.0..=0.5).contains(&self.taper),
            "wasobi.taper",
            self.taper,
            "expected a number from 0 to 0.5",
        )?;
        ensure(
            self.ridge.is_finite() && self.ridge > 0.0,
            "wasobi.ridge",
            self.ridge,
            "expected a finite number above 0",
        )?;
        ensure(
            self.rounds >= 1,
            "wasobi.rounds",
            self.rounds,
            "expected at least 1",
        )?;
        ensure_limits(
            ("wasobi.tolerance", "wasobi.max_iterations"),
            self.tolerance,
            self.max_iterations,
        )
    }

    /// Covariances of the components at lags 0, …, L.
    pub(super) fn covariances(&self, components: &Components<'_>) -> Result<Vec<Mat<f64>>> {
        let lags: Vec<usize> = (1..=self.order).collect();
        let longest = components.lags_in_pieces(&lags)?.into_iter().max();
        covariances::tapered(components, longest.unwrap_or(self.order), self.taper)
    }

    /// The unmixing of white components with these covariances at lags 0, …, L of T samples.
    pub(super) fn search(&self, covariances: &[Mat<f64>], n_samples: usize) -> Result<Rated> {
        let first = diagonalize::orthogonal(
            covariances[1..].to_vec(),
            self.tolerance,
            diagonalize::MAX_SWEEPS,
        )?;
        let mut found = Rated {
            matrix: first.matrix,
            interference: Mat::new(),
            changes: Vec::new(),
            iterations: first.convergence.iterations,
        };
        for _ in 0..self.rounds {
            let weights = self.spectra(covariances, &found.matrix).weights(self.ridge);
            let (matrix, iterations, changes) = diagonalize::wedge::search(
                covariances,
                &weights,
                &found.matrix,
                self.tolerance,
                self.max_iterations,
            )?;
            (found.matrix, found.changes) = (matrix, changes);
            found.iterations += iterations;
        }
        found.interference = self
            .spectra(covariances, &found.matrix)
            .interference(n_samples);
        Ok(found)
    }

    /// Of the sources S = Zw·A.
    fn spectra(&self, covariances: &[Mat<f64>], unmixing: &Mat<f64>) -> Spectra {
        let diagonals: Vec<Mat<f64>> = covariances
            .iter()
            .map(|c| unmixing.transpose() * c * unmixing)
            .collect();
        let autocovariances: Vec<Vec<f64>> = (0..unmixing.ncols())
            .map(|k| diagonals.iter().map(|c| c[(k, k)]).collect())
            .collect();
        Spectra::of(&autocovariances, self.largest_pole)
    }
}
