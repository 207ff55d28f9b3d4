//! [`Config`] → [`Plan`]: a configuration is judged, and its automatic values are chosen.
//!
//! What can be judged without a recording is judged by the table: bounds of one value, relations
//! between several. Here is what needs the recording, and what follows from all values together.

use super::{
    Branches, Config, Coordinates, Elimination, EnergyForm, Facts, Freedom, Init, MixerKind,
    Reason, ScheduleKind, Smoothness, Sources, settings,
};
use crate::energy::Phi;
use crate::{Error, Recording, Result};
use strt_classic::Method;
use strt_kernels::{BranchSet, NetworkShape, ScaleShape};
use strt_signal::pieces::Pieces;

/// Why an automatic value is there.
const FILLED: &str = "its rule has filled it in";

/// The automatic `mixer.ridge` beside several layers: a mixer that cannot follow the map holds it
/// back.
const DEEP_RIDGE: f64 = 1e-4;

/// A configuration that fits a recording and can run. Made by [`Config::check`] only.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    config: Config,
    branches: BranchSet,
    /// N_max.
    pub(crate) steps: usize,
    /// Step of the stage from which S, E or the bend is free; `None` when it never is.
    pub(crate) unlock_step: Option<usize>,
    /// Restarts, at most.
    pub(crate) restarts: usize,
    /// Whether a stage in which the mixer is affine and nothing is free comes first.
    pub(crate) begins_affine: bool,
    /// Whether E_k moves at the pace at which the networks of source k predict it.
    pub(crate) by_predictability: bool,
    /// ν_y.
    pub(crate) observation_variance: f64,
    /// λ_str.
    pub(crate) structure: f64,
    /// λ_sep.
    pub(crate) separation: f64,
    /// w: the share of the kernel energy.
    pub(crate) kernel: f64,
    /// φ.
    pub(crate) phi: Phi,
    /// Ridge of the eliminated output layer.
    pub(crate) ridge: f64,
    /// Rate of S or E.
    pub(crate) sources_rate: f64,
    /// How the sources are held.
    pub(crate) coordinates: Coordinates,
    /// Whether all layers of their map are there from the start, in neural coordinates.
    pub(crate) is_deep: bool,
    /// Where they start.
    pub(crate) init: Init,
    /// Whether the recording is trained through moments and blocks.
    pub(crate) is_long: bool,
    /// Samples of a block.
    pub(crate) block_len: usize,
}

impl Plan {
    /// The configuration with every automatic value filled in.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Sizes of all branch networks and their patch grids.
    pub fn branches(&self) -> &BranchSet {
        &self.branches
    }

    /// Number of training steps N_max.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Whether a step sees one block of a long recording and nothing else: sources that are a map
    /// have no moments by which the rest could be followed.
    pub(crate) fn looks_at_one_block(&self) -> bool {
        self.is_long && self.coordinates == Coordinates::Neural
    }

    /// Whether S = Zw·A and nothing else, all the time.
    pub(crate) fn is_linear(&self) -> bool {
        self.coordinates == Coordinates::Fiber
            && self.unlock_step.is_none()
            && self.init != Init::Given
    }

    /// β, where the mixer's output layer is eliminated.
    pub(crate) fn elimination_ridge(&self) -> Option<f64> {
        (self.config.mixer.elimination == Elimination::LeastSquares).then_some(self.ridge)
    }

    /// This plan with all layers from the start; the mixer follows what the map can do. `given` is
    /// the configuration before automatic values were chosen.
    pub(crate) fn deep(mut self, given: &Config) -> Plan {
        let layers = self.config.sources.layers;
        self.is_deep = true;
        let mixer = &mut self.config.mixer;
        if mixer.kind == MixerKind::Mlp && layers > 1 {
            let last = mixer.hidden[mixer.hidden.len() - 1];
            let n_hidden = layers.max(mixer.hidden.len());
            mixer.hidden.resize(n_hidden, last);
            self.ridge = given.mixer.ridge.unwrap_or(DEEP_RIDGE);
            mixer.ridge = Some(self.ridge);
        }
        self
    }

    /// o: the order of the smoothness term.
    pub(crate) fn smoothness_order(&self) -> usize {
        match self.config.weights.smoothness_order {
            Smoothness::First => 1,
            Smoothness::Second => 2,
        }
    }
}

