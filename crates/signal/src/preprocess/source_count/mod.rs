//! How many sources a recording has, found before anything is separated.
//!
//! In: a recording. Out: a [`SourceCount`]: the number, what speaks for it and how sure it is. Two
//! methods: structure in time (`structure.rs`), which asks what is left beside the sources whether
//! it is white Gaussian noise, and the minimum description length of eigenvalues (`mdl.rs`), which
//! asks whether it has the same variance in all directions. Both assume a linear mixing: the bends
//! of a nonlinear one have structure of their own. Nothing is separated here, and the caller
//! decides what to do with the number.

mod directions;
mod distribution;
mod mdl;
mod moments;
mod resample;
mod samples;
mod structure;
mod subspace;

pub use mdl::DescriptionLength;
pub use structure::{Share, Step, Structure, Witness};

use super::{ChannelScaling, ChannelScalingOptions, observations::Observations};
use crate::{Recording, Result};

/// How sources are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountMethod {
    /// By spectrum, changing variance and distribution; what is left must be white Gaussian noise,
    /// of whatever strength in each channel.
    #[default]
    Structure,
    /// By eigenvalues; what is left must be noise of one strength in all scaled channels.
    Mdl,
}

impl CountMethod {
    /// Its name where a number of sources is expected: `auto` or `mdl`.
    pub fn parse(name: &str) -> Option<CountMethod> {
        match name {
            "auto" => Some(CountMethod::Structure),
            "mdl" => Some(CountMethod::Mdl),
            _ => None,
        }
    }
}

/// An estimated number of sources with what it was based on.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceCount {
    /// The estimate, at least 1.
    pub n_sources: usize,
    /// How it was found.
    pub method: CountMethod,
    /// Eigenvalues of the covariance of the scaled channels, descending (m).
    pub eigenvalues: Vec<f64>,
    /// Share of the variance that as many principal components carry.
    pub explained: f64,
    /// Number of complete samples.
    pub n_complete: usize,
    /// What the eigenvalues say; where they are not asked, a second opinion.
    pub description: DescriptionLength,
    /// What structure in time says; `None` where it was not asked.
    pub structure: Option<Structure>,
}

impl SourceCount {
    /// Estimates the number of sources of a recording whose channels are centred and scaled as
    /// `options` says.
    ///
    /// # Errors
    /// When the channels cannot be scaled or have no covariance.
    pub fn estimate(
        recording: &Recording,
        options: ChannelScalingOptions,
        method: CountMethod,
    ) -> Result<SourceCount> {
        let scaling = ChannelScaling::fit(recording.observations(), options)?;
        let observations = Observations::new(recording, &scaling);
        let (eigenvalues, description) = mdl::describe(&observations, recording)?;
        let structure = match method {
            CountMethod::Mdl => None,
            CountMethod::Structure => Some(structure::judge(&observations, recording)?),
        };
        let n_sources = structure
            .as_ref()
            .map_or(description.n_sources, |structure| structure.n_sources);
        let explained =
            eigenvalues[..n_sources].iter().sum::<f64>() / eigenvalues.iter().sum::<f64>();
        Ok(SourceCount {
            n_sources,
            method,
            explained,
            eigenvalues,
            n_complete: observations.rows().n_valid(),
            description,
            structure,
        })
    }
}

#[cfg(test)]
mod tests;
