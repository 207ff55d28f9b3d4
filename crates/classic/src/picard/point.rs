//! A point of the search: an unmixing, its sources and what one pass over them gives.
//!
//! With e = exp(−2|y|), tanh y = ±(1 − e)/(1 + e) and ln cosh y = |y| + ln(1 + e) − ln 2, so a
//! sample costs one exponential; logarithms are taken of products of many 1 + e.

use faer::Mat;

use strt_signal::elementary::tanh_and_decay;

/// Samples whose 1 + e are multiplied before a logarithm is taken: below 2²⁵⁶.
const PRODUCT: usize = 256;

/// Where the search stands.
pub(super) struct Point {
    /// W (K×K).
    pub w: Mat<f64>,
    /// Y = Z·Wᵀ (n×K).
    pub y: Mat<f64>,
    /// tanh of Y (n×K).
    pub g: Mat<f64>,
    /// E[ln cosh y_i] (K).
    pub ln_cosh: Vec<f64>,
    /// E[y_i²] (K).
    pub power: Vec<f64>,
}

impl Point {
    pub fn new(w: Mat<f64>, y: Mat<f64>) -> Point {
        let (n, k) = y.shape();
        let mut g = Mat::zeros(n, k);
        let columns = |i: usize| y.col_as_slice(i);
        let ln_cosh = (0..k)
            .map(|i| ln_cosh_sum(columns(i), g.col_as_slice_mut(i)) / n as f64)
            .collect();
        let power = (0..k)
            .map(|i| columns(i).iter().map(|y| y * y).sum::<f64>() / n as f64)
            .collect();
        Point {
            w,
            y,
            g,
            ln_cosh,
            power,
        }
    }

    /// The point that a relative step multiplies with `turn`.
    pub fn turned(&self, turn: &Mat<f64>) -> Point {
        Point::new(turn * &self.w, &self.y * turn.transpose())
    }
}

/// Σ_t ln cosh y_t; leaves tanh y_t in `tanh`.
fn ln_cosh_sum(y: &[f64], tanh: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    let mut decays = [0.0; PRODUCT];
    for (y, tanh) in y.chunks(PRODUCT).zip(tanh.chunks_mut(PRODUCT)) {
        for ((y, tanh), decay) in y.iter().zip(tanh.iter_mut()).zip(&mut decays) {
            (*tanh, *decay) = tanh_and_decay(*y);
        }
        let product: f64 = decays[..y.len()].iter().map(|decay| 1.0 + decay).product();
        sum += y.iter().map(|y| y.abs()).sum::<f64>() + libm::log(product);
    }
    sum - y.len() as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pass_gives_tanh_and_ln_cosh() {
        let y: Vec<f64> = (0..1000)
            .map(|t| 3.0 * (t as f64 * 0.37).sin().powi(3))
            .collect();
        let point = Point::new(Mat::identity(1, 1), Mat::from_fn(1000, 1, |t, _| y[t]));
        assert!((0..1000).all(|t| (point.g[(t, 0)] - y[t].tanh()).abs() < 1e-15));
        let expected = y.iter().map(|y| y.cosh().ln()).sum::<f64>() / 1000.0;
        assert!((point.ln_cosh[0] - expected).abs() < 1e-14);
        let power = y.iter().map(|y| y * y).sum::<f64>() / 1000.0;
        assert!((point.power[0] - power).abs() < 1e-14);
    }

    #[test]
    fn far_out_and_at_zero_nothing_overflows() {
        let values = [0.0, 1000.0, -1000.0];
        let point = Point::new(Mat::identity(3, 3), Mat::from_fn(2, 3, |_, k| values[k]));
        assert!(point.ln_cosh[0].abs() < 1e-15);
        assert!((point.ln_cosh[2] - (1000.0 - 2f64.ln())).abs() < 1e-12);
        assert_eq!(
            (point.g[(0, 0)], point.g[(1, 1)], point.g[(0, 2)]),
            (0.0, 1.0, -1.0)
        );
    }
}
