//! The result of a run: an immutable [`Separation`].

use crate::config::Config;
use crate::controller::ControllerState;
use crate::mixer::Mixer;
use crate::objective::{Model, Objective, Terms};
use crate::preprocess::{ChannelScaling, Whitening};
use crate::scale::{self, Monotone};
use crate::tensors::Tensors;
use crate::train::{Prepared, RestartSummary, StopReason};
use crate::{Error, Pieces, Result};
use faer::{Mat, MatMut, MatRef};
use strt_signal::assignment;

/// How a run ended, as the trainer hands it over.
pub(crate) struct Outcome {
    pub terms: Terms,
    pub smoothed_objective: f64,
    pub turned: Option<f64>,
    pub stop: StopReason,
    pub converged: bool,
    pub steps: usize,
    pub seed: u64,
    pub restart: usize,
}

/// Recovered sources and everything that belongs to them.
#[derive(Clone)]
pub struct Separation {
    pub(crate) record: Record,
}

/// How sources follow from channels. Maps are of scaled channels and have m rows of weights and a
/// last row of offsets ((m+1)×K).
#[derive(Clone, Debug)]
pub enum Unmixing {
    /// S is this affine map of a row of channels.
    Affine(Mat<f64>),
    /// S is an affine map and bends X + tanh(X·U + b)·V, one after the other; the first of the
    /// whitened components, every other of what the one before puts out.
    Bent {
        /// The affine map.
        linear: Mat<f64>,
        /// [Uᵀ | b | V] (h×(2K+1)) of every bend.
        bends: Vec<Mat<f64>>,
    },
    /// S is no map of a row: this is the best affine guess, from which the sources of new data are
    /// optimised.
    Guess(Mat<f64>),
}

impl Unmixing {
    /// The unmixing with this affine part: bent where there are bends, exact where the mixer is
    /// affine.
    #[doc(hidden)]
    pub fn new(linear: Mat<f64>, bends: Vec<Mat<f64>>, mixer: &dyn Mixer) -> Unmixing {
        if !bends.is_empty() {
            Unmixing::Bent { linear, bends }
        } else if affine_map(mixer).is_some() {
            Unmixing::Affine(linear)
        } else {
            Unmixing::Guess(linear)
        }
    }

    /// The affine part.
    pub fn linear(&self) -> &Mat<f64> {
        match self {
            Unmixing::Affine(linear) | Unmixing::Bent { linear, .. } | Unmixing::Guess(linear) => {
                linear
            }
        }
    }

    /// The bends; none where the map is affine.
    pub fn bends(&self) -> &[Mat<f64>] {
        match self {
            Unmixing::Bent { bends, .. } => bends,
            Unmixing::Affine(_) | Unmixing::Guess(_) => &[],
        }
    }
}

/// The contents of a [`Separation`] as a file holds them. A loaded one is checked by
/// [`Separation::from_record`].
#[doc(hidden)]
#[derive(Clone)]
pub struct Record {
    /// The resolved configuration.
    pub config: Config,
    /// The sources (T×K) in branch order: S̃, what the mixer is fed, or f(S̃) where there are
    /// scales.
    /// NaN where the recording has missing samples.
    pub sources: Mat<f64>,
    /// The monotone maps f in which the sources are shown, one a source; none where they are shown
    /// as S̃.
    pub scales: Vec<Monotone>,
    /// M_θ.
    pub mixer: Box<dyn Mixer>,
    /// η.
    pub raw_gaps: Vec<f64>,
    /// What the controller makes of η.
    pub controller: ControllerState,
    /// What the energy has learned.
    pub networks: Tensors,
    /// ℓ_kr at the end, row-major (K×R).
    pub energy: Vec<f64>,
    /// Scaling of the channels.
    pub scaling: ChannelScaling,
    /// Whitening of the scaled channels.
    pub whitening: Whitening,
    /// How S follows from the channels.
    pub unmixing: Unmixing,
    /// Mean and divisor of each source: the standardised source is (S − mean)/divisor.
    pub gauge: Vec<(f64, f64)>,
    /// Terms of J at the end.
    pub terms: Terms,
    /// Smoothed J at the end.
    pub smoothed_objective: f64,
    /// Why the run ended.
    pub stop: StopReason,
    /// Whether the sources had stopped turning, and were found twice where that was asked for.
    pub converged: bool,
    /// The largest angle in radians by which a source turned over the last steps that were judged.
    pub turned: Option<f64>,
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
    /// Which of its samples were contiguous.
    pub pieces: Pieces,
}

