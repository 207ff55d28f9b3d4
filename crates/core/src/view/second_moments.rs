//! Second moments of the sources for the kernel energy, and the way back from gradients in them.
//!
//! ```text
//! m_s(l) = c_s(l)/n_s · Σ_t s_t·s_{t+l}        both samples in segment s and in one piece
//! ```
//!
//! with c for the pairs that the ends of short pieces take away ([`regained`]).
//!
//! Where S = Zw·A they follow from those of Zw, taken once, and a step costs nothing that grows
//! with the recording; otherwise they are summed over the samples that the step holds. Missing
//! samples are 0 and not counted in n_s, so that the moments remain those of an autocorrelation:
//! positive definite.
//!
//! In: A or samples. Out: moments, ∂J/∂A or ∂J/∂S. What is made of them is the energy's business.

use faer::Mat;
use std::sync::Arc;
use strt_classic::kernel::{Form, Lengths, Moments, SourceEnergy, regained};
use strt_signal::columns::{col, col_mut};
use strt_signal::rows::Rows;

/// What the kernel energy of a recording is made from.
#[derive(Clone, Debug)]
pub(crate) struct KernelData {
    forms: Vec<Form>,
    moments: Arc<Moments>,
    piece: usize, // samples of a typical piece
}

impl KernelData {
    /// From components (T×K, 0 in missing rows) and the forms that were chosen for them.
    pub fn new(components: &Mat<f64>, rows: &Rows, forms: Vec<Form>) -> KernelData {
        let moments = Moments::new(components.as_ref(), rows.view(), &forms);
        KernelData::from_moments(forms, moments, rows)
    }

    /// From the moments of these rows that the forms ask for.
    pub fn from_moments(forms: Vec<Form>, moments: Moments, rows: &Rows) -> KernelData {
        KernelData {
            forms,
            moments: Arc::new(moments),
            piece: rows.to_pieces().typical(),
        }
    }

    /// The forms of any `samples` samples of the recording, by lagged moments: transforming samples
    /// in every step takes longer.
    fn forms_of(&self, samples: usize) -> Vec<Form> {
        let piece = self.piece.min(samples);
        let lengths = Lengths { samples, piece };
        let forms = Form::for_samples(&self.forms, lengths).into_iter();
        forms.map(|form| form.by_lags(lengths)).collect()
    }

    /// The energy of one source that is a combination of components, or of `len` samples of it.
    pub fn energy(&self, samples: Option<usize>) -> SourceEnergy {
        match samples {
            None => {
                let n = self.moments.n_valid();
                SourceEnergy::new(&self.forms, self.moments.shares(), n)
            }
            Some(len) => {
                let forms = self.forms_of(len);
                let shares = |form: &Form| {
                    let samples = |s| form.first_sample(s + 1, len) - form.first_sample(s, len);
                    let share = |s| samples(s) as f64 / len as f64;
                    (0..form.segments).map(share).collect()
                };
                let shares: Vec<Vec<f64>> = forms.iter().map(shares).collect();
                SourceEnergy::new(&forms, &shares, len)
            }
        }
    }

    /// How many moments of a source, from lag 0 on, are of successive lags, where the energy is
    /// that of [`KernelData::energy`] for as many samples.
    pub fn successive_lags(&self, samples: Option<usize>) -> usize {
        match samples {
            None => self.forms[0].window,
            Some(len) => self.forms_of(len)[0].window,
        }
    }

    /// Moments of combinations of components.
    pub fn linear(&self, n_sources: usize) -> SecondMoments {
        SecondMoments::Linear {
            a: Mat::zeros(n_sources, n_sources),
            d_a: Mat::zeros(n_sources, n_sources),
            product: Mat::zeros(self.moments.len() * n_sources, n_sources),
            basis: self.moments.clone(),
        }
    }

    /// Moments of `len` samples.
    pub fn sampled(&self, len: usize) -> SecondMoments {
        let with_lags = |form: Form| {
            let lags = form.lags();
            (form, lags)
        };
        let forms = self.forms_of(len).into_iter();
        SecondMoments::Sampled {
            forms: forms.map(with_lags).collect(),
        }
    }
}

