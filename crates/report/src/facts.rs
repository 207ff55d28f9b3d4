//! What a report is told about a run beyond its result: plain data, filled in by whoever ran it.
//!
//! Everything here is text or numbers from outside; the page escapes all of it.

use strt_score::Matching;

/// How the run came about. Leave a field empty (its default) when it is unknown: the page then does
/// without it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// The command that repeats the run, as typed in a shell.
    pub command: String,
    /// Name of the input file.
    pub input: String,
    /// What was noticed about the input: format, delimiter, units, dropped columns; one sentence
    /// each.
    pub input_notes: Vec<String>,
    /// Program and library versions, one a line: `strt 0.1.0`.
    pub versions: Vec<String>,
    /// How long the run took.
    pub wall_seconds: Option<f64>,
    /// Steps per second of the restart that was kept.
    pub steps_per_second: Option<f64>,
    /// What the user should know before believing the result; one sentence each.
    pub warnings: Vec<String>,
    /// How the number of sources was chosen, when it was estimated.
    pub source_count: Option<SourceCountEstimate>,
    /// The resolved configuration as TOML.
    pub config_toml: String,
}

/// How the number of sources was estimated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceCountEstimate {
    /// The number.
    pub n_sources: usize,
    /// Eigenvalues of the channels' covariance, descending.
    pub eigenvalues: Vec<f64>,
    /// Name of the method.
    pub method: String,
    /// Why it says so, in plain sentences.
    pub reasoning: String,
}

/// The scores of one step against reference sources, as a scored observer hands them over.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredStep {
    /// Steps done.
    pub step: usize,
    /// Mean absolute matched correlation.
    pub mac: f64,
    /// Absolute correlation of each branch with its reference (K).
    pub per_source: Vec<f64>,
    /// Reference source of each branch, from 0 (K).
    pub matched: Vec<Option<usize>>,
}

impl ScoredStep {
    /// The scores of `matching` after `step` steps.
    pub fn new(step: usize, matching: &Matching) -> ScoredStep {
        ScoredStep {
            step,
            mac: matching.mac(),
            per_source: matching.per_source().to_vec(),
            matched: matching.matched().to_vec(),
        }
    }
}
