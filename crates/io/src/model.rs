//! [`Separation`] ↔ file.
//!
//! All shapes follow from the configuration, the number of samples and the channel names, so every
//! tensor is checked against what it must be. Before a file is replaced, the new one is read back
//! from memory: what was saved can be loaded. The type of a mixer of the caller's own is not
//! stored, only its parameters.

use crate::atomic;
use crate::error::{Error, Result};
use crate::networks;
use crate::records::{Number, Restart, TermsRecord};
use crate::tensors::{Decoder, Encoded, Encoder, Format, Numbers, Origin};
use serde::{Deserialize, Serialize};
use std::path::Path;
use strtransformer::config::{Config, MixerKind};
use strtransformer::controller::ControllerState;
use strtransformer::mixer::{Mixer, MlpMixer};
use strtransformer::objective::Terms;
use strtransformer::preprocess::{ChannelScaling, Whitening};
use strtransformer::scale::{KNOTS, Monotone};
use strtransformer::separation::{Record, Unmixing};
use strtransformer::train::StopReason;
use strtransformer::{Pieces, Separation, config};

/// The metadata entry `state` of a model.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    samples: usize,
    channel_names: Vec<String>,
    sampling_rate: Option<Number>,
    stop: StopReason,
    converged: bool,
    turned: Option<Number>,
    steps: usize,
    seed: u64,
    restart: usize,
    restarts: Vec<Restart>,
    smoothed_objective: Number,
    #[serde(with = "TermsRecord")]
    terms: Terms,
    /// Samples of every piece of the recording; left out where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pieces: Option<Vec<usize>>,
}

/// Writes a separation to a file, whole or not at all.
///
/// # Errors
/// [`Error::Io`] or [`Error::NotAFile`] when the file cannot be written, [`Error::Content`] or
/// [`Error::Mixer`] when it could not be loaded again. An old file is then left as it was.
pub fn save_model(separation: &Separation, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let encoded = encode_checked(separation, path)?;
    atomic::write(path, |file| encoded.write_to(file))
}

/// The bytes that [`save_model`] writes, for programs that keep models elsewhere than in files.
///
/// # Errors
/// [`Error::Content`] or [`Error::Mixer`] when they could not be loaded again.
pub fn model_to_bytes(separation: &Separation) -> Result<Vec<u8>> {
    Ok(encode_checked(separation, Path::new("model in memory"))?.into_bytes())
}

/// Reads a separation whose mixer is affine or an MLP.
///
/// # Errors
/// [`Error::Mixer`] when the mixer was the caller's own (use [`load_model_with`]); otherwise
/// whatever is wrong with the file.
pub fn load_model(path: impl AsRef<Path>) -> Result<Separation> {
    let path = path.as_ref();
    model_from_bytes(path, &atomic::read(path)?)
}

/// Reads a separation from bytes, of [`model_to_bytes`] or of a file; `name` is what messages call
/// them.
///
/// # Errors
/// As [`load_model`], less those of reading.
pub fn model_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Separation> {
    decode(name.as_ref(), bytes, None, Origin::File)
}

/// Reads a separation whose mixer was the caller's own: `mixer` is a mixer of the same type and
/// size, and gets the saved parameters.
///
/// # Errors
/// [`Error::Mixer`] when the mixer does not have the size that was saved, or the file holds a
/// built-in mixer; otherwise whatever is wrong with the file.
pub fn load_model_with(path: impl AsRef<Path>, mixer: Box<dyn Mixer>) -> Result<Separation> {
    let path = path.as_ref();
    decode(path, &atomic::read(path)?, Some(mixer), Origin::File)
}

/// The encoded separation, which has been read back: what was saved can be loaded.
fn encode_checked(separation: &Separation, path: &Path) -> Result<Encoded> {
    let record = separation.record();
    let encoded = encode(record);
    let custom = record.config.mixer.kind == MixerKind::Custom;
    let given = custom.then(|| record.mixer.clone_box());
    decode(path, encoded.bytes(), given, Origin::Memory)?;
    Ok(encoded)
}

