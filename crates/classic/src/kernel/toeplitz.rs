//! ln det of a symmetric positive definite Toeplitz matrix, with its gradient, in O(W²).
//!
//! In: its first column c (c_0, …, c_{W−1}). Levinson's recursion gives the predictor a of order
//! W − 1 and the variances E_p of all lower orders, and ln det = Σ_p ln E_p. ∂ ln det/∂c_l is the
//! sum of the diagonals ±l of the inverse, which the formula of Gohberg and Semencul writes in a:
//!
//! ```text
//! s_l = 1/E_{W−1} · Σ_j (W − l − 2j)·a_j·a_{j+l}        ∂/∂c_0 = s_0,  ∂/∂c_l = 2·s_l
//! ```
//!
//! N. Levinson 1946, J. Durbin 1960; I. Gohberg and A. Semencul 1972.

/// A variance E_p below this share of c_0 counts as none: the matrix is not positive definite
/// beyond order p, and is taken as that of the predictor found so far.
const LEAST_SHARE: f64 = 1e-12;

/// The recursion, with its memory.
#[derive(Clone, Debug)]
pub(super) struct Levinson {
    a: Vec<f64>,
    before: Vec<f64>,
}

impl Levinson {
    pub fn new(window: usize) -> Levinson {
        Levinson {
            a: vec![0.0; window],
            before: vec![0.0; window],
        }
    }

    /// Hands E_p and the predictor of every order p to `each` and returns E_p of the last.
    fn recurse(&mut self, c: &[f64], mut each: impl FnMut(usize, f64, &[f64])) -> f64 {
        let Levinson { a, before } = self;
        a.fill(0.0);
        a[0] = 1.0;
        let mut error = c[0];
        each(0, error, &a[..1]);
        let least = LEAST_SHARE * c[0];
        let mut ended = error <= least;
        for p in 1..c.len() {
            if !ended {
                before[..p].copy_from_slice(&a[..p]);
                let ahead: f64 = (0..p).map(|i| before[i] * c[p - i]).sum();
                let reflection = -ahead / error;
                let next = error * (1.0 - reflection * reflection);
                ended = next.is_nan() || next <= least;
                if !ended {
                    for i in 1..=p {
                        a[i] += reflection * before[p - i];
                    }
                    error = next;
                }
            }
            each(p, error, &a[..=p]);
        }
        error
    }

    /// ln det, and its gradient in c in place of `d`.
    pub fn log_det(&mut self, c: &[f64], d: &mut [f64]) -> f64 {
        let window = c.len();
        // The product of E_p in place of the sum of logarithms: one logarithm for a few orders.
        let (mut value, mut product) = (0.0, 1.0);
        let error = self.recurse(c, |p, error, _| {
            product *= error;
            if p % 8 == 7 {
                value += f64::ln(product);
                product = 1.0;
            }
        });
        value += product.ln();
        let a = &self.a;
        for (l, d) in d.iter_mut().enumerate() {
            let n = window - l;
            let mut sum = 0.0;
            for j in 0..n {
                sum += (n as f64 - 2.0 * j as f64) * a[j] * a[j + l];
            }
            *d = if l == 0 { sum } else { 2.0 * sum } / error;
        }
        value
    }

    /// The predictor a of order W − 1 for a column of W ≥ 1 numbers, beginning with 1.
    pub fn predictor(&mut self, c: &[f64]) -> &[f64] {
        self.recurse(c, |_, _, _| {});
        &self.a[..c.len()]
    }

    /// E_p for every order p.
    pub fn errors(&mut self, c: &[f64], errors: &mut [f64]) {
        self.recurse(c, |p, error, _| errors[p] = error);
    }

    /// Solves T·x = g for the matrix T with the column c, in place of `x`.
    pub fn solve(&mut self, c: &[f64], g: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        self.recurse(c, |p, error, a| {
            // T of order p times the reversed predictor is E_p in its last entry and 0 elsewhere.
            let found: f64 = (0..p).map(|i| c[p - i] * x[i]).sum();
            let factor = (g[p] - found) / error;
            for (x, a) in x[..=p].iter_mut().zip(a.iter().rev()) {
                *x += factor * a;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// c of a process with two resonances and noise.
    fn column(window: usize) -> Vec<f64> {
        (0..window)
            .map(|l| {
                let l = l as f64;
                let noise = if l == 0.0 { 0.05 } else { 0.0 };
                0.6 * 0.95f64.powf(l) * (0.3 * l).cos() + 0.4 * 0.8f64.powf(l) + noise
            })
            .collect()
    }

    #[test]
    fn log_det_is_that_of_the_matrix() {
        for window in [1, 2, 5, 8, 9, 32] {
            let c = column(window);
            let matrix = Mat::from_fn(window, window, |i, j| c[i.abs_diff(j)]);
            let (mut d, mut errors) = (vec![0.0; window], vec![0.0; window]);
            let mut levinson = Levinson::new(window);
            let found = levinson.log_det(&c, &mut d);
            let expected = matrix.determinant().ln();
            assert!(
                (found - expected).abs() < 1e-9,
                "{window}: {found} {expected}"
            );
            let g: Vec<f64> = (0..window).map(|i| (i as f64 * 0.7).cos()).collect();
            let mut x = vec![1.0; window];
            levinson.solve(&c, &g, &mut x);
            let product = &matrix * Mat::from_fn(window, 1, |i, _| x[i]);
            assert!((0..window).all(|i| (product[(i, 0)] - g[i]).abs() < 1e-9));
            levinson.errors(&c, &mut errors);
            let sum: f64 = errors.iter().map(|error| error.ln()).sum();
            assert!((sum - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn gradient_is_that_of_finite_differences() {
        for window in [1, 2, 7, 32] {
            let c = column(window);
            let mut d = vec![0.0; window];
            let mut unused = vec![0.0; window];
            let mut levinson = Levinson::new(window);
            levinson.log_det(&c, &mut d);
            for l in 0..window {
                let mut at = |step: f64| {
                    let mut c = c.clone();
                    c[l] += step;
                    levinson.log_det(&c, &mut unused)
                };
                let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (numeric - d[l]).abs() < 1e-6 * (1.0 + d[l].abs()),
                    "W {window}, l {l}: {numeric} against {}",
                    d[l]
                );
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_cut_and_stays_finite() {
        let mut d = vec![0.0; 4];
        let value = Levinson::new(4).log_det(&[1.0, 0.9, -0.9, 0.3], &mut d);
        assert!(value.is_finite() && d.iter().all(|d| d.is_finite()));
    }
}
