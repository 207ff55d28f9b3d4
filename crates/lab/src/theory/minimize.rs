//! Minimisation to high accuracy in a few hundred variables: BFGS with the whole inverse Hessian
//! and a weak Wolfe search.
//!
//! The problems here are stiff (1/ν_y against 1), so a limited memory would forget what it needs;
//! the matrix of a small instance costs nothing.

use faer::{Col, Mat};

/// Armijo and curvature constants of the weak Wolfe conditions.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Rounding of J that the search takes for no increase.
const ROUNDING: f64 = 1e-14;
/// Trial points of one line search.
const TRIALS: usize = 60;

/// Where a minimisation ended.
pub(super) struct Minimum {
    pub point: Col<f64>,
    pub value: f64,
    /// max_i |∂f/∂x_i|.
    pub gradient: f64,
    pub iterations: usize,
}

/// Minimises f from `start` until no entry of its gradient exceeds `tolerance`, the search finds no
/// better point, or `most` iterations are done. `f` gives value and gradient.
pub(super) fn minimize(
    mut f: impl FnMut(&Col<f64>) -> (f64, Col<f64>),
    start: Col<f64>,
    tolerance: f64,
    most: usize,
) -> Minimum {
    let n = start.nrows();
    let mut x = start;
    let (mut value, mut gradient) = f(&x);
    let mut inverse = Mat::<f64>::identity(n, n);
    let mut fresh = true;
    let mut iterations = 0;
    while iterations < most && gradient.norm_max() > tolerance {
        iterations += 1;
        let direction = -(&inverse * &gradient);
        let descent = inner(&direction, &gradient);
        let found = if descent < 0.0 {
            search(&mut f, &x, value, &direction, descent)
        } else {
            None
        };
        let Some((step, new_value, new_gradient)) = found else {
            if fresh {
                break;
            }
            (inverse, fresh) = (Mat::identity(n, n), true);
            continue;
        };
        let s = faer::Scale(step) * &direction;
        let y = &new_gradient - &gradient;
        x += &s;
        (value, gradient) = (new_value, new_gradient);
        let curvature = inner(&s, &y);
        if curvature > 0.0 {
            if fresh {
                // The first step tells how large the inverse Hessian is.
                inverse *= faer::Scale(curvature / inner(&y, &y));
                fresh = false;
            }
            update(&mut inverse, &s, &y, curvature);
        }
    }
    Minimum {
        point: x,
        value,
        gradient: gradient.norm_max(),
        iterations,
    }
}

/// H ← (I − s·yᵀ/⟨s,y⟩)·H·(I − y·sᵀ/⟨s,y⟩) + s·sᵀ/⟨s,y⟩.
fn update(inverse: &mut Mat<f64>, s: &Col<f64>, y: &Col<f64>, curvature: f64) {
    let hy = &*inverse * y;
    let factor = (1.0 + inner(y, &hy) / curvature) / curvature;
    for j in 0..inverse.ncols() {
        for i in 0..inverse.nrows() {
            inverse[(i, j)] += factor * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / curvature;
        }
    }
}

/// A step along `direction` that satisfies the weak Wolfe conditions, by bisection and doubling (A.
/// S. Lewis and M. L. Overton, *Nonsmooth optimization via quasi-Newton methods*, Mathematical
/// Programming 141, 2013).
fn search(
    f: &mut impl FnMut(&Col<f64>) -> (f64, Col<f64>),
    x: &Col<f64>,
    value: f64,
    direction: &Col<f64>,
    descent: f64,
) -> Option<(f64, f64, Col<f64>)> {
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..TRIALS {
        let point = x + faer::Scale(step) * direction;
        let (trial, gradient) = f(&point);
        let allowed = value + DECREASE * step * descent + ROUNDING * value.abs();
        if trial.is_nan() || trial > allowed {
            high = step;
        } else if inner(&gradient, direction) < CURVATURE * descent {
            low = step;
        } else {
            return Some((step, trial, gradient));
        }
        step = if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * step
        };
    }
    None
}

fn inner(a: &Col<f64>, b: &Col<f64>) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stiff_valley_is_followed_to_its_end() {
        // Rosenbrock's function with a valley a hundred times as steep as usual.
        let f = |x: &Col<f64>| {
            let (a, b) = (x[0], x[1]);
            let bend = b - a * a;
            let value = (1.0 - a) * (1.0 - a) + 1e4 * bend * bend;
            let d = [-2.0 * (1.0 - a) - 4e4 * a * bend, 2e4 * bend];
            (value, Col::from_fn(2, |i| d[i]))
        };
        let found = minimize(f, Col::from_fn(2, |i| [-1.2, 1.0][i]), 1e-9, 1000);
        assert!(
            found.gradient <= 1e-9 && found.iterations < 300,
            "{} {}",
            found.gradient,
            found.iterations
        );
        assert!((found.point[0] - 1.0).abs() < 1e-8 && found.value < 1e-16);
    }
}
