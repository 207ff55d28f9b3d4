//! Least squares with a penalty, and the evidence for them: small systems, solved over and over
//! without taking memory, which is why the Cholesky factor is written here.
//!
//! In: columns Φ, a target y, the penalty P and its factor λ. Out: the weights, what they leave of y,
//! and the logarithm of the probability of y under a Gaussian process with these columns.

use std::f64::consts::TAU;

/// min_w |y − Φw|² + λ·wᵀPw, with the memory that it needs; matrices by rows, lower halves.
#[derive(Clone, Debug, Default)]
pub(super) struct Ridge {
    /// How many weights.
    pub size: usize,
    /// P, of which the lower half counts.
    pub prior: Vec<f64>,
    gram: Vec<f64>,    // Φᵀ·Φ
    product: Vec<f64>, // Φᵀ·y
    factor: Vec<f64>,
    /// w.
    pub solved: Vec<f64>,
}

impl Ridge {
    /// For so many weights.
    pub fn resize(&mut self, size: usize) {
        self.size = size;
        for matrix in [&mut self.prior, &mut self.gram, &mut self.factor] {
            matrix.resize(size * size, 0.0);
        }
        self.product.resize(size, 0.0);
        self.solved.resize(size, 0.0);
    }

    /// P = I.
    pub fn set_prior_to_identity(&mut self) {
        self.prior.fill(0.0);
        (0..self.size).for_each(|i| self.prior[i * (self.size + 1)] = 1.0);
    }

    /// Takes Φ, one column after the other, and y.
    pub fn sum(&mut self, features: &[f64], y: &[f64]) {
        let n = y.len();
        let column = |i: usize| &features[i * n..][..n];
        for i in 0..self.size {
            for j in 0..=i {
                self.gram[i * self.size + j] = dot(column(i), column(j));
            }
            self.product[i] = dot(column(i), y);
        }
    }

    /// Takes the columns of another from `first` on.
    pub fn part_of(&mut self, other: &Ridge, first: usize) {
        for i in 0..self.size {
            let row = &other.gram[(first + i) * other.size + first..][..=i];
            self.gram[i * self.size..][..=i].copy_from_slice(row);
            self.product[i] = other.product[first + i];
        }
    }

    /// Finds w. `None` where Φᵀ·Φ + λ·P is not positive definite.
    pub fn solve(&mut self, noise: f64) -> Option<()> {
        let both = self.gram.iter().zip(&self.prior);
        let total = self.factor.iter_mut().zip(both);
        total.for_each(|(slot, (gram, prior))| *slot = gram + noise * prior);
        factorize(&mut self.factor, self.size)?;
        self.solved.copy_from_slice(&self.product);
        let (n, l, x) = (self.size, &self.factor, &mut self.solved);
        for i in 0..n {
            let known = dot(&l[i * n..][..i], &x[..i]);
            x[i] = (x[i] - known) / l[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] /= l[i * n + i];
            let found = x[i];
            for j in 0..i {
                x[j] -= l[i * n + j] * found;
            }
        }
        Some(())
    }

    /// |y|² less the minimum.
    pub fn explained(&self) -> f64 {
        dot(&self.product, &self.solved)
    }

    /// The minimum over n, with y − Φw in place of y.
    pub fn error(&self, features: &[f64], y: &mut [f64], noise: f64) -> f64 {
        let n = y.len();
        for (column, w) in features.chunks_exact(n).zip(&self.solved) {
            y.iter_mut().zip(column).for_each(|(y, x)| *y -= w * x);
        }
        let mut penalty = 0.0;
        for (i, w) in self.solved.iter().enumerate() {
            let row = &self.prior[i * self.size..][..=i];
            penalty += w * (2.0 * dot(&row[..i], &self.solved[..i]) + row[i] * w);
        }
        (dot(y, y) + noise * penalty) / n as f64
    }

