//! What forecasts say: every sample of one half of the recording from those just before it, by a
//! smooth function that was learned from the other half.
//!
//! Sources of one law have one spectrum, and branch networks need more samples than half of a short
//! recording to learn a chaotic system. A Gaussian process needs few: the function is a sum of
//! bumps around samples that were seen (64 at most) and a linear part,
//!
//! ```text
//! s(t) ≈ Σ_c w_c·exp( −|z(t) − z_c|²/(2ℓ²p) ) + Σ_l v_l·s(t − l)        z = (s(t−1) … s(t−p))
//! ```
//!
//! with the order p, the length ℓ and the noise whose evidence on the half that is learned from is
//! highest. A pair is then judged twice. First as by networks: by how many nats the other half
//! prefers it, under functions of the found pair, to the pair turned by ±θ₀. Half a sum and half a
//! difference of two chaotic sources pass that test, since functions can be learned of both. So
//! the functions are learned anew of the pair turned by an eighth, a quarter and three eighths of
//! a half turn, and none of these may forecast better.
//!
//! Deliberately absent: anything that is not in the course of the next sample, such as a variance
//! that changes.

use super::evidence::{angle, apart, evidence, shift};
use super::judged::Judged;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;
use std::f64::consts::FRAC_PI_8;
use strt_signal::columns::col;

/// Orders p that are tried, …
const ORDERS: [usize; 4] = [1, 2, 4, 8];
/// … lengths ℓ of bumps, in standard deviations of the source, …
const LENGTHS: [f64; 3] = [0.5, 1.0, 2.0];
/// … and variances of the noise, in units of the function's.
const NOISES: [f64; 3] = [0.01, 0.1, 1.0];
/// Bumps.
const CENTERS: usize = 64;
/// Samples of a half that are learned from, and that are judged, at most; evenly spread.
const MOST: usize = 1000;
/// Samples of a half without which nothing is said.
const LEAST: usize = 64;
/// Variance of the noise that is added to every forecast, in units of the source's variance.
const KAPPA: f64 = 0.01;
/// Folds of each half.
const FOLDS: usize = 4;
/// Angles at which functions are learned anew; the one that two mixed sources need most comes
/// first.
const ELSEWHERE: [f64; 3] = [2.0 * FRAC_PI_8, FRAC_PI_8, 3.0 * FRAC_PI_8];

/// What forecasts say of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    /// Nats for the pair over any other angle that was tried.
    pub nats: f64,
    /// The angle at which the half that was not learned from has the pair, by a parabola.
    pub shift: f64,
    /// The larger of the angles at which one of both halves has it.
    pub apart: f64,
}

/// What forecasts say of some sources.
pub(super) struct Forecasts {
    /// Of every pair that was asked about.
    pub pairs: Vec<Heard>,
    /// Nats by which forecasts of a source are better than those of white noise.
    pub gains: Vec<f64>,
}

/// What forecasts say of these sources and pairs; the numbers in pairs are places in `sources`.
/// Pairs that are told from angles nearby by fewer than `enough` nats are not looked at further.
/// `None` where a half has too few samples in a row.
pub(super) fn forecasts(
    judged: &Judged,
    sources: &[usize],
    wanted: &[(usize, usize)],
    enough: f64,
) -> Option<Forecasts> {
    let t = judged.n_samples();
    let halves = [0..t / 2, t - t / 2..t].map(|half| judged.part(half, sources));
    let targets = [targets(&halves[0])?, targets(&halves[1])?];
    let witness = Witness { halves, targets };
    let all: Vec<(usize, f64)> = ORDERS
        .iter()
        .flat_map(|&p| LENGTHS.iter().map(move |&l| (p, l)))
        .collect();
    let learn = |k: usize| -> Option<[Function; 2]> {
        let of = |half: usize| Function::learn(witness.source(half, k), witness.at(half), &all);
        Some([of(0)?, of(1)?])
    };
    let functions: Option<Vec<[Function; 2]>> =
        (0..sources.len()).into_par_iter().map(learn).collect();
    let functions = functions?;
    let own = |k: usize| witness.hear(&functions[k], |half| witness.source(half, k).to_vec());
    let own: Vec<Vec<f64>> = (0..sources.len()).into_par_iter().map(own).collect();
    let gains = own.iter().enumerate().map(|(k, own)| {
        let folds = own.iter().zip(witness.white(k));
        evidence(
            &folds
                .map(|(found, white)| white - found)
                .collect::<Vec<f64>>(),
        )
    });
    let pair = |&(i, j): &(usize, usize)| {
        let found: Vec<f64> = own[i].iter().zip(&own[j]).map(|(x, y)| x + y).collect();
        witness.of_pair((i, j), [&functions[i], &functions[j]], &found, enough)
    };
    Some(Forecasts {
        gains: gains.collect(),
        pairs: wanted.par_iter().map(pair).collect(),
    })
}

