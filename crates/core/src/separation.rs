//! The result of a run: an immutable [`Separation`].

use crate::config::{Config, Coordinates};
use crate::model::controller::ControllerState;
use crate::model::mixer::Mixer;
use crate::model::objective::{Model, Objective, Terms};
use crate::model::sources::SourceParameters;
use crate::preprocess::{ChannelScaling, Whitening};
use crate::train::{Prepared, RestartSummary, StopReason, start};
use crate::{Error, Result};
use faer::{Mat, MatRef};
use strt_kernels::Buffer;
use strt_signal::assignment;

/// How a run ended, as the trainer hands it over.
pub(crate) struct Outcome {
    pub terms: Terms,
    pub smoothed_objective: f64,
    pub stop: StopReason,
    pub converged: bool,
    pub steps: usize,
    pub seed: u64,
    pub restart: usize,
}

/// Recovered sources and everything that belongs to them.
#[derive(Clone)]
pub struct Separation {
    pub(crate) parts: SeparationParts,
}

/// The plain contents of a [`Separation`], for saving and loading. A loaded one is checked by
/// [`Separation::from_parts`].
#[derive(Clone)]
pub struct SeparationParts {
    /// The resolved configuration.
    pub config: Config,
    /// S̃, what the mixer is fed (T×K), in branch order; NaN where the recording has missing
    /// samples.
    pub sources: Mat<f64>,
    /// M_θ.
    pub mixer: Box<dyn Mixer>,
    /// η.
    pub raw_gaps: Vec<f64>,
    /// What the controller makes of η.
    pub controller: ControllerState,
    /// Flat parameters of every branch network, branch k·R + r.
    pub networks: Vec<Vec<f64>>,
    /// ℓ_kr at the end, row-major (K×R); with `weights.energy_block` a geometric mean over blocks,
    /// not a mean square.
    pub energy: Vec<f64>,
    /// Scaling of the channels.
    pub scaling: ChannelScaling,
    /// Whitening of the scaled channels.
    pub whitening: Whitening,
    /// Affine map from scaled channels to S, or in neural coordinates to its linear part: m rows of
    /// weights and a last row of offsets ((m+1)×K).
    pub unmixing: Mat<f64>,
    /// [Uᵀ | b | V] (h×(2K+1)) of neural coordinates: tanh(Zw·U + b)·V, added to the linear part,
    /// is S.
    pub bend: Option<Mat<f64>>,
    /// Mean and divisor of each source: the standardised source is (S − mean)/divisor.
    pub gauge: Vec<(f64, f64)>,
    /// Terms of J at the end.
    pub terms: Terms,
    /// Smoothed J at the end.
    pub smoothed_objective: f64,
    /// Why the run ended.
    pub stop: StopReason,
    /// Whether the smoothed objective had stopped improving.
    pub converged: bool,
    /// Steps taken.
    pub steps: usize,
    /// Seed of the restart that was kept.
    pub seed: u64,
    /// Its index.
    pub restart: usize,
    /// All restarts.
    pub restarts: Vec<RestartSummary>,
    /// Names of the channels.
    pub channel_names: Vec<String>,
    /// Samples per second, when known.
    pub sampling_rate: Option<f64>,
}

