//! What all restarts of one recording share: the checked plan, the scaled channels, their
//! whitening, and what the kernel energy alone makes of them.

use super::kernels::{self, Kernels};
use crate::config::{Branches, Config, Coordinates, Init, Plan};
use crate::energy::Transformer;
use crate::preprocess::observations::Observations;
use crate::preprocess::{ChannelScaling, ChannelScalingOptions, DEFAULT_RANK_TOLERANCE, Whitening};
use crate::view::data::Data;
use crate::view::excerpts::Excerpts;
use crate::{Recording, Result};
use std::sync::Arc;
use strt_classic::kernel::Novel;
use strt_signal::rows::Rows;

/// A recording made ready for training under a plan.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) scaling: ChannelScaling,
    pub(crate) whitening: Whitening,
    pub(crate) rows: Rows,
    pub(crate) data: Data,
    /// What the kernel energy found, where the plan has a use for it.
    pub(crate) kernels: Option<Arc<Kernels>>,
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
        let mut prepared = Prepared::with(recording, plan, scaling, whitening, observations)?;
        let bent = prepared.plan.coordinates == Coordinates::Neural;
        let kernels = prepared.kernels.as_ref();
        if bent && kernels.is_some_and(|kernels| kernels.novel == Novel::Values) {
            prepared.plan = prepared.plan.deep(config);
        }
        Ok(prepared)
    }

    /// Prepares the data with preprocessing that was fitted on another recording.
    pub(crate) fn like(
        recording: &Recording,
        config: &Config,
        scaling: ChannelScaling,
        whitening: Whitening,
    ) -> Result<Prepared> {
        let plan = config.check_as_it_is(recording)?;
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
        Ok(Prepared {
            kernels: Kernels::new(&plan, &data, &rows, whitening.eigenvalues())?.map(Arc::new),
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

    /// The least steps at the first rate.
    pub(crate) fn least_steps(&self) -> usize {
        kernels::least_steps(self.kernels.as_deref(), self.rows.n_valid())
    }

    /// Whether more than networks and second moments tells the sources apart.
    pub(crate) fn judges_novelty(&self) -> bool {
        let kernels = self.kernels.as_ref();
        kernels.is_some_and(|kernels| kernels.novel.is_something())
    }

    /// Whether the method that found the start had converged.
    pub(crate) fn start_converged(&self) -> bool {
        let found = self
            .kernels
            .as_ref()
            .and_then(|kernels| kernels.solution.as_ref());
        self.plan.init == Init::Fast && found.is_some_and(|found| found.convergence.converged)
    }

    /// (T, m).
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows.n_samples(), self.channel_names.len())
    }
}

/// The patch sizes of a configuration at which this recording has two whole patches free of missing
/// samples, in one piece: the others are refused. Nothing else of the configuration is judged.
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
            let (rows, len) = (Rows::of(recording), plan.block_len);
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
