//! Whether two sources differ more than two of one spectrum would.
//!
//! Of short recordings of slow sources little is left for a held-out test. This one uses all of the
//! recording and says by simulation what chance alone would do with as few independent samples as
//! there are. For a pair that was found,
//!
//! ```text
//! q = n·min_± [ g(±θ₀) − g(0) ]        g(θ): the kernel energy of the pair turned by θ
//! ```
//!
//! is held against the q of twins: pairs of independent Gaussian sources that both have the mean of
//! the two spectra, turned to where their own energy is least. The logarithm of q must lie
//! [`BEYOND`] standard deviations above that of the twins, or [`LIKELY`] where held-out samples
//! tell the pair as well.
//!
//! Deliberately absent: anything but spectra. Pairs that differ in another way are not told here.

use super::evidence::{angle, place};
use super::gaussian::PairMoments;
use super::judged::Judged;
use super::spectra::{STRETCH, power};
use faer::Mat;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;
use strt_classic::kernel::{Form, SourceEnergy};
use strt_signal::columns::col_mut;
use strt_signal::pieces::Pieces;
use strt_signal::random::{Stream, restart_seed, rng};

/// Standard deviations above twins from which on a pair is told apart.
pub(super) const BEYOND: f64 = 2.0;
/// Those from which on a pair that held-out spectra tell is believed to be one.
pub(super) const LIKELY: f64 = 1.0;
/// Simulated twins.
const TWINS: usize = 60;
/// Angles of a quarter turn at which an energy is looked at; after that it repeats itself.
const ANGLES: usize = 20;
/// Nats below which q says nothing.
const LEAST: f64 = 0.05;

/// By how many standard deviations the pair i, j lies above twins. `None` for a recording that is
/// too long to be simulated so often, and where the pair is one source.
pub(super) fn excess(judged: &Judged, (i, j): (usize, usize), seed: u64) -> Option<f64> {
    let t = judged.n_samples();
    if t > STRETCH {
        return None;
    }
    let pair = judged.part(0..t, &[i, j]);
    let mut energy = PairEnergy::new(&judged.pieces());
    let found = energy.of(&pair)?;
    let turned = angle();
    let q = found.at(turned).min(found.at(-turned)) - found.at(0.0);
    let place = place(judged.n_sources(), i, j);
    let mut rng = rng(restart_seed(seed, place), Stream::Verdict);
    let spectrum = Spectrum::of(&pair);
    let mut twins = Vec::with_capacity(TWINS);
    for _ in 0..TWINS {
        let drawn = spectrum.draw(&pair, &mut rng);
        twins.push(energy.of(&drawn)?.least());
    }
    let log = |q: f64| q.max(LEAST).ln();
    let mean = twins.iter().map(|&q| log(q)).sum::<f64>() / TWINS as f64;
    let square = twins.iter().map(|&q| (log(q) - mean).powi(2)).sum::<f64>();
    let deviation = (square / TWINS as f64).sqrt();
    (deviation > 0.0).then(|| (log(q) - mean) / deviation)
}

/// The kernel energy of pairs of sources in these pieces.
struct PairEnergy {
    form: Form,
    energy: SourceEnergy,
}

impl PairEnergy {
    fn new(pieces: &Pieces) -> PairEnergy {
        let form = Form::spectrum(pieces);
        let forms = std::slice::from_ref(&form);
        PairEnergy {
            energy: SourceEnergy::new(forms, &[vec![1.0]], pieces.n_samples()),
            form,
        }
    }

    /// Of this pair, made white.
    fn of(&mut self, pair: &Judged) -> Option<Turning> {
        let white = Judged {
            values: pair.whitened()?,
            rows: pair.rows.clone(),
        };
        let moments = PairMoments::new(&white, &self.form);
        let n_lags = self.form.lags().len();
        let mut own = vec![0.0; n_lags];
        let mut unused = vec![0.0; n_lags];
        let mut of_source = |k: usize, sine: f64, cosine: f64| {
            let (i, j) = (k, 1 - k);
            for (lag, slot) in own.iter_mut().enumerate() {
                let at = |i, j| moments.at(0, lag, i, j);
                let cross = 2.0 * sine * cosine * at(i, j);
                *slot = cosine * cosine * at(i, i) + sine * sine * at(j, j) + cross;
            }
            self.energy.evaluate(&own, &mut unused)
        };
        let nats = pair.rows.n_valid() as f64;
        let mut at = |angle: f64| {
            let (sine, cosine) = angle.sin_cos();
            nats * (of_source(0, sine, cosine) + of_source(1, -sine, cosine))
        };
        let step = FRAC_PI_2 / ANGLES as f64;
        let values: Vec<f64> = (0..ANGLES).map(|a| at(a as f64 * step)).collect();
        Some(Turning { values, step })
    }
}

