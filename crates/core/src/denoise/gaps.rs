//! Missing samples of noisy sources, filled by their conditional mean.
//!
//! In: K columns on a [`Circle`], 0 where samples are missing. Out: the columns with E[x | what is
//! there] in their gaps. With B = C + N the covariance of noisy sources and Q = B⁻¹ this is
//!
//! ```text
//! Q_mm · x_m = −Q_mo · x_o          m missing, o observed
//! ```
//!
//! solved by conjugate gradients over the missing samples alone, with products by the circle's
//! filter. What the Wiener filter makes of filled columns is the posterior mean of the sources
//! given the observed samples: E[s | x_o] = E[E[s | x] | x_o] = C·B⁻¹·E[x | x_o].
//!
//! The preconditioner is the inverse of Q_mm within a gap, source by source: exact where gaps are
//! far apart and the noise of the sources is uncorrelated.

use super::circle::{Circle, Work};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatMut, Side};
use std::collections::HashMap;
use std::rc::Rc;

/// Missing samples that the preconditioner solves for at once, in one gap and in several.
const PIECE: (usize, usize) = (512, 128);
/// Gaps no farther apart than this belong to one piece.
const NEAR: usize = 8;
/// Relative size of the residual at which the gaps count as filled.
const TOLERANCE: f64 = 1e-10;
/// Iterations after which they are taken as they are.
const MOST_ITERATIONS: usize = 400;

/// Fills `columns` where `missing`; returns the number of iterations, for the tests.
pub(super) fn fill(
    circle: &Circle,
    kernels: &[Vec<f64>],
    missing: &[bool],
    columns: &mut [Vec<f64>],
    work: &mut Work,
) -> usize {
    let places: Vec<usize> = (0..missing.len()).filter(|&t| missing[t]).collect();
    if places.is_empty() {
        return 0;
    }
    let pieces = Pieces::new(&places, kernels);
    let n_sources = circle.n_sources();
    let mut lent = columns.to_vec();
    // Q·x at the missing samples, source by source, for a vector that is 0 elsewhere or observed.
    let mut product = |lent: &mut Vec<Vec<f64>>, out: &mut [f64]| {
        circle.whiten(lent, work);
        for (out, column) in out.chunks_exact_mut(places.len()).zip(lent) {
            out.iter_mut()
                .zip(&places)
                .for_each(|(out, &t)| *out = column[t]);
        }
    };
    let size = n_sources * places.len();
    let mut residual = vec![0.0; size];
    product(&mut lent, &mut residual);
    residual.iter_mut().for_each(|value| *value = -*value);

    let mut solution = vec![0.0; size];
    let mut preconditioned = residual.clone();
    pieces.solve(&mut preconditioned);
    let mut direction = preconditioned.clone();
    let mut image = vec![0.0; size];
    let mut energy = dot(&residual, &preconditioned);
    let enough = energy * TOLERANCE * TOLERANCE;
    let mut iterations = 0;
    // Neither 0 nor NaN goes on.
    while energy > enough && iterations < MOST_ITERATIONS {
        for (column, values) in lent.iter_mut().zip(direction.chunks_exact(places.len())) {
            column.fill(0.0);
            places
                .iter()
                .zip(values)
                .for_each(|(&t, &value)| column[t] = value);
        }
        product(&mut lent, &mut image);
        let step = energy / dot(&direction, &image);
        add(&mut solution, step, &direction);
        add(&mut residual, -step, &image);
        preconditioned.copy_from_slice(&residual);
        pieces.solve(&mut preconditioned);
        let next = dot(&residual, &preconditioned);
        let ratio = next / energy;
        for (d, p) in direction.iter_mut().zip(&preconditioned) {
            *d = p + ratio * *d;
        }
        energy = next;
        iterations += 1;
    }
    for (column, values) in columns.iter_mut().zip(solution.chunks_exact(places.len())) {
        places
            .iter()
            .zip(values)
            .for_each(|(&t, &value)| column[t] = value);
    }
    iterations
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    strt_signal::preprocess::observations::centred_product(a, 0.0, b)
}

/// y ← y + a·x
fn add(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// Factors of Q_mm within a piece, one a source; `None` where it has none in floating point.
type Factors = Rc<Vec<Option<Llt<f64>>>>;

/// Q_mm without what lies between pieces and between sources.
struct Pieces {
    n_places: usize,
    /// First place, number of places and factors of every piece.
    pieces: Vec<(usize, usize, Factors)>,
}

impl Pieces {
    fn new(places: &[usize], kernels: &[Vec<f64>]) -> Pieces {
        let mut factors: HashMap<Vec<usize>, Factors> = HashMap::new();
        let mut pieces = Vec::new();
        let mut first = 0;
        while first < places.len() {
            let mut len = 1;
            while let Some(next) = places.get(first + len) {
                let one_gap = next - places[first] == len;
                let most = if one_gap { PIECE.0 } else { PIECE.1 };
                if len >= most || next - places[first + len - 1] > NEAR {
                    break;
                }
                len += 1;
            }
            let piece = &places[first..first + len];
            let offsets: Vec<usize> = piece.iter().map(|t| t - piece[0]).collect();
            let factor = factors.entry(offsets).or_insert_with_key(|offsets| {
                let factor = |kernel: &Vec<f64>| covariance_like(offsets, kernel).llt(Side::Lower);
                Rc::new(kernels.iter().map(|kernel| factor(kernel).ok()).collect())
            });
            pieces.push((first, len, Rc::clone(factor)));
            first += len;
        }
        Pieces {
            n_places: places.len(),
            pieces,
        }
    }

    fn solve(&self, values: &mut [f64]) {
        for (k, values) in values.chunks_exact_mut(self.n_places).enumerate() {
            for (first, len, factors) in &self.pieces {
                if let Some(factor) = &factors[k] {
                    let part = &mut values[*first..first + len];
                    factor.solve_in_place(MatMut::from_column_major_slice_mut(part, *len, 1));
                }
            }
        }
    }
}

/// The matrix kernel(|t − t'|) over samples at these offsets.
pub(super) fn covariance_like(offsets: &[usize], kernel: &[f64]) -> Mat<f64> {
    Mat::from_fn(offsets.len(), offsets.len(), |i, j| {
        kernel[offsets[i].abs_diff(offsets[j])]
    })
}
