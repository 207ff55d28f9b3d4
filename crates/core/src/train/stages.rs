//! What a run is made of, stage by stage: a nonlinear run under the schedule `settle` begins with
//! an affine one, and bends what that has found once it has settled.
//!
//! Both stages are made when the run begins, so that whatever does not fit is refused before the
//! first step and nothing can fail in between. In: a plan, data and what the caller gave. Out:
//! models with their objectives.

use super::prepared::Prepared;
use super::start;
use super::trainer::{Start, Trainer};
use crate::Result;
use crate::adam_group::AdamGroup;
use crate::energy::Energy;
use crate::objective::{Model, Objective};
use crate::space::{self, Initial};
use crate::tensors::Tensors;
use faer::Mat;
use strt_signal::random::{Stream, rng};

/// Everything that is optimised in one stage, and its objective.
pub(crate) struct Stage {
    pub prepared: Prepared,
    pub model: Model,
    pub objective: Objective,
}

impl Stage {
    fn new(
        prepared: Prepared,
        seed: u64,
        restart: usize,
        start: Start,
        initial: Initial,
    ) -> Result<Stage> {
        let plan = &prepared.plan;
        let energy = start::energy(&prepared, seed, &start)?;
        let mixer = start::mixer(&prepared, seed, restart, start.mixer)?;
        let parts = space::Parts {
            plan,
            data: &prepared.data,
            kernel: prepared.kernels.as_ref().map(|kernels| &kernels.data),
            mixer: &*mixer,
            energy: &*energy,
        };
        let space = space::new(&parts, initial, &mut rng(seed, Stream::Sources))?;
        let objective = Objective::new(plan, &*mixer);
        let raw_gaps = objective.controller().initial_gaps();
        let model = Model {
            space,
            mixer,
            raw_gaps,
            energy,
        };
        Ok(Stage {
            prepared,
            model,
            objective,
        })
    }

    /// The first stage of a run, and the one that follows it, if there is one.
    pub fn all(
        prepared: &Prepared,
        seed: u64,
        restart: usize,
        start: Start,
    ) -> Result<(Stage, Option<Stage>)> {
        let Some(affine) = prepared.affine_stage() else {
            let initial = start::sources(prepared, seed, restart, start.sources.clone())?;
            return Ok((
                Stage::new(prepared.clone(), seed, restart, start, initial)?,
                None,
            ));
        };
        let initial = start::sources(&affine, seed, restart, start.sources.clone())?;
        let own = Start {
            mixer: None,
            ..start.clone()
        };
        let first = Stage::new(affine, seed, restart, own, initial)?;
        let k = prepared.plan.config().n_sources;
        let anywhere = Initial::Linear(Mat::identity(k, k));
        let mut later = Stage::new(prepared.clone(), seed, restart, start, anywhere)?;
        hand_over(&*first.model.energy, &mut *later.model.energy)?;
        Ok((first, Some(later)))
    }
}

/// What one energy has learned goes to another.
fn hand_over(from: &dyn Energy, to: &mut dyn Energy) -> Result<()> {
    let mut learned = Tensors::default();
    from.save_parameters(&mut learned);
    to.restore_parameters(&learned)
}

impl Trainer {
    /// Begins the next stage, if there is one, with the sources, networks and order of scales that
    /// the present one has found.
    pub(crate) fn begin_later(&mut self) {
        let Some(mut later) = self.later.take() else {
            return;
        };
        let found = self.model.space.map();
        let space = &mut later.model.space;
        space.set_map(&found.expect("the affine stage has nothing but A"));
        hand_over(&*self.model.energy, &mut *later.model.energy).expect("as when the run began");
        later.model.raw_gaps.clone_from(&self.model.raw_gaps);
        self.mixer_group = AdamGroup::new(later.model.mixer.parameters().len(), 1);
        self.gaps_group = AdamGroup::new(later.model.raw_gaps.len(), 1);
        let Stage {
            prepared,
            model,
            objective,
        } = *later;
        (self.prepared, self.model, self.objective) = (prepared, model, objective);
        self.convergence.begin_stage(self.step);
        self.turning = Default::default();
    }

    /// What the last stage is prepared for: that of the run.
    pub(crate) fn last_stage(&self) -> &Prepared {
        let later = self.later.as_ref();
        later.map_or(&self.prepared, |later| &later.prepared)
    }

    /// Steps of the present stage.
    pub(super) fn stage_step(&self) -> usize {
        self.step - self.convergence.stage_start
    }
}
