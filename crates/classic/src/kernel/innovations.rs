//! What is not Gaussian in the innovations of a source.
//!
//! ```text
//! e_t = s_t + Σ_{j=1..p} h_j·s_{t−j}        J = ½ ln 2πe − mean −ln p(e_t/σ)
//! ```
//!
//! h is the best predictor of its autocovariances and p a [`Density`], so that the source has at
//! most the entropy of the Gaussian process less J per sample: together they are the likelihood of
//! an autoregression whose innovations are not Gaussian, and of independent samples where p = 0.
//! Sources of one spectrum can be told apart by it (X.-L. Li and T. Adalı, *Blind spatiotemporal
//! separation of second and/or higher-order correlated sources by entropy rate minimization*,
//! ICASSP 2010, minimise such a bound).
//!
//! In: autocovariances and samples of a source. Out: J, and its gradient in both. What is made of
//! it is the caller's business.

use super::density::{Density, GAUSSIAN};
use super::energy::PENALTY;
use super::toeplitz::Levinson;

/// How much of J counts in an energy. Channel noise makes innovations look Gaussian, and what is
/// left would rather have the noise small than the sources apart; half of J tells sources apart as
/// well as all of it, and yields where spectra know better.
pub const SHARE: f64 = 0.5;
/// Noise that a predictor expects, in units of the source's variance.
const RIDGE: f64 = 0.1;
/// What J must exceed, in nats over all samples that count as independent.
const CHANCE: f64 = 6.0;
/// Lags at most by which it is judged how many are independent.
const LAGS: usize = 32;

/// The innovations of one source, with the memory that they need.
#[derive(Clone, Debug)]
pub struct Innovations {
    levinson: Levinson,
    c: Vec<f64>,
    errors: Vec<f64>,
    predictor: Vec<f64>, // h, beginning with 1
    d_predictor: Vec<f64>,
    solved: Vec<f64>,
    variance: f64,  // r(0)
    at: Vec<u32>,   // which samples have innovations
    e: Vec<f64>,    // those, of mean square 1
    deviation: f64, // σ
}

impl Innovations {
    /// Predictors of at most `window` − 1 samples, for stretches of at most `n_samples`.
    pub fn new(window: usize, n_samples: usize) -> Innovations {
        Innovations {
            levinson: Levinson::new(window),
            c: vec![0.0; window],
            errors: vec![0.0; window],
            predictor: Vec::with_capacity(window),
            d_predictor: Vec::with_capacity(window),
            solved: Vec::with_capacity(window),
            variance: 0.0,
            at: Vec::with_capacity(n_samples),
            e: Vec::with_capacity(n_samples),
            deviation: 0.0,
        }
    }

    /// Finds the predictor of a source with these moments at lags 0, 1, …, W − 1, of the order that
    /// describes `n_samples` samples best.
    pub fn predict(&mut self, moments: &[f64], n_samples: usize) {
        self.variance = moments[0];
        let scale = 1.0 / moments[0];
        let window = self.c.len();
        self.c
            .iter_mut()
            .zip(&moments[..window])
            .for_each(|(c, m)| *c = scale * m);
        self.c[0] += RIDGE;
        self.levinson.errors(&self.c, &mut self.errors);
        let nats =
            |(p, error): (usize, &f64)| 0.5 * error.ln() + PENALTY * p as f64 / n_samples as f64;
        let (mut order, mut least) = (0, f64::INFINITY);
        for (p, nats) in self.errors.iter().enumerate().map(|e| (e.0, nats(e))) {
            if nats < least {
                (order, least) = (p, nats);
            }
        }
        self.predictor.clear();
        self.predictor
            .extend_from_slice(self.levinson.predictor(&self.c[..=order]));
    }

