//! [`Checkpoint`] ↔ file, bit for bit.
//!
//! The file holds what [`strtransformer::Trainer::resume`] needs besides the recording and, where
//! the run was started with them, the caller's own mixer or initial sources. Adam's moments bear
//! the name of what they belong to, after `adam.first.` and `adam.second.`.

use crate::atomic;
use crate::error::Result;
use crate::networks;
use crate::records::{Number, TermsRecord};
use crate::tensors::{Decoder, Encoded, Encoder, Format, Numbers, Origin};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use std::path::Path;
use strtransformer::config::Coordinates;
use strtransformer::train::{BranchCheckpoint, Checkpoint, Moments, Terms};

const FIBER: &str = "fiber";
const SOURCES: &str = "sources";
const SOURCE_MOMENTS: &str = "sources.moments";
const MIXER: &str = "mixer.parameters";
const RAW_GAPS: &str = "controller.raw_gaps";
const BRANCHES: &str = "branches";

/// Prefixes of Adam's first and second moments.
const MOMENTS: [&str; 2] = ["adam.first.", "adam.second."];

/// The metadata entry `state` of a checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    samples: usize,
    channels: usize,
    fingerprint: u64,
    seed: u64,
    restart: usize,
    step: usize,
    updates: Updates,
    convergence: Convergence,
    #[serde(with = "TermsRecord")]
    terms: Terms,
}

/// Adam updates of each group so far.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Updates {
    fiber: u64,
    sources: u64,
    mixer: u64,
    controller: u64,
    networks: u64,
}

/// Smoothed objective and time since it improved.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Convergence {
    average: Number,
    weight: Number,
    best: Number,
    since_best: usize,
}

/// Writes a checkpoint to a file, whole or not at all.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) or [`Error::NotAFile`](crate::Error::NotAFile) when the file
/// cannot be written, [`Error::Content`](crate::Error::Content) when it could not be loaded again.
/// An old file is then left as it was.
pub fn save_checkpoint(checkpoint: &Checkpoint, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let encoded = encode(checkpoint);
    decode(path, encoded.bytes(), Origin::Memory)?;
    atomic::write(path, |file| encoded.write_to(file))
}

/// Reads a checkpoint: the same bits that were saved.
///
/// # Errors
/// Whatever is wrong with the file.
pub fn load_checkpoint(path: impl AsRef<Path>) -> Result<Checkpoint> {
    let path = path.as_ref();
    decode(path, &atomic::read(path)?, Origin::File)
}