/// Samples of a half that follow as many samples as the longest order has, evenly spread.
fn targets(half: &Judged) -> Option<Vec<usize>> {
    let longest = ORDERS[ORDERS.len() - 1];
    let mut all = Vec::new();
    for piece in half.rows.pieces() {
        let mut in_a_row = 0;
        for t in piece {
            if half.is_missing(t) {
                in_a_row = 0;
                continue;
            }
            if in_a_row >= longest {
                all.push(t);
            }
            in_a_row += 1;
        }
    }
    let n = all.len().min(MOST);
    let spread = (0..n).map(|i| all[i * all.len() / n]).collect();
    (n >= LEAST).then_some(spread)
}

/// Both halves of some sources.
struct Witness {
    halves: [Judged; 2],
    targets: [Vec<usize>; 2],
}

impl Witness {
    fn source(&self, half: usize, k: usize) -> &[f64] {
        col(self.halves[half].values.as_ref(), k)
    }

    fn at(&self, half: usize) -> &[usize] {
        &self.targets[half]
    }

    /// The first of a pair, turned by this angle with the second.
    fn turned(&self, half: usize, (i, j): (usize, usize), angle: f64) -> Vec<f64> {
        let (sine, cosine) = angle.sin_cos();
        let both = self.source(half, i).iter().zip(self.source(half, j));
        both.map(|(x, y)| cosine * x + sine * y).collect()
    }

    /// The places of a fold of a half among its targets.
    fn fold(&self, half: usize, fold: usize) -> std::ops::Range<usize> {
        let n = self.targets[half].len();
        fold * n / FOLDS..(fold + 1) * n / FOLDS
    }

    /// Half the logarithm of the squared error of the function that has learned from the *other*
    /// half, times the samples, fold by fold.
    fn hear(&self, functions: &[Function; 2], course: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
        let mut nats = Vec::with_capacity(2 * FOLDS);
        for (half, function) in [(1, &functions[0]), (0, &functions[1])] {
            let errors = function.errors(&course(half), self.at(half));
            for fold in 0..FOLDS {
                let errors = &errors[self.fold(half, fold)];
                let n = errors.len() as f64;
                let mean = errors.iter().sum::<f64>() / n;
                nats.push(0.5 * n * (mean + KAPPA).ln());
            }
        }
        nats
    }

    /// The nats of source k if nobody could forecast it: white noise of its variance in every
    /// fold, as errors of forecasts have theirs.
    fn white(&self, k: usize) -> impl Iterator<Item = f64> {
        [1, 0].into_iter().flat_map(move |half| {
            let nats = move |fold: usize| {
                let at = &self.at(half)[self.fold(half, fold)];
                let square = |&t: &usize| self.source(half, k)[t].powi(2);
                let n = at.len() as f64;
                0.5 * n * (at.iter().map(square).sum::<f64>() / n + KAPPA).ln()
            };
            (0..FOLDS).map(nats)
        })
    }

