//! What L-BFGS remembers: the last steps and how the gradient changed along them.
//!
//! The direction −H·G is computed by the two-loop recursion of J. Nocedal, *Updating quasi-Newton
//! matrices with limited storage*, Mathematics of Computation 35, 1980, with a given operator in
//! place of the initial inverse Hessian.

use faer::Mat;
use std::collections::VecDeque;

/// Pairs of step s and gradient change y, oldest first.
pub(crate) struct Memory {
    size: usize,
    pairs: VecDeque<Pair>,
}

struct Pair {
    step: Mat<f64>,
    change: Mat<f64>,
    /// 1/⟨s, y⟩.
    weight: f64,
}

impl Memory {
    pub fn new(size: usize) -> Memory {
        Memory {
            size,
            pairs: VecDeque::new(),
        }
    }

    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Remembers a step. One along which the gradient fell tells nothing that keeps the Hessian
    /// positive: left out.
    pub fn push(&mut self, step: Mat<f64>, change: Mat<f64>) {
        let curvature = inner(&step, &change);
        if self.size == 0 || curvature.is_nan() || curvature <= 0.0 {
            return;
        }
        if self.pairs.len() == self.size {
            self.pairs.pop_front();
        }
        self.pairs.push_back(Pair {
            step,
            change,
            weight: 1.0 / curvature,
        });
    }

    /// −H·G, where H starts from the inverse Hessian `initial`.
    pub fn direction(
        &self,
        gradient: &Mat<f64>,
        initial: impl Fn(&Mat<f64>) -> Mat<f64>,
    ) -> Mat<f64> {
        let mut q = gradient.clone();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = pair.weight * inner(&pair.step, &q);
            q -= faer::Scale(share) * &pair.change;
            shares.push(share);
        }
        let mut r = initial(&q);
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let back = pair.weight * inner(&pair.change, &r);
            r += faer::Scale(share - back) * &pair.step;
        }
        -r
    }
}

/// Σ_ij a_ij·b_ij.
fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.ncols())
        .map(|j| {
            a.col_as_slice(j)
                .iter()
                .zip(b.col_as_slice(j))
                .map(|(a, b)| a * b)
                .sum::<f64>()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_is_that_of_the_explicit_inverse_hessian() {
        let mut memory = Memory::new(2);
        let matrix = |a: f64| Mat::from_fn(2, 2, |i, j| (a * (1 + i + 3 * j) as f64).sin());
        for n in 1..4 {
            let step = matrix(n as f64);
            let change = Mat::from_fn(2, 2, |i, j| step[(i, j)] * (1.0 + (i + 2 * j) as f64));
            memory.push(step, change);
        }
        assert_eq!(memory.pairs.len(), 2);
        // H ← (I − s·yᵀ/⟨s,y⟩)·H·(I − y·sᵀ/⟨s,y⟩) + s·sᵀ/⟨s,y⟩, on vectors of four entries.
        let vector = |m: &Mat<f64>| Mat::from_fn(4, 1, |i, _| m[(i % 2, i / 2)]);
        let mut inverse = faer::Scale(0.5) * Mat::<f64>::identity(4, 4);
        for pair in &memory.pairs {
            let (s, y) = (vector(&pair.step), vector(&pair.change));
            let left = Mat::<f64>::identity(4, 4) - faer::Scale(pair.weight) * (&s * y.transpose());
            inverse = &left * inverse * left.transpose()
                + faer::Scale(pair.weight) * (&s * s.transpose());
        }
        let gradient = matrix(5.0);
        let found = memory.direction(&gradient, |g| faer::Scale(0.5) * g);
        assert!((vector(&found) + inverse * vector(&gradient)).norm_max() < 1e-12);
        // Without memory only the initial operator is left, as after a step without curvature.
        memory.clear();
        memory.push(matrix(1.0), -matrix(1.0));
        assert_eq!(memory.direction(&matrix(2.0), |g| g.clone()), -matrix(2.0));
    }
}
