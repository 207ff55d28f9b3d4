//! The table of settings: one entry each, with what it means, its default or automatic rule, its
//! bounds, and from which version on there is it.
//!
//! A new setting is one entry here and the line that uses it. Everything else that mentions
//! settings follows from this file; `docs/settings.md` is written anew by its test with
//! `STRT_UPDATE=1`. Rules that compare several settings are in `relations.rs`.

use super::bounds::{above, above_or_infinite, above_up_to, at_least, from_to};
use super::choices::{
    Activation, AssignmentRule, Coordinates, Elimination, EnergyForm, EngineKind, Freedom, Init,
    MixerKind, ScheduleKind, SeparationForm, Smoothness, SourceScale, UpdateRule,
};
use super::relations;
use super::table::{Automatic, Facts, Section, Setting};
use super::table::{at, default_doc, key, optional, section_key, sections, since};
use super::value::Value;
use strt_classic::kernel::LONG;
use strt_classic::{Fast, Method};

/// Observed values T·m to which the automatic ν_y refers (the problems on which it was settled:
/// 1000 × 6).
const REFERENCE_VALUES: f64 = 6000.0;

/// Automatic shares of the kernel energy: of an affine mixer, …
pub(crate) const AFFINE_KERNEL: f64 = 0.9;
/// … of one and long pieces, in which networks learn more, …
pub(crate) const LONG_KERNEL: f64 = 0.7;
/// … and of any other.
pub(crate) const BENT_KERNEL: f64 = 0.3;

