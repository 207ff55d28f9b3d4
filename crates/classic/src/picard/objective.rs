//! The objective of Picard, its relative gradient and the approximate Hessian that preconditions
//! it.
//!
//! With Y = W·Z, signs ε_i = ±1 (super- or sub-Gaussian), g = tanh and means E over the samples:
//!
//! ```text
//! orthogonal: L = Σ_i ε_i·E[ln cosh y_i]                              W a rotation
//! free:       L = Σ_i E[ε_i·ln cosh y_i + ½y_i²] − ln |det W|
//! ```
//!
//! A relative step changes L by ⟨G, E⟩ + ½⟨E, HE⟩ + …. With ψ_i = ε_i·g (orthogonal) or ε_i·g + y
//! (free):
//!
//! ```text
//! orthogonal: G = ½(M − Mᵀ)    H̃: E_ij ↦ ½(κ_i + κ_j)·E_ij    κ_i = ε_i·E[g′(y_i) − g(y_i)·y_i]
//! free:       G = M − I        H̃: E_ij ↦ h_ij·E_ij + E_ji      h_ij = E[ψ′(y_i)·y_j²]
//! both:       M = E[ψ·yᵀ]
//! ```
//!
//! H̃ is what is left of H when sources are independent. Its eigenvalues are raised to a least
//! curvature, so that every direction descends.

use faer::Mat;
use faer::linalg::solvers::Solve;

use super::point::Point;
use crate::components::products;
use crate::quasi_newton::Preconditioner;

/// Moments of the current sources from which everything but the value follows.
pub(super) struct Derivatives {
    /// E[g(y_i)·y_j] (K×K).
    score: Mat<f64>,
    /// E[g′(y_i)] (K).
    slope: Vec<f64>,
    /// E[y_i²] (K).
    power: Vec<f64>,
    /// E[g′(y_i)·y_j²] and E[y_i·y_j] (K×K), which only the free objective needs.
    free: Option<(Mat<f64>, Mat<f64>)>,
}

/// Which objective: the constraint and the kind of every source.
pub(super) struct Objective {
    orthogonal: bool,
    /// ε (K).
    signs: Vec<f64>,
}

impl Objective {
    /// All sources super-Gaussian.
    pub fn new(k: usize, orthogonal: bool) -> Objective {
        Objective {
            orthogonal,
            signs: vec![1.0; k],
        }
    }

    /// The moments that this objective needs of a point.
    pub fn derivatives(&self, point: &Point) -> Derivatives {
        let (n, k) = point.y.shape();
        let mut slopes = point.g.clone();
        let slope = (0..k)
            .map(|i| {
                let column = slopes.col_as_slice_mut(i);
                column.iter_mut().for_each(|g| *g = 1.0 - *g * *g);
                column.iter().sum::<f64>() / n as f64
            })
            .collect();
        let free = (!self.orthogonal).then(|| {
            let mut squares = point.y.clone();
            (0..k).for_each(|i| {
                squares
                    .col_as_slice_mut(i)
                    .iter_mut()
                    .for_each(|y| *y *= *y)
            });
            (
                products(slopes.as_ref(), squares.as_ref(), n),
                products(point.y.as_ref(), point.y.as_ref(), n),
            )
        });
        Derivatives {
            score: products(point.g.as_ref(), point.y.as_ref(), n),
            slope,
            power: point.power.clone(),
            free,
        }
    }

    /// Takes each source for what it looks like; whether that changed anything.
    pub fn judge(&mut self, raw: &Derivatives) -> bool {
        let mut changed = false;
        for (i, sign) in self.signs.iter_mut().enumerate() {
            let criterion = raw.slope[i] * raw.power[i] - raw.score[(i, i)];
            let judged = if criterion < 0.0 { -1.0 } else { 1.0 };
            changed |= judged != *sign;
            *sign = judged;
        }
        changed
    }

