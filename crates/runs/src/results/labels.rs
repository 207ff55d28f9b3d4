//! What the sources of a run look like: what `summary.json` and `labels.csv` say of each.
//!
//! In: a recording, its separation, weights and positions. Out: a label or none for each source.
//! What a label is decided by is the business of `strt-label`; a label is never more than a
//! proposal.

use super::mixture::Mixture;
use super::summary::source_names;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use strt_label::{Kind, Label, Subject, label_pieces};
use strt_signal::columns::col;
use strt_signal::montage;
use strtransformer::{Recording, Separation};

/// What one source looks like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelSummary {
    /// Its name.
    pub source: String,
    /// In words, with a frequency where there is one: `heart, 72 a minute`.
    pub label: String,
    /// Which kind it is.
    pub kind: Kind,
    /// How well it fits, from 0.5 to 1.
    pub confidence: f64,
    /// In Hz, or in cycles per sample where no sampling rate is known; null where a kind has none.
    pub frequency: Option<f64>,
    /// Why.
    pub reason: String,
}

impl LabelSummary {
    /// Of the sources that have a label.
    pub fn all(labels: &[Option<Label>]) -> Vec<LabelSummary> {
        let named = labels.iter().zip(source_names(labels.len()));
        let labelled = named.filter_map(|(label, source)| Some((label.as_ref()?, source)));
        labelled
            .map(|(label, source)| LabelSummary {
                source,
                label: label.name(),
                kind: label.kind,
                confidence: label.confidence,
                frequency: label.frequency,
                reason: label.reason.clone(),
            })
            .collect()
    }
}

/// What every source of a run on `recording` looks like.
///
/// # Errors
/// When the recording is another one than that of the run.
pub fn of_run(
    recording: &Recording,
    separation: &Separation,
    positions: &[Option<[f64; 3]>],
) -> Result<Vec<Option<Label>>> {
    let (t, m) = (
        separation.sources().nrows(),
        separation.mixer().n_channels(),
    );
    let sizes = [
        ("samples of the recording", t, recording.n_samples()),
        ("channels of the recording", m, recording.n_channels()),
    ];
    for (what, expected, found) in sizes {
        if expected != found {
            return Err(Error::Mismatch {
                what,
                expected,
                found,
            });
        }
    }
    let mixture = Mixture::of(recording, separation)?;
    Ok(of(recording, separation, &mixture, positions))
}

/// What every source looks like; `None` for one that looks like nothing that is known.
pub(super) fn of(
    recording: &Recording,
    separation: &Separation,
    mixture: &Mixture,
    positions: &[Option<[f64; 3]>],
) -> Vec<Option<Label>> {
    let channels = recording.channel_names();
    let places = montage::places(channels, positions);
    let sources = separation.sources();
    let of_source = |k: usize| {
        let subject = Subject {
            source: col(sources, k),
            rate: recording.sampling_rate(),
            weights: col(mixture.weights.as_ref(), k),
            channels,
            places: &places,
        };
        label_pieces(&subject, recording.pieces())
    };
    in_parallel(sources.ncols(), of_source)
}

/// Results in order, worked out by as many threads as there are cores.
fn in_parallel<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    let share = n.div_ceil(cores.max(1)).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        let starts = (0..n).step_by(share);
        let threads: Vec<_> = starts
            .map(|start| {
                let part = start..(start + share).min(n);
                scope.spawn(move || part.map(work).collect::<Vec<T>>())
            })
            .collect();
        let results = threads.into_iter().flat_map(|thread| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}

/// `labels.csv`: one line a source; nothing follows the name of one without a label.
pub(super) fn to_csv(labels: &[LabelSummary], n_sources: usize) -> String {
    let mut text = String::from("source,label,confidence,frequency,reason\n");
    for source in source_names(n_sources) {
        match labels.iter().find(|label| label.source == source) {
            None => text.push_str(&format!("{source},,,,\n")),
            Some(label) => text.push_str(&format!(
                "{source},{},{:.3},{},\"{}\"\n",
                label.kind.name(),
                label.confidence,
                label
                    .frequency
                    .map_or_else(String::new, |f| format!("{f:.4}")),
                label.reason.replace('"', "\"\"")
            )),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_line_for_every_source() {
        let heart = Label {
            kind: Kind::Heart,
            confidence: 0.98,
            frequency: Some(1.2),
            in_hertz: true,
            reason: "beats 72 times a minute, \"regularly\"".into(),
        };
        let labels = LabelSummary::all(&[None, Some(heart)]);
        assert_eq!((labels.len(), labels[0].source.as_str()), (1, "s2"));
        assert_eq!(labels[0].label, "heart, 72 a minute");
        assert_eq!(
            to_csv(&labels, 2),
            "source,label,confidence,frequency,reason\ns1,,,,\n\
             s2,heart,0.980,1.2000,\"beats 72 times a minute, \"\"regularly\"\"\"\n"
        );
        let text = serde_json::to_string(&labels).unwrap();
        assert!(text.contains("\"kind\":\"heart\""), "{text}");
        let back: Vec<LabelSummary> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, labels);
    }

    #[test]
    fn work_is_shared_out_and_comes_back_in_order() {
        for n in [0, 1, 2, 7, 64] {
            let expected: Vec<usize> = (0..n).map(|i| i * i).collect();
            assert_eq!(in_parallel(n, |i| i * i), expected);
        }
    }
}
