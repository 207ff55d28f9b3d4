//! When a run has converged: its sources have stopped turning.
//!
//! Every `patience` steps it is judged by which angle each source has turned since the last time
//! ([`Turning`]): the angle between its old and its new samples. The objective does not tell: the
//! networks go on learning long after the sources have come to rest, and masks that are drawn anew
//! make it jitter. Under the schedule `settle` the rate is lowered when the sources turn no
//! further, or no less than before; what is left at the lowest rate is where they settle.
//!
//! A smoothed objective is kept beside it, by which restarts are compared.

use super::schedule::LOWERINGS;
use crate::config::{Optimizer, ScheduleKind};
use faer::Mat;
use serde::{Deserialize, Serialize};
use strt_signal::columns::col;

/// Decay of the exponential average: over about 50 steps the jitter of the masks averages out.
const SMOOTHING: f64 = 0.98;
/// Judgements in a row without an angle clearly below the smallest one so far: what is left is
/// jitter, which only a lower rate makes smaller.
const STALLED: usize = 3;
/// A smaller angle is clearly smaller below this share.
const CLEARLY: f64 = 0.8;

/// How a run has developed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// Exponential sum of J.
    pub average: f64,
    /// Exponential sum of 1, by which the average is divided.
    pub weight: f64,
    /// Step at which the present stage began: the first, or the one that bends what it found.
    pub stage_start: usize,
    /// Whether the sources are bent, where a run has a stage before that.
    pub bent: bool,
    /// How often bent sources were turned.
    #[serde(default)]
    pub turns: usize,
    /// How often the rate was lowered.
    pub lowered: usize,
    /// Steps at this rate.
    pub steps_at_rate: usize,
    /// The largest angle in radians by which a source turned over the last steps that were judged.
    pub turned: Option<f64>,
    /// The smallest such angle at this rate.
    pub least: Option<f64>,
    /// Judgements since then.
    pub since_least: usize,
}

impl Convergence {
    pub(crate) fn new() -> Convergence {
        Convergence {
            average: 0.0,
            weight: 0.0,
            stage_start: 0,
            bent: false,
            turns: 0,
            lowered: 0,
            steps_at_rate: 0,
            turned: None,
            least: None,
            since_least: 0,
        }
    }

    /// Takes in J of one step.
    pub(crate) fn record(&mut self, objective: f64) {
        self.average = SMOOTHING * self.average + (1.0 - SMOOTHING) * objective;
        self.weight = SMOOTHING * self.weight + (1.0 - SMOOTHING);
        self.steps_at_rate += 1;
    }

    /// The next stage begins at `step`: another objective, and the first rate again.
    pub(crate) fn begin_stage(&mut self, step: usize) {
        *self = Convergence {
            stage_start: step,
            bent: true,
            ..Convergence::new()
        };
    }

    /// Bent sources were turned at `step`: the first rate again.
    pub(crate) fn begin_again(&mut self, step: usize) {
        let turns = self.turns + 1;
        self.begin_stage(step);
        self.turns = turns;
    }

    /// Takes in by how much the sources have turned, where at least `least_steps` are to be taken
    /// at the first rate.
    pub(crate) fn judge(&mut self, turned: f64, optimizer: &Optimizer, least_steps: usize) {
        self.turned = Some(turned);
        if self.least.is_none_or(|least| turned < CLEARLY * least) {
            (self.least, self.since_least) = (Some(turned), 0);
        } else {
            self.since_least += 1;
        }
        let at_rest = turned < optimizer.early_stopping.tolerance || self.since_least >= STALLED;
        let settles = optimizer.schedule.kind == ScheduleKind::Settle;
        let long_enough = self.lowered > 0 || self.steps_at_rate >= least_steps;
        if settles && at_rest && long_enough && self.lowered < LOWERINGS {
            self.lowered += 1;
            (self.steps_at_rate, self.least, self.since_least) = (0, None, 0);
        }
    }

    /// The smoothed objective.
    pub(crate) fn smoothed(&self) -> f64 {
        self.average / self.weight
    }

    /// Whether the sources have come to rest: under the schedule `settle`, at its lowest rate.
    pub(crate) fn reached(&self, optimizer: &Optimizer) -> bool {
        let settles = optimizer.schedule.kind == ScheduleKind::Settle;
        let judged_here = self.steps_at_rate >= optimizer.early_stopping.patience;
        let lowest = !settles || self.lowered == LOWERINGS && judged_here;
        let quiet = |turned: f64| turned < optimizer.early_stopping.tolerance;
        lowest && self.turned.is_some_and(quiet)
    }
}

/// Where the sources were when they were last judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turning {
    /// One column a source, whose angles are those between sources.
    pub before: Option<Mat<f64>>,
}

impl Turning {
    /// The largest angle between a column and the one before; `None` the first time.
    pub fn judge(&mut self, now: Mat<f64>) -> Option<f64> {
        let turned = self.before.as_ref().map(|before| {
            let angles =
                (0..now.ncols()).map(|k| angle(col(before.as_ref(), k), col(now.as_ref(), k)));
            angles.fold(0.0, f64::max)
        });
        self.before = Some(now);
        turned
    }

    /// Source k is what source `order[k]` was.
    pub fn permute(&mut self, order: &[usize]) {
        if let Some(before) = &mut self.before {
            crate::linalg::permute::permute_columns(before, order);
        }
    }
}

/// The angle between two lines. From the distance of unit vectors: the arc cosine of a number near
/// 1 has lost half of its digits.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (norm_a, norm_b, product) = (dot(a, a).sqrt(), dot(b, b).sqrt(), dot(a, b));
    if norm_a == 0.0 || norm_b == 0.0 {
        return if norm_a == norm_b {
            0.0
        } else {
            std::f64::consts::FRAC_PI_2
        };
    }
    let sign = product.signum();
    let square: f64 = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a / norm_a - sign * b / norm_b).powi(2))
        .sum();
    2.0 * (0.5 * square.sqrt()).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn angles_are_those_of_lines() {
        let at = |phi: f64| vec![3.0 * phi.cos(), 3.0 * phi.sin()];
        for turn in [0.0, 1e-9, 0.3, 1.5] {
            assert!(
                (angle(&at(0.2), &at(0.2 + turn)) - turn).abs() < 1e-12,
                "{turn}"
            );
        }
        let opposite: Vec<f64> = at(0.2).iter().map(|v| -v).collect();
        assert!(angle(&at(0.2), &opposite) < 1e-12);
        assert_eq!(angle(&[0.0, 0.0], &[0.0, 0.0]), 0.0);
    }

    #[test]
    fn the_rate_is_lowered_until_the_sources_rest_at_the_lowest() {
        let optimizer = Config::new(3).optimizer;
        let mut convergence = Convergence::new();
        let pass = |turned: f64, convergence: &mut Convergence| {
            (0..50).for_each(|_| convergence.record(1.0));
            convergence.judge(turned, &optimizer, 200);
            (convergence.lowered, convergence.reached(&optimizer))
        };
        // Quiet, but too early.
        for _ in 0..3 {
            assert_eq!(pass(0.001, &mut convergence), (0, false));
        }
        assert_eq!(pass(0.001, &mut convergence), (1, false));
        // Jitter: three times no smaller angle.
        for _ in 0..3 {
            assert_eq!(pass(0.5, &mut convergence), (1, false));
        }
        assert_eq!(pass(0.5, &mut convergence), (2, false));
        assert_eq!(pass(0.001, &mut convergence), (3, false));
        assert_eq!(pass(0.5, &mut convergence), (3, false));
        assert_eq!(pass(0.001, &mut convergence), (3, true));
    }
}
