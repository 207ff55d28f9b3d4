//! What all restarts of one recording share: the checked plan, the scaled channels, their
//! whitening, and what the kernel energy alone makes of them.

use crate::config::{Branches, Config, Init, Plan};
use crate::energy::{Kernel, Transformer};
use crate::preprocess::observations::Observations;
use crate::preprocess::{ChannelScaling, ChannelScalingOptions, DEFAULT_RANK_TOLERANCE, Whitening};
use crate::view::data::Data;
use crate::view::excerpts::Excerpts;
use crate::view::second_moments::KernelData;
use crate::{Recording, Result};
use std::sync::Arc;
use strt_classic::kernel::Form;
use strt_classic::{Components, Fast, Method, Unmixing};
use strt_signal::rows::Rows;

/// The least steps at the first rate where the kernel energy tells all sources apart.
const CERTAIN_STEPS: usize = 200;
/// Where it does not, only the networks can, and need more steps the longer the recording is: 500
/// less than it has samples, within these bounds.
const UNCERTAIN_STEPS: (usize, usize) = (500, 1500);
/// The angle in radians up to which both halves of a recording agree on the sources.
const CERTAIN: f64 = 0.3;

/// A recording made ready for training under a plan.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) scaling: ChannelScaling,
    pub(crate) whitening: Whitening,
    pub(crate) rows: Rows,
    pub(crate) data: Data,
    /// What the kernel energy reads, where there is one.
    pub(crate) kernel: Option<KernelData>,
    /// Where the kernel energy alone is least, ordered by correlation time.
    pub(crate) solution: Option<Arc<Unmixing>>,
    /// Whether the kernel energy tells all sources apart.
    pub(crate) certain: bool,
    /// The least steps at the first rate.
    pub(crate) least_steps: usize,
    affine: Option<Box<Plan>>, // of a stage that comes before
    pub(crate) channel_names: Vec<String>,
    pub(crate) sampling_rate: Option<f64>,
    pub(crate) fingerprint: u64,
}

impl Prepared {
    /// Checks the configuration and the recording together and prepares the data.
    pub fn new(recording: &Recording, config: &Config) -> Result<Prepared> {
        let plan = config.check(recording)?;
        let options = ChannelScalingOptions {
            center: config.preprocess.center,
            scale: config.preprocess.scale,
        };
        let scaling = ChannelScaling::fit(recording.observations(), options)?;
        let observations = Observations::new(recording, &scaling);
        let complete;
        let missing = match recording.missing() {
            Some(missing) => missing,
            None => {
                complete = vec![false; recording.n_samples()];
                &complete
            }
        };
        let whitening = Whitening::fit_values(
            &observations,
            missing,
            config.n_sources,
            recording.channel_names(),
            DEFAULT_RANK_TOLERANCE,
        )?;
        Prepared::with(recording, plan, scaling, whitening, observations)
    }

    /// Prepares the data with preprocessing that was fitted on another recording.
    pub(crate) fn like(
        recording: &Recording,
        config: &Config,
        scaling: ChannelScaling,
        whitening: Whitening,
    ) -> Result<Prepared> {
        let plan = config.check(recording)?;
        let observations = Observations::new(recording, &scaling);
        Prepared::with(recording, plan, scaling, whitening, observations)
    }

    fn with(
        recording: &Recording,
        plan: Plan,
        scaling: ChannelScaling,
        whitening: Whitening,
        observations: Observations,
    ) -> Result<Prepared> {
        let rows = observations.rows().clone();
        let data = Data::new(recording, &plan, &scaling, &whitening, observations)?;
        let affine = match plan.begins_affine {
            true => Some(Box::new(plan.config().affine_stage().check(recording)?)),
            false => None,
        };
        let Kernels {
            kernel,
            solution,
            certain,
            least_steps,
        } = kernels(&plan, &data, &rows)?;
        Ok(Prepared {
            kernel,
            solution,
            certain,
            least_steps,
            affine,
            plan,
            scaling,
            whitening,
            rows,
            data,
            channel_names: recording.channel_names().to_vec(),
            sampling_rate: recording.sampling_rate(),
            fingerprint: recording.fingerprint(),
        })
    }

    /// The plan that will run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The stage that comes before this one, if there is one: the same data under another plan.
    pub(crate) fn affine_stage(&self) -> Option<Prepared> {
        let plan = self.affine.as_ref()?;
        Some(Prepared {
            plan: (**plan).clone(),
            affine: None,
            ..self.clone()
        })
    }

