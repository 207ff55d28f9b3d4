//! What a source looks like: heart, breath, eyes, muscle, line noise, drift and the like.
//!
//! In: one source (NaN where samples are missing), its sampling rate, its weight in every channel,
//! and names and places of the channels, as far as they are known ([`Subject`]). Out: a [`Label`]
//! with a confidence and the reason in words, or none where nothing fits. A pure function of what
//! goes in; nothing is learned, drawn at random or kept.
//!
//! A label is a proposal for somebody who looks at the source. It says what the course of the
//! source resembles, not where it comes from, and it says nothing of whether the source was
//! separated well. How often it is right is measured in `docs/labels.md`.
//!
//! ```
//! use strt_label::{Kind, Subject, label};
//! let mains = |t: usize| (std::f64::consts::TAU * 50.0 * t as f64 / 500.0).sin();
//! let source: Vec<f64> = (0..5000).map(mains).collect();
//! let found = label(&Subject::alone(&source, Some(500.0))).unwrap();
//! assert_eq!(found.kind, Kind::LineNoise);
//! println!("{}: {}", found.name(), found.reason);
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | `course` | the source as all look at it: standardised, gaps bridged, averaged to fewer samples |
//! | `power` | shares of power by frequency |
//! | `pulses` | events that stand out, how regular they are and how alike |
//! | `head` | whether the weights of a source look like those of the eyes or of one channel |
//! | `kinds` | one file a kind of source |
//!
//! Every kind has criteria with two limits: at the lower one and below a criterion counts 0, at the
//! upper one and above 1. The confidence is that of the weakest criterion, and the reason names the
//! figures. Kinds that say more win over those that say less: what beats like a heart is also
//! rhythmic.
//!
//! Deliberately absent: verdicts on sources (`strtransformer::verdict`), models learned from
//! labelled components, and any use of other sources of the same run.

mod course;
mod head;
mod kinds;
mod power;
mod pulses;

use course::Course;
use head::Head;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use strt_signal::pieces::Pieces;

/// The confidence below which nothing is proposed.
pub const LEAST_CONFIDENCE: f64 = 0.5;
/// Samples without which nothing can be said.
const FEWEST_SAMPLES: usize = 64;

/// What is labelled.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The source, NaN where samples are missing.
    pub source: &'a [f64],
    /// Samples per second; without it only kinds that need none are proposed.
    pub rate: Option<f64>,
    /// Its weight in every channel, in standard deviations of the channel per standard deviation of
    /// the source; NaN where there is none. Empty where nothing is known.
    pub weights: &'a [f64],
    /// Names of the channels, as many as weights.
    pub channels: &'a [String],
    /// Their places on the head (`strt_signal::montage`), as many as weights.
    pub places: &'a [Option<[f64; 2]>],
}

impl<'a> Subject<'a> {
    /// A source of whose channels nothing is known.
    pub fn alone(source: &'a [f64], rate: Option<f64>) -> Subject<'a> {
        Subject {
            source,
            rate,
            weights: &[],
            channels: &[],
            places: &[],
        }
    }
}

/// What a source may look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Beats, electrical or as a pulse.
    Heart,
    /// Breathing.
    Breath,
    /// Blinks of the eyes.
    Blink,
    /// Movements of the eyes.
    EyeMovement,
    /// Activity of muscles.
    Muscle,
    /// The 50 or 60 Hz of the power line, with harmonics.
    LineNoise,
    /// A fault of one channel.
    ChannelFault,
    /// A few sudden changes of level.
    Step,
    /// A rise or fall over the whole recording.
    Trend,
    /// A slow wandering.
    Drift,
    /// An oscillation.
    Rhythm,
    /// No structure in time at all.
    WhiteNoise,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 12] = [
        Kind::Heart,
        Kind::Breath,
        Kind::Blink,
        Kind::EyeMovement,
        Kind::Muscle,
        Kind::LineNoise,
        Kind::ChannelFault,
        Kind::Step,
        Kind::Trend,
        Kind::Drift,
        Kind::Rhythm,
        Kind::WhiteNoise,
    ];

    /// In plain words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Heart => "heart",
            Kind::Breath => "breath",
            Kind::Blink => "eye blinks",
            Kind::EyeMovement => "eye movement",
            Kind::Muscle => "muscle",
            Kind::LineNoise => "line noise",
            Kind::ChannelFault => "channel fault",
            Kind::Step => "step",
            Kind::Trend => "trend",
            Kind::Drift => "drift",
            Kind::Rhythm => "rhythm",
            Kind::WhiteNoise => "white noise",
        }
    }
}

