//! Whether a run on disk is the one that is asked for.
//!
//! In: two resolved configurations, or what a run keeps of its recording and a recording. Out:
//! nothing, or what differs in words. The number of threads never changes a result and is not
//! compared.

use strtransformer::config::{Setting, settings};
use strtransformer::preprocess::{ChannelScaling, ChannelScalingOptions};
use strtransformer::{Config, Recording, Separation};

/// Equal up to the rounding of sums in another order.
const TOLERANCE: f64 = 1e-9;

/// What differs between the configuration of a run and the one that is asked for. What a user
/// chooses is named before what is chosen automatically, which may only follow from it.
pub fn config(there: &Config, asked: &Config) -> Option<String> {
    let differs = |setting: &&Setting| {
        setting.key != "threads" && setting.value(there) != setting.value(asked)
    };
    let chosen = settings().filter(|setting| setting.automatic.is_none());
    let automatic = settings().filter(|setting| setting.automatic.is_some());
    let setting = chosen.chain(automatic).find(differs)?;
    let shown = |config| setting.value(config).unwrap_or_else(|| "not set".into());
    Some(format!(
        "{} is {} there, {} was asked for",
        setting.key,
        shown(there),
        shown(asked)
    ))
}

/// What differs between the recording of an unfinished run and another one: every bit counts.
pub fn fingerprint(there: u64, asked: &Recording) -> Option<String> {
    (there != asked.fingerprint()).then(|| "its recording holds other values".into())
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
    let names = there.channel_names();
    let shape = (there.sources().nrows(), names.len());
    let asked_shape = (asked.n_samples(), asked.n_channels());
    if shape != asked_shape {
        return Some(format!(
            "its recording has {} samples of {} channels, that of the request {} of {}",
            shape.0, shape.1, asked_shape.0, asked_shape.1
        ));
    }
    if names != asked.channel_names() {
        return Some(format!(
            "its channels are named {}, those of the request {}",
            names.join(", "),
            asked.channel_names().join(", ")
        ));
    }
    if there.sampling_rate() != asked.sampling_rate() {
        return Some("its sampling rate is another".into());
    }
    let both = ChannelScalingOptions {
        center: true,
        scale: true,
    };
    let found = ChannelScaling::fit(asked.observations(), both).ok()?;
    let scaled = there.config().preprocess.scale;
    let scale = there.scaling().scale();
    let (_, mean) = there.channel_whitening();
    let alike = |c: usize| {
        let (mu, sigma) = (found.offset()[c], found.scale()[c]);
        let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * (mu.abs() + sigma);
        near(mean[c], mu) && (!scaled || near(scale[c], sigma))
    };
    let other = (0..asked.n_channels()).find(|&c| !alike(c))?;
    Some(format!("its channel {} holds other values", names[other]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use strtransformer::config::{Coordinates, MixerKind};

    #[test]
    fn the_first_value_that_differs_is_named_and_threads_are_not_compared() {
        let there = Config::new(2);
        let mut asked = there.clone();
        asked.threads = 7;
        assert_eq!(config(&there, &asked), None);
        asked.weights.kappa = Some(0.5);
        let words = config(&there, &asked).unwrap();
        assert_eq!(words, "weights.kappa is not set there, 0.5 was asked for");
        asked.assignment.at = vec![5];
        let words = config(&there, &asked).unwrap();
        assert!(
            words.starts_with("assignment.at is [50, 100, 150, 200] there, [5] was"),
            "{words}"
        );
    }

    #[test]
    fn what_others_follow_from_is_named_first() {
        let (mut there, mut asked) = (Config::new(2), Config::new(2));
        (there.mixer.kind, asked.mixer.kind) = (MixerKind::Mlp, MixerKind::Mlp);
        there.sources.coordinates = Some(Coordinates::Neural);
        asked.sources.coordinates = Some(Coordinates::Fiber);
        asked.weights.kappa = Some(0.1);
        let words = config(&there, &asked).unwrap();
        assert!(
            words.starts_with("sources.coordinates is \"neural\" there"),
            "{words}"
        );
    }
}
