//! The summary: what a reader without time for charts should know, in plain sentences.

use super::view::{Part, Section, Status};
use crate::Report;
use crate::number::{counted, grouped, percent, significant, trimmed};
use strtransformer::config::AssignmentRule;
use strtransformer::train::StopReason;

/// Heading of the page.
pub fn title(report: &Report<'_>) -> String {
    let sources = counted(report.n_sources(), "source");
    match report.summary().input.name().as_str() {
        "" => format!("{sources} of a recording"),
        input => format!("{sources} of {input}"),
    }
}

/// How the run ended, in a few words.
pub fn status(report: &Report<'_>) -> Status {
    let (class, text) = match (
        report.separation.stop_reason(),
        report.separation.converged(),
    ) {
        (StopReason::Diverged, _) => ("bad", "Failed: the objective is not finite"),
        (_, true) => ("good", "Converged"),
        (StopReason::Interrupted, false) => ("bad", "Interrupted before it converged"),
        (_, false) => ("bad", "Not converged yet"),
    };
    Status {
        class,
        text: text.into(),
    }
}

/// The last line of the page.
pub fn footer(report: &Report<'_>) -> String {
    let versions = report.summary().versions.lines().join(" · ");
    format!("Made by {versions}. This file loads nothing from the network.")
}

/// The section; `times` are the correlation times of the sources.
pub fn section(report: &Report<'_>, times: &[usize]) -> Section {
    let mut found = vec![input(report), order(report, times), explained(report)];
    found.extend(scores(report));
    found.extend(trusted(report));
    let mut parts = vec![Part::Text(found.join(" ")), Part::Text(convergence(report))];
    // How the run ended is said above.
    let warnings = &report.findings.warnings;
    if !warnings.is_empty() {
        parts.push(Part::Warnings(warnings.clone()));
    }
    Section {
        id: "summary",
        title: "Summary",
        folded: false,
        parts,
    }
}

fn input(report: &Report<'_>) -> String {
    let recording = report.recording;
    let name = match report.summary().input.name() {
        name if name.is_empty() => "The recording".into(),
        name => name,
    };
    let mut text = format!(
        "{name}: {} of {}",
        counted(recording.n_samples(), "sample"),
        counted(recording.n_channels(), "channel")
    );
    if let Some(rate) = recording.sampling_rate() {
        let seconds = recording.n_samples() as f64 / rate;
        text += &format!(
            ", taken {} times a second, which makes {}",
            trimmed(rate, 4),
            duration(seconds)
        );
    }
    text += ".";
    if !report.summary().input.prepared.is_empty() {
        let steps = report.summary().input.prepared.join(", ");
        text += &format!(" It was prepared for separation: {steps}.");
    }
    match recording.n_missing() {
        0 => {}
        n => {
            let share = percent(n as f64 / recording.n_samples() as f64);
            text += &format!(
                " In {} ({share}) a channel is missing; they were left out, and the sources have \
                 gaps there.",
                counted(n, "sample")
            );
        }
    }
    text
}

/// How the sources are numbered, true of the time scales on their cards.
fn order(report: &Report<'_>, times: &[usize]) -> String {
    let size = |time: usize| match report.recording.sampling_rate() {
        Some(rate) => duration(time as f64 / rate),
        None => counted(time, "sample"),
    };
    let what = "the first lag at which the autocorrelation of a source falls below ½";
    let ([first, .., last], n_sources) = (times, times.len()) else {
        return format!(
            "One source was separated; its time scale, {what}, is {}.",
            times.first().map_or("unknown".into(), |&time| size(time))
        );
    };
    let found = format!("{} sources were separated.", grouped(n_sources));
    let descent = times.windows(2).position(|pair| pair[0] > pair[1]);
    let Some(k) = descent else {
        return format!(
            "{found} They are ordered by time scale, {what}: from {} (s1) to {} (s{n_sources}).",
            size(*first),
            size(*last)
        );
    };
    let example = format!(
        "s{} ({}) comes before s{} ({})",
        k + 1,
        size(times[k]),
        k + 2,
        size(times[k + 1])
    );
    match report.separation.config().assignment.rule {
        // This rule sorts the sources themselves, early in a run; they change afterwards.
        AssignmentRule::CorrelationTime => format!(
            "{found} They were ordered by time scale ({what}) early in the run, and have changed \
             since: {example}."
        ),
        _ => format!(
            "{found} They are in the order of their branches, which is not that of their time \
             scales ({what}): {example}."
        ),
    }
}

