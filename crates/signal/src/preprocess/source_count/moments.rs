//! Second moments in which white noise has no part: lagged covariances, and what the covariances
//! of successive parts of the recording differ by.
//!
//! In: whitened [`Samples`]. Out: families of symmetric p × p matrices. Let z = B·s + n with noise
//! n that is white in time, of whatever covariance. Then E[z_t z_{t+h}ᵀ] and E[zzᵀ | part] − I
//! vanish for every direction that no source reaches, since z has covariance I. Along such
//! directions the entries of these matrices are independent of each other, with variance 1 on the
//! diagonal and ½ beside it: that is how they are scaled.

use super::samples::{BLOCKS, Block, PARTS, Samples};
use super::structure::Witness;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::ops::Range;

/// Lags of the two families: a few, for sources that forget quickly, and many.
const FEW_LAGS: [usize; 3] = [1, 2, 3];
const MANY_LAGS: [usize; 12] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24];
/// The longest lag is this share of the recording at most.
const LAG_SHARE: usize = 8;

/// Matrices of one kind.
pub(super) struct Family {
    pub witness: Witness,
    /// Lags of a family of lagged covariances; empty for one of variances.
    pub lags: Vec<usize>,
    /// Of all samples.
    pub matrices: Vec<Mat<f64>>,
    /// Of each half of them.
    pub halves: [Vec<Mat<f64>>; 2],
}

impl Family {
    /// Number of independent matrices of the whole.
    pub fn freedom(&self) -> usize {
        match self.witness {
            Witness::Variance => PARTS - 1,
            _ => self.matrices.len(),
        }
    }

    /// Number of independent matrices of a half.
    pub fn freedom_of_half(&self) -> usize {
        match self.witness {
            Witness::Variance => PARTS / 2 - 1,
            _ => self.matrices.len(),
        }
    }
}

/// All families, lagged covariances first.
pub(super) fn families(samples: &Samples) -> Vec<Family> {
    // A lag that most samples have no pair for says little.
    let of_pieces = (samples.pieces.typical() / 2).max(1);
    let longest = (samples.values.nrows() / LAG_SHARE).min(of_pieces);
    let lags: Vec<usize> = MANY_LAGS
        .into_iter()
        .filter(|&lag| lag <= longest)
        .collect();
    let lagged: Vec<[Sum; 2]> = lags.iter().map(|&lag| halves(samples, lag)).collect();
    let of_lags = |wanted: &[usize]| {
        let places = (0..lags.len()).filter(|&i| wanted.contains(&lags[i]));
        let sums: Vec<&[Sum; 2]> = places.map(|i| &lagged[i]).collect();
        let half = |h: usize| sums.iter().map(|sum| sum[h].scaled()).collect();
        Family {
            witness: Witness::Spectrum,
            lags: lags
                .iter()
                .copied()
                .filter(|l| wanted.contains(l))
                .collect(),
            matrices: sums
                .iter()
                .map(|sum| sum[0].with(&sum[1]).scaled())
                .collect(),
            halves: [half(0), half(1)],
        }
    };
    vec![
        of_lags(&FEW_LAGS),
        of_lags(&MANY_LAGS),
        of_variances(samples),
    ]
}

/// A sum of products, symmetric, and of how many.
struct Sum {
    products: Mat<f64>,
    n: usize,
}

impl Sum {
    fn scaled(&self) -> Mat<f64> {
        faer::Scale(1.0 / (self.n.max(1) as f64).sqrt()) * &self.products
    }

    fn with(&self, other: &Sum) -> Sum {
        Sum {
            products: &self.products + &other.products,
            n: self.n + other.n,
        }
    }
}

/// Σ (z_t z_{t+h}ᵀ + z_{t+h} z_tᵀ)/2 of both halves of the blocks.
fn halves(samples: &Samples, lag: usize) -> [Sum; 2] {
    let of = |blocks: Range<usize>| {
        let p = samples.n_directions();
        let mut products = Mat::zeros(p, p);
        let mut n = 0;
        for block in &samples.blocks[blocks] {
            for rows in block.pairs(lag, &samples.pieces) {
                add_products(&mut products, samples.values.as_ref(), rows.clone(), lag);
                n += samples.n_pairs(rows, lag);
            }
        }
        let products = Mat::from_fn(p, p, |i, j| 0.5 * (products[(i, j)] + products[(j, i)]));
        Sum { products, n }
    };
    [of(0..BLOCKS / 2), of(BLOCKS / 2..BLOCKS)]
}

fn add_products(sum: &mut Mat<f64>, values: MatRef<'_, f64>, rows: Range<usize>, lag: usize) {
    if rows.is_empty() {
        return;
    }
    let now = values.subrows(rows.start, rows.len());
    let later = values.subrows(rows.start + lag, rows.len());
    matmul(sum, Accum::Add, now.transpose(), later, 1.0, Par::Seq);
}

/// (C_b − I)·√(n_b/2) of every part b, and, of each half, less what its parts have in common:
/// otherwise one half would know the variance of the other, since both add up to 1.
fn of_variances(samples: &Samples) -> Family {
    let p = samples.n_directions();
    let part = |part: usize| {
        let mut products = Mat::zeros(p, p);
        let mut n = 0;
        for block in &samples.blocks[Block::of_part(part)] {
            let rows = block.rows.clone();
            add_products(&mut products, samples.values.as_ref(), rows.clone(), 0);
            n += samples.n_pairs(rows, 0);
        }
        let scale = 1.0 / (2.0 * n.max(1) as f64).sqrt();
        Mat::from_fn(p, p, |i, j| {
            let expected = if i == j { n as f64 } else { 0.0 };
            scale * (products[(i, j)] - expected)
        })
    };
    let matrices: Vec<Mat<f64>> = (0..PARTS).map(part).collect();
    let half = |parts: &[Mat<f64>]| {
        let mut mean = Mat::zeros(p, p);
        parts.iter().for_each(|matrix| mean += matrix);
        let mean = faer::Scale(1.0 / parts.len() as f64) * mean;
        parts.iter().map(|matrix| matrix - &mean).collect()
    };
    Family {
        witness: Witness::Variance,
        lags: Vec::new(),
        halves: [half(&matrices[..PARTS / 2]), half(&matrices[PARTS / 2..])],
        matrices,
    }
}