/// The second moments of the sources of a step.
pub(crate) enum SecondMoments {
    /// Nobody asks for them.
    Off,
    /// From those of the components.
    Linear {
        basis: Arc<Moments>,
        a: Mat<f64>,
        product: Mat<f64>, // all M_q·A
        d_a: Mat<f64>,     // ∂J/∂A through the moments
    },
    /// From samples: of every form, with its lags.
    Sampled { forms: Vec<(Form, Vec<usize>)> },
}

impl SecondMoments {
    /// Begins a step with these A; gradients are 0.
    pub fn place(&mut self, a: Option<&Mat<f64>>) {
        if let (
            SecondMoments::Linear {
                basis,
                a: own,
                product,
                d_a,
            },
            Some(a),
        ) = (self, a)
        {
            own.copy_from(a);
            basis.times(own.as_ref(), product);
            d_a.fill(0.0);
        }
    }

    /// Moments of source k, whose samples in this step are `samples`.
    pub fn read(&self, k: usize, samples: &[f64], rows: &Rows, moments: &mut [f64]) {
        match self {
            SecondMoments::Off => moments.fill(0.0),
            SecondMoments::Linear {
                basis, a, product, ..
            } => {
                let (a, product) = (col(a.as_ref(), k), col(product.as_ref(), k));
                basis.of_source(a, product, moments);
            }
            SecondMoments::Sampled { forms } => {
                let mut rest = moments;
                for (form, lags) in forms {
                    let (own, further) = rest.split_at_mut(form.segments * lags.len());
                    rest = further;
                    for (s, moments) in own.chunks_exact_mut(lags.len()).enumerate() {
                        let (segment, n) = segment(form, s, samples.len(), rows);
                        let pieces = rows.view().pieces_within(segment.clone());
                        for (moment, &lag) in moments.iter_mut().zip(lags) {
                            let products = pieces.clone().map(|piece| {
                                let samples = &samples[piece];
                                dot(samples, samples.get(lag..).unwrap_or(&[]))
                            });
                            let regained = regained(rows.view(), segment.clone(), lag);
                            *moment = products.sum::<f64>() / n * regained;
                        }
                    }
                }
            }
        }
    }

