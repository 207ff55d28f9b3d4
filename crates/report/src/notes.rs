//! What others found out about a source or a recording, for the page to show: plain data, all of it
//! optional.
//!
//! In: findings of whoever judges sources, names them or reads events; those of a run are in its
//! summary. Out: nothing is computed here. Where a note is absent the page leaves its place out.

use strt_runs::results::summary::{BranchSummary, Summary};

/// Whether a source can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// `resolved`, `mixed with s4`, `not replicated` or `noise`.
    pub finding: String,
    /// Expected share of other sources in this one, as an amplitude (0 to 1).
    pub interference: f64,
    /// How well the source is found again (0 to 1), where that is known.
    pub replication: Option<f64>,
    /// The share of drawn recordings that have it.
    pub found_again: Option<f64>,
    /// In how many restarts it was found again, and how many were compared.
    pub restarts: Option<(usize, usize)>,
    /// The share of further runs that have it.
    pub reruns: Option<f64>,
    /// The finding in a sentence.
    pub words: String,
}

/// What a source seems to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Such as `blink`.
    pub name: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// Why, in a sentence.
    pub reason: String,
}

/// Something that happened at a known time of the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Sample at which it began, from 0.
    pub sample: usize,
    /// What it was.
    pub name: String,
}

/// All that is known beyond the run itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// One for each source in order, or none at all.
    pub verdicts: Vec<Option<Verdict>>,
    /// One for each source in order, or none at all.
    pub labels: Vec<Option<Label>>,
    /// In any order.
    pub events: Vec<Event>,
}

impl Notes {
    /// What a run has found out about itself.
    pub(crate) fn of(summary: &Summary) -> Notes {
        let verdicts = summary.verdicts.iter().flatten();
        let verdicts = verdicts.map(|verdict| {
            Some(Verdict {
                finding: verdict.finding.clone(),
                interference: verdict.interference,
                replication: verdict.replication,
                found_again: verdict.found_again,
                restarts: verdict.restarts.map(|r| (r.found, r.compared)),
                reruns: verdict.reruns,
                words: verdict.words.clone(),
            })
        });
        let of_source = |branch: &BranchSummary| {
            let label = summary.labels.iter().find(|l| l.source == branch.source)?;
            Some(Label {
                name: label.label.clone(),
                confidence: label.confidence,
                reason: label.reason.clone(),
            })
        };
        Notes {
            verdicts: verdicts.collect(),
            labels: summary.branches.iter().map(of_source).collect(),
            events: events(summary),
        }
    }

    /// The verdict on source `k`.
    pub fn verdict(&self, k: usize) -> Option<&Verdict> {
        self.verdicts.get(k)?.as_ref()
    }

    /// The label of source `k`.
    pub fn label(&self, k: usize) -> Option<&Label> {
        self.labels.get(k)?.as_ref()
    }
}

/// The events of the recording, at the samples at which they are drawn, and the beginnings of the
/// files that it was made of. An event that began before the first sample lasts into the recording
/// and is drawn there.
fn events(summary: &Summary) -> Vec<Event> {
    let files = summary.input.together.iter().flat_map(|all| &all.files);
    let files = files.map(|file| Event {
        sample: file.first_sample,
        name: format!("file {}", file.name()),
    });
    let rate = summary.input.sampling_rate;
    let events = rate.into_iter().flat_map(|rate| {
        let events = summary.input.events.iter();
        events.map(move |event| Event {
            sample: (event.onset * rate).round().max(0.0) as usize,
            name: event.name.clone(),
        })
    });
    files
        .chain(events)
        .filter(|event| event.sample < summary.samples)
        .collect()
}
