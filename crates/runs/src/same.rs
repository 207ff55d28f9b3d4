//! Whether a run on disk is the one that is asked for.
//!
//! In: two resolved configurations, or what a run keeps of its recording and a recording. Out:
//! nothing, or what differs in words. The number of threads never changes a result and is not
//! compared.

use serde_json::Value;
use std::collections::BTreeSet;
use strtransformer::preprocess::{ChannelScaling, ChannelScalingOptions};
use strtransformer::train::Checkpoint;
use strtransformer::{Config, Recording, Separation};

/// Equal up to the rounding of sums in another order.
const TOLERANCE: f64 = 1e-9;

/// What differs between the configuration of a run and the one that is asked for.
pub fn config(there: &Config, asked: &Config) -> Option<String> {
    let (mut there, mut asked) = (there.clone(), asked.clone());
    asked.threads = there.threads;
    // Runs from before there were blocks of the energy had none.
    for config in [&mut there, &mut asked] {
        config.weights.energy_block.get_or_insert(0);
    }
    if there == asked {
        return None;
    }
    let differs = || {
        let (a, b) = (
            serde_json::to_value(&there).ok()?,
            serde_json::to_value(&asked).ok()?,
        );
        // What others follow from is named first.
        let root = ROOTS.iter().find_map(|path| {
            let pointer = format!("/{}", path.replace('.', "/"));
            let (a, b) = (a.pointer(&pointer)?.clone(), b.pointer(&pointer)?.clone());
            (a != b).then(|| (path.to_string(), a, b))
        });
        let (path, a, b) = root.or_else(|| first_difference(String::new(), &a, &b))?;
        Some(format!("{path} is {a} there, {b} was asked for"))
    };
    Some(differs().unwrap_or_else(|| "its configuration differs".into()))
}

/// Values that decide over automatic ones.
const ROOTS: [&str; 3] = ["n_sources", "mixer.kind", "sources.coordinates"];

/// The first value that differs, with its path.
fn first_difference(path: String, a: &Value, b: &Value) -> Option<(String, Value, Value)> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let dot = if path.is_empty() { "" } else { "." };
                let (a, b) = (a.get(key), b.get(key));
                first_difference(
                    format!("{path}{dot}{key}"),
                    a.unwrap_or(&Value::Null),
                    b.unwrap_or(&Value::Null),
                )
            })
        }
        _ if a == b => None,
        _ => Some((path, a.clone(), b.clone())),
    }
}

/// What differs between the recording of an unfinished run and another one: every bit counts.
pub fn fingerprint(there: &Checkpoint, asked: &Recording) -> Option<String> {
    (there.fingerprint != asked.fingerprint()).then(|| "its recording holds other values".into())
}

/// Whether only one of the two is scored against a reference.
pub fn scoring(there: bool, asked: bool) -> Option<String> {
    let words = |scored| if scored { "with" } else { "without" };
    (there != asked).then(|| {
        format!(
            "it was started {} a reference, it was asked for {} one",
            words(there),
            words(asked)
        )
    })
}

/// What differs between the recording of a finished run and another one: size, names, rate, and
/// mean and deviation of every channel, which is what a model remembers of it.
pub fn recording(there: &Separation, asked: &Recording) -> Option<String> {
    let parts = there.parts();
    let shape = (parts.sources.nrows(), parts.channel_names.len());
    let asked_shape = (asked.n_samples(), asked.n_channels());
    if shape != asked_shape {
        return Some(format!(
            "its recording has {} samples of {} channels, that of the request {} of {}",
            shape.0, shape.1, asked_shape.0, asked_shape.1
        ));
    }
    if parts.channel_names != asked.channel_names() {
        return Some(format!(
            "its channels are named {}, those of the request {}",
            parts.channel_names.join(", "),
            asked.channel_names().join(", ")
        ));
    }
    if parts.sampling_rate != asked.sampling_rate() {
        return Some("its sampling rate is another".into());
    }
    let both = ChannelScalingOptions {
        center: true,
        scale: true,
    };
    let found = ChannelScaling::fit(asked.observations(), both).ok()?;
    let scaled = parts.config.preprocess.scale;
    let (offset, scale, mean) = (
        parts.scaling.offset(),
        parts.scaling.scale(),
        parts.whitening.mean(),
    );
    let alike = |c: usize| {
        let (mu, sigma) = (found.offset()[c], found.scale()[c]);
        let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * (mu.abs() + sigma);
        near(offset[c] + scale[c] * mean[c], mu) && (!scaled || near(scale[c], sigma))
    };
    let other = (0..asked.n_channels()).find(|&c| !alike(c))?;
    Some(format!(
        "its channel {} holds other values",
        parts.channel_names[other]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strtransformer::config::{Coordinates, MixerKind};

    #[test]
    fn a_value_that_only_one_of_them_has_makes_a_difference() {
        let there = Config::new(2);
        let mut asked = there.clone();
        asked.weights.energy_block = Some(0); // as before there were blocks
        asked.threads = 7;
        assert_eq!(config(&there, &asked), None);
        asked.weights.energy_block = Some(32);
        let words = config(&there, &asked).unwrap();
        assert_eq!(words, "weights.energy_block is 0 there, 32 was asked for");
        asked.weights.energy_block = None;
        asked.weights.kappa = Some(0.5);
        let words = config(&there, &asked).unwrap();
        assert_eq!(words, "weights.kappa is null there, 0.5 was asked for");
    }

    #[test]
    fn what_others_follow_from_is_named_first() {
        let (mut there, mut asked) = (Config::new(2), Config::new(2));
        (there.mixer.kind, asked.mixer.kind) = (MixerKind::Mlp, MixerKind::Mlp);
        there.sources.coordinates = Some(Coordinates::Neural);
        asked.sources.coordinates = Some(Coordinates::Fiber);
        asked.mixer.ridge = Some(0.1);
        let words = config(&there, &asked).unwrap();
        assert!(
            words.starts_with("sources.coordinates is \"neural\" there"),
            "{words}"
        );
    }
}
