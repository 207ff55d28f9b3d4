//! The kernel energy of one source: the entropy per sample of a Gaussian process with its lagged
//! second moments.
//!
//! ```text
//! g = Σ_s ω_s · mean_d 1/(2W) · ln det( Toeplitz(r_s(0), r_s(d), …, r_s((W−1)d)) + κ·I )
//! ```
//!
//! r_s(l) are the moments at lag l in segment s, divided by the variance of the whole source, so
//! that g does not depend on its scale; ω_s is the segment's share of the samples and d runs over
//! the dilations. One segment and a long window judge the spectrum ([`Form::spectrum`]); many
//! segments and W = 1 judge how the variance changes ([`Form::variance`]).
//!
//! In: moments. Out: g and its gradient in them. Where the moments come from is the caller's
//! business ([`super::Moments`]).

use super::toeplitz::Levinson;

/// What the energy looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Stretches of the recording that have moments of their own.
    pub segments: usize,
    /// W: how many equally spaced samples are judged together.
    pub window: usize,
    /// d: how far apart they are.
    pub dilations: Vec<usize>,
    /// κ: noise that is added to every sample, in units of the source's variance.
    pub ridge: f64,
}

/// Samples judged together by the spectrum, where the recording is long enough: …
const WINDOW: usize = 32;
/// … this many times as long.
const LENGTH_PER_WINDOW: usize = 4;
/// Samples judged together where all sources are autoregressions of a low order.
const SHORT_WINDOW: usize = 6;
/// κ of the spectrum. Smaller ones let the channel noise decide.
const SPECTRUM_RIDGE: f64 = 0.03;
/// Dilations of the spectrum that need no more than twice their span of samples …
const DILATIONS: [usize; 2] = [1, 4];
/// … and those that need 16 times as much: slow sources of long recordings.
const WIDE_DILATIONS: [usize; 2] = [16, 64];
/// Samples of a block whose variance is judged.
const BLOCK: usize = 48;
/// At most this many blocks.
const MOST_BLOCKS: usize = 1024;
/// κ of the variances.
const VARIANCE_RIDGE: f64 = 0.01;

impl Form {
    /// The spectrum: one segment, W = 32, dilations 1 and 4, from 8000 samples on 16 and from
    /// 32,000 on 64; shorter windows where a recording has less than four times their span.
    pub fn spectrum(n_samples: usize) -> Form {
        let window = (n_samples / LENGTH_PER_WINDOW).clamp(2, WINDOW);
        let fits = |d: &usize| *d == 1 || 2 * (window - 1) * d <= n_samples;
        let wide = |d: &usize| 16 * (window - 1) * d <= n_samples;
        let dilations = DILATIONS.into_iter().filter(fits);
        Form {
            segments: 1,
            window,
            dilations: dilations
                .chain(WIDE_DILATIONS.into_iter().filter(wide))
                .collect(),
            ridge: SPECTRUM_RIDGE,
        }
    }

    /// The spectrum of sources that are autoregressions of a low order: a short window, which has
    /// less to estimate.
    pub fn short_spectrum(n_samples: usize) -> Form {
        let window = SHORT_WINDOW.min(Form::spectrum(n_samples).window);
        Form {
            window,
            ..Form::spectrum(n_samples)
        }
    }

    /// Variances of blocks of 48 samples, at most 1024 of them.
    pub fn variance(n_samples: usize) -> Form {
        Form {
            segments: (n_samples / BLOCK).clamp(2, MOST_BLOCKS),
            window: 1,
            dilations: vec![1],
            ridge: VARIANCE_RIDGE,
        }
    }

    /// The form of this kind for another number of samples.
    pub fn for_samples(&self, n_samples: usize) -> Form {
        match self.window {
            1 => Form::variance(n_samples),
            window if window <= SHORT_WINDOW => Form::short_spectrum(n_samples),
            _ => Form::spectrum(n_samples),
        }
    }

    /// Lags of the moments, ascending from 0.
    pub fn lags(&self) -> Vec<usize> {
        let mut lags: Vec<usize> = self
            .dilations
            .iter()
            .flat_map(|&d| (0..self.window).map(move |j| j * d))
            .collect();
        lags.sort_unstable();
        lags.dedup();
        lags
    }

    /// First sample of segment s of `n_samples`; of segment S it is the end of the last.
    pub fn first_sample(&self, segment: usize, n_samples: usize) -> usize {
        // In 128 bits: the product of a long recording and many segments must not overflow.
        (segment as u128 * n_samples as u128 / self.segments as u128) as usize
    }
}

/// g and its gradient, with the memory that they need.
#[derive(Clone, Debug)]
pub struct SourceEnergy {
    form: Form,
    n_lags: usize,
    columns: Vec<Vec<usize>>, // for every dilation, which lags make the Toeplitz matrix
    shares: Vec<f64>,         // ω_s
    levinson: Levinson,
    c: Vec<f64>,
    d_c: Vec<f64>,
}

