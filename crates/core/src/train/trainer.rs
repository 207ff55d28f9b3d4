//! One run: [`Trainer`] owns the model and the optimiser's state and takes steps until there is a
//! reason to stop.

use super::adam_group::AdamGroup;
use super::convergence::Convergence;
use super::observer::{Observer, StepReport};
use super::prepared::{Data, Prepared};
use super::sources_group::SourcesGroup;
use super::{moves, start};
use crate::config::{AssignmentRule, Config};
use crate::model::draws::{Draws, Grid};
use crate::model::long::Long;
use crate::model::mixer::Mixer;
use crate::model::objective::{Model, Objective, Path, Terms};
use crate::model::sources::SourceParameters;
use crate::model::whole::Whole;
use crate::separation::Separation;
use crate::{Error, Recording, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use strt_kernels::AdamStep;
use strt_signal::random::{Stream, rng};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The smoothed objective stopped improving and early stopping was on.
    Plateau,
    /// All steps were taken.
    StepLimit,
    /// An observer asked for it.
    Interrupted,
    /// The objective or its gradient was no longer finite; the state before that step is kept.
    Diverged,
}

/// What a caller may give a run besides recording and configuration.
#[derive(Clone, Default)]
pub struct Start {
    /// A mixer of the caller's own; the configuration's mixer kind must be `custom`.
    pub mixer: Option<Box<dyn Mixer>>,
    /// Initial sources (T×K); the configuration's init must be `given`.
    pub sources: Option<Mat<f64>>,
}

/// A run in progress.
pub struct Trainer {
    pub(super) prepared: Prepared,
    pub(super) pool: Arc<rayon::ThreadPool>,
    pub(super) seed: u64,
    pub(super) restart: usize,
    pub(super) model: Model,
    pub(super) objective: Objective,
    pub(super) grid: Grid,
    pub(super) draws: Draws,
    pub(super) fiber_group: AdamGroup,
    pub(super) sources_group: SourcesGroup,
    pub(super) mixer_group: AdamGroup,
    pub(super) gaps_group: AdamGroup,
    pub(super) network_updates: u64,
    pub(super) convergence: Convergence,
    pub(super) step: usize,
    pub(super) terms: Terms,
    pub(super) gradient_norm: f64,
    pub(super) stop: Option<StopReason>,
    /// Whether the sources may have been changed from outside since the last evaluation.
    pub(super) stale: bool,
}

/// The worker threads of a run; 0 takes all cores.
pub(super) fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Arc::new).map_err(|e| Error::Config {
        field: "threads",
        found: threads.to_string(),
        expected: format!("could not start the worker threads ({e}); ask for fewer"),
    })
}

impl Trainer {
    /// A run of `config` on `recording`, before its first step.
    pub fn new(recording: &Recording, config: &Config) -> Result<Trainer> {
        Trainer::start(recording, config, Start::default())
    }

    /// The same with a mixer or initial sources of the caller's own.
    pub fn start(recording: &Recording, config: &Config, start: Start) -> Result<Trainer> {
        Trainer::on(&Prepared::new(recording, config)?, start)
    }

    /// The same on data that is already prepared.
    pub fn on(prepared: &Prepared, start: Start) -> Result<Trainer> {
        let config = prepared.plan.config();
        Trainer::from_prepared(
            prepared,
            thread_pool(config.threads)?,
            config.seed,
            0,
            start,
        )
    }

