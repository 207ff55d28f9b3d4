//! The structural energy of any trajectory under the branches of a trained model.
//!
//! In: trajectories x⁽ʲ⁾ (T×J): the sources of the run, true ones, or anything else. Out: the
//! errors ℓ_kr(x⁽ʲ⁾) of trajectory j under the networks of branch k, and the cost matrix of the
//! paper's linear theorem with its margin,
//!
//! ```text
//! H_kj = Σ_r π_kr ℓ_kr(x⁽ʲ⁾)        Δ = min_{σ≠id} Σ_k H_kσ(k) − Σ_k H_kk
//! ```
//!
//! Here a network stays with its branch. The H of [`Separation::assignment_cost`], by which sources
//! move between branches, is another one: there a network goes with its source.
//!
//! The expectation over masks is a mean over draws of windows, masks, shifts and signs, as a step
//! of the run makes them. All trajectories are read with the same draws, so that their differences
//! are more certain than their values. Deliberately absent: φ and the weight floor, which are of
//! the objective, the kernel energy, which has no branches, and anything that learns.

use crate::config::{AssignmentRule, Coordinates, Freedom, Init, MixerKind};
use crate::controller::{ControllerGradient, ControllerState};
use crate::energy::{Energy, SourceWindows, Transformer};
use crate::train::thread_pool;
use crate::{Error, Recording, Result, Separation};
use faer::{Mat, MatRef};
use strt_signal::assignment;
use strt_signal::columns::col;
use strt_signal::random::{Stream, rng};
use strt_signal::rows::Rows;

/// Draws over which errors are averaged, where nobody asks for another number.
pub const DRAWS: usize = 64;

/// What trajectories cost under the branches of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryEnergy {
    errors: Vec<f64>,        // ℓ_kr(x⁽ʲ⁾), row-major (K×J×R)
    scale_weights: Vec<f64>, // π (K×R)
    n_trajectories: usize,   // J
    n_scales: usize,         // R
}

impl TrajectoryEnergy {
    /// ℓ_kr(x⁽ʲ⁾): the mean squared error of branch k on trajectory j at scale r.
    pub fn error(&self, branch: usize, trajectory: usize, scale: usize) -> f64 {
        self.errors[(branch * self.n_trajectories + trajectory) * self.n_scales + scale]
    }

    /// H (K×J): the energy of every trajectory under every branch.
    pub fn cost(&self) -> Mat<f64> {
        let n_sources = self.scale_weights.len() / self.n_scales;
        Mat::from_fn(n_sources, self.n_trajectories, |k, j| {
            let weights = &self.scale_weights[k * self.n_scales..][..self.n_scales];
            let errors = weights.iter().enumerate();
            errors.map(|(r, pi)| pi * self.error(k, j, r)).sum()
        })
    }

    /// Δ: by how much the cheapest other assignment of trajectories to branches costs more than the
    /// present one; below 0 where another is cheaper. `None` where there are not as many
    /// trajectories as branches, or only one.
    pub fn margin(&self) -> Option<f64> {
        let cost = self.cost();
        let square = cost.nrows() == cost.ncols() && cost.nrows() > 1;
        square.then(|| assignment::margin(&cost))
    }
}

impl Separation {
    /// The energy of trajectories (T×J) under every branch, as a mean over `draws` masks (at least
    /// one).
    ///
    /// They are read as the run reads its sources: with mean 0 and variance 1 where
    /// `sources.standardize` says so, else as they are. A sample with a NaN is missing in all.
    ///
    /// # Errors
    /// When the networks have not learned, or there are too few samples for them.
    pub fn trajectory_energy(
        &self,
        trajectories: MatRef<'_, f64>,
        draws: usize,
    ) -> Result<TrajectoryEnergy> {
        self.check_networks()?;
        let names = (1..=trajectories.ncols()).map(|j| format!("trajectory {j}"));
        let recording =
            Recording::from_mat(trajectories.to_owned())?.with_channel_names(names.collect())?;
        let plan = self
            .reading_config(recording.n_samples())?
            .check(&recording)?;
        let rows = match recording.missing() {
            Some(missing) => Rows::new(missing),
            None => Rows::all(recording.n_samples()),
        };
        let sources = &self.config().sources;
        let epsilon = sources.standardize.then_some(sources.epsilon);
        let read: Vec<Vec<f64>> = (0..recording.n_channels())
            .map(|j| as_read(col(recording.observations(), j), &rows, epsilon))
            .collect();
        let mut networks = Transformer::new(&plan, &rows, self.seed())?;
        networks.restore_parameters(&self.record().networks)?;
        let controller = self.controller();
        let (k, r) = (self.config().n_sources, plan.branches().scales.len());
        let draws = draws.max(1);
        let mut errors = vec![0.0; k * read.len() * r];
        thread_pool(self.config().threads)?.install(|| {
            for draw in 0..draws {
                // Draws that no step of the run has had.
                let stream = Stream::Step((self.steps() + draw) as u64);
                networks.sample(&(0..rows.n_samples()), &mut rng(self.seed(), stream));
                for (j, trajectory) in read.iter().enumerate() {
                    let found = errors_of(&mut networks, controller, trajectory);
                    for (branch, by_scale) in found.chunks(r).enumerate() {
                        let slots = &mut errors[(branch * read.len() + j) * r..][..r];
                        for (slot, error) in slots.iter_mut().zip(by_scale) {
                            *slot += error / draws as f64;
                        }
                    }
                }
            }
        });
        if errors.iter().any(|error| !error.is_finite()) {
            return Err(Error::EnergyNotFinite);
        }
        Ok(TrajectoryEnergy {
            errors,
            scale_weights: controller.scale_weights.clone(),
            n_trajectories: read.len(),
            n_scales: r,
        })
    }