fn encode(checkpoint: &Checkpoint) -> Encoded {
    let [fiber, sources, mixer, controller] = &checkpoint.moments;
    let (average, weight, best, since_best) = checkpoint.convergence;
    let state = State {
        samples: checkpoint.shape.0,
        channels: checkpoint.shape.1,
        fingerprint: checkpoint.fingerprint,
        seed: checkpoint.seed,
        restart: checkpoint.restart,
        step: checkpoint.step,
        updates: Updates {
            fiber: fiber.count,
            sources: sources.count,
            mixer: mixer.count,
            controller: controller.count,
            networks: checkpoint.network_updates,
        },
        convergence: Convergence {
            average: Number(average),
            weight: Number(weight),
            best: Number(best),
            since_best,
        },
        terms: checkpoint.terms,
    };
    let mut out = Encoder::new(Format::Checkpoint, &checkpoint.config, &state);
    if let Some(fiber) = &checkpoint.fiber {
        out.matrix(FIBER, fiber.as_ref());
    }
    if let Some(sources) = &checkpoint.sources {
        out.matrix(SOURCES, sources.as_ref());
    }
    if !checkpoint.source_moments.is_empty() {
        out.vector(SOURCE_MOMENTS, &checkpoint.source_moments);
    }
    out.vector(MIXER, &checkpoint.mixer);
    out.vector(RAW_GAPS, &checkpoint.raw_gaps);
    let order: [fn(&Moments) -> MatRef<'_, f64>; 2] = [|m| m.first.as_ref(), |m| m.second.as_ref()];
    for (prefix, moment) in MOMENTS.into_iter().zip(order) {
        out.matrix(&format!("{prefix}{FIBER}"), moment(fiber));
        out.matrix(&format!("{prefix}{SOURCES}"), moment(sources));
        out.column(&format!("{prefix}{MIXER}"), moment(mixer));
        out.column(&format!("{prefix}{RAW_GAPS}"), moment(controller));
    }
    let mut encode_networks = |prefix: &str, part: fn(&BranchCheckpoint) -> &[f64]| {
        let values = checkpoint.branches.iter().map(part);
        networks::encode(
            &mut out,
            &format!("{prefix}{BRANCHES}"),
            &checkpoint.config,
            values,
        );
    };
    encode_networks("", |branch| &branch.parameters);
    encode_networks(MOMENTS[0], |branch| &branch.first);
    encode_networks(MOMENTS[1], |branch| &branch.second);
    out.finish()
}

fn decode(path: &Path, bytes: &[u8], origin: Origin) -> Result<Checkpoint> {
    let mut input = Decoder::new(path, bytes, Format::Checkpoint, origin)?;
    let config = input.config()?;
    let state: State = input.state()?;
    let (t, k) = (state.samples, config.n_sources);
    let finite = Numbers::Finite;

    let coordinates = config.sources.coordinates;
    let fiber = (coordinates != Some(Coordinates::Direct))
        .then(|| input.matrix(FIBER, k, k, finite))
        .transpose()?;
    let (rows, columns) = match coordinates {
        Some(Coordinates::Neural) => config.sources.bend_shape(k),
        _ => (t, k),
    };
    // In fiber coordinates E may be absent; S of direct ones and the bend of neural ones may not.
    let sources = (coordinates != Some(Coordinates::Fiber) || input.shape(SOURCES).is_some())
        .then(|| input.matrix(SOURCES, rows, columns, finite))
        .transpose()?;
    let source_moments = match input.shape(SOURCE_MOMENTS) {
        Some(_) => input.vector(SOURCE_MOMENTS, finite)?,
        None => Vec::new(),
    };
    let mixer = input.vector(MIXER, finite)?;
    let raw_gaps = input.tensor(RAW_GAPS, &[k + 1], finite)?;
    // Sources that never move have moments of no rows.
    let free = match input.shape(&format!("{}{SOURCES}", MOMENTS[0])) {
        Some(&[0, _]) => 0,
        _ => rows,
    };
    let mut pair = |name: &str, rows: usize, columns: Option<usize>, count: u64| {
        let mut moment = |prefix| -> Result<Mat<f64>> {
            let name = format!("{prefix}{name}");
            match columns {
                Some(columns) => input.matrix(&name, rows, columns, finite),
                None => {
                    let values = input.tensor(&name, &[rows], finite)?;
                    Ok(Mat::from_fn(rows, 1, |i, _| values[i]))
                }
            }
        };
        Ok(Moments {
            first: moment(MOMENTS[0])?,
            second: moment(MOMENTS[1])?,
            count,
        })
    };
    let moments = [
        pair(FIBER, k, Some(k), state.updates.fiber)?,
        pair(SOURCES, free, Some(columns), state.updates.sources)?,
        pair(MIXER, mixer.len(), None, state.updates.mixer)?,
        pair(RAW_GAPS, k + 1, None, state.updates.controller)?,
    ];
    let mut networks = |prefix: &str| {
        networks::decode(&mut input, &format!("{prefix}{BRANCHES}"), &config, finite)
    };
    let (parameters, first, second) = (networks("")?, networks(MOMENTS[0])?, networks(MOMENTS[1])?);
    input.finish()?;
    let branches = parameters
        .into_iter()
        .zip(first)
        .zip(second)
        .map(|((parameters, first), second)| BranchCheckpoint {
            parameters,
            first,
            second,
        })
        .collect();
    let convergence = state.convergence;
    Ok(Checkpoint {
        config,
        seed: state.seed,
        restart: state.restart,
        step: state.step,
        shape: (state.samples, state.channels),
        fingerprint: state.fingerprint,
        fiber,
        sources,
        source_moments,
        mixer,
        raw_gaps,
        branches,
        network_updates: state.updates.networks,
        moments,
        convergence: (
            convergence.average.0,
            convergence.weight.0,
            convergence.best.0,
            convergence.since_best,
        ),
        terms: state.terms,
    })
}