    /// L.
    pub fn value(&self, point: &Point) -> f64 {
        let signs = self.signs.iter().zip(&point.ln_cosh);
        let sum: f64 = signs.map(|(sign, ln_cosh)| sign * ln_cosh).sum();
        if self.orthogonal {
            sum
        } else {
            sum + 0.5 * point.power.iter().sum::<f64>() - libm::log(point.w.determinant().abs())
        }
    }

    /// By what a relative step E multiplies W and the sources.
    pub fn turn(&self, e: &Mat<f64>) -> Mat<f64> {
        if self.orthogonal {
            cayley(e)
        } else {
            Mat::<f64>::identity(e.nrows(), e.nrows()) + e
        }
    }

    /// G (K×K).
    pub fn gradient(&self, raw: &Derivatives) -> Mat<f64> {
        let k = self.signs.len();
        let m = |i: usize, j: usize| {
            let quadratic = raw
                .free
                .as_ref()
                .map_or(0.0, |(_, covariance)| covariance[(i, j)]);
            self.signs[i] * raw.score[(i, j)] + quadratic
        };
        Mat::from_fn(k, k, |i, j| {
            if self.orthogonal {
                0.5 * (m(i, j) - m(j, i))
            } else {
                m(i, j) - f64::from(u8::from(i == j))
            }
        })
    }

    /// H̃ with eigenvalues of at least `least`.
    pub fn preconditioner(&self, raw: &Derivatives, least: f64) -> Preconditioner {
        let k = self.signs.len();
        let Some((slope_squares, covariance)) = &raw.free else {
            let curvature: Vec<f64> = (0..k)
                .map(|i| self.signs[i] * (raw.slope[i] - raw.score[(i, i)]))
                .collect();
            let h = Mat::from_fn(k, k, |i, j| {
                (0.5 * (curvature[i] + curvature[j])).max(least)
            });
            return Preconditioner::uncoupled(h);
        };
        let h = Mat::from_fn(k, k, |i, j| {
            self.signs[i] * slope_squares[(i, j)] + covariance[(j, j)]
        });
        Preconditioner::coupled(h, least)
    }
}

