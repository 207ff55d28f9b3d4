//! The full state of a run between two steps: resuming from it continues with the same bits.
//!
//! Random draws come from (seed, step), so no generator is saved; preprocessing is refitted from
//! the recording, which is the same by definition. Plain data: writing it to a file is `strt-io`'s
//! business.

use super::convergence::Convergence;
use super::prepared::Prepared;
use super::trainer::{Start, Trainer, thread_pool};
use crate::config::Config;
use crate::objective::Terms;
use crate::tensors::Tensors;
use crate::{Error, Recording, Result};
use faer::MatRef;
use strt_classic::kernel::{Density, Novel, Shape};

/// Name of θ.
pub(crate) const MIXER: &str = "mixer";
/// Where the sources were when they were last judged.
const POSITION: &str = "turning.before";
/// What was found to be judged beside second moments in bent sources.
const NOVEL: &str = "turning.novel";
/// Name of η.
pub(crate) const RAW_GAPS: &str = "controller.raw_gaps";

/// Everything needed to continue a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The resolved configuration.
    pub config: Config,
    /// Seed of this restart.
    pub seed: u64,
    /// Index of this restart.
    pub restart: usize,
    /// Steps done.
    pub step: usize,
    /// Shape of the recording it belongs to: samples and channels.
    pub shape: (usize, usize),
    /// [`Recording::fingerprint`] of that recording.
    pub fingerprint: u64,
    /// Parameters of sources, mixer, controller and energy, and the state of their optimisers.
    pub tensors: Tensors,
    /// How the objective has developed.
    pub convergence: Convergence,
    /// Terms of the last step.
    pub terms: Terms,
}

impl Trainer {
    /// The state between two steps.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            config: self.last_stage().plan.config().clone(),
            seed: self.seed,
            restart: self.restart,
            step: self.step,
            shape: self.prepared.shape(),
            fingerprint: self.prepared.fingerprint,
            tensors: self.tensors(),
            convergence: self.convergence,
            terms: self.terms,
        }
    }

    /// Parameters and optimisers of all parts.
    fn tensors(&self) -> Tensors {
        let mut tensors = Tensors::default();
        self.model.space.save(&mut tensors);
        tensors.put_vector(MIXER, self.model.mixer.parameters());
        self.mixer_group.save(MIXER, &mut tensors);
        tensors.put_vector(RAW_GAPS, &self.model.raw_gaps);
        self.gaps_group.save(RAW_GAPS, &mut tensors);
        self.model.energy.save_parameters(&mut tensors);
        self.model.energy.save_optimizer(&mut tensors);
        if let Some(before) = &self.turning.before {
            tensors.put(POSITION, before.clone());
        }
        // What was there from the beginning is found anew.
        let found_later = self.convergence.turns > 0;
        if let Some(kernels) = self.prepared.kernels.as_ref().filter(|_| found_later)
            && kernels.novel.is_something()
        {
            tensors.put_vector(NOVEL, &to_numbers(&kernels.novel));
        }
        tensors
    }

    /// Continues a run from its checkpoint on the same recording; `start` holds what the run was
    /// started with.
    ///
    /// # Errors
    /// When the recording is another one, or the checkpoint does not fit its own configuration.
    pub fn resume(recording: &Recording, checkpoint: &Checkpoint, start: Start) -> Result<Trainer> {
        check_recording(recording, checkpoint)?;
        let prepared = Prepared::new(recording, &checkpoint.config)?;
        let pool = thread_pool(checkpoint.config.threads)?;
        Trainer::restored(&prepared, pool, checkpoint, start)
    }

    /// Continues a run on data that is already prepared and known to be the run's own.
    pub(super) fn restored(
        prepared: &Prepared,
        pool: std::sync::Arc<rayon::ThreadPool>,
        checkpoint: &Checkpoint,
        start: Start,
    ) -> Result<Trainer> {
        let Checkpoint { seed, restart, .. } = *checkpoint;
        let mut trainer = Trainer::from_prepared(prepared, pool, seed, restart, start)?;
        trainer.restore(checkpoint)?;
        Ok(trainer)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let tensors = &checkpoint.tensors;
        if checkpoint.convergence.bent {
            self.begin_later();
        }
        self.convergence = checkpoint.convergence;
        if let Some(numbers) = tensors.get(NOVEL) {
            self.judge(from_numbers(numbers)?);
        }
        self.turning.before = tensors.get(POSITION).map(|_| self.model.space.position());
        let own = self.tensors();
        if let Some((name, _)) = tensors.iter().find(|(name, _)| own.get(name).is_none()) {
            return Err(Error::UnknownTensor { name: name.into() });
        }
        self.model.space.restore(tensors)?;
        tensors.read_vector(MIXER, self.model.mixer.parameters_mut())?;
        self.mixer_group.restore(MIXER, tensors)?;
        tensors.read_vector(RAW_GAPS, &mut self.model.raw_gaps)?;
        self.gaps_group.restore(RAW_GAPS, tensors)?;
        self.model.energy.restore_parameters(tensors)?;
        self.model.energy.restore_optimizer(tensors)?;
        if let Some(before) = &mut self.turning.before {
            tensors.read(POSITION, before)?;
        }
        self.step = checkpoint.step;
        self.terms = checkpoint.terms;
        self.stop = self.reason_to_stop();
        Ok(())
    }
}