    /// The energy of the sources of the run under every branch: H and Δ of the paper's linear
    /// theorem, with the recovered sources in place of the true ones.
    ///
    /// # Errors
    /// As [`Separation::trajectory_energy`].
    pub fn source_energy(&self, draws: usize) -> Result<TrajectoryEnergy> {
        let (record, sources) = (self.record(), self.sources());
        let as_judged = |k: usize, shown: f64| {
            let fed = record
                .scales
                .get(k)
                .map_or(shown, |scale| scale.invert(shown));
            let (mean, divisor) = self.decoder_gauge(k);
            mean + divisor * fed
        };
        let judged = Mat::from_fn(sources.nrows(), sources.ncols(), |t, k| {
            as_judged(k, sources[(t, k)])
        });
        self.trajectory_energy(judged.as_ref(), draws)
    }

    /// Refuses a model whose networks are as they were drawn.
    fn check_networks(&self) -> Result<()> {
        let weights = &self.config().weights;
        let learned = weights.kernel != Some(1.0)
            && weights.structure != Some(0.0)
            && self.config().optimizer.rates.networks > 0.0
            && self.steps() > 0;
        learned.then_some(()).ok_or(Error::EnergyWithoutNetworks)
    }

    /// The configuration of networks that read `n_samples` samples and do nothing else.
    fn reading_config(&self, n_samples: usize) -> Result<crate::Config> {
        let mut config = self.config().clone();
        let branches = &config.branches;
        let longest = branches.patch_sizes.last().copied().unwrap_or(1);
        let stride = ((branches.stride_ratio * longest as f64 + 0.5) as usize).max(1);
        if n_samples < longest + stride {
            return Err(Error::TrajectoryShort {
                n_samples,
                patch: longest,
                needed: longest + stride,
            });
        }
        config.mixer.kind = MixerKind::Affine;
        config.sources.coordinates = Some(Coordinates::Fiber);
        config.sources.init = Some(Init::Random);
        config.sources.unlock = Some(1.0);
        config.sources.freedom = Freedom::Full;
        config.assignment.rule = AssignmentRule::None;
        Ok(config)
    }
}

/// ℓ_kr of one trajectory under all branches, for what was last sampled.
fn errors_of<'a>(
    networks: &'a mut Transformer,
    controller: &ControllerState,
    trajectory: &[f64],
) -> &'a [f64] {
    let k = controller.slopes.len();
    let mut unused = ControllerGradient::new(k, controller.scale_weights.len() / k);
    networks.evaluate(&mut Everywhere(trajectory), controller, 1.0, &mut unused);
    networks.found().by_scale
}

/// A trajectory as the networks read it, 0 in missing samples: with mean 0 and divided by its
/// deviation + ε, where there is an ε.
fn as_read(values: &[f64], rows: &Rows, epsilon: Option<f64>) -> Vec<f64> {
    let present: Vec<f64> = (0..values.len())
        .filter(|&t| rows.is_valid(t))
        .map(|t| values[t])
        .collect();
    let n = present.len() as f64;
    let (mean, divisor) = match epsilon {
        None => (0.0, 1.0),
        Some(epsilon) => {
            let mean = present.iter().sum::<f64>() / n;
            let variance = present.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            (mean, variance.sqrt() + epsilon)
        }
    };
    let value = |t: usize| (values[t] - mean) / divisor;
    (0..values.len())
        .map(|t| if rows.is_valid(t) { value(t) } else { 0.0 })
        .collect()
}

/// One trajectory as the source of every branch.
struct Everywhere<'a>(&'a [f64]);

impl SourceWindows for Everywhere<'_> {
    fn read(&self, _source: usize, first: usize, window: &mut [f64]) {
        window.copy_from_slice(&self.0[first..first + window.len()]);
    }

    // Nothing moves.
    fn add_gradient(&mut self, _: usize, _: usize, _: f64, _: &[f64]) {}

    fn read_moments(&self, _: usize, moments: &mut [f64]) {
        moments.fill(0.0);
    }

    fn add_moment_gradient(&mut self, _: usize, _: f64, _: &[f64]) {}
}
