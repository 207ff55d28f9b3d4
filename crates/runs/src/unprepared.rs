//! A recording as it was recorded, cleaned by a model that was trained on it prepared.
//!
//! In: a model with an affine mixer, the recording without the preparation, and what that was. Out:
//! its channels, all of them, at their own rate and against their own reference, without some
//! sources.
//!
//! What a source contributes is a linear map of the channels, which commutes with filters, so that
//! what was learned from a filtered recording holds for the unfiltered one. A reference is a linear
//! map too: the sources are found in the channels told against the reference of the run, and what
//! they contribute there is taken out of the channels as they are. Told against that reference, the
//! cleaned channels are the cleaned channels of the run.

use crate::error::Result;
use faer::Mat;
use std::path::Path;
use strt_io::Prepare;
use strtransformer::{Recording, Separation};

/// All channels of `plain` without the sources `removed`, counted from 0. `order` says which
/// channel of the prepared recording each of the model is; `name` is what messages call the
/// recording.
///
/// # Errors
/// When the model has no such map, its reference is not among the channels, or numbers do not fit.
pub fn clean_unprepared(
    model: &Separation,
    plain: &Recording,
    prepare: &Prepare,
    (name, order): (&Path, &[usize]),
    removed: &[usize],
) -> Result<Mat<f64>> {
    let observations = plain.observations();
    let n_channels = plain.n_channels();
    let (referred, kept) = match prepare.reference_among(name, plain.channel_names())? {
        Some(reference) => (reference.refer(observations), reference.kept(n_channels)),
        None => (observations.to_owned(), (0..n_channels).collect()),
    };
    let of_model = Mat::from_fn(referred.nrows(), order.len(), |t, c| {
        referred[(t, order[c])]
    });
    let gone = model
        .contribution(of_model.as_ref(), removed)
        .map_err(crate::Error::of_run(name.display()))?;
    let mut all = observations.to_owned();
    for (column, &channel) in order.iter().enumerate() {
        let values = all.col_as_slice_mut(kept[channel]);
        for (value, gone) in values.iter_mut().zip(gone.col(column).iter()) {
            *value -= gone;
        }
    }
    Ok(all)
}
