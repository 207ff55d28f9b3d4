//! The sections of [`Config`](super::Config): plain data, one default per field.

use serde::{Deserialize, Serialize};
use strt_classic::Baseline;

/// Which engine evaluates the branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// The fast f32 engine.
    Cpu,
    /// The plain f64 oracle: slow, for checks.
    Reference,
}

/// What is done to the channels before anything else. It is remembered and undone in the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preprocess {
    /// Subtract each channel's mean. Default true.
    pub center: bool,
    /// Divide each channel by its standard deviation. Default true.
    pub scale: bool,
}

impl Default for Preprocess {
    fn default() -> Self {
        Preprocess {
            center: true,
            scale: true,
        }
    }
}

/// Family of the mixer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MixerKind {
    /// ŷ = W s + b.
    Affine,
    /// A multilayer perceptron, by default with a linear skip.
    Mlp,
    /// A mixer of the caller's own (see [`Start`](crate::train::Start)).
    Custom,
}

/// Nonlinearity of the MLP mixer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// tanh.
    Tanh,
    /// x·Φ(x).
    Gelu,
    /// x for x > 0, 0.1·x otherwise.
    LeakyRelu,
}

/// How the mixer's linear output layer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Elimination {
    /// Solved by (ridge) least squares at every step: variable projection.
    LeastSquares,
    /// Trained by gradient like everything else.
    Gradient,
}

/// The observation mixer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MixerConfig {
    /// Affine, MLP or the caller's own. Default `affine`.
    pub kind: MixerKind,
    /// Hidden sizes of the MLP. Default `[32]`.
    pub hidden: Vec<usize>,
    /// Nonlinearity of the MLP. Default `tanh`.
    pub activation: Activation,
    /// Whether the MLP has a linear path beside its hidden layers. Default true.
    pub skip: bool,
    /// Φ_dec: feed the mixer with sources of mean 0 and variance 1. Default true.
    pub decoder_standardization: bool,
    /// How the output layer is found. Default `least_squares`.
    pub elimination: Elimination,
    /// Ridge of the least-squares problem, added to the Gram matrix ΦᵀΦ/T of the features.
    /// Automatic: 1e-6 for the affine mixer, 2e-3 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

impl Default for MixerConfig {
    fn default() -> Self {
        MixerConfig {
            kind: MixerKind::Affine,
            hidden: vec![32],
            activation: Activation::Tanh,
            skip: true,
            decoder_standardization: true,
            elimination: Elimination::LeastSquares,
            ridge: None,
        }
    }
}

/// Parametrisation of the source matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// S itself is the parameter.
    Direct,
    /// S = Zw·A + E with Zw the whitened principal components: one collective direction per pair of
    /// sources.
    Fiber,
    /// S = Zw·A + tanh(Zw·U + b)·V: a smooth map of the whitened components. Its volume takes the
    /// place of det C in the separation term `log_det`, which makes J a likelihood under nonlinear
    /// mixing too.
    Neural,
}

/// Where the sources start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// A random rotation of the whitened principal components (`fiber`), or white noise (`direct`).
    Random,
    /// The whitened principal components.
    Pca,
    /// A matrix that the caller gives (see [`Start`](crate::train::Start)).
    Given,
    /// The sources that [`FastIca`](strt_classic::FastIca) finds, shortest correlation time in
    /// the first branch.
    #[serde(rename = "fastica")]
    FastIca,
    /// Those of [`Picard`](strt_classic::Picard).
    Picard,
    /// Those of [`Jade`](strt_classic::Jade).
    Jade,
    /// Those of [`Amuse`](strt_classic::Amuse).
    Amuse,
    /// Those of [`Sobi`](strt_classic::Sobi).
    Sobi,
    /// Those of [`Nss`](strt_classic::Nss).
    Nss,
}

impl Init {
    /// The method that finds the start, with its default options and `seed`; `None` when no method
    /// does.
    pub fn baseline(self, seed: u64) -> Option<Baseline> {
        let baseline = match self {
            Init::Random | Init::Pca | Init::Given => return None,
            Init::FastIca => Baseline::FastIca(Default::default()),
            Init::Picard => Baseline::Picard(Default::default()),
            Init::Jade => Baseline::Jade(Default::default()),
            Init::Amuse => Baseline::Amuse(Default::default()),
            Init::Sobi => Baseline::Sobi(Default::default()),
            Init::Nss => Baseline::Nss(Default::default()),
        };
        Some(baseline.with_seed(seed))
    }
}

