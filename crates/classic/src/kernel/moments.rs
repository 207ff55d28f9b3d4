//! Second moments of whitened components, from one pass over them: what every kernel energy of a
//! linear combination of them follows from.
//!
//! ```text
//! M_sl = 1/n_s · Σ ½(z_t·z_{t+l}ᵀ + z_{t+l}·z_tᵀ)        both samples in segment s, both there
//! ```
//!
//! n_s counts the samples that are there, not the pairs: with missing samples as zeros the
//! moments of any combination are then an autocorrelation, positive definite whatever is missing.
//! Samples missing here and there make them look like moments with some white noise; gaps change
//! next to nothing.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::form::Form;

/// M_sl of K components, stacked.
#[derive(Clone, Debug)]
pub struct Moments {
    k: usize,
    shares: Vec<Vec<f64>>, // of every form
    n_valid: usize,
    stacked: Mat<f64>, // (Q·K)×K, form by form, one M_sl after the other
}

impl Moments {
    /// Of components (T×K, 0 in missing rows), of which `is_missing` says which are missing.
    pub fn new(
        components: MatRef<'_, f64>,
        is_missing: &dyn Fn(usize) -> bool,
        forms: &[Form],
    ) -> Moments {
        let (t, k) = components.shape();
        let n_matrices = |form: &Form| form.segments * form.lags().len();
        let mut stacked = Mat::zeros(forms.iter().map(n_matrices).sum::<usize>() * k, k);
        let mut first = 0;
        let mut shares = Vec::with_capacity(forms.len());
        for form in forms {
            let rows = n_matrices(form) * k;
            let own = stacked.as_mut().subrows_mut(first, rows);
            shares.push(of_form(components, is_missing, form, own));
            first += rows;
        }
        Moments {
            k,
            shares,
            n_valid: (0..t).filter(|&t| !is_missing(t)).count(),
            stacked,
        }
    }

    /// Those that were worked out elsewhere, (Q·K)×K, of `n_valid` samples.
    pub(super) fn from_parts(shares: Vec<Vec<f64>>, n_valid: usize, stacked: Mat<f64>) -> Moments {
        Moments {
            k: stacked.ncols(),
            shares,
            n_valid,
            stacked,
        }
    }

    /// Those of further forms below those of the first, of the same components.
    pub(super) fn stack(first: &Moments, further: &Moments) -> Moments {
        let shares = first.shares.iter().chain(&further.shares);
        Moments {
            k: first.k,
            shares: shares.cloned().collect(),
            n_valid: first.n_valid,
            stacked: faer::concat![[first.stacked], [further.stacked]],
        }
    }

    /// ω_s of every form.
    pub fn shares(&self) -> &[Vec<f64>] {
        &self.shares
    }

    /// Samples that are there.
    pub fn n_valid(&self) -> usize {
        self.n_valid
    }

    /// Number Q of matrices.
    pub fn len(&self) -> usize {
        self.stacked.nrows() / self.k
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All M_sl·A, one below the other ((Q·K)×K), in place of `product`.
    pub fn times(&self, a: MatRef<'_, f64>, product: &mut Mat<f64>) {
        matmul(
            product.as_mut(),
            Accum::Replace,
            &self.stacked,
            a,
            1.0,
            Par::Seq,
        );
    }

    /// a_kᵀM_sl a_k for all (s, l), where `product` is what [`Moments::times`] made of A.
    pub fn of_source(&self, a: &[f64], product: &[f64], moments: &mut [f64]) {
        for (moment, rows) in moments.iter_mut().zip(product.chunks_exact(self.k)) {
            *moment = a.iter().zip(rows).map(|(a, m)| a * m).sum();
        }
    }

    /// 2 Σ_q d_q·M_q a_k: the gradient in a_k of what has the gradient d in its moments; added,
    /// times `factor`.
    pub fn pull_back(&self, d: &[f64], product: &[f64], factor: f64, d_a: &mut [f64]) {
        for (d, rows) in d.iter().zip(product.chunks_exact(self.k)) {
            let factor = 2.0 * factor * d;
            d_a.iter_mut()
                .zip(rows)
                .for_each(|(slot, m)| *slot += factor * m);
        }
    }
}

/// M_sl of one form in place of `stacked`; gives ω_s.
fn of_form(
    components: MatRef<'_, f64>,
    is_missing: &dyn Fn(usize) -> bool,
    form: &Form,
    mut stacked: MatMut<'_, f64>,
) -> Vec<f64> {
    let (t, k) = components.shape();
    let lags = form.lags();
    let mut product = Mat::zeros(k, k);
    let mut there = Vec::with_capacity(form.segments);
    for s in 0..form.segments {
        let (first, end) = (form.first_sample(s, t), form.first_sample(s + 1, t));
        let n = (first..end).filter(|&t| !is_missing(t)).count();
        there.push(n);
        for (q, &lag) in lags.iter().enumerate() {
            let pairs = (end - first).saturating_sub(lag);
            let early = components.subrows(first, pairs);
            let late = components.subrows(end - pairs, pairs);
            let factor = 0.5 / n.max(1) as f64;
            matmul(
                &mut product,
                Accum::Replace,
                early.transpose(),
                late,
                factor,
                Par::Seq,
            );
            let at = (s * lags.len() + q) * k;
            for j in 0..k {
                for i in 0..k {
                    stacked[(at + i, j)] = product[(i, j)] + product[(j, i)];
                }
            }
        }
    }
    let n_valid = there.iter().sum::<usize>();
    there.iter().map(|&n| n as f64 / n_valid as f64).collect()
}
