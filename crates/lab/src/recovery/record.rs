//! One result of the benchmark, and the file that keeps them so that an interrupted benchmark can
//! go on.
//!
//! The file has one JSON object a line. A line is added when a problem is solved; a last line that
//! was cut short is left out. What a record belongs to is its key: family, problem, method, run and
//! settings.

use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use strt_cli::failure::{Failure, Outcome};
use strt_cli::methods::Found;
use strt_score::{BranchOrder, Result, amari_from_mixing, match_ranks, match_sources, si_sdr};
use strt_synth::Problem;

/// What a record belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    pub family: String,
    pub problem: String,
    pub method: String,
    pub run: u64,
    /// Version and settings that decide the result.
    pub settings: String,
}

/// One method on one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub key: Key,
    /// Mean absolute correlation of matched sources, the lowest of them, and the mean for ranks.
    pub mac: f64,
    pub worst: f64,
    pub rank_mac: f64,
    /// The mean for the denoised sources, where the method has them.
    #[serde(default)]
    pub denoised_mac: Option<f64>,
    /// Amari distance of the mixing, where both are matrices.
    pub amari: Option<f64>,
    /// Mean SI-SDR of the matched sources in decibels.
    pub si_sdr: f64,
    /// Rank correlation of branch index and correlation time of the true source, where the times
    /// differ.
    pub order: Option<f64>,
    /// True source of every branch.
    pub matched: Vec<Option<usize>>,
    pub converged: bool,
    pub seconds: f64,
}

impl Record {
    /// Scores what a method found.
    pub fn new(key: Key, found: &Found, problem: &Problem) -> Result<Record> {
        let reference = problem.reference()?;
        let matching = match_sources(found.sources.as_ref(), &reference)?;
        let decibels: Vec<f64> = si_sdr(found.sources.as_ref(), &reference, &matching)?
            .into_iter()
            .flatten()
            .collect();
        let amari = match (&found.mixing, &problem.mixing) {
            (Some(found), Some(truth)) => amari_from_mixing(found.as_ref(), truth.as_ref()).ok(),
            _ => None,
        };
        let denoised = found.denoised.as_ref();
        let denoised = denoised.map(|sources| match_sources(sources.as_ref(), &reference));
        Ok(Record {
            key,
            denoised_mac: denoised.transpose()?.map(|matching| matching.mac()),
            mac: matching.mac(),
            worst: matching.worst(),
            rank_mac: match_ranks(found.sources.as_ref(), &reference)?.mac(),
            amari,
            si_sdr: decibels.iter().sum::<f64>() / decibels.len().max(1) as f64,
            order: BranchOrder::of(&matching, &reference)
                .ok()
                .map(|order| order.spearman),
            matched: matching.matched().to_vec(),
            converged: found.converged,
            seconds: found.seconds,
        })
    }
}

/// The results so far.
pub struct Store {
    file: Option<File>,
    pub records: Vec<Record>,
}

impl Store {
    /// Results that are kept in memory only, or in a file, which is read first.
    pub fn open(path: Option<&Path>) -> Outcome<Store> {
        let Some(path) = path else {
            return Ok(Store {
                file: None,
                records: Vec::new(),
            });
        };
        let problem = |error: std::io::Error| {
            Failure::Failed(format!(
                "{}: cannot keep results there: {error}; check that you may write there",
                path.display()
            ))
        };
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(problem)?,
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut records = Vec::new();
        for (i, line) in whole.lines().enumerate() {
            records.push(serde_json::from_str(line).map_err(|error| {
                Failure::Failed(format!(
                    "{}: line {}: expected a result of this benchmark: {error}; give another file",
                    path.display(),
                    i + 1
                ))
            })?);
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(problem)?;
        // A line that a crash cut short is written again.
        file.set_len(whole.len() as u64).map_err(problem)?;
        Ok(Store {
            file: Some(file),
            records,
        })
    }

    pub fn has(&self, key: &Key) -> bool {
        self.records.iter().any(|record| record.key == *key)
    }

    pub fn add(&mut self, record: Record) -> Outcome {
        if let Some(file) = &mut self.file {
            let line = format!("{}\n", serde_json::to_string(&record)?);
            file.write_all(line.as_bytes()).map_err(|error| {
                Failure::Failed(format!("the file of results: cannot write: {error}"))
            })?;
        }
        self.records.push(record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(problem: &str) -> Record {
        Record {
            key: Key {
                family: "linear".into(),
                problem: problem.into(),
                method: "sobi".into(),
                run: 0,
                settings: "strt 0".into(),
            },
            mac: 0.1 + 0.2,
            worst: 0.25,
            rank_mac: 0.3,
            denoised_mac: Some(0.35),
            amari: None,
            si_sdr: 12.0,
            order: Some(1.0),
            matched: vec![Some(1), None],
            converged: true,
            seconds: 0.5,
        }
    }

    #[test]
    fn results_survive_and_a_line_that_was_cut_short_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let mut store = Store::open(Some(&path)).unwrap();
        store.add(record("a")).unwrap();
        store.add(record("b")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let mut store = Store::open(Some(&path)).unwrap();
        assert_eq!(store.records, [record("a")]);
        assert!(store.has(&record("a").key) && !store.has(&record("b").key));
        store.add(record("c")).unwrap();
        let store = Store::open(Some(&path)).unwrap();
        assert_eq!(store.records, [record("a"), record("c")]);
        std::fs::write(&path, "not a result\n").unwrap();
        let error = Store::open(Some(&path)).err().unwrap().to_string();
        assert!(error.contains("line 1"), "{error}");
    }
}
