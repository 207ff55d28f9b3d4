//! What simulated sources are made of: noise of several colours, pulses, and a cap of electrodes.
//!
//! In: a seed. Out: a rate, a length and numbers drawn for them. Rates are those of common devices,
//! 100 to 1000 Hz; recordings last 10 to 120 s.

use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use std::f64::consts::TAU;
use strt_signal::montage;
use strt_signal::random::{Stream, rng};

/// Samples a second.
const RATES: [f64; 7] = [100.0, 128.0, 200.0, 250.0, 256.0, 500.0, 1000.0];
/// Electrodes of the cap.
const CAP: [&str; 32] = [
    "Fp1", "Fpz", "Fp2", "F7", "F3", "Fz", "F4", "F8", "FC5", "FC1", "FC2", "FC6", "T7", "C3",
    "Cz", "C4", "T8", "CP5", "CP1", "CP2", "CP6", "P7", "P3", "Pz", "P4", "P8", "PO3", "PO4", "O1",
    "Oz", "O2", "TP9",
];

/// Draws of one source.
pub struct Draw {
    rng: rand_chacha::ChaCha8Rng,
    pub rate: f64,
    pub n: usize,
}

impl Draw {
    pub fn new(seed: u64, family: usize) -> Draw {
        let mut draw = Draw {
            rng: rng(seed, Stream::Step(family as u64)),
            rate: 0.0,
            n: 0,
        };
        draw.rate = RATES[draw.below(RATES.len())];
        // Short recordings are as frequent as long ones.
        let seconds = draw.between(10f64.ln(), 120f64.ln()).exp();
        draw.n = (seconds * draw.rate) as usize;
        draw
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit: f64 = StandardUniform.sample(&mut self.rng);
        low + (high - low) * unit
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.between(0.0, n as f64) as usize).min(n - 1)
    }

    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.rng)
    }

    /// Waiting time of mean 1.
    pub fn waiting(&mut self) -> f64 {
        Exp1.sample(&mut self.rng)
    }

    pub fn seconds(&self) -> f64 {
        self.n as f64 / self.rate
    }

    pub fn white(&mut self) -> Vec<f64> {
        (0..self.n).map(|_| self.normal()).collect()
    }

    /// s_t = a·s_{t−1} + noise.
    pub fn autoregressive(&mut self, a: f64) -> Vec<f64> {
        let mut last = 0.0;
        let mut next = |draw: &mut Draw| {
            last = a * last + draw.normal();
            last
        };
        (0..200).for_each(|_| _ = next(self));
        (0..self.n).map(|_| next(self)).collect()
    }

    /// A resonance: poles of this radius at this frequency.
    pub fn resonance(&mut self, frequency: f64, radius: f64) -> Vec<f64> {
        let cosine = (TAU * frequency / self.rate).cos();
        let (mut one, mut two) = (0.0, 0.0);
        let mut next = |draw: &mut Draw| {
            let value = 2.0 * radius * cosine * one - radius * radius * two + draw.normal();
            (two, one) = (one, value);
            value
        };
        (0..2000).for_each(|_| _ = next(self));
        (0..self.n).map(|_| next(self)).collect()
    }

    /// About 1/f: autoregressions of time constants from two samples to ten seconds, of equal
    /// power.
    pub fn pink(&mut self) -> Vec<f64> {
        let mut sum = vec![0.0; self.n];
        let mut time = 2.0;
        while time < 10.0 * self.rate {
            add(
                &mut sum,
                &standardized(&self.autoregressive((-1.0f64 / time).exp())),
                1.0,
            );
            time *= 4.0;
        }
        sum
    }

    /// A smooth amplitude around 1 that changes over this many seconds.
    pub fn amplitude(&mut self, seconds: f64, depth: f64) -> Vec<f64> {
        let a = (-1.0 / (seconds * self.rate)).exp();
        let slow = standardized(&self.autoregressive(a));
        slow.into_iter().map(|v| (depth * v).exp()).collect()
    }

    /// The source with other activity added, of up to this share of the variance.
    pub fn with_background(&mut self, source: Vec<f64>, most: f64) -> Vec<f64> {
        let share = self.between(0.0, most);
        let background = match self.below(3) {
            0 => self.white(),
            1 => self.pink(),
            _ => self.autoregressive(0.9),
        };
        let mut sum = standardized(&source);
        add(
            &mut sum,
            &standardized(&background),
            (share / (1.0 - share)).sqrt(),
        );
        sum
    }
}

/// `sum` += `factor`·`values`.
pub fn add(sum: &mut [f64], values: &[f64], factor: f64) {
    for (slot, value) in sum.iter_mut().zip(values) {
        *slot += factor * value;
    }
}

/// Mean 0, variance 1.
pub fn standardized(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let deviation = variance.sqrt().max(f64::MIN_POSITIVE);
    values.iter().map(|v| (v - mean) / deviation).collect()
}

/// Where a source is strong, on the cap.
#[derive(Clone)]
pub struct Cap {
    pub names: Vec<String>,
    pub places: Vec<Option<[f64; 2]>>,
    pub weights: Vec<f64>,
}

impl Cap {
    /// Weights by place, with some of no reason.
    pub fn of(draw: &mut Draw, field: impl Fn([f64; 2]) -> f64) -> Cap {
        let names: Vec<String> = CAP.iter().map(|name| name.to_string()).collect();
        let places = montage::places(&names, &[]);
        let sign = if draw.below(2) == 0 { -0.8 } else { 0.8 };
        let weights = places
            .iter()
            .map(|place| sign * field(place.expect("a name of the system")) + 0.06 * draw.normal())
            .collect();
        Cap {
            names,
            places,
            weights,
        }
    }

    /// Strong around some place.
    pub fn anywhere(draw: &mut Draw) -> Cap {
        let (x, y) = (draw.between(-0.7, 0.7), draw.between(-0.8, 0.6));
        let reach = draw.between(0.3, 0.7);
        Cap::of(draw, |[u, v]| bump(u - x, v - y, reach))
    }

    /// In one channel only.
    pub fn one_channel(draw: &mut Draw) -> Cap {
        let channel = draw.below(CAP.len());
        let mut cap = Cap::of(draw, |_| 0.0);
        cap.weights[channel] = draw.between(0.7, 1.0);
        cap
    }
}

/// A Gaussian.
pub fn bump(x: f64, y: f64, width: f64) -> f64 {
    (-(x * x + y * y) / (2.0 * width * width)).exp()
}
