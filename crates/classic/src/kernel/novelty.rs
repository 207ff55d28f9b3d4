//! What else than second moments may tell sources apart: innovations that are not Gaussian, or
//! forecasts that are not linear.
//!
//! In: whitened components, and A where it is asked for. Out: what it adds to a contrast.

use faer::{Mat, MatRef};
use strt_signal::rows::RowsView;

use super::density::Density;
use super::forecast::Shape;
use super::forecasts::Forecasts;
use super::nongaussian::NonGaussian;

/// What is judged beside second moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// Innovations that are not Gaussian.
    Innovations,
    /// Forecasts that are not linear.
    Forecasts,
    /// Heavy tails under variances that change. A search does not ask them: mixtures of such
    /// sources are told apart by their variances.
    Values,
}

/// What a search has found to be judged beside second moments.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Novel {
    /// Nothing.
    #[default]
    Nothing,
    /// Innovations of these densities.
    Innovations(Vec<Density>),
    /// Forecasts by functions of this shape.
    Forecasts(Shape),
    /// Heavy tails under variances that change.
    Values,
}

impl Novel {
    /// Whether anything is judged.
    pub fn is_something(&self) -> bool {
        *self != Novel::Nothing
    }

    /// What it is.
    pub fn kind(&self) -> Beside {
        match self {
            Novel::Nothing => Beside::Nothing,
            Novel::Values => Beside::Values,
            Novel::Innovations(_) => Beside::Innovations,
            Novel::Forecasts(_) => Beside::Forecasts,
        }
    }
}

/// How densities, and the shape of functions, are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Every source has one: a mixture hardly has, and must be led away from.
    Search,
    /// Those sources have one that need it beyond chance.
    Settle,
}

/// What is judged beside second moments, with what it needs.
pub(super) enum Novelty {
    Nothing,
    Innovations(NonGaussian),
    Forecasts(Forecasts),
}

impl Novelty {
    /// Of components (T×K, 0 in missing rows); predictors read at most `window` − 1 samples.
    pub fn new(
        beside: Beside,
        components: MatRef<'_, f64>,
        rows: RowsView<'_>,
        window: usize,
    ) -> Novelty {
        match beside {
            Beside::Nothing | Beside::Values => Novelty::Nothing,
            Beside::Innovations => Novelty::Innovations(NonGaussian::new(components, rows, window)),
            Beside::Forecasts => Novelty::Forecasts(Forecasts::new(components, rows)),
        }
    }

    /// Chooses what is held fixed during a search, for the sources of A, whose moments are the
    /// columns of `moments` (lags 0, 1, … first), over `n_valid` samples. Gives the nats per sample
    /// by which it shortens the description of the sources.
    pub fn choose(
        &mut self,
        a: &Mat<f64>,
        moments: &Mat<f64>,
        n_valid: usize,
        choice: Choice,
    ) -> f64 {
        match self {
            Novelty::Nothing => 0.0,
            Novelty::Innovations(innovations) => innovations.choose(a, moments, n_valid, choice),
            Novelty::Forecasts(forecasts) => forecasts.choose(a, choice),
        }
    }

    /// What was chosen last.
    pub fn found(&self) -> Novel {
        match self {
            Novelty::Nothing => Novel::Nothing,
            Novelty::Innovations(innovations) => Novel::Innovations(innovations.densities()),
            Novelty::Forecasts(forecasts) => Novel::Forecasts(forecasts.shape()),
        }
    }

    /// Rounds of a search that may pass before something is beyond chance. Innovations of mixtures
    /// are Gaussian, forecasts of mixtures still somewhat better than linear ones.
    pub fn patience(&self) -> usize {
        match self {
            Novelty::Nothing | Novelty::Forecasts(_) => 0,
            Novelty::Innovations(_) => 1,
        }
    }

    /// The relative gradient below which there is nothing to be gained. Forecasts are a hundred
    /// times as steep as anything else, and rounding shows in their weights.
    pub fn least_tolerance(&self) -> f64 {
        match self {
            Novelty::Nothing | Novelty::Innovations(_) => 0.0,
            Novelty::Forecasts(_) => 3e-5,
        }
    }

    /// The value at A; its gradient is added to `d_a`, and what it adds to the second derivatives
    /// of every source's row put in place of `bends`.
    pub fn evaluate(&mut self, a: &Mat<f64>, d_a: &mut Mat<f64>, bends: &mut [f64]) -> f64 {
        match self {
            Novelty::Nothing => 0.0,
            Novelty::Innovations(innovations) => innovations.evaluate(a, d_a, bends),
            Novelty::Forecasts(forecasts) => forecasts.evaluate(a, d_a, bends),
        }
    }
}