sections! {
    /// Everything that decides a run. The same configuration, recording and seed give the same
    /// bits.
    Config in () {
        /// Number of sources K to recover. It has no default that can run: it must be chosen.
        n_sources: usize = 0, within at_least(1.0);
        /// Every random choice comes from this seed.
        seed: u64 = 0;
        /// Independent starts, of which the one with the lowest final smoothed objective is kept;
        /// at most this many where `agreement` ends them.
        restarts: Option<usize> = None, within from_to(1.0, 10_000.0),
            automatic "4 for the mixer `mlp` where runs end once settled, else 1"
            |config, _| Some(if config.bends_until_settled() { 4 } else { 1 });
        /// No more restarts are begun, after two, four, … of them, once the best has been found
        /// twice: another has all its sources, each with at least this |correlation| (0: all are
        /// run). A run whose restarts all end differently has not converged.
        agreement: Option<f64> = None, within from_to(0.0, 1.0),
            automatic "0.9 for the mixer `mlp` where runs end once settled, else 0"
            |config, _| Some(if config.bends_until_settled() { 0.9 } else { 0.0 });
        /// Worker threads; 0 takes all cores. It never changes a result.
        threads: usize = 0, within from_to(0.0, 1024.0);
        /// Which arithmetic evaluates the branch networks.
        engine: EngineKind = EngineKind::Cpu;
    } with {
        preprocess: Preprocess,
        mixer: MixerConfig,
        sources: Sources,
        branches: Branches,
        controller: Controller,
        weights: Weights,
        optimizer: Optimizer,
        assignment: Assignment,
    }

    /// What is done to the channels before anything else. It is remembered and undone in the
    /// results.
    Preprocess in (preprocess) {
        /// Subtract each channel's mean.
        center: bool = true;
        /// Divide each channel by its standard deviation.
        scale: bool = true;
    }

    /// The observation mixer: how sources become channels.
    MixerConfig in (mixer) {
        /// Family of the mixer.
        kind: MixerKind = MixerKind::Affine;
        /// Hidden sizes of the MLP.
        hidden: Vec<usize> = vec![32], within from_to(1.0, 4096.0), fits relations::hidden_layers;
        /// Nonlinearity of the MLP.
        activation: Activation = Activation::Tanh;
        /// Whether the MLP has a linear path beside its hidden layers.
        skip: bool = true;
        /// Feed the mixer with sources of mean 0 and variance 1.
        decoder_standardization: bool = true;
        /// How the linear output layer of the mixer is found.
        elimination: Elimination = Elimination::LeastSquares;
        /// Ridge of the least-squares problem, added to the Gram matrix ΦᵀΦ/T of the features.
        ridge: Option<f64> = None, within above(0.0),
            automatic "1e-6 for the affine mixer, 2e-3 otherwise"
            |config, _| Some(if config.is_affine() { 1e-6 } else { 2e-3 });
    }

    /// How the source matrix S is parametrised and started.
    Sources in (sources) {
        /// How S is held; Zw are the whitened principal components.
        coordinates: Option<Coordinates> = None,
            automatic "`fiber` for the affine mixer, `neural` otherwise"
            |config, _| {
                Some(if config.is_affine() { Coordinates::Fiber } else { Coordinates::Neural })
            };
        /// Units h of the map in `neural` coordinates.
        hidden: usize = 32, within from_to(1.0, 4096.0);
        /// Layers of the map in `neural` coordinates, at most, each a bend of what the one before puts
        /// out.
        ///
        /// All but the first wait until the sources have come to rest and forecasts are judged: less
        /// does not tell a map that bends so much from a wrong one. Where heavy tails under a
        /// changing variance are judged they are there from the start; `mixer.hidden` then has its
        /// last size as often as there are layers, and `mixer.ridge` is 1e-4 unless it is given.
        layers: usize = 2, within from_to(1.0, 16.0);
        /// Feed branches and smoothness with sources of mean 0 and variance 1, which fixes the
        /// gauge.
        standardize: bool = true;
        /// Where the sources start.
        ///
        /// What a classical method finds is A of S = Zw·A with one column a source, ordered by
        /// correlation time; its seed is that of the restart. It need not have converged. Of a
        /// given start, `neural` coordinates take the linear part. Restarts after the first begin
        /// at random where the first begins at `fast`.
        init: Option<Init> = None,
            automatic "`random` in `direct` coordinates and for recordings too short for `fast`, \
                       else `fast`"
            |config, facts| {
                let needed = Fast::default().least_samples(config.n_sources);
                let linear = config.coordinates() != Coordinates::Direct;
                Some(if linear && facts.n_complete() >= needed { Init::Fast } else { Init::Random })
            };
        /// When E, or the bend U, b and V, becomes free (0: at the first step; 1: never; between:
        /// after this fraction of the steps, and under the schedule `settle` once all else has
        /// settled).
        unlock: Option<f64> = None, within from_to(0.0, 1.0),
            automatic "0 in `direct` and 0.15 in `neural` coordinates, in `fiber` coordinates 1 \
                       for the affine mixer and 1/3 otherwise"
            |config, _| Some(match config.coordinates() {
                Coordinates::Direct => 0.0,
                Coordinates::Neural => 0.15,
                _ if config.is_affine() => 1.0,
                _ => 1.0 / 3.0,
            });
        /// How fast E moves, in `fiber` coordinates.
        ///
        /// `predictable` is the rate of E_k times 1 − Σ_r w_kr ℓ_kr, the share of the source's
        /// variance that its networks predict: what cannot be predicted would only be bent until
        /// it can. It needs `standardize`, without which ℓ is no share.
        freedom: Freedom = Freedom::Predictable;
        /// The monotone map in which the finished sources are shown, in `neural` coordinates.
        ///
        /// Behind nonlinear mixing a source is determined up to such a map. The objective's own is
        /// right for Gaussian sources, the linear-most for pulses, square waves and chirps.
        scale: SourceScale = SourceScale::Objective;
        /// Added to the standard deviation when sources are standardised.
        epsilon: f64 = 1e-6, within above(0.0);
    }

    /// Patch scales, masks and the branch Transformers.
    Branches in (branches) {
        /// Candidate patch sizes in samples, ascending.
        ///
        /// Long patches leave so few of them in a short recording that the networks learn them by
        /// heart. For a recording in pieces the default keeps the sizes that fit twice into a
        /// typical piece, and takes half a piece where none does.
        patch_sizes: Vec<usize> = vec![4, 8, 16], within at_least(1.0), fits relations::ascending;
        /// Stride as a share of the patch size.
        stride_ratio: f64 = 1.0, within above_up_to(0.0, 1.0);
        /// Share of patches that are hidden and predicted.
        mask_ratio: f64 = 0.4, within above_up_to(0.0, 1.0);
        /// Token width d: an even multiple of `n_heads`.
        d_model: usize = 32, fits relations::heads;
        /// Attention heads.
        n_heads: usize = 4, within at_least(1.0);
        /// Encoder layers.
        n_layers: usize = 2, within at_least(1.0);
        /// Feed-forward width as a multiple of the token width.
        ffn_ratio: usize = 2, within at_least(1.0);
        /// Let a patch attend only to itself and earlier ones.
        causal: bool = false;
        /// Give a hidden patch its position: mask token plus positional encoding. In the paper the
        /// mask token replaces the whole token, and only the locality bias says where it lies.
        mask_position: bool = true;
        /// Start the patch grid at a random sample in every step.
        random_start: bool = true;
        /// Show a branch its source with a random sign in every step: the sign is not
        /// identifiable, so no structure may depend on it.
        random_sign: bool = true;
        /// Shift the positional encoding by a random number of patches below this; 0 turns it off.
        max_shift: usize = 64, within from_to(0.0, 65_536.0);
        /// Longest stretch of samples that a branch reads in one step; longer recordings are read
        /// in random crops. 0 reads everything.
        crop: usize = 1024;
    }

    /// The ordered multi-scale controller: low branch, short scale.
    Controller in (controller) {
        /// How sharply (τ) a branch selects scales around its center.
        sharpness: f64 = 4.0, within above(0.0);
        /// Locality slope α of attention at the shortest scale; above `slope_min`.
        slope_max: f64 = 1.0, within above(0.0), fits relations::slopes;
        /// Locality slope α of attention at the longest scale. Where it is small, branches learn
        /// short recordings by heart.
        slope_min: f64 = 0.3, within above(0.0);
        /// Least gap between neighbouring centers: ε in δ = softplus(η) + ε.
        gap_floor: f64 = 1e-3, within above(0.0);
        /// Gap below which the gap penalty sets in, in units of (a_max − a_min)/(K + 1).
        gap_target: f64 = 0.8, within at_least(0.0);
        /// Share of uniform weight that every scale keeps in every branch.
        ///
        /// With it each network goes on learning, and each source is judged at all scales.
        weight_floor: f64 = 0.3, within from_to(0.0, 1.0);
    }

    /// Weights and forms of the objective's terms. A weight of 0 removes its term from the
    /// computation.
    Weights in (weights) {
        /// ν of the reconstruction term ‖Y − Ŷ‖²/(2ν); inf removes the term.
        ///
        /// The automatic value grows with the recording, so that the balance of the terms does not
        /// change with its length.
        observation_variance: Option<f64> = None, within above_or_infinite(0.0),
            automatic "100 for the affine mixer, else 1 in `direct`, 2 in `fiber` and 4 in \
                       `neural` coordinates, per 6000 observed values"
            |config, facts| Some(match config.coordinates() {
                _ if config.is_affine() => 100.0,
                Coordinates::Direct => 1.0,
                Coordinates::Neural => 4.0,
                _ => 2.0,
            } * facts.n_observed() as f64 / REFERENCE_VALUES);
        /// Weight λ_str of the structural energy.
        structure: Option<f64> = None, within at_least(0.0),
            automatic "10·K/3"
            |config, _| Some(10.0 * config.n_sources as f64 / 3.0);
        /// Share w of the kernel energy in the structural energy; the rest is that of the branch
        /// networks. 1 leaves the networks out.
        ///
        /// The kernel energy is the entropy of a Gaussian process with the smooth spectrum, or the
        /// changing variances, that a source has. Where that leaves the sources in doubt, what is
        /// not Gaussian in its innovations is taken off, or what forecasts gain that are not linear.
        /// It is accurate from 300 samples on, where networks learn by heart. The energy `raw` has
        /// none.
        kernel: Option<f64> = None, within from_to(0.0, 1.0),
            automatic "0.9 for the affine mixer, 0.7 where its pieces have 8000 samples or more, 0.3 \
                       for other mixers (each counts as 0.9 where innovations or forecasts are \
                       judged); 0.95 for an affine mixer and pieces of less than 16 samples; 0 \
                       with the energy `raw`, and where sources are free in every sample of a \
                       recording that is not evaluated whole"
            |config, facts| Some(match config.weights.energy {
                EnergyForm::Raw => 0.0,
                EnergyForm::Log if config.is_long(facts) && config.has_free_samples() => 0.0,
                // So few patches say next to nothing, and networks learn them by heart.
                EnergyForm::Log if config.is_affine() && facts.piece < 16 => 0.95,
                EnergyForm::Log if config.is_affine() && facts.piece >= LONG => LONG_KERNEL,
                EnergyForm::Log if config.is_affine() => AFFINE_KERNEL,
                EnergyForm::Log => BENT_KERNEL,
            });
        /// Weight λ_sep of the separation term.
        separation: Option<f64> = None, within at_least(0.0),
            automatic "(1.5 − w)·λ_str/K, at least λ_str/K, for `log_det`; λ_str/K in `neural` \
                       coordinates; 30/K for `decorrelation`"
            |config, _| {
                let k = config.n_sources as f64;
                let kernel = config.weights.kernel.unwrap_or(0.0);
                Some(match (config.weights.separation_form, config.weights.structure?) {
                    (SeparationForm::LogDet, structure) if config.is_neural() => structure / k,
                    (SeparationForm::LogDet, structure) => (1.5 - kernel).max(1.0) * structure / k,
                    (SeparationForm::Decorrelation, _) => 30.0 / k,
                })
            };
        /// Weight λ_smooth of the smoothness term.
        smoothness: f64 = 0.1, within at_least(0.0);
        /// Weight λ_ent of the entropy of the scale weights.
        entropy: f64 = 0.05, within at_least(0.0);
        /// Weight λ_gap of the gap penalty.
        gap: f64 = 300.0, within at_least(0.0);
        /// Form φ of the structural energy of a patch error ℓ.
        energy: EnergyForm = EnergyForm::Log;
        /// κ in ln(ℓ + κ), of the energy `log`.
        kappa: Option<f64> = None, within above(0.0),
            automatic "0.01 in `neural` coordinates, else 0.03 for the affine mixer and 0.3 \
                       otherwise"
            |config, _| match config.weights.energy {
                EnergyForm::Raw => None,
                EnergyForm::Log if config.is_neural() => Some(0.01),
                EnergyForm::Log => Some(if config.is_affine() { 0.03 } else { 0.3 }),
            };
        /// Samples over which the errors of hidden patches are averaged before the logarithm of
        /// the energy `log` is taken; 0: over all that a branch reads in a step.
        ///
        /// ln(ℓ + κ) is then the mean of it over blocks of this length, which sees a variance that
        /// changes with time.
        energy_block: Option<usize> = None, fits relations::blocks_of_the_logarithm,
            automatic "64 in `neural` coordinates, 0 otherwise"
            |config, _| match config.weights.energy {
                EnergyForm::Raw => None,
                EnergyForm::Log => Some(if config.is_neural() { 64 } else { 0 }),
            };
        /// Form of the separation term; C is the covariance of the sources.
        separation_form: SeparationForm = SeparationForm::LogDet;
        /// Differences that the smoothness term makes small.
        smoothness_order: Smoothness = Smoothness::Second;
    }

    /// How steps are taken: their rule, rates and schedule, clipping, stopping.
    Optimizer in (optimizer) {
        /// How a step follows from the gradient.
        rule: UpdateRule = UpdateRule::Adam;
        /// Learning rate ξ of all parameters under the rule `gradient`, which takes from
        /// `optimizer.rates` only which groups are frozen.
        rate: f64 = 0.01, within above(0.0);
        /// Training steps; under the schedule `settle` the most that are taken. With 0 the result
        /// is where the sources start.
        steps: Option<usize> = None, fits relations::no_steps,
            automatic "2000, under the schedule `settle` 10,000"
            |config, _| Some(match config.optimizer.schedule.kind {
                ScheduleKind::Settle => 10_000,
                _ => 2000,
            });
        /// Decoupled weight decay of the branch networks.
        weight_decay: f64 = 0.0, within at_least(0.0);
        /// Clip the gradient to this global norm; 0 never clips.
        clip: f64 = 0.0, within at_least(0.0);
        /// Recordings longer than this many samples (and than `branches.crop`) are trained through
        /// second moments, crops and random blocks of this length; 0: never.
        ///
        /// A step then costs the same however long they are. Free sources are reached in about
        /// (crops + 2 blocks)/T of the steps only: for E to move as far in a recording ten times
        /// as long takes ten times the steps. In `neural` coordinates a step sees one block of
        /// this length, or of `branches.crop` where that is longer, and nothing else. With
        /// `branches.crop = 0` every recording is evaluated whole too.
        block: usize = 4096, within at_least(4.0).or(0.0);
    } with {
        rates: Rates,
        schedule: Schedule,
        early_stopping: EarlyStopping,
    }

    /// Adam's learning rate of each group of parameters. A rate of 0 freezes the group.
    Rates in (optimizer.rates) {
        /// The linear part A of the sources.
        fiber: f64 = 0.06, within at_least(0.0);
        /// What is free besides A: S in `direct` coordinates, E or the bend U, b and V once
        /// unlocked.
        sources: Option<f64> = None, within at_least(0.0),
            automatic "0.02 for S (`direct`), 0.001 for E (`fiber`), 0.004 for the bend (`neural`)"
            |config, _| Some(match config.coordinates() {
                Coordinates::Direct => 0.02,
                Coordinates::Neural => 0.004,
                _ => 0.001,
            });
        /// The branch networks.
        networks: f64 = 0.003, within at_least(0.0);
        /// The controller's raw gaps η.
        controller: f64 = 0.01, within at_least(0.0);
        /// Mixer parameters that are not eliminated.
        mixer: f64 = 0.01, within at_least(0.0);
    }

    /// How the learning rates change over a run.
    Schedule in (optimizer.schedule) {
        /// The form of the change.
        kind: ScheduleKind = ScheduleKind::Settle;
        /// Warm-up steps of `cosine` and `settle`.
        warmup: usize = 50;
        /// Share of the rate at the end of `cosine` and `settle`.
        floor: f64 = 0.05, within from_to(0.0, 1.0);
    }

    /// When a run has converged: its sources have stopped turning.
    EarlyStopping in (optimizer.early_stopping) {
        /// Whether the run ends there. The schedule `cosine` is made for its length and goes on.
        enabled: bool = true;
        /// Steps at the first rate of the schedule `settle`, at least: the time in which sources
        /// find their places. 0: 200 where spectra or variances tell all sources apart, else 500
        /// less than there are samples, from 500 to 1500.
        least: usize = 0;
        /// Steps over which it is judged how far the sources have turned.
        patience: usize = 25, within at_least(1.0);
        /// The angle in radians by which no source may have turned over these steps. An angle of
        /// 0.02 changes the correlation with the true source by 0.0002 at most.
        tolerance: f64 = 0.02, within at_least(0.0);
    }

    /// Moves that carry a source, its networks and their moments to another branch.
    Assignment in (assignment) {
        /// By what rule sources move between branches, early in a run.
        rule: AssignmentRule = AssignmentRule::CorrelationTime;
        /// Steps at which a move is made; late moves cost accuracy.
        at: Vec<usize> = vec![50, 100, 150, 200];
    }
}

