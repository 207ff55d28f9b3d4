//! Shares of the power of a source by frequency.
//!
//! In: a source and the resolution that is wanted. Out: a spectrum by Welch's method, whose
//! segments are a power of two, and shares of its power. Frequencies are in Hz, or in cycles per
//! sample where no rate is known.

use crate::course::Course;
use strt_signal::spectrum::{Spectrum, welch_of};

/// Segments that are averaged at least, half overlapping.
const FEWEST_SEGMENTS: usize = 3;
/// The longest segment.
const LONGEST: usize = 1 << 16;

/// A spectrum without its value at 0.
pub(crate) struct Power {
    spectrum: Spectrum,
    /// Sums of the densities before each, that at 0 left out.
    sums: Vec<f64>,
}

impl Power {
    /// With frequencies `resolution` apart, or as near as the recording allows; as near as it
    /// allows where none is asked for. `None` where no stretch without gaps is long enough.
    pub fn new(course: &Course, resolution: Option<f64>) -> Option<Power> {
        let rate = course.rate.unwrap_or(1.0);
        // n half-overlapping segments of length L take (n + 1)·L/2 samples.
        let most = (2 * course.values.len() / (FEWEST_SEGMENTS + 1)).min(LONGEST);
        let wanted = resolution.map_or(most, |step| ((rate / step) as usize).clamp(1, most));
        let mut length = 1 << wanted.max(1).ilog2();
        let series = course.with_gaps();
        // Where gaps leave no stretch of this length, a shorter one has to do.
        let spectrum = loop {
            match welch_of(&series, rate, length) {
                Some(spectrum) if spectrum.n_segments >= FEWEST_SEGMENTS => break spectrum,
                _ if length > 64 => length /= 2,
                _ => return None,
            }
        };
        let mut sums = vec![0.0, 0.0];
        for density in &spectrum.density[1..] {
            sums.push(sums[sums.len() - 1] + density);
        }
        (sums[sums.len() - 1] > 0.0).then_some(Power { spectrum, sums })
    }

    /// Distance of frequencies.
    pub fn resolution(&self) -> f64 {
        self.spectrum.resolution
    }

    /// Densities, the first of them at frequency 0.
    pub fn density(&self) -> &[f64] {
        &self.spectrum.density
    }

    /// Half the sampling rate.
    pub fn highest(&self) -> f64 {
        (self.spectrum.density.len() - 1) as f64 * self.spectrum.resolution
    }

    /// The share between two frequencies, both included.
    pub fn share(&self, from: f64, to: f64) -> f64 {
        let (first, end) = self.bins(from, to);
        (self.sums[end] - self.sums[first]) / self.sums[self.sums.len() - 1]
    }

    /// The mean density between two frequencies, NaN where there is none.
    pub fn mean(&self, from: f64, to: f64) -> f64 {
        let (first, end) = self.bins(from, to);
        (self.sums[end] - self.sums[first]) / (end - first) as f64
    }

    /// Geometric over arithmetic mean of the density between two frequencies, in `n` parts: 1 for a
    /// flat one, near 0 for lines.
    pub fn flatness(&self, from: f64, to: f64, n: usize) -> f64 {
        let width = (to - from) / n as f64;
        let part = |i: usize| self.mean(from + i as f64 * width, from + (i + 1) as f64 * width);
        let parts: Vec<f64> = (0..n).map(part).filter(|mean| mean.is_finite()).collect();
        let n = parts.len() as f64;
        let logarithms = parts
            .iter()
            .map(|p| p.max(f64::MIN_POSITIVE).ln())
            .sum::<f64>()
            / n;
        logarithms.exp() / (parts.iter().sum::<f64>() / n)
    }

    /// The first density between two frequencies and the first behind them.
    fn bins(&self, from: f64, to: f64) -> (usize, usize) {
        let last = self.spectrum.density.len() - 1;
        let step = self.spectrum.resolution;
        // Frequencies are multiples of the resolution up to rounding.
        let first = ((from / step - 1e-6).ceil().max(1.0) as usize).min(last + 1);
        let end = ((to / step + 1e-6).floor().max(0.0) as usize).min(last) + 1;
        (first, end.max(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn shares_of_two_sines_are_those_of_their_squares() {
        let sine = |f: f64, t: usize| (TAU * f * t as f64 / 200.0).sin();
        let source: Vec<f64> = (0..8000)
            .map(|t| 2.0 * sine(10.0, t) + sine(40.0, t))
            .collect();
        let course = Course::new(&source, Some(200.0)).unwrap();
        let power = Power::new(&course, Some(0.5)).unwrap();
        assert!((power.share(8.0, 12.0) - 0.8).abs() < 1e-3);
        assert!((power.share(38.0, 42.0) - 0.2).abs() < 1e-3);
        assert!(power.share(15.0, 35.0) < 1e-6 && power.share(150.0, 200.0) == 0.0);
        assert!(power.flatness(1.0, 100.0, 20) < 0.01);
    }
}
