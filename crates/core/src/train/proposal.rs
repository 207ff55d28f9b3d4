//! A place that is tried when the sources come to rest for the first time: where the kernel energy
//! alone is least.
//!
//! Sources that rest may be near that place and drift there slowly, or far away from it with good
//! reason. J of both places, with the same windows and masks, tells, if it is remembered that the
//! networks have learned in one of them.

use super::moves;
use super::trainer::Trainer;
use crate::config::Init;
use strt_classic::kernel::Beside;

/// Draws of windows and masks by which two places are compared.
const DRAWS: usize = 8;
/// By how much J may seem lower where the networks have learned, for K sources and T samples in
/// units of K/T: what they have learned by heart. Sources of one law, which only networks tell
/// apart, differ by ten times as much.
const ADVANTAGE: f64 = 33.0;
/// Below this many samples what is learned by heart grows faster than 1/T.
const SHORT: f64 = 1000.0;

impl Trainer {
    /// Moves to where the kernel energy alone is least unless J is clearly higher there.
    pub(super) fn consider_solution(&mut self) {
        let plan = &self.prepared.plan;
        // Who has chosen another start, or holds A, has a reason to.
        let wanted = plan.init == Init::Fast && plan.config().optimizer.rates.fiber > 0.0;
        let kernels = self.prepared.kernels.clone().filter(|_| wanted);
        // Where more than second moments tells the sources apart, the run began there if it is worth
        // anything, and the networks have made it more accurate since.
        let kernels = kernels.filter(|found| found.beside == Beside::Nothing);
        let Some(found) = kernels
            .as_ref()
            .and_then(|kernels| kernels.solution.as_ref())
        else {
            return;
        };
        let Some(present) = self.model.space.map().filter(|map| map.bend.is_none()) else {
            return;
        };
        let proposed = moves::like(&found.matrix, &present.linear);
        let mut gain = 0.0;
        for draw in 0..DRAWS {
            self.sample(self.step + draw);
            let here = self.evaluate().total;
            self.model.space.set_linear(&proposed);
            gain += here - self.evaluate().total;
            self.model.space.set_linear(&present.linear);
        }
        let (k, n) = (proposed.ncols() as f64, self.prepared.rows.n_valid() as f64);
        let advantage = ADVANTAGE * k / n * (SHORT / n).max(1.0);
        if gain / DRAWS as f64 > -advantage {
            self.model.space.set_linear(&proposed);
            self.turning.before = Some(self.model.space.position());
        }
        // Those who look at the sources after this step see the ones that were kept.
        self.evaluate();
    }
}
