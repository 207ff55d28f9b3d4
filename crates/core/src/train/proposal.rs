//! Places that are tried when the sources come to rest for the first time: where the kernel energy
//! alone is least.
//!
//! Sources that rest may be near that place and drift there slowly, or far away from it with good
//! reason. J of both places, with the same windows and masks, tells, if it is remembered that the
//! networks have learned in one of them. Bent sources are turned to that place as they are bent
//! (`turn.rs`); where innovations or forecasts are found there that tell them apart, these are
//! judged from then on, and J need not be asked. Where forecasts are judged, then or before, the
//! further layers of the map begin to take part.

use super::convergence::Turning;
use super::kernels::Kernels;
use super::trainer::Trainer;
use super::turn::Turn;
use super::{moves, start};
use crate::config::Init;
use crate::energy::Blend;
use crate::mixer::Mixer;
use crate::space::ComponentMap;
use std::any::Any;
use std::sync::Arc;
use strt_classic::kernel::{Beside, Novel};

/// Draws of windows and masks by which two places are compared.
const DRAWS: usize = 8;
/// By how much J may seem lower where the networks have learned, for K sources and T samples in
/// units of K/T: what they have learned by heart. Sources of one law, which only networks tell
/// apart, differ by ten times as much.
const ADVANTAGE: f64 = 33.0;
/// By how much J of bent sources may seem lower where the networks have learned, in the units of
/// [`ADVANTAGE`]: bends leave more to be learned by heart.
const BENT_ADVANTAGE: f64 = 100.0;
/// Below this many samples what is learned by heart grows faster than 1/T.
const SHORT: f64 = 1000.0;

/// How often bent sources are turned at most.
const MOST_TURNS: usize = 2;
/// The angle in radians below which they are where they belong.
const LEAST_TURN: f64 = 0.15;

/// Where sources can stand, and the mixer that belongs to it.
struct Place {
    map: ComponentMap,
    mixer: Box<dyn Mixer>,
}

impl Trainer {
    /// What the kernel energy found, where the run may go where it is least: who has chosen another
    /// start, or holds A, has a reason to. Where more than second moments tells the sources apart,
    /// the run began there if it is worth anything, and the networks have made it more accurate
    /// since.
    fn movable(&self) -> Option<Arc<Kernels>> {
        let plan = &self.prepared.plan;
        let wanted = plan.init == Init::Fast && plan.config().optimizer.rates.fiber > 0.0;
        let kernels = self.prepared.kernels.clone().filter(|_| wanted);
        kernels.filter(|found| !found.novel.is_something())
    }

    /// Moves to where the kernel energy alone is least unless J is clearly higher there.
    pub(super) fn consider_solution(&mut self) {
        let Some(kernels) = self.movable() else {
            return;
        };
        let Some(found) = &kernels.solution else {
            return;
        };
        let Some(map) = self.model.space.map().filter(|map| map.bends.is_empty()) else {
            return;
        };
        let proposed = moves::like(&found.matrix, &map.linear);
        let proposed = self.place_at(ComponentMap::linear(proposed));
        self.move_unless_worse(&proposed, ADVANTAGE);
    }

    /// Turns bent sources to where the kernel energy of what they are now is least, and judges what
    /// was found to tell them apart there.
    pub(super) fn consider_turn(&mut self) {
        let plan = &self.prepared.plan;
        let config = plan.config();
        if self.prepared.judges_novelty() {
            self.deepen();
            return;
        }
        let wanted = config.sources.standardize && self.convergence.turns < MOST_TURNS;
        if !wanted || self.movable().is_none() {
            return;
        }
        let Some(map) = self.model.space.map().filter(|map| !map.bends.is_empty()) else {
            return;
        };
        // Components of a long recording are formed for this alone, and let go.
        let sources = {
            let components = self.prepared.data.components(config.n_sources);
            map.apply((*components).as_ref())
        };
        let turn = Turn::of(sources, &self.prepared.rows, config.seed);
        let Some(turn) = turn.filter(|turn| turn.angle > LEAST_TURN) else {
            return;
        };
        let mut proposed = self.place_at(map.turned(&turn.matrix));
        if !proposed.mixer.turn_sources(turn.back.as_ref()) {
            return;
        }
        let moved = if turn.novel.is_something() {
            let judged = self.judge(turn.novel);
            if judged {
                self.go_to(&proposed);
                self.evaluate();
            }
            judged
        } else {
            self.move_unless_worse(&proposed, BENT_ADVANTAGE)
        };
        if moved {
            self.convergence.begin_again(self.step);
            self.turning = Turning::default();
        }
    }

    /// Lets all layers of the map take part, where the first has done what it can, once.
    fn deepen(&mut self) {
        let deep = self.prepared.plan.is_deep || self.convergence.turns > 0;
        let map = self.model.space.map();
        if deep || map.is_none_or(|map| map.bends.is_empty()) {
            return;
        }
        self.model.space.deepen();
        self.convergence.begin_again(self.step);
        self.turning = Turning::default();
    }

    /// Judges this beside second moments from now on; false where the energy is one that cannot.
    /// Under forecasts all layers of the map take part.
    pub(super) fn judge(&mut self, novel: Novel) -> bool {
        let plan = &self.prepared.plan;
        let Some(kernels) = self.prepared.kernels.as_deref() else {
            return false;
        };
        let kernels = Kernels {
            novel,
            ..kernels.clone()
        };
        let energy: &mut dyn Any = &mut *self.model.energy;
        let blend = energy.downcast_mut::<Blend>();
        let kernel = kernels.energy(plan, &self.prepared.rows);
        let (Some(blend), Some(kernel)) = (blend, kernel) else {
            return false;
        };
        let share = start::share(plan.kernel, &kernel);
        blend.set_kernel(kernel, share);
        if kernels.novel.kind() == Beside::Forecasts {
            self.model.space.deepen();
        }
        self.prepared.kernels = Some(Arc::new(kernels));
        true
    }

    /// A place with the present mixer.
    fn place_at(&self, map: ComponentMap) -> Place {
        Place {
            map,
            mixer: self.model.mixer.clone(),
        }
    }

    fn go_to(&mut self, place: &Place) {
        self.model.space.set_map(&place.map);
        let parameters = self.model.mixer.parameters_mut();
        parameters.copy_from_slice(place.mixer.parameters());
    }

    /// Goes to a place unless J is clearly higher there; says whether.
    fn move_unless_worse(&mut self, proposed: &Place, advantage: f64) -> bool {
        let map = self.model.space.map().expect("a place to go to is a map");
        let present = self.place_at(map);
        let mut gain = 0.0;
        for draw in 0..DRAWS {
            self.sample(self.step + draw);
            let here = self.evaluate().total;
            self.go_to(proposed);
            gain += here - self.evaluate().total;
            self.go_to(&present);
        }
        let (k, n) = (
            proposed.map.linear.ncols() as f64,
            self.prepared.rows.n_valid() as f64,
        );
        let advantage = advantage * k / n * (SHORT / n).max(1.0);
        let moves = gain / DRAWS as f64 > -advantage;
        if moves {
            self.go_to(proposed);
            self.turning.before = Some(self.model.space.position());
        }
        // Those who look at the sources after this step see the ones that were kept.
        self.evaluate();
        moves
    }
}
