//! A report: one finished run, turned into a page or figures.

use crate::figures::{self, Figure};
use crate::notes::Notes;
use crate::{Error, Result, page};
use strt_runs::results::scores::ScoredStep;
use strt_runs::results::summary::Summary;
use strt_runs::results::{Findings, Mixture, Results};
use strt_runs::{Page, PageError};
use strt_score::{Matching, Reference};
use strtransformer::train::HistoryRow;
use strtransformer::{Recording, Separation};

/// Name of the page in the folder of a run.
pub const REPORT: &str = "report.html";

/// The pages of a run, for [`Caller::pages`](strt_runs::Caller): the page, and where they are asked
/// for the figures.
///
/// # Errors
/// When one of them cannot be drawn.
pub fn pages(results: &Results<'_>, findings: &Findings) -> Result<Vec<Page>, PageError> {
    let report = Report::new(results, findings);
    let mut pages = vec![(REPORT.to_string(), report.to_html()?.into_bytes())];
    if results.figures {
        for figure in report.figures()? {
            pages.push((format!("{}.svg", figure.name), figure.svg.into_bytes()));
            pages.push((format!("{}.png", figure.name), figure.png));
        }
    }
    Ok(pages)
}

/// What is known of one finished run.
pub struct Report<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) separation: &'a Separation,
    /// Rows of the restart that was kept.
    pub(crate) history: Vec<&'a HistoryRow>,
    /// Known sources and how the result matches them.
    pub(crate) reference: Option<(&'a Reference, &'a Matching)>,
    /// Scores of the restart that was kept, while it ran.
    pub(crate) scores: Vec<&'a ScoredStep>,
    pub(crate) findings: &'a Findings,
    pub(crate) notes: Notes,
}

impl<'a> Report<'a> {
    /// The report of results; `findings` are theirs.
    pub fn new(results: &'a Results<'a>, findings: &'a Findings) -> Report<'a> {
        Report {
            recording: results.recording,
            separation: results.separation,
            history: results.kept_history(),
            reference: match (&results.reference, &findings.matching) {
                (Some((_, reference)), Some(matching)) => Some((reference, matching)),
                _ => None,
            },
            scores: results.kept_scores(),
            findings,
            notes: Notes::of(&findings.summary),
        }
    }

    /// Shows what others found out about the sources, in place of the verdicts of the run.
    ///
    /// # Errors
    /// When there are notes for another number of sources.
    pub fn with_notes(self, notes: Notes) -> Result<Report<'a>> {
        let expected = self.n_sources();
        let counts = [
            ("verdicts", notes.verdicts.len()),
            ("labels", notes.labels.len()),
        ];
        match counts.into_iter().find(|&(_, n)| n != 0 && n != expected) {
            None => Ok(Report { notes, ..self }),
            Some((what, found)) => Err(Error::Notes {
                what,
                expected,
                found,
            }),
        }
    }

    /// One self-contained HTML page: every sample while they are at most 2²⁴ numbers, shorter
    /// otherwise, so that it stays below 48 MB whatever the recording.
    ///
    /// # Errors
    /// When the page cannot be put together.
    pub fn to_html(&self) -> Result<String> {
        page::write(self)
    }

    /// The paper's three figures as static pictures: `training`, `structure` (both only with a
    /// history) and `sources`.
    ///
    /// # Errors
    /// When one of them cannot be drawn.
    pub fn figures(&self) -> Result<Vec<Figure>> {
        figures::draw(self)
    }

    /// What `summary.json` says.
    pub(crate) fn summary(&self) -> &Summary {
        &self.findings.summary
    }

    /// How the sources make up the channels.
    pub(crate) fn mixture(&self) -> &Mixture {
        &self.findings.mixture
    }

    /// K.
    pub(crate) fn n_sources(&self) -> usize {
        self.separation.sources().ncols()
    }

    /// Seconds between samples, when the rate is known.
    pub(crate) fn sample_period(&self) -> Option<f64> {
        self.recording.sampling_rate().map(|rate| 1.0 / rate)
    }

    /// Source k.
    pub(crate) fn source(&self, k: usize) -> Vec<f64> {
        self.separation.sources().col(k).iter().copied().collect()
    }

    /// Source k with a missing sample between two pieces, for spectra: their segments are
    /// contiguous.
    pub(crate) fn source_apart(&self, k: usize) -> Vec<f64> {
        let (source, pieces) = (self.source(k), self.separation.pieces());
        let mut apart = Vec::with_capacity(source.len() + pieces.count());
        for piece in pieces.ranges() {
            if piece.start > 0 {
                apart.push(f64::NAN);
            }
            apart.extend_from_slice(&source[piece]);
        }
        apart
    }
}
