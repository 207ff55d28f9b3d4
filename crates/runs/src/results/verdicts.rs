//! Which sources of a run to trust: what `summary.json` and `verdicts.csv` say of each.

use super::summary::source_names;
use crate::error::Result;
use serde::{Deserialize, Serialize};
use strtransformer::verdict::{Finding, Recurrence, Verdict, VerdictOptions};
use strtransformer::{Error, Recording, Separation};

/// The verdict on one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictSummary {
    /// Its name.
    pub source: String,
    /// `resolved`, `mixed with s4`, `not replicated` or `noise`.
    pub finding: String,
    /// Which of these it is.
    pub kind: Finding,
    /// Names of the sources from which it is not told, the least certain first.
    pub mixed_with: Vec<String>,
    /// The amplitude of other sources to be expected in it, from 0 to 1.
    pub interference: f64,
    /// The lowest |correlation| with which it was found again; null where nothing says.
    pub replication: Option<f64>,
    /// The share of recordings put together from blocks of this one in which it was found again;
    /// null without any, and where the kernel energy does not tell it from the others.
    pub found_again: Option<f64>,
    /// In how many of the restarts that were compared it was found again; null without any.
    #[serde(default)]
    pub restarts: Option<Recurrence>,
    /// The share of further runs in which it was found again; null without any.
    #[serde(default)]
    pub reruns: Option<f64>,
    /// Nats by which held-out samples prefer it to a mixture with another source; null for a single
    /// source.
    pub evidence: Option<f64>,
    /// Standard deviations by which it and the source most like it differ more than two of one
    /// spectrum; null where held-out samples say enough.
    #[serde(default)]
    pub beyond_twins: Option<f64>,
    /// Nats by which they prefer it to white noise.
    pub structure: f64,
    /// What it means.
    pub words: String,
}

impl VerdictSummary {
    /// Of all sources of a run.
    pub fn all(verdicts: &[Verdict]) -> Vec<VerdictSummary> {
        let names = source_names(verdicts.len());
        let named = verdicts.iter().zip(&names);
        named
            .map(|(verdict, name)| VerdictSummary {
                source: name.clone(),
                finding: verdict.label(&names),
                kind: verdict.finding,
                mixed_with: verdict
                    .mixed_with
                    .iter()
                    .map(|&k| names[k].clone())
                    .collect(),
                interference: verdict.interference,
                replication: verdict.replication,
                found_again: verdict.found_again,
                restarts: verdict.restarts,
                reruns: verdict.reruns,
                evidence: verdict.evidence,
                beyond_twins: verdict.beyond_twins,
                structure: verdict.structure,
                words: verdict.words(&names),
            })
            .collect()
    }
}

/// The verdicts on the sources of a run; `None` for a run that diverged, which has none.
pub(super) fn of(
    recording: &Recording,
    separation: &Separation,
    options: VerdictOptions,
) -> Result<Option<Vec<VerdictSummary>>> {
    match separation.verdicts(recording, options) {
        Ok(verdicts) => Ok(Some(VerdictSummary::all(&verdicts))),
        Err(Error::VerdictDiverged) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// `verdicts.csv`: one line a source; what is not known is empty.
pub(super) fn to_csv(verdicts: &[VerdictSummary]) -> String {
    let mut text = String::from(
        "source,finding,mixed_with,interference,replication,found_again,restarts_found,\
         restarts_compared,reruns,evidence,beyond_twins,structure\n",
    );
    for verdict in verdicts {
        let kind = match verdict.kind {
            Finding::Resolved => "resolved",
            Finding::Mixed => "mixed",
            Finding::NotReplicated => "not replicated",
            Finding::Noise => "noise",
        };
        let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
        let count = |of: fn(Recurrence) -> usize| {
            let restarts = verdict.restarts.map(of);
            restarts.map_or_else(String::new, |n| n.to_string())
        };
        let cells = [
            verdict.source.clone(),
            kind.into(),
            verdict.mixed_with.join(" "),
            verdict.interference.to_string(),
            number(verdict.replication),
            number(verdict.found_again),
            count(|restarts| restarts.found),
            count(|restarts| restarts.compared),
            number(verdict.reruns),
            number(verdict.evidence),
            number(verdict.beyond_twins),
            verdict.structure.to_string(),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_sources_and_leaves_out_what_is_not_known() {
        let verdict = |finding, mixed_with: &[usize]| Verdict {
            finding,
            mixed_with: mixed_with.to_vec(),
            interference: 0.25,
            replication: None,
            found_again: Some(0.5),
            restarts: Some(Recurrence {
                found: 1,
                compared: 3,
            }),
            reruns: None,
            evidence: Some(1.5),
            beyond_twins: Some(2.5),
            structure: 40.0,
        };
        let verdicts = [
            verdict(Finding::Mixed, &[2, 1]),
            verdict(Finding::Resolved, &[]),
            verdict(Finding::NotReplicated, &[]),
        ];
        let summaries = VerdictSummary::all(&verdicts);
        assert_eq!(summaries[0].finding, "mixed with s3, s2");
        assert!(
            summaries[0].words.contains("s3, s2"),
            "{}",
            summaries[0].words
        );
        let expected = "source,finding,mixed_with,interference,replication,found_again,\
                        restarts_found,restarts_compared,reruns,evidence,beyond_twins,structure\n\
                        s1,mixed,s3 s2,0.25,,0.5,1,3,,1.5,2.5,40\n\
                        s2,resolved,,0.25,,0.5,1,3,,1.5,2.5,40\n\
                        s3,not replicated,,0.25,,0.5,1,3,,1.5,2.5,40\n";
        assert_eq!(to_csv(&summaries), expected);
        let text = serde_json::to_string(&summaries).unwrap();
        let back: Vec<VerdictSummary> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, summaries);
    }
}