/// The energy of a pair over a quarter turn, in nats.
struct Turning {
    values: Vec<f64>,
    step: f64,
}

impl Turning {
    /// By linear interpolation.
    fn at(&self, angle: f64) -> f64 {
        let place = (angle / self.step).rem_euclid(ANGLES as f64);
        let before = place.floor();
        let share = place - before;
        let value = |a: usize| self.values[a % ANGLES];
        (1.0 - share) * value(before as usize) + share * value(before as usize + 1)
    }

    /// q where the energy is least.
    fn least(&self) -> f64 {
        let by_value = |a: &usize, b: &usize| self.values[*a].total_cmp(&self.values[*b]);
        let best = (0..ANGLES).min_by(by_value).unwrap_or(0);
        let (here, turned) = (best as f64 * self.step, angle());
        let around = self.at(here + turned).min(self.at(here - turned));
        around - self.values[best]
    }
}

/// The mean of the spectra of a pair.
struct Spectrum {
    deviations: Vec<f64>, // by frequency
    transform: Arc<dyn ComplexToReal<f64>>,
}

impl Spectrum {
    fn of(pair: &Judged) -> Spectrum {
        let length = (2 * pair.n_samples()).next_power_of_two();
        let of_source = |k: usize| power(pair, k, length, 2.0);
        let both = of_source(0).into_iter().zip(of_source(1));
        Spectrum {
            deviations: both.map(|(x, y)| (x + y).sqrt()).collect(),
            transform: RealFftPlanner::new().plan_fft_inverse(length),
        }
    }

    /// Two Gaussian sources of this spectrum, missing where the pair is, of mean 0.
    fn draw(&self, pair: &Judged, rng: &mut impl Rng) -> Judged {
        let t = pair.n_samples();
        let mut values = Mat::zeros(t, 2);
        let mut series = self.transform.make_output_vec();
        for k in 0..2 {
            let mut draw = |deviation: &f64| {
                let (re, im): (f64, f64) = (StandardNormal.sample(rng), StandardNormal.sample(rng));
                Complex::new(deviation * re, deviation * im)
            };
            let mut input: Vec<Complex<f64>> = self.deviations.iter().map(&mut draw).collect();
            let last = input.len() - 1;
            (input[0].im, input[last].im) = (0.0, 0.0);
            self.transform
                .process(&mut input, &mut series)
                .expect("a spectrum of the transform's own length, real at both ends");
            let mut mean = 0.0;
            pair.rows.for_each_valid(|t| mean += series[t]);
            mean /= pair.rows.n_valid() as f64;
            // In units in which the variance is about 1, whatever that of the spectrum is.
            let scale = 1.0 / (self.deviations.len() as f64 * t as f64).sqrt();
            let column = col_mut(values.as_mut(), k);
            pair.rows
                .for_each_valid(|t| column[t] = scale * (series[t] - mean));
        }
        Judged {
            values,
            rows: pair.rows.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::columns::col;
    use strt_signal::rows::Rows;

    /// Autoregressions of order 1 with these poles, standardised.
    fn pair(poles: [f64; 2], n: usize, seed: u64) -> Judged {
        let mut rng = rng(seed, Stream::Check);
        let mut values = Mat::zeros(n, 2);
        for (k, pole) in poles.into_iter().enumerate() {
            let mut value = 0.0;
            let column = col_mut(values.as_mut(), k);
            for slot in column.iter_mut() {
                let shock: f64 = StandardNormal.sample(&mut rng);
                value = pole * value + shock;
                *slot = value;
            }
            let mean = column.iter().sum::<f64>() / n as f64;
            column.iter_mut().for_each(|v| *v -= mean);
            let square: f64 = column.iter().map(|v| v * v).sum();
            let scale = (n as f64 / square).sqrt();
            column.iter_mut().for_each(|v| *v *= scale);
        }
        Judged {
            values,
            rows: Rows::all(n),
        }
    }

    #[test]
    fn twins_are_not_told_and_others_are() {
        let told = |poles| {
            let beyond = |seed: &u64| excess(&pair(poles, 600, *seed), (0, 1), 3) >= Some(BEYOND);
            (1..13).filter(beyond).count()
        };
        assert!(told([0.9, 0.9]) <= 1);
        assert!(told([0.95, 0.5]) >= 11);
    }

    #[test]
    fn one_source_twice_and_recordings_too_long_say_nothing() {
        let mut same = pair([0.9, 0.5], 300, 1);
        let first = col(same.values.as_ref(), 0).to_vec();
        col_mut(same.values.as_mut(), 1).copy_from_slice(&first);
        assert_eq!(excess(&same, (0, 1), 3), None);
        let long = Judged {
            values: Mat::zeros(STRETCH + 1, 2),
            rows: Rows::all(STRETCH + 1),
        };
        assert_eq!(excess(&long, (0, 1), 3), None);
    }
}
