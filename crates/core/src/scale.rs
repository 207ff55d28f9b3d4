//! The scale of a nonlinear source: which of its monotone maps it is shown in.
//!
//! Behind nonlinear mixing a source is determined up to a monotone map of its own. The objective
//! chooses the one that makes prediction errors Gaussian, which is right for Gaussian sources and
//! wrong for pulses and square waves. In: finished sources (T×K) and the scaled channels. Out: one
//! [`Monotone`] map a source, as [`SourceScale`] asks for it.
//!
//! *Linear-most* is the monotone f whose f(s) correlates best with a linear combination of the
//! channels: mixing that is nonlinear is rarely far from linear. f is piecewise linear over five
//! knots. With the ramps r_j(s), each of which rises by what s rises within segment j, f = Σ_j θ_j
//! r_j and
//!
//! ```text
//! maximise θᵀ·C_ry·C_yy⁻¹·C_yr·θ / θᵀ·C_rr·θ        slopes θ_j kept above 0
//! ```
//!
//! a small canonical correlation. Training does not see any of this: the mixer is fed what the
//! objective chose, and the map is undone before anything is mixed.

use crate::config::SourceScale;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatMut, MatRef, Side};
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::Rows;

/// Knots of a map.
pub const KNOTS: usize = 5;
const SEGMENTS: usize = KNOTS - 1;
/// Quantiles of the source at which the knots lie.
const QUANTILES: [f64; KNOTS] = [0.02, 0.25, 0.5, 0.75, 0.98];
/// Least distance of two knots, in standard deviations of the source.
const LEAST_DISTANCE: f64 = 1e-3;
/// Least slope of a linear-most map, as a share of its mean slope: it can be inverted.
const LEAST_SLOPE: f64 = 0.05;
/// Samples that are looked at together.
const STRETCH: usize = 4096;
/// Added to the diagonal of moments, as a share of their mean: segments may be empty, channels
/// copies.
const RIDGE: f64 = 1e-9;

/// A rising, piecewise linear function; the outer segments go on beyond the outer knots.
#[derive(Clone, Debug, PartialEq)]
pub struct Monotone {
    knots: [f64; KNOTS],
    values: [f64; KNOTS],
}

impl Monotone {
    /// The function that takes each knot to its value; `None` unless both rise strictly.
    pub fn new(knots: [f64; KNOTS], values: [f64; KNOTS]) -> Option<Monotone> {
        let rises = |x: &[f64; KNOTS]| {
            x.windows(2).all(|pair| pair[0] < pair[1]) && x.iter().all(|x| x.is_finite())
        };
        (rises(&knots) && rises(&values)).then_some(Monotone { knots, values })
    }

    /// Where its slope changes.
    pub fn knots(&self) -> &[f64; KNOTS] {
        &self.knots
    }

    /// What it is there.
    pub fn values(&self) -> &[f64; KNOTS] {
        &self.values
    }

    /// f(s); NaN stays NaN.
    pub fn apply(&self, s: f64) -> f64 {
        interpolate(&self.knots, &self.values, s)
    }

    /// The s of f(s).
    pub fn invert(&self, f: f64) -> f64 {
        interpolate(&self.values, &self.knots, f)
    }
}

fn interpolate(from: &[f64; KNOTS], to: &[f64; KNOTS], x: f64) -> f64 {
    let segment = from[1..SEGMENTS].iter().filter(|&&knot| x >= knot).count();
    let slope = (to[segment + 1] - to[segment]) / (from[segment + 1] - from[segment]);
    to[segment] + (x - from[segment]) * slope
}

/// Applies one map a column to the usable rows.
pub(crate) fn apply(maps: &[Monotone], rows: &Rows, mut sources: MatMut<'_, f64>) {
    for (k, map) in maps.iter().enumerate() {
        let column = col_mut(sources.as_mut(), k);
        rows.for_each_valid(|t| column[t] = map.apply(column[t]));
    }
}

