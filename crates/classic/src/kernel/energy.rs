//! The kernel energy of one source: the entropy per sample of a Gaussian process with its lagged
//! second moments.
//!
//! ```text
//! g = Σ_s ω_s · mean_d 1/(2W) · ln det( Toeplitz(r_s(0), r_s(d), …, r_s((W−1)d)) + κ·I )
//! ```
//!
//! or, of a form with bands of frequencies, the entropy of a smooth spectrum ([`super::smooth`]).
//! r_s(l) are the moments at lag l in segment s, divided by the variance of the whole source, so
//! that g does not depend on its scale; ω_s is the segment's share of the samples and d runs over
//! the dilations. Where a source may take one of several forms, it takes the one with the least g
//! plus what the parameters of that form cost: a Gaussian likelihood, maximised over its kinds too.
//!
//! In: moments. Out: g and its gradient in them. Where the moments come from is the caller's
//! business ([`super::Moments`]).

use super::bands::Bands;
use super::form::Form;
use super::smooth::SmoothSpectrum;
use super::toeplitz::Levinson;
use std::ops::Range;

/// g and its gradient, with the memory that they need.
#[derive(Clone, Debug)]
pub struct SourceEnergy {
    forms: Vec<FormEnergy>,
    /// Where the moments of each form are, and what its parameters cost.
    places: Vec<(Range<usize>, f64)>,
}

impl SourceEnergy {
    /// Of a source that takes one of these forms, over `n_samples` samples. The segments of form f,
    /// or its bands, have the shares in `shares[f]`, which sum to 1.
    pub fn new(forms: &[Form], shares: &[Vec<f64>], n_samples: usize) -> SourceEnergy {
        let of_form = forms.iter().zip(shares);
        let forms: Vec<FormEnergy> = of_form
            .map(|(form, shares)| FormEnergy::new(form, shares, n_samples))
            .collect();
        let mut first = 0;
        let place = |energy: &FormEnergy| {
            let place = first..first + energy.n_moments();
            first = place.end;
            (place, energy.cost(n_samples))
        };
        let places = forms.iter().map(place).collect();
        SourceEnergy { forms, places }
    }

    /// Number of moments: of every form segments times lags.
    pub fn n_moments(&self) -> usize {
        self.places.last().map_or(0, |(place, _)| place.end)
    }

    /// ½ ln v, v the variance; its gradient is added to `d`.
    pub fn log_deviation(&self, moments: &[f64], d: &mut [f64]) -> f64 {
        // Every form has all samples in its segments, and so the same variance.
        let first = &self.forms[0];
        let variance = first.variance(moments);
        for (s, share) in first.shares.iter().enumerate() {
            d[s * first.n_lags] += 0.5 * share / variance;
        }
        0.5 * variance.ln()
    }

    /// g of the moments m_s(l) (form by form, segment by segment, lags ascending, then bands) and its
    /// gradient in them, in place of `d`. A source without variance has g = 0 and no gradient.
    pub fn evaluate(&mut self, moments: &[f64], d: &mut [f64]) -> f64 {
        if let [only] = &mut self.forms[..] {
            return only.evaluate(moments, d);
        }
        let (mut least, mut taken) = (f64::INFINITY, 0..0);
        for (energy, (place, cost)) in self.forms.iter_mut().zip(&self.places) {
            let value = energy.evaluate(&moments[place.clone()], &mut d[place.clone()]);
            if value + cost < least {
                (least, taken) = (value + cost, place.clone());
            }
        }
        d[..taken.start].fill(0.0);
        d[taken.end..].fill(0.0);
        least
    }

    /// The least −log-likelihood per sample of a Gaussian source with these moments, less ½ ln 2πe,
    /// with a penalty of 2/n for every parameter, and the number of the form that has it: for
    /// spectra the best autoregression, for variances the best number of blocks.
    pub fn description(&mut self, moments: &[f64], n_samples: usize) -> (f64, usize) {
        let mut least = (f64::INFINITY, 0);
        for (f, (energy, (place, _))) in self.forms.iter_mut().zip(&self.places).enumerate() {
            let nats = energy.description(&moments[place.clone()], n_samples);
            if nats < least.0 {
                least = (nats, f);
            }
        }
        least
    }

    /// The order of the best autoregression, by the first form.
    pub fn order(&mut self, moments: &[f64], n_samples: usize) -> usize {
        let place = self.places[0].0.clone();
        self.forms[0].order(&moments[place], n_samples)
    }
}