    pub(super) fn from_prepared(
        prepared: &Prepared,
        pool: Arc<rayon::ThreadPool>,
        seed: u64,
        restart: usize,
        start: Start,
    ) -> Result<Trainer> {
        let plan = &prepared.plan;
        let mixer = start::mixer(prepared, seed, start.mixer)?;
        let sources = start::sources(prepared, seed, start.sources)?;
        let path = match &prepared.data {
            Data::Long(basis) if plan.is_neural() => {
                Path::Whole(Box::new(Whole::in_blocks(plan, basis.clone(), &*mixer)))
            }
            Data::Whole(data) => Path::Whole(Box::new(Whole::new(
                plan,
                data.clone(),
                prepared.rows.clone(),
                &*mixer,
            ))),
            Data::Long(basis) => {
                Path::Long(Box::new(Long::new(plan, basis.clone(), &*mixer, &sources)))
            }
        };
        let objective = Objective::new(plan, path, prepared.rows.n_samples(), &*mixer);
        let model = Model {
            sources,
            raw_gaps: objective.controller().initial_gaps(),
            engine: start::engine(plan, seed),
            mixer,
        };
        let k = plan.config().n_sources;
        let direct = matches!(model.sources, SourceParameters::Direct { .. });
        let is_free = direct || plan.unlock_step.is_some();
        Ok(Trainer {
            pool,
            seed,
            restart,
            grid: Grid::new(plan, &prepared.rows)?,
            draws: Draws::new(plan),
            fiber_group: AdamGroup::new(k, k),
            sources_group: SourcesGroup::new(plan.is_long, &model.sources, k, is_free),
            mixer_group: AdamGroup::new(model.mixer.parameters().len(), 1),
            gaps_group: AdamGroup::new(k + 1, 1),
            network_updates: 0,
            convergence: Convergence::new(),
            step: 0,
            terms: Terms::default(),
            gradient_norm: 0.0,
            stop: None,
            stale: false,
            prepared: prepared.clone(),
            model,
            objective,
        })
    }

    /// Steps until the run ends by itself or `observer` breaks it; says why it ended. A run that
    /// was interrupted may be run on.
    pub fn run(&mut self, observer: &mut dyn Observer) -> StopReason {
        if self.stop == Some(StopReason::Interrupted) {
            self.stop = None;
        }
        let pool = self.pool.clone();
        pool.install(|| {
            while self.stop.is_none() {
                self.advance();
                if self.stop != Some(StopReason::Diverged)
                    && observer.observe(&self.report()).is_break()
                {
                    self.stop.get_or_insert(StopReason::Interrupted);
                }
            }
        });
        self.stop.expect("the loop ends with a reason")
    }

    /// One step: sample → evaluate → update → judge.
    fn advance(&mut self) {
        self.draws.sample(
            &self.grid,
            &mut rng(self.seed, Stream::Step(self.step as u64)),
        );
        self.advance_with_draws();
    }

    fn advance_with_draws(&mut self) {
        let unlocked = self.sources_are_free();
        let terms = self.evaluate();
        self.gradient_norm = self.global_norm(unlocked);
        if !(terms.total.is_finite() && self.gradient_norm.is_finite()) {
            self.stop = Some(StopReason::Diverged);
            return;
        }
        self.terms = terms;
        self.update(unlocked);
        self.step += 1;
        let stopping = &self.prepared.plan.config().optimizer.early_stopping;
        self.convergence.record(terms.total, stopping);
        self.move_sources();
        if self.prepared.plan.unlock_step == Some(self.step) {
            self.convergence.restart();
        }
        self.stop = self.reason_to_stop();
    }

    /// Why the run ends where it stands, if it does. Depends on nothing but the state that a
    /// checkpoint holds, so that a resumed run ends where the unbroken one did.
    pub(super) fn reason_to_stop(&self) -> Option<StopReason> {
        let plan = &self.prepared.plan;
        let stopping = &plan.config().optimizer.early_stopping;
        // A plateau of the first stage is no end: the sources have not been free yet.
        let last_stage = plan.unlock_step.is_none_or(|at| self.step >= at);
        if self.step >= plan.steps {
            Some(StopReason::StepLimit)
        } else if stopping.enabled && last_stage && self.convergence.reached(stopping) {
            Some(StopReason::Plateau)
        } else {
            None
        }
    }

    /// J and its gradient (in [`Trainer::objective`]) at the present parameters with the draws of
    /// step `step`; nothing is updated.
    pub fn evaluate_at(&mut self, step: usize) -> Terms {
        let pool = self.pool.clone();
        pool.install(|| {
            self.draws
                .sample(&self.grid, &mut rng(self.seed, Stream::Step(step as u64)));
            self.evaluate()
        })
    }

    fn evaluate(&mut self) -> Terms {
        if std::mem::take(&mut self.stale)
            && let Path::Long(long) = &mut self.objective.path
        {
            long.refresh(&self.model.sources);
        }
        self.objective.evaluate(&mut self.model, &mut self.draws)
    }

