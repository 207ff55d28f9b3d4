//! A report: the pieces of one finished run, checked against each other and turned into a page or
//! figures.

use crate::figures::{self, Figure};
use crate::{Error, Result, RunFacts, ScoredStep, page};
use strt_score::{Matching, Reference};
use strtransformer::train::HistoryRow;
use strtransformer::{Recording, Separation};

/// The pieces of one finished run.
pub struct Report<'a> {
    /// What was separated.
    pub recording: &'a Recording,
    /// The result.
    pub separation: &'a Separation,
    /// What its steps reported; rows of other restarts than the one that was kept are left out. May
    /// be empty.
    pub history: &'a [HistoryRow],
    /// Known sources and how the result matches them.
    pub reference: Option<(&'a Reference, &'a Matching)>,
    /// Scores of the kept restart while it ran. May be empty.
    pub scores: &'a [ScoredStep],
    /// How the run came about.
    pub run: RunFacts,
}

impl Report<'_> {
    /// One self-contained HTML page, below 6 MB for up to 64 sources, whatever the recording.
    ///
    /// # Errors
    /// When the pieces do not belong together.
    pub fn to_html(&self) -> Result<String> {
        self.check()?;
        page::write(self)
    }

    /// The paper's three figures as static pictures: `training`, `structure` (both only with a
    /// history) and `sources`.
    ///
    /// # Errors
    /// When the pieces do not belong together.
    pub fn figures(&self) -> Result<Vec<Figure>> {
        self.check()?;
        figures::draw(self)
    }

    /// K.
    pub(crate) fn n_sources(&self) -> usize {
        self.separation.sources().ncols()
    }

    /// Rows of the kept restart.
    pub(crate) fn kept_history(&self) -> Vec<&HistoryRow> {
        let restart = self.separation.restart();
        self.history
            .iter()
            .filter(|row| row.restart == restart)
            .collect()
    }

    /// Seconds between samples, when the rate is known.
    pub(crate) fn sample_period(&self) -> Option<f64> {
        self.recording.sampling_rate().map(|rate| 1.0 / rate)
    }

    /// Source k.
    pub(crate) fn source(&self, k: usize) -> Vec<f64> {
        self.separation.sources().col(k).iter().copied().collect()
    }

    fn check(&self) -> Result<()> {
        let (t, k) = self.separation.sources().shape();
        let scales = self.separation.config().branches.patch_sizes.len();
        let mut shapes = vec![
            ("samples of the recording", t, self.recording.n_samples()),
            (
                "channels of the recording",
                self.separation.mixer().n_channels(),
                self.recording.n_channels(),
            ),
        ];
        for row in self.kept_history() {
            shapes.push(("sources in the history", k, row.centers.len()));
            shapes.push(("slopes in the history", k, row.slopes.len()));
            shapes.push(("patch sizes in the history", k, row.expected_patch.len()));
            shapes.push((
                "branch energies in the history",
                k,
                row.branch_structure.len(),
            ));
            shapes.push((
                "scale weights in the history",
                k * scales,
                row.scale_weights.len(),
            ));
        }
        for step in self.scores {
            shapes.push(("sources in the scores", k, step.per_source.len()));
            shapes.push(("matches in the scores", k, step.matched.len()));
        }
        if let Some((reference, matching)) = self.reference {
            let references = matching.correlations().ncols();
            shapes.push(("samples of the reference", t, reference.n_samples()));
            shapes.push(("matched sources", k, matching.matched().len()));
            shapes.push((
                "matched reference sources",
                reference.n_sources(),
                references,
            ));
        }
        match shapes
            .into_iter()
            .find(|(_, expected, found)| expected != found)
        {
            None => Ok(()),
            Some((what, expected, found)) => Err(Error::Mismatch {
                what,
                expected: expected.to_string(),
                found: found.to_string(),
            }),
        }
    }
}
