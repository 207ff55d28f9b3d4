//! [`Config`] → [`Plan`]: the one place where a configuration is judged and its automatic values
//! are chosen.

use super::{
    Branches, Config, Coordinates, Elimination, EnergyForm, EngineKind, Freedom, MixerKind,
    Schedule, SeparationForm, Smoothness,
};
use crate::{Error, Recording, Result};
use strt_classic::Method;
use strt_kernels::cpu::MAX_D_HEAD;
use strt_kernels::{BranchSet, NetworkShape, Pooling, ScaleShape};

/// Observed values T·m to which the automatic ν_y refers (the problems on which it was settled:
/// 1000 × 6).
const REFERENCE_VALUES: f64 = 6000.0;

/// More threads than this only wait for each other.
const MOST_THREADS: usize = 1024;

/// More units than this bend nothing better, and their memory is not there.
const MOST_HIDDEN: usize = 4096;

/// The automatic length of a block of the energy, where there are blocks.
const ENERGY_BLOCK: usize = 64;

/// The automatic number of steps.
const STEPS: usize = 2000;

/// A configuration that fits a recording and can run. Made by [`Config::check`] only.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    config: Config,
    branches: BranchSet,
    /// N_max.
    pub(crate) steps: usize,
    /// Step index from which E, or the bend, is free; `None` when it never is, or when S itself is
    /// the parameter.
    pub(crate) unlock_step: Option<usize>,
    /// Whether E_k moves at the pace at which the networks of source k predict it.
    pub(crate) by_predictability: bool,
    /// ν_y.
    pub(crate) observation_variance: f64,
    /// λ_str.
    pub(crate) structure: f64,
    /// λ_sep.
    pub(crate) separation: f64,
    /// κ, `None` for the raw energy.
    pub(crate) kappa: Option<f64>,
    /// Ridge of the eliminated output layer.
    pub(crate) ridge: f64,
    /// Rate of S or E.
    pub(crate) sources_rate: f64,
    /// How the sources are held.
    pub(crate) coordinates: Coordinates,
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

    /// Whether the sources are a map of the whitened components.
    pub(crate) fn is_neural(&self) -> bool {
        self.coordinates == Coordinates::Neural
    }

    /// β, where the mixer's output layer is eliminated.
    pub(crate) fn elimination_ridge(&self) -> Option<f64> {
        (self.config.mixer.elimination == Elimination::LeastSquares).then_some(self.ridge)
    }

    /// o: the order of the smoothness term.
    pub(crate) fn smoothness_order(&self) -> usize {
        match self.config.weights.smoothness_order {
            Smoothness::First => 1,
            Smoothness::Second => 2,
        }
    }
}

/// `Err` naming the field unless `holds`.
fn ensure(
    holds: bool,
    field: &'static str,
    found: impl std::fmt::Debug,
    expected: impl Into<String>,
) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::Config {
        field,
        found: format!("{found:?}"),
        expected: expected.into(),
    })
}

fn finite_from(field: &'static str, value: f64, least: f64) -> Result<()> {
    ensure(
        value.is_finite() && value >= least,
        field,
        value,
        format!("expected a finite number ≥ {least}"),
    )
}

fn positive(field: &'static str, value: f64) -> Result<()> {
    ensure(
        value.is_finite() && value > 0.0,
        field,
        value,
        "expected a finite number above 0",
    )
}

fn within(field: &'static str, value: f64, low: f64, high: f64) -> Result<()> {
    ensure(
        value >= low && value <= high,
        field,
        value,
        format!("expected a number from {low} to {high}"),
    )
}

fn at_least_one(field: &'static str, value: usize) -> Result<()> {
    ensure(value >= 1, field, value, "expected at least 1")
}

impl Branches {
    /// Size of every branch network.
    pub fn network(&self) -> NetworkShape {
        NetworkShape {
            d_model: self.d_model,
            n_heads: self.n_heads,
            n_layers: self.n_layers,
            ffn_ratio: self.ffn_ratio,
            causal: self.causal,
        }
    }
}