/// How fast the free part E of a source may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Freedom {
    /// At its learning rate.
    Full,
    /// At its learning rate times the share of the source's variance that its networks predict.
    Predictable,
}

/// How the sources are parametrised and started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// `direct`, `fiber` or `neural`. Automatic: `fiber` for the affine mixer, `neural` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<Coordinates>,
    /// Units h of the map in `neural` coordinates. Default 32.
    pub hidden: usize,
    /// Feed branches and smoothness with sources of mean 0 and variance 1, which fixes the gauge.
    /// Default true.
    pub standardize: bool,
    /// `random`, `pca`, `given`, or what a classical method finds: `fastica`, `picard`, `jade`,
    /// `amuse`, `sobi`, `nss`. Such a start is A of S = Zw·A with one column a source, ordered by
    /// correlation time; the seed is that of the restart. It need not have converged. Of a given
    /// start, `neural` coordinates take the linear part. Default `random`.
    pub init: Init,
    /// Fraction of the steps after which E, or the bend of `neural` coordinates, is unlocked (0:
    /// from the first step; 1: never). Automatic: 0.15 in `neural` coordinates, else 1 for the
    /// affine mixer and 1/3 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlock: Option<f64>,
    /// How fast E_k moves, in `fiber` coordinates: `full`, at its rate, or `predictable`, at its
    /// rate times 1 − Σ_r w_kr ℓ_kr, the share of the source's variance that its networks predict:
    /// what cannot be predicted would only be bent until it can. Needs `standardize`, without which
    /// ℓ is no share. Default `predictable`; preset `paper` has no E.
    pub freedom: Freedom,
    /// ε added to the standard deviation when sources are standardised. Default 1e-6.
    pub epsilon: f64,
}

impl Default for Sources {
    fn default() -> Self {
        Sources {
            coordinates: None,
            hidden: 32,
            standardize: true,
            init: Init::Random,
            unlock: None,
            freedom: Freedom::Predictable,
            epsilon: 1e-6,
        }
    }
}

impl Sources {
    /// Shape of [Uᵀ | b | V], the bend of K sources in `neural` coordinates: h×(2K + 1).
    pub fn bend_shape(&self, n_sources: usize) -> (usize, usize) {
        (self.hidden, n_sources.saturating_mul(2).saturating_add(1))
    }
}

/// Patch scales, masks and the branch Transformers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Branches {
    /// Candidate patch sizes P_r in samples, ascending. Default 4, 8, 16; preset `paper` adds 32
    /// and 64. Longer patches leave so few of them in a short recording that the networks learn
    /// them by heart.
    pub patch_sizes: Vec<usize>,
    /// Stride as a share ρ of the patch size, in (0, 1]. Default 1.
    pub stride_ratio: f64,
    /// Share ρ_mask of patches hidden, in (0, 1]. Default 0.4.
    pub mask_ratio: f64,
    /// Mask draws per branch and step. Default 1.
    pub n_masks: usize,
    /// Token width d. Default 32.
    pub d_model: usize,
    /// Attention heads H. Default 4.
    pub n_heads: usize,
    /// Encoder layers L. Default 2.
    pub n_layers: usize,
    /// Feed-forward width as a multiple of d. Default 2.
    pub ffn_ratio: usize,
    /// Let a patch attend only to itself and earlier ones. Default false.
    pub causal: bool,
    /// Start the patch grid at a random sample in every step. Default true.
    pub random_start: bool,
    /// Let a branch see its source with a random sign in every step: the sign is not identifiable,
    /// so no structure may depend on it. Default true.
    pub random_sign: bool,
    /// Shift the positional encoding by a random number of patches below this. Default 64; 0 turns
    /// it off.
    pub max_shift: usize,
    /// Longest stretch of samples that a branch reads in one step; longer recordings are read in
    /// random crops. Default 1024; 0 reads everything.
    pub crop: usize,
}