    /// What forecasts say of a pair whose own nats are `found`.
    fn of_pair(
        &self,
        (i, j): (usize, usize),
        functions: [&[Function; 2]; 2],
        found: &[f64],
        enough: f64,
    ) -> Heard {
        let both = |functions: [&[Function; 2]; 2], angle: f64| -> Vec<f64> {
            let one = self.hear(functions[0], |half| self.turned(half, (i, j), angle));
            let other = self.hear(functions[1], |half| self.turned(half, (j, i), -angle));
            let turned = one.iter().zip(other);
            let turned = turned.map(|(x, y)| x + y).zip(found);
            turned.map(|(turned, found)| turned - found).collect()
        };
        let nearby = [angle(), -angle()].map(|angle| both(functions, angle));
        let [plus, minus] = [0, 1].map(|sign| nearby[sign].iter().sum::<f64>());
        let mut heard = Heard {
            nats: evidence(&nearby[0]).min(evidence(&nearby[1])),
            shift: shift(plus, minus),
            apart: apart(&nearby[0], &nearby[1]),
        };
        let shapes = shapes(functions);
        for angle in ELSEWHERE {
            if heard.nats.is_nan() || heard.nats < enough {
                break;
            }
            let learn = |pair: (usize, usize), angle: f64| -> Option<[Function; 2]> {
                let of = |half: usize| {
                    Function::learn(&self.turned(half, pair, angle), self.at(half), &shapes)
                };
                Some([of(0)?, of(1)?])
            };
            let anew = learn((i, j), angle).zip(learn((j, i), -angle));
            let nats = anew.map(|(one, other)| evidence(&both([&one, &other], angle)));
            heard.nats = heard.nats.min(nats.unwrap_or(0.0));
        }
        heard
    }
}

/// Orders and lengths that are tried at other angles: those of the pair, and the shortest length,
/// since sources that are less mixed have finer laws.
fn shapes(functions: [&[Function; 2]; 2]) -> Vec<(usize, f64)> {
    let mut shapes = Vec::new();
    let own = || functions.into_iter().flatten();
    for order in own().map(|function| function.order) {
        for length in own().map(|function| function.length).chain([LENGTHS[0]]) {
            if !shapes.contains(&(order, length)) {
                shapes.push((order, length));
            }
        }
    }
    // Those of one order share their distances.
    shapes.sort_by_key(|(order, _)| *order);
    shapes
}

/// What forecasts the next sample of a source.
#[derive(Debug)]
struct Function {
    order: usize,
    length: f64,
    centers: Mat<f64>, // order × bumps
    weights: Vec<f64>, // of the bumps, then of the samples before
    evidence: f64,
}

impl Function {
    /// The one of these shapes and of all noises whose evidence is highest. `None` where none has
    /// a value.
    fn learn(course: &[f64], targets: &[usize], shapes: &[(usize, f64)]) -> Option<Function> {
        let y = Mat::from_fn(targets.len(), 1, |n, _| course[targets[n]]);
        let square: f64 = y.col_as_slice(0).iter().map(|y| y * y).sum();
        let mut best: Option<Function> = None;
        let mut distances: Option<(usize, Mat<f64>, Mat<f64>)> = None;
        for &(order, length) in shapes {
            if distances.as_ref().is_none_or(|(of, ..)| *of != order) {
                let n = CENTERS.min(targets.len());
                let place = |c: usize| targets[c * targets.len() / n];
                let centers = Mat::from_fn(order, n, |l, c| course[place(c) - 1 - l]);
                let apart = squared_distances(course, targets, &centers);
                distances = Some((order, centers, apart));
            }
            let (_, centers, apart) = distances.as_ref().expect("made above");
            let features = features(course, targets, apart, order, length);
            let gram = features.transpose() * &features;
            let product = features.transpose() * &y;
            let prior = prior(centers, length);
            let Some(log_prior) = log_determinant(&prior) else {
                continue;
            };
            for noise in NOISES {
                let total = &gram + faer::Scale(noise) * &prior;
                let Ok(factor) = total.llt(Side::Lower) else {
                    continue;
                };
                let weights = factor.solve(&product);
                let explained = (product.transpose() * &weights)[(0, 0)];
                let (n, m) = (targets.len() as f64, prior.nrows() as f64);
                let unexplained = (square - explained).max(f64::MIN_POSITIVE) / noise;
                let log_total: f64 = (0..prior.nrows())
                    .map(|i| 2.0 * factor.L()[(i, i)].ln())
                    .sum();
                let log_determinant = log_total - log_prior + (n - m) * noise.ln();
                let evidence = -0.5 * (n * (unexplained / n).ln() + log_determinant);
                let better = best.as_ref().is_none_or(|best| evidence > best.evidence);
                if evidence.is_finite() && better {
                    best = Some(Function {
                        order,
                        length,
                        centers: centers.clone(),
                        weights: weights.col_as_slice(0).to_vec(),
                        evidence,
                    });
                }
            }
        }
        best
    }

