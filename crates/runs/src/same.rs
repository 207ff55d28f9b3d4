//! Whether a run on disk is the one that is asked for.
//!
//! In: two resolved configurations, or what a run keeps of its recording and a recording. Out: nothing, or what differs in
//! words. The number of threads never changes a result and is not compared.

use serde_json::Value;
use strtransformer::preprocess::{ChannelScaling, ChannelScalingOptions};
use strtransformer::train::Checkpoint;
use strtransformer::{Config, Recording, Separation};

/// Equal up to the rounding of sums in another order.
const TOLERANCE: f64 = 1e-9;

/// What differs between the configuration of a run and the one that is asked for.
pub fn config(there: &Config, asked: &Config) -> Option<String> {
    let asked = Config {
        threads: there.threads,
        ..asked.clone()
    };
    if *there == asked {
        return None;
    }
    let (Ok(a), Ok(b)) = (serde_json::to_value(there), serde_json::to_value(&asked)) else {
        return Some("its configuration differs".into());
    };
    let (path, a, b) = first_difference(String::new(), &a, &b)?;
    Some(format!("{path} is {a} there, {b} was asked for"))
}

/// The first value that differs, with its path.
fn first_difference<'a>(path: String, a: &'a Value, b: &'a Value) -> Option<(String, &'a Value, &'a Value)> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.iter().find_map(|(key, value)| {
            let dot = if path.is_empty() { "" } else { "." };
            first_difference(
                format!("{path}{dot}{key}"),
                value,
                b.get(key).unwrap_or(&Value::Null),
            )
        }),
        _ if a == b => None,
        _ => Some((path, a, b)),
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

/// What differs between the recording of a finished run and another one: size, names, rate, and mean and deviation of every
/// channel, which is what a model remembers of it.
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