    /// J and its gradient at the present parameters with draws that the caller sets; nothing is
    /// updated.
    pub fn evaluate_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms {
        let pool = self.pool.clone();
        pool.install(|| {
            set(&mut self.draws);
            self.evaluate()
        })
    }

    /// One step with draws that the caller sets (see [`Draws::set`]), for reproducing a recorded
    /// run. The terms are those before the update, the gradient is left in [`Trainer::objective`].
    pub fn step_with_draws(&mut self, set: impl FnOnce(&mut Draws) + Send) -> Terms {
        let pool = self.pool.clone();
        pool.install(|| {
            set(&mut self.draws);
            self.advance_with_draws();
        });
        self.terms
    }

    /// Whether S, E or the bend takes part in the next update.
    fn sources_are_free(&self) -> bool {
        match &self.model.sources {
            SourceParameters::Direct { .. } => true,
            SourceParameters::Fiber { .. } | SourceParameters::Neural { .. } => self
                .prepared
                .plan
                .unlock_step
                .is_some_and(|at| self.step >= at),
        }
    }

    fn global_norm(&self, unlocked: bool) -> f64 {
        let g = &self.objective.gradient;
        let vector = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let sources = match &self.sources_group {
            _ if !unlocked => 0.0,
            SourcesGroup::Bend(_) => g.bend.squared_norm_l2(),
            _ => g.sources.squared_norm_l2() + g.touched_square,
        };
        let networks = self.model.engine.gradient_norm_squared(&g.branches);
        (sources + g.fiber.squared_norm_l2() + vector(&g.mixer) + vector(&g.raw_gaps) + networks)
            .sqrt()
    }

    /// Clips the gradient and takes one Adam step in every group whose rate is not 0.
    fn update(&mut self, unlocked: bool) {
        let plan = &self.prepared.plan;
        let optimizer = &plan.config().optimizer;
        let factor = optimizer.schedule.factor(self.step + 1, plan.steps);
        let clip = match optimizer.clip {
            limit if limit > 0.0 && self.gradient_norm > limit => limit / self.gradient_norm,
            _ => 1.0,
        };
        let adam = |rate: f64| AdamStep {
            rate: rate * factor,
            beta1: optimizer.beta1,
            beta2: optimizer.beta2,
            epsilon: optimizer.epsilon,
            weight_decay: 0.0,
            count: 0,
        };
        let (model, gradient, rates) = (
            &mut self.model,
            &mut self.objective.gradient,
            &optimizer.rates,
        );
        let (a, free) = model.sources.parts_mut();
        if let (Some(a), true) = (a, rates.fiber > 0.0) {
            self.fiber_group
                .update(adam(rates.fiber), clip, gradient.fiber.as_ref(), a.as_mut());
        }
        if let (Some(free), true) = (free, unlocked && plan.sources_rate > 0.0) {
            let step = adam(plan.sources_rate);
            let predicted = &self.objective.predicted;
            let pace = |k: usize| {
                if plan.by_predictability {
                    predicted[k]
                } else {
                    1.0
                }
            };
            match (&mut self.sources_group, &mut self.objective.path) {
                (SourcesGroup::Bend(group), _) => {
                    group.update(step, clip, gradient.bend.as_ref(), free.as_mut());
                }
                (SourcesGroup::Dense(group), _) => {
                    group.update_columns(
                        step,
                        clip,
                        gradient.sources.as_ref(),
                        free.as_mut(),
                        pace,
                    );
                }
                (SourcesGroup::Sparse(group), Path::Long(long)) => {
                    long.move_free(free, |k, samples, d| {
                        let rate = pace(k) * step.rate;
                        group.update(&AdamStep { rate, ..step }, clip, k, samples, d);
                    })
                }
                (SourcesGroup::Sparse(_), Path::Whole(_)) => {
                    unreachable!("only long recordings are sparse")
                }
            }
        }
        if rates.mixer > 0.0 {
            let parameters = model.mixer.parameters_mut();
            self.mixer_group
                .update_vector(adam(rates.mixer), clip, &gradient.mixer, parameters);
        }
        if rates.controller > 0.0 {
            let step = adam(rates.controller);
            self.gaps_group
                .update_vector(step, clip, &gradient.raw_gaps, &mut model.raw_gaps);
        }
        if rates.networks > 0.0 && plan.structure > 0.0 {
            self.network_updates += 1;
            gradient.branches.iter_mut().for_each(|w| *w *= clip);
            let mut step = adam(rates.networks);
            (step.weight_decay, step.count) = (optimizer.weight_decay, self.network_updates);
            model.engine.update(&gradient.branches, &step);
        }
    }