impl SourceEnergy {
    /// For segments with these shares ω_s of the samples, which sum to 1.
    pub fn new(form: &Form, shares: &[f64]) -> SourceEnergy {
        let lags = form.lags();
        let place = |lag: usize| lags.binary_search(&lag).expect("a lag of the form");
        let columns = form.dilations.iter();
        SourceEnergy {
            columns: columns
                .map(|&d| (0..form.window).map(|j| place(j * d)).collect())
                .collect(),
            n_lags: lags.len(),
            shares: shares.to_vec(),
            levinson: Levinson::new(form.window),
            c: vec![0.0; form.window],
            d_c: vec![0.0; form.window],
            form: form.clone(),
        }
    }

    /// Number of moments: segments times lags.
    pub fn n_moments(&self) -> usize {
        self.shares.len() * self.n_lags
    }

    /// The variance Σ_s ω_s·m_s(0).
    pub fn variance(&self, moments: &[f64]) -> f64 {
        let zero = moments.iter().step_by(self.n_lags);
        self.shares.iter().zip(zero).map(|(w, m)| w * m).sum()
    }

    /// g of the moments m_s(l) (segment by segment, lags ascending) and its gradient in them, in
    /// place of `d`. A source without variance has g = 0 and no gradient.
    pub fn evaluate(&mut self, moments: &[f64], d: &mut [f64]) -> f64 {
        let variance = self.variance(moments);
        d.fill(0.0);
        if variance.is_nan() || variance <= 0.0 {
            return 0.0;
        }
        let scale = 1.0 / variance;
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

    /// −log-likelihood per sample of a Gaussian source with these moments, less ½ ln 2πe, with a
    /// penalty of 2/n for every parameter: for the spectrum the best autoregression, for variances
    /// the best number of blocks.
    pub fn description(&mut self, moments: &[f64], n_samples: usize) -> f64 {
        let scale = 1.0 / self.variance(moments);
        let penalty = PENALTY / n_samples as f64;
        if self.form.window == 1 {
            return self.blocks(moments, scale, penalty);
        }
        let by_order = self.by_order(moments, penalty);
        by_order.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The order of the best autoregression.
    pub fn order(&mut self, moments: &[f64], n_samples: usize) -> usize {
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
const PENALTY: f64 = 2.0;
/// What is added to variances in descriptions, so that a source that can be predicted without error
/// has one.
const NUGGET: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(energy: &SourceEnergy, scale: f64) -> Vec<f64> {
        let lags = energy.form.lags();
        let mut moments = Vec::new();
        for s in 0..energy.shares.len() {
            let power = scale * (1.0 + s as f64);
            moments.extend(
                lags.iter()
                    .map(|&l| power * 0.9f64.powf(l as f64) * (0.2 * l as f64).cos()),
            );
        }
        moments
    }

    #[test]
    fn gradient_is_that_of_finite_differences_and_scale_does_not_matter() {
        let mixed = Form {
            segments: 3,
            window: 5,
            dilations: vec![1, 2],
            ridge: 0.02,
        };
        for form in [Form::spectrum(1000), Form::variance(400), mixed] {
            let shares: Vec<f64> = match form.segments {
                3 => vec![0.5, 0.2, 0.3],
                n => vec![1.0 / n as f64; n],
            };
            let mut energy = SourceEnergy::new(&form, &shares);
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
                    "{form:?} {q}: {numeric} against {}",
                    d[q]
                );
            }
        }
    }

    #[test]
    fn forms_follow_the_length() {
        assert_eq!(Form::spectrum(1000).dilations, [1, 4]);
        assert_eq!(
            (Form::spectrum(300).window, Form::spectrum(60).window),
            (32, 15)
        );
        assert_eq!(Form::spectrum(60).dilations, [1]);
        assert_eq!(Form::spectrum(1000).lags().len(), 56);
        assert_eq!(Form::spectrum(10_000).dilations, [1, 4, 16]);
        assert_eq!(Form::variance(1000).segments, 20);
        assert_eq!(Form::variance(10).segments, 2);
        let form = Form::variance(1000);
        assert_eq!(
            (form.first_sample(0, 1000), form.first_sample(20, 1000)),
            (0, 1000)
        );
    }

    #[test]
    fn a_changing_variance_is_described_by_blocks_and_a_colour_by_an_autoregression() {
        let (n, shares) = (1000, vec![1.0 / 20.0; 20]);
        let mut variance = SourceEnergy::new(&Form::variance(n), &shares);
        let mut spectrum = SourceEnergy::new(&Form::spectrum(n), &[1.0]);
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
        let of = |energy: &mut SourceEnergy, moments: &[f64]| energy.description(moments, n);
        let one_variance = of(&mut variance, &steady);
        assert!(of(&mut variance, &changing) < of(&mut spectrum, &white));
        assert!(of(&mut spectrum, &coloured) < one_variance);
        // Where nothing is to be seen both say the same: one variance.
        assert!((of(&mut spectrum, &white) - one_variance).abs() < 1e-12);
    }
}
