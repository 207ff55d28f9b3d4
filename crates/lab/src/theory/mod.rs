//! The paper's claims as experiments: each one a small instance, a few numbers with the bounds they
//! must keep, figures and a sentence.
//!
//! In: a [`Variant`]. Out: a [`CheckResult`]. A check passes when every measured number keeps its
//! bound; nothing else decides. [`Variant::Broken`] removes one thing that the claim needs and
//! measures the same numbers, so that a check that cannot fail is found out. Everything is seeded:
//! the same program gives the same numbers.
//!
//! | check | paper | experiment |
//! |---|---|---|
//! | `decoupling` | block gradient, block-diagonal Hessian of L_str | differences of the gradient |
//! | `reconstruction` | derivatives of L_rec, Gauss–Newton form | formulas against differences |
//! | `fiber` | small-noise regularized fiber selection | J minimised along ν_y = 1 … 10⁻⁶ |
//! | `permutations` | residual permutation group | L_str over all permutations of the sources |
//! | `linear` | weak linear recovery by temporal structure | joint diagonalisation; a trained run |
//! | `nonlinear` | conditional nonlinear recovery route | a trained run, scored by ranks |
//! | `gauge` | none: a remark on the printed objective | J along S → cS |
//!
//! An experiment is evidence about one instance, not a proof; `docs/theory.md` says what each
//! leaves out.
//!
//! ```
//! use strt_lab::theory::{self, Variant};
//!
//! let mut checks = theory::all().into_iter();
//! let gauge = checks.find(|check| check.name == "gauge").expect("it is listed");
//! assert!(gauge.run(Variant::True)?.passed);
//! assert!(!gauge.run(Variant::Broken)?.passed);
//! # Ok::<(), strt_lab::Error>(())
//! ```
//!
//! Deliberately absent: drawing, printing and clocks (`verify`).

mod decoupling;
mod fiber;
mod gauge;
mod instance;
mod linear;
mod minimize;
mod nonlinear;
mod permutations;
mod reconstruction;

use crate::Result;
use serde::Serialize;
use std::fmt;

/// Which experiment a check makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The claim as the paper states it: must pass.
    True,
    /// One thing that the claim needs is taken away: must fail.
    Broken,
}

/// One claim with its experiment.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// One word.
    pub name: &'static str,
    /// A heading.
    pub title: &'static str,
    /// What is claimed, with its place in the paper.
    pub claim: &'static str,
    /// What [`Variant::Broken`] changes.
    pub broken: &'static str,
    experiment: fn(Variant) -> Result<Findings>,
}

/// All checks, in the order of the paper; the remark comes last.
pub fn all() -> Vec<Check> {
    vec![
        decoupling::CHECK,
        reconstruction::CHECK,
        fiber::CHECK,
        permutations::CHECK,
        linear::CHECK,
        nonlinear::CHECK,
        gauge::CHECK,
    ]
}

impl Check {
    /// Makes the experiment.
    ///
    /// # Errors
    /// When it could not be made, which says nothing about the claim.
    pub fn run(&self, variant: Variant) -> Result<CheckResult> {
        let findings = (self.experiment)(variant)?;
        Ok(CheckResult {
            name: self.name,
            title: self.title,
            claim: self.claim,
            variant,
            passed: findings.measurements.iter().all(|measured| measured.holds),
            sentence: findings.sentence,
            measurements: findings.measurements,
            figures: findings.figures,
        })
    }
}

/// What came out of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckResult {
    /// Name of the check.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What is claimed.
    pub claim: &'static str,
    /// Which experiment was made.
    pub variant: Variant,
    /// Whether every number keeps its bound.
    pub passed: bool,
    /// What came out, in words.
    pub sentence: String,
    /// The numbers.
    pub measurements: Vec<Measurement>,
    /// What the numbers look like.
    pub figures: Vec<Figure>,
}

/// A number and what it must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// What was measured.
    pub what: String,
    /// The number.
    pub value: f64,
    /// What it must be.
    pub bound: Bound,
    /// Whether it is. NaN never is.
    pub holds: bool,
}