impl Separation {
    pub(crate) fn collect(
        prepared: Prepared,
        mut model: Model,
        mut objective: Objective,
        mut outcome: Outcome,
    ) -> Separation {
        let k = prepared.plan.config().n_sources;
        let unmixing = unmixing(&prepared, &model, &objective);
        let bend = match &model.sources {
            SourceParameters::Neural { bend, .. } => Some(bend.clone()),
            _ => None,
        };
        let mut sources = objective.take_sources(model.sources);
        let gauge = (0..k).map(|k| objective.gauge(k)).collect();
        if let Some(reconstruction) = objective.fit_mixer(&mut *model.mixer, sources.as_ref())
            && reconstruction.is_finite()
        {
            outcome.terms.reconstruction = reconstruction;
            outcome.terms.total = objective.total(&outcome.terms);
        }
        if let Some(missing) = prepared.rows.missing() {
            for t in (0..missing.len()).filter(|&t| missing[t]) {
                sources.row_mut(t).fill(f64::NAN);
            }
        }
        let networks = (0..model.engine.branches().n_branches())
            .map(|b| {
                let mut values = vec![0.0; start::layout(model.engine.branches(), b).len()];
                model.engine.read(Buffer::Parameters, b, &mut values);
                values
            })
            .collect();
        let mut separation = Separation {
            parts: SeparationParts {
                config: prepared.plan.config().clone(),
                sources,
                mixer: model.mixer,
                raw_gaps: model.raw_gaps,
                controller: objective.state,
                networks,
                energy: objective.energy,
                scaling: prepared.scaling,
                whitening: prepared.whitening,
                unmixing,
                bend,
                gauge,
                terms: outcome.terms,
                smoothed_objective: outcome.smoothed_objective,
                stop: outcome.stop,
                converged: outcome.converged,
                steps: outcome.steps,
                seed: outcome.seed,
                restart: outcome.restart,
                restarts: Vec::new(),
                channel_names: prepared.channel_names,
                sampling_rate: prepared.sampling_rate,
            },
        };
        separation.parts.restarts = vec![separation.summary()];
        separation
    }

    /// Rebuilds a separation from its saved contents, whose shapes must fit together.
    pub fn from_parts(parts: SeparationParts) -> Result<Separation> {
        let (k, m) = (parts.config.n_sources, parts.scaling.n_channels());
        let r = parts.config.branches.patch_sizes.len();
        let bend = parts.bend.as_ref().map_or((0, 0), |bend| bend.shape());
        let hidden = match parts.config.sources.coordinates {
            Some(Coordinates::Neural) => parts.config.sources.bend_shape(k),
            _ => (0, 0),
        };
        let shapes = [
            ("sources (columns)", k, parts.sources.ncols()),
            ("mixer inputs", k, parts.mixer.n_sources()),
            ("mixer outputs", m, parts.mixer.n_channels()),
            ("raw gaps", k + 1, parts.raw_gaps.len()),
            ("networks", k * r, parts.networks.len()),
            ("energies", k * r, parts.energy.len()),
            ("whitening components", k, parts.whitening.n_components()),
            ("unmixing rows", m + 1, parts.unmixing.nrows()),
            ("unmixing columns", k, parts.unmixing.ncols()),
            ("gauge", k, parts.gauge.len()),
            ("channel names", m, parts.channel_names.len()),
            ("rows of the bend", hidden.0, bend.0),
            ("columns of the bend", hidden.1, bend.1),
        ];
        for (what, expected, found) in shapes {
            if expected != found {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(Error::Shape {
                    what,
                    expected,
                    found,
                });
            }
        }
        Ok(Separation { parts })
    }

    /// The plain contents.
    pub fn parts(&self) -> &SeparationParts {
        &self.parts
    }