/// Every setting, section by section: the order of configuration files, and the order in which
/// automatic values are filled in.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}

impl Config {
    /// Every automatic value that is left open, chosen for a recording.
    ///
    /// ```
    /// use strtransformer::{Config, config::Facts};
    /// let config = Config::new(3).with_automatic_values(&Facts::EXAMPLE);
    /// assert_eq!(config.weights.structure, Some(10.0));
    /// ```
    pub fn with_automatic_values(&self, facts: &Facts) -> Config {
        let mut config = self.clone();
        for automatic in settings().filter_map(|setting| setting.automatic) {
            (automatic.fill)(&mut config, facts);
        }
        config
    }

    pub(super) fn is_affine(&self) -> bool {
        self.mixer.kind == MixerKind::Affine
    }

    /// Whether a run bends its sources until they have settled, wherever it begins: of such runs
    /// some end in a wrong place, and only another one tells.
    fn bends_until_settled(&self) -> bool {
        let optimizer = &self.optimizer;
        self.mixer.kind == MixerKind::Mlp
            && optimizer.schedule.kind == ScheduleKind::Settle
            && optimizer.early_stopping.enabled
            && self.sources.init != Some(Init::Given)
    }

    /// How S is held, which stands above all rules that ask for it.
    pub(super) fn coordinates(&self) -> Coordinates {
        self.sources.coordinates.unwrap_or(Coordinates::Fiber)
    }

    /// Whether a recording is trained through moments and blocks.
    pub(super) fn is_long(&self, facts: &Facts) -> bool {
        let longest = self.optimizer.block.max(self.branches.crop);
        let whole = self.optimizer.block == 0 || self.branches.crop == 0;
        !whole && facts.n_samples > longest
    }

    /// Whether every sample of a source is a parameter of its own, now or later.
    pub(super) fn has_free_samples(&self) -> bool {
        match self.coordinates() {
            Coordinates::Direct => true,
            Coordinates::Neural => false,
            Coordinates::Fiber => {
                let given = self.sources.init == Some(Init::Given);
                given || self.sources.unlock.is_some_and(|unlock| unlock < 1.0)
            }
        }
    }

    pub(super) fn is_neural(&self) -> bool {
        self.coordinates() == Coordinates::Neural
    }
}
