//! The kernel energy fitted to a recording: the lowest minimum of several starts, by one form or
//! with a choice of forms for every source.
//!
//! In: components, [`Form`]s and starts. Out: the minimum, and what it says of its sources: how
//! long their description is, and which order of autoregression they need. Which forms are taken is
//! decided in [`super`].

use faer::Mat;
use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

use super::Solution;
use super::energy::SourceEnergy;
use super::form::Form;
use super::minimize::{Contrast, Minimum, Point, log_det};
use super::moments::Moments;
use super::novelty::{Beside, Choice, Novel, Novelty};
use crate::{Components, Unmixing};

/// By how many nats per sample all sources together must be described better with a choice of forms
/// than by one. A source whose variance changes gains 0.2 and more; a square wave, in which single
/// stretches happen to have no edge, 0.06, and it is found less well so.
const MARGIN: f64 = 0.1;

/// How often densities are chosen anew, for every source, while a search leads away from mixtures,
/// and its iterations each time.
const SEARCHES: usize = 4;
const SEARCH_ITERATIONS: usize = 12;
/// How often they are chosen anew at most before the result is taken as it is, …
const SETTLINGS: usize = 8;
/// … and the angle in radians below which it no longer makes a difference.
const SETTLED: f64 = 1e-3;

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

/// The lowest minimum by these forms.
pub(super) struct Fitted {
    /// Those of which every source takes one.
    pub forms: Vec<Form>,
    novel: Novel, // what else is judged
    moments: Moments,
    minimum: Minimum,
    saved: f64, // nats per sample that this saves
}

impl Fitted {
    /// By one form, from starts of which one at least is a rotation.
    pub fn new(
        components: &Components<'_>,
        form: Form,
        starts: &[Mat<f64>],
        limits: Limits,
    ) -> Fitted {
        let forms = vec![form];
        let moments = moments_of(components, &forms);
        // Rotations have finite energies, so that one start at least was searched from.
        let minimum = lowest(&forms, &moments, starts, limits).expect("a minimum from a rotation");
        Fitted::gaussian(forms, moments, minimum)
    }

    fn gaussian(forms: Vec<Form>, moments: Moments, minimum: Minimum) -> Fitted {
        Fitted {
            forms,
            novel: Novel::Nothing,
            moments,
            minimum,
            saved: 0.0,
        }
    }

    /// With a choice for every source, where one of `fits` (by the spectrum, then by others) ends
    /// at sources that another form describes better, and the whole is then described better than
    /// by the best of them.
    pub fn any(components: &Components<'_>, fits: &[&Fitted], limits: Limits) -> Option<Fitted> {
        let spectrum = fits[0];
        let any = Form::any(&components.pieces());
        // Descriptions ask for no other moments of a spectrum than this fit has.
        let forms = [&spectrum.forms[..], &any[1..]].concat();
        let moments = Moments::stack(&spectrum.moments, &moments_of(components, &any[1..]));
        let (n, k) = (moments.n_valid(), components.n_components());
        let mut energy = SourceEnergy::new(&forms, moments.shares(), n);
        let best = fits
            .iter()
            .map(|fit| fit.description())
            .fold(f64::INFINITY, f64::min);
        let mut product = Mat::zeros(moments.len() * k, k);
        let mut own = vec![0.0; moments.len()];
        let promising = |fit: &&Fitted| {
            let a = &fit.minimum.point.a;
            moments.times(a.as_ref(), &mut product);
            let mut nats = -log_det(a).expect("a point has a volume");
            for j in 0..k {
                moments.of_source(a.col_as_slice(j), product.col_as_slice(j), &mut own);
                nats += energy.description(&own, n).0;
            }
            nats < best - MARGIN
        };
        if !fits.iter().any(promising) {
            return None;
        }
        let starts = fits.iter().map(|fit| fit.minimum.point.a.clone());
        let starts: Vec<Mat<f64>> = starts.collect();
        let moments = moments_of(components, &any);
        let minimum = lowest(&any, &moments, &starts, limits)?;
        let found = Fitted::gaussian(any, moments, minimum);
        (found.description() < best - MARGIN).then_some(found)
    }

    /// By the same form and by what is judged beside it, sought from where this fit ended and from
    /// further starts; `None` where that is not beyond chance.
    pub fn with(
        &self,
        beside: Beside,
        components: &Components<'_>,
        starts: &[Mat<f64>],
        limits: Limits,
    ) -> Option<Fitted> {
        let moments = &self.moments;
        let (whitened, rows) = (components.whitened(), components.rows());
        let mut contrast = Contrast {
            energy: self.energy(),
            moments,
            novelty: Novelty::new(beside, whitened, rows, self.forms[0].window),
        };
        let here = std::iter::once(&self.minimum.point.a);
        let mut lowest: Option<Point> = None;
        for start in here.chain(starts) {
            let found = search(&mut contrast, start.clone());
            let lower = |found: &Point| lowest.as_ref().is_none_or(|l| found.value < l.value);
            lowest = found.filter(lower).or(lowest);
        }
        let mut a = lowest?.a;
        // A density is chosen for where the search stood, and the search goes on where it led.
        let mut minimum = None;
        for _ in 0..SETTLINGS {
            let here = contrast.by_moments(a)?;
            if contrast.choose(&here, Choice::Settle) == 0.0 {
                return None;
            }
            let before = here.a.clone();
            let tolerance = limits.tolerance.max(contrast.novelty.least_tolerance());
            let found = contrast.minimize(here.a, tolerance, limits.iterations)?;
            a = found.point.a.clone();
            minimum = Some(found);
            if largest_angle(&before, &a) < SETTLED {
                break;
            }
        }
        let minimum = minimum?;
        let saved = contrast.choose(&minimum.point, Choice::Settle);
        Some(Fitted {
            forms: self.forms.clone(),
            novel: contrast.novelty.found(),
            moments: moments.clone(),
            minimum,
            saved,
        })
    }

