//! When a run has converged: the smoothed objective has stopped improving.
//!
//! Masks are drawn anew in every step, so J itself jitters; an exponential average (bias-corrected)
//! is judged.

use crate::config::EarlyStopping;
use serde::{Deserialize, Serialize};

/// Decay of the exponential average: over about 50 steps the jitter of the masks averages out.
const SMOOTHING: f64 = 0.98;

/// Smoothed objective and the time since it last improved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// Exponential sum of J.
    pub average: f64,
    /// Exponential sum of 1, by which the average is divided.
    pub weight: f64,
    /// The lowest smoothed J so far.
    pub best: f64,
    /// Steps since then.
    pub since_best: usize,
}

impl Convergence {
    pub(crate) fn new() -> Convergence {
        // The best value is finite so that it survives every text format.
        Convergence {
            average: 0.0,
            weight: 0.0,
            best: f64::MAX,
            since_best: 0,
        }
    }

    /// Takes in J of one step.
    pub(crate) fn record(&mut self, objective: f64, settings: &EarlyStopping) {
        self.average = SMOOTHING * self.average + (1.0 - SMOOTHING) * objective;
        self.weight = SMOOTHING * self.weight + (1.0 - SMOOTHING);
        let smoothed = self.smoothed();
        if smoothed < self.best - settings.tolerance * self.best.abs().clamp(1.0, 1e12) {
            self.best = smoothed;
            self.since_best = 0;
        } else {
            self.since_best += 1;
        }
    }

    /// Forgets what was best, because the problem has changed: the sources have become free.
    pub(crate) fn restart(&mut self) {
        (self.best, self.since_best) = (f64::MAX, 0);
    }

    /// The smoothed objective.
    pub(crate) fn smoothed(&self) -> f64 {
        self.average / self.weight
    }

    /// No improvement for `patience` steps.
    pub(crate) fn reached(&self, settings: &EarlyStopping) -> bool {
        self.since_best >= settings.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_objective_is_not_converged_and_a_flat_one_is() {
        let settings = EarlyStopping {
            patience: 20,
            ..EarlyStopping::default()
        };
        let mut convergence = Convergence::new();
        (0..100).for_each(|n| convergence.record(-(n as f64), &settings));
        assert!(!convergence.reached(&settings));
        (0..1500).for_each(|_| convergence.record(-100.0, &settings));
        assert!(convergence.reached(&settings));
        assert!((convergence.smoothed() + 100.0).abs() < 1e-6);
    }
}