    /// Squared errors of the forecasts of these samples of a course.
    fn errors(&self, course: &[f64], targets: &[usize]) -> Vec<f64> {
        let apart = squared_distances(course, targets, &self.centers);
        let features = features(course, targets, &apart, self.order, self.length);
        let weights = Mat::from_fn(self.weights.len(), 1, |i, _| self.weights[i]);
        let forecasts = features * weights;
        let errors = targets.iter().zip(forecasts.col_as_slice(0));
        errors
            .map(|(&t, forecast)| (course[t] - forecast).powi(2))
            .collect()
    }
}

/// |z(t) − z_c|² of every target and centre.
fn squared_distances(course: &[f64], targets: &[usize], centers: &Mat<f64>) -> Mat<f64> {
    let order = centers.nrows();
    let mut apart = Mat::zeros(targets.len(), centers.ncols());
    for c in 0..centers.ncols() {
        let center = centers.col_as_slice(c);
        for (slot, &t) in apart.col_as_slice_mut(c).iter_mut().zip(targets) {
            let before = &course[t - order..t];
            let pairs = before.iter().rev().zip(center);
            *slot = pairs.map(|(x, y)| (x - y) * (x - y)).sum();
        }
    }
    apart
}

/// The bumps at every target, and the samples before it.
fn features(
    course: &[f64],
    targets: &[usize],
    apart: &Mat<f64>,
    order: usize,
    length: f64,
) -> Mat<f64> {
    let n_centers = apart.ncols();
    let factor = -0.5 / (length * length * order as f64);
    let mut features = Mat::zeros(targets.len(), n_centers + order);
    for c in 0..n_centers {
        let values = apart.col_as_slice(c).iter();
        let column = features.col_as_slice_mut(c).iter_mut();
        column
            .zip(values)
            .for_each(|(slot, d)| *slot = (factor * d).exp());
    }
    for l in 0..order {
        let column = features.col_as_slice_mut(n_centers + l).iter_mut();
        column
            .zip(targets)
            .for_each(|(slot, &t)| *slot = course[t - 1 - l]);
    }
    features
}

/// What the weights cost: bumps that overlap share it.
fn prior(centers: &Mat<f64>, length: f64) -> Mat<f64> {
    let (order, n) = centers.shape();
    let factor = -0.5 / (length * length * order as f64);
    Mat::from_fn(n + order, n + order, |i, j| {
        let own = if i == j { 1.0 } else { 0.0 };
        if i >= n || j >= n {
            return own;
        }
        let pairs = centers.col_as_slice(i).iter().zip(centers.col_as_slice(j));
        let apart: f64 = pairs.map(|(x, y)| (x - y) * (x - y)).sum();
        (factor * apart).exp() + 1e-6 * own
    })
}