impl Config {
    /// Judges every value that can be judged without a recording, as [`Config::check`] does first.
    pub fn check_values(&self) -> Result<()> {
        ensure(
            self.n_sources >= 1,
            "n_sources",
            self.n_sources,
            "set the number of sources K, at least 1",
        )?;
        at_least_one("restarts", self.restarts)?;
        ensure(
            self.threads <= MOST_THREADS,
            "threads",
            self.threads,
            format!("expected at most {MOST_THREADS}, or 0 for all cores"),
        )?;
        self.check_branches()?;
        self.check_controller()?;
        self.check_weights()?;
        self.check_optimizer()?;
        self.check_mixer_and_sources()
    }

    /// Judges the configuration for this recording and fills in the automatic values.
    pub fn check(&self, recording: &Recording) -> Result<Plan> {
        self.check_values()?;
        let (n_samples, n_channels) = (recording.n_samples(), recording.n_channels());
        let scales = self.scales(n_samples)?;
        self.check_init(n_samples - recording.n_missing())?;

        let mut config = self.clone();
        let affine = self.mixer.kind == MixerKind::Affine;
        let k = self.n_sources as f64;
        let coordinates = *config.sources.coordinates.get_or_insert(match affine {
            true => Coordinates::Fiber,
            false => Coordinates::Neural,
        });
        let (direct, neural) = (
            coordinates == Coordinates::Direct,
            coordinates == Coordinates::Neural,
        );
        let (variance, kappa, ridge) = match (affine, coordinates) {
            (true, Coordinates::Direct | Coordinates::Fiber) => (100.0, 0.03, 1e-6),
            (true, Coordinates::Neural) => (100.0, 0.01, 1e-6),
            (false, Coordinates::Direct) => (1.0, 0.3, 2e-3),
            (false, Coordinates::Fiber) => (2.0, 0.3, 2e-3),
            (false, Coordinates::Neural) => (4.0, 0.01, 2e-3),
        };
        let observed = ((n_samples - recording.n_missing()) * n_channels) as f64;
        let observation_variance = *config
            .weights
            .observation_variance
            .get_or_insert(variance * observed / REFERENCE_VALUES);
        let structure = *config.weights.structure.get_or_insert(10.0 * k / 3.0);
        let separation =
            *config
                .weights
                .separation
                .get_or_insert(match self.weights.separation_form {
                    SeparationForm::LogDet if neural => structure / k,
                    SeparationForm::LogDet => 1.5 * structure / k,
                    SeparationForm::Decorrelation => 30.0 / k,
                });
        let kappa = match self.weights.energy {
            EnergyForm::Raw => None,
            EnergyForm::Log => Some(*config.weights.kappa.get_or_insert(kappa)),
        };
        let block = match kappa {
            None => 0,
            Some(_) => {
                *config
                    .weights
                    .energy_block
                    .get_or_insert(if neural { ENERGY_BLOCK } else { 0 })
            }
        };
        let ridge = *config.mixer.ridge.get_or_insert(ridge);
        let steps = *config.optimizer.steps.get_or_insert(STEPS);
        let sources_rate = *config
            .optimizer
            .rates
            .sources
            .get_or_insert(match coordinates {
                Coordinates::Direct => 0.02,
                Coordinates::Fiber => 0.001,
                Coordinates::Neural => 0.004,
            });
        let unlock = *config.sources.unlock.get_or_insert(match coordinates {
            Coordinates::Direct => 0.0,
            Coordinates::Fiber if affine => 1.0,
            Coordinates::Fiber => 1.0 / 3.0,
            Coordinates::Neural => 0.15,
        });
        let unlock_step = (!direct && unlock < 1.0).then_some((unlock * steps as f64) as usize);
        let by_predictability =
            self.sources.freedom == Freedom::Predictable && unlock_step.is_some() && !neural;
        ensure(
            self.sources.standardize || !by_predictability,
            "sources.freedom",
            self.sources.freedom,
            "without sources.standardize it is not known which share of a source is predicted: set it to full",
        )?;
        let whole = self.optimizer.block == 0 || self.branches.crop == 0;
        let is_long = !whole && n_samples > self.optimizer.block.max(self.branches.crop);
        let branches = BranchSet {
            n_sources: self.n_sources,
            scales,
            network: self.branches.network(),
            n_draws: self.branches.n_masks,
            max_shift: self.branches.max_shift,
            pooling: kappa
                .filter(|_| block > 0)
                .map(|offset| Pooling { block, offset }),
        };
        Ok(Plan {
            config,
            branches,
            steps,
            unlock_step,
            by_predictability,
            observation_variance,
            structure,
            separation,
            kappa,
            ridge,
            sources_rate,
            coordinates,
            is_long,
            block_len: match neural {
                true => self.optimizer.block.max(self.branches.crop),
                false => self.optimizer.block,
            },
        })
    }

