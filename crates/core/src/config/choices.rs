//! The words that settings can be, and what each of them means.

use super::value::choices;
use strt_classic::Baseline;

choices! {
    /// Which engine evaluates the branches.
    EngineKind {
        /// The fast f32 engine.
        Cpu = "cpu",
        /// The plain f64 oracle: slow, for checks.
        Reference = "reference",
    }

    /// Family of the mixer.
    MixerKind {
        /// ŷ = W s + b.
        Affine = "affine",
        /// A multilayer perceptron for nonlinear mixing.
        Mlp = "mlp",
        /// A mixer of the caller's own, given to the library.
        Custom = "custom",
    }

    /// Nonlinearity of the MLP mixer.
    Activation {
        /// tanh(x).
        Tanh = "tanh",
        /// x·Φ(x).
        Gelu = "gelu",
        /// x for x > 0, 0.1·x otherwise.
        LeakyRelu = "leaky_relu",
    }

    /// How the mixer's linear output layer is found.
    Elimination {
        /// Solved by (ridge) least squares at every step: variable projection.
        LeastSquares = "least_squares",
        /// Trained by gradient like everything else.
        Gradient = "gradient",
    }

    /// Parametrisation of the source matrix S; Zw are the whitened principal components.
    Coordinates {
        /// S itself is the parameter.
        Direct = "direct",
        /// S = Zw·A + E: one collective direction per pair of sources.
        Fiber = "fiber",
        /// S = Zw·A + tanh(Zw·U + b)·V, in one layer or several: a smooth map of the components.
        ///
        /// Its volume takes the place of det C in the separation term `log_det`, which makes J a
        /// likelihood under nonlinear mixing too.
        Neural = "neural",
    }

    /// Where the sources start.
    Init {
        /// A random rotation of the whitened principal components, or white noise (`direct`).
        Random = "random",
        /// The whitened principal components.
        Pca = "pca",
        /// A matrix of the caller's own, given to the library.
        Given = "given",
        /// What FastICA finds.
        FastIca = "fastica",
        /// What Picard finds.
        Picard = "picard",
        /// What JADE finds.
        Jade = "jade",
        /// What AMUSE finds.
        Amuse = "amuse",
        /// What SOBI finds.
        Sobi = "sobi",
        /// What NSS finds.
        Nss = "nss",
        /// Where the kernel energy alone is least.
        Fast = "fast",
        /// What WASOBI finds.
        Wasobi = "wasobi",
        /// What EFICA finds.
        Efica = "efica",
        /// What MULTICOMBI finds.
        MultiCombi = "multicombi",
    }

    /// How fast the free part E of a source may move.
    Freedom {
        /// At its learning rate.
        Full = "full",
        /// At its rate times the share of the source's variance that its networks predict.
        Predictable = "predictable",
    }

    /// The monotone map in which a source of `neural` coordinates is shown.
    SourceScale {
        /// As the objective has it: prediction errors are nearly Gaussian.
        Objective = "objective",
        /// As nearly a linear combination of the channels as a monotone map makes it.
        Linear = "linear",
        /// The mean of both.
        Half = "half",
    }

    /// φ in L_str = 1/K Σ_k Σ_r w_kr φ(ℓ_kr), w = (1 − f)π + f/R with f the controller's weight
    /// floor.
    EnergyForm {
        /// φ(ℓ) = ℓ, as printed in the paper.
        Raw = "raw",
        /// φ(ℓ) = ln(ℓ + κ), the Gaussian log-likelihood of the patch error.
        Log = "log",
    }

    /// The separation term; C is the covariance of the sources.
    SeparationForm {
        /// ‖C − I‖², as printed in the paper.
        Decorrelation = "decorrelation",
        /// −ln det(C + 10⁻⁴ I); in `neural` coordinates −ln |det| of the map's Jacobian.
        ///
        /// With ln ℓ and weight λ_str/K the objective is a likelihood.
        LogDet = "log_det",
    }

    /// Order of the difference operator in the smoothness term.
    Smoothness {
        /// First differences.
        First = "first",
        /// Second differences.
        Second = "second",
    }

    /// How a step follows from the gradient.
    UpdateRule {
        /// Adam, with a learning rate for each group of parameters.
        Adam = "adam",
        /// Along the gradient itself, with one rate for all parameters: x ← x − ξ∇J, as Algorithm 1
        /// of the paper prints it.
        Gradient = "gradient",
    }

    /// How the learning rates change over a run.
    ScheduleKind {
        /// One rate in all steps.
        Constant = "constant",
        /// A linear rise over `warmup` steps times half a cosine down to the share `floor`.
        Cosine = "cosine",
        /// A linear rise over `warmup` steps, one rate until the sources have stopped turning, then
        /// lower ones, down to the share `floor`, each until they have.
        Settle = "settle",
    }

    /// How sources are moved between branches early in a run.
    AssignmentRule {
        /// Never.
        None = "none",
        /// Ascending correlation time: low branch, short scale.
        CorrelationTime = "correlation_time",
        /// Minimal total cost under H = π·ℓᵀ.
        MinimalCost = "minimal_cost",
    }

    /// Where a configuration starts.
    Preset {
        /// What recovers sources best.
        Default = "default",
        /// The kernel energy alone, minimised directly: milliseconds. Affine mixer only.
        Fast = "fast",
        /// The algorithm of the paper as printed.
        Paper = "paper",
    }
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
            Init::Fast => Baseline::Fast(Default::default()),
            Init::Wasobi => Baseline::Wasobi(Default::default()),
            Init::Efica => Baseline::Efica(Default::default()),
            Init::MultiCombi => Baseline::MultiCombi(Default::default()),
        };
        Some(baseline.with_seed(seed))
    }
}