impl Branches {
    /// q = max(1, ⌊ρP + ½⌋).
    fn stride_of(&self, patch: usize) -> usize {
        ((self.stride_ratio * patch as f64 + 0.5) as usize).max(1)
    }

    /// Patches of a window in a stretch of this length; `None` where it does not hold two. A random
    /// start needs q − 1 samples to spare, so that every sample can be the first of a patch.
    pub(crate) fn patches_within(&self, length: usize, patch: usize) -> Option<usize> {
        let stride = self.stride_of(patch);
        let spare = if self.random_start { stride - 1 } else { 0 };
        let n_patches = (length.saturating_sub(patch + spare) / stride + 1).max(2);
        (length >= patch + stride).then_some(n_patches)
    }

    /// Size of every branch network.
    pub fn network(&self) -> NetworkShape {
        NetworkShape {
            d_model: self.d_model,
            n_heads: self.n_heads,
            n_layers: self.n_layers,
            ffn_ratio: self.ffn_ratio,
            causal: self.causal,
            mask_position: self.mask_position,
        }
    }
}

impl Sources {
    /// Shape of [Uᵀ | b | V], the bend of K sources in `neural` coordinates: h×(2K + 1).
    pub fn bend_shape(&self, n_sources: usize) -> (usize, usize) {
        (self.hidden, n_sources.saturating_mul(2).saturating_add(1))
    }
}

impl Config {
    /// Judges every value that can be judged without a recording, as [`Config::check`] does first:
    /// each by itself, then those that depend on others.
    ///
    /// # Errors
    /// [`Error::Config`] with the key of the first value that cannot run.
    pub fn check_values(&self) -> Result<()> {
        settings().try_for_each(|setting| setting.check_bounds(self))?;
        settings().try_for_each(|setting| setting.check_relation(self))?;
        Ok(())
    }

    /// Judges the configuration for this recording and fills in the automatic values.
    ///
    /// # Errors
    /// [`Error::Config`] with the key of a value that cannot run; [`Error::TooShort`] or
    /// [`Error::ShortPieces`] when the recording is too short.
    pub fn check(&self, recording: &Recording) -> Result<Plan> {
        self.check_values()?;
        match self.patches_in_pieces(recording.pieces()) {
            None => self.check_as_it_is(recording),
            Some(patch_sizes) => {
                let mut config = self.clone();
                config.branches.patch_sizes = patch_sizes;
                config.check_as_it_is(recording)
            }
        }
    }

    /// [`Config::check`] without a choice of patches: those of networks that are there already.
    pub(crate) fn check_as_it_is(&self, recording: &Recording) -> Result<Plan> {
        self.check_values()?;
        let facts = Facts::of(recording);
        let scales = self.scales(recording.pieces())?;
        self.check_init(facts.n_complete())?;

        let config = self.with_automatic_values(&facts);
        let (weights, optimizer) = (&config.weights, &config.optimizer);
        let coordinates = config.coordinates();
        let neural = coordinates == Coordinates::Neural;
        let steps = optimizer.steps.expect(FILLED);
        let unlock = config.sources.unlock.expect(FILLED);
        let settles = optimizer.schedule.kind == ScheduleKind::Settle;
        let later = coordinates != Coordinates::Direct && unlock > 0.0 && unlock < 1.0;
        // Given sources are where the caller wants to begin.
        let begins_affine = settles && later && config.sources.init != Some(Init::Given);
        let unlock_step = if coordinates == Coordinates::Direct || settles && later {
            Some(0)
        } else {
            (unlock < 1.0).then_some((unlock * steps as f64) as usize)
        };
        let by_predictability = config.sources.freedom == Freedom::Predictable
            && coordinates == Coordinates::Fiber
            && unlock_step.is_some();
        if by_predictability && !config.sources.standardize {
            return Err(self.refused("sources.freedom", Reason::UnknownShare).into());
        }
        // A form of the energy that is not taken has left both of its values open, or unused.
        let kappa = weights.kappa.filter(|_| weights.energy == EnergyForm::Log);
        let block = weights.energy_block.filter(|&block| block > 0);
        let longest = optimizer.block.max(config.branches.crop);
        let branches = BranchSet {
            n_sources: config.n_sources,
            scales,
            network: config.branches.network(),
            max_shift: config.branches.max_shift,
            error_block: block.filter(|_| kappa.is_some()),
        };
        Ok(Plan {
            branches,
            steps,
            restarts: config.restarts.expect(FILLED),
            unlock_step,
            begins_affine,
            by_predictability,
            observation_variance: weights.observation_variance.expect(FILLED),
            structure: weights.structure.expect(FILLED),
            separation: weights.separation.expect(FILLED),
            kernel: kappa.map_or(0.0, |_| weights.kernel.expect(FILLED)),
            phi: kappa.map_or(Phi::Raw, |kappa| Phi::Log { kappa }),
            ridge: config.mixer.ridge.expect(FILLED),
            is_deep: false,
            sources_rate: optimizer.rates.sources.expect(FILLED),
            coordinates,
            init: config.sources.init.expect(FILLED),
            is_long: config.is_long(&facts),
            block_len: if neural { longest } else { optimizer.block },
            config,
        })
    }