    /// The same forms, sought from where this fit ended and from further starts.
    pub fn again(self, starts: &[Mat<f64>], limits: Limits) -> Fitted {
        let here = std::iter::once(self.minimum.point.a.clone());
        let starts: Vec<Mat<f64>> = here.chain(starts.iter().cloned()).collect();
        let found = lowest(&self.forms, &self.moments, &starts, limits);
        Fitted {
            minimum: found.unwrap_or(self.minimum),
            ..self
        }
    }

    fn energy(&self) -> SourceEnergy {
        SourceEnergy::new(&self.forms, self.moments.shares(), self.moments.n_valid())
    }

    /// Moments of every source.
    fn sources(&self) -> impl Iterator<Item = &[f64]> {
        let moments = &self.minimum.point.moments;
        (0..moments.ncols()).map(|j| moments.col_as_slice(j))
    }

    /// The largest angle between a source as each half of the recording has it.
    pub fn disagreement(&self, components: &Components<'_>) -> f64 {
        let (beside, a) = (self.novel.kind(), &self.minimum.point.a);
        disagreement(components, &self.forms, beside, a)
    }

    /// Nats per sample in which all sources are described, parameters included.
    pub fn description(&self) -> f64 {
        let (mut energy, n) = (self.energy(), self.moments.n_valid());
        let volume = log_det(&self.minimum.point.a).expect("a point has a volume");
        let without_sources = -volume - self.saved;
        self.sources().fold(without_sources, |sum, moments| {
            sum + energy.description(moments, n).0
        })
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
            forms: self.forms,
            novel: self.novel,
            saved: self.saved,
            moments: self.moments,
        }
    }
}

/// Where a rough search from `a` leads; `None` where nothing is beyond chance: Gaussian mixtures of
/// Gaussian sources lead nowhere.
fn search(contrast: &mut Contrast<'_>, mut a: Mat<f64>) -> Option<Point> {
    for round in 0..SEARCHES {
        let here = contrast.by_moments(a)?;
        let beyond = contrast.choose(&here, Choice::Search);
        if round >= contrast.novelty.patience() && beyond == 0.0 {
            return None;
        }
        let rough = Limits::ROUGH.tolerance;
        let found = contrast.minimize(here.a, rough, SEARCH_ITERATIONS)?;
        a = found.point.a;
    }
    contrast.at(a)
}

/// The lowest of the minima that are reached from these starts; of equals the first.
fn lowest(
    forms: &[Form],
    moments: &Moments,
    starts: &[Mat<f64>],
    limits: Limits,
) -> Option<Minimum> {
    let mut contrast = Contrast {
        energy: SourceEnergy::new(forms, moments.shares(), moments.n_valid()),
        moments,
        novelty: Novelty::Nothing,
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

/// The largest angle between a column of one matrix and that of the other, columns of norm 1.
fn largest_angle(one: &Mat<f64>, other: &Mat<f64>) -> f64 {
    let cosine = |k: usize| (one.col(k).transpose() * other.col(k)).abs();
    (0..one.ncols()).map(cosine).fold(1.0, f64::min).acos()
}

/// The moments of all samples that forms ask for.
fn moments_of(components: &Components<'_>, forms: &[Form]) -> Moments {
    Moments::new(components.whitened(), components.rows(), forms)
}

/// The largest angle in radians between a source as the first half of the recording has it near `a`
/// and as the second half has it.
pub(super) fn disagreement(
    components: &Components<'_>,
    forms: &[Form],
    beside: Beside,
    a: &Mat<f64>,
) -> f64 {
    let t = components.n_samples();
    let of_half = |half| of_part(components, half, forms, beside, a);
    match [0..t / 2, t / 2..t].map(of_half) {
        [Some(first), Some(second)] => largest_angle(&first, &second),
        _ => FRAC_PI_2,
    }
}

/// The minimum that a part of the recording has near `a`, by forms of these kinds and what is judged
/// beside them.
pub(super) fn of_part(
    components: &Components<'_>,
    part: Range<usize>,
    forms: &[Form],
    beside: Beside,
    a: &Mat<f64>,
) -> Option<Mat<f64>> {
    let rows = components.rows().part(part.clone());
    let forms = Form::for_samples(forms, &rows.to_pieces());
    let samples = components.whitened().subrows(part.start, part.len());
    let moments = Moments::new(samples, rows, &forms);
    let novelty = Novelty::new(beside, samples, rows, forms[0].window);
    search_near(&forms, &moments, novelty, a)
}

/// The minimum that these moments have near `a`.
pub(super) fn near(forms: &[Form], moments: &Moments, a: &Mat<f64>) -> Option<Mat<f64>> {
    search_near(forms, moments, Novelty::Nothing, a)
}

fn search_near(
    forms: &[Form],
    moments: &Moments,
    novelty: Novelty,
    a: &Mat<f64>,
) -> Option<Mat<f64>> {
    let mut contrast = Contrast {
        energy: SourceEnergy::new(forms, moments.shares(), moments.n_valid()),
        moments,
        novelty,
    };
    let here = contrast.by_moments(a.clone())?;
    contrast.choose(&here, Choice::Settle);
    let Limits {
        tolerance,
        iterations,
    } = Limits::ROUGH;
    let found = contrast.minimize(here.a, tolerance, iterations)?;
    Some(found.point.a)
}
