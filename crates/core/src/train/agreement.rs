//! Whether two restarts have found the same sources.
//!
//! In: the sources of both. Out: the |correlation| of every source of the one with its likeness in
//! the other, when each is paired with one. An end that was reached twice is no accident; of one
//! that was reached once, J alone has to say whether it is better than another, and J has been
//! learned by heart to some part.

use faer::{Mat, MatRef};
use strt_signal::assignment;
use strt_signal::columns::col;

/// What two restarts have in common.
pub(super) struct Agreement {
    first: Vec<f64>,  // by source of the first
    second: Vec<f64>, // by source of the second
}

impl Agreement {
    /// |correlation| with its pair, by source of the first.
    pub fn of_first(self) -> Vec<f64> {
        self.first
    }

    /// |correlation| with its pair, by source of the second.
    pub fn of_second(self) -> Vec<f64> {
        self.second
    }
}

/// Pairs the sources of both, by |correlation| over the samples that neither misses.
pub(super) fn agreement(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Agreement {
    let k = a.ncols();
    let correlations = Mat::from_fn(k, k, |i, j| correlation(col(a, i), col(b, j)).abs());
    if correlations
        .col_iter()
        .any(|column| column.iter().any(|c| c.is_nan()))
    {
        // A source that does not vary, or is not finite, agrees with none, nor do those beside it.
        return Agreement {
            first: vec![0.0; k],
            second: vec![0.0; k],
        };
    }
    let pairs = assignment::minimal((-&correlations).as_ref());
    let first: Vec<f64> = (0..k).map(|i| correlations[(i, pairs[i])]).collect();
    let mut second = vec![0.0; k];
    pairs.iter().zip(&first).for_each(|(&j, c)| second[j] = *c);
    Agreement { first, second }
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
        let found = agreement(a.as_ref(), b.as_ref()).of_first();
        assert!(found.iter().all(|c| *c > 1.0 - 1e-12));
    }

    #[test]
    fn those_that_are_mixed_are_seen_wherever_they_stand() {
        let a = waves();
        let (c, s) = (0.6f64.cos(), 0.6f64.sin());
        let b = Mat::from_fn(400, 3, |t, k| match k {
            1 => c * a[(t, 0)] + s * a[(t, 1)],
            2 => c * a[(t, 1)] - s * a[(t, 0)],
            _ => a[(t, 2)],
        });
        let near = |found: Vec<f64>, expected: [f64; 3]| {
            let off = found.iter().zip(expected).map(|(x, y)| (x - y).abs());
            assert!(off.fold(0.0, f64::max) < 0.02, "{found:?}");
        };
        near(agreement(a.as_ref(), b.as_ref()).of_first(), [c, c, 1.0]);
        near(agreement(a.as_ref(), b.as_ref()).of_second(), [1.0, c, c]);
    }

    #[test]
    fn what_is_not_finite_agrees_with_nothing() {
        let (a, mut b) = (waves(), waves());
        let nothing = Mat::zeros(400, 3);
        assert_eq!(agreement(a.as_ref(), nothing.as_ref()).of_first(), [0.0; 3]);
        b[(3, 1)] = f64::INFINITY;
        assert_eq!(agreement(a.as_ref(), b.as_ref()).of_second(), [0.0; 3]);
    }
}