impl Record {
    /// Number of samples that are not missing.
    pub(crate) fn n_complete(&self) -> usize {
        let rows = 0..self.sources.nrows();
        rows.filter(|&t| !self.sources[(t, 0)].is_nan()).count()
    }
}

impl Separation {
    pub(crate) fn collect(
        prepared: Prepared,
        mut model: Model,
        objective: Objective,
        mut outcome: Outcome,
    ) -> Separation {
        let unmixing = unmixing(&prepared, &model);
        let mut sources = model.space.settle();
        let samples = model.space.samples_mut();
        let gauge = (0..sources.ncols())
            .map(|k| samples.gauge().of(k))
            .collect();
        if let Some(reconstruction) = samples.fit_mixer(&mut *model.mixer, sources.as_ref())
            && reconstruction.is_finite()
        {
            outcome.terms.reconstruction = reconstruction;
            outcome.terms.total = objective.total(&outcome.terms);
        }
        let scales = scales(&prepared, &unmixing, sources.as_ref());
        scale::apply(&scales, &prepared.rows, sources.as_mut());
        if let Some(missing) = prepared.rows.missing() {
            for t in (0..missing.len()).filter(|&t| missing[t]) {
                sources.row_mut(t).fill(f64::NAN);
            }
        }
        let mut networks = Tensors::default();
        model.energy.save_parameters(&mut networks);
        let novel = prepared.judges_novelty();
        let mut separation = Separation {
            record: Record {
                config: prepared.plan.config().clone(),
                sources,
                scales,
                mixer: model.mixer,
                raw_gaps: model.raw_gaps,
                controller: objective.state,
                networks,
                energy: model.energy.found().by_scale.to_vec(),
                scaling: prepared.scaling,
                whitening: prepared.whitening,
                unmixing,
                gauge,
                terms: outcome.terms,
                smoothed_objective: outcome.smoothed_objective,
                stop: outcome.stop,
                converged: outcome.converged,
                turned: outcome.turned,
                steps: outcome.steps,
                seed: outcome.seed,
                restart: outcome.restart,
                restarts: Vec::new(),
                channel_names: prepared.channel_names,
                sampling_rate: prepared.sampling_rate,
                pieces: prepared.rows.to_pieces(),
            },
        };
        separation.record.restarts = vec![RestartSummary {
            novel,
            ..separation.summary()
        }];
        separation
    }

    /// Rebuilds a separation from its saved contents, whose shapes must fit together.
    ///
    /// # Errors
    /// When they do not.
    #[doc(hidden)]
    pub fn from_record(record: Record) -> Result<Separation> {
        let (k, m) = (record.config.n_sources, record.scaling.n_channels());
        let r = record.config.branches.patch_sizes.len();
        let (linear, bends) = (record.unmixing.linear(), record.unmixing.bends());
        let bend_columns = 2 * k + 1;
        let wrong = bends.iter().find(|bend| bend.ncols() != bend_columns);
        let found_columns = wrong.map_or(bend_columns, |bend| bend.ncols());
        let expected_scales = if record.scales.is_empty() { 0 } else { k };
        let shapes = [
            ("scales of sources", expected_scales, record.scales.len()),
            ("sources (columns)", k, record.sources.ncols()),
            (
                "samples of all pieces",
                record.sources.nrows(),
                record.pieces.n_samples(),
            ),
            ("mixer inputs", k, record.mixer.n_sources()),
            ("mixer outputs", m, record.mixer.n_channels()),
            ("raw gaps", k + 1, record.raw_gaps.len()),
            ("energies", k * r, record.energy.len()),
            ("whitening components", k, record.whitening.n_components()),
            ("unmixing rows", m + 1, linear.nrows()),
            ("unmixing columns", k, linear.ncols()),
            ("gauge", k, record.gauge.len()),
            ("channel names", m, record.channel_names.len()),
            ("columns of the bend", bend_columns, found_columns),
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
        Ok(Separation { record })
    }

    /// The contents as a file holds them.
    #[doc(hidden)]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Names of the channels of the recording.
    pub fn channel_names(&self) -> &[String] {
        &self.record.channel_names
    }

    /// Samples per second, when known.
    pub fn sampling_rate(&self) -> Option<f64> {
        self.record.sampling_rate
    }

    /// Which samples of the recording, and so of [`Separation::sources`], are contiguous in time.
    pub fn pieces(&self) -> &Pieces {
        &self.record.pieces
    }

    /// How the channels were scaled before anything else.
    pub fn scaling(&self) -> &ChannelScaling {
        &self.record.scaling
    }

    /// ℓ_kr at the end, row-major (K×R): the mean squared error of each branch.
    pub fn energy(&self) -> &[f64] {
        &self.record.energy
    }

    /// The sources (T×K), branch order: low branch, short time scale. NaN where samples are
    /// missing.
    pub fn sources(&self) -> MatRef<'_, f64> {
        self.record.sources.as_ref()
    }

