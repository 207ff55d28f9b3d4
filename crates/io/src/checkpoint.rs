//! [`Checkpoint`]s ↔ file, bit for bit.
//!
//! A file holds what [`strtransformer::train::Session::resume`] needs of the restarts that are in
//! progress, besides the recording and, where the run was started with them, parts of the caller's
//! own: scalars in the metadata, and every tensor under `<restart>.<name>`. Which tensors there are
//! is decided by the parts of the run that put them; whether they fit is checked by those parts,
//! when the run is resumed.

use crate::atomic;
use crate::error::Result;
use crate::networks;
use crate::records::{Restart, TermsRecord};
use crate::tensors::{Decoder, Encoded, Encoder, Format, Numbers, Origin};
use serde::{Deserialize, Serialize};
use std::path::Path;
use strtransformer::Config;
use strtransformer::objective::Terms;
use strtransformer::tensors::Tensors;
use strtransformer::train::{Checkpoint, Convergence, RestartSummary};

/// The restarts of an unfinished run.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedRestarts {
    /// Those in progress, at least one.
    pub running: Vec<Checkpoint>,
    /// Those that have ended.
    pub finished: Vec<RestartSummary>,
}

/// The metadata entry `state` of a checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    samples: usize,
    channels: usize,
    fingerprint: u64,
    running: Vec<Running>,
    finished: Vec<Restart>,
}

/// A restart in progress.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Running {
    restart: usize,
    seed: u64,
    step: usize,
    convergence: Convergence,
    #[serde(with = "TermsRecord")]
    terms: Terms,
}

/// Writes a checkpoint to a file, whole or not at all.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) or [`Error::NotAFile`](crate::Error::NotAFile) when the file
/// cannot be written, [`Error::Content`](crate::Error::Content) when it could not be loaded again.
/// An old file is then left as it was.
pub fn save_checkpoint(checkpoint: &Checkpoint, path: impl AsRef<Path>) -> Result<()> {
    save_restarts(std::slice::from_ref(checkpoint), &[], path)
}

/// Writes the restarts of an unfinished run to a file, whole or not at all. Those in progress
/// belong to one recording and one configuration.
///
/// # Errors
/// As [`save_checkpoint`].
pub fn save_restarts(
    running: &[Checkpoint],
    finished: &[RestartSummary],
    path: impl AsRef<Path>,
) -> Result<()> {
    let path = path.as_ref();
    let encoded = encode(running, finished);
    decode(path, encoded.bytes(), Origin::Memory)?;
    atomic::write(path, |file| encoded.write_to(file))
}

/// Reads a checkpoint: the bits that were saved.
///
/// # Errors
/// Whatever is wrong with the file, and when it holds more than one restart.
pub fn load_checkpoint(path: impl AsRef<Path>) -> Result<Checkpoint> {
    let path = path.as_ref();
    let bytes = atomic::read(path)?;
    let mut running = decode(path, &bytes, Origin::File)?.running;
    match (running.pop(), running.len()) {
        (Some(only), 0) => Ok(only),
        (_, others) => {
            let input = Decoder::new(path, &bytes, Format::Checkpoint, Origin::File)?;
            let found = format!("{} of them", others + 1);
            Err(input.content("metadata `state`", "one restart in progress", found))
        }
    }
}

/// Reads the restarts of an unfinished run.
///
/// # Errors
/// Whatever is wrong with the file.
pub fn load_restarts(path: impl AsRef<Path>) -> Result<SavedRestarts> {
    let path = path.as_ref();
    decode(path, &atomic::read(path)?, Origin::File)
}

fn encode(running: &[Checkpoint], finished: &[RestartSummary]) -> Encoded {
    let config = running
        .first()
        .map_or(Config::default(), |c| c.config.clone());
    let state = State {
        samples: running.first().map_or(0, |c| c.shape.0),
        channels: running.first().map_or(0, |c| c.shape.1),
        fingerprint: running.first().map_or(0, |c| c.fingerprint),
        running: running.iter().map(Running::of).collect(),
        finished: finished.iter().cloned().map(Restart).collect(),
    };
    let mut out = Encoder::new(Format::Checkpoint, &config, &state);
    for checkpoint in running {
        for (name, value) in checkpoint.tensors.iter() {
            out.matrix(&tensor_name(checkpoint.restart, name), value);
        }
    }
    out.finish()
}

fn tensor_name(restart: usize, name: &str) -> String {
    format!("{restart}.{name}")
}

impl Running {
    fn of(checkpoint: &Checkpoint) -> Running {
        Running {
            restart: checkpoint.restart,
            seed: checkpoint.seed,
            step: checkpoint.step,
            convergence: checkpoint.convergence,
            terms: checkpoint.terms,
        }
    }
}

fn decode(path: &Path, bytes: &[u8], origin: Origin) -> Result<SavedRestarts> {
    let mut input = Decoder::new(path, bytes, Format::Checkpoint, origin)?;
    let config = input.config()?;
    let state: State = input.state()?;
    if state.running.is_empty() {
        let expected = "at least one restart in progress";
        return Err(input.content("metadata `state`", expected, "none"));
    }
    networks::check_size(&input, &config)?;
    let shape = (state.samples, state.channels);
    let running = state.running.into_iter().map(|running| {
        let prefix = tensor_name(running.restart, "");
        let mut tensors = Tensors::default();
        for name in input.names_with_prefix(&prefix) {
            let value = input.any_matrix(&name, Numbers::Finite)?;
            tensors.put(&name[prefix.len()..], value);
        }
        Ok(Checkpoint {
            config: config.clone(),
            seed: running.seed,
            restart: running.restart,
            step: running.step,
            shape,
            fingerprint: state.fingerprint,
            tensors,
            convergence: running.convergence,
            terms: running.terms,
        })
    });
    let running = running.collect::<Result<_>>()?;
    input.finish()?;
    Ok(SavedRestarts {
        running,
        finished: state.finished.into_iter().map(|ended| ended.0).collect(),
    })
}
