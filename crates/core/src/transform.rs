//! Sources of new data under a trained model.
//!
//! An affine model unmixes row by row with the map it has learned, and so does one in neural
//! coordinates, whose sources are a map of the channels. Any other nonlinear one has no inverse:
//! the sources of the new samples are optimised, with mixer, networks, controller and gauge frozen,
//! from the best linear guess.

use crate::config::{Coordinates, Elimination, Init, MixerKind, UpdateRule};
use crate::energy::MakeEnergy;
use crate::recording::missing_samples;
use crate::separation::{Separation, Unmixing};
use crate::space::layers;
use crate::train::{Observer, Prepared, Start, StopReason, Trainer};
use crate::{Error, Recording, Result};
use faer::{Mat, MatRef};

/// Rows that are bent at once.
const STRETCH: usize = 4096;

/// Sources of a new recording.
#[derive(Clone, Debug)]
pub struct Transformed {
    /// S̃ (T×K); NaN where samples are missing.
    pub sources: Mat<f64>,
    /// Why the optimisation ended; `None` for a model that needs none.
    pub stop: Option<StopReason>,
    /// Whether the sources had stopped improving (always true for a model that needs no
    /// optimisation).
    pub converged: bool,
}

impl Separation {
    /// Sources of `recording` under a model that was trained with an energy of the caller's own,
    /// which `energy` makes again; otherwise as [`Separation::transform`].
    ///
    /// # Errors
    /// When channels or energy are others than those of the training.
    pub fn transform_with(
        &self,
        energy: MakeEnergy,
        recording: &Recording,
        steps: usize,
        observer: &mut dyn Observer,
    ) -> Result<Transformed> {
        self.transform_under(Some(energy), recording, steps, observer)
    }

    /// Sources of `recording`, which must have the channels of the training data in the same order.
    /// `steps` bounds the optimisation of a nonlinear model that is not in neural coordinates; any
    /// other ignores it.
    pub fn transform(
        &self,
        recording: &Recording,
        steps: usize,
        observer: &mut dyn Observer,
    ) -> Result<Transformed> {
        self.transform_under(None, recording, steps, observer)
    }

    fn transform_under(
        &self,
        energy: Option<MakeEnergy>,
        recording: &Recording,
        steps: usize,
        observer: &mut dyn Observer,
    ) -> Result<Transformed> {
        self.check_channels(recording)?;
        if let Some(sources) = self.unmix(recording.observations()) {
            return Ok(Transformed {
                sources: sources?,
                stop: None,
                converged: true,
            });
        }
        let mut trainer = self.frozen_trainer(energy, recording, steps)?;
        trainer.run(observer);
        let result = trainer.finish();
        Ok(Transformed {
            converged: result.converged(),
            stop: Some(result.stop_reason()),
            sources: result.record.sources,
        })
    }

    /// Refuses a recording with another number of channels than that of the training.
    pub(crate) fn check_channels(&self, recording: &Recording) -> Result<()> {
        let m = self.record.scaling.n_channels();
        if recording.n_channels() == m {
            return Ok(());
        }
        Err(Error::Shape {
            what: "channels of the new recording",
            expected: format!("{m} ({})", self.record.channel_names.join(", ")),
            found: recording.n_channels().to_string(),
        })
    }

    /// Sources (T×K) of any number of rows of the same channels, row by row, under an affine mixer
    /// or in neural coordinates: a row with a NaN gives a row of NaN. `None` for any other
    /// nonlinear model, which has no inverse.
    pub fn unmix(&self, observations: MatRef<'_, f64>) -> Option<Result<Mat<f64>>> {
        let sources = match &self.record.unmixing {
            Unmixing::Affine(map) => self.linear_sources(map, observations),
            Unmixing::Bent { linear, bends } => self.bent_sources(linear, bends, observations),
            Unmixing::Guess(_) => return None,
        };
        let decoded =
            |s: Mat<f64>| Mat::from_fn(s.nrows(), s.ncols(), |t, k| self.decode(k, s[(t, k)]));
        Some(sources.map(decoded))
    }

    /// Whether the sources are a map of the channels, so that [`Separation::unmix`] has them for
    /// any rows.
    pub fn is_a_map(&self) -> bool {
        !matches!(self.record.unmixing, Unmixing::Guess(_))
    }

    /// S of neural coordinates; NaN rows stay NaN.
    fn bent_sources(
        &self,
        linear: &Mat<f64>,
        bends: &[Mat<f64>],
        observations: MatRef<'_, f64>,
    ) -> Result<Mat<f64>> {
        let mut s = self.linear_sources(linear, observations)?;
        for first in (0..s.nrows()).step_by(STRETCH) {
            let n = STRETCH.min(s.nrows() - first);
            let scaled = self.record.scaling.apply(observations.subrows(first, n))?;
            let whitened = self.record.whitening.transform(scaled.as_ref())?;
            layers::add(bends, whitened.as_ref(), s.as_mut().subrows_mut(first, n));
        }
        Ok(s)
    }

    /// Φ_dec with the training gauge, in the scale of the source.
    fn decode(&self, k: usize, s: f64) -> f64 {
        let (mean, divisor) = self.decoder_gauge(k);
        let decoded = (s - mean) / divisor;
        self.record
            .scales
            .get(k)
            .map_or(decoded, |scale| scale.apply(decoded))
    }

    /// S by an affine map of the scaled channels; NaN rows stay NaN.
    fn linear_sources(&self, map: &Mat<f64>, observations: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let scaled = self.record.scaling.apply(observations)?;
        let m = scaled.ncols();
        let weights = map.as_ref().subrows(0, m);
        let missing = missing_samples(observations);
        let mut s = &scaled * weights;
        for k in 0..s.ncols() {
            for t in 0..s.nrows() {
                s[(t, k)] = if missing[t] {
                    f64::NAN
                } else {
                    s[(t, k)] + map[(m, k)]
                };
            }
        }
        Ok(s)
    }

