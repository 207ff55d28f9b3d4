//! What a recording may need to be prepared for: slow drift and line noise, seen in the spectra of
//! its channels.
//!
//! In: a [`Recording`] with a sampling rate. Out: [`Disturbances`], in numbers. Spectra are means
//! over segments of 8 s (Welch, Hann window), at most 32 of them, spread over the recording.
//!
//! *Drift*: more than half of the variance of a channel lies below 0.5 Hz. *Line*: at 50 or 60 Hz
//! the power density is at least 10 times that of the surroundings (the median from 1.5 to 5 Hz
//! away), and what exceeds them is at least 1 % of the variance above 0.5 Hz. Recordings below 20
//! Hz are not judged, since there what is slow is the signal, and neither are those shorter than a
//! segment.

use super::stretches::stretches;
use crate::recording::Recording;
use realfft::RealFftPlanner;
use std::f64::consts::TAU;

/// Length of a segment in seconds.
const SEGMENT: f64 = 8.0;
/// Most segments of a channel.
const MOST_SEGMENTS: usize = 32;
/// Slowest rate that is judged.
const LEAST_RATE: f64 = 20.0;
/// What is slower is drift, in Hz.
pub const DRIFT_BELOW: f64 = 0.5;
/// Share of the variance from which drift is worth a word.
const DRIFT_SHARE: f64 = 0.5;
/// Frequencies of the mains, in Hz.
const MAINS: [f64; 2] = [50.0, 60.0];
/// Power density of a line, in that of its surroundings.
const LINE_RATIO: f64 = 10.0;
/// Share of the variance above drift from which a line is worth a word.
const LINE_SHARE: f64 = 0.01;

/// What disturbs a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disturbances {
    /// Slow drift, where there is much.
    pub drift: Option<Disturbance>,
    /// Lines of the mains: the frequency in Hz and how strong it is.
    pub lines: Vec<(f64, Disturbance)>,
}

/// One disturbance.
#[derive(Clone, Debug, PartialEq)]
pub struct Disturbance {
    /// The channels that have it, counted from 0, in order.
    pub channels: Vec<usize>,
    /// Its largest share of the variance of a channel; of a line, of the variance above drift.
    pub share: f64,
}

/// Looks for them.
pub fn disturbances(recording: &Recording) -> Disturbances {
    let Some(rate) = recording.sampling_rate().filter(|rate| *rate >= LEAST_RATE) else {
        return Disturbances::default();
    };
    let length = (SEGMENT * rate).round() as usize;
    let firsts = segments(recording, length);
    if firsts.is_empty() {
        return Disturbances::default();
    }
    let mut spectra = Spectra::new(length);
    let mut drift = Vec::new();
    let mut lines: Vec<Vec<(usize, f64)>> = vec![Vec::new(); MAINS.len()];
    for channel in 0..recording.n_channels() {
        let Some(power) = spectra.of(recording, channel, &firsts) else {
            continue;
        };
        let step = rate / length as f64;
        let slow = power.len().min((DRIFT_BELOW / step).ceil() as usize);
        let (below, above): (f64, f64) = (power[..slow].iter().sum(), power[slow..].iter().sum());
        if below > DRIFT_SHARE * (below + above) {
            drift.push((channel, below / (below + above)));
        }
        for (found, hz) in lines.iter_mut().zip(MAINS) {
            if let Some(excess) = line(&power, step, hz).filter(|e| *e > LINE_SHARE * above) {
                found.push((channel, excess / above));
            }
        }
    }
    Disturbances {
        drift: summed_up(drift),
        lines: MAINS
            .into_iter()
            .zip(lines)
            .filter_map(|(hz, found)| Some((hz, summed_up(found)?)))
            .collect(),
    }
}

fn summed_up(found: Vec<(usize, f64)>) -> Option<Disturbance> {
    let share = found.iter().map(|(_, share)| *share).reduce(f64::max)?;
    Some(Disturbance {
        channels: found.into_iter().map(|(channel, _)| channel).collect(),
        share,
    })
}

/// Where segments begin: complete ones, spread over the recording.
fn segments(recording: &Recording, length: usize) -> Vec<usize> {
    let none = vec![false; recording.n_samples()];
    let missing = recording.missing().unwrap_or(&none);
    let all: Vec<usize> = stretches(missing, recording.pieces())
        .flat_map(|rows| {
            rows.clone()
                .step_by(length)
                .filter(move |t| t + length <= rows.end)
        })
        .collect();
    let every = all.len().div_ceil(MOST_SEGMENTS).max(1);
    all.into_iter().step_by(every).collect()
}

/// Power of a line above its surroundings, where it stands out of them.
fn line(power: &[f64], step: f64, hz: f64) -> Option<f64> {
    let bin = |hz: f64| (hz / step).round() as usize;
    let around = |from: f64, to: f64| power.get(bin(from)..=bin(to));
    let inside = around(hz - 0.5, hz + 0.5)?;
    let mut outside: Vec<f64> = [around(hz - 5.0, hz - 1.5)?, around(hz + 1.5, hz + 5.0)?].concat();
    outside.sort_by(f64::total_cmp);
    let level = outside[outside.len() / 2];
    let total: f64 = inside.iter().sum();
    let expected = level * inside.len() as f64;
    (total > LINE_RATIO * expected).then_some(total - expected)
}

/// Mean power spectra of segments of one length.
struct Spectra {
    window: Vec<f64>,
    transform: std::sync::Arc<dyn realfft::RealToComplex<f64>>,
}

impl Spectra {
    fn new(length: usize) -> Spectra {
        let window = |i: usize| 0.5 - 0.5 * (TAU * i as f64 / length as f64).cos();
        Spectra {
            window: (0..length).map(window).collect(),
            transform: RealFftPlanner::new().plan_fft_forward(length),
        }
    }

    /// Of one channel, its mean over all segments taken out; `None` where it does not vary.
    fn of(&mut self, recording: &Recording, channel: usize, firsts: &[usize]) -> Option<Vec<f64>> {
        let values = recording.observations();
        let column = values.col(channel);
        let length = self.window.len();
        let rows = || firsts.iter().flat_map(|&first| first..first + length);
        let mean = rows().map(|t| column[t]).sum::<f64>() / (length * firsts.len()) as f64;
        let mut segment = self.transform.make_input_vec();
        let mut spectrum = self.transform.make_output_vec();
        let mut power = vec![0.0; spectrum.len()];
        for &first in firsts {
            for (i, value) in segment.iter_mut().enumerate() {
                *value = (column[first + i] - mean) * self.window[i];
            }
            // Only fails for buffers of the wrong length.
            self.transform.process(&mut segment, &mut spectrum).ok()?;
            for (sum, value) in power.iter_mut().zip(&spectrum) {
                *sum += value.norm_sqr();
            }
        }
        let total: f64 = power.iter().sum();
        (total.is_finite() && total > 0.0).then_some(power)
    }
}