/// The maps of finished sources; `read` gives rows of the scaled channels from a sample on. None
/// where the scale of the objective is asked for, or sources are constant or not finite.
pub(crate) fn fit(
    scale: SourceScale,
    sources: MatRef<'_, f64>,
    rows: &Rows,
    n_channels: usize,
    read: &dyn Fn(usize, MatMut<'_, f64>),
) -> Vec<Monotone> {
    if scale == SourceScale::Objective {
        return Vec::new();
    }
    let knots: Option<Vec<_>> = (0..sources.ncols())
        .map(|k| knots(col(sources, k), rows))
        .collect();
    let Some(knots) = knots else {
        return Vec::new();
    };
    let moments = Moments::of(&knots, sources, rows, n_channels, read);
    let maps: Option<Vec<Monotone>> = (0..knots.len())
        .map(|k| moments.map(k, &knots[k], scale))
        .collect();
    maps.unwrap_or_default()
}

/// Knots of a source, apart from each other; `None` where it is constant or not finite.
fn knots(source: &[f64], rows: &Rows) -> Option<[f64; KNOTS]> {
    let mut values = Vec::with_capacity(rows.n_valid());
    rows.for_each_valid(|t| values.push(source[t]));
    let moments = strt_signal::moments::Moments::of(values.iter().copied());
    let usable = moments.deviation.is_finite() && moments.deviation > 0.0 && !moments.constant;
    if !usable || values.len() < 2 * KNOTS {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let mut knots = QUANTILES.map(|q| values[(q * (values.len() - 1) as f64).round() as usize]);
    let apart = LEAST_DISTANCE * moments.deviation;
    for j in 1..KNOTS {
        knots[j] = knots[j].max(knots[j - 1] + apart);
    }
    Some(knots)
}

/// r_j(s).
fn ramps(knots: &[f64; KNOTS], s: f64) -> [f64; SEGMENTS] {
    std::array::from_fn(|j| {
        let from = if j == 0 { s } else { s.max(knots[j]) };
        let to = if j + 1 == SEGMENTS {
            from
        } else {
            from.min(knots[j + 1])
        };
        to - knots[j]
    })
}

/// Means and covariances of all ramps (four a source) and the channels.
struct Moments {
    mean: Vec<f64>,
    covariance: Mat<f64>,
    n_channels: usize,
}

impl Moments {
    fn of(
        knots: &[[f64; KNOTS]],
        sources: MatRef<'_, f64>,
        rows: &Rows,
        n_channels: usize,
        read: &dyn Fn(usize, MatMut<'_, f64>),
    ) -> Moments {
        let n_ramps = SEGMENTS * knots.len();
        let size = n_ramps + n_channels + 1; // the last column is 1 in usable rows
        let mut gram = Mat::<f64>::zeros(size, size);
        for first in (0..sources.nrows()).step_by(STRETCH) {
            let n = STRETCH.min(sources.nrows() - first);
            let mut features = Mat::zeros(n, size);
            read(first, features.as_mut().subcols_mut(n_ramps, n_channels));
            for i in (0..n).filter(|&i| rows.is_valid(first + i)) {
                features[(i, size - 1)] = 1.0;
                for (k, knots) in knots.iter().enumerate() {
                    let ramps = ramps(knots, sources[(first + i, k)]);
                    for (j, ramp) in ramps.into_iter().enumerate() {
                        features[(i, SEGMENTS * k + j)] = ramp;
                    }
                }
            }
            gram += features.transpose() * &features;
        }
        let count = gram[(size - 1, size - 1)];
        let mean: Vec<f64> = (0..size - 1).map(|i| gram[(i, size - 1)] / count).collect();
        let covariance = Mat::from_fn(size - 1, size - 1, |i, j| {
            gram[(i, j)] / count - mean[i] * mean[j]
        });
        Moments {
            mean,
            covariance,
            n_channels,
        }
    }

    /// The map of source k; `None` where numbers fail.
    fn map(&self, k: usize, knots: &[f64; KNOTS], scale: SourceScale) -> Option<Monotone> {
        let within = |i: usize, j: usize| self.covariance[(SEGMENTS * k + i, SEGMENTS * k + j)];
        let slopes = self.linear_most(k)?;
        let variance = |slopes: &[f64; SEGMENTS]| {
            let entries = (0..SEGMENTS * SEGMENTS).map(|e| (e / SEGMENTS, e % SEGMENTS));
            entries
                .map(|(i, j)| slopes[i] * within(i, j) * slopes[j])
                .sum::<f64>()
        };
        let standardized = |slopes: [f64; SEGMENTS]| {
            let deviation = variance(&slopes).sqrt();
            slopes.map(|slope| slope / deviation)
        };
        let linear = standardized(slopes);
        let slopes = match scale {
            SourceScale::Half => {
                let own = standardized([1.0; SEGMENTS]);
                standardized(std::array::from_fn(|j| linear[j] + own[j]))
            }
            SourceScale::Linear | SourceScale::Objective => linear,
        };
        // Every ramp is 0 at the first knot; the mean of f is 0.
        let mean: f64 = (0..SEGMENTS)
            .map(|j| slopes[j] * self.mean[SEGMENTS * k + j])
            .sum();
        let mut values = [-mean; KNOTS];
        for j in 0..SEGMENTS {
            values[j + 1] = values[j] + slopes[j] * (knots[j + 1] - knots[j]);
        }
        Monotone::new(*knots, values)
    }

    /// θ of source k, its sign such that f rises with s, its slopes above 0.
    fn linear_most(&self, k: usize) -> Option<[f64; SEGMENTS]> {
        let n_ramps = self.mean.len() - self.n_channels;
        let ridged = |matrix: Mat<f64>| {
            let n = matrix.nrows();
            let trace: f64 = (0..n).map(|i| matrix[(i, i)]).sum();
            let ridge = RIDGE * trace / n as f64;
            Mat::from_fn(n, n, |i, j| {
                matrix[(i, j)] + if i == j { ridge } else { 0.0 }
            })
        };
        let part = |rows: (usize, usize), columns: (usize, usize)| {
            self.covariance
                .submatrix(rows.0, columns.0, rows.1, columns.1)
                .to_owned()
        };
        let (own, channels) = ((SEGMENTS * k, SEGMENTS), (n_ramps, self.n_channels));
        let c_rr = ridged(part(own, own));
        let c_yr = part(channels, own);
        let explained = ridged(part(channels, channels))
            .llt(Side::Lower)
            .ok()?
            .solve(&c_yr);
        let explained = c_yr.transpose() * explained; // C_ry·C_yy⁻¹·C_yr
        // With C_rr = L·Lᵀ and θ = L⁻ᵀv: the largest eigenvector v of L⁻¹·(…)·L⁻ᵀ.
        let factor = c_rr.llt(Side::Lower).ok()?;
        let lower = factor.L().to_owned();
        let half = lower.partial_piv_lu().solve(&explained); // L⁻¹·(…)
        let whole = lower.partial_piv_lu().solve(half.transpose().to_owned());
        let symmetric = Mat::from_fn(SEGMENTS, SEGMENTS, |i, j| {
            0.5 * (whole[(i, j)] + whole[(j, i)])
        });
        let eigen = symmetric.self_adjoint_eigen(Side::Lower).ok()?;
        let v = Mat::from_fn(SEGMENTS, 1, |i, _| eigen.U()[(i, SEGMENTS - 1)]);
        let theta = lower.transpose().to_owned().partial_piv_lu().solve(&v);
        // Slope of the regression of f on s = Σ_j r_j.
        let with_source = |j: usize| (0..SEGMENTS).map(|i| c_rr[(i, j)]).sum::<f64>();
        let shared: f64 = (0..SEGMENTS).map(|j| theta[(j, 0)] * with_source(j)).sum();
        let variance: f64 = (0..SEGMENTS).map(with_source).sum();
        let mean_slope = shared / variance;
        let least = LEAST_SLOPE * mean_slope.abs();
        let slopes = std::array::from_fn(|j| (theta[(j, 0)] * mean_slope.signum()).max(least));
        slopes
            .iter()
            .all(|slope: &f64| slope.is_finite() && *slope > 0.0)
            .then_some(slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any numbers that look Gaussian.
    fn gaussian(n: usize, k: usize) -> Mat<f64> {
        let uniform = |i: usize| ((i as f64 * 12.9898).sin() * 43758.5453).rem_euclid(1.0);
        Mat::from_fn(n, k, |t, k| {
            (0..12)
                .map(|i| uniform(1 + i + 12 * (t + n * k)))
                .sum::<f64>()
                - 6.0
        })
    }

    fn fitted(scale: SourceScale, sources: &Mat<f64>, channels: &Mat<f64>) -> Vec<Monotone> {
        let rows = Rows::all(sources.nrows());
        let read = |first: usize, mut out: MatMut<'_, f64>| {
            let n = out.nrows();
            out.copy_from(channels.as_ref().subrows(first, n));
        };
        fit(scale, sources.as_ref(), &rows, channels.ncols(), &read)
    }

    fn mixed(sources: &Mat<f64>) -> Mat<f64> {
        let mixing = [
            [1.0, 0.4, -0.3],
            [-0.5, 1.0, 0.6],
            [0.2, -0.7, 1.0],
            [0.8, 0.5, 0.4],
        ];
        Mat::from_fn(sources.nrows(), 4, |t, c| {
            (0..3).map(|k| mixing[c][k] * sources[(t, k)]).sum()
        })
    }

    #[test]
    fn gaussian_sources_behind_weak_mixing_stay_as_they_are() {
        let sources = gaussian(6000, 3);
        let channels = mixed(&sources);
        for scale in [SourceScale::Linear, SourceScale::Half] {
            for map in fitted(scale, &sources, &channels) {
                for s in [-2.5, -1.0, 0.0, 0.3, 2.0] {
                    assert!((map.apply(s) - s).abs() < 0.08, "{} for {s}", map.apply(s));
                }
            }
        }
        assert!(fitted(SourceScale::Objective, &sources, &channels).is_empty());
    }

    #[test]
    fn a_bent_source_is_straightened() {
        let truth = gaussian(6000, 3);
        let channels = mixed(&truth);
        // What the objective might have chosen: steep in the middle, flat outside.
        let bent = Mat::from_fn(6000, 3, |t, k| (2.0 * truth[(t, k)]).tanh());
        let correlation = |scale: SourceScale| {
            let maps = fitted(scale, &bent, &channels);
            let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
            for t in 0..6000 {
                let s = bent[(t, 0)];
                let x = maps.first().map_or(s, |map| map.apply(s));
                (xy, xx, yy) = (
                    xy + x * truth[(t, 0)],
                    xx + x * x,
                    yy + truth[(t, 0)].powi(2),
                );
            }
            xy / (xx * yy).sqrt()
        };
        let of = [
            SourceScale::Objective,
            SourceScale::Half,
            SourceScale::Linear,
        ]
        .map(correlation);
        assert!(of[1] > of[0] + 0.01 && of[2] > of[1], "{of:?}");
    }

    #[test]
    fn constant_sources_have_no_map() {
        let mut sources = gaussian(300, 3);
        let channels = mixed(&sources);
        sources.col_mut(1).fill(0.5);
        assert!(fitted(SourceScale::Half, &sources, &channels).is_empty());
    }

    proptest! {
        #[test]
        fn maps_rise_and_are_inverted(
            power in 0.3..3.0f64,
            at in -4.0..4.0f64,
            up in 1e-3..1.0f64,
        ) {
            let sources = gaussian(500, 3);
            let channels = mixed(&sources);
            let bent = Mat::from_fn(500, 3, |t, k| {
                let s: f64 = sources[(t, k)];
                s.signum() * s.abs().powf(power)
            });
            for map in fitted(SourceScale::Linear, &bent, &channels) {
                prop_assert!(map.apply(at + up) > map.apply(at));
                prop_assert!((map.invert(map.apply(at)) - at).abs() < 1e-9);
            }
        }
    }
}