/// A proposal of what a source is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Label {
    /// What it looks like.
    pub kind: Kind,
    /// How well it fits, from 0.5 to 1: the weakest of the criteria of its kind.
    pub confidence: f64,
    /// Of hearts, breath, line noise and rhythms: how often a second, in Hz. Without a sampling
    /// rate, how often a sample.
    pub frequency: Option<f64>,
    /// Whether a sampling rate was known, so that the frequency is in Hz.
    pub in_hertz: bool,
    /// Why, in a sentence with its figures.
    pub reason: String,
}

impl Label {
    /// The kind with its frequency: `heart, 72 a minute`, `rhythm, 10.2 Hz`.
    pub fn name(&self) -> String {
        let name = self.kind.name();
        match (self.kind, self.frequency) {
            (Kind::Heart | Kind::Breath, Some(f)) => format!("{name}, {:.0} a minute", 60.0 * f),
            (Kind::LineNoise, Some(f)) => format!("{name}, {f:.0} Hz"),
            (Kind::Rhythm, Some(f)) => {
                format!("{name}, {} {}", course::rounded(f), unit(self.in_hertz))
            }
            _ => name.into(),
        }
    }
}

/// The unit of frequencies.
fn unit(in_hertz: bool) -> &'static str {
    if in_hertz { "Hz" } else { "cycles per sample" }
}

/// All that a kind looks at.
struct Evidence<'a> {
    course: Course,
    head: Head<'a>,
}

/// What a kind says of a source.
struct Proposal {
    confidence: f64,
    frequency: Option<f64>,
    reason: String,
}

/// What the source looks like, or `None` where nothing fits.
pub fn label(subject: &Subject<'_>) -> Option<Label> {
    let course = Course::new(subject.source, subject.rate)?;
    if course.n_present() < FEWEST_SAMPLES {
        return None;
    }
    let evidence = Evidence {
        course,
        head: Head::new(subject.weights, subject.channels, subject.places),
    };
    kinds::BY_RANK
        .iter()
        .find_map(|kinds| best(kinds, &evidence))
}

/// What a source in several pieces looks like: every piece is looked at by itself, as far as it is
/// long enough, and the label is that of the longest of those that agree, where they hold at least
/// half of the samples.
pub fn label_pieces(subject: &Subject<'_>, pieces: &Pieces) -> Option<Label> {
    if pieces.is_whole() {
        return label(subject);
    }
    let of_piece = |samples: Range<usize>| {
        let source = &subject.source[samples];
        let found = label(&Subject { source, ..*subject })?;
        Some((source.len(), found))
    };
    let found: Vec<(usize, Label)> = pieces.ranges().filter_map(of_piece).collect();
    let votes = |kind: Kind| -> usize {
        let own = found.iter().filter(|(_, label)| label.kind == kind);
        own.map(|(samples, _)| samples).sum()
    };
    let elected = Kind::ALL.into_iter().max_by_key(|&kind| votes(kind))?;
    if 2 * votes(elected) < subject.source.len() {
        return None;
    }
    let agreeing = found.into_iter().filter(|(_, label)| label.kind == elected);
    // Of equally long ones the first.
    let longest = agreeing.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(longest.1)
}

/// The most confident proposal of kinds that say equally much.
fn best(kinds: &[(Kind, kinds::Propose)], evidence: &Evidence<'_>) -> Option<Label> {
    let proposed = kinds.iter().filter_map(|&(kind, propose)| {
        let proposal = propose(evidence)?;
        (proposal.confidence >= LEAST_CONFIDENCE).then_some((kind, proposal))
    });
    let (kind, proposal) =
        proposed.max_by(|(_, a), (_, b)| a.confidence.total_cmp(&b.confidence))?;
    Some(Label {
        kind,
        confidence: proposal.confidence.min(1.0),
        frequency: proposal.frequency,
        in_hertz: evidence.course.rate.is_some(),
        reason: proposal.reason,
    })
}

/// How far a criterion is met: 0 at `none` and beyond, 1 at `full` and beyond, a straight line in
/// between; `none` may be the larger of the two. NaN meets nothing.
fn met(value: f64, none: f64, full: f64) -> f64 {
    let share = (value - none) / (full - none);
    if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    }
}

/// The weakest of several criteria.
fn weakest<const N: usize>(criteria: [f64; N]) -> f64 {
    criteria.into_iter().fold(1.0, f64::min)
}
