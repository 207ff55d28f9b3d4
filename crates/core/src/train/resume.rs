//! Taking a [`Checkpoint`] of a run and continuing from one, with the same bits as without the
//! stop.

use super::checkpoint::{BranchCheckpoint, Checkpoint, Moments};
use super::convergence::Convergence;
use super::prepared::Prepared;
use super::start;
use super::trainer::{Start, Trainer, thread_pool};
use crate::model::long::FreeMoments;
use crate::model::objective::Path;
use crate::model::sources::SourceParameters;
use crate::{Error, Recording, Result};
use faer::Mat;
use strt_kernels::Buffer;

impl Trainer {
    /// The state between two steps.
    pub fn checkpoint(&self) -> Checkpoint {
        let (fiber, sources) = self.model.sources.parts();
        let engine = &self.model.engine;
        let branches = (0..engine.branches().n_branches())
            .map(|b| {
                let length = start::layout(engine.branches(), b).len();
                let read = |buffer| {
                    let mut values = vec![0.0; length];
                    engine.read(buffer, b, &mut values);
                    values
                };
                BranchCheckpoint {
                    parameters: read(Buffer::Parameters),
                    first: read(Buffer::FirstMoment),
                    second: read(Buffer::SecondMoment),
                }
            })
            .collect();
        let moments = [
            Moments::from(&self.fiber_group),
            self.sources_group.to_moments(),
            Moments::from(&self.mixer_group),
            Moments::from(&self.gaps_group),
        ];
        let source_moments = match &self.objective.path {
            Path::Long(long) => long.free_moments().map(FreeMoments::to_vec),
            Path::Whole(_) => None,
        };
        Checkpoint {
            config: self.prepared.plan.config().clone(),
            seed: self.seed,
            restart: self.restart,
            step: self.step,
            shape: self.prepared.shape(),
            fingerprint: self.prepared.fingerprint,
            fiber: fiber.cloned(),
            sources: sources.cloned(),
            source_moments: source_moments.unwrap_or_default(),
            mixer: self.model.mixer.parameters().to_vec(),
            raw_gaps: self.model.raw_gaps.clone(),
            branches,
            network_updates: self.network_updates,
            moments,
            convergence: self.convergence.to_parts(),
            terms: self.terms,
        }
    }

    /// Continues a run from its checkpoint on the same recording; `start` gives again what the run
    /// was started with.
    pub fn resume(recording: &Recording, checkpoint: &Checkpoint, start: Start) -> Result<Trainer> {
        let shape = (recording.n_samples(), recording.n_channels());
        if shape != checkpoint.shape {
            return Err(Error::State(format!(
                "the checkpoint belongs to a recording of {} samples × {} channels, this one has {} × {}",
                checkpoint.shape.0, checkpoint.shape.1, shape.0, shape.1
            )));
        }
        if recording.fingerprint() != checkpoint.fingerprint {
            return Err(Error::State(format!(
                "the checkpoint belongs to another recording of the same shape (fingerprint {:016x}, this one has \
                 {:016x}); give the recording that the run was started with",
                checkpoint.fingerprint,
                recording.fingerprint()
            )));
        }
        let prepared = Prepared::new(recording, &checkpoint.config)?;
        let pool = thread_pool(checkpoint.config.threads)?;
        let mut trainer =
            Trainer::from_prepared(&prepared, pool, checkpoint.seed, checkpoint.restart, start)?;
        trainer.restore(checkpoint)?;
        Ok(trainer)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let fits = |what: &'static str, expected: (usize, usize), found: (usize, usize)| {
            if expected == found {
                return Ok(());
            }
            let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
            Err(Error::Shape {
                what,
                expected,
                found,
            })
        };
        let copy = |what: &'static str, to: &mut Mat<f64>, from: Option<&Mat<f64>>| {
            let from = from.ok_or_else(|| Error::State(format!("the checkpoint has no {what}")))?;
            fits(what, to.shape(), from.shape())?;
            to.copy_from(from);
            Ok::<(), Error>(())
        };
        let direct = matches!(self.model.sources, SourceParameters::Direct { .. });
        let neural = matches!(self.model.sources, SourceParameters::Neural { .. });
        let (a, free) = self.model.sources.parts_mut();
        if let Some(a) = a {
            copy("fiber coordinates", a, checkpoint.fiber.as_ref())?;
        }
        if let Some(free) = free {
            let what = match direct {
                true => "sources",
                false if neural => "bend of the sources",
                false => "free sources",
            };
            copy(what, free, checkpoint.sources.as_ref())?;
        }
        if let Path::Long(long) = &mut self.objective.path
            && let Some(moments) = long.free_moments_mut()
        {
            let (expected, found) = (moments.to_vec().len(), checkpoint.source_moments.len());
            fits("moments of the free sources", (expected, 1), (found, 1))?;
            moments.restore(&checkpoint.source_moments);
        }
        let n_mixer = self.model.mixer.parameters().len();
        fits(
            "mixer parameters",
            (n_mixer, 1),
            (checkpoint.mixer.len(), 1),
        )?;
        self.model
            .mixer
            .parameters_mut()
            .copy_from_slice(&checkpoint.mixer);
        fits(
            "raw gaps",
            (self.model.raw_gaps.len(), 1),
            (checkpoint.raw_gaps.len(), 1),
        )?;
        self.model.raw_gaps.copy_from_slice(&checkpoint.raw_gaps);
        let n_branches = self.model.engine.branches().n_branches();
        fits("branches", (n_branches, 1), (checkpoint.branches.len(), 1))?;
        for (b, branch) in checkpoint.branches.iter().enumerate() {
            let length = start::layout(self.model.engine.branches(), b).len();
            let parts = [
                (Buffer::Parameters, &branch.parameters),
                (Buffer::FirstMoment, &branch.first),
                (Buffer::SecondMoment, &branch.second),
            ];
            for (buffer, values) in parts {
                fits("branch parameters", (length, 1), (values.len(), 1))?;
                self.model.engine.write(buffer, b, values);
            }
        }
        let [fiber, sources, mixer, gaps] = &checkpoint.moments;
        let groups = [
            (&mut self.fiber_group, fiber),
            (&mut self.mixer_group, mixer),
            (&mut self.gaps_group, gaps),
        ];
        for (group, moments) in groups {
            fits("Adam moments", group.first.shape(), moments.first.shape())?;
            fits("Adam moments", group.second.shape(), moments.second.shape())?;
            *group = moments.to_group();
        }
        let shape = self.sources_group.shape();
        fits("Adam moments", shape, sources.first.shape())?;
        fits("Adam moments", shape, sources.second.shape())?;
        self.sources_group.restore(sources)?;
        self.network_updates = checkpoint.network_updates;
        self.convergence = Convergence::from_parts(checkpoint.convergence);
        self.step = checkpoint.step;
        self.terms = checkpoint.terms;
        self.stop = self.reason_to_stop();
        Ok(())
    }
}
