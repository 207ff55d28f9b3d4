//! What all restarts of one recording share: the checked plan, the scaled channels and their whitening.

use crate::config::{Config, Plan};
use crate::model::sources::Rows;
use crate::preprocess::{ChannelScaling, ChannelScalingOptions, Whitening};
use crate::{Recording, Result};
use faer::Mat;
use std::sync::Arc;

/// A recording made ready for training under a plan.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) scaling: ChannelScaling,
    pub(crate) whitening: Whitening,
    pub(crate) rows: Rows,
    /// Y, scaled, 0 in missing rows (T×m).
    pub(crate) observations: Arc<Mat<f64>>,
    /// Zw (T×K), 0 in missing rows.
    pub(crate) whitened: Arc<Mat<f64>>,
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
        let prepared = scaling.apply(recording.observations())?;
        let whitening = Whitening::fit(prepared.as_ref(), config.n_sources, recording.channel_names())?;
        Prepared::with(recording, plan, scaling, whitening, prepared)
    }

    /// The same with preprocessing that was fitted on another recording.
    pub(crate) fn like(
        recording: &Recording,
        config: &Config,
        scaling: ChannelScaling,
        whitening: Whitening,
    ) -> Result<Prepared> {
        let plan = config.check(recording)?;
        let prepared = scaling.apply(recording.observations())?;
        Prepared::with(recording, plan, scaling, whitening, prepared)
    }

    fn with(
        recording: &Recording,
        plan: Plan,
        scaling: ChannelScaling,
        whitening: Whitening,
        mut prepared: Mat<f64>,
    ) -> Result<Prepared> {
        let whitened = Arc::new(whitening.transform(prepared.as_ref())?);
        let rows = match recording.missing() {
            Some(missing) => Rows::new(missing),
            None => Rows::all(recording.n_samples()),
        };
        if let Some(missing) = rows.missing() {
            for t in (0..missing.len()).filter(|&t| missing[t]) {
                prepared.row_mut(t).fill(0.0);
            }
        }
        Ok(Prepared {
            plan,
            scaling,
            whitening,
            rows,
            observations: Arc::new(prepared),
            whitened,
            channel_names: recording.channel_names().to_vec(),
            sampling_rate: recording.sampling_rate(),
            fingerprint: recording.fingerprint(),
        })
    }

    /// The plan that will run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}
