//! The number of sources from structure in time: sources are taken out until what is left is white
//! Gaussian noise.
//!
//! In: a recording. Out: a [`Structure`]. Noise that is white in time and Gaussian, of whatever
//! covariance over the channels, is all that there is in the directions of the whitened channels
//! that no source reaches: uncorrelated in time, of one variance throughout, and Gaussian. So every
//! direction with an autocorrelation, a changing variance or another distribution belongs to a
//! source. One after the other, the direction that deviates most is found among those that are
//! left, and kept when noise alone would not deviate as much. This is the sequence of tests of K.
//! Nordhausen and J. Virta (Econometrics and Statistics, 2018; package tsBSS for R) with the
//! largest deviation in place of the sum of all, so that one weak source is seen among much noise.
//!
//! A direction below the limit is kept all the same when each half of the recording has it: what
//! one half finds is held against the other. Noise that is correlated in time, and rounding where
//! there is nothing else, cannot be told from sources and are counted; sources that are Gaussian
//! white noise themselves are not.

use super::directions::{self, Found, NoiseLevel};
use super::distribution;
use super::moments::{Family, families};
use super::resample::{self, Candidate, Probe};
use super::samples::Samples;
use super::subspace::Split;
use crate::preprocess::observations::Observations;
use crate::{Recording, Result};
use faer::{Mat, MatRef, Side};

/// Standard deviations beyond noise from which on a direction belongs to a source.
const LIMIT: f64 = 4.0;
/// Below this excess the directions found so far are refined before noise is spoken of, and
/// distributions are asked too.
const DOUBTFUL: f64 = 12.0;
/// Directions whose rows hold so many times what noise puts there are kept at once.
const BEYOND_DOUBT: f64 = 8.0;

/// What tells a source from noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// Autocorrelations.
    Spectrum,
    /// A variance that changes from one eighth of the recording to another.
    Variance,
    /// Values that are not those of a Gaussian.
    Distribution,
}

/// One direction that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What deviates from noise the most.
    pub witness: Witness,
    /// By how much.
    pub strength: f64,
    /// What noise stays below.
    pub limit: f64,
    /// Whether it counts as a source.
    pub kept: bool,
    /// Whether it is below the limit and counts because both halves of the recording have it.
    pub replicated: bool,
}

/// In which share of the resampled recordings a number of sources was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The number.
    pub n_sources: usize,
    /// The share, from 0 to 1.
    pub share: f64,
}

/// What structure in time says of the number of sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// The number, at least 1.
    pub n_sources: usize,
    /// Independent directions of the channels: there cannot be more sources.
    pub rank: usize,
    /// Complete samples that were looked at.
    pub n_judged: usize,
    /// Whether they were enough; if not, every direction counts as a source.
    pub sufficient: bool,
    /// The directions that were kept, and the first that was not, where there was one.
    pub steps: Vec<Step>,
    /// Numbers of sources in recordings put together from blocks of this one, the most frequent
    /// first; empty where nothing was judged.
    pub shares: Vec<Share>,
    /// How many such recordings there were.
    pub n_resamples: usize,
}

/// A direction of the rest, with what found it.
struct Finding {
    found: Found,
    level: NoiseLevel,
    probe: Probe,
}

impl Finding {
    fn excess(&self) -> f64 {
        self.level.excess(self.found.strength)
    }

    fn of_family(family: &Family, split: &Split) -> Option<Finding> {
        Some(Finding {
            found: directions::strongest(&split.project(&family.matrices))?,
            level: NoiseLevel::of_matrices(family.freedom(), split.rest.ncols()),
            probe: Probe::of(family),
        })
    }

    fn of_distribution(samples: &Samples, split: &Split) -> Option<Finding> {
        let basis = split.rest.as_ref();
        let rows = distribution::rows_along(samples.values.as_ref(), &samples.valid, basis);
        Some(Finding {
            found: distribution::strongest(rows.as_ref())?,
            level: distribution::noise_level(split.rest.ncols()),
            probe: Probe::Distribution,
        })
    }

    fn step(&self, kept: bool) -> Step {
        Step {
            witness: self.probe.witness(),
            strength: self.found.strength,
            limit: self.level.strength(LIMIT),
            kept,
            replicated: kept && self.excess() < LIMIT,
        }
    }
}

/// Counts the sources of a recording.
pub(super) fn judge(observations: &Observations, recording: &Recording) -> Result<Structure> {
    let samples = Samples::new(observations, recording)?;
    if !samples.suffice() {
        return Ok(Structure {
            n_sources: samples.n_directions(),
            rank: samples.n_directions(),
            n_judged: samples.n_valid(),
            sufficient: false,
            steps: Vec::new(),
            shares: Vec::new(),
            n_resamples: 0,
        });
    }
    Ok(Search::new(&samples).run())
}

/// The sequence of directions.
struct Search<'a> {
    samples: &'a Samples,
    families: Vec<Family>,
    split: Split,
    steps: Vec<Step>,
    /// Those of the steps that are not beyond doubt.
    candidates: Vec<Candidate>,
    /// Directions that second moments know nothing of would be lost in a refinement by them.
    refinable: bool,
}