/// g of one form and its gradient, with the memory that they need.
#[derive(Clone, Debug)]
struct FormEnergy {
    form: Form,
    n_lags: usize,
    columns: Vec<Vec<usize>>, // for every dilation, which lags make the Toeplitz matrix
    shares: Vec<f64>,         // ω_s
    levinson: Levinson,
    c: Vec<f64>,
    d_c: Vec<f64>,
    smooth: Option<Smooth>,
}

/// What a form with bands judges.
#[derive(Clone, Debug)]
struct Smooth {
    spectrum: SmoothSpectrum,
    q: Vec<f64>,   // power of every band, κ added
    d_q: Vec<f64>, // ∂g/∂q
}

impl Smooth {
    fn new(bands: &Bands, shares: &[f64], n_samples: usize) -> Smooth {
        let n = n_samples as f64;
        Smooth {
            spectrum: SmoothSpectrum::new(&bands.positions(), shares, n),
            q: vec![0.0; bands.len()],
            d_q: vec![0.0; bands.len()],
        }
    }

    /// g of powers m, of a source of variance 1/scale, and its gradient in place of `d`.
    fn evaluate(&mut self, powers: &[f64], scale: f64, ridge: f64, d: &mut [f64]) -> f64 {
        for (q, power) in self.q.iter_mut().zip(powers) {
            *q = scale * power.max(0.0) + ridge;
        }
        let value = self.spectrum.evaluate(&self.q, &mut self.d_q);
        for (d, d_q) in d.iter_mut().zip(&self.d_q) {
            *d = scale * d_q;
        }
        value
    }
}

impl FormEnergy {
    /// For segments with these shares ω_s of the samples, or bands with these shares of the
    /// frequencies, which sum to 1.
    fn new(form: &Form, shares: &[f64], n_samples: usize) -> FormEnergy {
        let lags = form.lags();
        let smooth = form.bands.as_ref();
        let smooth = smooth.map(|bands| Smooth::new(bands, shares, n_samples));
        let place = |lag: usize| lags.binary_search(&lag).expect("a lag of the form");
        let columns = form.dilations.iter();
        FormEnergy {
            columns: columns
                .map(|&d| (0..form.window).map(|j| place(j * d)).collect())
                .collect(),
            n_lags: lags.len(),
            shares: match smooth {
                Some(_) => vec![1.0],
                None => shares.to_vec(),
            },
            smooth,
            levinson: Levinson::new(form.window),
            c: vec![0.0; form.window],
            d_c: vec![0.0; form.window],
            form: form.clone(),
        }
    }

    /// What the parameters of all segments cost. Those of the one spectrum of a recording cost next
    /// to nothing: of its W only as many count as its best autoregression has.
    fn cost(&self, n_samples: usize) -> f64 {
        match self.form.segments {
            1 => 0.0,
            segments => PENALTY * (segments * self.form.window) as f64 / n_samples as f64,
        }
    }

    fn n_moments(&self) -> usize {
        self.n_lagged() + self.smooth.as_ref().map_or(0, |smooth| smooth.q.len())
    }

    fn n_lagged(&self) -> usize {
        self.shares.len() * self.n_lags
    }

    /// The variance Σ_s ω_s·m_s(0).
    fn variance(&self, moments: &[f64]) -> f64 {
        let zero = moments.iter().step_by(self.n_lags);
        self.shares.iter().zip(zero).map(|(w, m)| w * m).sum()
    }

    /// g of the moments m_s(l) (segment by segment, lags ascending, then bands) and its gradient in
    /// them, in place of `d`. A source without variance has g = 0 and no gradient.
    fn evaluate(&mut self, moments: &[f64], d: &mut [f64]) -> f64 {
        let variance = self.variance(moments);
        d.fill(0.0);
        if variance.is_nan() || variance <= 0.0 {
            return 0.0;
        }
        let scale = 1.0 / variance;
        let lagged = self.n_lagged();
        if let Some(smooth) = &mut self.smooth {
            let (powers, d_powers) = (&moments[lagged..], &mut d[lagged..]);
            let value = smooth.evaluate(powers, scale, self.form.ridge, d_powers);
            let back: f64 = d_powers.iter().zip(powers).map(|(d, m)| d * m).sum();
            d[0] -= back * scale;
            return value;
        }
        let weight = 1.0 / (2.0 * self.form.window as f64 * self.columns.len() as f64);
        let mut value = 0.0;
        for (s, share) in self.shares.iter().enumerate() {
            let at = s * self.n_lags;
            for column in &self.columns {
                for (c, &lag) in self.c.iter_mut().zip(column) {
                    *c = scale * moments[at + lag];
                }
                self.c[0] += self.form.ridge;
                let factor = share * weight;
                value += factor * self.levinson.log_det(&self.c, &mut self.d_c);
                for (d_c, &lag) in self.d_c.iter().zip(column) {
                    d[at + lag] += factor * d_c * scale;
                }
            }
        }
        // g depends on m/v only: what the variance takes back.
        let back: f64 = d.iter().zip(moments).map(|(d, m)| d * m).sum::<f64>() * scale;
        for (s, share) in self.shares.iter().enumerate() {
            d[s * self.n_lags] -= share * back;
        }
        value
    }

