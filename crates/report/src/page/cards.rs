//! What was found: one card a source, to be looked at and kept or rejected.
//!
//! In: a report and the correlation times of its sources. Out: the words of every card, complete
//! without scripts; what is drawn on it is made in `pictures.rs`. Which sources are rejected is
//! decided in the page (`templates/decisions.js`), never here.

use super::chart::script_safe;
use super::pictures::{self, Picture};
use super::view::{Part, Section};
use super::{explorer, source_name};
use crate::notes::{Label, Verdict};
use crate::number::{counted, percent, significant, trimmed};
use crate::{Report, palette, stretch};
use strt_signal::spectrum::Spectrum;

/// Channels that are named as those where a source is strongest.
const STRONGEST: usize = 3;
/// Share of its variance up to which a source has no noise that is known of.
const NO_NOISE: f64 = 1e-6;
/// Samples a second from which a source can be listened to.
const AUDIBLE_RATE: f64 = 4000.0;

/// The cards and what their scripts need.
pub struct Cards {
    /// In the order of the sources.
    pub cards: Vec<Card>,
    /// `{"cards": …, "places": …, …}`, safe inside a script element.
    pub data: String,
    /// Whether sources can be played.
    pub audible: bool,
}

/// The words of one card.
pub struct Card {
    /// s1, s2, …
    pub name: String,
    /// Of its traces.
    pub color: String,
    /// Whether it can be trusted.
    pub verdict: Option<VerdictWords>,
    /// What it seems to be: name and confidence, and why.
    pub label: Option<(String, String)>,
    /// Share of the variance of the channels, to sort by.
    pub share: f64,
    /// Correlation time in samples, to sort by.
    pub time: usize,
    /// Name and value of what is known of it.
    pub facts: Vec<(&'static str, String)>,
    /// Which stretch is shown.
    pub stretch: String,
    /// Where its spectrum is highest.
    pub peak: String,
    /// The channels where it is strongest.
    pub strongest: String,
}

/// A verdict as it is written.
pub struct VerdictWords {
    /// `good`, `bad` or `open`.
    pub class: &'static str,
    /// A sign beside the words, so that colour is not all that tells verdicts apart.
    pub sign: &'static str,
    /// The finding.
    pub finding: String,
    /// In a sentence, with its figures.
    pub words: String,
}

/// The section.
pub fn section(report: &Report<'_>, times: &[usize]) -> Section {
    let n_sources = report.n_sources();
    let rate = report.recording.sampling_rate();
    let length = stretch::length(report.recording.n_samples(), rate);
    let pictures: Vec<Picture> = (0..n_sources)
        .map(|k| Picture::of(report, k, length, rate))
        .collect();
    let audible = rate.is_some_and(|rate| rate >= AUDIBLE_RATE);
    // Where the page has no single samples there is nothing to play.
    let whole = explorer::layout(report).bucket == 1;
    let cards = (0..n_sources).map(|k| Card {
        name: source_name(k),
        color: palette::source(k, n_sources),
        verdict: report.notes.verdict(k).map(verdict_words),
        label: report.notes.label(k).map(label_words),
        share: report.summary().branches[k].explained_variance,
        time: times[k],
        facts: facts(report, k, times[k]),
        stretch: when(pictures[k].start, length, rate),
        peak: peak(pictures[k].spectrum.as_ref(), rate.is_some()),
        strongest: strongest(report, k),
    });
    let cards = Cards {
        cards: cards.collect(),
        data: script_safe(&pictures::data(report, &pictures, length)),
        audible: audible && whole,
    };
    Section {
        id: "sources",
        title: "Sources",
        folded: false,
        parts: vec![
            Part::Cards(cards),
            Part::Caption(caption(report, length, audible && !whole)),
        ],
    }
}

fn caption(report: &Report<'_>, length: usize, too_long_to_play: bool) -> String {
    let rate = report.recording.sampling_rate();
    let shown = if length == report.recording.n_samples() {
        "The whole of each source is shown, sample by sample.".to_string()
    } else {
        let size = match rate {
            Some(rate) => format!(" ({} s)", trimmed(length as f64 / rate, 3)),
            None => String::new(),
        };
        format!(
            "Of each source {} in a row{size} are shown: of all such stretches without missing \
             samples, the one whose variance and whose variance of differences are closest, in \
             logarithms, to the means of all stretches but the most extreme fiftieth.",
            counted(length, "sample")
        )
    };
    let linear = match report.mixture().linear_share {
        None => "",
        Some(_) => " The mixer is nonlinear: weights and shares are those of its linear part.",
    };
    let play = if too_long_to_play {
        " The recording is too long to be played from the page: write its sources with `--format \
         wav`."
    } else {
        ""
    };
    format!(
        "{shown} Spectra are power densities by Welch's method on a logarithmic axis. Weights are \
         standard deviations of the channel per standard deviation of the source; sign and size of \
         a source are arbitrary.{linear}{play}"
    )
}

fn verdict_words(verdict: &Verdict) -> VerdictWords {
    let (class, sign) = match verdict.finding.as_str() {
        "resolved" => ("good", "✓"),
        "noise" => ("bad", "≈"),
        finding if finding.starts_with("mixed") => ("open", "⚭"),
        _ => ("open", "?"),
    };
    let replication = verdict
        .replication
        .map(|r| format!("Other parts or runs have it with a |correlation| of {r:.2}"));
    let blocks = verdict.found_again.map(|share| {
        let share = percent(share);
        format!("{share} of the recordings put together from blocks of this one have it")
    });
    let restarts = verdict
        .restarts
        .map(|(found, compared)| format!("{found} of {compared} other restarts have it"));
    let reruns = verdict
        .reruns
        .map(|share| format!("{} of the further runs have it", percent(share)));
    let again = [replication, blocks, restarts, reruns]
        .into_iter()
        .flatten();
    let again: String = again.map(|sentence| format!(" {sentence}.")).collect();
    VerdictWords {
        class,
        sign,
        finding: verdict.finding.clone(),
        words: verdict.words.clone() + &again,
    }
}

fn label_words(label: &Label) -> (String, String) {
    let confidence = 100.0 * label.confidence;
    let name = format!("{}, confidence {confidence:.0} %", label.name);
    (name, format!("Looks like it: {}.", label.reason))
}

fn facts(report: &Report<'_>, k: usize, time: usize) -> Vec<(&'static str, String)> {
    let summary = report.summary();
    let mut facts = vec![(
        "share of variance",
        percent(summary.branches[k].explained_variance),
    )];
    facts.push((
        "time scale",
        match report.recording.sampling_rate() {
            Some(rate) => super::summary::duration(time as f64 / rate),
            None => counted(time, "sample"),
        },
    ));
    let noise = summary.denoised.as_ref();
    let share = noise.and_then(|noise| noise.source_noise_shares.get(k));
    // As many sources as channels leave nothing over from which noise could be known.
    if let Some(&share) = share.filter(|&&share| share > NO_NOISE) {
        facts.push(("noise of the channels in it", percent(share)));
    }
    if let Some((_, matching)) = report.reference {
        let text = match matching.matched()[k] {
            Some(j) => format!("{} ({})", significant(matching.per_source()[k], 4), j + 1),
            None => "no match".into(),
        };
        facts.push(("|correlation| (reference)", text));
    }
    facts
}

/// A stretch of time in words.
fn when(start: usize, length: usize, rate: Option<f64>) -> String {
    match rate {
        Some(rate) => format!(
            "{} s to {} s",
            trimmed(start as f64 / rate, 5),
            trimmed((start + length) as f64 / rate, 5)
        ),
        None => format!("samples {} to {}", start + 1, start + length),
    }
}

fn peak(spectrum: Option<&Spectrum>, in_hertz: bool) -> String {
    let Some(spectrum) = spectrum else {
        return "too few samples in a row for a spectrum".into();
    };
    let highest = (1..spectrum.density.len())
        .max_by(|&a, &b| spectrum.density[a].total_cmp(&spectrum.density[b]))
        .unwrap_or(0);
    let frequency = trimmed(highest as f64 * spectrum.resolution, 3);
    match in_hertz {
        true => format!("peak at {frequency} Hz"),
        false => format!("peak at {frequency} cycles per sample"),
    }
}

fn strongest(report: &Report<'_>, k: usize) -> String {
    let weights = report.mixture().weights.col(k);
    let mut channels: Vec<usize> = (0..weights.nrows())
        .filter(|&c| weights[c].is_finite())
        .collect();
    channels.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    let names: Vec<&str> = channels
        .iter()
        .take(STRONGEST)
        .map(|&c| report.recording.channel_names()[c].as_str())
        .collect();
    match names.is_empty() {
        true => "its weights are not finite".into(),
        false => format!("strongest in {}", names.join(", ")),
    }
}
