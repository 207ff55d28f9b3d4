//! One run: [`Trainer`] owns the model and the optimiser's state and takes steps until there is a
//! reason to stop.

use super::convergence::{Convergence, Turning};
use super::moves;
use super::observer::{Observer, StepReport};
use super::prepared::Prepared;
use super::stages::Stage;
use crate::adam_group::AdamGroup;
use crate::config::{AssignmentRule, Config, ConfigError, Reason, ScheduleKind, UpdateRule};
use crate::energy::MakeEnergy;
use crate::mixer::Mixer;
use crate::objective::{Model, Objective, Terms};
use crate::separation::Separation;
use crate::space::Movement;
use crate::tensors::Tensors;
use crate::view::{Excerpt, judged_pieces};
use crate::{Recording, Result};
use faer::Mat;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use strt_kernels::AdamStep;
use strt_signal::columns::col_mut;
use strt_signal::random::{Stream, rng};

/// β₁, β₂ and ε of Adam.
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The sources had stopped turning.
    Settled,
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
    /// A mixer of the caller's own; the configuration's mixer kind must be `custom`. The first
    /// restart takes it with the parameters that it has, further ones draw them anew.
    pub mixer: Option<Box<dyn Mixer>>,
    /// Initial sources (T×K); the configuration's init must be `given`.
    pub sources: Option<Mat<f64>>,
    /// An energy of the caller's own in place of the branch networks.
    pub energy: Option<MakeEnergy>,
}

/// A run in progress.
pub struct Trainer {
    pub(crate) prepared: Prepared, // of the present stage
    pub(crate) later: Option<Box<Stage>>,
    pub(crate) pool: Arc<rayon::ThreadPool>,
    pub(crate) seed: u64,
    pub(crate) restart: usize,
    pub(crate) model: Model,
    pub(crate) objective: Objective,
    pub(crate) excerpt: Excerpt,
    pub(crate) mixer_group: AdamGroup,
    pub(crate) gaps_group: AdamGroup,
    pub(crate) convergence: Convergence,
    pub(crate) turning: Turning,
    pub(crate) step: usize,
    pub(crate) terms: Terms,
    pub(crate) gradient_norm: f64,
    pub(crate) stop: Option<StopReason>,
}

/// The worker threads of a run; 0 takes all cores.
pub(crate) fn thread_pool(threads: usize) -> Result<Arc<rayon::ThreadPool>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| ConfigError {
        key: "threads",
        found: threads.to_string(),
        reason: Reason::NoThreads {
            cause: error.to_string(),
        },
    })?;
    Ok(Arc::new(pool))
}

/// A step at this rate, without weight decay; groups of parameters count their updates themselves.
pub(crate) fn adam_step(rate: f64) -> AdamStep {
    AdamStep {
        rate,
        beta1: BETA1,
        beta2: BETA2,
        epsilon: EPSILON,
        weight_decay: 0.0,
        count: 0,
        plain: false,
    }
}

impl Trainer {
    /// A run of `config` on `recording`, before its first step.
    pub fn new(recording: &Recording, config: &Config) -> Result<Trainer> {
        Trainer::start(recording, config, Start::default())
    }

    /// A run with parts of the caller's own.
    pub fn start(recording: &Recording, config: &Config, start: Start) -> Result<Trainer> {
        Trainer::on(&Prepared::new(recording, config)?, start)
    }

    /// A run on data that is already prepared.
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

    pub(crate) fn from_prepared(
        prepared: &Prepared,
        pool: Arc<rayon::ThreadPool>,
        seed: u64,
        restart: usize,
        start: Start,
    ) -> Result<Trainer> {
        let (first, later) = Stage::all(prepared, seed, restart, start)?;
        let Stage {
            prepared,
            model,
            objective,
        } = first;
        let mut trainer = Trainer {
            pool,
            seed,
            restart,
            excerpt: Excerpt::default(),
            mixer_group: AdamGroup::new(model.mixer.parameters().len(), 1),
            gaps_group: AdamGroup::new(model.raw_gaps.len(), 1),
            convergence: Convergence::new(),
            turning: Turning::default(),
            step: 0,
            terms: Terms::default(),
            gradient_norm: 0.0,
            stop: None,
            prepared,
            later: later.map(Box::new),
            model,
            objective,
        };
        trainer.stop = trainer.reason_to_stop();
        Ok(trainer)
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
        if self.later.is_some()
            && self
                .convergence
                .reached(&self.prepared.plan.config().optimizer)
        {
            self.begin_later();
        }
        self.sample(self.step);
        self.advance_from_sample();
    }

