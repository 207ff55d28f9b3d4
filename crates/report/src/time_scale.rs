//! Correlation times of whole sources, by which they are ordered and which the page shows.
//!
//! In: a source, NaN where samples are missing, and its pieces. Out: the first lag at which its
//! autocorrelation is below ½, the figure of `strt_signal::correlation_time` over all samples. That
//! function tries one lag after the other, which takes T operations each; here the lags behind the
//! first few of a single piece come from one Fourier transform, so that slow sources of long
//! recordings take no longer than fast ones. It does not order anything.

use realfft::RealFftPlanner;
use strt_signal::correlation_time::correlation_time_in;
use strt_signal::moments::Moments;
use strt_signal::pieces::Pieces;

/// Below this autocorrelation a source counts as having forgotten its past.
const THRESHOLD: f64 = 0.5;
/// Lags that are tried one after the other before a transform pays.
const FEW_LAGS: usize = 32;

/// The correlation time of `source` in samples; its length where the autocorrelation never falls.
pub fn correlation_time(source: &[f64], pieces: &Pieces) -> usize {
    if pieces.is_whole() {
        of_one_piece(source)
    } else {
        correlation_time_in(source, pieces)
    }
}

fn of_one_piece(source: &[f64]) -> usize {
    let n_samples = source.len();
    let moments = Moments::of(source.iter().copied());
    if moments.constant {
        return n_samples;
    }
    let standardized: Vec<f64> = source.iter().map(|&s| moments.standardize(s)).collect();
    let few = FEW_LAGS.min(n_samples.saturating_sub(1));
    for lag in 1..=few {
        let pairs = standardized.iter().zip(&standardized[lag..]);
        let products = pairs.map(|(early, late)| early * late);
        let (sum, count) = products
            .filter(|product| !product.is_nan())
            .fold((0.0, 0), |(sum, count), product| (sum + product, count + 1));
        if count > 0 && autocorrelation(sum, f64::from(count), lag, n_samples) < THRESHOLD {
            return lag;
        }
    }
    if few + 1 >= n_samples {
        return n_samples;
    }
    let known = |present: fn(f64) -> f64| -> Vec<f64> {
        let value = |s: &f64| if s.is_nan() { 0.0 } else { present(*s) };
        standardized.iter().map(value).collect()
    };
    let sums = lagged_products(&known(|s| s));
    let counts = lagged_products(&known(|_| 1.0));
    (few + 1..n_samples)
        .find(|&lag| {
            let count = counts[lag].round();
            count > 0.0 && autocorrelation(sums[lag], count, lag, n_samples) < THRESHOLD
        })
        .unwrap_or(n_samples)
}

/// The usual estimate: the mean over pairs, shrunk as the pairs become few.
fn autocorrelation(sum: f64, count: f64, lag: usize, n_samples: usize) -> f64 {
    (n_samples - lag) as f64 / n_samples as f64 * sum / count
}

/// Σ_t x_t x_{t+h} for every h < T, by a transform long enough that nothing wraps around.
fn lagged_products(series: &[f64]) -> Vec<f64> {
    let length = (2 * series.len()).next_power_of_two();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (
        planner.plan_fft_forward(length),
        planner.plan_fft_inverse(length),
    );
    let mut padded = forward.make_input_vec();
    padded[..series.len()].copy_from_slice(series);
    let mut frequencies = forward.make_output_vec();
    forward
        .process(&mut padded, &mut frequencies)
        .expect("buffers come from the plan");
    for value in &mut frequencies {
        *value = realfft::num_complex::Complex::new(value.norm_sqr(), 0.0);
    }
    inverse
        .process(&mut frequencies, &mut padded)
        .expect("buffers come from the plan");
    padded.truncate(series.len());
    padded.iter_mut().for_each(|sum| *sum /= length as f64);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::correlation_time::correlation_time as lag_by_lag;

    #[test]
    fn it_is_the_figure_by_which_sources_are_ordered() {
        for period in [5.0, 90.0, 700.0, 2500.0] {
            for gap in [0, 400] {
                let mut source: Vec<f64> = (0..5000)
                    .map(|t| (t as f64 / period).sin() + 0.1 * ((t * t) as f64).sin())
                    .collect();
                source[1000..1000 + gap].fill(f64::NAN);
                assert_eq!(of_one_piece(&source), lag_by_lag(&source), "{period} {gap}");
            }
        }
    }

    #[test]
    fn degenerate_sources_have_their_length() {
        for source in [&[][..], &[1.0], &[2.0; 40], &[f64::NAN; 40]] {
            assert_eq!(of_one_piece(source), lag_by_lag(source));
        }
    }
}
