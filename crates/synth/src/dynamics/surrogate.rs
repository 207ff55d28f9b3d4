//! Surrogates: series with the spectrum and the marginal of another, and random phases.
//!
//! In: a series and a random stream. Out: the same values in another order, whose periodogram is
//! nearly that of the series. Iterated amplitude adjustment, T. Schreiber and A. Schmitz, *Improved
//! surrogate data for nonlinearity tests* (1996): beginning with white noise, give every frequency
//! the amplitude of the series and leave its phase, then give every sample the value of the series
//! that has its rank, and repeat. What is left of the series is what a linear Gaussian process seen
//! through a monotone function has.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::fourier::Transform;
use super::scores::remapped;

/// Rounds; a Gaussian marginal is nearly right after the first.
const ROUNDS: usize = 30;

/// A surrogate of `series`.
pub(super) fn surrogate(series: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let n = series.len();
    let transform = Transform::new(n);
    let mut ascending = series.to_vec();
    ascending.sort_by(f64::total_cmp);
    let (mut re, mut im) = (series.to_vec(), vec![0.0; n]);
    transform.forward(&mut re, &mut im);
    let amplitudes: Vec<f64> = re.iter().zip(&im).map(|(a, b)| length(*a, *b)).collect();
    let mut values: Vec<f64> = (0..n).map(|_| StandardNormal.sample(rng)).collect();
    for _ in 0..ROUNDS {
        re.copy_from_slice(&values);
        im.fill(0.0);
        transform.forward(&mut re, &mut im);
        for (k, amplitude) in amplitudes.iter().enumerate() {
            let size = length(re[k], im[k]);
            // A frequency that is absent has no phase; 0 is as good as any.
            let (cos, sin) = if size > 0.0 {
                (re[k] / size, im[k] / size)
            } else {
                (1.0, 0.0)
            };
            (re[k], im[k]) = (amplitude * cos, amplitude * sin);
        }
        transform.inverse(&mut re, &mut im);
        let next = remapped(&re, &ascending);
        if next == values {
            break;
        }
        values = next;
    }
    values
}

fn length(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}
