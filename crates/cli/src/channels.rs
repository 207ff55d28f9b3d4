//! The channels of a recording as a model has them.

use crate::failure::{Failure, Outcome};
use crate::output::note;
use faer::Mat;
use std::path::Path;
use strtransformer::{Recording, Separation};

/// A recording with the channels of a model, in its order.
pub struct Channels {
    pub recording: Recording,
    /// For every channel of the model: which one it is of those that were read.
    pub order: Vec<usize>,
}

/// Takes the channels by name where the recording has those of the model, else as they come.
pub fn as_the_model_has_them(
    model: &Separation,
    read: &Recording,
    path: &Path,
    quiet: bool,
) -> Outcome<Channels> {
    let wanted = model.channel_names();
    let found = read.channel_names();
    let as_it_is = || Channels {
        recording: read.clone(),
        order: (0..found.len()).collect(),
    };
    let order: Option<Vec<usize>> = wanted
        .iter()
        .map(|name| found.iter().position(|other| other == name))
        .collect();
    match order {
        Some(order) if order.iter().copied().eq(0..found.len()) => Ok(as_it_is()),
        Some(order) => {
            if !quiet {
                note("channels: taken by name, in the order of the model");
            }
            let values = read.observations();
            let picked = Mat::from_fn(values.nrows(), order.len(), |t, c| values[(t, order[c])]);
            let recording = read.with_channels(picked, wanted.to_vec())?;
            Ok(Channels { recording, order })
        }
        None if found.len() == wanted.len() && !found.iter().any(|name| wanted.contains(name)) => {
            // Not even --quiet hides what may change the result.
            note(&format!(
                "warning: the channels are named {}, those of the model {}; they are taken in order",
                found.join(", "),
                wanted.join(", ")
            ));
            Ok(as_it_is())
        }
        None => Err(Failure::Failed(format!(
            "{}: expected the {} channels of the model ({}), found {} ({}); choose them with \
             --channels",
            path.display(),
            wanted.len(),
            wanted.join(", "),
            found.len(),
            found.join(", ")
        ))),
    }
}