    /// Patch grids for T samples: q = max(1, ⌊ρP + ½⌋), and as many patches as the readable stretch
    /// holds. A random start needs q − 1 samples to spare, so that every sample can be the first of
    /// a patch.
    fn scales(&self, n_samples: usize) -> Result<Vec<ScaleShape>> {
        let b = &self.branches;
        let stretch = if b.crop == 0 {
            n_samples
        } else {
            b.crop.min(n_samples)
        };
        let mut scales = Vec::with_capacity(b.patch_sizes.len());
        for &patch in &b.patch_sizes {
            let stride = ((b.stride_ratio * patch as f64 + 0.5) as usize).max(1);
            if stretch < patch + stride {
                let needed = patch + stride;
                return Err(if n_samples < needed {
                    Error::Recording(format!(
                        "{n_samples} samples are too few for patches of {patch} with stride {stride}, which need \
                         {needed}; use a longer recording or remove {patch} from branches.patch_sizes"
                    ))
                } else {
                    Error::Config {
                        field: "branches.crop",
                        found: b.crop.to_string(),
                        expected: format!(
                            "a crop must hold two patches of {patch}: at least {needed} samples"
                        ),
                    }
                });
            }
            let spare = if b.random_start { stride - 1 } else { 0 };
            let n_patches = (stretch.saturating_sub(patch + spare) / stride + 1).max(2);
            scales.push(ScaleShape {
                patch,
                stride,
                n_patches,
            });
        }
        Ok(scales)
    }

    /// Whether the method that finds the start has samples enough.
    fn check_init(&self, n_complete: usize) -> Result<()> {
        let init = self.sources.init;
        let Some(baseline) = init.baseline(self.seed) else {
            return Ok(());
        };
        let needed = baseline.least_samples(self.n_sources);
        ensure(
            n_complete >= needed,
            "sources.init",
            init,
            format!(
                "this start needs {needed} complete samples for {} sources and {n_complete} are there; use random",
                self.n_sources
            ),
        )
    }

    fn check_branches(&self) -> Result<()> {
        let b = &self.branches;
        let ascending = b.patch_sizes.windows(2).all(|w| w[0] < w[1]);
        ensure(
            !b.patch_sizes.is_empty() && b.patch_sizes[0] >= 1 && ascending,
            "branches.patch_sizes",
            &b.patch_sizes,
            "expected ascending sizes of at least 1 sample, such as [4, 8, 16, 32, 64]",
        )?;
        let share = |v: f64| v > 0.0 && v <= 1.0;
        ensure(
            share(b.stride_ratio),
            "branches.stride_ratio",
            b.stride_ratio,
            "expected a share in (0, 1]",
        )?;
        ensure(
            share(b.mask_ratio),
            "branches.mask_ratio",
            b.mask_ratio,
            "expected a share in (0, 1]",
        )?;
        at_least_one("branches.n_masks", b.n_masks)?;
        at_least_one("branches.n_heads", b.n_heads)?;
        at_least_one("branches.n_layers", b.n_layers)?;
        at_least_one("branches.ffn_ratio", b.ffn_ratio)?;
        let fits =
            b.d_model >= 2 && b.d_model.is_multiple_of(2) && b.d_model.is_multiple_of(b.n_heads);
        ensure(
            fits,
            "branches.d_model",
            b.d_model,
            format!("expected an even multiple of n_heads = {}", b.n_heads),
        )?;
        let wide = self.engine == EngineKind::Cpu && b.d_model / b.n_heads > MAX_D_HEAD;
        ensure(
            !wide,
            "branches.d_model",
            b.d_model,
            format!("expected at most {MAX_D_HEAD} per head of the cpu engine; use more heads"),
        )
    }