    /// Draws what step `step` looks at.
    pub(crate) fn sample(&mut self, step: usize) {
        let mut rng = rng(self.seed, Stream::Step(step as u64));
        let Model { space, energy, .. } = &mut self.model;
        self.excerpt = space.excerpts().draw(&mut **energy, &mut rng);
    }

    pub(crate) fn advance_from_sample(&mut self) {
        let plan = &self.prepared.plan;
        let free = plan.unlock_step.is_some_and(|at| self.stage_step() >= at);
        let terms = self.evaluate();
        self.gradient_norm = self.global_norm(free);
        if !(terms.total.is_finite() && self.gradient_norm.is_finite()) {
            self.stop = Some(StopReason::Diverged);
            return;
        }
        self.terms = terms;
        self.update(free);
        self.step += 1;
        self.convergence.record(terms.total);
        self.move_sources();
        self.judge_turning();
        self.stop = self.reason_to_stop();
    }

    /// Every `patience` steps, how far the sources have turned.
    fn judge_turning(&mut self) {
        let plan = &self.prepared.plan;
        let optimizer = &plan.config().optimizer;
        let patience = optimizer.early_stopping.patience;
        if !self.stage_step().is_multiple_of(patience) {
            return;
        }
        if let Some(turned) = self.turning.judge(self.model.space.position()) {
            let least = match optimizer.early_stopping.least {
                0 => self.prepared.least_steps(),
                chosen => chosen,
            };
            let searching = self.convergence.lowered == 0;
            self.convergence.judge(turned, optimizer, least);
            if searching && self.convergence.lowered > 0 {
                self.consider_solution();
                self.consider_turn();
            }
        }
    }

    /// Why the run ends where it stands, if it does. Depends on nothing but the state that a
    /// checkpoint holds, so that a resumed run ends where the unbroken one did.
    pub(crate) fn reason_to_stop(&self) -> Option<StopReason> {
        let plan = &self.prepared.plan;
        let optimizer = &plan.config().optimizer;
        // Rest before the sources are free is no end.
        let last = self.later.is_none()
            && plan
                .unlock_step
                .is_none_or(|at| self.stage_step() > at || at == 0);
        if self.step >= plan.steps {
            let found = plan.steps == 0 && self.prepared.start_converged();
            Some(if found {
                StopReason::Settled
            } else {
                StopReason::StepLimit
            })
        } else if optimizer.early_stopping.enabled
            && optimizer.schedule.kind != ScheduleKind::Cosine
            && last
            && self.convergence.reached(optimizer)
        {
            Some(StopReason::Settled)
        } else {
            None
        }
    }

    /// J and its gradient at the present parameters, for what was last sampled.
    pub(crate) fn evaluate(&mut self) -> Terms {
        self.model.energy.come_to_rest(self.convergence.lowered > 0);
        self.objective.evaluate(&mut self.model, &self.excerpt)
    }

    fn global_norm(&self, free: bool) -> f64 {
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let Model { space, energy, .. } = &self.model;
        let squares = space.gradient_norm_squared(free)
            + square(&self.objective.d_mixer)
            + square(&self.objective.d_raw_gaps)
            + energy.gradient_norm_squared();
        squares.sqrt()
    }

    /// Clips the gradient and takes one step in every group whose rate is not 0.
    fn update(&mut self, free: bool) {
        let plan = &self.prepared.plan;
        let optimizer = &plan.config().optimizer;
        let rates = &optimizer.rates;
        let lowered = self.convergence.lowered;
        let factor = optimizer
            .schedule
            .factor(self.stage_step() + 1, plan.steps, lowered);
        let clip = match optimizer.clip {
            limit if limit > 0.0 && self.gradient_norm > limit => limit / self.gradient_norm,
            _ => 1.0,
        };
        let step_at = |rate: f64| {
            (rate > 0.0).then(|| match optimizer.rule {
                UpdateRule::Adam => adam_step(rate * factor),
                UpdateRule::Gradient => AdamStep {
                    plain: true,
                    ..adam_step(optimizer.rate * factor)
                },
            })
        };
        let Model {
            space,
            mixer,
            raw_gaps,
            energy,
        } = &mut self.model;
        let predicted = energy.found().predicted;
        let pace = |k: usize| {
            if plan.by_predictability {
                predicted[k]
            } else {
                1.0
            }
        };
        space.update(&Movement {
            linear: step_at(rates.fiber),
            free: step_at(plan.sources_rate).filter(|_| free),
            scale: clip,
            pace: &pace,
        });
        if let Some(step) = step_at(rates.mixer) {
            let (d_mixer, parameters) = (&self.objective.d_mixer, mixer.parameters_mut());
            self.mixer_group
                .update_vector(step, clip, d_mixer, parameters);
        }
        if let Some(step) = step_at(rates.controller) {
            self.gaps_group
                .update_vector(step, clip, &self.objective.d_raw_gaps, raw_gaps);
        }
        if let Some(mut step) = step_at(rates.networks).filter(|_| plan.structure > 0.0) {
            step.weight_decay = optimizer.weight_decay;
            energy.update(&step, clip);
        }
    }

