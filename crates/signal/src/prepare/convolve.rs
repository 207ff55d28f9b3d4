//! A filter applied to long signals by Fourier transforms of blocks (overlap-save).
//!
//! In: a [`Fir`] and stretches of a channel. Out: the same number of filtered samples. Two blocks
//! of one channel go through one complex transform, as its real and its imaginary part. The
//! transforms are those without vector instructions: a recording that is prepared anew, perhaps on
//! another machine, must have the same bits for its run to be resumed.

use super::fir::Fir;
use super::stretches::extended;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlannerScalar};
use std::sync::Arc;

/// Shortest block.
const LEAST: usize = 1024;

/// A filter ready to be applied again and again.
pub struct Convolver {
    n_taps: usize,
    /// The filter as a spectrum, divided by the length of a block.
    spectrum: Vec<Complex<f64>>,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    block: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
    extended: Vec<f64>,
}

impl Convolver {
    pub fn new(filter: &Fir) -> Convolver {
        let n_taps = filter.taps().len();
        let size = (4 * n_taps).next_power_of_two().max(LEAST);
        let mut planner = FftPlannerScalar::new();
        let (forward, inverse) = (
            planner.plan_fft_forward(size),
            planner.plan_fft_inverse(size),
        );
        let zero = Complex::new(0.0, 0.0);
        let n_scratch = forward.get_inplace_scratch_len();
        let mut scratch = vec![zero; n_scratch.max(inverse.get_inplace_scratch_len())];
        let mut spectrum = vec![zero; size];
        for (place, tap) in spectrum.iter_mut().zip(filter.taps()) {
            place.re = tap / size as f64;
        }
        forward.process_with_scratch(&mut spectrum, &mut scratch);
        Convolver {
            n_taps,
            spectrum,
            forward,
            inverse,
            block: vec![zero; size],
            scratch,
            extended: Vec::new(),
        }
    }

    /// Filters a stretch of more samples than half the filter.
    pub fn apply(&mut self, stretch: &mut [f64]) {
        let half = self.n_taps / 2;
        assert!(stretch.len() > half, "a stretch longer than half a filter");
        extended(stretch, half, &mut self.extended);
        // Of a circular convolution the first n_taps − 1 samples are of the wrapped end.
        let step = self.block.len() - (self.n_taps - 1);
        for first in (0..stretch.len()).step_by(2 * step) {
            let of = |begin: usize, i: usize| self.extended.get(begin + i).copied().unwrap_or(0.0);
            for (i, place) in self.block.iter_mut().enumerate() {
                *place = Complex::new(of(first, i), of(first + step, i));
            }
            self.forward
                .process_with_scratch(&mut self.block, &mut self.scratch);
            for (place, factor) in self.block.iter_mut().zip(&self.spectrum) {
                *place *= factor;
            }
            self.inverse
                .process_with_scratch(&mut self.block, &mut self.scratch);
            let filtered = &self.block[self.n_taps - 1..];
            let n_real = step.min(stretch.len() - first);
            let (real, imaginary) = stretch[first..].split_at_mut(n_real);
            for (value, found) in real.iter_mut().zip(filtered) {
                *value = found.re;
            }
            for (value, found) in imaginary.iter_mut().zip(filtered) {
                *value = found.im;
            }
        }
    }
}