    fn check_controller(&self) -> Result<()> {
        let c = &self.controller;
        positive("controller.sharpness", c.sharpness)?;
        positive("controller.slope_min", c.slope_min)?;
        ensure(
            c.slope_max.is_finite() && c.slope_max > c.slope_min,
            "controller.slope_max",
            c.slope_max,
            format!("expected a finite number above slope_min = {}", c.slope_min),
        )?;
        positive("controller.gap_floor", c.gap_floor)?;
        finite_from("controller.gap_target", c.gap_target, 0.0)?;
        within("controller.weight_floor", c.weight_floor, 0.0, 1.0)
    }

    fn check_weights(&self) -> Result<()> {
        let w = &self.weights;
        if let Some(v) = w.observation_variance {
            ensure(
                v > 0.0,
                "weights.observation_variance",
                v,
                "expected a number above 0 (inf: no such term)",
            )?;
        }
        let given = [
            ("weights.structure", w.structure),
            ("weights.separation", w.separation),
        ];
        for (field, value) in given {
            value.map_or(Ok(()), |v| finite_from(field, v, 0.0))?;
        }
        finite_from("weights.smoothness", w.smoothness, 0.0)?;
        finite_from("weights.entropy", w.entropy, 0.0)?;
        finite_from("weights.gap", w.gap, 0.0)?;
        w.kappa.map_or(Ok(()), |v| positive("weights.kappa", v))?;
        let block = w.energy_block.unwrap_or(0);
        ensure(
            w.energy == EnergyForm::Log || block == 0,
            "weights.energy_block",
            block,
            "only the energy log is taken over blocks: set it to 0, or weights.energy to log",
        )
    }

    fn check_optimizer(&self) -> Result<()> {
        let o = &self.optimizer;
        o.steps
            .map_or(Ok(()), |v| at_least_one("optimizer.steps", v))?;
        finite_from("optimizer.rates.fiber", o.rates.fiber, 0.0)?;
        o.rates
            .sources
            .map_or(Ok(()), |v| finite_from("optimizer.rates.sources", v, 0.0))?;
        finite_from("optimizer.rates.networks", o.rates.networks, 0.0)?;
        finite_from("optimizer.rates.controller", o.rates.controller, 0.0)?;
        finite_from("optimizer.rates.mixer", o.rates.mixer, 0.0)?;
        let unit = |v: f64| (0.0..1.0).contains(&v);
        ensure(
            unit(o.beta1),
            "optimizer.beta1",
            o.beta1,
            "expected a number in [0, 1)",
        )?;
        ensure(
            unit(o.beta2),
            "optimizer.beta2",
            o.beta2,
            "expected a number in [0, 1)",
        )?;
        positive("optimizer.epsilon", o.epsilon)?;
        finite_from("optimizer.weight_decay", o.weight_decay, 0.0)?;
        finite_from("optimizer.clip", o.clip, 0.0)?;
        ensure(
            o.block == 0 || o.block >= 4,
            "optimizer.block",
            o.block,
            "expected at least 4 samples, or 0 to evaluate every recording whole",
        )?;
        if let Schedule::Cosine { floor, .. } = o.schedule {
            within("optimizer.schedule.floor", floor, 0.0, 1.0)?;
        }
        let e = &o.early_stopping;
        ensure(
            unit(e.smoothing),
            "optimizer.early_stopping.smoothing",
            e.smoothing,
            "expected [0, 1)",
        )?;
        at_least_one("optimizer.early_stopping.patience", e.patience)?;
        finite_from("optimizer.early_stopping.tolerance", e.tolerance, 0.0)?;
        for &at in &self.assignment.at {
            within("assignment.at", at, 0.0, 1.0)?;
        }
        Ok(())
    }

    fn check_mixer_and_sources(&self) -> Result<()> {
        let m = &self.mixer;
        ensure(
            m.kind != MixerKind::Mlp || (!m.hidden.is_empty() && m.hidden.iter().all(|&h| h >= 1)),
            "mixer.hidden",
            &m.hidden,
            "expected at least one hidden layer of at least one unit, such as [32]",
        )?;
        m.ridge.map_or(Ok(()), |v| positive("mixer.ridge", v))?;
        positive("sources.epsilon", self.sources.epsilon)?;
        ensure(
            (1..=MOST_HIDDEN).contains(&self.sources.hidden),
            "sources.hidden",
            self.sources.hidden,
            format!("expected from 1 to {MOST_HIDDEN} units"),
        )?;
        self.sources
            .unlock
            .map_or(Ok(()), |v| within("sources.unlock", v, 0.0, 1.0))
    }
}