    /// The sources (T×K), branch order: low branch, short time scale. NaN where samples are
    /// missing.
    pub fn sources(&self) -> MatRef<'_, f64> {
        self.parts.sources.as_ref()
    }

    /// The mixer: applied to [`Separation::sources`] it gives the scaled channels.
    pub fn mixer(&self) -> &dyn Mixer {
        &*self.parts.mixer
    }

    /// Centers, slopes, scale weights and expected patch sizes of the branches.
    pub fn controller(&self) -> &ControllerState {
        &self.parts.controller
    }

    /// Terms of the objective at the end.
    pub fn terms(&self) -> Terms {
        self.parts.terms
    }

    /// Exponential average of the objective at the end, by which restarts are ranked.
    pub fn smoothed_objective(&self) -> f64 {
        self.parts.smoothed_objective
    }

    /// Why the run ended.
    pub fn stop_reason(&self) -> StopReason {
        self.parts.stop
    }

    /// Whether the smoothed objective had stopped improving when the run ended.
    pub fn converged(&self) -> bool {
        self.parts.converged
    }

    /// Steps taken.
    pub fn steps(&self) -> usize {
        self.parts.steps
    }

    /// Seed of the restart that was kept.
    pub fn seed(&self) -> u64 {
        self.parts.seed
    }

    /// Index of the restart that was kept.
    pub fn restart(&self) -> usize {
        self.parts.restart
    }

    /// All restarts with their final objectives.
    pub fn restarts(&self) -> &[RestartSummary] {
        &self.parts.restarts
    }

    /// The configuration with every automatic value filled in.
    pub fn config(&self) -> &Config {
        &self.parts.config
    }

    /// H = π·ℓᵀ: cost of giving source j (with its networks) to branch k.
    pub fn assignment_cost(&self) -> Mat<f64> {
        let n_scales = self.parts.config.branches.patch_sizes.len();
        assignment::cost(
            &self.parts.controller.scale_weights,
            &self.parts.energy,
            n_scales,
        )
    }

    /// Δ: by how much the cheapest other assignment costs more than the present one.
    pub fn assignment_margin(&self) -> f64 {
        assignment::margin(&self.assignment_cost())
    }

    /// Ŷ in the units of the recording (T×m); NaN where samples are missing.
    pub fn reconstruction(&self) -> Result<Mat<f64>> {
        self.mix(self.sources())
    }

    /// The channels (T×m), in the units of the recording, that sources (T×K) would give; NaN in
    /// rows with a NaN.
    ///
    /// # Errors
    /// When the number of columns is not K.
    pub fn mix(&self, sources: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.parts.mixer.n_sources();
        if sources.ncols() != k {
            return Err(Error::Shape {
                what: "sources to be mixed",
                expected: format!("{k} columns, one a source"),
                found: sources.ncols().to_string(),
            });
        }
        let mut scaled = Mat::zeros(sources.nrows(), self.parts.mixer.n_channels());
        self.parts
            .mixer
            .forward(sources, scaled.as_mut(), &mut Vec::new());
        Ok(self.parts.scaling.invert(scaled.as_ref())?)
    }

    /// Mixing matrix (m×K) and offsets (m) of an affine mixer, in the units of the recording.
    pub fn mixing(&self) -> Option<(Mat<f64>, Vec<f64>)> {
        let (weights, offsets) = affine_map(&*self.parts.mixer)?;
        let (scale, shift) = (self.parts.scaling.scale(), self.parts.scaling.offset());
        let matrix = Mat::from_fn(weights.nrows(), weights.ncols(), |c, k| {
            scale[c] * weights[(c, k)]
        });
        let offset = offsets
            .iter()
            .enumerate()
            .map(|(c, o)| shift[c] + scale[c] * o)
            .collect();
        Some((matrix, offset))
    }

    /// Unmixing matrix (K×m) and offsets (K) of an affine mixer whose sources are not bent: source
    /// = matrix · channel + offset, channels in the units of the recording.
    pub fn unmixing(&self) -> Option<(Mat<f64>, Vec<f64>)> {
        affine_map(&*self.parts.mixer)?;
        if self.parts.bend.is_some() {
            return None;
        }
        let parts = &self.parts;
        let (scale, shift) = (parts.scaling.scale(), parts.scaling.offset());
        let (m, k) = (scale.len(), parts.config.n_sources);
        let gauge = |k: usize| match parts.config.mixer.decoder_standardization {
            true => parts.gauge[k],
            false => (0.0, 1.0),
        };
        let matrix = Mat::from_fn(k, m, |k, c| parts.unmixing[(c, k)] / scale[c] / gauge(k).1);
        let offset = (0..k)
            .map(|k| {
                let moved: f64 = (0..m).map(|c| matrix[(k, c)] * shift[c]).sum();
                (parts.unmixing[(m, k)] - gauge(k).0) / gauge(k).1 - moved
            })
            .collect();
        Some((matrix, offset))
    }

    /// The whitening (K×m) and the means of the channels (m), in the units of the recording: the
    /// whitened components are matrix · (channel − mean).
    pub fn channel_whitening(&self) -> (Mat<f64>, Vec<f64>) {
        let (whitening, scaling) = (&self.parts.whitening, &self.parts.scaling);
        let (scale, shift) = (scaling.scale(), scaling.offset());
        let v = whitening.matrix();
        let matrix = Mat::from_fn(v.ncols(), v.nrows(), |k, c| v[(c, k)] / scale[c]);
        let mean = whitening.mean().iter().zip(scale).zip(shift);
        (
            matrix,
            mean.map(|((mean, scale), shift)| mean * scale + shift)
                .collect(),
        )
    }

    pub(crate) fn summary(&self) -> RestartSummary {
        RestartSummary {
            restart: self.parts.restart,
            seed: self.parts.seed,
            objective: self.parts.smoothed_objective,
            stop: self.parts.stop,
            converged: self.parts.converged,
        }
    }

    pub(crate) fn with_restarts(mut self, restarts: Vec<RestartSummary>) -> Separation {
        self.parts.restarts = restarts;
        self
    }
}