/// What a number must be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Not more than this.
    AtMost(f64),
    /// Not less than this.
    AtLeast(f64),
    /// More than this.
    Above(f64),
    /// Exactly this.
    Is(f64),
    /// Anything: the number is given for comparison.
    Noted,
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most,
            Bound::AtLeast(least) => value >= least,
            Bound::Above(least) => value > least,
            Bound::Is(expected) => value == expected,
            Bound::Noted => !value.is_nan(),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtMost(most) => write!(out, "at most {}", short(*most)),
            Bound::AtLeast(least) => write!(out, "at least {}", short(*least)),
            Bound::Above(least) => write!(out, "above {}", short(*least)),
            Bound::Is(expected) => out.write_str(&short(*expected)),
            Bound::Noted => out.write_str("anything"),
        }
    }
}

/// 0.95, but 1e-12.
fn short(value: f64) -> String {
    match value.abs() {
        size if size > 0.0 && size < 1e-3 => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// A figure, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Curves over one axis.
    Lines {
        /// What they show.
        title: String,
        /// Horizontal axis.
        x: Axis,
        /// Vertical axis.
        y: Axis,
        /// The curves.
        lines: Vec<Line>,
    },
    /// A matrix as colours.
    Map {
        /// What it shows.
        title: String,
        /// What its rows are, and their names.
        rows: Side,
        /// What its columns are, and their names.
        columns: Side,
        /// Row by row; what is not finite stays empty.
        values: Vec<Vec<f64>>,
        /// Whether values of both signs occur and 0 is the middle.
        signed: bool,
    },
    /// One bar for each name.
    Bars {
        /// What they show.
        title: String,
        /// What is named.
        x: String,
        /// Vertical axis.
        y: Axis,
        /// The names.
        names: Vec<String>,
        /// The values.
        heights: Vec<f64>,
    },
}

/// An axis of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// What it measures.
    pub title: String,
    /// Logarithmic.
    pub log: bool,
}

impl Axis {
    fn linear(title: &str) -> Axis {
        Axis {
            title: title.into(),
            log: false,
        }
    }

    fn log(title: &str) -> Axis {
        Axis {
            title: title.into(),
            log: true,
        }
    }
}

/// A curve of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Places.
    pub x: Vec<f64>,
    /// Values.
    pub y: Vec<f64>,
}

impl Line {
    fn new(name: &str, x: &[f64], y: &[f64]) -> Line {
        Line {
            name: name.into(),
            x: x.to_vec(),
            y: y.to_vec(),
        }
    }
}

/// One side of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// What its names are.
    pub title: String,
    /// One for each row or column.
    pub names: Vec<String>,
}

impl Side {
    fn new(title: &str, names: impl IntoIterator<Item = String>) -> Side {
        Side {
            title: title.into(),
            names: names.into_iter().collect(),
        }
    }

    /// 1, 2, …
    fn numbers(title: &str, count: usize) -> Side {
        Side::new(title, (1..=count).map(|number| number.to_string()))
    }
}

/// A small number for a sentence: 3e-12, and 0 for exactly 0.
fn tiny(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value:.0e}")
    }
}

/// What an experiment hands over; whether it passed follows.
#[derive(Debug, Default)]
struct Findings {
    sentence: String,
    measurements: Vec<Measurement>,
    figures: Vec<Figure>,
}

impl Findings {
    fn measure(&mut self, what: impl Into<String>, value: f64, bound: Bound) {
        self.measurements.push(Measurement {
            what: what.into(),
            value,
            bound,
            holds: bound.holds(value),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_at_their_ends_and_never_for_nan() {
        for (bound, value, holds) in [
            (Bound::AtMost(1.0), 1.0, true),
            (Bound::AtMost(1.0), 1.1, false),
            (Bound::AtLeast(1.0), 1.0, true),
            (Bound::Above(1.0), 1.0, false),
            (Bound::Is(2.0), 2.0, true),
            (Bound::Noted, f64::INFINITY, true),
        ] {
            assert_eq!(bound.holds(value), holds, "{bound:?} {value}");
            assert!(!bound.holds(f64::NAN), "{bound:?}");
        }
    }

    #[test]
    fn names_are_different_words() {
        let mut names: Vec<&str> = all().iter().map(|check| check.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }
}