/// Innovations: 1 for every density that they have, 0 for the others. Forecasts: order, length and
/// noise. Values are never found later than at the start.
fn to_numbers(novel: &Novel) -> Vec<f64> {
    match novel {
        Novel::Nothing | Novel::Values => Vec::new(),
        Novel::Innovations(densities) => {
            let has = |density: &Density| f64::from(densities.contains(density));
            Density::ALL.iter().map(has).collect()
        }
        Novel::Forecasts(Shape {
            order,
            length,
            noise,
        }) => vec![*order as f64, *length, *noise],
    }
}

/// What [`to_numbers`] has put.
fn from_numbers(numbers: MatRef<'_, f64>) -> Result<Novel> {
    let refuse = |expected, found| {
        Err(Error::TensorValue {
            name: NOVEL.into(),
            expected,
            found,
        })
    };
    let values: Vec<f64> = numbers
        .col_iter()
        .flat_map(|col| col.iter())
        .copied()
        .collect();
    match values[..] {
        [order, length, noise] => {
            let same = |shape: &Shape| {
                (shape.order as f64, shape.length, shape.noise) == (order, length, noise)
            };
            match Shape::all().find(same) {
                Some(shape) => Ok(Novel::Forecasts(shape)),
                None => refuse("order, length and noise of forecasts", order),
            }
        }
        _ if values.len() == Density::ALL.len() => {
            if let Some(&other) = values.iter().find(|v| ![0.0, 1.0].contains(*v)) {
                return refuse("0 or 1 for every density of innovations", other);
            }
            let among = Density::ALL.into_iter().zip(values);
            let taken = among.filter(|(_, taken)| *taken == 1.0);
            Ok(Novel::Innovations(
                taken.map(|(density, _)| density).collect(),
            ))
        }
        _ => refuse("three or six numbers", values.len() as f64),
    }
}

/// Refuses a recording that the checkpoint does not belong to.
pub(super) fn check_recording(recording: &Recording, checkpoint: &Checkpoint) -> Result<()> {
    let shape = (recording.n_samples(), recording.n_channels());
    if shape != checkpoint.shape {
        return Err(Error::OtherShape {
            expected: checkpoint.shape,
            found: shape,
        });
    }
    if recording.fingerprint() != checkpoint.fingerprint {
        return Err(Error::OtherRecording {
            expected: checkpoint.fingerprint,
            found: recording.fingerprint(),
        });
    }
    Ok(())
}