    fn description(&mut self, moments: &[f64], n_samples: usize) -> f64 {
        let scale = 1.0 / self.variance(moments);
        let penalty = PENALTY / n_samples as f64;
        if self.form.window == 1 {
            return self.blocks(moments, scale, penalty);
        }
        let by_order = self.by_order(moments, penalty).into_iter();
        let lagged = self.n_lagged();
        let smooth = self.smooth.as_mut().map(|smooth| {
            let (powers, mut unused) = (&moments[lagged..], vec![0.0; moments.len() - lagged]);
            smooth.evaluate(powers, scale, NUGGET, &mut unused)
        });
        by_order.chain(smooth).fold(f64::INFINITY, f64::min)
    }

    /// The order of the best autoregression.
    fn order(&mut self, moments: &[f64], n_samples: usize) -> usize {
        let by_order = self.by_order(moments, PENALTY / n_samples as f64);
        let least = by_order.iter().copied().fold(f64::INFINITY, f64::min);
        by_order
            .iter()
            .position(|&value| value == least)
            .unwrap_or(0)
    }

    /// The penalised −log-likelihood of autoregressions of every order below W.
    fn by_order(&mut self, moments: &[f64], penalty: f64) -> Vec<f64> {
        let scale = 1.0 / self.variance(moments);
        let mut errors = vec![0.0; self.form.window];
        let mut by_order = vec![0.0; self.form.window];
        for (s, share) in self.shares.iter().enumerate() {
            for (c, &lag) in self.c.iter_mut().zip(&self.columns[0]) {
                *c = scale * moments[s * self.n_lags + lag];
            }
            self.c[0] += NUGGET;
            self.levinson.errors(&self.c, &mut errors);
            for (p, (sum, error)) in by_order.iter_mut().zip(&errors).enumerate() {
                *sum += share * 0.5 * error.ln() + (p + 1) as f64 * penalty;
            }
        }
        by_order
    }

    /// Neighbouring blocks are joined by two as long as that makes the description shorter.
    fn blocks(&self, moments: &[f64], scale: f64, penalty: f64) -> f64 {
        let mut blocks: Vec<(f64, f64)> = self
            .shares
            .iter()
            .zip(moments)
            .map(|(&w, m)| (w, m * scale))
            .collect();
        let mut best = f64::INFINITY;
        while !blocks.is_empty() {
            let sum: f64 = blocks
                .iter()
                .map(|(w, v)| 0.5 * w * (v + NUGGET).ln())
                .sum();
            best = best.min(sum + blocks.len() as f64 * penalty);
            if blocks.len() == 1 {
                break;
            }
            let join = |pair: &[(f64, f64)]| {
                let w: f64 = pair.iter().map(|b| b.0).sum();
                (w, pair.iter().map(|b| b.0 * b.1).sum::<f64>() / w)
            };
            blocks = blocks.chunks(2).map(join).collect();
        }
        best
    }
}