fn encode(record: &Record) -> Encoded {
    let (k, r) = (
        record.config.n_sources,
        record.config.branches.patch_sizes.len(),
    );
    let state = State {
        samples: record.sources.nrows(),
        channel_names: record.channel_names.clone(),
        sampling_rate: record.sampling_rate.map(Number),
        stop: record.stop,
        converged: record.converged,
        turned: record.turned.map(Number),
        steps: record.steps,
        seed: record.seed,
        restart: record.restart,
        restarts: record.restarts.iter().cloned().map(Restart).collect(),
        smoothed_objective: Number(record.smoothed_objective),
        terms: record.terms,
        pieces: Some(&record.pieces)
            .filter(|pieces| !pieces.is_whole())
            .map(|pieces| pieces.lengths().collect()),
    };
    let mut out = Encoder::new(Format::Model, &record.config, &state);
    let controller = &record.controller;
    out.matrix("sources", record.sources.as_ref());
    out.vector("mixer.parameters", record.mixer.parameters());
    out.vector("controller.raw_gaps", &record.raw_gaps);
    out.vector("controller.order", &controller.order);
    out.vector("controller.centers", &controller.centers);
    out.vector("controller.slopes", &controller.slopes);
    out.tensor(
        "controller.scale_weights",
        &[k, r],
        controller.scale_weights.iter().copied(),
    );
    out.vector("controller.expected_patch", &controller.expected_patch);
    out.tensor("energy", &[k, r], record.energy.iter().copied());
    out.vector("scaling.offset", record.scaling.offset());
    out.vector("scaling.scale", record.scaling.scale());
    out.vector("whitening.mean", record.whitening.mean());
    out.matrix("whitening.matrix", record.whitening.matrix());
    out.vector("whitening.eigenvalues", record.whitening.eigenvalues());
    out.matrix("unmixing", record.unmixing.linear().as_ref());
    for (layer, bend) in record.unmixing.bends().iter().enumerate() {
        out.matrix(&bend_name(layer), bend.as_ref());
    }
    if !record.scales.is_empty() {
        let scales = record.scales.iter();
        let knots = scales.clone().flat_map(|scale| *scale.knots());
        out.tensor("scale.knots", &[k, KNOTS], knots);
        let values = scales.flat_map(|scale| *scale.values());
        out.tensor("scale.values", &[k, KNOTS], values);
    }
    out.tensor("gauge.mean", &[k], record.gauge.iter().map(|gauge| gauge.0));
    out.tensor(
        "gauge.divisor",
        &[k],
        record.gauge.iter().map(|gauge| gauge.1),
    );
    networks::encode(&mut out, &record.networks);
    out.finish()
}

/// Name of the bend of a layer, counted from 0.
fn bend_name(layer: usize) -> String {
    match layer {
        0 => "bend".into(),
        _ => format!("bend.{}", layer + 1),
    }
}

fn decode(
    path: &Path,
    bytes: &[u8],
    given: Option<Box<dyn Mixer>>,
    origin: Origin,
) -> Result<Separation> {
    let mut input = Decoder::new(path, bytes, Format::Model, origin)?;
    let config = input.config()?;
    let state: State = input.state()?;
    let (t, k, m) = (state.samples, config.n_sources, state.channel_names.len());
    let r = config.branches.patch_sizes.len();
    check_state(&input, &state)?;
    // A run that diverged is worth looking at, whatever its numbers have become.
    let (numbers, sources) = match state.stop {
        StopReason::Diverged => (Numbers::Any, Numbers::Any),
        _ => (Numbers::Finite, Numbers::FiniteOrMissing),
    };
    let sources = input.matrix("sources", t, k, sources)?;
    let mixer = mixer(&mut input, &config, m, given, numbers)?;
    let raw_gaps = input.tensor("controller.raw_gaps", &[k + 1], numbers)?;
    let controller = ControllerState {
        order: input.tensor("controller.order", &[k], numbers)?,
        centers: input.tensor("controller.centers", &[k], numbers)?,
        slopes: input.tensor("controller.slopes", &[k], numbers)?,
        scale_weights: input.tensor("controller.scale_weights", &[k, r], numbers)?,
        expected_patch: input.tensor("controller.expected_patch", &[k], numbers)?,
    };
    let energy = input.tensor("energy", &[k, r], Numbers::Any)?;
    let offset = input.tensor("scaling.offset", &[m], Numbers::Finite)?;
    let scale = input.tensor("scaling.scale", &[m], Numbers::Finite)?;
    let mean = input.tensor("whitening.mean", &[m], Numbers::Finite)?;
    let matrix = input.matrix("whitening.matrix", m, k, Numbers::Finite)?;
    let eigenvalues = input.tensor("whitening.eigenvalues", &[m], Numbers::Finite)?;
    let unmixing = input.matrix("unmixing", m + 1, k, numbers)?;
    let mut bends = Vec::new();
    while input.shape(&bend_name(bends.len())).is_some() {
        bends.push(input.any_matrix(&bend_name(bends.len()), numbers)?);
    }
    let scales = scales(&mut input, k)?;
    let means = input.tensor("gauge.mean", &[k], numbers)?;
    let divisors = input.tensor("gauge.divisor", &[k], numbers)?;
    let networks = networks::decode(&mut input, &config, numbers)?;
    input.finish()?;
    let unmixing = Unmixing::new(unmixing, bends, &*mixer);
    let record = Record {
        scaling: ChannelScaling::from_parts(offset, scale).map_err(Error::refused(path))?,
        whitening: Whitening::from_parts(mean, matrix, eigenvalues)
            .map_err(Error::refused(path))?,
        config,
        sources,
        scales,
        mixer,
        raw_gaps,
        controller,
        networks,
        energy,
        unmixing,
        gauge: means.into_iter().zip(divisors).collect(),
        terms: state.terms,
        smoothed_objective: state.smoothed_objective.0,
        stop: state.stop,
        converged: state.converged,
        turned: state.turned.map(|turned| turned.0),
        steps: state.steps,
        seed: state.seed,
        restart: state.restart,
        restarts: state
            .restarts
            .into_iter()
            .map(|restart| restart.0)
            .collect(),
        channel_names: state.channel_names,
        sampling_rate: state.sampling_rate.map(|rate| rate.0),
        pieces: match &state.pieces {
            None => Pieces::whole(t),
            Some(lengths) => Pieces::new(lengths, t).map_err(Error::refused(path))?,
        },
    };
    Separation::from_record(record).map_err(Error::refused(path))
}