fn convergence(report: &Report<'_>) -> String {
    let separation = report.separation;
    let steps = counted(separation.steps(), "step");
    let turned = match separation.turned() {
        None => " not been judged yet".into(),
        Some(angle) => format!(
            " turned by {} degrees at most over the last {} steps",
            significant(angle.to_degrees(), 2),
            separation.config().optimizer.early_stopping.patience
        ),
    };
    let mut text = match (separation.stop_reason(), separation.converged()) {
        (StopReason::Diverged, _) => format!(
            "The run failed after {steps}: its objective was no longer finite, and the result \
             should not be used. Run it again with smaller learning rates, and look for extreme \
             values in the recording."
        ),
        (StopReason::Settled, _) if separation.steps() == 0 => {
            "The sources were found directly: the search for the lowest kernel energy converged."
                .into()
        }
        (StopReason::Settled, false) => format!(
            "The run is not to be trusted yet: its sources settled after {steps}, but {} starts \
             ended with different ones. Run it again with more restarts, and trust what several \
             have in common.",
            separation.restarts().len()
        ),
        (StopReason::Settled, true) => {
            format!("The run converged: it stopped after {steps} because its sources had{turned}.")
        }
        (_, true) => format!("The run converged: after {steps} its sources had{turned}."),
        (StopReason::Interrupted, false) => format!(
            "The run was interrupted after {steps}, before its sources had settled. \
             Continue it from its checkpoint, or treat the result as provisional."
        ),
        (StopReason::StepLimit, false) => format!(
            "The run did not converge: when all {steps} were taken its sources had{turned}. \
             They may already be good, but run it again with more steps, say {}, \
             and see whether they stay the same.",
            grouped(2 * separation.steps())
        ),
    };
    if separation.restarts().len() > 1 {
        text += &format!(
            " It is the best of {} restarts by its own objective (restart {}, seed {}).",
            separation.restarts().len(),
            separation.restart() + 1,
            separation.seed()
        );
        if let Some(agreement) = separation.replication() {
            text += &format!(
                " In the one most similar to it every source is found again with |correlation| {} \
                 or more.",
                significant(agreement, 2)
            );
        }
    }
    let mut restarts = separation.restarts().iter();
    let kept = restarts.find(|end| end.restart == separation.restart());
    if kept.is_some_and(|kept| kept.novel) {
        text += " Spectra and variances leave its sources in doubt; innovations that are not \
                 Gaussian, or forecasts that are not linear, told them apart.";
    }
    text
}

fn explained(report: &Report<'_>) -> String {
    let mixture = report.mixture();
    let explained = mixture.explained();
    if !explained.is_finite() {
        return "How much of the recording the sources explain cannot be said: the reconstruction \
                is not finite."
            .into();
    }
    let worst = (0..mixture.residual.len())
        .filter(|&c| !mixture.residual[c].is_nan())
        .max_by(|&a, &b| mixture.residual[a].total_cmp(&mixture.residual[b]));
    let mut text = format!(
        "Mixed together again, the sources reproduce {} of the variance of the channels.",
        percent(explained)
    );
    // Where nothing is left over, no channel has more of it than another.
    if let Some(c) = worst.filter(|&c| mixture.residual.len() > 1 && mixture.residual[c] > 5e-6) {
        text += &format!(
            " The channel that is explained least is {}, of which {} is left over.",
            report.recording.channel_names()[c],
            percent(mixture.residual[c])
        );
    }
    text
}

/// How many sources have which finding, where they were judged.
fn trusted(report: &Report<'_>) -> Option<String> {
    let kinds = ["resolved", "mixed with others", "not replicated", "noise"];
    let kind = |finding: &str| {
        let same = |kind: &&str| finding.split(' ').next() == kind.split(' ').next();
        kinds.iter().position(same)
    };
    let mut counts = [0; 4];
    for k in 0..report.n_sources() {
        counts[kind(&report.notes.verdict(k)?.finding)?] += 1;
    }
    let found: Vec<String> = counts
        .iter()
        .zip(kinds)
        .filter(|(count, _)| **count > 0)
        .map(|(count, kind)| format!("{} {kind}", grouped(*count)))
        .collect();
    Some(format!("Which to trust: {}.", found.join(", ")))
}

fn scores(report: &Report<'_>) -> Option<String> {
    let (reference, matching) = report.reference?;
    let verdict = match matching.mac() {
        mac if mac >= 0.99 => "they are practically the same",
        mac if mac >= 0.95 => "they agree well",
        mac if mac >= 0.8 => "they agree in the main, with visible differences",
        _ => "they differ",
    };
    Some(format!(
        "Compared with the {} given as reference, which the run did not see, the mean absolute \
         correlation is {} (1 is perfect; the weakest pair has {}): {verdict}.",
        counted(reference.n_sources(), "source"),
        significant(matching.mac(), 4),
        significant(matching.worst(), 4)
    ))
}

/// The few numbers of a run that matter most.
pub fn numbers(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let summary = report.summary();
    let mut numbers = vec![
        ("Samples", grouped(report.recording.n_samples())),
        ("Channels", grouped(report.recording.n_channels())),
        ("Sources", grouped(report.n_sources())),
        ("Variance explained", percent(summary.explained_variance)),
    ];
    let noise = summary.denoised.as_ref();
    if let Some(share) = noise.and_then(|denoised| denoised.noise_share) {
        numbers.push(("Noise of the channels", percent(share)));
    }
    if let Some((_, matching)) = report.reference {
        numbers.push(("Mean |correlation|", significant(matching.mac(), 4)));
    }
    numbers.push(("Steps", grouped(report.separation.steps())));
    numbers.push(("Time taken", duration(summary.wall_seconds)));
    let rate = significant(summary.steps_per_second, 3);
    numbers.push(("Steps per second", rate));
    numbers
}

/// A length of time in the unit in which it is easiest to read.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{} µs", trimmed(s * 1e6, 3)),
        s if s < 1.0 => format!("{} ms", trimmed(s * 1e3, 3)),
        s if s < 120.0 => format!("{} s", trimmed(s, 3)),
        s if s < 7200.0 => format!("{} min", trimmed(s / 60.0, 3)),
        s => format!("{} h", trimmed(s / 3600.0, 3)),
    }
}
