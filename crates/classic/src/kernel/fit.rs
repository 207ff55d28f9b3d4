//! One form of the kernel energy fitted to a recording: the lowest minimum of several starts.
//!
//! In: components, a [`Form`] and starts. Out: the minimum, and what it says of its sources: how long
//! their description is, and which order of autoregression they need. Which form is taken is decided
//! in [`super`].

use faer::Mat;
use std::ops::Range;

use super::Solution;
use super::form::{Form, SourceEnergy};
use super::minimize::{Contrast, Minimum, log_det};
use super::moments::Moments;
use crate::{Components, Unmixing};

/// How exactly a minimum is sought.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// What the largest entry of the relative gradient must fall below.
    pub tolerance: f64,
    /// Iterations at most.
    pub iterations: usize,
}

impl Limits {
    /// Enough to judge a form, or the angle of a part of a recording.
    pub const ROUGH: Limits = Limits {
        tolerance: 1e-3,
        iterations: 300,
    };

    /// No more exact and no longer than either.
    pub fn or(self, other: Limits) -> Limits {
        Limits {
            tolerance: self.tolerance.max(other.tolerance),
            iterations: self.iterations.min(other.iterations),
        }
    }
}

/// The lowest minimum of one form.
pub(super) struct Fitted {
    /// The form.
    pub form: Form,
    moments: Moments,
    minimum: Minimum,
}

impl Fitted {
    /// From starts of which one at least is a rotation.
    pub fn new(
        components: &Components<'_>,
        form: Form,
        starts: &[Mat<f64>],
        limits: Limits,
    ) -> Fitted {
        let is_missing = |t: usize| components.is_missing(t);
        let moments = Moments::new(components.whitened(), &is_missing, &form);
        // Rotations have finite energies, so that one start at least was searched from.
        let minimum = lowest(&form, &moments, starts, limits).expect("a minimum from a rotation");
        Fitted {
            form,
            moments,
            minimum,
        }
    }

    /// The same form, sought from where this fit ended and from further starts.
    pub fn again(self, starts: &[Mat<f64>], limits: Limits) -> Fitted {
        let here = std::iter::once(self.minimum.point.a.clone());
        let starts: Vec<Mat<f64>> = here.chain(starts.iter().cloned()).collect();
        let found = lowest(&self.form, &self.moments, &starts, limits);
        Fitted {
            minimum: found.unwrap_or(self.minimum),
            ..self
        }
    }

    fn energy(&self) -> SourceEnergy {
        SourceEnergy::new(&self.form, self.moments.shares())
    }

    /// Moments of every source.
    fn sources(&self) -> impl Iterator<Item = &[f64]> {
        let moments = &self.minimum.point.moments;
        (0..moments.ncols()).map(|j| moments.col_as_slice(j))
    }

    /// Nats per sample in which all sources are described, parameters included.
    pub fn description(&self) -> f64 {
        let (mut energy, n) = (self.energy(), self.moments.n_valid());
        let volume = log_det(&self.minimum.point.a).expect("a point has a volume");
        self.sources()
            .fold(-volume, |sum, moments| sum + energy.description(moments, n))
    }

    /// The highest order of an autoregression that describes a source best.
    pub fn order(&self) -> usize {
        let (mut energy, n) = (self.energy(), self.moments.n_valid());
        let orders = self.sources().map(|moments| energy.order(moments, n));
        orders.max().unwrap_or(0)
    }

    pub fn into_solution(self) -> Solution {
        Solution {
            unmixing: Unmixing {
                matrix: self.minimum.point.a,
                convergence: self.minimum.convergence,
            },
            form: self.form,
            moments: self.moments,
        }
    }
}

/// The lowest of the minima that are reached from these starts; of equals the first.
fn lowest(form: &Form, moments: &Moments, starts: &[Mat<f64>], limits: Limits) -> Option<Minimum> {
    let mut contrast = Contrast {
        energy: SourceEnergy::new(form, moments.shares()),
        moments,
    };
    let minima = starts
        .iter()
        .filter_map(|start| contrast.minimize(start.clone(), limits.tolerance, limits.iterations));
    minima.reduce(|best, next| {
        if next.point.value < best.point.value {
            next
        } else {
            best
        }
    })
}

/// The minimum that a part of the recording has near `a`, by a form of this kind.
pub(super) fn of_part(
    components: &Components<'_>,
    part: Range<usize>,
    form: &Form,
    a: &Mat<f64>,
) -> Option<Mat<f64>> {
    let form = form.for_samples(part.len());
    let rows = components.whitened().subrows(part.start, part.len());
    let is_missing = |t: usize| components.is_missing(part.start + t);
    let moments = Moments::new(rows, &is_missing, &form);
    let mut contrast = Contrast {
        energy: SourceEnergy::new(&form, moments.shares()),
        moments: &moments,
    };
    let Limits {
        tolerance,
        iterations,
    } = Limits::ROUGH;
    let found = contrast.minimize(a.clone(), tolerance, iterations)?;
    Some(found.point.a)
}
