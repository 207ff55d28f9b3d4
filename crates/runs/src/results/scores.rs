//! `scores.csv`: with a reference, how well the sources of each logged step match it.

use crate::error::Result;
use crate::numbers_csv;
use std::path::Path;
use strt_score::Matching;

/// How well the sources of one step match the true ones.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredStep {
    /// The restart, from 0.
    pub restart: usize,
    /// Steps done.
    pub step: usize,
    /// Mean absolute matched correlation.
    pub mac: f64,
    /// Absolute correlation of each branch with its true source (K).
    pub per_source: Vec<f64>,
    /// True source of each branch, from 0 (K).
    pub matched: Vec<Option<usize>>,
}

impl ScoredStep {
    /// The scores of `matching` after `step` steps of a restart.
    pub fn new(restart: usize, step: usize, matching: &Matching) -> ScoredStep {
        ScoredStep {
            restart,
            step,
            mac: matching.mac(),
            per_source: matching.per_source().to_vec(),
            matched: matching.matched().to_vec(),
        }
    }
}

/// The rows as text. `matched_k` counts true sources from 1; 0 is none.
pub fn to_csv(rows: &[ScoredStep], n_sources: usize) -> String {
    let mut text = header(n_sources);
    text.push('\n');
    for score in rows {
        let first = [(score.restart + 1) as f64, score.step as f64, score.mac];
        let matched = score
            .matched
            .iter()
            .map(|source| source.map_or(0, |s| s + 1) as f64);
        let values = first
            .into_iter()
            .chain(score.per_source.iter().copied())
            .chain(matched);
        text.push_str(&numbers_csv::line(values));
    }
    text
}

fn header(n_sources: usize) -> String {
    let mut columns: Vec<String> = ["restart", "step", "mac"].map(String::from).into();
    for name in ["correlation", "matched"] {
        columns.extend((1..=n_sources).map(|k| format!("{name}_{k}")));
    }
    columns.join(",")
}

/// The rows of a file that [`to_csv`] wrote; `remedy` is what to do where it was changed.
pub(crate) fn read(path: &Path, n_sources: usize, remedy: &'static str) -> Result<Vec<ScoredStep>> {
    let rows = numbers_csv::read(path, &header(n_sources), remedy)?;
    let row = |values: &Vec<f64>| ScoredStep {
        restart: (values[0] as usize).saturating_sub(1),
        step: values[1] as usize,
        mac: values[2],
        per_source: values[3..3 + n_sources].to_vec(),
        matched: values[3 + n_sources..]
            .iter()
            .map(|&source| (source as usize).checked_sub(1))
            .collect(),
    };
    Ok(rows.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers_csv::TO_RESUME;

    #[test]
    fn rows_come_back_with_the_same_bits() {
        let score = ScoredStep {
            restart: 2,
            step: 7,
            mac: 0.1 + 0.2,
            per_source: vec![1.0 / 3.0, f64::NAN],
            matched: vec![Some(1), None],
        };
        let rows = [score];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores.csv");
        std::fs::write(&path, to_csv(&rows, 2)).unwrap();
        let back = read(&path, 2, TO_RESUME).unwrap();
        assert_eq!(to_csv(&back, 2), to_csv(&rows, 2));
        assert_eq!((back[0].restart, back[0].mac), (2, 0.1 + 0.2));
        assert_eq!(back[0].matched, [Some(1), None]);
    }
}
