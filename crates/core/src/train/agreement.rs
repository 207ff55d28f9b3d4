//! Whether two restarts have found the same sources.
//!
//! In: the sources of both. Out: the |correlation| of the pair that has least in common, when each
//! source of the one is paired with its likeness in the other. An end that was reached twice is no
//! accident; of one that was reached once, J alone has to say whether it is better than another, and
//! J has been learned by heart to some part.

use faer::{Mat, MatRef};
use strt_signal::assignment;
use strt_signal::columns::col;

/// The least |correlation| of paired sources over the samples that neither misses.
pub(super) fn agreement(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    let k = a.ncols();
    let correlations = Mat::from_fn(k, k, |i, j| correlation(col(a, i), col(b, j)).abs());
    if correlations
        .col_iter()
        .any(|column| column.iter().any(|c| c.is_nan()))
    {
        return 0.0; // a source that does not vary, or is not finite, agrees with none
    }
    let pairs = assignment::minimal((-&correlations).as_ref());
    let paired = pairs.iter().enumerate().map(|(i, &j)| correlations[(i, j)]);
    paired.fold(1.0, f64::min)
}

/// Of the samples that neither misses.
pub(crate) fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let pairs = || {
        let both = x.iter().zip(y).map(|(x, y)| (*x, *y));
        both.filter(|(x, y)| !(x.is_nan() || y.is_nan()))
    };
    let n = pairs().count() as f64;
    let (sx, sy) = pairs().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mx, my) = (sx / n, sy / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs() {
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
        xy += (x - mx) * (y - my);
    }
    xy / (xx * yy).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three waves of different frequency, with a gap.
    fn waves() -> Mat<f64> {
        Mat::from_fn(400, 3, |t, k| match t {
            7 => f64::NAN,
            _ => (0.1 * (k + 1) as f64 * t as f64).sin(),
        })
    }

    #[test]
    fn order_sign_and_scale_do_not_matter() {
        let a = waves();
        let b = Mat::from_fn(400, 3, |t, k| -3.0 * a[(t, (k + 1) % 3)] + 1.0);
        assert!(agreement(a.as_ref(), b.as_ref()) > 1.0 - 1e-12);
    }

    #[test]
    fn one_pair_that_is_mixed_decides() {
        let a = waves();
        let (c, s) = (0.6f64.cos(), 0.6f64.sin());
        let b = Mat::from_fn(400, 3, |t, k| match k {
            0 => c * a[(t, 0)] + s * a[(t, 1)],
            1 => c * a[(t, 1)] - s * a[(t, 0)],
            _ => a[(t, 2)],
        });
        assert!((agreement(a.as_ref(), b.as_ref()) - c).abs() < 0.02);
    }

    #[test]
    fn what_is_not_finite_agrees_with_nothing() {
        let (a, mut b) = (waves(), waves());
        assert_eq!(agreement(a.as_ref(), Mat::zeros(400, 3).as_ref()), 0.0);
        b[(3, 1)] = f64::INFINITY;
        assert_eq!(agreement(a.as_ref(), b.as_ref()), 0.0);
    }
}
