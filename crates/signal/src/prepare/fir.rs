//! Symmetric filters of finite length, designed by windows.
//!
//! In: edges, each with the width of its transition. Out: [`Fir`], an odd number of taps that are
//! symmetric about the middle one, so that a signal that is filtered with the middle tap over each
//! sample is delayed by nothing at any frequency.
//!
//! Every edge is a low-pass filter of its own: the ideal one, whose impulse response is
//! sin(2πft)/(πt), times a Hamming window of 3.3/Δ seconds, Δ being the transition in Hz, scaled
//! to a gain of 1 at 0 Hz. Sums and differences of these make all others. A Hamming window keeps
//! the ripple of one edge near 0.2 %, −53 dB (A. V. Oppenheim, R. W. Schafer, Discrete-Time Signal
//! Processing, 3rd ed., 2010, table 7.2); where two edges meet it is up to 0.5 %. These are the
//! filters that MNE designs by default (`fir_design="firwin"`), tap by tap.

use std::f64::consts::{PI, TAU};

/// Length of a Hamming window for a transition: 3.3 divided by its width.
const HAMMING: f64 = 3.3;

/// One edge: a low-pass filter that is added or taken away.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    sign: f64,
    /// Where the gain is ½, as a share of the sampling rate.
    cutoff: f64,
    /// Half the number of taps, the middle one not counted.
    half_length: usize,
}

/// A filter that is not built yet, so that its length is known before memory is taken for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    rate: f64,
    /// What of the signal itself is in the filtered one: 0 or 1.
    direct: f64,
    edges: Vec<Edge>,
}

impl Design {
    /// A filter that lets everything through (`direct` = 1) or nothing (0), to add edges to.
    pub(super) fn new(rate: f64, direct: f64) -> Design {
        Design {
            rate,
            direct,
            edges: Vec::new(),
        }
    }

    /// Adds `sign` times the low-pass filter whose gain falls from 1 to 0 over `transition` Hz,
    /// with its middle at `cutoff` Hz.
    pub(super) fn low_pass(mut self, sign: f64, cutoff: f64, transition: f64) -> Design {
        let taps = (HAMMING * self.rate / transition).round();
        self.edges.push(Edge {
            sign,
            cutoff: cutoff / self.rate,
            // Odd, rounded up.
            half_length: (taps / 2.0).floor() as usize,
        });
        self
    }

    /// Half the length of the filter, the middle tap not counted.
    pub fn half_length(&self) -> usize {
        let halves = self.edges.iter().map(|edge| edge.half_length);
        halves.max().unwrap_or(0)
    }

    /// The filter.
    pub fn build(&self) -> Fir {
        let middle = self.half_length();
        let mut taps = vec![0.0; 2 * middle + 1];
        taps[middle] = self.direct;
        for edge in &self.edges {
            let first = middle - edge.half_length;
            for (tap, value) in taps[first..].iter_mut().zip(edge.taps()) {
                *tap += edge.sign * value;
            }
        }
        Fir { taps }
    }
}

impl Edge {
    fn taps(&self) -> Vec<f64> {
        let (half, n) = (self.half_length as f64, 2 * self.half_length + 1);
        let tap = |i: usize| {
            let t = i as f64 - half;
            let ideal = if t == 0.0 {
                2.0 * self.cutoff
            } else {
                (TAU * self.cutoff * t).sin() / (PI * t)
            };
            let window = if n == 1 {
                1.0
            } else {
                0.54 + 0.46 * (PI * t / half).cos()
            };
            ideal * window
        };
        let taps: Vec<f64> = (0..n).map(tap).collect();
        let at_zero: f64 = taps.iter().sum();
        taps.into_iter().map(|tap| tap / at_zero).collect()
    }
}

/// A symmetric filter of an odd number of taps.
#[derive(Clone, Debug, PartialEq)]
pub struct Fir {
    taps: Vec<f64>,
}

impl Fir {
    /// The taps; the middle one is that of the sample itself.
    pub fn taps(&self) -> &[f64] {
        &self.taps
    }

    /// Number of taps on either side of the middle one.
    pub fn half_length(&self) -> usize {
        self.taps.len() / 2
    }

    /// Gain at a frequency in Hz: a real number, below 0 where the filter turns the sign.
    pub fn gain(&self, frequency: f64, rate: f64) -> f64 {
        let middle = self.half_length();
        let side: f64 = (1..=middle)
            .map(|j| self.taps[middle + j] * (TAU * frequency / rate * j as f64).cos())
            .sum();
        self.taps[middle] + 2.0 * side
    }

    /// The stretch filtered, where it is, continued beyond its ends by its odd reflection.
    ///
    /// # Panics
    /// When it has no more than [`Fir::half_length`] samples, or holds missing ones.
    pub fn apply(&self, stretch: &mut [f64]) {
        super::convolve::Convolver::new(self).apply(stretch);
    }
}