/// What a parameter must gain, in nats over the whole recording. ½ ln n is dear for many blocks.
pub(super) const PENALTY: f64 = 2.0;
/// What is added to variances in descriptions, so that a source that can be predicted without error
/// has one.
const NUGGET: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a source whose spectrum and variance differ from segment to segment.
    fn moments(energy: &SourceEnergy, scale: f64) -> Vec<f64> {
        let mut moments = Vec::new();
        for energy in &energy.forms {
            let lags = energy.form.lags();
            for s in 0..energy.shares.len() {
                let power = scale * (1.0 + s as f64);
                let moment = |&l: &usize| power * 0.9f64.powf(l as f64) * (0.2 * l as f64).cos();
                moments.extend(lags.iter().map(moment));
            }
            let bands = energy.n_moments() - energy.n_lagged();
            let power = |b: usize| scale * (3.0 / (1.0 + b as f64) + 0.2 * (b as f64).sin().abs());
            moments.extend((0..bands).map(power));
        }
        moments
    }

    /// Segments of equal length.
    fn equal(forms: &[Form], n: usize) -> SourceEnergy {
        let shares = |form: &Form| {
            let n = form.bands.as_ref().map_or(form.segments, Bands::len);
            vec![1.0 / n as f64; n]
        };
        SourceEnergy::new(forms, &forms.iter().map(shares).collect::<Vec<_>>(), n)
    }

    #[test]
    fn gradient_is_that_of_finite_differences_and_scale_does_not_matter() {
        let mixed = Form {
            segments: 3,
            window: 5,
            dilations: vec![1, 2],
            ridge: 0.02,
            bands: None,
        };
        let unequal = vec![vec![0.5, 0.2, 0.3]];
        for mut energy in [
            equal(&[Form::spectrum(1000)], 1000),
            equal(&[Form::smooth(1000, 0.02)], 1000),
            equal(&[Form::variance(400)], 400),
            SourceEnergy::new(&[mixed], &unequal, 500),
            equal(&Form::any(1000), 1000),
        ] {
            let at = moments(&energy, 2.0);
            let (mut d, mut unused) = (vec![0.0; at.len()], vec![0.0; at.len()]);
            let value = energy.evaluate(&at, &mut d);
            let other = energy.evaluate(&moments(&energy, 7.0), &mut unused);
            assert!((value - other).abs() < 1e-12);
            for q in 0..at.len() {
                let mut moved = |step: f64| {
                    let mut at = at.clone();
                    at[q] += step;
                    energy.evaluate(&at, &mut unused)
                };
                let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!(
                    (numeric - d[q]).abs() < 1e-7 * (1.0 + d[q].abs()),
                    "{q}: {numeric} against {}",
                    d[q]
                );
            }
        }
    }

    #[test]
    fn a_changing_variance_is_described_by_blocks_and_a_colour_by_an_autoregression() {
        let n = 1000;
        let mut variance = equal(&[Form::variance(n)], n);
        let mut spectrum = equal(&[Form::spectrum(n)], n);
        let white: Vec<f64> = (0..56).map(|l| f64::from(l == 0)).collect();
        let coloured: Vec<f64> = Form::spectrum(n)
            .lags()
            .iter()
            .map(|&l| 0.9f64.powf(l as f64))
            .collect();
        let steady = vec![1.0; 20];
        let changing: Vec<f64> = (0..20)
            .map(|b| if b % 3 == 0 { 3.0 } else { 0.1 })
            .collect();
        let of = |energy: &mut SourceEnergy, moments: &[f64]| energy.description(moments, n).0;
        let one_variance = of(&mut variance, &steady);
        assert!(of(&mut variance, &changing) < of(&mut spectrum, &white));
        assert!(of(&mut spectrum, &coloured) < one_variance);
        // Where nothing is to be seen both say the same: one variance.
        assert!((of(&mut spectrum, &white) - one_variance).abs() < 1e-12);
    }

    #[test]
    fn a_source_takes_the_form_that_costs_least() {
        let n = 2000;
        let forms = Form::any(n);
        let mut energy = equal(&forms, n);
        let of = |power: &dyn Fn(f64) -> f64, colour: &dyn Fn(f64) -> f64| {
            let mut moments = Vec::new();
            for form in &forms {
                let segments = form.segments;
                let at = |s: usize| (s as f64 + 0.5) / segments as f64;
                let mean = (0..segments).map(|s| power(at(s))).sum::<f64>() / segments as f64;
                for s in 0..segments {
                    for lag in form.lags() {
                        let moment = |at: f64| power(at) * colour(at).powf(lag as f64);
                        moments.push(
                            match segments {
                                1 => {
                                    (0..100).map(|i| moment(i as f64 / 100.0)).sum::<f64>() / 100.0
                                }
                                _ => moment(at(s)),
                            } / mean,
                        );
                    }
                }
            }
            moments
        };
        let changes = |at: f64| {
            if ((20.0 * at) as usize).is_multiple_of(2) {
                0.1
            } else {
                2.0
            }
        };
        let louder = |at: f64| if at < 0.3 { 0.2 } else { 2.0 };
        for (moments, form) in [
            (of(&|_| 1.0, &|_| 0.98), 0),
            (of(&changes, &|_| 0.0), 1),
            (of(&louder, &|at| if at < 0.5 { 0.8 } else { -0.5 }), 2),
        ] {
            let mut d = vec![0.0; moments.len()];
            let value = energy.evaluate(&moments, &mut d);
            let place = energy.places[form].0.clone();
            let alone =
                energy.forms[form].evaluate(&moments[place.clone()], &mut vec![0.0; place.len()]);
            assert_eq!(value, alone + energy.places[form].1);
            assert!(d[place.clone()].iter().any(|d| *d != 0.0));
            assert!(
                d[..place.start]
                    .iter()
                    .chain(&d[place.end..])
                    .all(|d| *d == 0.0)
            );
            assert_eq!(energy.description(&moments, n).1, form);
        }
    }
}