fn log_determinant(matrix: &Mat<f64>) -> Option<f64> {
    let factor = matrix.llt(Side::Lower).ok()?;
    Some(
        (0..matrix.nrows())
            .map(|i| 2.0 * factor.L()[(i, i)].ln())
            .sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};
    use strt_signal::random::{Stream, rng};
    use strt_signal::rows::Rows;

    /// Two runs of the logistic map, of mean 0 and variance 1, turned by an angle.
    fn maps(n: usize, angle: f64) -> Mat<f64> {
        let mut states = [0.3, 0.71];
        let mut runs = Mat::zeros(n, 2);
        for t in 0..n {
            for (k, x) in states.iter_mut().enumerate() {
                *x = 4.0 * *x * (1.0 - *x);
                runs[(t, k)] = (*x - 0.5) * 8f64.sqrt();
            }
        }
        let (sine, cosine) = angle.sin_cos();
        Mat::from_fn(n, 2, |t, k| match k {
            0 => cosine * runs[(t, 0)] + sine * runs[(t, 1)],
            _ => cosine * runs[(t, 1)] - sine * runs[(t, 0)],
        })
    }

    fn white(n: usize) -> Mat<f64> {
        let mut rng = rng(3, Stream::Check);
        Mat::from_fn(n, 2, |_, _| StandardNormal.sample(&mut rng))
    }

    fn judged(values: Mat<f64>) -> Judged {
        let rows = Rows::all(values.nrows());
        Judged { values, rows }
    }

    fn ask(judged: &Judged) -> (Heard, Vec<f64>) {
        let said = forecasts(judged, &[0, 1], &[(0, 1)], 4.0).unwrap();
        (said.pairs[0], said.gains)
    }

    #[test]
    fn sources_of_one_law_are_told_by_what_follows_on_what() {
        let (heard, gains) = ask(&judged(maps(600, 0.0)));
        assert!(heard.nats > 100.0, "{heard:?}");
        assert!(heard.shift.abs() < 0.05, "{heard:?}");
        assert!(gains.iter().all(|&gain| gain > 100.0), "{gains:?}");
    }

    /// Sum and difference are told from what is near them, and yet the true ones forecast better.
    #[test]
    fn halfway_between_two_sources_is_not_told() {
        for angle in [2.0 * FRAC_PI_8, 1.5 * FRAC_PI_8, -FRAC_PI_8] {
            let (heard, _) = ask(&judged(maps(600, angle)));
            assert!(heard.nats < 0.0, "{angle}: {heard:?}");
        }
    }

    #[test]
    fn nothing_is_said_of_white_noise() {
        let (heard, gains) = ask(&judged(white(1000)));
        assert!(heard.nats < 4.0, "{heard:?}");
        assert!(gains.iter().all(|&gain| gain < 3.0), "{gains:?}");
    }

    /// Missing samples are 0 in the values, which no forecast may read.
    #[test]
    fn forecasts_read_no_missing_sample_and_no_other_piece() {
        let mut values = maps(700, 0.0);
        let missing: Vec<bool> = (0..700).map(|t| t % 50 == 20).collect();
        for t in (0..700).filter(|&t| missing[t]) {
            (values[(t, 0)], values[(t, 1)]) = (1e9, -1e9);
        }
        let lengths = [120, 230, 5, 345];
        let pieces = strt_signal::pieces::Pieces::new(&lengths, 700).unwrap();
        let rows = Rows::new(&missing).with_pieces(&pieces);
        for t in targets(&Judged {
            values: values.clone(),
            rows: rows.clone(),
        })
        .unwrap()
        {
            assert!((t - 8..=t).all(|t| rows.is_valid(t)), "{t}");
            assert!(pieces.at(t).start + 8 <= t, "{t}");
        }
        let (heard, _) = ask(&Judged { values, rows });
        assert!(heard.nats > 50.0, "{heard:?}");
    }

    #[test]
    fn too_few_samples_in_a_row_say_nothing() {
        let few = judged(maps(140, 0.0));
        assert!(forecasts(&few, &[0, 1], &[(0, 1)], 4.0).is_none());
    }
}
