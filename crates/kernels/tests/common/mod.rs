//! Random problems for engines, shared by the integration tests.
#![allow(dead_code)]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};
use strt_kernels::{
    AdamStep, BlockError, BranchSet, Buffer, Engine, Init, Job, Layout, NetworkShape, Outcome,
    ScaleShape,
};

/// One step's worth of inputs for a set of branches.
#[derive(Clone)]
pub struct Problem {
    pub branches: BranchSet,
    pub parameters: Vec<Vec<f64>>,
    pub jobs: Vec<Job>,
    pub slopes: Vec<f64>,
    /// κ, where the errors of blocks are judged by their logarithm.
    pub kappa: Option<f64>,
}

/// Errors reported in blocks of so many samples and judged by ln(ℓ_c + κ).
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub samples: usize,
    pub kappa: f64,
}

/// How to draw one.
#[derive(Clone)]
pub struct Recipe {
    pub network: NetworkShape,
    pub scales: Vec<ScaleShape>,
    pub slopes: Vec<f64>,
    /// Share of patches that are masked; at least one always is.
    pub mask: f64,
    /// Share of patches that are invalid; at least one stays valid.
    pub invalid: f64,
    pub max_shift: usize,
    pub blocks: Option<Blocks>,
    /// Factor on the query and key weights.
    pub sharpness: f64,
    pub seed: u64,
}

pub const NETWORK: NetworkShape = NetworkShape {
    d_model: 32,
    n_heads: 4,
    n_layers: 2,
    ffn_ratio: 2,
    causal: false,
    mask_position: true,
};

/// The first step of Adam.
pub const STEP: AdamStep = AdamStep {
    rate: 1e-3,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    weight_decay: 0.01,
    count: 1,
    plain: false,
};

pub fn scale(patch: usize, stride: usize, n_patches: usize) -> ScaleShape {
    ScaleShape {
        patch,
        stride,
        n_patches,
    }
}

/// Shorthand for [`Blocks`].
pub fn blocks(samples: usize, kappa: f64) -> Option<Blocks> {
    Some(Blocks { samples, kappa })
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            network: NETWORK,
            scales: vec![scale(8, 8, 23)],
            slopes: vec![0.3],
            mask: 0.4,
            invalid: 0.0,
            max_shift: 5,
            blocks: None,
            sharpness: 1.0,
            seed: 1,
        }
    }
}

impl Recipe {
    pub fn draw(&self) -> Problem {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let branches = BranchSet {
            n_sources: self.slopes.len(),
            scales: self.scales.clone(),
            network: self.network,
            max_shift: self.max_shift,
            error_block: self.blocks.map(|blocks| blocks.samples),
        };
        let d = self.network.d_model;
        let parameters = (0..branches.n_branches())
            .map(|b| {
                let layout = Layout::new(branches.scale_of(b).patch, &self.network);
                let mut values = vec![0.0; layout.len()];
                for tensor in layout.tensors() {
                    // Nothing is left at zero or one, where a wrong gradient could hide.
                    let (mean, spread) = match tensor.init {
                        Init::Normal(spread) => (0.0, spread),
                        Init::Zero => (0.0, 0.3),
                        Init::One => (1.0, 0.3),
                    };
                    let sharp = if tensor.name.ends_with("w_qkv") {
                        self.sharpness
                    } else {
                        1.0
                    };
                    for (i, value) in values[tensor.range.clone()].iter_mut().enumerate() {
                        let z: f64 = StandardNormal.sample(&mut rng);
                        let is_query_or_key = i % (3 * d) < 2 * d;
                        let x = mean + spread * z * if is_query_or_key { sharp } else { 1.0 };
                        *value = f64::from(x as f32);
                    }
                }
                values
            })
            .collect();
        let jobs = (0..branches.n_branches())
            .map(|j| {
                let shape = *branches.scale_of(j);
                let mut chosen = |count: usize, share: f64| -> Vec<u32> {
                    let picks: Vec<u32> = (0..count as u32)
                        .filter(|_| Distribution::<f64>::sample(&StandardUniform, &mut rng) < share)
                        .collect();
                    if picks.is_empty() {
                        vec![(count / 2) as u32]
                    } else {
                        picks
                    }
                };
                let tokens = chosen(shape.n_patches, 1.0 - self.invalid);
                let masked = chosen(tokens.len(), self.mask);
                let window = (0..shape.span())
                    .map(|_| StandardNormal.sample(&mut rng))
                    .collect();
                Job {
                    window,
                    shift: if self.max_shift == 0 {
                        0
                    } else {
                        j % (self.max_shift + 1)
                    },
                    tokens,
                    masked,
                }
            })
            .collect();
        Problem {
            branches,
            parameters,
            jobs,
            slopes: self.slopes.clone(),
            kappa: self.blocks.map(|blocks| blocks.kappa),
        }
    }
}

impl Problem {
    /// Gives `engine` the parameters of this problem.
    pub fn load<E: Engine>(&self, mut engine: E) -> E {
        for (b, values) in self.parameters.iter().enumerate() {
            engine.write(Buffer::Parameters, b, values);
        }
        engine
    }

    pub fn evaluate(&self, engine: &mut impl Engine) -> Vec<Outcome> {
        let mut outcomes = vec![Outcome::default(); self.jobs.len()];
        let judge = |errors: &mut [BlockError]| self.judge(errors);
        engine.evaluate(&self.jobs, &self.slopes, &judge, &mut outcomes);
        outcomes
    }

    /// ∂ ln(ℓ_c + κ)/∂ℓ_c as the factor of block c; without κ the factors stay 1.
    pub fn judge(&self, errors: &mut [BlockError]) {
        if let Some(kappa) = self.kappa {
            errors
                .iter_mut()
                .for_each(|block| block.factor = 1.0 / (block.error + kappa));
        }
    }

    /// What the gradients of an outcome belong to: Σ_c |M_c|/|M| ln(ℓ_c + κ), or ℓ without κ.
    pub fn judged(&self, outcome: &Outcome) -> f64 {
        let Some(kappa) = self.kappa else {
            return outcome.energy();
        };
        let n: usize = outcome.errors.iter().map(|block| block.n_patches).sum();
        let logarithms = outcome
            .errors
            .iter()
            .map(|block| block.n_patches as f64 * (block.error + kappa).ln());
        logarithms.sum::<f64>() / n as f64
    }
}

/// One vector of one branch.
pub fn read(engine: &impl Engine, buffer: Buffer, branch: usize) -> Vec<f64> {
    let shape = engine.branches();
    let mut values = vec![0.0; Layout::new(shape.scale_of(branch).patch, &shape.network).len()];
    engine.read(buffer, branch, &mut values);
    values
}