    /// Takes the innovations of consecutive samples. `reach` says of each how many samples that
    /// end with it are contiguous and there: an innovation needs one more than the order.
    pub fn read(&mut self, samples: &[f64], reach: &[u32]) {
        let (h, order) = (&self.predictor, self.predictor.len() - 1);
        self.at.clear();
        self.e.clear();
        for (t, window) in samples.windows(order + 1).enumerate() {
            let last = t + order;
            if reach[last] as usize > order {
                let e: f64 = h.iter().zip(window.iter().rev()).map(|(h, s)| h * s).sum();
                self.at.push(last as u32);
                self.e.push(e);
            }
        }
        let square: f64 = self.e.iter().map(|e| e * e).sum();
        self.deviation = (square / self.e.len() as f64).sqrt();
        if self.deviation > 0.0 {
            let scale = 1.0 / self.deviation;
            self.e.iter_mut().for_each(|e| *e *= scale);
        } else {
            self.at.clear();
            self.e.clear();
        }
    }

    /// J of a density.
    fn negentropy(&self, density: Density) -> f64 {
        let sum: f64 = self.e.iter().map(|&e| density.at(e).nats).sum();
        GAUSSIAN - sum / self.e.len() as f64
    }

    /// What chance makes of J where innovations are Gaussian. Those of a source that the predictor
    /// does not whiten count for fewer.
    fn chance(&self) -> f64 {
        let n = self.e.len();
        let squares = (1..LAGS.min(n / 8)).map(|lag| {
            let products = self.e.iter().zip(&self.e[lag..]);
            let mean = products.map(|(a, b)| a * b).sum::<f64>() / n as f64;
            mean * mean
        });
        CHANCE / n as f64 * (1.0 + 2.0 * squares.sum::<f64>())
    }

    /// σ of the innovations that were read; 0 where there are none.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// By how many nats a Gaussian describes the innovations that were read better than a density,
    /// both with a deviation that was learned elsewhere.
    pub fn beyond_gaussian(&self, density: Density, deviation: f64) -> f64 {
        let scale = self.deviation / deviation;
        let normalised = self.e.iter().map(|e| e * scale);
        let half_ln_tau = GAUSSIAN - 0.5;
        normalised
            .map(|e| density.at(e).nats - 0.5 * e * e - half_ln_tau)
            .sum()
    }