    /// The kernel energy of the plan, if it has one.
    pub(crate) fn kernel_energy(&self) -> Option<Kernel> {
        let kernel = self.kernel.as_ref().filter(|_| self.plan.kernel > 0.0)?;
        let plan = &self.plan;
        let samples = if plan.is_linear() {
            None
        } else if plan.looks_at_one_block() {
            Some(plan.block_len)
        } else {
            Some(self.rows.n_samples())
        };
        let (k, r) = (plan.config().n_sources, plan.branches().scales.len());
        Some(Kernel::new(kernel.energy(samples), k, r))
    }

    /// Whether the method that found the start had converged.
    pub(crate) fn start_converged(&self) -> bool {
        let found = self.solution.as_ref();
        self.plan.init == Init::Fast && found.is_some_and(|found| found.convergence.converged)
    }

    /// (T, m).
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows.n_samples(), self.channel_names.len())
    }
}

/// What the kernel energy is made from, and what it finds alone.
struct Kernels {
    kernel: Option<KernelData>,
    solution: Option<Arc<Unmixing>>,
    certain: bool,
    least_steps: usize,
}

fn kernels(plan: &Plan, data: &Data, rows: &Rows) -> Result<Kernels> {
    let k = plan.config().n_sources;
    let (least, most) = UNCERTAIN_STEPS;
    let uncertain_steps = rows.n_valid().saturating_sub(500).clamp(least, most);
    let wanted = plan.kernel > 0.0 || plan.init == Init::Fast || plan.begins_affine;
    if !wanted {
        return Ok(Kernels {
            kernel: None,
            solution: None,
            certain: false,
            least_steps: uncertain_steps,
        });
    }
    let whitened = data.components(k);
    // Whitening that was fitted on another recording leaves components that are not white, and
    // nothing to search for: new data are judged by their spectra.
    let white = Components::new((*whitened).as_ref(), rows.missing());
    let fast = Fast {
        seed: plan.config().seed,
        ..Fast::default()
    };
    let mut certain = false;
    let (form, solution) = match white {
        Ok(components) if rows.n_valid() >= fast.least_samples(k) => {
            let found = fast.solve(&components)?;
            certain = found.uncertainty < CERTAIN;
            let (unmixing, _) = found.unmixing.ordered(&components)?;
            (found.form, Some(Arc::new(unmixing)))
        }
        _ => (Form::spectrum(rows.n_samples()), None),
    };
    Ok(Kernels {
        least_steps: if certain {
            CERTAIN_STEPS
        } else {
            uncertain_steps
        },
        kernel: Some(KernelData::new(&whitened, rows, form)),
        solution,
        certain,
    })
}

/// Which samples of a recording are there.
fn rows(recording: &Recording) -> Rows {
    match recording.missing() {
        Some(missing) => Rows::new(missing),
        None => Rows::all(recording.n_samples()),
    }
}

/// The patch sizes of a configuration at which this recording has two whole patches free of missing
/// samples: the others are refused. Nothing else of the configuration is judged.
///
/// ```
/// use strt_synth::ProblemSpec;
/// use strtransformer::train::usable_patch_sizes;
/// use strtransformer::Config;
///
/// let problem = ProblemSpec { n_samples: 20, ..ProblemSpec::default() }.generate()?;
/// let recording = problem.recording()?;
/// assert_eq!(usable_patch_sizes(&recording, &Config::new(3)), [4, 8]); // 4, 8 and 16 by default
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn usable_patch_sizes(recording: &Recording, config: &Config) -> Vec<usize> {
    let usable = |&size: &usize| {
        let mut alone = Config::new(1);
        alone.branches = Branches {
            patch_sizes: vec![size],
            ..config.branches.clone()
        };
        alone.mixer.kind = config.mixer.kind;
        alone.sources.coordinates = config.sources.coordinates;
        alone.optimizer.block = config.optimizer.block;
        let offers_windows = |plan: Plan| {
            let (rows, len) = (rows(recording), plan.block_len);
            let energy = Transformer::new(&plan, &rows, 0)?;
            if plan.looks_at_one_block() {
                Excerpts::one_block(&rows, len, &energy)?;
            }
            Ok(())
        };
        alone.check(recording).and_then(offers_windows).is_ok()
    };
    let sizes = config.branches.patch_sizes.iter();
    sizes.copied().filter(usable).collect()
}