    /// The monotone maps in which the sources are shown, one a source; none where they are shown as
    /// the objective has them.
    pub fn scales(&self) -> &[Monotone] {
        &self.record.scales
    }

    /// The mixer: applied to the sources, before the maps of [`Separation::scales`], it gives the
    /// scaled channels, as [`Separation::mix_scaled`] does.
    pub fn mixer(&self) -> &dyn Mixer {
        &*self.record.mixer
    }

    /// Centers, slopes, scale weights and expected patch sizes of the branches.
    pub fn controller(&self) -> &ControllerState {
        &self.record.controller
    }

    /// Terms of the objective at the end.
    pub fn terms(&self) -> Terms {
        self.record.terms
    }

    /// Exponential average of the objective at the end, by which restarts are ranked.
    pub fn smoothed_objective(&self) -> f64 {
        self.record.smoothed_objective
    }

    /// Why the run ended.
    pub fn stop_reason(&self) -> StopReason {
        self.record.stop
    }

    /// Whether the sources had stopped turning when the run ended.
    pub fn converged(&self) -> bool {
        self.record.converged
    }

    /// The largest angle in radians by which a source turned over the last steps that were judged
    /// (`optimizer.early_stopping.patience` of them); `None` when none were.
    pub fn turned(&self) -> Option<f64> {
        self.record.turned
    }

    /// Steps taken.
    pub fn steps(&self) -> usize {
        self.record.steps
    }

    /// Seed of the restart that was kept.
    pub fn seed(&self) -> u64 {
        self.record.seed
    }

    /// Index of the restart that was kept.
    pub fn restart(&self) -> usize {
        self.record.restart
    }

    /// All restarts with their final objectives.
    pub fn restarts(&self) -> &[RestartSummary] {
        &self.record.restarts
    }

    /// How much the restart that is most like the one that was kept has in common with it: the
    /// least |correlation| of paired sources. `None` where there was no other.
    pub fn replication(&self) -> Option<f64> {
        let agreements = self.record.restarts.iter().filter_map(|r| r.agreement);
        agreements.max_by(f64::total_cmp)
    }

    /// The configuration with every automatic value filled in.
    pub fn config(&self) -> &Config {
        &self.record.config
    }