    /// The best of some densities, and its J; `None` where there are no innovations.
    pub fn best(&self, among: &[Density]) -> Option<(Density, f64)> {
        let found = among.iter().filter(|_| !self.e.is_empty());
        found
            .map(|&density| (density, self.negentropy(density)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// The best of some densities, and by how much its J exceeds what chance makes of it; `None`
    /// where it does not.
    pub fn beyond_chance(&self, among: &[Density]) -> Option<(Density, f64)> {
        let (density, negentropy) = self.best(among)?;
        let beyond = negentropy - self.chance();
        (beyond > 0.0).then_some((density, beyond))
    }

    /// J of a density, and its gradient in the samples that were read, times `factor`, added to
    /// `d_samples`; the predictor is held fixed. Also how J bends when another source of equal
    /// spectrum is added: −J grows by ½·bend·ε² with ε of it.
    pub fn evaluate(&self, density: Density, factor: f64, d_samples: &mut [f64]) -> (f64, f64) {
        let n = self.e.len() as f64;
        let (mut nats, mut slope, mut along) = (0.0, 0.0, 0.0);
        for &e in &self.e {
            let at = density.at(e);
            nats += at.nats;
            slope += at.slope;
            along += at.score * e;
        }
        let along = along / n;
        self.for_each_gradient(density, along, factor, |t, d_e| {
            let past = &mut d_samples[t + 1 - self.predictor.len()..=t];
            for (d, h) in past.iter_mut().rev().zip(&self.predictor) {
                *d += d_e * h;
            }
        });
        (GAUSSIAN - nats / n, (slope / n - along).max(0.0))
    }

    /// `factor` times ∂J/∂e_t, for every t, where `along` is the mean of score times e: σ is that
    /// of these innovations, so that their scale has no effect.
    fn for_each_gradient(
        &self,
        density: Density,
        along: f64,
        factor: f64,
        mut each: impl FnMut(usize, f64),
    ) {
        let scale = -factor / (self.e.len() as f64 * self.deviation);
        for (&t, &e) in self.at.iter().zip(&self.e) {
            each(t as usize, scale * (density.at(e).score - along * e));
        }
    }

    /// What the predictor adds to the gradient of J: `factor` times ∂J/∂r, in place of `d_moments`,
    /// where `samples` are those that were read.
    ///
    /// With T the Toeplitz matrix of c = r/r(0), the noise of the predictor added, T·h = −c_{1…p}:
    /// dJ = (∂J/∂h)ᵀ·dh = −λᵀ·(dc_{1…p} + dT·h), where T·λ = ∂J/∂h.
    pub fn through_predictor(
        &mut self,
        density: Density,
        factor: f64,
        samples: &[f64],
        d_moments: &mut [f64],
    ) {
        d_moments.fill(0.0);
        let order = self.predictor.len() - 1;
        if order == 0 {
            return;
        }
        let n = self.e.len() as f64;
        let along = self.e.iter().map(|&e| density.at(e).score * e).sum::<f64>() / n;
        let mut d_h = std::mem::take(&mut self.d_predictor);
        d_h.clear();
        d_h.resize(order, 0.0);
        self.for_each_gradient(density, along, factor, |t, d_e| {
            for (d, s) in d_h.iter_mut().zip(samples[..t].iter().rev()) {
                *d += d_e * s;
            }
        });
        self.solved.clear();
        self.solved.resize(order, 0.0);
        self.levinson
            .solve(&self.c[..order], &d_h, &mut self.solved);
        self.d_predictor = d_h;
        // Of c_0 nothing depends: it is 1 and the noise.
        let (h, scale) = (&self.predictor[1..], 1.0 / self.variance);
        for (i, solved) in self.solved.iter().enumerate() {
            d_moments[i + 1] -= scale * solved;
            for (j, h) in h.iter().enumerate() {
                if i != j {
                    d_moments[i.abs_diff(j)] -= scale * solved * h;
                }
            }
        }
        let along_r: f64 = (1..=order).map(|l| d_moments[l] * self.c[l]).sum();
        d_moments[0] -= along_r;
    }
}

/// How many samples that end with each one are contiguous and there.
pub fn reach(rows: strt_signal::rows::RowsView<'_>) -> Vec<u32> {
    let mut reach = vec![0; rows.n_samples()];
    for piece in rows.pieces() {
        let mut length = 0;
        for t in piece {
            length = if rows.is_valid(t) { length + 1 } else { 0 };
            reach[t] = length;
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use strt_signal::pieces::Pieces;
    use strt_signal::rows::Rows;

    /// An autoregression whose innovations have the density of Laplace, or are uniform.
    fn samples(n: usize, pole: f64, heavy: bool) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut last = 0.0;
        let next = |()| {
            let u: f64 = rng.random_range(-1.0..1.0);
            let e = if heavy {
                -(1.0 - u.abs()).ln() * u.signum()
            } else {
                u
            };
            last = pole * last + e;
            last
        };
        std::iter::repeat_n((), n).map(next).collect()
    }

    fn moments(samples: &[f64], window: usize) -> Vec<f64> {
        let moment = |lag: usize| {
            let products = samples.iter().zip(&samples[lag..]);
            products.map(|(a, b)| a * b).sum::<f64>() / samples.len() as f64
        };
        (0..window).map(moment).collect()
    }

    fn read(samples: &[f64], window: usize, rows: &Rows) -> Innovations {
        let mut innovations = Innovations::new(window, samples.len());
        innovations.predict(&moments(samples, window), samples.len());
        innovations.read(samples, &reach(rows.view()));
        innovations
    }

    #[test]
    fn the_density_of_innovations_is_found() {
        let rows = Rows::all(1000);
        for (pole, heavy, expected) in [
            (0.0, true, Density::Heavy),
            (0.9, true, Density::Heavy),
            (0.0, false, Density::Flat),
            (0.9, false, Density::Flat),
        ] {
            let found = read(&samples(1000, pole, heavy), 8, &rows).beyond_chance(&Density::ALL);
            let (density, nats) = found.expect("a density");
            assert_eq!(density, expected, "pole {pole}");
            let read = read(&samples(1000, pole, heavy), 8, &rows);
            let beyond = read.beyond_gaussian(density, read.deviation()) / read.e.len() as f64;
            assert!((beyond + read.negentropy(density)).abs() < 1e-12);
            assert!(nats > 0.02 && nats < 0.15, "{nats}");
        }
        // The sum of twelve is as good as Gaussian.
        let uniform = samples(12_000, 0.0, false);
        let sums: Vec<f64> = uniform.chunks(12).map(|c| c.iter().sum()).collect();
        assert_eq!(read(&sums, 8, &rows).beyond_chance(&Density::ALL), None);
    }

    #[test]
    fn gradient_is_that_of_finite_differences() {
        let n = 60;
        let mut missing = vec![false; n];
        missing[17] = true;
        let mut s = samples(n, 0.6, true);
        s[17] = 0.0;
        let pieces = Pieces::new(&[25, 35], n).unwrap();
        let rows = Rows::new(&missing).with_pieces(&pieces);
        let mut innovations = read(&s, 5, &rows);
        assert!(innovations.predictor.len() > 1, "{innovations:?}");
        let n_missed = n - innovations.e.len();
        assert_eq!(n_missed, 1 + 3 * (innovations.predictor.len() - 1));
        for density in Density::ALL {
            let mut d = vec![0.0; n];
            innovations.read(&s, &reach(rows.view()));
            let (value, _) = innovations.evaluate(density, 2.0, &mut d);
            assert!((value - innovations.negentropy(density)).abs() < 1e-12);
            for t in 0..n {
                let mut at = |step: f64| {
                    let mut s = s.clone();
                    s[t] += step;
                    innovations.read(&s, &reach(rows.view()));
                    2.0 * innovations.negentropy(density)
                };
                let numeric = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (numeric - d[t]).abs() < 1e-7 * (1.0 + d[t].abs()),
                    "{density:?} at {t}: {numeric} against {}",
                    d[t]
                );
            }
        }
    }

    #[test]
    fn gradient_through_the_predictor_is_that_of_finite_differences() {
        let (n, window) = (300, 6);
        let s = samples(n, 0.7, true);
        let rows = Rows::all(n);
        let reach = reach(rows.view());
        let at = moments(&s, window);
        let mut innovations = read(&s, window, &rows);
        let order = innovations.predictor.len();
        assert!(order > 1);
        let mut d = vec![f64::NAN; window + 2];
        innovations.through_predictor(Density::Heavy, 3.0, &s, &mut d);
        assert_eq!(d[window..], [0.0; 2]);
        for q in 0..window {
            let mut moved = |step: f64| {
                let mut at = at.clone();
                at[q] += step;
                innovations.predict(&at, n);
                innovations.read(&s, &reach);
                assert_eq!(innovations.predictor.len(), order);
                3.0 * innovations.negentropy(Density::Heavy)
            };
            let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!(
                (numeric - d[q]).abs() < 1e-7 * (1.0 + d[q].abs()),
                "lag {q}: {numeric} against {}",
                d[q]
            );
        }
    }

    #[test]
    fn nothing_is_said_of_samples_that_are_not_there() {
        let rows = Rows::new(&[true; 30]);
        let found = read(&[0.0; 30].map(|_: f64| 1.0), 3, &rows);
        assert_eq!(found.best(&Density::ALL), None);
    }
}
