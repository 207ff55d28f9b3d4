//! Power spectral density of one series by Welch's method.
//!
//! In: a series, NaN where samples are missing, and its sampling rate. Out: the one-sided density
//! on evenly spaced frequencies up to half the rate. Segments overlap by half, are freed of their
//! mean and weighted by a Hann window; segments that touch a missing sample are left out. It does
//! not interpolate gaps.
//!
//! ```text
//! P(f) = 2/(rate · Σ_t w_t²) · mean over segments of |Σ_t w_t (s_t − s̄) e^(−2πi f t / rate)|²
//! ```
//!
//! (without the factor 2 at zero and at half the rate), so that Σ P·Δf is the variance of the
//! source.

use realfft::RealFftPlanner;
use std::f64::consts::TAU;

/// The longest segment: enough to resolve a thousandth of the sampling rate, few enough points to
/// draw.
const LONGEST_SEGMENT: usize = 1024;
/// The shortest segment from which a spectrum is worth drawing.
const SHORTEST_SEGMENT: usize = 16;

/// A one-sided density.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Distance of neighbouring frequencies; the first one is 0.
    pub resolution: f64,
    /// Density at each frequency, in squared units of the source per unit of frequency.
    pub density: Vec<f64>,
    /// Segments that were averaged.
    pub n_segments: usize,
}

/// Samples in a segment for a recording of `n_samples`: a power of two, at most a third of it, so
/// that at least five overlapping segments are averaged.
pub fn segment_length(n_samples: usize) -> usize {
    let most = (n_samples / 3).clamp(1, LONGEST_SEGMENT);
    1 << most.ilog2()
}

/// The spectrum of `series`, or `None` when no stretch without gaps is long enough.
pub fn welch(series: &[f64], rate: f64) -> Option<Spectrum> {
    welch_of(series, rate, segment_length(series.len()))
}

/// The spectrum of `series` from segments of `length` samples, or `None` when no stretch without
/// gaps is as long, or as long as is worth it.
pub fn welch_of(series: &[f64], rate: f64, length: usize) -> Option<Spectrum> {
    if length < SHORTEST_SEGMENT || length > series.len() {
        return None;
    }
    let window: Vec<f64> = (0..length)
        .map(|t| 0.5 - 0.5 * (TAU * t as f64 / length as f64).cos())
        .collect();
    let transform = RealFftPlanner::<f64>::new().plan_fft_forward(length);
    let (mut weighted, mut frequencies) = (transform.make_input_vec(), transform.make_output_vec());
    let mut density = vec![0.0; frequencies.len()];
    let mut n_segments = 0;
    for start in (0..=series.len() - length).step_by(length / 2) {
        let segment = &series[start..start + length];
        if !segment.iter().all(|value| value.is_finite()) {
            continue;
        }
        let mean = segment.iter().sum::<f64>() / length as f64;
        for ((slot, value), weight) in weighted.iter_mut().zip(segment).zip(&window) {
            *slot = weight * (value - mean);
        }
        transform
            .process(&mut weighted, &mut frequencies)
            .expect("buffers come from the plan");
        for (power, amplitude) in density.iter_mut().zip(&frequencies) {
            *power += amplitude.norm_sqr();
        }
        n_segments += 1;
    }
    if n_segments == 0 {
        return None;
    }
    let window_power: f64 = window.iter().map(|weight| weight * weight).sum();
    let last = density.len() - 1;
    for (index, power) in density.iter_mut().enumerate() {
        let sides = if index == 0 || index == last {
            1.0
        } else {
            2.0
        };
        *power *= sides / (rate * window_power * n_segments as f64);
    }
    Some(Spectrum {
        resolution: rate / length as f64,
        density,
        n_segments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(n_samples: usize, cycles_per_sample: f64, amplitude: f64) -> Vec<f64> {
        (0..n_samples)
            .map(|t| amplitude * (TAU * cycles_per_sample * t as f64).sin() + 3.0)
            .collect()
    }

    #[test]
    fn a_sine_peaks_at_its_frequency_with_its_variance() {
        let rate = 250.0;
        let spectrum = welch(&sine(20_000, 32.0 / 1024.0, 2.0), rate).unwrap();
        let peak = (0..spectrum.density.len())
            .max_by(|&a, &b| spectrum.density[a].total_cmp(&spectrum.density[b]))
            .unwrap();
        assert_eq!(peak, 32);
        assert!((peak as f64 * spectrum.resolution - rate * 32.0 / 1024.0).abs() < 1e-9);
        // Variance of a sine of amplitude 2 is 2; the mean of 3 must not count.
        let variance: f64 = spectrum.density.iter().sum::<f64>() * spectrum.resolution;
        assert!((variance - 2.0).abs() < 1e-6, "{variance}");
        assert!(spectrum.density[0] < 1e-9);
    }

    #[test]
    fn segments_with_gaps_are_left_out() {
        let mut series = sine(8192, 0.125, 1.0);
        let whole = welch(&series, 1.0).unwrap();
        series[100] = f64::NAN;
        let gappy = welch(&series, 1.0).unwrap();
        assert_eq!(gappy.n_segments, whole.n_segments - 1);
        let peak = segment_length(8192) / 8;
        assert!((gappy.density[peak] / whole.density[peak] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn too_short_or_empty_series_have_none() {
        assert!(welch(&sine(40, 0.1, 1.0), 1.0).is_none());
        assert!(welch(&[], 1.0).is_none());
        assert!(welch(&[f64::NAN; 4000], 1.0).is_none());
        assert_eq!(
            (segment_length(1000), segment_length(1_000_000)),
            (256, 1024)
        );
    }
}