impl Default for Branches {
    fn default() -> Self {
        Branches {
            patch_sizes: vec![4, 8, 16],
            stride_ratio: 1.0,
            mask_ratio: 0.4,
            n_masks: 1,
            d_model: 32,
            n_heads: 4,
            n_layers: 2,
            ffn_ratio: 2,
            causal: false,
            random_start: true,
            random_sign: true,
            max_shift: 64,
            crop: 1024,
        }
    }
}

/// The ordered multi-scale controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Controller {
    /// τ: how sharply a branch selects scales around its center. Default 4.
    pub sharpness: f64,
    /// α_max, the locality slope at the shortest scale. Default 1.
    pub slope_max: f64,
    /// α_min, the locality slope at the longest scale. Default 0.3; preset `paper` takes 0.02. A
    /// branch that looks too far learns the recording by heart.
    pub slope_min: f64,
    /// ε in δ = softplus(η) + ε. Default 1e-3.
    pub gap_floor: f64,
    /// Δ_c of the gap penalty, in units of (a_max − a_min)/(K + 1). Default 0.8.
    pub gap_target: f64,
    /// Share of uniform scale weight that every scale keeps: each network goes on learning, and
    /// each source is judged at all scales. Default 0.3.
    pub weight_floor: f64,
}

impl Default for Controller {
    fn default() -> Self {
        Controller {
            sharpness: 4.0,
            slope_max: 1.0,
            slope_min: 0.3,
            gap_floor: 1e-3,
            gap_target: 0.8,
            weight_floor: 0.3,
        }
    }
}

/// φ in L_str = 1/K Σ_k Σ_r w_kr φ(ℓ_kr), w = (1 − f)π + f/R with f the controller's weight floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyForm {
    /// φ(ℓ) = ℓ, as printed in the paper.
    Raw,
    /// φ(ℓ) = ln(ℓ + κ), the Gaussian log-likelihood of the patch error.
    Log,
}

/// The separation term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeparationForm {
    /// ‖C − I‖², as printed in the paper.
    Decorrelation,
    /// −ln det(C + 10⁻⁴ I). With ln ℓ and weight λ_str/K the objective is a likelihood.
    LogDet,
}

/// Order of the difference operator in the smoothness term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Smoothness {
    /// First differences.
    First,
    /// Second differences.
    Second,
}

/// Weights and forms of the objective's terms. A weight of 0 removes its term from the computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// ν_y: the reconstruction term is ‖Y − Ŷ‖²/(2ν_y). Automatic: 100 (affine), else 1 in
    /// `direct`, 2 in `fiber` and 4 in `neural` coordinates, per 6000 observed values, so that the
    /// balance does not change with the length of the recording. Infinity removes the term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation_variance: Option<f64>,
    /// λ_str. Automatic: 10·K/3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<f64>,
    /// λ_sep. Automatic: 1.5·λ_str/K for `log_det`, in `neural` coordinates λ_str/K; 30/K for
    /// `decorrelation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separation: Option<f64>,
    /// λ_smooth. Default 0.1.
    pub smoothness: f64,
    /// λ_ent. Default 0.05.
    pub entropy: f64,
    /// λ_gap. Default 300.
    pub gap: f64,
    /// Form of the energy. Default `log`.
    pub energy: EnergyForm,
    /// κ in ln(ℓ + κ). Automatic: 0.01 in `neural` coordinates, else 0.03 for the affine mixer and
    /// 0.3 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Samples over which the errors of hidden patches are averaged before the logarithm is taken:
    /// ln(ℓ + κ) is then the mean of it over blocks of this length, which sees a variance that
    /// changes with time. 0: over all that a branch reads in a step. Automatic: 64 in `neural`
    /// coordinates, 0 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_block: Option<usize>,
    /// Form of the separation term. Default `log_det`.
    pub separation_form: SeparationForm,
    /// Order of the smoothness term. Default `second`.
    pub smoothness_order: Smoothness,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            observation_variance: None,
            structure: None,
            separation: None,
            smoothness: 0.1,
            entropy: 0.05,
            gap: 300.0,
            energy: EnergyForm::Log,
            kappa: None,
            energy_block: None,
            separation_form: SeparationForm::LogDet,
            smoothness_order: Smoothness::Second,
        }
    }
}