    /// A run on `recording` in which nothing moves but the sources.
    fn frozen_trainer(
        &self,
        energy: Option<MakeEnergy>,
        recording: &Recording,
        steps: usize,
    ) -> Result<Trainer> {
        let record = &self.record;
        let mut config = record.config.clone();
        config.mixer.kind = MixerKind::Custom; // the trained mixer is given as it is
        config.mixer.elimination = Elimination::Gradient;
        config.sources.coordinates = Some(Coordinates::Direct);
        config.sources.init = Some(Init::Given);
        config.assignment.at.clear();
        config.restarts = Some(1);
        config.assignment.rule = crate::config::AssignmentRule::None;
        // Only the sources move, and nothing ties them to each other but the mixer.
        config.weights.separation = Some(0.0);
        (config.weights.entropy, config.weights.gap) = (0.0, 0.0);
        let rates = &mut config.optimizer.rates;
        (rates.networks, rates.controller, rates.mixer) = (0.0, 0.0, 0.0);
        rates.sources = Some(rates.sources.unwrap_or(0.001).max(0.01));
        config.optimizer.rule = UpdateRule::Adam;
        config.optimizer.steps = Some(steps);
        // ν_y is scaled by the number of samples that are there, as when it was chosen.
        let n_trained = record.n_complete();
        let n_complete = recording.n_samples() - recording.n_missing();
        let ratio = n_complete as f64 / n_trained as f64;
        config.weights.observation_variance =
            config.weights.observation_variance.map(|v| v * ratio);

        let map = record.unmixing.linear();
        let mut initial = self.linear_sources(map, recording.observations())?;
        for k in 0..initial.ncols() {
            for t in 0..initial.nrows() {
                if recording.is_missing(t) {
                    initial[(t, k)] = 0.0;
                }
            }
        }
        let start = Start {
            mixer: Some(record.mixer.clone_box()),
            sources: Some(initial),
            energy,
        };
        let prepared = Prepared::like(
            recording,
            &config,
            record.scaling.clone(),
            record.whitening.clone(),
        )?;
        let mut trainer = Trainer::on(&prepared, start)?;
        trainer.freeze(&record.raw_gaps, &record.networks, &record.gauge)?;
        Ok(trainer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensors::Tensors;
    use crate::train::{Start, separate_observed};
    use strt_synth::{MixingKind, ProblemSpec};

    /// Everything but the sources has the same bits after the optimisation.
    #[test]
    fn only_the_sources_move() {
        let spec = ProblemSpec {
            mixing: MixingKind::Pnl,
            n_samples: 200,
            n_channels: 4,
            ..ProblemSpec::default()
        };
        let recording = spec.generate().unwrap().recording().unwrap();
        let mut config = crate::Config::nonlinear(3);
        config.sources.coordinates = Some(Coordinates::Fiber);
        config.branches.patch_sizes = vec![4, 8];
        config.branches.d_model = 8;
        config.branches.n_heads = 2;
        config.mixer.hidden = vec![5];
        config.optimizer.steps = Some(20);
        let separation = separate_observed(&recording, &config, Start::default(), &mut ()).unwrap();
        let record = separation.record();
        let mut trainer = separation.frozen_trainer(None, &recording, 15).unwrap();
        trainer.sample(0);
        trainer.evaluate();
        let before = trainer.report().sources();
        trainer.run(&mut ());
        let model = &trainer.model;
        assert_eq!(model.mixer.parameters(), record.mixer.parameters());
        assert_eq!(model.raw_gaps, record.raw_gaps);
        assert_eq!(trainer.report().controller, &record.controller);
        let mut networks = Tensors::default();
        model.energy.save_parameters(&mut networks);
        assert!(networks == record.networks, "the networks moved");
        for (k, &(mean, divisor)) in record.gauge.iter().enumerate() {
            let (found_mean, found_divisor) = model.space.samples().gauge().of(k);
            assert!((found_mean - mean).abs() < 1e-15 && (found_divisor - divisor).abs() < 1e-15);
        }
        assert!(
            trainer.report().sources() != before,
            "the sources did not move"
        );
    }

    /// ν_y belongs to a number of samples that are there: half of them missing, half of it.
    #[test]
    fn missing_samples_do_not_count_for_the_observation_variance() {
        let spec = ProblemSpec {
            mixing: MixingKind::Pnl,
            n_samples: 200,
            n_channels: 4,
            ..ProblemSpec::default()
        };
        let whole = spec.generate().unwrap().recording().unwrap();
        let mut gappy = whole.observations().to_owned();
        for t in 100..200 {
            gappy[(t, 0)] = f64::NAN;
        }
        let gappy = Recording::from_mat(gappy).unwrap();
        let mut config = crate::Config::nonlinear(3);
        config.sources.coordinates = Some(Coordinates::Fiber);
        config.branches.patch_sizes = vec![4];
        config.optimizer.steps = Some(2);
        let separation = separate_observed(&gappy, &config, Start::default(), &mut ()).unwrap();
        let trained = separation.config().weights.observation_variance.unwrap();
        let on = |recording: &Recording| {
            let trainer = separation.frozen_trainer(None, recording, 1).unwrap();
            trainer.prepared.plan.observation_variance
        };
        assert!((on(&gappy) / trained - 1.0).abs() < 1e-12);
        assert!((on(&whole) / trained - 2.0).abs() < 1e-12);
    }
}
