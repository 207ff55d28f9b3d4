//! Whether two sources are the sum and the difference of two that have the same power in every
//! single frequency, as surrogates of one series have.
//!
//! With the transforms A and B of both sources and N = |A|² + |B|², a frequency is a point on a
//! sphere:
//!
//! ```text
//! d = (|A|² − |B|²)/N        c = 2·Re(A·B*)/N        e = 2·Im(A·B*)/N        d² + c² + e² = 1
//! ```
//!
//! Turning the pair by θ turns d and c into each other by 2θ and leaves e. Sources that have nothing
//! in common have phases that have nothing in common, so that c and e are equally large whatever
//! their spectra are. Surrogates have d = 0; of their sum and difference that holds for c, and
//! spectra, which look at d alone, see a difference that two Gaussian sources of one spectrum have
//! only half by chance. In standard deviations of what chance does with n frequencies,
//!
//! ```text
//! z = Σ (c² − e²) / √( ½·Σ (c² + e²)² )
//! ```
//!
//! A jump between the ends of a recording leaks with equal phases into both, which makes z larger,
//! not smaller.

use super::judged::Judged;
use super::spectra::STRETCH;
use realfft::RealFftPlanner;
use strt_signal::columns::col;

/// Standard deviations below which phases are not those of sources that have nothing in common.
const LOCKED: f64 = -3.0;
/// The share of the power of which frequencies are asked, the strongest first: the rest is noise.
const SHARE: f64 = 0.99;

/// Whether the pair is such a sum and difference.
pub(super) fn locked(judged: &Judged, (i, j): (usize, usize)) -> bool {
    deviations(judged, (i, j)) < LOCKED
}

/// z, over all pieces of the recording.
fn deviations(judged: &Judged, (i, j): (usize, usize)) -> f64 {
    let mut planner = RealFftPlanner::<f64>::new();
    let (mut sum, mut square) = (0.0, 0.0);
    for piece in judged.rows.view().pieces() {
        let one = &col(judged.values.as_ref(), i)[piece.clone()];
        let other = &col(judged.values.as_ref(), j)[piece];
        for (one, other) in one.chunks(STRETCH).zip(other.chunks(STRETCH)) {
            let transform = planner.plan_fft_forward(one.len());
            let transformed = |source: &[f64]| {
                let mut output = transform.make_output_vec();
                transform
                    .process(&mut source.to_vec(), &mut output)
                    .expect("buffers of the transform's own length");
                output
            };
            let (a, b) = (transformed(one), transformed(other));
            // Without the mean and the highest frequency, which have no phase.
            let inner = 1..a.len().saturating_sub(1);
            let power = |w: &usize| a[*w].norm_sqr() + b[*w].norm_sqr();
            let mut strongest: Vec<usize> = inner.collect();
            strongest.sort_by(|x, y| power(y).total_cmp(&power(x)));
            let mut left = SHARE * strongest.iter().map(power).sum::<f64>();
            for w in strongest {
                if left <= 0.0 {
                    break;
                }
                left -= power(&w);
                let cross = 2.0 * a[w] * b[w].conj() / power(&w);
                sum += cross.re * cross.re - cross.im * cross.im;
                square += 0.5 * cross.norm_sqr().powi(2);
            }
        }
    }
    if square > 0.0 {
        sum / square.sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};
    use realfft::num_complex::Complex;
    use std::f64::consts::{FRAC_1_SQRT_2, TAU};
    use strt_signal::random::{Stream, rng};
    use strt_signal::rows::Rows;

    const N: usize = 600;

    /// A series of this power at the lower frequencies, and random phases.
    fn series(amplitudes: impl Fn(usize) -> f64, seed: u64) -> Vec<f64> {
        let mut rng = rng(seed, Stream::Check);
        let inverse = RealFftPlanner::<f64>::new().plan_fft_inverse(N);
        let mut input = inverse.make_input_vec();
        let inner = input.len() - 1;
        for (w, slot) in input.iter_mut().enumerate().take(inner).skip(1) {
            *slot = Complex::from_polar(amplitudes(w), rng.random_range(0.0..TAU));
        }
        let mut output = inverse.make_output_vec();
        inverse.process(&mut input, &mut output).unwrap();
        output
    }

    fn judged(one: &[f64], other: &[f64]) -> Judged {
        let values = [one, other];
        Judged {
            values: Mat::from_fn(N, 2, |t, k| values[k][t]),
            rows: Rows::all(N),
        }
    }

    #[test]
    fn sum_and_difference_of_surrogates_are_locked_and_they_themselves_are_not() {
        let power = |w: usize| 1.0 / (1.0 + w as f64 / 20.0);
        let (one, other) = (series(power, 1), series(power, 2));
        assert!(!locked(&judged(&one, &other), (0, 1)));
        let both = || one.iter().zip(&other);
        let sum: Vec<f64> = both().map(|(x, y)| FRAC_1_SQRT_2 * (x + y)).collect();
        let difference: Vec<f64> = both().map(|(x, y)| FRAC_1_SQRT_2 * (x - y)).collect();
        assert!(locked(&judged(&sum, &difference), (0, 1)));
    }

    #[test]
    fn gaussian_sources_are_not_locked_whatever_their_spectra() {
        let drawn = |scale: f64, seed: u64| {
            let mut rng = rng(seed, Stream::Sources);
            let mut power = || {
                let (x, y): (f64, f64) = (
                    StandardNormal.sample(&mut rng),
                    StandardNormal.sample(&mut rng),
                );
                x.hypot(y)
            };
            let powers: Vec<f64> = (0..N).map(|_| power()).collect();
            series(|w| powers[w] / (1.0 + w as f64 / scale), seed)
        };
        for seed in 1..9 {
            for scale in [2.0, 20.0, 80.0] {
                let pair = judged(&drawn(20.0, seed), &drawn(scale, 100 + seed));
                let z = deviations(&pair, (0, 1));
                assert!(z.abs() < 3.0, "{scale} {seed}: {z}");
            }
        }
    }
}