impl<'a> Search<'a> {
    fn new(samples: &'a Samples) -> Search<'a> {
        Search {
            samples,
            families: families(samples),
            split: Split::new(samples.n_directions()),
            steps: Vec::new(),
            candidates: Vec::new(),
            refinable: true,
        }
    }

    fn run(mut self) -> Structure {
        self.keep_what_is_beyond_doubt();
        let certain = self.steps.len();
        while self.split.rest.ncols() > 0 {
            let Some(finding) = self.find() else { break };
            if finding.excess() >= LIMIT {
                self.keep(&finding);
            } else if let Some(replicated) = self.replicated() {
                self.keep(&replicated);
            } else {
                self.look_at(&finding, false);
                break;
            }
        }
        let kept = self.steps.iter().filter(|step| step.kept).count();
        Structure {
            n_sources: kept.max(1),
            rank: self.samples.n_directions(),
            n_judged: self.samples.n_valid(),
            sufficient: true,
            shares: resample::shares(self.samples, certain, &self.candidates),
            n_resamples: resample::RESAMPLES,
            steps: self.steps,
        }
    }

    /// The matrices by which subspaces are refined: few lags are among the many.
    fn matrices(&self) -> Vec<Mat<f64>> {
        let families = self.families[1..].iter();
        families
            .flat_map(|family| family.matrices.clone())
            .collect()
    }

    fn keep_what_is_beyond_doubt(&mut self) {
        let matrices = self.matrices();
        let p = self.samples.n_directions();
        let limit = BEYOND_DOUBT * (matrices.len() * p) as f64;
        let sum = directions::squares(&matrices, Mat::<f64>::identity(p, p).as_ref());
        let Ok(eigen) = sum.self_adjoint_eigen(Side::Lower) else {
            return;
        };
        let values = eigen.S().column_vector();
        let q = (0..p).filter(|&i| values[i] > limit).count();
        self.split = Split {
            rest: eigen.U().subcols(0, p - q).to_owned(),
            kept: eigen.U().subcols(p - q, q).to_owned(),
        };
        for i in (p - q..p).rev() {
            let direction = eigen.U().subcols(i, 1);
            let loudest = self.families[1..].iter().max_by(|a, b| {
                let rows = |family: &Family| row_square(&family.matrices, direction);
                rows(a).total_cmp(&rows(b))
            });
            self.steps.push(Step {
                witness: loudest.map_or(Witness::Spectrum, |family| family.witness),
                strength: values[i].sqrt(),
                limit: limit.sqrt(),
                kept: true,
                replicated: false,
            });
        }
        self.split.refine(&matrices);
    }

    /// What deviates the most in the rest.
    fn find(&mut self) -> Option<Finding> {
        let mut best = self.by_moments()?;
        if best.excess() < DOUBTFUL {
            if self.refinable && self.split.kept.ncols() > 0 {
                self.split.refine(&self.matrices());
                best = self.by_moments()?;
            }
            let distribution = Finding::of_distribution(self.samples, &self.split);
            return [Some(best), distribution]
                .into_iter()
                .flatten()
                .max_by(|a, b| a.excess().total_cmp(&b.excess()));
        }
        Some(best)
    }

    fn by_moments(&self) -> Option<Finding> {
        let findings = self.families.iter();
        findings
            .filter_map(|family| Finding::of_family(family, &self.split))
            .max_by(|a, b| a.excess().total_cmp(&b.excess()))
    }

    /// The direction that each half of the recording has, though the whole has none beyond noise.
    fn replicated(&self) -> Option<Finding> {
        let mut found = Vec::new();
        for family in &self.families {
            let halves = [0, 1].map(|half| self.split.project(&family.halves[half]));
            let level = NoiseLevel::of_given_direction(family.freedom_of_half());
            let held_out = |half: usize| {
                let direction = directions::strongest(&halves[half])?.direction;
                let strength = directions::strength(&halves[1 - half], direction.as_ref());
                Some(level.excess(strength))
            };
            if together(held_out(0), held_out(1)) >= LIMIT {
                found.extend(Finding::of_family(family, &self.split));
            }
        }
        let halves = [false, true].map(|second| {
            let rows = self.samples.half(second);
            let values = self.samples.values.subrows(rows.start, rows.len());
            let valid = &self.samples.valid[rows];
            distribution::rows_along(values, valid, self.split.rest.as_ref())
        });
        let level = NoiseLevel::of_given_direction(1);
        let held_out = |half: usize| {
            let direction = distribution::strongest(halves[half].as_ref())?.direction;
            let strength = distribution::along(halves[1 - half].as_ref(), direction.as_ref());
            Some(level.excess(strength))
        };
        if together(held_out(0), held_out(1)) >= LIMIT {
            found.extend(Finding::of_distribution(self.samples, &self.split));
        }
        found
            .into_iter()
            .max_by(|a, b| a.excess().total_cmp(&b.excess()))
    }

    fn keep(&mut self, finding: &Finding) {
        self.look_at(finding, true);
        self.split.keep(finding.found.direction.as_ref());
        self.refinable &= finding.probe.witness() != Witness::Distribution;
    }

    fn look_at(&mut self, finding: &Finding, kept: bool) {
        let step = finding.step(kept);
        let direction = &self.split.rest * &finding.found.direction;
        self.candidates.push(Candidate {
            component: self.samples.along(direction.as_ref()),
            probe: finding.probe.clone(),
            // What was kept for another reason than its strength is not judged by it again.
            limit: if step.replicated {
                step.strength.min(step.limit)
            } else {
                step.limit
            },
        });
        self.steps.push(step);
    }
}

/// What both directions of a comparison say together.
fn together(first: Option<f64>, second: Option<f64>) -> f64 {
    match (first, second) {
        (Some(first), Some(second)) => (first + second) / 2f64.sqrt(),
        _ => f64::NEG_INFINITY,
    }
}

/// Σ_j ‖M_j·w‖².
fn row_square(matrices: &[Mat<f64>], direction: MatRef<'_, f64>) -> f64 {
    let norm = |matrix: &Mat<f64>| (matrix * direction).squared_norm_l2();
    matrices.iter().map(norm).sum()
}