    /// At the steps of the plan, carries each source, with what was learned about it, to the branch
    /// it belongs to.
    fn move_sources(&mut self) {
        let plan = &self.prepared.plan;
        let assignment = &plan.config().assignment;
        let due = !self.convergence.bent && assignment.at.contains(&self.step);
        if !due || assignment.rule == AssignmentRule::None {
            return;
        }
        let Model {
            space,
            mixer,
            energy,
            ..
        } = &mut self.model;
        let sources = space.judged_sources();
        let weights = &self.objective.state.scale_weights;
        let by_scale = energy.found().by_scale;
        let pieces = judged_pieces(&self.prepared.rows, sources.nrows());
        let order = moves::order(
            assignment.rule,
            sources.as_ref(),
            &pieces,
            weights,
            by_scale,
        );
        let Some(order) = order else {
            return;
        };
        space.permute(&order);
        energy.permute(&order);
        self.turning.permute(&order);
        // The mixer was checked at the start to be able to do this.
        let mut parameters = mixer.parameters().to_vec();
        mixer.permute_sources(&order, &mut parameters);
        mixer.parameters_mut().copy_from_slice(&parameters);
        for moment in [&mut self.mixer_group.first, &mut self.mixer_group.second] {
            mixer.permute_sources(&order, col_mut(moment.as_mut(), 0));
        }
    }

    /// What the last step found.
    pub fn report(&self) -> StepReport<'_> {
        let found = self.model.energy.found();
        StepReport {
            restart: self.restart,
            restarts: self.prepared.plan.restarts,
            step: self.step,
            steps: self.prepared.plan.steps,
            turned: self.convergence.turned,
            bent: self.convergence.bent,
            terms: self.terms,
            smoothed_objective: self.convergence.smoothed(),
            gradient_norm: self.gradient_norm,
            branch_structure: found.by_source,
            energy: found.by_scale,
            controller: &self.objective.state,
            n_scales: self.prepared.plan.branches().scales.len(),
            space: &*self.model.space,
        }
    }

    /// Takes controller, energy and gauge of a trained model (transform of new data).
    pub(crate) fn freeze(
        &mut self,
        raw_gaps: &[f64],
        energy: &Tensors,
        gauge: &[(f64, f64)],
    ) -> Result<()> {
        self.model.raw_gaps.copy_from_slice(raw_gaps);
        self.model.energy.restore_parameters(energy)?;
        self.model.space.samples_mut().gauge_mut().fix(gauge);
        Ok(())
    }

    /// Whether the run is over and cannot be run on.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.stop, None | Some(StopReason::Interrupted))
    }

    /// Steps done so far.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Ends the run and hands out its result. J is evaluated once more, so that the terms, the
    /// mixer and the sources belong to the same parameters.
    pub fn finish(mut self) -> Separation {
        let mut stop = self.stop.unwrap_or(StopReason::Interrupted);
        // A run that ends before its last stage has what that would begin with.
        self.begin_later();
        let pool = self.pool.clone();
        let mut terms = pool.install(|| {
            self.sample(self.step);
            self.evaluate()
        });
        if stop == StopReason::Diverged || !terms.total.is_finite() {
            (stop, terms) = (StopReason::Diverged, self.terms);
        }
        let optimizer = &self.prepared.plan.config().optimizer;
        let converged = match stop {
            StopReason::Settled => true,
            StopReason::Diverged => false,
            // Steps along the gradient are as short as the one rate makes them: that sources hardly
            // turn does not say that they have come to rest.
            _ => optimizer.rule == UpdateRule::Adam && self.convergence.reached(optimizer),
        };
        Separation::collect(
            self.prepared,
            self.model,
            self.objective,
            crate::separation::Outcome {
                terms,
                smoothed_objective: match self.convergence.weight {
                    0.0 => terms.total,
                    _ => self.convergence.smoothed(),
                },
                turned: self.convergence.turned,
                stop,
                converged,
                steps: self.step,
                seed: self.seed,
                restart: self.restart,
            },
        )
    }
}