/// How the learning rates change over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Schedule {
    /// The same rate in every step.
    Constant,
    /// Linear warm-up over `warmup` steps, then half a cosine down to the share `floor` of the
    /// rate.
    Cosine {
        /// Warm-up steps.
        warmup: usize,
        /// Share of the rate at the last step.
        floor: f64,
    },
}

/// Adam's learning rate of each parameter group. A rate of 0 freezes the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// The fiber coordinates A. Default 0.06.
    pub fiber: f64,
    /// What is free besides A: S in `direct` coordinates, E or the bend of `neural` ones once
    /// unlocked. Automatic: 0.02 for S, 0.001 for E, 0.004 for the bend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<f64>,
    /// The branch networks Ψ. Default 0.003.
    pub networks: f64,
    /// The controller's raw gaps η. Default 0.01.
    pub controller: f64,
    /// Mixer parameters that are not eliminated. Default 0.01.
    pub mixer: f64,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            fiber: 0.06,
            sources: None,
            networks: 0.003,
            controller: 0.01,
            mixer: 0.01,
        }
    }
}

/// Stop when the smoothed objective no longer improves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EarlyStopping {
    /// Whether to stop before the last step at all. Default false: the cosine schedule is made for
    /// its length.
    pub enabled: bool,
    /// Decay of the exponential average of the objective. Default 0.98.
    pub smoothing: f64,
    /// Steps without improvement after which the run counts as converged. Default 200.
    pub patience: usize,
    /// What counts as an improvement, relative to max(1, |J|). Default 0.01: a run that gained less
    /// than 1 % in `patience` steps has converged.
    pub tolerance: f64,
}

impl Default for EarlyStopping {
    fn default() -> Self {
        EarlyStopping {
            enabled: false,
            smoothing: 0.98,
            patience: 200,
            tolerance: 0.01,
        }
    }
}

/// Adam, schedules, clipping, stopping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Optimizer {
    /// Steps N_max. Automatic: 2000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Learning rate of each group.
    pub rates: Rates,
    /// Default: 50 warm-up steps, then a cosine to 5 %.
    pub schedule: Schedule,
    /// β₁ of Adam. Default 0.9.
    pub beta1: f64,
    /// β₂ of Adam. Default 0.999.
    pub beta2: f64,
    /// ε of Adam. Default 1e-8.
    pub epsilon: f64,
    /// Decoupled weight decay of the branch networks. Default 0.
    pub weight_decay: f64,
    /// Clip the gradient to this global norm; 0 never clips. Default 0.
    pub clip: f64,
    /// Recordings longer than this many samples (and than `branches.crop`) are trained through
    /// their second moments, with samples read in crops and in random blocks of this length, so
    /// that a step costs the same however long they are. Free sources are then reached in about
    /// (crops + 2 blocks)/T of the steps only: for E to move as far in a recording ten times as
    /// long takes ten times the steps. In `neural` coordinates a step sees one block of this
    /// length, or of `branches.crop` where that is longer, and nothing else. Default 4096; 0
    /// evaluates every recording whole, as does `branches.crop = 0`.
    pub block: usize,
    /// Stopping and convergence.
    pub early_stopping: EarlyStopping,
}

impl Default for Optimizer {
    fn default() -> Self {
        Optimizer {
            steps: None,
            rates: Rates::default(),
            schedule: Schedule::Cosine {
                warmup: 50,
                floor: 0.05,
            },
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            clip: 0.0,
            block: 4096,
            early_stopping: EarlyStopping::default(),
        }
    }
}

/// How sources are moved between branches early in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssignmentRule {
    /// Never.
    None,
    /// Ascending correlation time: low branch, short scale.
    CorrelationTime,
    /// Minimal total cost under H = π·ℓᵀ.
    MinimalCost,
}

/// Moves that carry a source, its networks and their moments to another branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Assignment {
    /// Default `correlation_time`.
    pub rule: AssignmentRule,
    /// Fractions of the steps at which a move is made. Default 0.1, 0.2, 0.3, 0.4; late moves cost
    /// accuracy.
    pub at: Vec<f64>,
}

impl Default for Assignment {
    fn default() -> Self {
        Assignment {
            rule: AssignmentRule::CorrelationTime,
            at: vec![0.1, 0.2, 0.3, 0.4],
        }
    }
}