    /// At the steps of the plan, carries each source with its networks and moments to the branch it
    /// belongs to.
    fn move_sources(&mut self) {
        let plan = &self.prepared.plan;
        let assignment = &plan.config().assignment;
        let due = assignment
            .at
            .iter()
            .any(|&at| (at * plan.steps as f64).round() as usize == self.step);
        if !due || assignment.rule == AssignmentRule::None {
            return;
        }
        let state = &self.objective.state;
        let judged;
        let sources = match &self.objective.path {
            Path::Whole(whole) => {
                judged = whole.judged_sources(&self.model.sources);
                judged.as_ref()
            }
            Path::Long(long) => {
                judged = long.judged_sources(&self.model.sources);
                judged.as_ref()
            }
        };
        let Some(order) = moves::order(
            assignment.rule,
            sources,
            &state.scale_weights,
            &self.objective.energy,
        ) else {
            return;
        };
        if let Path::Long(long) = &mut self.objective.path
            && let Some(moments) = long.free_moments_mut()
        {
            moments.permute(&order);
        }
        self.model.sources.permute(&order);
        self.model.engine.permute_sources(&order);
        self.fiber_group.permute_columns(&order);
        self.sources_group.permute_columns(&order);
        // The mixer was checked at the start to be able to do this.
        let mut parameters = self.model.mixer.parameters().to_vec();
        self.model.mixer.permute_sources(&order, &mut parameters);
        self.model
            .mixer
            .parameters_mut()
            .copy_from_slice(&parameters);
        for moment in [&mut self.mixer_group.first, &mut self.mixer_group.second] {
            self.model
                .mixer
                .permute_sources(&order, strt_signal::columns::col_mut(moment.as_mut(), 0));
        }
    }

    /// What the last step found.
    pub fn report(&self) -> StepReport<'_> {
        StepReport {
            restart: self.restart,
            step: self.step,
            steps: self.prepared.plan.steps,
            terms: self.terms,
            smoothed_objective: self.convergence.smoothed(),
            gradient_norm: self.gradient_norm,
            branch_structure: &self.objective.branch_structure,
            energy: &self.objective.energy,
            controller: &self.objective.state,
            n_scales: self.prepared.plan.branches().scales.len(),
            objective: &self.objective,
            model: &self.model,
        }
    }

    /// The objective with the gradient of the last step.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The model as it stands.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, to be given other parameters.
    pub fn model_mut(&mut self) -> &mut Model {
        self.stale = true;
        &mut self.model
    }

    /// Replaces the training gauge by a fixed one (transform of new data).
    pub(crate) fn fix_gauge(&mut self, gauge: &[(f64, f64)]) {
        self.objective.fix_gauge(gauge);
    }

    /// Steps done so far.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Ends the run and hands out its result. J is evaluated once more, so that the terms, the
    /// mixer and the sources belong to the same parameters.
    pub fn finish(mut self) -> Separation {
        let mut stop = self.stop.unwrap_or(StopReason::Interrupted);
        let mut terms = self.evaluate_at(self.step);
        if stop == StopReason::Diverged || !terms.total.is_finite() {
            (stop, terms) = (StopReason::Diverged, self.terms);
        }
        let stopping = self.prepared.plan.config().optimizer.early_stopping.clone();
        let converged = stop != StopReason::Diverged && self.convergence.reached(&stopping);
        Separation::collect(
            self.prepared,
            self.model,
            self.objective,
            crate::separation::Outcome {
                terms,
                smoothed_objective: self.convergence.smoothed(),
                stop,
                converged,
                steps: self.step,
                seed: self.seed,
                restart: self.restart,
            },
        )
    }
}