    /// Patch grids: as many patches as the readable stretch of a typical piece holds, and at least
    /// two. Some piece must hold as many; shorter ones are read as far as they go.
    fn scales(&self, pieces: &Pieces) -> Result<Vec<ScaleShape>> {
        let b = &self.branches;
        let readable = |length: usize| match b.crop {
            0 => length,
            crop => crop.min(length),
        };
        let shape = |&patch: &usize| {
            let stride = b.stride_of(patch);
            let longest = pieces.longest();
            if b.patches_within(readable(longest), patch).is_none() {
                let needed = patch + stride;
                return Err(if longest >= needed {
                    let reason = Reason::ShortCrop { patch, needed };
                    self.refused("branches.crop", reason).into()
                } else if pieces.is_whole() {
                    Error::TooShort {
                        n_samples: longest,
                        patch,
                        stride,
                    }
                } else {
                    Error::ShortPieces {
                        longest,
                        n_pieces: pieces.count(),
                        patch,
                        stride,
                    }
                });
            }
            let typical = b.patches_within(readable(pieces.typical()), patch);
            Ok(ScaleShape {
                patch,
                stride,
                n_patches: typical.unwrap_or(2),
            })
        };
        b.patch_sizes.iter().map(shape).collect()
    }

    /// Patches for a recording of several pieces that are too short for the default ones: those of
    /// them that fit twice into a typical piece, or else a half of it. `None` where sizes were
    /// chosen, or nothing has to change.
    fn patches_in_pieces(&self, pieces: &Pieces) -> Option<Vec<usize>> {
        let b = &self.branches;
        let typical = pieces.typical();
        let fits = |patch: &usize| patch + b.stride_of(*patch) <= typical;
        let chosen = b.patch_sizes != Branches::default().patch_sizes;
        if pieces.is_whole() || chosen || b.patch_sizes.iter().all(fits) {
            return None;
        }
        let fitting: Vec<usize> = b.patch_sizes.iter().copied().filter(fits).collect();
        if fitting.is_empty() {
            return Some(vec![(typical / 2).max(1)]);
        }
        Some(fitting)
    }

    /// The configuration of the stage that comes before sources are bent: an affine mixer with its
    /// own automatic values, and nothing free.
    pub(crate) fn affine_stage(&self) -> Config {
        let mut config = self.clone();
        config.mixer.kind = MixerKind::Affine;
        config.mixer.ridge = None;
        config.sources.coordinates = None;
        config.sources.unlock = Some(1.0);
        let weights = &mut config.weights;
        weights.observation_variance = None;
        weights.structure = None;
        weights.kernel = None;
        weights.separation = None;
        weights.kappa = None;
        weights.energy_block = None;
        config.optimizer.rates.sources = None;
        config
    }

    /// Whether the method that finds the start has samples enough.
    fn check_init(&self, n_complete: usize) -> Result<()> {
        let Some(baseline) = self.sources.init.and_then(|init| init.baseline(self.seed)) else {
            return Ok(());
        };
        let needed = baseline.least_samples(self.n_sources);
        if n_complete >= needed {
            return Ok(());
        }
        let reason = Reason::TooFewSamplesToStart {
            needed,
            n_sources: self.n_sources,
            n_complete,
        };
        Err(self.refused("sources.init", reason).into())
    }
}
