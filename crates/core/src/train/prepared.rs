//! What all restarts of one recording share: the checked plan, the scaled channels and their
//! whitening.
//!
//! A recording that is evaluated whole is scaled and whitened once. A longer one is not copied: it
//! is scaled where it is read, and of its whitening only the moments are kept.

use crate::config::{Branches, Config, Plan};
use crate::model::draws::Grid;
use crate::model::long::basis::Basis;
use crate::model::whole::WholeData;
use crate::preprocess::observations::Observations;
use crate::preprocess::{ChannelScaling, ChannelScalingOptions, DEFAULT_RANK_TOLERANCE, Whitening};
use crate::{Recording, Result};
use faer::Mat;
use std::sync::Arc;
use strt_signal::rows::Rows;

/// A recording made ready for training under a plan.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) scaling: ChannelScaling,
    pub(crate) whitening: Whitening,
    pub(crate) rows: Rows,
    pub(crate) data: Data,
    pub(crate) channel_names: Vec<String>,
    pub(crate) sampling_rate: Option<f64>,
    pub(crate) fingerprint: u64,
}

/// The prepared samples.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// Copies, scaled and whitened.
    Whole(WholeData),
    /// Moments, and the recording itself.
    Long(Arc<Basis>),
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

    /// The same with preprocessing that was fitted on another recording.
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
        let data = if plan.is_long {
            Data::Long(Arc::new(Basis::new(
                observations,
                &whitening,
                plan.smoothness_order(),
            )))
        } else {
            let whitened =
                whitening.transform(scaling.apply(recording.observations())?.as_ref())?;
            let mut prepared = Mat::zeros(recording.n_samples(), recording.n_channels());
            observations.read(0, prepared.as_mut());
            Data::Whole(WholeData {
                observations: Arc::new(prepared),
                whitened: Arc::new(whitened),
            })
        };
        Ok(Prepared {
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

    /// (T, m).
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows.n_samples(), self.channel_names.len())
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
/// let recording = ProblemSpec { n_samples: 20, ..ProblemSpec::default() }.generate()?.recording()?;
/// assert_eq!(usable_patch_sizes(&recording, &Config::new(3)), [4, 8]); // 4, 8 and 16 by default
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn usable_patch_sizes(recording: &Recording, config: &Config) -> Vec<usize> {
    let rows = match recording.missing() {
        Some(missing) => Rows::new(missing),
        None => Rows::all(recording.n_samples()),
    };
    let usable = |&size: &usize| {
        let mut alone = Config::new(1);
        alone.branches = Branches {
            patch_sizes: vec![size],
            ..config.branches.clone()
        };
        alone.mixer.kind = config.mixer.kind;
        alone.sources.coordinates = config.sources.coordinates;
        alone.optimizer.block = config.optimizer.block;
        alone
            .check(recording)
            .and_then(|plan| Grid::new(&plan, &rows))
            .is_ok()
    };
    let sizes = config.branches.patch_sizes.iter();
    sizes.copied().filter(usable).collect()
}