/// (I − E/2)⁻¹·(I + E/2): a rotation for skew-symmetric E, equal to exp(E) up to third order.
fn cayley(e: &Mat<f64>) -> Mat<f64> {
    let k = e.nrows();
    let half = |sign: f64| {
        Mat::from_fn(k, k, |i, j| {
            f64::from(u8::from(i == j)) + sign * 0.5 * e[(i, j)]
        })
    };
    half(-1.0).partial_piv_lu().solve(half(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn normal(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
    }

    /// Sources of both kinds, mixed a little, so that nothing vanishes by symmetry.
    fn sources() -> Mat<f64> {
        let raw = normal(400, 3, 1);
        let bent = Mat::from_fn(400, 3, |t, k| match k {
            0 => raw[(t, 0)].powi(3) / 3.0,
            1 => raw[(t, 1)].tanh() * 1.4,
            _ => raw[(t, 2)],
        });
        &bent
            * Mat::from_fn(3, 3, |i, j| {
                if i == j {
                    1.0
                } else {
                    0.2 * (i as f64 - 2.0 * j as f64)
                }
            })
    }

    /// The objective after a relative step from W = I.
    fn after(objective: &Objective, point: &Point, e: &Mat<f64>) -> f64 {
        objective.value(&point.turned(&objective.turn(e)))
    }

    #[test]
    fn gradient_is_the_derivative_of_the_value() {
        let point = Point::new(Mat::identity(3, 3), sources());
        for orthogonal in [false, true] {
            for extended in [false, true] {
                let mut objective = Objective::new(3, orthogonal);
                let raw = objective.derivatives(&point);
                if extended {
                    assert!(objective.judge(&raw), "one of the sources is sub-Gaussian");
                    assert_eq!(objective.signs[..2], [1.0, -1.0]);
                    assert!(!objective.judge(&raw));
                }
                let gradient = objective.gradient(&raw);
                for seed in 2..6 {
                    let noise = normal(3, 3, seed);
                    let e = if orthogonal {
                        &noise - noise.transpose()
                    } else {
                        noise
                    };
                    let h = 1e-5;
                    let (up, down) = (faer::Scale(h) * &e, faer::Scale(-h) * &e);
                    let numeric = (after(&objective, &point, &up)
                        - after(&objective, &point, &down))
                        / (2.0 * h);
                    let expected: f64 = (0..3)
                        .flat_map(|i| (0..3).map(move |j| (i, j)))
                        .map(|(i, j)| gradient[(i, j)] * e[(i, j)])
                        .sum();
                    assert!(
                        (numeric - expected).abs() < 1e-8 * (1.0 + expected.abs()),
                        "orthogonal {orthogonal}, extended {extended}: {numeric} against {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn preconditioner_is_the_hessian_of_independent_sources() {
        // All combinations of two source values: exactly independent in the sample.
        let flat = [-1.4, -1.0, -0.6, -0.2, 0.2, 0.6, 1.0, 1.4];
        let heavy = [-3.0, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 3.0];
        let product = Mat::from_fn(
            64,
            2,
            |t, k| if k == 0 { flat[t % 8] } else { heavy[t / 8] },
        );
        for orthogonal in [false, true] {
            let mut y = product.clone();
            let mut objective = Objective::new(2, orthogonal);
            let at_rest = |y: &Mat<f64>| Point::new(Mat::identity(2, 2), y.clone());
            let mut raw = objective.derivatives(&at_rest(&y));
            // The solution: variance 1, or the scale at which the free gradient vanishes.
            for _ in 0..200 {
                objective.judge(&raw);
                for k in 0..2 {
                    let target = if orthogonal {
                        0.0
                    } else {
                        objective.signs[k] * raw.score[(k, k)]
                    };
                    let factor = (raw.power[k] + target).sqrt().recip();
                    y.col_as_slice_mut(k).iter_mut().for_each(|v| *v *= factor);
                }
                raw = objective.derivatives(&at_rest(&y));
            }
            assert_eq!(objective.signs, [-1.0, 1.0]);
            assert!(objective.gradient(&raw).norm_max() < 1e-12);
            let preconditioner = objective.preconditioner(&raw, 1e-6);
            let e = if orthogonal {
                Mat::from_fn(2, 2, |i, j| j as f64 - i as f64)
            } else {
                Mat::from_fn(2, 2, |i, j| [[0.0, 0.7], [-0.4, 0.0]][i][j])
            };
            let step = 1e-4;
            let at = |size: f64| after(&objective, &at_rest(&y), &(faer::Scale(size) * &e));
            let numeric = (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step);
            let product = Mat::from_fn(2, 2, |i, j| {
                preconditioner.h[(i, j)] * e[(i, j)] + preconditioner.coupling * e[(j, i)]
            });
            let expected: f64 = (0..2)
                .flat_map(|i| (0..2).map(move |j| (i, j)))
                .map(|(i, j)| e[(i, j)] * product[(i, j)])
                .sum();
            assert!(
                (numeric - expected).abs() < 1e-5,
                "orthogonal {orthogonal}: {numeric} against {expected}"
            );
            let back = preconditioner.solve(&product);
            assert!((back - e).norm_max() < 1e-12);
        }
    }

    #[test]
    fn cayley_gives_rotations_near_the_exponential() {
        let e = Mat::from_fn(3, 3, |i, j| 0.02 * (i as f64 - j as f64));
        let turn = cayley(&e);
        assert!((turn.transpose() * &turn - Mat::<f64>::identity(3, 3)).norm_max() < 1e-15);
        let second_order = Mat::<f64>::identity(3, 3) + &e + faer::Scale(0.5) * (&e * &e);
        assert!((turn - second_order).norm_max() < 1e-4);
    }
}