    /// Logarithm of the probability of n samples of which so much is unexplained on average, with
    /// the scale that makes it largest.
    pub fn evidence(&mut self, n: usize, unexplained: f64, noise: f64) -> Option<f64> {
        let log_total = log_determinant(&self.factor, self.size);
        self.factor.copy_from_slice(&self.prior);
        factorize(&mut self.factor, self.size)?;
        let log_prior = log_determinant(&self.factor, self.size);
        let (n, m) = (n as f64, self.size as f64);
        let log_determinant = log_total - log_prior + (n - m) * noise.ln();
        let scale = (unexplained / noise).max(f64::MIN_POSITIVE);
        let evidence = -0.5 * (n * (TAU * scale).ln() + n + log_determinant);
        evidence.is_finite().then_some(evidence)
    }
}

/// The Cholesky factor in place of the lower half of a matrix; `None` where it has none.
fn factorize(matrix: &mut [f64], n: usize) -> Option<()> {
    for i in 0..n {
        for j in 0..=i {
            let (before, row) = matrix.split_at_mut(i * n);
            let known = if i == j {
                dot(&row[..j], &row[..j])
            } else {
                dot(&row[..j], &before[j * n..][..j])
            };
            let rest = row[j] - known;
            row[j] = if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / before[j * n + j]
            };
        }
    }
    Some(())
}

fn log_determinant(factor: &[f64], n: usize) -> f64 {
    (0..n).map(|i| 2.0 * factor[i * n + i].ln()).sum()
}

/// In eight sums, which a processor makes at once.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (mut xs, mut ys) = (x.chunks_exact(8), y.chunks_exact(8));
    for (x, y) in (&mut xs).zip(&mut ys) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest = xs.remainder().iter().zip(ys.remainder());
    sums.iter().sum::<f64>() + rest.map(|(x, y)| x * y).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three columns of twelve samples, and P of full rank.
    fn problem() -> (Ridge, Vec<f64>, Vec<f64>) {
        let features: Vec<f64> = (0..36).map(|i| (0.7 * i as f64).sin()).collect();
        let y: Vec<f64> = (0..12).map(|i| (0.4 * i as f64).cos()).collect();
        let mut ridge = Ridge::default();
        ridge.resize(3);
        ridge.prior = vec![1.0, 0.0, 0.0, 0.3, 1.0, 0.0, 0.1, 0.2, 1.0];
        ridge.sum(&features, &y);
        (ridge, features, y)
    }

    #[test]
    fn weights_minimise_the_error() {
        let (mut ridge, features, y) = problem();
        ridge.solve(0.2).unwrap();
        let error = |ridge: &Ridge| ridge.error(&features, &mut y.clone(), 0.2);
        let least = error(&ridge);
        let total: f64 = y.iter().map(|y| y * y).sum();
        assert!((12.0 * least - (total - ridge.explained())).abs() < 1e-12);
        for i in 0..3 {
            for step in [1e-3, -1e-3] {
                let mut moved = ridge.clone();
                moved.solved[i] += step;
                assert!(error(&moved) > least);
            }
        }
    }

    /// ln N(y; 0, s²·(ΦP⁻¹Φᵀ + λI)) of one column, with the best s².
    #[test]
    fn evidence_is_that_of_the_gaussian() {
        let (x, y, noise) = ([1.0, -0.5, 2.0], [0.3, 0.1, 0.9], 0.5);
        let mut ridge = Ridge::default();
        ridge.resize(1);
        ridge.set_prior_to_identity();
        ridge.sum(&x, &y);
        ridge.solve(noise).unwrap();
        let (xx, xy, yy) = (dot(&x, &x), dot(&x, &y), dot(&y, &y));
        // By the formulas of Sylvester and of Sherman and Morrison.
        let log_det = 3.0 * noise.ln() + (xx / noise).ln_1p();
        let scale = (yy - xy * xy / (noise + xx)) / noise / 3.0;
        let expected = -0.5 * (3.0 * (TAU * scale).ln() + 3.0 + log_det);
        let unexplained = (yy - ridge.explained()) / 3.0;
        let found = ridge.evidence(3, unexplained, noise).unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
    }

    #[test]
    fn what_is_not_positive_definite_has_no_weights() {
        let (mut ridge, ..) = problem();
        assert!(ridge.solve(-100.0).is_none());
    }
}