    /// H = π·ℓᵀ: cost of giving source j, with its networks, to branch k. The H of the paper's
    /// linear theorem, where networks stay with their branches, is in
    /// [`Separation::source_energy`].
    pub fn assignment_cost(&self) -> Mat<f64> {
        let n_scales = self.record.config.branches.patch_sizes.len();
        assignment::cost(
            &self.record.controller.scale_weights,
            &self.record.energy,
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
        let k = self.record.mixer.n_sources();
        if sources.ncols() != k {
            return Err(Error::Shape {
                what: "sources to be mixed",
                expected: format!("{k} columns, one a source"),
                found: sources.ncols().to_string(),
            });
        }
        let scaled = self.mix_scaled(sources);
        Ok(self.record.scaling.invert(scaled.as_ref())?)
    }

    /// The channels (T×m) that sources (T×K) would give, as the mixer sees them.
    ///
    /// # Panics
    /// When the number of columns is not K.
    pub fn mix_scaled(&self, sources: MatRef<'_, f64>) -> Mat<f64> {
        let Record { mixer, scales, .. } = &self.record;
        let mut scaled = Mat::zeros(sources.nrows(), mixer.n_channels());
        if scales.is_empty() {
            mixer.forward(sources, scaled.as_mut(), &mut Vec::new());
        } else {
            let fed = Mat::from_fn(sources.nrows(), sources.ncols(), |t, k| {
                scales[k].invert(sources[(t, k)])
            });
            mixer.forward(fed.as_ref(), scaled.as_mut(), &mut Vec::new());
        }
        scaled
    }

    /// Mixing matrix (m×K) and offsets (m) of an affine mixer, in the units of the recording.
    pub fn mixing(&self) -> Option<(Mat<f64>, Vec<f64>)> {
        let (weights, offsets) = affine_map(&*self.record.mixer)?;
        let (scale, shift) = (self.record.scaling.scale(), self.record.scaling.offset());
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
        let record = &self.record;
        let Unmixing::Affine(map) = &record.unmixing else {
            return None;
        };
        let (scale, shift) = (record.scaling.scale(), record.scaling.offset());
        let (m, k) = (scale.len(), record.config.n_sources);
        let gauge = |k: usize| self.decoder_gauge(k);
        let matrix = Mat::from_fn(k, m, |k, c| map[(c, k)] / scale[c] / gauge(k).1);
        let offset = (0..k)
            .map(|k| {
                let moved: f64 = (0..m).map(|c| matrix[(k, c)] * shift[c]).sum();
                (map[(m, k)] - gauge(k).0) / gauge(k).1 - moved
            })
            .collect();
        Some((matrix, offset))
    }

    /// Mean and divisor of Φ_dec for source k: S̃ = (S − mean)/divisor.
    pub(crate) fn decoder_gauge(&self, k: usize) -> (f64, f64) {
        if self.record.config.mixer.decoder_standardization {
            self.record.gauge[k]
        } else {
            (0.0, 1.0)
        }
    }

    /// The whitening (K×m) and the means of the channels (m), in the units of the recording: the
    /// whitened components are matrix · (channel − mean).
    pub fn channel_whitening(&self) -> (Mat<f64>, Vec<f64>) {
        let (whitening, scaling) = (&self.record.whitening, &self.record.scaling);
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
        let mut restarts = self.record.restarts.iter();
        let own = restarts.find(|known| known.restart == self.record.restart);
        RestartSummary {
            restart: self.record.restart,
            seed: self.record.seed,
            objective: self.record.smoothed_objective,
            stop: self.record.stop,
            converged: self.record.converged,
            novel: own.is_some_and(|own| own.novel),
            agreement: None,
            agreement_by_source: Vec::new(),
        }
    }

    /// With all restarts. Where several were to find the same sources, with at least `least` in
    /// common, a result that only one of them has found is not one that the run converged to.
    pub(crate) fn with_restarts(
        mut self,
        restarts: Vec<RestartSummary>,
        least: Option<f64>,
    ) -> Separation {
        let twice = |least: f64| restarts.iter().any(|restart| restart.agrees(least));
        self.record.converged &= restarts.len() == 1 || least.is_none_or(twice);
        self.record.restarts = restarts;
        self
    }
}

/// The monotone maps in which the sources of a run are to be shown. Only a bent map of the channels
/// has the freedom.
fn scales(prepared: &Prepared, unmixing: &Unmixing, sources: MatRef<'_, f64>) -> Vec<Monotone> {
    match (unmixing, prepared.plan.config().sources.scale) {
        (Unmixing::Bent { .. }, choice) => {
            let read = |first: usize, out: MatMut<'_, f64>| prepared.data.read(first, out);
            scale::fit(choice, sources, &prepared.rows, prepared.shape().1, &read)
        }
        _ => Vec::new(),
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

/// How S follows from scaled channels: the space's own map where it has one; the mixer's
/// pseudo-inverse for another affine model; for a nonlinear one the best fit of S by the whitened
/// components.
fn unmixing(prepared: &Prepared, model: &Model) -> Unmixing {
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
    let samples = model.space.samples();
    if let Some(map) = model.space.map() {
        let linear = from_whitened(&map.linear, &|_| 0.0);
        return Unmixing::new(linear, map.bends, &*model.mixer);
    }
    if let Some((mixing, offsets)) = affine_map(&*model.mixer)
        && let Ok(svd) = mixing.thin_svd()
    {
        // s̃ = (y − b)·W⁺ with y = W s̃ + b, then back through the gauge of Φ_dec.
        let inverse = svd.pseudoinverse(); // K×m
        let decoded = prepared.plan.config().mixer.decoder_standardization;
        let gauge = |k| {
            if decoded {
                samples.gauge().of(k)
            } else {
                (0.0, 1.0)
            }
        };
        let weights = Mat::from_fn(m, mixing.ncols(), |c, k| gauge(k).1 * inverse[(k, c)]);
        let offset =
            |k: usize| gauge(k).0 - (0..m).map(|c| offsets[c] * weights[(c, k)]).sum::<f64>();
        return Unmixing::Affine(with_offset(weights.clone(), &offset));
    }
    let (fit, mean) = samples.linear_fit();
    Unmixing::new(from_whitened(&fit, &|k| mean[k]), Vec::new(), &*model.mixer)
}