/// The monotone maps of the sources, where the file has some.
fn scales(input: &mut Decoder<'_>, k: usize) -> Result<Vec<Monotone>> {
    if input.shape("scale.knots").is_none() {
        return Ok(Vec::new());
    }
    let knots = input.tensor("scale.knots", &[k, KNOTS], Numbers::Finite)?;
    let values = input.tensor("scale.values", &[k, KNOTS], Numbers::Finite)?;
    let (knots, values) = (knots.as_chunks::<KNOTS>().0, values.as_chunks::<KNOTS>().0);
    let maps = knots.iter().zip(values);
    maps.map(|(knots, values)| {
        Monotone::new(*knots, *values).ok_or_else(|| {
            let found = format!("{knots:?} and {values:?}");
            input.content(
                "tensors `scale.knots` and `scale.values`",
                "rising numbers",
                found,
            )
        })
    })
    .collect()
}

fn check_state(input: &Decoder<'_>, state: &State) -> Result<()> {
    if state.samples == 0 || state.channel_names.is_empty() {
        let found = format!(
            "{} samples of {} channels",
            state.samples,
            state.channel_names.len()
        );
        return Err(input.content(
            "metadata `state`",
            "at least one sample of one channel",
            found,
        ));
    }
    match state.sampling_rate {
        Some(Number(rate)) if !(rate.is_finite() && rate > 0.0) => Err(input.content(
            "metadata `state`, sampling_rate",
            "a finite number above 0, or null",
            rate.to_string(),
        )),
        _ => Ok(()),
    }
}

/// The mixer that the configuration describes, or the one that was given, with the saved
/// parameters.
fn mixer(
    input: &mut Decoder<'_>,
    config: &Config,
    n_channels: usize,
    given: Option<Box<dyn Mixer>>,
    numbers: Numbers,
) -> Result<Box<dyn Mixer>> {
    let name = "mixer.parameters";
    let path = input.path().to_owned();
    let parameters = input.vector(name, numbers)?;
    let kind = config.mixer.kind;
    let mut mixer: Box<dyn Mixer> = match (kind, given) {
        (MixerKind::Custom, Some(mixer)) => {
            let expected = (config.n_sources, n_channels, parameters.len());
            let found = (
                mixer.n_sources(),
                mixer.n_channels(),
                mixer.parameters().len(),
            );
            if expected != found {
                let problem = format!(
                    "expected {} sources → {} channels with {} parameters, found a mixer of {} → \
                     {} with {}; give a mixer of the type and size that was trained",
                    expected.0, expected.1, expected.2, found.0, found.1, found.2
                );
                return Err(Error::Mixer { path, problem });
            }
            mixer
        }
        (MixerKind::Custom, None) => {
            let problem =
                "expected the mixer that the model was trained with, found none, and a file holds \
                 only its parameters; load it with load_model_with and a mixer of the same type"
                    .into();
            return Err(Error::Mixer { path, problem });
        }
        (_, Some(_)) => {
            let problem = format!(
                "expected a model with a mixer of the caller's own, found the built-in kind \
                 {kind:?}; load it with load_model"
            );
            return Err(Error::Mixer { path, problem });
        }
        (_, None) => {
            let mixer = built_in(config, n_channels, parameters.len()).ok_or_else(|| {
                let expected = format!("the parameters of the {kind:?} mixer of the configuration");
                let found = format!("{} numbers", parameters.len());
                input.content(format!("tensor `{name}`"), expected, found)
            })?;
            Box::new(mixer)
        }
    };
    mixer.parameters_mut().copy_from_slice(&parameters);
    Ok(mixer)
}

/// The built-in mixer of the configuration, if it has `n_parameters`. Sizes are bounded before they
/// are allocated.
fn built_in(config: &Config, n_channels: usize, n_parameters: usize) -> Option<MlpMixer> {
    let k = config.n_sources;
    let config::MixerConfig {
        hidden,
        activation,
        skip,
        ..
    } = &config.mixer;
    let hidden: &[usize] = match config.mixer.kind {
        MixerKind::Mlp => hidden,
        _ => &[],
    };
    let mut weights = 0usize;
    let mut inputs = k;
    for &outputs in hidden.iter().chain([&n_channels]) {
        weights = weights.checked_add(inputs.checked_mul(outputs)?)?;
        inputs = outputs;
    }
    if weights > n_parameters {
        return None;
    }
    let mixer = MlpMixer::new(k, n_channels, hidden, *activation, *skip);
    (mixer.parameters().len() == n_parameters).then_some(mixer)
}
