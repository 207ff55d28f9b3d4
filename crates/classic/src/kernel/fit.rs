//! One form of the kernel energy fitted to a recording: the lowest minimum of several starts.
//!
//! In: components, a [`Form`] and starts. Out: the minimum, and what it says of its sources: how long
//! their description is, and which order of autoregression they need. Which form is taken is decided
//! in [`super`].

use faer::Mat;
use std::ops::Range;

use super::form::{Form, SourceEnergy};
use super::minimize::{Contrast, Minimum, log_det};
use super::moments::Moments;
use super::{Fast, Solution};
use crate::{Components, Unmixing};

/// How exactly parts of a recording are fitted, whose angles are compared.
const PART_TOLERANCE: f64 = 1e-3;
/// Iterations for them at most.
const PART_ITERATIONS: usize = 300;

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
        options: &Fast,
    ) -> Fitted {
        let is_missing = |t: usize| components.is_missing(t);
        let moments = Moments::new(components.whitened(), &is_missing, &form);
        let mut contrast = Contrast {
            energy: SourceEnergy::new(&form, moments.shares()),
            moments: &moments,
        };
        let (tolerance, limit) = (options.tolerance, options.max_iterations);
        let minima = starts
            .iter()
            .filter_map(|start| contrast.minimize(start.clone(), tolerance, limit));
        // Of equals the first is kept.
        let lower = |best: Minimum, next: Minimum| {
            if next.point.value < best.point.value {
                next
            } else {
                best
            }
        };
        // Rotations have finite energies, so that one start at least was searched from.
        let minimum = minima.reduce(lower).expect("a minimum from a rotation");
        Fitted {
            form,
            moments,
            minimum,
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
    let found = contrast.minimize(a.clone(), PART_TOLERANCE, PART_ITERATIONS)?;
    Some(found.point.a)
}