    /// Adds factor · `d`, a gradient in the moments of source k: to what [`SecondMoments::add_to`]
    /// hands out, or in the samples to `d_samples`.
    pub fn add_gradient(
        &mut self,
        k: usize,
        factor: f64,
        d: &[f64],
        samples: &[f64],
        rows: &Rows,
        d_samples: &mut [f64],
    ) {
        match self {
            SecondMoments::Off => {}
            SecondMoments::Linear {
                basis,
                product,
                d_a,
                ..
            } => {
                let product = col(product.as_ref(), k);
                basis.pull_back(d, product, factor, col_mut(d_a.as_mut(), k));
            }
            SecondMoments::Sampled { forms } => {
                let mut rest = d;
                for (form, lags) in forms.iter() {
                    let (own, further) = rest.split_at(form.segments * lags.len());
                    rest = further;
                    for (s, d) in own.chunks_exact(lags.len()).enumerate() {
                        // Of the forms of a source all but one have no gradient.
                        if d.iter().all(|d| *d == 0.0) {
                            continue;
                        }
                        let (segment, n) = segment(form, s, samples.len(), rows);
                        for (d, &lag) in d.iter().zip(lags) {
                            let regained = regained(rows.view(), segment.clone(), lag);
                            let factor = factor * d / n * regained;
                            for piece in rows.view().pieces_within(segment.clone()) {
                                let (samples, d_samples) =
                                    (&samples[piece.clone()], &mut d_samples[piece]);
                                add_products(samples, lag, factor, d_samples);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Adds ∂J/∂A through the moments.
    pub fn add_to(&self, d_a: &mut Mat<f64>) {
        if let SecondMoments::Linear { d_a: own, .. } = self {
            *d_a += own;
        }
    }
}

/// Adds the gradient of factor · Σ_t s_t·s_{t+lag} in the samples.
fn add_products(samples: &[f64], lag: usize, factor: f64, d_samples: &mut [f64]) {
    let pairs = samples.len().saturating_sub(lag);
    let from = samples.len() - pairs;
    for (slot, s) in d_samples[..pairs].iter_mut().zip(&samples[from..]) {
        *slot += factor * s;
    }
    for (slot, s) in d_samples[from..].iter_mut().zip(&samples[..pairs]) {
        *slot += factor * s;
    }
}

/// The samples of a segment, and how many of them are there.
fn segment(form: &Form, s: usize, len: usize, rows: &Rows) -> (std::ops::Range<usize>, f64) {
    let range = form.first_sample(s, len)..form.first_sample(s + 1, len);
    let n = if rows.n_valid() == rows.n_samples() {
        range.len()
    } else {
        range.clone().filter(|&t| rows.is_valid(t)).count()
    };
    (range, n.max(1) as f64)
}

/// Σ a_t·b_t over the shorter of both, in eight sums that a compiler can keep in registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (a[..n].chunks_exact(8), b[..n].chunks_exact(8));
    let rest: f64 = a
        .remainder()
        .iter()
        .zip(b.remainder())
        .map(|(a, b)| a * b)
        .sum();
    let mut sums = [0.0; 8];
    for (a, b) in a.zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use strt_signal::pieces::Pieces;

    #[test]
    fn samples_and_components_have_the_same_moments_and_gradients() {
        let (t, k) = (400, 3);
        let z = Mat::from_fn(t, k, |t, k| ((t * (3 * k + 2)) as f64 * 0.37).sin());
        let a = Mat::from_fn(k, k, |i, j| (i as f64 - 1.3 * j as f64).cos());
        let s = &z * &a;
        let whole = Rows::all(t);
        let in_pieces = whole
            .clone()
            .with_pieces(&Pieces::new(&[130, 3, 110, 157], t).unwrap());
        let of = |rows: &Rows| {
            let pieces = &rows.to_pieces();
            [
                vec![Form::spectrum(pieces)],
                vec![Form::variance(pieces)],
                vec![Form::changing(pieces)],
                Form::any(pieces),
            ]
            .map(|forms| (rows.clone(), forms))
        };
        for (rows, forms) in of(&whole).into_iter().chain(of(&in_pieces)) {
            let data = KernelData::new(&z, &rows, forms);
            let (mut linear, mut sampled) = (data.linear(k), data.sampled(t));
            linear.place(Some(&a));
            sampled.place(None);
            let n = data.energy(None).n_moments();
            let d: Vec<f64> = (0..n).map(|q| (q as f64).sin()).collect();
            let (mut one, mut other) = (vec![0.0; n], vec![0.0; n]);
            let mut d_s = Mat::<f64>::zeros(t, k);
            for j in 0..k {
                let samples = col(s.as_ref(), j);
                linear.read(j, samples, &rows, &mut one);
                sampled.read(j, samples, &rows, &mut other);
                for (one, other) in one.iter().zip(&other) {
                    assert!((one - other).abs() < 1e-12);
                }
                linear.add_gradient(j, 0.7, &d, samples, &rows, &mut []);
                let d_column = d_s.col_as_slice_mut(j);
                sampled.add_gradient(j, 0.7, &d, samples, &rows, d_column);
            }
            let mut d_a = Mat::zeros(k, k);
            linear.add_to(&mut d_a);
            assert!((z.transpose() * d_s - d_a).norm_max() < 1e-9);
        }
    }

    #[test]
    fn missing_samples_are_zeros_that_are_not_counted() {
        let missing: Vec<bool> = (0..200).map(|t| t % 7 == 0).collect();
        let rows = Rows::new(&missing);
        let value = |t: usize| {
            if missing[t] {
                0.0
            } else {
                (t as f64 * 0.2).sin()
            }
        };
        let z = Mat::from_fn(200, 1, |t, _| value(t));
        let data = KernelData::new(&z, &rows, vec![Form::spectrum(200)]);
        let mut moments = vec![0.0; data.energy(None).n_moments()];
        data.sampled(200)
            .read(0, col(z.as_ref(), 0), &rows, &mut moments);
        let there = (0..200).filter(|&t| !missing[t]).count() as f64;
        let power: f64 = (0..200).map(|t| value(t) * value(t)).sum();
        assert!((moments[0] - power / there).abs() < 1e-12);
        let mut energy = data.energy(Some(200));
        let value = energy.evaluate(&moments.clone(), &mut moments);
        assert!(value.is_finite() && value < 0.0);
    }
}
