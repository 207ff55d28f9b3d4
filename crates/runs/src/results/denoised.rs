//! The sources of a run without the noise of its channels, where its model allows that.

use crate::error::Result;
use strtransformer::denoise::Denoised;
use strtransformer::{Error, Recording, Separation};

/// The denoised sources; `None` for a model that has none: a nonlinear one, one whose sources are
/// free in every sample, one that diverged.
pub fn of(recording: &Recording, separation: &Separation) -> Result<Option<Denoised>> {
    match separation.denoise(recording) {
        Ok(denoised) => Ok(Some(denoised)),
        Err(Error::DenoiseBent { .. } | Error::DenoiseFree { .. } | Error::DenoiseDiverged) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
