//! Lagged covariances of which many lags are used together: tapered, so that they are those of one
//! process.
//!
//! The best weights of narrow-band sources are large where covariances at different lags nearly
//! cancel. Plain means of lagged products, each over pairs of its own, do not cancel at the two
//! ends of the recording, and that error then outweighs all others. With a window w that falls to 0
//! at both ends (half a cosine over a share of the samples),
//!
//! ```text
//! R_l = ½(C_l + C_lᵀ)/Σ_t w_t²,   C_l = Σ_t x_t·x_{t+l}ᵀ,   x_t = w_t·(z_t − z̄)
//! ```
//!
//! over all pairs, z̄ the mean under w. These are the autocovariances of x with zeros around it. In
//! a recording of several pieces w falls at the ends of each, and a pair lies in one. Pairs with a
//! missing sample are left out, and C_l is scaled up for them, by the w_t·w_{t+l} that they leave
//! out.

use faer::{Mat, MatRef};

use crate::components::{Components, lagged_products};
use crate::error::Result;

/// R_0, …, R_L with the share `taper` of the samples at each end in the falling parts of w.
///
/// # Errors
/// When a lag has no more pairs of complete samples than there are components.
pub(super) fn tapered(
    components: &Components<'_>,
    longest: usize,
    taper: f64,
) -> Result<Vec<Mat<f64>>> {
    let (n, k) = (components.n_samples(), components.n_components());
    let of_pieces = components.rows().pieces();
    let window: Vec<f64> = of_pieces
        .flat_map(|piece| window(piece.len(), taper))
        .collect();
    // 0 where the sample is missing.
    let kept: Vec<f64> = (0..n)
        .map(|t| {
            if components.is_missing(t) {
                0.0
            } else {
                window[t]
            }
        })
        .collect();
    let z = components.whitened();
    let total: f64 = kept.iter().sum();
    let means: Vec<f64> = (0..k)
        .map(|j| (0..n).map(|t| kept[t] * z[(t, j)]).sum::<f64>() / total)
        .collect();
    let x = Mat::from_fn(n, k, |t, j| kept[t] * (z[(t, j)] - means[j]));
    (0..=longest)
        .map(|lag| covariance(components, x.as_ref(), (&window, &kept), lag))
        .collect()
}

fn covariance(
    components: &Components<'_>,
    x: MatRef<'_, f64>,
    (window, kept): (&[f64], &[f64]),
    lag: usize,
) -> Result<Mat<f64>> {
    let k = x.ncols();
    components.pairs(lag)?;
    let pieces = components.rows().pieces();
    let at_lag = |w: &[f64], lag: usize| -> f64 {
        let long_enough = pieces.clone().filter(|piece| piece.len() > lag);
        let products = long_enough.flat_map(|piece| {
            let w = &w[piece];
            w.iter().zip(&w[lag..]).map(|(early, late)| early * late)
        });
        products.sum()
    };
    let there = at_lag(kept, lag) / at_lag(window, lag) * at_lag(window, 0);
    let mut sum = Mat::zeros(k, k);
    lagged_products(x, pieces.clone(), lag, 1.0, &mut sum);
    Ok(Mat::from_fn(k, k, |i, j| {
        0.5 * (sum[(i, j)] + sum[(j, i)]) / there
    }))
}

/// w: 1 but for the share `taper` of the samples at each end, where it is half a cosine.
fn window(n: usize, taper: f64) -> Vec<f64> {
    let falling = (taper * n as f64).round() as usize;
    (0..n)
        .map(|t| {
            let from_end = t.min(n - 1 - t);
            if from_end >= falling {
                return 1.0;
            }
            let share = (from_end as f64 + 0.5) / falling as f64;
            0.5 - 0.5 * libm::cos(std::f64::consts::PI * share)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sines of variance 1, whole periods.
    fn sines(n: usize) -> Mat<f64> {
        Mat::from_fn(n, 2, |t, k| {
            let cycles = if k == 0 { 10.0 } else { 25.0 };
            2f64.sqrt() * (std::f64::consts::TAU * cycles * t as f64 / n as f64).sin()
        })
    }

    #[test]
    fn a_window_falls_at_both_ends() {
        let w = window(100, 0.1);
        assert!(w[0] < 0.01 && w[99] == w[0] && w[9] > 0.9 && w[10] == 1.0 && w[89] == 1.0);
        assert!(window(7, 0.0).iter().all(|&w| w == 1.0));
    }

    #[test]
    fn without_a_taper_they_are_sums_of_lagged_products() {
        let z = sines(400);
        let components = Components::new(z.as_ref(), None).unwrap();
        let found = tapered(&components, 3, 0.0).unwrap();
        for (lag, found) in found.iter().enumerate() {
            let sum: f64 = (0..400 - lag).map(|t| z[(t, 0)] * z[(t + lag, 0)]).sum();
            assert!((found[(0, 0)] - sum / 400.0).abs() < 1e-12, "lag {lag}");
            assert!((found[(0, 1)] - found[(1, 0)]).abs() < 1e-15);
        }
    }

    #[test]
    fn gaps_change_little_and_take_no_part() {
        let n = 4000;
        let mut z = sines(n);
        let whole = tapered(&Components::new(z.as_ref(), None).unwrap(), 5, 0.05).unwrap();
        // Every fourth period of the slower sine is missing, both ends of which are 0.
        let gone: Vec<bool> = (0..n).map(|t| (t / 400) % 4 == 1).collect();
        for t in (0..n).filter(|&t| gone[t]) {
            (z[(t, 0)], z[(t, 1)]) = (0.0, 0.0);
        }
        let components = Components::new(z.as_ref(), Some(&gone)).unwrap();
        let gappy = tapered(&components, 5, 0.05).unwrap();
        for (lag, (whole, gappy)) in whole.iter().zip(&gappy).enumerate() {
            assert!(
                (whole - gappy).norm_max() < 0.02,
                "lag {lag}: {whole:?} against {gappy:?}"
            );
        }
    }
}