/// Weights (m×K) and offsets (m) of a mixer whose only features are the sources and the constant.
pub(crate) fn affine_map(mixer: &dyn Mixer) -> Option<(Mat<f64>, Vec<f64>)> {
    let head = mixer.linear_head()?;
    let (k, m, f) = (mixer.n_sources(), mixer.n_channels(), head.n_features());
    if f != k + 1 || head.head() != (0..f * m) {
        return None;
    }
    let w = |feature: usize, channel: usize| mixer.parameters()[channel * f + feature];
    Some((
        Mat::from_fn(m, k, |c, j| w(j, c)),
        (0..m).map(|c| w(k, c)).collect(),
    ))
}

/// The affine map from scaled channels to S. Exact where S = Zw·A, or for the linear part of S
/// where it is bent; the mixer's pseudo-inverse for another affine model; for a nonlinear one the
/// best fit of S by the whitened components, a starting point for the sources of new data.
fn unmixing(prepared: &Prepared, model: &Model, objective: &Objective) -> Mat<f64> {
    let m = prepared.shape().1;
    let with_offset = |weights: Mat<f64>, offset: &dyn Fn(usize) -> f64| {
        Mat::from_fn(m + 1, weights.ncols(), |c, k| {
            if c < m { weights[(c, k)] } else { offset(k) }
        })
    };
    // s = (y − ȳ)·V·F + constant
    let from_whitened = |fit: &Mat<f64>, constant: &dyn Fn(usize) -> f64| {
        let weights = prepared.whitening.matrix() * fit;
        let mean = prepared.whitening.mean();
        with_offset(weights.clone(), &|k| {
            constant(k) - (0..m).map(|c| mean[c] * weights[(c, k)]).sum::<f64>()
        })
    };
    match &model.sources {
        SourceParameters::Fiber { a, e: None } | SourceParameters::Neural { a, .. } => {
            return from_whitened(a, &|_| 0.0);
        }
        _ => {}
    }
    if let Some((mixing, offsets)) = affine_map(&*model.mixer) {
        // s̃ = (y − b)·W⁺ with y = W s̃ + b, then back through the gauge of Φ_dec.
        if let Ok(svd) = mixing.thin_svd() {
            let inverse = svd.pseudoinverse(); // K×m
            let gauge = |k| objective.decoder_gauge(k);
            let weights = Mat::from_fn(m, mixing.ncols(), |c, k| gauge(k).1 * inverse[(k, c)]);
            let offset =
                |k: usize| gauge(k).0 - (0..m).map(|c| offsets[c] * weights[(c, k)]).sum::<f64>();
            return with_offset(weights.clone(), &offset);
        }
    }
    let (fit, mean) = objective.linear_fit();
    from_whitened(&fit, &|k| mean[k])
}
