//! What to look at in a result and what to do about it, in the wording of the caller.

use crate::caller::Wording;
use strtransformer::config::UpdateRule;
use strtransformer::train::StopReason;
use strtransformer::{Recording, Separation};

/// How a run ended, where that is not as it should be, and what to do about it.
pub fn ending(separation: &Separation, wording: &Wording) -> Option<String> {
    let steps = separation.steps();
    match separation.stop_reason() {
        StopReason::Diverged => Some(format!(
            "diverged: the objective was no longer finite after {steps} steps, and the last \
             finite state is kept; try smaller rates, such as {}",
            (wording.settings)(&[
                ("optimizer.rates.fiber", "0.02"),
                ("optimizer.rates.networks", "0.001")
            ])
        )),
        StopReason::Interrupted => Some(format!(
            "interrupted after {steps} steps: these are the sources of an unfinished run"
        )),
        StopReason::StepLimit if !separation.converged() && hardly_turned(separation) => {
            Some(format!(
                "not converged: {}, which says nothing where steps go along the gradient and are \
                 as short as one rate makes them; try {}",
                still_turning(separation),
                (wording.settings)(&[("optimizer.rule", "adam")])
            ))
        }
        StopReason::StepLimit if !separation.converged() => Some(format!(
            "not converged: {}; try {}, and compare several seeds",
            still_turning(separation),
            (wording.settings)(&[("optimizer.steps", &(2 * steps).to_string())])
        )),
        StopReason::Settled if !separation.converged() => Some(found_once(separation, wording)),
        StopReason::StepLimit | StopReason::Settled => None,
    }
}

/// That no other restart has found the same sources.
fn found_once(separation: &Separation, wording: &Wording) -> String {
    let restarts = separation.restarts().len();
    format!(
        "not converged: {restarts} starts ended with different sources, and the kept ones were \
         found once; of the most similar start the least similar source has |correlation| {:.2}. \
         Try {}, and trust what several runs have in common",
        separation.replication().unwrap_or(0.0),
        (wording.settings)(&[("restarts", &(4 * restarts).to_string())])
    )
}

/// Whether steps along the gradient ended with sources that no longer turned.
fn hardly_turned(separation: &Separation) -> bool {
    let optimizer = &separation.config().optimizer;
    let quiet = |turned: f64| turned < optimizer.early_stopping.tolerance;
    optimizer.rule == UpdateRule::Gradient && separation.turned().is_some_and(quiet)
}

/// How far the sources still turned, in words.
fn still_turning(separation: &Separation) -> String {
    let steps = separation.steps();
    match separation.turned() {
        None => format!("{steps} steps were too few to judge whether the sources had settled"),
        Some(angle) => format!(
            "the sources still turned by up to {:.1} degrees over the last {} of {steps} steps",
            angle.to_degrees(),
            separation.config().optimizer.early_stopping.patience
        ),
    }
}

/// Channels that never change, which take no part.
pub fn constant_channels(recording: &Recording) -> Option<String> {
    let constant = |c: &usize| {
        let mut values = recording
            .observations()
            .col(*c)
            .iter()
            .filter(|value| !value.is_nan());
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    let names: Vec<&str> = (0..recording.n_channels())
        .filter(constant)
        .map(|c| recording.channel_names()[c].as_str())
        .collect();
    match names.len() {
        0 => None,
        1 => Some(format!(
            "channel {} is constant and takes no part",
            names[0]
        )),
        _ => Some(format!(
            "channels {} are constant and take no part",
            names.join(", ")
        )),
    }
}

/// Sources that leave most of the channels unexplained.
pub fn poor_fit(explained: f64, wording: &Wording) -> Option<String> {
    (explained < 0.5).then(|| {
        format!(
            "the sources explain only {:.0} % of the channels' variance; more of them ({}) would \
             explain more, and {} helps where channels are nonlinear in the sources",
            100.0 * explained,
            wording.sources,
            (wording.settings)(&[("mixer.kind", "mlp")])
        )
    })
}
